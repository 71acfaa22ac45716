"""Expressions that plans never have: OVER calls and subqueries, which rules turn into relations."""

from __future__ import annotations

from enum import Enum
from typing import Generic, TypeVar, final

from ...plan.functions import Function
from ...plan.record import Record
from ...plan.rex import PlannerExpression, RexNode
from ...plan.types import LogicalType

R = TypeVar("R")


class Approximate(str):
    """The value of an approximate numeric literal: ``2E0``, or the result of a DOUBLE function.

    Descriptions write it in scientific notation; a DECIMAL literal that was cast to DOUBLE stays as it is.
    """

    __slots__ = ()


class WrittenName(str):
    """The internal name of a function that descriptions show as the statement has it: ``coalesce``."""

    __slots__ = ("written",)
    written: str


class Frame(Record):
    """An OVER frame: ``lower``/``upper`` are None for unbounded, 0 for the current row, else an offset rex."""

    is_rows: bool
    lower: RexNode | int | None
    upper: RexNode | int | None
    lower_is_preceding: bool = True
    """On which side of the current row the offset of ``lower`` is; likewise ``upper_is_preceding``."""
    upper_is_preceding: bool = False

    @property
    def is_never_empty(self) -> bool:
        """Whether the frame surely holds the current row: Calcite knows it where no bound is an offset."""
        return not any(isinstance(bound, RexNode) for bound in (self.lower, self.upper))


@final
class Over(PlannerExpression):
    """An aggregate or ranking function over a window of rows."""

    function: Function
    operands: tuple[RexNode, ...]
    type: LogicalType
    partition: tuple[RexNode, ...]
    order: tuple[tuple[RexNode, bool, bool], ...]
    """(expression, ascending, nulls last)"""
    frame: Frame
    distinct: bool = False
    ignore_nulls: bool = False


class SubQueryKind(Enum):
    """The kinds of subquery."""

    IN = "IN"
    EXISTS = "EXISTS"
    SCALAR = "SCALAR"
    SOME = "SOME"


@final
class SubQuery(PlannerExpression, Generic[R]):
    """A subquery in an expression; correlated columns of ``rel`` are ``CorrelVariable`` field accesses.

    ``R`` is the class of relations, which expressions know nothing else about.
    """

    kind: SubQueryKind
    rel: R
    operands: tuple[RexNode, ...]
    type: LogicalType
    correl: str | None = None
    comparison: Function | None = None

    def __hash__(self) -> int:
        """Leaves the relation out: hashing it costs more than comparing the few subqueries that are alike."""
        return hash((self.kind, self.operands, self.correl, self.comparison))
