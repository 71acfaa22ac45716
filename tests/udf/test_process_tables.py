"""Process table functions as a worker calls them, over what happens to keys, without Spark."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated, Any

import pyarrow as pa
import pytest

from flinkplan.plan.types import BOOLEAN, INT, STRING, LogicalType, row
from flinkplan.table import ChangelogMode, ListView, MapView, Row, RowKind
from flinkplan.table.udf import (
    ArgumentHint,
    ArgumentTrait,
    ChangelogContext,
    Context,
    OnTimerContext,
    ProcessTableFunction,
    StateHint,
    declared_function,
    udptf,
)
from flinkplan.udf.failures import FunctionError
from flinkplan.udf.opening import Opened
from flinkplan.udf.process_interfaces import TableSemantics
from flinkplan.udf.process_states import StateCode
from flinkplan.udf.process_tables import CLOCK, KEY, ROW, TIMERS, WATERMARK, KeyedCalls, ProcessCode, ProcessTable
from flinkplan.udf.process_timers import Timer, Timers
from flinkplan.udf.values import reader, writer
from tests.udf.calling import SURROUNDINGS, code_of

SET = ArgumentTrait.SET_SEMANTIC_TABLE
Rows = Annotated[Row, ArgumentHint(SET)]
COLUMNS = (("k", STRING), ("v", INT))


def code(function: Any, ttl: int = 0, emits: tuple[str, ...] = ("INSERT",)) -> ProcessCode:
    """The call of a function over one table, whose states stay for ``ttl`` milliseconds."""
    declared = declared_function(function)
    assert declared is not None
    process = declared.declaration.process
    assert process is not None
    semantics = TableSemantics(("k", "v"), (0,), (), (), -1, ("INSERT",))
    return ProcessCode(
        function=code_of(declared),
        tables=(ProcessTable("r", ("k", "v"), (STRING, INT), semantics),),
        arguments=(0, *(None for _ in process.arguments[1:])),
        scalars=(),
        states=tuple(StateCode(s.name, s.kind, s.value, s.key, ttl) for s in process.states),
        result=process.result,
        emits=emits,
        keeps_timers=process.has_timers,
        sets_timers=process.has_timers,
        zone="UTC",
    )


class Worked:
    """The calls, with what is kept of each key from batch to batch."""

    def __init__(self, code: ProcessCode) -> None:
        self.code = code
        self.kept: dict[str, tuple[list[Any], Any]] = {}
        self.due: dict[str, int] = {}

    def batch(self, *events: tuple[Any, ...], now: int = 0) -> list[tuple[Any, ...]]:
        """What is emitted for rows ``(key, value, time)`` and watermarks ``(watermark,)``: key, kind and values."""
        lines: list[list[Any]] = [[CLOCK, None, None, None, now, *[None] * 6]]
        keys: list[str] = []
        watermark: int | None = None
        for event in events:
            if len(event) == 1:
                watermark = event[0]
                for key in [k for k, due in self.due.items() if due <= event[0] and k not in keys]:
                    lines.append([KEY, len(keys), *[None] * 6, *self._kept(key), None])
                    keys.append(key)
                lines.append([WATERMARK, None, None, None, None, watermark, watermark, None, None, None, None])
                continue
            key, value, *time = event
            is_new = key not in keys
            keys += [key] if is_new else []
            due = -(2**63) if watermark is None else watermark + 1
            kept = self._kept(key) if is_new else (None, None)
            given = Row(key, value)
            lines.append([ROW, keys.index(key), 0, 0, *(time or [None]), watermark, due, watermark, *kept, given])
        calls = KeyedCalls(self.code, self._function())
        calls.take(self._columns(lines))
        emitted, changes = (self._rows(batch) for batch in calls.end())
        self._keep(keys, changes)
        return [(keys[e[1]], RowKind(e[2]), *e[5:]) for e in emitted]

    def _function(self) -> Any:
        with Opened(self.code.functions, SURROUNDINGS) as opened:
            return opened.functions[0]

    def _kept(self, key: str) -> tuple[Any, Any]:
        states, timers = self.kept.get(key, ([None] * len(self.code.states), None))
        return Row(*states), timers

    def _columns(self, lines: list[list[Any]]) -> list[pa.Array]:
        plain = (pa.int8(), pa.int32(), pa.int8(), pa.int32(), *[pa.int64()] * 4)
        columns = [pa.array(c, t) for c, t in zip(list(zip(*lines, strict=True))[:8], plain, strict=True)]
        states, timers, rows = list(zip(*lines, strict=True))[8:]
        if self.code.states:
            columns.append(writer(row([(s.name, s.stored) for s in self.code.states]))(states))
        if self.code.keeps_timers:
            columns.append(writer(TIMERS)(timers))
        return [*columns, writer(row(COLUMNS))(rows)]

    def _rows(self, batch: pa.RecordBatch) -> list[tuple[Any, ...]]:
        return list(zip(*(column.to_pylist() for column in batch.columns), strict=True)) if batch.num_rows else []

    def _keep(self, keys: list[str], changes: list[tuple[Any, ...]]) -> None:
        for number, bits, due, *columns in changes:
            states, timers = self.kept.get(keys[number], ([None] * len(self.code.states), None))
            for i, state in enumerate(self.code.states):
                if bits & 1 << i:
                    states[i] = self._read(state.stored, columns[i])
            if bits & 1 << len(states):
                timers = self._read(TIMERS, columns[-1])
            self.kept[keys[number]] = (states, timers)
            self.due[keys[number]] = due

    def _read(self, t: LogicalType, value: Any) -> Any:
        from flinkplan.udf.values import arrow_type

        (read,) = reader(t, "UTC")(pa.array([value], arrow_type(t)))
        return read


@dataclass
class Seen:
    n: int = 0
    last: str | None = None


@udptf(result_type="ROW<n INT, before STRING>")
class Visits(ProcessTableFunction):
    """Counts the rows of a key; a row of value 0 is not counted."""

    def eval(self, seen: Annotated[Seen, StateHint("ROW<n INT NOT NULL, `last` STRING>")], r: Rows) -> Iterator[Row]:
        if r.v:
            seen.n += 1
            yield Row(before=seen.last, n=seen.n)
            seen.last = f"{r.k}{r.v}"


@pytest.mark.parametrize("ttl", [0, 100])
def test_states_go_from_batch_to_batch_and_expire(ttl: int) -> None:
    worked = Worked(code(Visits, ttl))
    assert worked.batch(("a", 1), ("b", 5), ("a", 2)) == [
        ("a", RowKind.INSERT, 1, None),
        ("b", RowKind.INSERT, 1, None),
        ("a", RowKind.INSERT, 2, "a1"),
    ]
    assert worked.batch(("a", 3), now=99)[0][2] == 3
    if ttl:
        worked.batch(("a", 0), now=190)  # a call that leaves the state as it was refreshes nothing
    assert worked.batch(("b", 1), now=100)[0][2] == (1 if ttl else 2)
    assert worked.batch(("a", 4), now=199)[0][2] == (1 if ttl else 4)


@udptf(result_type="ARRAY<STRING>")
class Views(ProcessTableFunction):
    """What is in a list and a map, before and after they are changed."""

    def eval(
        self,
        ctx: Context,
        values: Annotated[ListView[Any], StateHint("ARRAY<INT>")],
        counts: Annotated[MapView[Any, Any], StateHint("MAP<INT, INT>", name="counted")],
        r: Rows,
    ) -> Iterator[list[str]]:
        before = f"{values.get()} {dict(counts.items())}"
        values.add(r.v)
        counts[r.v] = (counts.get(r.v) or 0) + 1
        yield [before, f"{list(values)} {sorted(counts)} {counts.is_empty()} {counts.contains(9)}"]
        if r.v == 3:
            ctx.clear_state("counted")
            values.clear()


def test_elements_of_views_expire_each_by_itself() -> None:
    worked = Worked(code(Views, 100))
    assert worked.batch(("a", 1), ("a", 2))[-1][2] == ["[1] {1: 1}", "[1, 2] [1, 2] False False"]
    assert worked.batch(("a", 1), now=60)[0][2] == ["[1, 2] {1: 1, 2: 1}", "[1, 2, 1] [1, 2] False False"]
    assert worked.batch(("a", 3), now=120)[0][2] == ["[1] {1: 2}", "[1, 3] [1, 3] False False"]
    assert worked.batch(("a", 4), now=121)[0][2][0] == "[] {}"


@udptf(result_type="STRING")
class Alarms(ProcessTableFunction):
    """Sets a timer with a name by each row, and one without at its end."""

    def eval(self, ctx: Context, r: Rows) -> Iterator[str]:
        time = ctx.time_context(int)
        at = time.time()
        assert at is not None
        time.register_on_time("alarm", at + r.v)
        time.register_on_time(at + 100)
        yield f"{time.current_watermark()} {time.table_watermark()}"
        if r.v == 9:
            time.clear_timer("alarm")
            time.clear_timer(at + 100)

    def on_timer(self, ctx: OnTimerContext) -> Iterator[str]:
        time = ctx.time_context(datetime)
        assert time.time() is not None and time.table_watermark() is None
        yield f"{ctx.current_timer()} {time.time():%S.%f} of {time.current_watermark():%S.%f}"


def test_timers_fire_in_their_order_and_are_kept() -> None:
    worked = Worked(code(Alarms))
    assert [e[2] for e in worked.batch(("a", 50, 1000), (1020,), ("b", 10, 1000), ("a", 30, 1010))] == [
        "None None",
        "1020 1020",
        "1020 1020",
    ]
    assert worked.due == {"a": 1040, "b": 1021}  # what is set behind the watermark waits for the next one
    assert [(e[0], e[2]) for e in worked.batch((1100,))] == [
        ("b", "alarm 01.010000 of 01.100000"),
        ("a", "alarm 01.040000 of 01.100000"),
        ("a", "None 01.100000 of 01.100000"),
        ("b", "None 01.100000 of 01.100000"),
    ]
    assert [e[2] for e in worked.batch(("c", 9, 2000), (2**62,))][1:] == ["None 01.110000 of 59.999999"]


def test_a_timer_with_a_name_takes_the_place_of_the_former_one() -> None:
    timers = Timers([Timer("a", 5, 5), Timer(None, 7, 9)])
    timers.register("a", 3, 4)
    timers.register(None, 7, 1)
    assert [(t.name, t.time, t.due) for t in timers] == [("a", 3, 4), (None, 7, 9)]
    timers.remove("a")
    assert (timers.due(), timers.changed) == (9, True)
    timers.clear()
    assert timers.due() is None


@udptf(result_type="ROW<v INT>")
class Changes(ProcessTableFunction):
    """Emits a row of the kind that its value says."""

    def eval(self, ctx: Context, r: Rows) -> None:
        ctx.collect(Row.of_kind(RowKind(r.v % 4), r.v))

    def get_changelog_mode(self, changelog_context: ChangelogContext) -> ChangelogMode:
        return ChangelogMode.upsert()


def test_kinds_of_rows_are_those_of_the_changelog_mode() -> None:
    worked = Worked(code(Changes, emits=("INSERT", "UPDATE_AFTER", "~DELETE")))
    assert [e[1] for e in worked.batch(("a", 0), ("a", 2), ("a", 3))] == [
        RowKind.INSERT,
        RowKind.UPDATE_AFTER,
        RowKind.DELETE,
    ]
    with pytest.raises(FunctionError, match="a row of the kind UPDATE_BEFORE, but its changelog mode is INSERT, UP"):
        worked.batch(("a", 1))


@udptf(result_type="INT")
class Failing(ProcessTableFunction):
    """Fails in several ways."""

    def eval(self, ctx: Context, s: Annotated[Row, StateHint("ROW<n INT>")], r: Rows) -> Iterator[Any]:
        match r.v:
            case 1:
                raise ValueError(r.k)
            case 2:
                yield "text"
            case 3:
                s["n"] = "text"
            case 4:
                ctx.clear_state("t")
            case 5:
                ctx.time_context(int).register_on_time(5)
            case 6:
                ctx.table_semantics_for("q")
            case 7:
                ctx.time_context(timedelta)  # type: ignore[type-var]


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (1, r"f\(Row\(k='a{50,60}.{,9}\) raised ValueError: a{80}.*where.*test_process_tables.py:\d+"),
        (2, r"returned 'text': the result type is INT.*where.*test_process_tables.py:\d+"),
        (3, r"f keeps 'text' in its state s: the type is INT"),
        (4, r"there is no state t, only s"),
        (5, r"timers need a method on_timer"),
        (6, r"there is no table q, only r"),
        (7, r"times are datetime or int"),
    ],
)
def test_a_function_that_fails_names_the_row_and_the_place(value: int, words: str) -> None:
    with pytest.raises(FunctionError, match=words):
        Worked(code(Failing)).batch(("a" * 80 if value == 1 else "a", value))


def test_states_are_stored_by_their_declared_types() -> None:
    stored = [StateCode("s", kind, INT, key, 0).stored.text for kind, key in (("value", None), ("map", BOOLEAN))]
    assert stored[0].startswith("ROW<`content` INT, `written` BIGINT")
    assert "`entry` BOOLEAN, `held` INT, `written` BIGINT" in stored[1]
