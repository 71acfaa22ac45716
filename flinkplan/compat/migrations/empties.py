"""5: Since 2.1 sources and tables are written without empty lists of inputs, watermarks and partitions."""

from __future__ import annotations

from typing import Any

from ...plan.document import Plan
from ...plan.nodes import ExecNode
from ...plan.record import Record, replace
from ...plan.specs import ResolvedSchema, ResolvedTable

_LEFT_OUT: dict[type, str] = {
    ExecNode: "input_properties",
    ResolvedTable: "partition_keys",
    ResolvedSchema: "watermark_specs",
}
"""The field that is left out if it is empty, by class."""


def leave_out(plan: Plan) -> Plan:
    """The plan without these empty lists."""
    return replace(plan, nodes=tuple(map(_trimmed, plan.nodes)))


def _trimmed(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(map(_trimmed, value))
    if not isinstance(value, Record):
        return value
    changes: dict[str, Any] = {}
    for name in value.__struct_fields__:
        item = getattr(value, name)
        if (trimmed := _trimmed(item)) != item:
            changes[name] = trimmed
    for cls, name in _LEFT_OUT.items():
        if isinstance(value, cls) and getattr(value, name) == ():
            changes[name] = None
    return replace(value, **changes) if changes else value
