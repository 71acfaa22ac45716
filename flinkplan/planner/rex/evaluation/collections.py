"""Constant calls of functions on array and map constructors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ....plan.functions import Function, called
from ....plan.functions.cast import CAST
from ....plan.functions.collection import ARRAY, ARRAY_CONTAINS, ARRAY_JOIN, CARDINALITY, ITEM, MAP
from ....plan.functions.conditional import TYPEOF
from ....plan.rex import Call, Literal, RexNode, children
from ....plan.types import APPROXIMATE, CHARACTER
from ..expressions import is_call
from .casts import fit_text, to_text
from .registry import UnknownValue


def is_collection(rex: RexNode) -> bool:
    """Whether the expression is an array or map constructor over literals or other such constructors."""
    return is_call(rex, ARRAY, MAP) and all(isinstance(o, Literal) or is_collection(o) for o in rex.operands)


def collection_value(call: Call, written: Call, *literals: Literal) -> Any:
    """The value of a call whose first argument is an array or map constructor.

    Raises :class:`UnknownValue` for functions that are not evaluated, where NULL takes part, and for numbers that
    may be written in several ways.
    """
    function = called(call)
    if function is TYPEOF:
        return str(written.type)
    if function is CAST and call.type.root in CHARACTER:
        return fit_text(_text(written), call.type)
    rule = _RULES.get(function)
    constants = [o for o in (*written.operands, *literals) if isinstance(o, Literal)]
    known = all(c.value is not None and c.type.root not in (*APPROXIMATE, "DECIMAL") for c in constants)
    if rule is None or not known or any(map(is_collection, written.operands)):
        raise UnknownValue
    elements = [c.value for c in constants[: len(written.operands)]]
    pairs = zip(elements[::2], elements[1::2], strict=True)
    collection = dict(pairs) if is_call(written, MAP) else elements
    return rule(collection, *(literal.value for literal in literals))


def _text(rex: RexNode) -> str:
    """``[1, NULL]``, ``{a=1, b=2}``."""
    if isinstance(rex, Literal):
        return "NULL" if rex.value is None else to_text(rex)
    elements = [_text(o) for o in children(rex)]
    if is_call(rex, ARRAY):
        return f"[{', '.join(elements)}]"
    return f"{{{', '.join(f'{k}={v}' for k, v in zip(elements[::2], elements[1::2], strict=True))}}}"


def _item(collection: Any, key: Any) -> Any:
    if isinstance(collection, dict):
        return collection.get(key)
    if key < 1:
        raise UnknownValue
    return collection[key - 1] if key <= len(collection) else None


_RULES: dict[Function | None, Callable[..., Any]] = {
    CARDINALITY: len,
    ITEM: _item,
    ARRAY_CONTAINS: lambda array, searched: searched in array,
    ARRAY_JOIN: lambda array, separator: separator.join(array),
}
