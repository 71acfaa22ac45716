"""The values of tables of state as JSON can represent them."""

from __future__ import annotations

from typing import Any

from .form import ROW_KIND

_KINDS = ("+I", "-U", "+U", "-D")


def plain_value(value: Any) -> Any:
    """A value as Arrow has it in Python, for JSON: row kinds as texts (+I is left out), bytes as hexadecimal digits."""
    if isinstance(value, dict):
        kind = value.get(ROW_KIND)
        fields = {name: plain_value(item) for name, item in value.items() if name != ROW_KIND}
        return {**fields, ROW_KIND: _KINDS[kind]} if kind else fields
    if isinstance(value, list):
        return [plain_value(item) for item in value]
    if isinstance(value, bytes):
        return value.hex()
    return value.isoformat() if hasattr(value, "isoformat") else value
