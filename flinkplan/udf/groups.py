"""GROUP BY with Python aggregate functions, in a worker: the rows of some groups in one go.

A group's accumulators come as bytes and go as bytes.  Everything is done in the order in which PyFlink does it, which
functions can see: the value of a group is asked for before its first row, also of a new one, and once behind the last
one; of a group that does not exist yet retractions are skipped.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ..plan.record import Record
from ..plan.types import LogicalType
from ..windowing.keys import restricted_loads
from .aggregates import Accumulators, AggregateCode, Aggregator, functions_of
from .code import FunctionCode
from .failures import result_error
from .values import ResultError, reader, writer

if TYPE_CHECKING:
    import pyarrow as pa

INSERT, UPDATE_BEFORE, UPDATE_AFTER, DELETE = range(4)
"""The kinds of rows."""
_RETRACTIONS = frozenset((UPDATE_BEFORE, DELETE))


class Grouping(Record):
    """Calls over rows of columns with these ``names`` and ``types``.

    ``counts``: rows may be taken back, and a group without rows is deleted.  ``update_before``: a row is taken back
    before it is updated.  ``row_by_row``: the change of each row is emitted, not that of all.  ``emits``: the type of
    the rows of the one function, if it is a table aggregate function.  ``modules`` are those whose classes
    accumulators may hold.  ``zone``: the session's time zone.
    """

    calls: tuple[AggregateCode, ...]
    names: tuple[str, ...]
    types: tuple[LogicalType, ...]
    counts: bool
    update_before: bool
    row_by_row: bool
    emits: LogicalType | None
    modules: tuple[str, ...]
    zone: str


class Change(Record):
    """A row that a group emits: ``cause`` is the row of the input that brought it about."""

    cause: int
    group: int
    kind: int
    values: Sequence[Any]


class Answer(Record):
    """The columns of results, by their names and types: makes record batches of what groups become."""

    names: tuple[str, ...]
    types: tuple[LogicalType, ...]

    def changes(self, changes: Sequence[Change]) -> pa.RecordBatch:
        """The changes.  Raises :class:`FunctionError` for a result that does not fit its type."""
        import pyarrow as pa

        columns: list[Any] = [
            pa.array([change.cause for change in changes], pa.int64()),
            pa.array([change.group for change in changes], pa.int32()),
            pa.array([change.kind for change in changes], pa.int8()),
        ]
        for i, (name, t) in enumerate(zip(self.names, self.types, strict=True)):
            try:
                columns.append(writer(t)([_value(change, i) for change in changes]))
            except ResultError as error:
                raise result_error(name, None, error.value, error.problem) from None
        return pa.RecordBatch.from_arrays(columns, [str(i) for i in range(len(columns))])

    @staticmethod
    def states(states: Sequence[tuple[int, bytes | None]]) -> pa.RecordBatch:
        """The bytes of accumulators by group."""
        import pyarrow as pa

        numbers = pa.array([number for number, _ in states], pa.int32())
        return pa.RecordBatch.from_arrays([numbers, pa.array([s for _, s in states], pa.binary())], ["group", "state"])


def _value(change: Change, place: int) -> Any:
    """A value of a change; missing ones are None, as in PyFlink."""
    return change.values[place] if place < len(change.values) else None


class GroupWork(Record):
    """What a worker does for a kernel that aggregates groups."""

    grouping: Grouping
    answer: Answer

    @property
    def functions(self) -> tuple[FunctionCode, ...]:
        """The functions of a user that are called."""
        return tuple(functions_of(self.grouping.calls))

    def started(self, functions: Sequence[Any]) -> _Started:
        """The work, by the opened functions."""
        return _Started(Groups(self.grouping, functions), self.answer)


class _Started:
    def __init__(self, groups: Groups, answer: Answer) -> None:
        self._groups = groups
        self._answer = answer

    def take(self, columns: Sequence[pa.Array]) -> None:
        """Process rows: numbers of groups, bytes of accumulators, kinds, and what functions read."""
        numbers, states, kinds, *values = columns
        self._groups.take(numbers.to_pylist(), states.to_pylist(), kinds.to_pylist(), values)

    def end(self) -> list[pa.RecordBatch]:
        """The changes (cause, group, kind, values), and the states (group, bytes)."""
        changes, states = self._groups.end()
        return [self._answer.changes(changes), self._answer.states(states)]


class _Group:
    """A group: its accumulators, ``None`` while it has had no row, how many rows it has, and what it was before."""

    __slots__ = ("accumulators", "count", "exists", "last", "previous")

    def __init__(self) -> None:
        self.accumulators: Accumulators | None = None
        self.count = 0
        self.exists = False
        self.previous: list[Any] = []
        self.last = -1


class Groups:
    """Takes the rows of groups, then says what each has become.

    ``functions`` are those of a user, opened.
    """

    def __init__(self, grouping: Grouping, functions: Sequence[Any]) -> None:
        self._grouping = grouping
        self._aggregator = Aggregator(grouping.calls, functions, grouping.names, grouping.emits)
        self._readers = [reader(t, grouping.zone) for t in grouping.types]
        self._groups: dict[int, _Group] = {}
        self._emitted: list[Change] = []
        self._rows = 0

    def take(self, groups: Sequence[int], states: Sequence[bytes | None], kinds: Sequence[int], columns: Any) -> None:
        """Process rows.

        ``groups`` are numbers of groups, ``states`` the bytes of a group's accumulators at its first row, ``columns``
        Arrow arrays.  Raises :class:`FunctionError` where a function fails.
        """
        count = len(groups)
        values = [read(column) for read, column in zip(self._readers, columns, strict=True)]
        arguments = self._aggregator.arguments(values, count)
        change = self._aggregator.change
        rows: Any = zip(*values, strict=True) if values else [()] * count
        given: Any = zip(*arguments, strict=True) if arguments else [()] * count
        at = self._rows
        for number, state, kind, row, of_calls in zip(groups, states, kinds, rows, given, strict=True):
            group = self._groups.get(number)
            if group is None:
                group = self._groups[number] = self._opened(state)
            retracts = kind in _RETRACTIONS
            if group.accumulators is None and not retracts:
                group.accumulators = self._aggregator.create()
                self._note(group)
            if group.accumulators is not None:
                group.last = at
                group.count += -1 if retracts else 1
                change(group.accumulators, of_calls, row, retracts)
                if self._grouping.row_by_row:
                    self._emit(number, group)
            at += 1
        self._rows = at

    def end(self) -> tuple[list[Change], list[tuple[int, bytes | None]]]:
        """The changes of all groups, and the bytes of their accumulators, ``None`` of those that are deleted."""
        states = []
        for number, group in self._groups.items():
            if group.last < 0:
                continue  # it does not exist, and all its rows were retractions
            if not self._grouping.row_by_row:
                self._emit(number, group)
            states.append((number, self._saved(group)))
        emitted, self._emitted, self._groups, self._rows = self._emitted, [], {}, 0
        return emitted, states

    # ---------------------------------------------------------------- one group

    def _opened(self, state: bytes | None) -> _Group:
        group = _Group()
        if state is not None:
            group.count, values, distinct = restricted_loads(state, self._grouping.modules)
            group.accumulators, group.exists = Accumulators(values, distinct), True
            self._note(group)
        return group

    def _saved(self, group: _Group) -> bytes | None:
        accumulators = group.accumulators
        if accumulators is None:
            return None
        return pickle.dumps((group.count, accumulators.values, accumulators.distinct), protocol=5)

    def _note(self, group: _Group) -> None:
        """Note what a group is before its first row; of a table aggregate function only what is taken back."""
        if self._grouping.emits is None or (group.exists and self._grouping.update_before):
            group.previous = self._results(group)

    def _results(self, group: _Group) -> list[Any]:
        assert group.accumulators is not None
        return self._aggregator.results(group.accumulators)

    def _emit(self, number: int, group: _Group) -> None:
        """Emit what has become of a group by the rows up to its last one."""
        if group.accumulators is None:
            return
        changes = self._changes_of_rows(group) if self._grouping.emits is not None else self._changes(group)
        self._emitted += [Change(group.last, number, kind, values) for kind, values in changes]
        if self._grouping.counts and group.count == 0:
            group.exists, group.accumulators = False, None

    def _changes(self, group: _Group) -> Iterator[tuple[int, list[Any]]]:
        before, existed = group.previous, group.exists
        after = self._results(group)
        if self._grouping.counts and group.count == 0:
            if existed:
                yield DELETE, before
            return
        group.exists, group.previous = True, after
        if not existed:
            yield INSERT, after
        elif before != after:
            if self._grouping.update_before:
                yield UPDATE_BEFORE, before
            yield UPDATE_AFTER, after

    def _changes_of_rows(self, group: _Group) -> Iterator[tuple[int, list[Any]]]:
        if group.exists and self._grouping.update_before:
            yield from ((DELETE, row) for row in group.previous)
        if self._grouping.counts and group.count == 0:
            return
        group.exists, group.previous = True, self._results(group)
        yield from ((INSERT, row) for row in group.previous)
