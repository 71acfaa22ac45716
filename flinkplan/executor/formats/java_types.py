"""Logical types in the form that the Java half reads."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ...plan.types import LogicalType


def java_type(t: LogicalType) -> dict[str, Any]:
    """``t`` as the JSON of ``flinkplan.runtime.format.FlinkType``."""
    found: dict[str, Any] = {"root": "ROW" if t.root == "STRUCTURED" else t.root}
    for name in ("length", "precision", "scale"):
        if (value := getattr(t, name)) is not None:
            found[name] = value
    if not t.nullable:
        found["required"] = True
    if t.fields:
        found["names"] = list(t.field_names)
    if children := t.children or t.field_types:
        found["children"] = [java_type(child) for child in children]
    return found


def java_row(fields: Iterable[tuple[str, LogicalType]]) -> dict[str, Any]:
    """A row of (name, type) pairs as the JSON of ``FlinkType``."""
    pairs = list(fields)
    return {"root": "ROW", "names": [n for n, _ in pairs], "children": [java_type(t) for _, t in pairs]}
