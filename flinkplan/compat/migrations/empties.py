"""5: Since 2.1 a source without inputs and a table without watermarks or partitions do not say so."""

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
"""By class, the field that is left out where it is empty."""


def leave_out(plan: Plan) -> Plan:
    """The plan without such empty lists."""
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
