"""Logical types in the form that the Java half reads."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from ...plan.types import LogicalType

Paths = Collection[Sequence[str]]
"""The names of fields, each within the one before; all that is within the last one is meant."""

WHOLE: Paths = ((),)


def java_type(t: LogicalType, read: Paths = WHOLE) -> dict[str, Any]:
    """``t``, of which somebody reads these paths, as the JSON of ``flinkplan.runtime.format.FlinkType``."""
    described: dict[str, Any] = {"root": "ROW" if t.root == "STRUCTURED" else t.root}
    for name in ("length", "precision", "scale"):
        if (value := getattr(t, name)) is not None:
            described[name] = value
    if not t.nullable:
        described["required"] = True
    if t.fields:
        described["names"] = list(t.field_names)
    if not read and t.nullable:
        described["unread"] = True
    if t.fields and () not in map(tuple, read):
        described["children"] = [
            java_type(field.type, [path[1:] for path in read if path[0] == field.name]) for field in t.fields
        ]
    elif children := t.children or t.field_types:
        described["children"] = [java_type(child) for child in children]
    return described


def java_row(fields: Iterable[tuple[str, LogicalType]], read: Mapping[str, Paths] | None = None) -> dict[str, Any]:
    """A row of (name, type) pairs as the JSON of ``FlinkType``; ``read``: what somebody reads, where not all."""
    pairs = list(fields)
    children = [java_type(t, WHOLE if read is None else read.get(n, ())) for n, t in pairs]
    return {"root": "ROW", "names": [n for n, _ in pairs], "children": children}
