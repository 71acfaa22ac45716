"""Constant calls of JSON functions with a path of plain member and element steps."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from ....plan.record import Record
from ....plan.rex import Call, Literal
from .numbers import double_text
from .registry import UnknownValue, evaluator, from_values

_PATH = re.compile(r"(?:(lax|strict)\s+)?\$((?:\.[A-Za-z_]\w*|\[\d+\])*)", re.IGNORECASE)
_STEP = re.compile(r"\.(\w+)|\[(\d+)\]")


class _Found(Record):
    """The result of a path.  No value is an error in strict mode, and empty in lax mode."""

    value: Any
    lax: bool

    @property
    def case(self) -> str:
        """Which clause applies if the value does not: EMPTY or ERROR."""
        return "EMPTY" if self.lax else "ERROR"


def _find(document: Any, path: Any) -> _Found:
    match = _PATH.fullmatch(path)
    if match is None:
        raise UnknownValue
    lax = (match[1] or "").lower() == "lax"
    try:
        value = _parse(document)
        for member, element in _STEP.findall(match[2]):
            value = _member(value, member) if member else _element(value, int(element))
    except ValueError:
        value = None
    return _Found(value, lax)


def _member(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, dict) else None


def _element(value: Any, index: int) -> Any:
    return value[index] if isinstance(value, list) and index < len(value) else None


def _parse(text: str) -> Any:
    return json.loads(text, parse_float=Decimal)


def _is_scalar(value: Any) -> bool:
    return not isinstance(value, dict | list)


# ---------------------------------------------------------------- paths


@evaluator("JSON_VALUE")
def _json_value(call: Call, document: Literal, path: Literal, *clauses: Literal) -> Any:
    match_ = _find(document.value, path.value)
    if match_.value is None or not _is_scalar(match_.value):
        return _default(clauses, match_.case)
    if call.type.root == "VARCHAR":
        return _text(match_.value)
    if not _fits(match_.value, call.type.root):
        return _default(clauses, "ERROR")
    return double_text(float(match_.value)) if call.type.root == "DOUBLE" else match_.value


def _fits(value: Any, root: str) -> bool:
    if root == "BOOLEAN" or isinstance(value, bool):
        return root == "BOOLEAN" and isinstance(value, bool)
    if root == "INT":
        return isinstance(value, int) and -(2**31) <= value < 2**31
    if root == "DOUBLE":
        return isinstance(value, int | Decimal)
    raise UnknownValue


def _default(clauses: Sequence[Literal], case: str) -> Any:
    """The value that ON EMPTY or ON ERROR gives; ``clauses`` are behaviour, DEFAULT value and case."""
    value: Any = None
    for i, clause in enumerate(clauses):
        if clause.symbol and clause.value == case:
            default, behaviour = clauses[i - 1], clauses[i - 2] if i > 1 else None
            if behaviour is not None and behaviour.symbol and behaviour.value == "DEFAULT" and not default.symbol:
                return default.value
            if default.value != "NULL":
                raise UnknownValue
    return value


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


@evaluator("JSON_QUERY")
def _json_query(
    call: Call, document: Literal, path: Literal, wrapper: Literal, on_empty: Literal, on_error: Literal
) -> str | None:
    if call.type.root != "VARCHAR":
        raise UnknownValue
    match_ = _find(document.value, path.value)
    value = match_.value
    if value is not None:
        conditional = wrapper.value in ("CONDITIONAL_ARRAY", "WITH_CONDITIONAL_ARRAY")
        wraps = not isinstance(value, list) if conditional else wrapper.value != "WITHOUT_ARRAY"
        value = [value] if wraps else value
    if _is_scalar(value):
        behaviour = on_empty if match_.case == "EMPTY" else on_error
        return {"NULL": None, "EMPTY_ARRAY": "[]", "EMPTY_OBJECT": "{}"}[behaviour.value]
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False, sort_keys=True)


@evaluator("JSON_EXISTS")
def _json_exists(call: Call, document: Literal, path: Literal, on_error: Literal | None = None) -> bool | None:
    match_ = _find(document.value, path.value)
    if match_.value is not None or match_.lax or on_error is None:
        return match_.value is not None
    return {"TRUE": True, "FALSE": False, "UNKNOWN": None}[on_error.value]


# ---------------------------------------------------------------- texts


def _quote(text: str) -> str:
    """A text as a JSON string of ASCII characters, slashes escaped."""
    if any(ord(c) > 0xFFFF or c == "\x7f" for c in text):
        raise UnknownValue
    return json.dumps(text).replace("/", "\\/")


def _unquote(text: str) -> str:
    if not text.startswith('"'):
        return text
    try:
        value = _parse(text)
    except ValueError:
        return text
    return value if isinstance(value, str) else text


def _string(value: Any) -> str:
    if not isinstance(value, str) or any(c < " " for c in value):
        raise UnknownValue
    return json.dumps(value, ensure_ascii=False)


_KINDS: dict[str, tuple[type, ...]] = {
    "VALUE": (object,),
    "OBJECT": (dict,),
    "ARRAY": (list,),
    "SCALAR": (str, int, Decimal, bool, type(None)),
}


def _is_json(kind: str, text: str) -> bool:
    try:
        return isinstance(_parse(text), _KINDS[kind])
    except ValueError:
        return False


evaluator("JSON_QUOTE")(from_values(_quote))
evaluator("JSON_UNQUOTE")(from_values(_unquote))
evaluator("JSON_STRING")(from_values(_string))
for _kind in _KINDS:
    evaluator(f"IS JSON {_kind}")(from_values(lambda text, kind=_kind: _is_json(kind, text)))
    evaluator(f"IS NOT JSON {_kind}")(from_values(lambda text, kind=_kind: not _is_json(kind, text)))
