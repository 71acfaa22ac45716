"""Calls of process table functions in a worker: the rows and timers of many keys, or each row by itself.

What happens to keys comes in batches, in order; what the function emits, and what has become of states and timers, goes
back when all of it has been worked on.  Source: Flink's ``ProcessTableRunner``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from heapq import heappop, heappush
from typing import TYPE_CHECKING, Any

from ..plan.record import Record
from ..plan.types import BIGINT, STRING, LogicalType, array, row
from ..windowing.rows import Row, RowKind
from .changelog_mode import ChangelogMode
from .code import FunctionCode
from .failures import function_error, state_error
from .opening import Opened, Surroundings
from .process_interfaces import OnTimerContext, ProcessMethods, ProcessTableFunction, TableSemantics, TimeContext
from .process_results import EmittedRows
from .process_states import StateCode, new_states
from .process_timers import Timer, Timers
from .values import ResultError, reader, writer

if TYPE_CHECKING:
    import pyarrow as pa

ROW, WATERMARK, KEY, CLOCK = range(4)
"""What happens: a row comes, the watermark moves, a key whose timers are due appears, work begins at a time."""

TIMERS = array(row([("name", STRING), ("time", BIGINT), ("due", BIGINT)], nullable=False))
"""The type of the timers of a key."""

_KINDS = tuple(RowKind)
_LAST = 2**63 - 1


class ProcessTable(Record):
    """A table of a call, by the number of its input: the names and types of its columns, and what the call says."""

    argument: str
    names: tuple[str, ...]
    types: tuple[LogicalType, ...]
    semantics: TableSemantics

    @property
    def row_type(self) -> LogicalType:
        """The type of its rows."""
        return row(zip(self.names, self.types, strict=True))


class ProcessCode(Record):
    """A call for the workers.

    ``arguments`` has for each argument the number of its table; of a value ``~n``, where ``n`` is its place among the
    values that come with each row; or ``None`` where it is left out.  ``emits`` are the kinds of rows as plans name
    them.  ``sets_timers``: it may set timers, which fire where it goes by watermarks, ``keeps_timers``.
    """

    function: FunctionCode
    tables: tuple[ProcessTable, ...]
    arguments: tuple[int | None, ...]
    scalars: tuple[LogicalType, ...]
    states: tuple[StateCode, ...]
    result: LogicalType
    emits: tuple[str, ...]
    keeps_timers: bool
    sets_timers: bool
    zone: str

    @property
    def functions(self) -> tuple[FunctionCode, ...]:
        """The function that is called."""
        return (self.function,)

    def started(self, functions: Sequence[Any]) -> KeyedCalls:
        """The calls, by the opened function."""
        return KeyedCalls(self, functions[0])


class _Calls:
    """The methods of a function, and the context that they are called with."""

    def __init__(self, code: ProcessCode, function: ProcessTableFunction) -> None:
        methods = function._methods
        assert methods is not None, "it was declared"
        self.code = code
        self.methods: ProcessMethods = methods
        self.function = function
        self.name = code.function.name
        self.emitted = EmittedRows(code.result, code.emits, code.function.name)
        self.context = _Context(self)
        self.key: _Key | None = None
        self.now = 0
        self.watermark: int | None = None
        self.due = -_LAST
        self.at: int | None = None
        self.timer: Timer | None = None
        self.position = 0
        defaults = [argument.default for argument in methods.arguments]
        self._given = [default if n is None else None for n, default in zip(code.arguments, defaults, strict=True)]
        self._tables = {n: place for place, n in enumerate(code.arguments) if n is not None and n >= 0}
        self._scalars = [(place, ~n) for place, n in enumerate(code.arguments) if n is not None and n < 0]
        self._context = (self.context,) if methods.takes_context else ()
        self._timer_context = (self.context,) if methods.timer_takes_context else ()

    def arguments(self, table: int, given: Any, scalars: Sequence[Any]) -> list[Any]:
        """The arguments of ``eval`` for a row of a table."""
        arguments = self._given.copy()
        for place, n in self._scalars:
            arguments[place] = scalars[n]
        if table in self._tables:
            arguments[self._tables[table]] = given
        return arguments

    def eval(self, arguments: Sequence[Any]) -> None:
        """Call it for a row.  Raises :class:`FunctionError` where the function fails."""
        states = () if self.key is None else self.key.handed
        self._run(self.name, arguments, self.function.eval, (*self._context, *states, *arguments))

    def on_timer(self, timer: Timer) -> None:
        """Call it for a timer.  Raises :class:`FunctionError` where the function fails."""
        states = () if self.key is None else self.key.handed
        method: Callable[..., Any] = self.function.on_timer  # type: ignore[attr-defined]
        self._run(f"{self.name}.on_timer", (timer.name, timer.time), method, (*self._timer_context, *states))

    def _run(self, name: str, shown: Sequence[Any], method: Callable[..., Any], arguments: Sequence[Any]) -> None:
        try:
            result = method(*arguments)
            if result is not None:
                take = self.emitted.take
                for value in result:
                    take(value)
        except Exception as error:
            raise function_error(name, error, shown, method) from None
        if self.key is not None:
            self.key.keep()


class _Key:
    """A key: its states, what of them calls are ``handed``, and its timers."""

    def __init__(
        self, code: ProcessCode, methods: ProcessMethods, states: Sequence[Any], timers: Any, now: int
    ) -> None:
        self.states = new_states(code.states, methods.states, now)
        self.cleared: set[int] = set()
        for state, stored in zip(self.states, states, strict=True):
            state.load(stored)
        self.handed = [state.handed() for state in self.states]
        self.timers = Timers(Timer(*timer) for timer in timers or ())

    def keep(self) -> None:
        """Take what a call has left of the states, and clear those that it wants to have cleared."""
        if not self.cleared:
            for i, state in enumerate(self.states):
                if state.keep():
                    self.handed[i] = state.handed()
            return
        for i, state in enumerate(self.states):
            if i in self.cleared:
                state.clear()
            else:
                state.keep()
            self.handed[i] = state.handed()
        self.cleared.clear()


class KeyedCalls:
    """Calls for the rows and timers of many keys, which are numbered."""

    def __init__(self, code: ProcessCode, function: ProcessTableFunction) -> None:
        self._code = code
        self._function = function
        zone = code.zone
        self._read_states = [state.reader(zone) for state in code.states]
        self._read_timers = reader(TIMERS, zone)
        self._read_scalars = reader(row([(f"a{i}", t) for i, t in enumerate(code.scalars)]), zone)
        self._read_rows = [reader(table.row_type, zone) for table in code.tables]
        self._begin()

    def _begin(self) -> None:
        self._calls = _Calls(self._code, self._function)
        self._keys: dict[int, _Key] = {}
        self._heap: list[tuple[int, int]] = []
        self._causes: list[int] = []
        self._owners: list[int] = []
        self._times: list[int | None] = []
        self._behind: list[int] = []

    def take(self, columns: Sequence[pa.Array]) -> None:
        """Work on what happens.  Raises :class:`FunctionError` where the function fails.

        The columns are what it is, the number of the key, the kind of the row, its table, its time, the watermark, the
        one that timers are set behind at least (of a watermark that moves: how far), the watermark that what is emitted
        stands behind, states and timers of a key that appears, values, and a row for each table.
        """
        plain = [column.to_pylist() for column in columns[:8]]
        rest = iter(columns[8:])
        count = len(plain[0])
        kept = next(rest).flatten() if self._read_states else []
        states = [read(column) for read, column in zip(self._read_states, kept, strict=True)]
        timers = self._read_timers(next(rest)) if self._code.keeps_timers else [None] * count
        scalars = self._read_scalars(next(rest)) if self._code.scalars else [()] * count
        rows = [read(column) for read, column in zip(self._read_rows, rest, strict=True)]
        calls, keys, keeps_timers = self._calls, self._keys, self._code.keeps_timers
        key: Any = None
        for i, (what, number, kind, table, time, watermark, due, behind) in enumerate(zip(*plain, strict=True)):
            if what == CLOCK:
                calls.now = time
                continue
            if number is not None and (key := keys.get(number)) is None:
                key = self._appear(number, [state[i] for state in states], timers[i])
            calls.watermark = watermark
            if what == ROW:
                given = rows[table][i]
                if kind:
                    given.set_row_kind(_KINDS[kind])
                arguments = calls.arguments(table, given, scalars[i])
                calls.key, calls.at, calls.timer = key, time, None
                calls.due = -_LAST if due is None else due
                behind = -_LAST if behind is None else behind
                if keeps_timers:
                    self._eval_with_timers(calls.position + i, number, key, arguments, time, behind)
                else:
                    calls.eval(arguments)
                    self._note(calls.position + i, number, time, behind)
            elif what == WATERMARK:
                self._fire(calls.position + i, due)
        calls.position += count

    def _appear(self, number: int, states: Sequence[Any], timers: Any) -> _Key:
        key = self._keys[number] = _Key(self._code, self._calls.methods, states, timers, self._calls.now)
        self._schedule(number, key)
        return key

    def _schedule(self, number: int, key: _Key) -> None:
        due = key.timers.due()
        if due is not None:
            heappush(self._heap, (due, number))

    def _eval_with_timers(
        self, cause: int, number: int, key: _Key, arguments: Sequence[Any], time: int | None, behind: int
    ) -> None:
        before = key.timers.due()
        self._calls.eval(arguments)
        self._note(cause, number, time, behind)
        if key.timers.due() != before:
            self._schedule(number, key)

    def _fire(self, cause: int, reached: int) -> None:
        """Fire the timers of all keys that a watermark reaches, in the order of their times."""
        calls = self._calls
        while self._heap and self._heap[0][0] <= reached:
            _, number = heappop(self._heap)
            key = self._keys[number]
            due = key.timers.due()
            if due is None or due > reached:
                self._schedule(number, key)
                continue
            timer = key.timers.take()
            calls.key, calls.at, calls.timer, calls.due = key, timer.time, timer, due
            # what it emits stands behind the watermark before the one that fires it, as FunctionHost.java says
            behind = due - 1 if due > timer.time else timer.time - 2
            calls.on_timer(timer)
            self._note(cause, number, timer.time, behind)
            self._schedule(number, key)

    def _note(self, cause: int, number: int, time: int | None, behind: int) -> None:
        """Note what has brought about the rows that were emitted last."""
        count = len(self._calls.emitted.kinds) - len(self._causes)
        if count == 1:
            self._causes.append(cause)
            self._owners.append(number)
            self._times.append(time)
            self._behind.append(behind)
        elif count:
            self._causes += [cause] * count
            self._owners += [number] * count
            self._times += [time] * count
            self._behind += [behind] * count

    def end(self) -> list[pa.RecordBatch]:
        """What was emitted, and what has become of keys.  Raises :class:`FunctionError` for what does not fit."""
        import pyarrow as pa

        emitted = [
            pa.array(self._causes, pa.int64()),
            pa.array(self._owners, pa.int32()),
            pa.array(self._calls.emitted.kinds, pa.int8()),
            pa.array(self._times, pa.int64()),
            pa.array(self._behind, pa.int64()),
            *self._calls.emitted.arrays(self._function.eval),
        ]
        answers = [_batch(emitted), _batch(self._changes())]
        self._begin()
        return answers

    def _changes(self) -> list[pa.Array]:
        """Of each key its number, bits that say which of its states have changed, and behind them its timers; the
        watermark that its first timer waits for; and the states and timers."""
        import pyarrow as pa

        keys = list(self._keys.items())
        columns = [
            pa.array([number for number, _ in keys], pa.int32()),
            pa.array([_changed(key) for _, key in keys], pa.int64()),
            pa.array([_LAST if (due := key.timers.due()) is None else due for _, key in keys], pa.int64()),
        ]
        for i, code in enumerate(self._code.states):
            stored = [key.states[i].store() if key.states[i].changed else None for _, key in keys]
            try:
                columns.append(code.array(stored))
            except ResultError as error:
                name = self._calls.name
                raise state_error(name, code.name, error.value, error.problem, self._function.eval) from None
        if self._code.keeps_timers:
            columns.append(writer(TIMERS)([_stored(key.timers) for _, key in keys]))
        return columns


def _stored(timers: Timers) -> list[Row] | None:
    """Timers as they are kept; ``None`` where there are none, or they have not changed."""
    return ([Row(t.name, t.time, t.due) for t in timers] or None) if timers.changed else None


def _changed(key: _Key) -> int:
    flags = [*(state.changed for state in key.states), key.timers.changed]
    return sum(1 << i for i, flag in enumerate(flags) if flag)


def _batch(columns: list[pa.Array]) -> pa.RecordBatch:
    import pyarrow as pa

    return pa.RecordBatch.from_arrays(columns, [str(i) for i in range(len(columns))])


# ---------------------------------------------------------------- each row by itself


class RowCalls(Record):
    """Calls for each row by itself, which are called with the batches of a task.

    A batch has a row, its kind, its time and the watermark (ms), and the values of the other arguments.
    """

    code: ProcessCode
    surroundings: Surroundings

    def __call__(self, batches: Iterable[Any]) -> Iterator[pa.Array]:
        """The array of rows for each row.  Raises :class:`FunctionError` where the function fails."""
        import pyarrow as pa

        code = self.code
        read_rows = [reader(table.row_type, code.zone) for table in code.tables]
        read_scalars = [reader(t, code.zone) for t in code.scalars]
        with Opened(code.functions, self.surroundings) as opened:
            for batch in batches:
                calls = _Calls(code, opened.functions[0])
                given, kinds, times, watermarks, *rest = batch
                rows = read_rows[0](given) if read_rows else [None] * len(given)
                scalars: Any = [read(column) for read, column in zip(read_scalars, rest, strict=True)]
                scalars = zip(*scalars, strict=True) if scalars else [()] * len(given)
                offsets = [0]
                plain = (kinds.to_pylist(), times.to_pylist(), watermarks.to_pylist())
                for each, kind, calls.at, calls.watermark, values in zip(rows, *plain, scalars, strict=True):
                    if kind and each is not None:
                        each.set_row_kind(_KINDS[kind])
                    calls.eval(calls.arguments(0, each, values))
                    offsets.append(len(calls.emitted.kinds))
                arrays = calls.emitted.arrays(calls.function.eval)
                struct = pa.StructArray.from_arrays(arrays, [f"c{i}" for i in range(len(arrays))])
                yield pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), struct)


# ---------------------------------------------------------------- what a function can ask and do


class _Context(OnTimerContext):
    def __init__(self, calls: _Calls) -> None:
        self._calls = calls

    def collect(self, row: Any) -> None:
        self._calls.emitted.take(row)

    def time_context(self, conversion: Any = datetime) -> TimeContext[Any]:
        if conversion not in _CONVERSIONS:
            raise TypeError(f"times are datetime or int, not {conversion!r}")
        return _Times(self._calls, *_CONVERSIONS[conversion])

    def table_semantics_for(self, arg_name: str) -> TableSemantics:
        tables = {table.argument: table.semantics for table in self._calls.code.tables}
        if arg_name not in tables:
            raise ValueError(f"there is no table {arg_name}, only {', '.join(tables)}")
        return tables[arg_name]

    def clear_state(self, state_name: str) -> None:
        names = [state.name for state in self._calls.code.states]
        if state_name not in names:
            raise ValueError(f"there is no state {state_name}, only {', '.join(names)}")
        self._key.cleared.add(names.index(state_name))

    def clear_all_state(self) -> None:
        self._key.cleared.update(range(len(self._calls.code.states)))

    def clear_all_timers(self) -> None:
        self._key.timers.clear()

    def clear_all(self) -> None:
        self.clear_all_state()
        self.clear_all_timers()

    def get_changelog_mode(self) -> ChangelogMode:
        return ChangelogMode.of_plan(self._calls.code.emits)

    def current_timer(self) -> str | None:
        timer = self._calls.timer
        return None if timer is None else timer.name

    @property
    def _key(self) -> _Key:
        if self._calls.key is None:
            raise RuntimeError("a function of single rows has no states and no timers")
        return self._calls.key


_EPOCH = datetime(1970, 1, 1)
_MILLISECOND = timedelta(milliseconds=1)


def _to_datetime(millis: int) -> datetime:
    try:
        return _EPOCH + timedelta(milliseconds=millis)
    except OverflowError:
        return datetime.max


def _to_millis(time: Any) -> int:
    if not isinstance(time, datetime):
        raise TypeError(f"a time is a datetime, not {time!r}")
    return (time.replace(tzinfo=None) - _EPOCH) // _MILLISECOND


def _same(time: Any) -> int:
    if not isinstance(time, int):
        raise TypeError(f"a time is a number of milliseconds, not {time!r}")
    return time


_CONVERSIONS: dict[Any, tuple[Callable[[int], Any], Callable[[Any], int]]] = {
    datetime: (_to_datetime, _to_millis),
    int: (_same, _same),
}


class _Times(TimeContext[Any]):
    def __init__(self, calls: _Calls, of: Callable[[int], Any], millis: Callable[[Any], int]) -> None:
        self._calls = calls
        self._of = of
        self._millis = millis
        self._at = calls.at

    def time(self) -> Any:
        return None if self._at is None else self._of(self._at)

    def current_watermark(self) -> Any:
        return None if self._calls.watermark is None else self._of(self._calls.watermark)

    def table_watermark(self) -> Any:
        return self.current_watermark() if self._calls.timer is None else None

    def register_on_time(self, name_or_time: Any, time: Any = None) -> None:
        name, at = (None, name_or_time) if time is None else (str(name_or_time), time)
        calls = self._calls
        if not calls.code.sets_timers or calls.key is None:
            raise RuntimeError(
                "timers need a method on_timer, and tables that all have set semantics without columns that are passed "
                "through"
            )
        millis = self._millis(at)
        if calls.code.keeps_timers:
            calls.key.timers.register(name, millis, max(millis, calls.due))

    def clear_timer(self, name_or_time: Any) -> None:
        if self._calls.key is not None:
            is_name = isinstance(name_or_time, str)
            self._calls.key.timers.remove(name_or_time if is_name else self._millis(name_or_time))

    def clear_all_timers(self) -> None:
        if self._calls.key is not None:
            self._calls.key.timers.clear()
