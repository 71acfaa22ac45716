"""1: Since 2.0 what is empty and may be left out is left out."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from ...plan.codec import field_codecs
from ...plan.document import Plan


def leave_out(plan: Plan) -> Plan:
    """The plan without empty values in fields that have a default."""
    return dataclasses.replace(plan, nodes=tuple(map(_trimmed, plan.nodes)))


def _trimmed(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(map(_trimmed, value))
    if not dataclasses.is_dataclass(value) or isinstance(value, type):
        return value
    changes: dict[str, Any] = {}
    for codec in field_codecs(type(value)):
        item = getattr(value, codec.name)
        if not codec.always_written and item != codec.default and _is_empty(item):
            changes[codec.name] = codec.default
        elif (trimmed := _trimmed(item)) is not item and trimmed != item:
            changes[codec.name] = trimmed
    return dataclasses.replace(value, **changes) if changes else value


def _is_empty(value: Any) -> bool:
    return isinstance(value, tuple | list | Mapping) and not value
