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
    """The outermost expressions that a node, a spec or a collection of them holds."""
    found: list[RexNode] = []
    _collect(value, found)
    return found


def _collect(value: Any, found: list[RexNode]) -> None:
    kind: type = type(value)
    if kind is tuple:
        for item in value:
            _collect(item, found)
    elif kind is Json:
        for item in value.values():
            _collect(item, found)
    elif (names := _fields(kind)) is None:
        found.append(value)
    else:
        for name in names:
            _collect(getattr(value, name), found)


@cache
def _fields(kind: type) -> tuple[str, ...] | None:
    """The fields of a class that may hold expressions; ``None`` for a class of expressions."""
    if issubclass(kind, _REX):
        return None
    if issubclass(kind, Record) and not issubclass(kind, LogicalType):
        return kind.__struct_fields__
    return ()
