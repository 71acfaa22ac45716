"""The expressions of an exec node."""

from __future__ import annotations

import typing
from collections.abc import Iterator
from typing import Any

from ..record import Record
from ..rex import RexNode
from ..types import LogicalType

_REX = typing.get_args(RexNode)


def expressions(value: Any) -> Iterator[RexNode]:
    """The outermost expressions that a node, a spec or a collection of them holds."""
    if isinstance(value, _REX):
        yield value
    elif isinstance(value, tuple):
        for item in value:
            yield from expressions(item)
    elif isinstance(value, Record) and not isinstance(value, LogicalType):
        for name in value.__struct_fields__:
            yield from expressions(getattr(value, name))
