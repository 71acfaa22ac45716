"""Constant calls of JSON functions with a path of plain member and element steps."""

from __future__ import annotations

import json
import re
from typing import Any

from ....plan.rex import Call, Literal
from .registry import UnknownValue, evaluator, of_values

_PATH = re.compile(r"(?:lax\s+)?\$((?:\.[A-Za-z_]\w*|\[\d+\])*)")
_STEP = re.compile(r"\.(\w+)|\[(\d+)\]")


class _Missing(Exception):
    pass


def _find(text: str, path: str) -> Any:
    match = _PATH.fullmatch(path)
    if match is None:
        raise UnknownValue
    try:
        value = json.loads(text)
    except ValueError:
        raise UnknownValue from None
    for member, element in _STEP.findall(match[1]):
        try:
            value = value[member] if member else value[int(element)]
        except (KeyError, IndexError, TypeError):
            raise _Missing from None
    return value


def _plain(literals: tuple[Literal, ...]) -> tuple[str, str]:
    """The document and the path of a call without clauses other than the defaults."""
    document, path, *clauses = literals
    if any(c.symbol and c.value not in ("NULL", "WITHOUT_ARRAY") for c in clauses):
        raise UnknownValue
    return document.value, path.value


@evaluator("JSON_VALUE")
def _json_value(call: Call, *literals: Literal) -> Any:
    if call.type.root != "VARCHAR":
        return _typed(call, _scalar(literals[0].value, literals[1].value))
    return _text(_scalar(*_plain(literals)))


def _scalar(document: str, path: str) -> Any:
    try:
        value = _find(document, path)
    except _Missing:
        raise UnknownValue from None
    if isinstance(value, dict | list | float) or value is None:
        raise UnknownValue
    return value


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _typed(call: Call, value: Any) -> Any:
    expected = {"INT": int, "BOOLEAN": bool}.get(call.type.root)
    if type(value) is not expected:
        raise UnknownValue
    return value


@evaluator("JSON_QUERY")
def _json_query(call: Call, *literals: Literal) -> str | None:
    try:
        value = _find(*_plain(literals))
    except _Missing:
        return None
    if not isinstance(value, dict | list):
        return None
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


@evaluator("JSON_EXISTS")
def _json_exists(call: Call, *literals: Literal) -> bool:
    if len(literals) > 2:
        raise UnknownValue
    try:
        _find(literals[0].value, literals[1].value)
    except _Missing:
        return False
    return True


def _quote(text: str) -> str:
    """A text as a JSON string of ASCII characters, slashes escaped."""
    if any(ord(c) > 0xFFFF or c == "\x7f" for c in text):
        raise UnknownValue
    return json.dumps(text).replace("/", "\\/")


def _string(value: Any) -> str:
    if not isinstance(value, str) or not value.isascii():
        raise UnknownValue
    return json.dumps(value)


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


evaluator("JSON_QUOTE")(of_values(_quote))
evaluator("JSON_STRING")(of_values(_string))
evaluator("IS JSON VALUE")(of_values(_is_json))
evaluator("IS NOT JSON VALUE")(of_values(lambda text: not _is_json(text)))
