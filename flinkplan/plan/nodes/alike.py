"""What many nodes say of themselves in the same words, to be mixed in."""

from __future__ import annotations

from collections.abc import Iterable

from ..row_kinds import INSERTS, Flow, Kinds, together
from ..savepoint.layout import Inputs
from ..yields import Yield, given


class RowByRow:
    """Rows stay where they are; nothing is kept by key."""

    __slots__ = ()

    def key_columns(self) -> tuple[tuple[int, ...], ...]:
        return ()


class SameColumns:
    """The columns of the inputs, as they are."""

    __slots__ = ()

    def yields(self, inputs: Inputs) -> Iterable[Yield] | None:
        return given(inputs)


class SameChanges:
    """Changes are handed on as they come, so that who reads them decides whether old rows are wanted."""

    __slots__ = ()

    def row_kinds(self, flow: Flow) -> Kinds:
        return together(flow.inputs)


class InsertsOnly:
    """What comes out is never changed again."""

    __slots__ = ()

    def row_kinds(self, flow: Flow) -> Kinds:
        return INSERTS


class WholeRows:
    """Rows of the inputs are kept as they came."""

    __slots__ = ()

    @property
    def keeps_rows(self) -> bool:
        return True


class NoRows:
    """What is kept is computed of rows, which are gone then."""

    __slots__ = ()

    @property
    def keeps_rows(self) -> bool:
        return False
