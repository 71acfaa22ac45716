"""The expressions of an exec node."""

from __future__ import annotations

import typing
from functools import cache
from typing import Any

from ..record import Json, Record
from ..rex import RexNode
from ..types import LogicalType

_REX = typing.get_args(RexNode)


def expressions(value: Any) -> list[RexNode]:
    """The outermost expressions in a node, a spec or a collection of them."""
    collected: list[RexNode] = []
    _collect(value, collected)
    return collected


def _collect(value: Any, collected: list[RexNode]) -> None:
    cls: type = type(value)
    if cls is tuple:
        for item in value:
            _collect(item, collected)
    elif cls is Json:
        for item in value.values():
            _collect(item, collected)
    elif (names := _fields(cls)) is None:
        collected.append(value)
    else:
        for name in names:
            _collect(getattr(value, name), collected)


@cache
def _fields(cls: type) -> tuple[str, ...] | None:
    """The fields of a class that may hold expressions; ``None`` if the class is an expression itself."""
    if issubclass(cls, _REX):
        return None
    if issubclass(cls, Record) and not issubclass(cls, LogicalType):
        return cls.__struct_fields__
    return ()
