"""Constant calls of functions on arrays and maps that are written out in the call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ....plan.rex import Call, Literal, RexNode
from ....plan.types import APPROXIMATE
from .registry import UnknownValue

_CONSTRUCTORS = ("$ARRAY$1", "$MAP$1")


def is_collection(rex: RexNode) -> bool:
    """Whether the expression writes out an array or a map of literals."""
    return isinstance(rex, Call) and rex.name in _CONSTRUCTORS and all(isinstance(o, Literal) for o in rex.operands)


def of_collection(call: Call, written: Call, *literals: Literal) -> Any:
    """The value of a call whose first argument is written out.

    Raises :class:`UnknownValue` for functions that are not evaluated, where NULL takes part, and for numbers that
    may be written in several ways.
    """
    if call.name == "$TYPEOF$1":
        return str(written.type)
    rule = _RULES.get(call.name)
    constants = [o for o in (*written.operands, *literals) if isinstance(o, Literal)]
    if rule is None or any(c.value is None or c.type.root in (*APPROXIMATE, "DECIMAL") for c in constants):
        raise UnknownValue
    elements = [c.value for c in constants[: len(written.operands)]]
    is_map = written.name == "$MAP$1"
    collection = dict(zip(elements[::2], elements[1::2], strict=True)) if is_map else elements
    return rule(collection, *(literal.value for literal in literals))


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
