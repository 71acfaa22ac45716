"""Constant calls of functions on arrays and maps that are written out in the call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ....plan.rex import Call, Literal, RexNode
from ....plan.types import APPROXIMATE, CHARACTER
from .casts import fit_text, to_text
from .registry import UnknownValue

_CONSTRUCTORS = ("$ARRAY$1", "$MAP$1")


def is_collection(rex: RexNode) -> bool:
    """Whether the expression writes out an array or a map of literals, or of such collections."""
    if not isinstance(rex, Call) or rex.name not in _CONSTRUCTORS:
        return False
    return all(isinstance(o, Literal) or is_collection(o) for o in rex.operands)


def of_collection(call: Call, written: Call, *literals: Literal) -> Any:
    """The value of a call whose first argument is written out.

    Raises :class:`UnknownValue` for functions that are not evaluated, where NULL takes part, and for numbers that
    may be written in several ways.
    """
    if call.name == "$TYPEOF$1":
        return str(written.type)
    if call.name == "$CAST$1" and call.type.root in CHARACTER:
        return fit_text(_text(written), call.type)
    rule = _RULES.get(call.name)
    constants = [o for o in (*written.operands, *literals) if isinstance(o, Literal)]
    known = all(c.value is not None and c.type.root not in (*APPROXIMATE, "DECIMAL") for c in constants)
    if rule is None or not known or any(map(is_collection, written.operands)):
        raise UnknownValue
    elements = [c.value for c in constants[: len(written.operands)]]
    is_map = written.name == "$MAP$1"
    collection = dict(zip(elements[::2], elements[1::2], strict=True)) if is_map else elements
    return rule(collection, *(literal.value for literal in literals))


def _text(rex: RexNode) -> str:
    """``[1, NULL]``, ``{a=1, b=2}``."""
    if isinstance(rex, Literal):
        return "NULL" if rex.value is None else to_text(rex)
    assert isinstance(rex, Call)
    elements = [_text(o) for o in rex.operands]
    if rex.name == "$ARRAY$1":
        return f"[{', '.join(elements)}]"
    return f"{{{', '.join(f'{k}={v}' for k, v in zip(elements[::2], elements[1::2], strict=True))}}}"


def _item(collection: Any, key: Any) -> Any:
    if isinstance(collection, dict):
        return collection.get(key)
    if key < 1:
        raise UnknownValue
    return collection[key - 1] if key <= len(collection) else None


_RULES: dict[str, Callable[..., Any]] = {
    "$CARDINALITY$1": len,
    "$ITEM$1": _item,
    "$ARRAY_CONTAINS$1": lambda array, searched: searched in array,
    "$ARRAY_JOIN$1": lambda array, separator: separator.join(array),
}
