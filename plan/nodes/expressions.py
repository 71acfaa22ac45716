"""The expressions of an exec node."""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Iterator
from typing import Any

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
    elif dataclasses.is_dataclass(value) and not isinstance(value, LogicalType):
        for field in dataclasses.fields(value):
            yield from expressions(getattr(value, field.name))
