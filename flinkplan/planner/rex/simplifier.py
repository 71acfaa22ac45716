"""What the rules for single functions need of that which simplifies whole expressions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol, Self

from ...plan.rex import Call, RexNode
from .ranges import Known
from .truth import UnknownAs


class Simplifier(Protocol):
    """What is needed of :class:`.simplify.Simplifier`, which simplifies the terms."""

    @property
    def comparisons(self) -> Mapping[RexNode, Known]: ...

    @property
    def evaluates(self) -> bool: ...

    @property
    def eliminates(self) -> bool: ...

    def simplify(self, rex: RexNode, unknown: UnknownAs = ...) -> RexNode: ...

    def knowing(self, rex: RexNode) -> Self: ...

    def unknowing(self) -> Self: ...

    def operands_first(self, rex: Call) -> RexNode: ...

    def fold(self, rex: Call) -> RexNode: ...

    def is_certain(self, rex: RexNode) -> bool: ...

    def reduce_by_known_conditions(self, rex: RexNode) -> RexNode: ...
