"""Writing the rows that came into the tests that expected others."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

from ..planner.sql.source import Span
from .comparing import Difference
from .model import Suite
from .values import shown

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_./-]*")
_WORDS = frozenset(("true", "false", "null", "yes", "no", "on", "off"))
_INDENT = 2


def updated(suite: Suite, differences: Iterable[Difference]) -> str:
    """The text of a file of tests with the rows that came; comments and all else stay.

    Expectations whose rows are in a file of their own stay as they are.
    """
    text = suite.text
    changes = []
    for difference in differences:
        expected = difference.expected
        if expected is not None and expected.rows is not None and expected.rows.file is None and difference.lines:
            changes.append((expected.rows.span, difference))
    for span, difference in sorted(changes, key=lambda change: change[0].start, reverse=True):
        text = text[: span.start] + _rows(text, span, difference) + text[span.end :].lstrip(" ")
    return text


def _rows(text: str, span: Span, difference: Difference) -> str:
    """The rows as a list below their key."""
    if not difference.actual:
        return "[]"
    line = text.rfind("\n", 0, span.start) + 1
    head = text[line : span.start]
    is_own_line = not head.strip()
    indent = head if is_own_line else " " * (len(head) - len(head.lstrip(" -")) + _INDENT)
    rows = [f"- {_row(kind, difference.columns, values)}" for kind, values in difference.actual]
    block = f"\n{indent}".join(rows)
    tail = "\n" if text[: span.end].endswith("\n") else ""
    return (block if is_own_line else f"\n{indent}{block}") + tail


def _row(kind: str, columns: Iterable[str], values: Iterable[Any]) -> str:
    cells = ", ".join(f"{_key(name)}: {_value(shown(value))}" for name, value in zip(columns, values, strict=True))
    return f"{{{kind}: {{{cells}}}}}" if kind else f"{{{cells}}}"


def _key(name: str) -> str:
    return name if _is_plain(name) else json.dumps(name, ensure_ascii=False)


def _value(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return str(value).lower()
        case list():
            return f"[{', '.join(map(_value, value))}]"
        case dict():
            return f"{{{', '.join(f'{_key(key)}: {_value(item)}' for key, item in value.items())}}}"
        case str():
            return value if _is_plain(value) else json.dumps(value, ensure_ascii=False)
    return str(value)


def _is_plain(text: str) -> bool:
    return bool(_PLAIN.fullmatch(text)) and text.lower() not in _WORDS
