"""Mixins with the methods that many node classes share."""

from __future__ import annotations

from collections.abc import Iterable

from ..row_kinds import INSERTS, Flow, Kinds, forwarded
from ..savepoint.layout import Inputs
from ..yields import Yield, input_columns


class RowByRow:
    """The node does not process rows by key."""

    __slots__ = ()

    def key_columns(self) -> tuple[tuple[int, ...], ...]:
        return ()


class SameColumns:
    """The columns are those of the inputs, unchanged."""

    __slots__ = ()

    def yields(self, inputs: Inputs) -> Iterable[Yield] | None:
        return input_columns(inputs)


class SameChanges:
    """The changes are those of the inputs, so that the node's readers decide whether old rows are needed."""

    __slots__ = ()

    def row_kinds(self, flow: Flow) -> Kinds:
        return forwarded(flow.inputs)


class InsertsOnly:
    """The node emits only inserts."""

    __slots__ = ()

    def row_kinds(self, flow: Flow) -> Kinds:
        return INSERTS


class WholeRows:
    """The state holds whole input rows."""

    __slots__ = ()

    @property
    def keeps_rows(self) -> bool:
        return True


class NoRows:
    """The state is computed from input rows and does not hold them."""

    __slots__ = ()

    @property
    def keeps_rows(self) -> bool:
        return False
