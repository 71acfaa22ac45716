"""The states that a step reads, and the one that it fills."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from ...plan.savepoint.layout import KeptState
from ...state.form import StateError, StateTable
from .flat import Flat, Shape, batch_of, concatenated, flat, shape
from .recipe_steps import Stored

if TYPE_CHECKING:
    from pyarrow import RecordBatch


class NotDerivableError(StateError):
    """State that turns out not to be enough for the new query (exit code 1)."""

    exit_code = 1


class Source:
    """The states of an old operator: tables by name, their layouts, and their batches."""

    def __init__(
        self,
        tables: Mapping[str, StateTable],
        layouts: Mapping[str, KeptState],
        batches: Callable[[StateTable], Iterator[RecordBatch]],
        others: Callable[[int, str], Source] | None = None,
        watermark: Callable[[], int | None] = lambda: None,
        parallelism: int = 1,
    ) -> None:
        self.tables, self.layouts = tables, layouts
        self._batches = batches
        self._others = others
        self.watermark = watermark
        self.parallelism = parallelism
        """In how many subtasks the old job ran at most."""

    def other(self, node: int, operator: str) -> Source:
        """The states of another old operator, by its node and its transformation."""
        assert self._others is not None
        return self._others(node, operator)

    def parts(self, name: str) -> Iterator[Flat]:
        """The entries of a state, some at a time."""
        table = self.tables.get(name)
        if table is None:
            return
        layout = self.layouts.get(name) or KeptState(name)
        where = shape(table, layout)
        for batch in self._batches(table):
            yield flat(where, batch)

    def stored(self, stored: Stored) -> Flat | None:
        """All entries of a state of any old operator; ``None`` if there are none."""
        return self.other(stored.node, stored.operator).whole(stored.state)

    def whole(self, name: str) -> Flat | None:
        """All entries of a state; ``None`` if there are none."""
        return concatenated([part for part in self.parts(name) if part.rows])


class Target:
    """A new state: its table and its layout."""

    def __init__(self, table: StateTable, layout: KeptState) -> None:
        self.table, self.layout = table, layout
        self.shape: Shape = shape(table, layout)

    def batches(self, rows: Flat | None) -> Iterator[RecordBatch]:
        """Batches of the table with these rows."""
        if rows is not None and rows.rows:
            yield batch_of(self.shape, rows)
