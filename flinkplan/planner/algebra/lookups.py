"""The operator of lookup joins."""

from __future__ import annotations

from ...plan.record import cached_property
from ...plan.rex import RexNode
from ...plan.specs import JoinType, LookupKey
from ...plan.types import LogicalType
from .hints import LookupHint
from .names import uniquify
from .physical import Calc, SourceScan
from .rel import Rel, Unary, joined_types
from .traits import CompleteDeletes, NoWatermark, SameUpdates, UnknownBounds, UnknownDirections


class LookupJoin(SameUpdates, CompleteDeletes, NoWatermark, UnknownDirections, UnknownBounds, Unary, kw_only=True):
    """A lookup join: each row with the rows that the table has for its ``keys``, which are by table column.

    ``calc`` is over the table's rows, ``condition`` over both sides; where ``before`` does not hold, nothing is asked.
    ``left_keys`` are the columns of the input that are compared with some of the table.
    """

    kind: JoinType
    table: SourceScan
    calc: Calc | None
    keys: tuple[tuple[int, LookupKey], ...]
    left_keys: tuple[int, ...]
    before: RexNode | None
    condition: RexNode | None
    has_primary_key: bool
    hint: LookupHint
    materializes: bool = False
    """Whether the rows that were looked up are kept in state, to be taken back as they were."""

    @property
    def answers(self) -> Rel:
        """The right side: the table, or the calc over it."""
        return self.calc or self.table

    @cached_property
    def types(self) -> tuple[LogicalType, ...]:
        return joined_types(self.kind, self.input.types, self.answers.types)

    @cached_property
    def names(self) -> tuple[str, ...]:
        return uniquify((*self.input.names, *self.answers.names))
