# ruff: noqa: E741
# mypy: disable-error-code="misc"
"""The process table functions of ``src`` in Python: each does what the class of its name does in Java."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Annotated, Any

from pyflink.common import Row, RowKind
from pyflink.table import ChangelogMode, DataTypes, FunctionContext, ListView, MapView
from pyflink.table.udf import (
    ArgumentHint,
    ArgumentTrait,
    ChangelogContext,
    Context,
    OnTimerContext,
    ProcessTableFunction,
    StateHint,
    udptf,
)

ROW, SET = ArgumentTrait.ROW_SEMANTIC_TABLE, ArgumentTrait.SET_SEMANTIC_TABLE
UPDATES, TIMED = ArgumentTrait.SUPPORT_UPDATES, ArgumentTrait.REQUIRE_ON_TIME
PASSED, OPTIONAL = ArgumentTrait.PASS_COLUMNS_THROUGH, ArgumentTrait.OPTIONAL_PARTITION_BY

EachRow = Annotated[Row, ArgumentHint(ROW)]
Rows = Annotated[Row, ArgumentHint(SET)]
TimedRows = Annotated[Row, ArgumentHint(SET, TIMED)]
EitherRow = Annotated[Row | None, ArgumentHint(SET)]
EitherTimedRow = Annotated[Row | None, ArgumentHint(SET, TIMED)]
Int = Annotated[int, ArgumentHint(type="INT")]
OptionalInt = Annotated[int | None, ArgumentHint(type="INT", optional=True)]
OptionalText = Annotated[str | None, ArgumentHint(type=DataTypes.STRING(), optional=True)]


def text(value: Any) -> str:
    """A value as Java shows it."""
    if isinstance(value, datetime):
        return value.isoformat(timespec="seconds").removesuffix(":00")
    if isinstance(value, list):
        return f"[{', '.join(map(text, value))}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{k}={text(v)}' for k, v in value.items())}}}"
    return "null" if value is None else str(value)


def instant(millis: int) -> str:
    return (datetime(1970, 1, 1) + timedelta(milliseconds=millis)).isoformat() + "Z"


SHORT = {RowKind.INSERT: "+I", RowKind.UPDATE_BEFORE: "-U", RowKind.UPDATE_AFTER: "+U", RowKind.DELETE: "-D"}


def mode(changelog: ChangelogMode) -> str:
    kinds = [kind.name for kind in RowKind if changelog.contains(kind)]
    return f"[{', '.join(f'~{k}' if k == 'DELETE' and changelog.key_only_deletes else k for k in kinds)}]"


@udptf(result_type="STRING")
class RowEcho(ProcessTableFunction):
    def eval(self, r: EachRow, suffix: Annotated[str, ArgumentHint(type="STRING")]) -> Iterator[str | None]:
        yield text(r.k) + ":" + text(r.v) + text(suffix)


@udptf(result_type="ROW<n INT NOT NULL, t STRING>")
class RowTwice(ProcessTableFunction):
    def eval(self, r: Annotated[Row, ArgumentHint(ROW, PASSED)], least: OptionalInt) -> list[tuple[int, str | None]]:
        if r.v is None or (least is not None and r.v < least):
            return []
        return [(1, f"a{r.v}"), (2, None)]


@udptf(result_type=DataTypes.INT())
class RowTyped(ProcessTableFunction):
    def eval(self, r: Annotated[Row, ArgumentHint(ROW, type="ROW<name STRING, `value` INT>")]) -> Iterator[int]:
        yield -1 if r.value is None else r.value + len(r.name)


@udptf(result_type="STRING")
class RowKinds(ProcessTableFunction):
    def eval(self, ctx: Context, r: Annotated[Row, ArgumentHint(ROW, UPDATES)]) -> Iterator[str]:
        changes = mode(ctx.table_semantics_for("r").changelog_mode())
        yield f"{SHORT[r.get_row_kind()]} {text(r.id)} {text(r.v)} {changes}"


@udptf(result_type="STRING")
class Upserted(ProcessTableFunction):
    def eval(self, ctx: Context, r: Annotated[Row, ArgumentHint(SET, UPDATES)]) -> Iterator[str]:
        changes = mode(ctx.table_semantics_for("r").changelog_mode())
        yield f"{SHORT[r.get_row_kind()]} {text(r.v)} {changes}"


@udptf(result_type="STRING")
class Retracted(ProcessTableFunction):
    def eval(self, r: Annotated[Row, ArgumentHint(SET, UPDATES, ArgumentTrait.REQUIRE_UPDATE_BEFORE)]) -> Iterator[str]:
        yield f"{SHORT[r.get_row_kind()]} {text(r.v)}"


@dataclass
class Seen:
    count: int = 0
    last: str | None = None


@udptf(result_type="STRING")
class Greeter(ProcessTableFunction):
    def eval(
        self, seen: Annotated[Seen, StateHint("ROW<`count` BIGINT NOT NULL, `last` STRING>")], r: Rows
    ) -> Iterator[str]:
        seen.count += 1
        yield f"Hello {text(r.v)}, time {seen.count} after {text(seen.last)}"
        seen.last = text(r.v)


@udptf(result_type="STRING")
class RowState(ProcessTableFunction):
    def eval(
        self, s: Annotated[Row, StateHint("ROW<total BIGINT, seen ARRAY<INT>>", ttl="1 h")], r: Rows
    ) -> Iterator[str]:
        s.total = (s.total or 0) + (r.v or 0)
        s.seen = [*(s.seen or []), r.v]
        yield f"{s.total} {text(s.seen)}"


@udptf(result_type="STRING")
class ListState(ProcessTableFunction):
    def eval(
        self,
        ctx: Context,
        names: Annotated[ListView, StateHint(DataTypes.LIST_VIEW(DataTypes.STRING()), ttl="2 d")],
        r: Rows,
    ) -> Iterator[str]:
        names.add(text(r.v))
        if len(list(names)) == 3:
            yield ",".join(names)
            ctx.clear_state("names")


@udptf(result_type="ROW<word STRING, c INT, size INT>")
class MapState(ProcessTableFunction):
    def eval(
        self,
        ctx: Context,
        words: Annotated[MapView, StateHint("MAP<STRING, INT>", ttl="1 d")],
        count: Annotated[Row, StateHint("ROW<`rows` INT>", name="counted")],
        r: Rows,
    ) -> Iterator[Row]:
        count.rows = (count.rows or 0) + 1
        if r.v == 0:
            ctx.clear_all_state()
            yield Row("cleared", count.rows, None)
            return
        word = "null" if r.v is None else "even" if r.v % 2 == 0 else "odd"
        words[word] = (words.get(word) or 0) + 1
        size = len(list(words))
        if words.contains("odd") and words.contains("even") and count.rows % 4 == 0:
            words.remove("odd")
        yield Row(word, words.get(word), size)


@udptf(result_type="ROW<v INT, city STRING>")
class Together(ProcessTableFunction):
    def eval(
        self, s: Annotated[Row, StateHint("ROW<v INT, city STRING>")], l: EitherRow, r: EitherRow
    ) -> Iterator[Row]:
        if l is not None:
            s.v = l.v
        if r is not None:
            s.city = r.city
        if s.v is not None and s.city is not None:
            yield Row(s.v, s.city)


@dataclass
class Number:
    n: int = 0


NUMBER = Annotated[Number, StateHint("ROW<n BIGINT NOT NULL>")]


@udptf(result_type=DataTypes.BIGINT())
class CountAll(ProcessTableFunction):
    def eval(self, n: NUMBER, r: Annotated[Row, ArgumentHint(SET, OPTIONAL)]) -> Iterator[int]:
        n.n += 1
        yield n.n


@udptf(result_type="ROW<total INT>")
class PassSet(ProcessTableFunction):
    def eval(self, n: NUMBER, r: Annotated[Row, ArgumentHint(SET, PASSED)]) -> Iterator[Row]:
        n.n += r.v or 0
        yield Row(n.n)


@udptf(result_type="ROW<what STRING, n BIGINT>")
class Timeout(ProcessTableFunction):
    def eval(self, ctx: Context, n: NUMBER, r: TimedRows) -> Iterator[Row]:
        n.n += 1
        time = ctx.time_context()
        time.register_on_time("timeout", time.time() + timedelta(minutes=3))
        yield Row("row", n.n)

    def on_timer(self, ctx: OnTimerContext, n: Number) -> Iterator[Row]:
        yield Row(f"{ctx.current_timer()} at {instant(ctx.time_context(int).time())}", n.n)
        ctx.clear_all()


@udptf(result_type="STRING")
class Reminders(ProcessTableFunction):
    def eval(self, ctx: Context, r: Rows) -> Iterator[str]:
        time = ctx.time_context(int)
        at = time.time()
        if at is not None:
            time.register_on_time(at + 60_000)
            time.register_on_time(at + 120_000)
            time.register_on_time("first", at - 3_600_000)
            time.register_on_time("last", at + 90_000)
        yield f"row {text(at)}"

    def on_timer(self, ctx: OnTimerContext) -> Iterator[str]:
        yield f"{text(ctx.current_timer())} {ctx.time_context(int).time()}"


@udptf(result_type="STRING")
class Cancelling(ProcessTableFunction):
    def eval(self, ctx: Context, n: Annotated[Row, StateHint("ROW<n INT>")], r: Rows) -> None:
        time = ctx.time_context(datetime)
        n.n = (n.n or 0) + 1
        at = time.time()
        time.register_on_time("a", at + timedelta(minutes=2))
        time.register_on_time(at + timedelta(minutes=4))
        if r.v is not None and r.v % 5 == 0:
            time.clear_timer("a")
        elif r.v is not None and r.v % 3 == 0:
            time.clear_timer(at + timedelta(minutes=4))
        elif r.v is not None and r.v % 7 == 0:
            time.clear_all_timers()

    def on_timer(self, ctx: OnTimerContext, n: Row) -> Iterator[str]:
        yield f"{text(ctx.current_timer())} {text(ctx.time_context(datetime).time())} {text(n.n)}"


@udptf(result_type="ROW<v INT, late BOOLEAN, mark BIGINT>")
class Late(ProcessTableFunction):
    def eval(self, ctx: Context, r: Rows) -> Iterator[Row]:
        time = ctx.time_context(int)
        mark = time.current_watermark()
        yield Row(r.v, mark is not None and time.time() is not None and time.time() <= mark, None)


@udptf(result_type="STRING")
class LateOnce(ProcessTableFunction):
    def eval(self, ctx: Context, n: Annotated[Number, StateHint("ROW<n INT>")], r: Rows) -> None:
        if n.n == 0:
            n.n = 1
            time = ctx.time_context(int)
            time.register_on_time(time.time() + 30_000)

    def on_timer(self, ctx: OnTimerContext, n: Number) -> Iterator[str]:
        time = ctx.time_context(int)
        yield f"tick {n.n} {instant(time.time())}"
        n.n += 1
        if n.n <= 3:
            time.register_on_time(time.time() + 50_000)


@udptf(result_type="INT")
class Series(ProcessTableFunction):
    def eval(self, first: Annotated[int, ArgumentHint(type="INT", name="from")], to: Int) -> Iterable[int]:
        return range(first, to + 1)


@udptf(result_type="ROW<v INT, c INT>")
class Latest(ProcessTableFunction):
    def eval(self, n: NUMBER, r: Rows) -> Iterator[Row]:
        n.n += 1
        if r.v is not None and r.v % 9 == 0:
            yield Row.of_kind(RowKind.DELETE, None, None)
            n.n = 0
            return
        yield Row.of_kind(RowKind.INSERT if n.n == 1 else RowKind.UPDATE_AFTER, r.v, n.n)

    def get_changelog_mode(self, changelog_context: ChangelogContext) -> ChangelogMode:
        return ChangelogMode.upsert()


@udptf(result_type="ROW<total INT>")
class Totals(ProcessTableFunction):
    def eval(self, n: Annotated[Row, StateHint("ROW<total INT>")], r: Rows) -> Iterator[Row]:
        if r.v is None:
            return
        if n.total is None:
            n.total = r.v
            yield Row(r.v)
        else:
            yield Row.of_kind(RowKind.UPDATE_BEFORE, n.total)
            n.total += r.v
            yield Row.of_kind(RowKind.UPDATE_AFTER, n.total)

    def get_changelog_mode(self, changelog_context: ChangelogContext) -> ChangelogMode:
        return ChangelogMode.all()


@udptf(result_type="ROW<id INT, v BIGINT>")
class Filtered(ProcessTableFunction):
    def eval(self, ctx: Context, r: Annotated[Row, ArgumentHint(ROW, UPDATES)], least: Int) -> Iterator[Row]:
        if r.w is not None and r.w >= least:
            yield Row.of_kind(r.get_row_kind(), r.id, r.v)

    def get_changelog_mode(self, changelog_context: ChangelogContext) -> ChangelogMode:
        given = changelog_context.get_table_changelog_mode(0)
        assert given is not None
        return given


@udptf(result_type="STRING")
class Sorted(ProcessTableFunction):
    def eval(self, ctx: Context, n: NUMBER, r: Rows) -> Iterator[str]:
        n.n += 1
        yield f"{n.n} {text(r.v)}"


@udptf(result_type="STRING")
class Named(ProcessTableFunction):
    def eval(
        self,
        r: Annotated[Row, ArgumentHint(ROW, name="input", type="ROW<a STRING, b INT>")],
        factor: Int,
        ratio: Annotated[float | None, ArgumentHint(type="DOUBLE")] = None,
        tag: Annotated[str | None, ArgumentHint(type="STRING")] = None,
    ) -> Iterator[str]:
        yield " ".join(map(text, (r.a, r.b, factor, ratio, tag)))


@udptf(result_type="ROW<a STRING, b INT>")
class Opened(ProcessTableFunction):
    def open(self, function_context: FunctionContext) -> None:
        self.prefix = function_context.get_job_parameter("prefix", "none")

    def eval(self, r: Rows) -> Iterator[Row]:
        yield Row(self.prefix, len(r))


@udptf(result_type="STRING")
class ScalarState(ProcessTableFunction):
    def eval(self, n: Annotated[int, StateHint("INT")], r: Rows) -> Iterator[str]:
        yield str(n)


@udptf(result_type="STRING")
class Raising(ProcessTableFunction):
    def eval(self, r: Rows) -> Iterator[str]:
        if r.v == 7:
            raise ValueError("seven")
        yield "ok"


@dataclass
class Kept:
    all: list[int] = field(default_factory=list)
    sums: dict[str, float] = field(default_factory=dict)
    at: datetime | None = None
    price: Decimal | None = None


@udptf(result_type="ROW<word STRING, `at` TIMESTAMP(9), `all` ARRAY<INT>>")
class PojoOut(ProcessTableFunction):
    def eval(
        self,
        kept: Annotated[
            Kept,
            StateHint("ROW<`all` ARRAY<INT>, sums MAP<STRING, DOUBLE>, `at` TIMESTAMP(9), price DECIMAL(10, 2)>"),
        ],
        r: Rows,
    ) -> Iterator[Row]:
        if r.v is not None:
            kept.all.append(r.v)
            kept.sums["s"] = kept.sums.get("s", 0.0) + r.v / 2
        word = text(kept.sums) + text(kept.at)
        kept.at = r.ts
        yield Row(word=word, at=kept.at, all=kept.all)


@udptf(result_type="ROW<v INT, city STRING>")
class Windowed(ProcessTableFunction):
    def eval(
        self,
        ctx: Context,
        s: Annotated[Row, StateHint("ROW<v INT, city STRING>")],
        l: EitherTimedRow,
        r: EitherTimedRow,
    ) -> Iterator[Row]:
        time = ctx.time_context()
        if l is not None:
            s.v = l.v
        else:
            assert r is not None
            s.city = r.city
        if s.v is not None and s.city is not None:
            yield Row(s.v, s.city)
            ctx.clear_all()
        else:
            time.register_on_time("end", time.time() + timedelta(seconds=180))

    def on_timer(self, ctx: OnTimerContext, s: Row) -> Iterator[Row]:
        yield Row(s.v, s.city)
        ctx.clear_all_state()


@udptf(result_type="ROW<n BIGINT>")
class OptionalUpdates(ProcessTableFunction):
    def eval(self, n: NUMBER, r: Annotated[Row, ArgumentHint(SET, OPTIONAL)]) -> Iterator[Row]:
        n.n += 1
        if n.n > 1:
            yield Row.of_kind(RowKind.UPDATE_BEFORE, n.n - 1)
        yield Row.of_kind(RowKind.UPDATE_AFTER if n.n > 1 else RowKind.INSERT, n.n)

    def get_changelog_mode(self, changelog_context: ChangelogContext) -> ChangelogMode:
        return ChangelogMode.all()


POINT = "ROW<x INT, y STRING>"


@udptf(result_type="ROW<n INT, names ARRAY<STRING>, sizes MAP<STRING, INT>, `last` ROW<a INT, b STRING>>")
class AllStates(ProcessTableFunction):
    def eval(
        self,
        ctx: Context,
        total: Annotated[Row, StateHint(f"ROW<n INT, `last` {POINT}>", ttl="5 d")],
        points: Annotated[ListView, StateHint(f"ARRAY<{POINT}>")],
        byValue: Annotated[MapView, StateHint(f"MAP<INT, {POINT}>")],
        input: Rows,
        most: OptionalInt,
    ) -> Iterator[Row]:
        point = Row(x=input.v, y=f"p{input.id}")
        before = total.last
        total.n = (total.n or 0) + 1
        total.last = point
        points.add(point)
        if input.v is not None:
            byValue[input.v] = point
        names = [each.y for each in points]
        sizes: dict[str, int] = {}
        for key, value in byValue.items():
            sizes[value.y] = sizes.get(value.y, 0) + key
        yield Row(total.n, names, sizes, None if before is None else Row(before.x, before.y))
        if most is not None and len(names) >= most:
            points.clear()
            points.add(point)
            byValue.clear()
        if input.v == 11:
            ctx.clear_state("total")


@udptf(result_type="STRING")
class Throttle(ProcessTableFunction):
    def eval(
        self, ctx: Context, kept: Annotated[Row, StateHint("ROW<`first` INT, dropped INT>")], r: TimedRows
    ) -> Iterator[str]:
        time = ctx.time_context()
        if kept.first is None:
            kept.first = r.id
            kept.dropped = 0
            yield f"first {kept.first}"
            time.register_on_time("reset", time.time() + timedelta(minutes=4))
            time.register_on_time("half", time.time() + timedelta(minutes=2))
        else:
            kept.dropped += 1
            if kept.dropped == 2:
                time.clear_timer("half")

    def on_timer(self, ctx: OnTimerContext, kept: Row) -> Iterator[str]:
        yield f"{ctx.current_timer()} {text(kept.first)} {text(kept.dropped)}"
        if ctx.current_timer() == "reset":
            ctx.clear_all_state()


@dataclass
class Fired:
    rows: int = 0
    fired: int = 0


@udptf(result_type="STRING")
class Periodic(ProcessTableFunction):
    def eval(
        self,
        ctx: Context,
        n: Annotated[Fired, StateHint("ROW<`rows` INT NOT NULL, fired INT NOT NULL>")],
        r: TimedRows,
    ) -> None:
        n.rows += 1
        time = ctx.time_context(int)
        if n.rows == 1:
            time.register_on_time("tick", time.time() + 60_000)

    def on_timer(self, ctx: OnTimerContext, n: Fired) -> Iterator[str]:
        time = ctx.time_context(int)
        n.fired += 1
        yield f"{ctx.current_timer()}{n.fired}/{n.rows}@{instant(time.time())}"
        if n.fired < 3:
            time.register_on_time("tick", time.time() + 60_000)
        else:
            ctx.clear_all()


@dataclass
class Counts:
    late: int = 0
    good: int = 0


@udptf(result_type="ROW<kind STRING, v INT, n INT>")
class LateSplit(ProcessTableFunction):
    def eval(
        self,
        ctx: Context,
        c: Annotated[Counts, StateHint("ROW<late INT NOT NULL, good INT NOT NULL>", ttl="2 h")],
        r: TimedRows,
    ) -> Iterator[Row]:
        time = ctx.time_context(int)
        mark = time.current_watermark()
        if mark is not None and time.time() <= mark:
            c.late += 1
            yield Row("late", r.v, c.late)
        else:
            c.good += 1
            yield Row("good", r.v, c.good)


@udptf(result_type="ROW<texts ARRAY<STRING>>")
class Chosen(ProcessTableFunction):
    def eval(
        self,
        ctx: Context,
        r: Annotated[Row, ArgumentHint(ROW, PASSED)],
        columns: Annotated[list[str], ArgumentHint(type="DESCRIPTOR")],
        sep: OptionalText,
    ) -> Iterator[Row]:
        yield Row([f"{c}{'=' if sep is None else sep}{text(r[c])}" for c in columns])


@udptf(result_type="ARRAY<INT>")
class Batches(ProcessTableFunction):
    def eval(self, ctx: Context, kept: Annotated[ListView, StateHint("ARRAY<INT>")], r: TimedRows) -> None:
        time = ctx.time_context(int)
        kept.add(-1 if r.v is None else r.v)
        time.register_on_time("flush", time.time() // 120_000 * 120_000 + 120_000)

    def on_timer(self, ctx: OnTimerContext, kept: ListView) -> Iterator[list[int]]:
        yield sorted(kept)
        kept.clear()


@udptf(result_type="STRING")
class Named2(ProcessTableFunction):
    def eval(self, ctx: Context, s: Annotated[Row, StateHint("ROW<text STRING>")], r: Rows) -> Iterator[str]:
        time = ctx.time_context()
        if time.time() is None:
            yield "no time"
            return
        end = time.time().replace(second=0) + timedelta(minutes=5)
        time.register_on_time("a", end)
        time.register_on_time("b", end)
        time.register_on_time("a", end + timedelta(minutes=1))
        s.text = (s.text or "") + text(r.v) + ";"

    def on_timer(self, ctx: OnTimerContext, s: Row) -> Iterator[str]:
        yield f"{ctx.current_timer()}:{s.text or ''}"
        if ctx.current_timer() == "a":
            ctx.clear_all_timers()
            ctx.clear_state("s")


TIMES = Annotated[ListView, StateHint("ARRAY<BIGINT>")]


@udptf(result_type="ROW<t STRING, l INT, r INT>")
class Paired(ProcessTableFunction):
    def eval(self, ctx: Context, left: TIMES, right: TIMES, l: EitherTimedRow, r: EitherTimedRow) -> None:
        time = ctx.time_context(int)
        (right if l is None else left).add(time.time())
        time.register_on_time(time.time() + (90_000 if l is None else 60_000))
        if r is not None:
            time.register_on_time("last", time.time() + 240_000)

    def on_timer(self, ctx: OnTimerContext, left: ListView, right: ListView) -> Iterator[Row]:
        at = ctx.time_context(int).time()
        name = ctx.current_timer()
        counts = [sum(time <= at for time in side) for side in (left, right)]
        yield Row(("" if name is None else f"{name} ") + instant(at), *counts)
        if name is not None:
            right.clear()


COUNTED = Annotated[MapView, StateHint("MAP<BIGINT, INT>")]


@udptf(result_type="ROW<t STRING, l INT, r INT>")
class Matched(ProcessTableFunction):
    def eval(self, ctx: Context, left: COUNTED, right: COUNTED, l: EitherTimedRow, r: EitherTimedRow) -> None:
        time = ctx.time_context(int)
        side = right if l is None else left
        at = time.time()
        side.put(at, (side.get(at) or 0) + 1)
        if l is not None:
            time.register_on_time(f"row {instant(at)}", at + 10_000)
        time.register_on_time(at + 60_000)

    def on_timer(self, ctx: OnTimerContext, left: MapView, right: MapView) -> Iterator[Row]:
        at = ctx.time_context(int).time()
        if ctx.current_timer() is not None:
            counts = [sum(n for time, n in side.items() if at - 20_000 < time <= at) for side in (left, right)]
            yield Row(ctx.current_timer(), *counts)
            return
        for side in (left, right):
            for time in [time for time in side if time <= at - 60_000]:
                side.remove(time)


@udptf(result_type="ROW<id INT, v INT, n INT>")
class Debounced(ProcessTableFunction):
    def eval(self, ctx: Context, last: Annotated[Row, StateHint("ROW<id INT, v INT, n INT>")], r: TimedRows) -> None:
        last.id, last.v, last.n = r.id, r.v, (last.n or 0) + 1
        time = ctx.time_context()
        time.register_on_time("quiet", time.time() + timedelta(minutes=1))

    def on_timer(self, ctx: OnTimerContext, last: Row) -> Iterator[Row]:
        yield Row(last.id, last.v, last.n)
        ctx.clear_state("last")


@udptf(result_type="ROW<kind STRING, n BIGINT, total BIGINT>")
class SessionTotals(ProcessTableFunction):
    def eval(
        self,
        ctx: Context,
        session: Annotated[Row, StateHint("ROW<n BIGINT, total BIGINT, `end` BIGINT>")],
        late: Annotated[ListView, StateHint("ARRAY<BIGINT>", name="lateRows")],
        r: TimedRows,
    ) -> Iterator[Row]:
        time = ctx.time_context(int)
        mark = time.current_watermark()
        if mark is not None and time.time() <= mark:
            late.add(time.time())
            yield Row("late", len(list(late)), mark - time.time())
            return
        session.n = (session.n or 0) + 1
        session.total = (session.total or 0) + (r.v or 0)
        session.end = max(session.end or 0, time.time() + 90_000)
        time.register_on_time("end", session.end)

    def on_timer(self, ctx: OnTimerContext, session: Row, late: ListView) -> Iterator[Row]:
        yield Row("session", session.n, session.total)
        ctx.clear_state("session")
        if len(list(late)) > 1:
            ctx.clear_state("lateRows")


@udptf(result_type="ROW<place INT, t STRING>")
class FirstN(ProcessTableFunction):
    def eval(
        self,
        seen: Annotated[Number, StateHint("ROW<n INT NOT NULL>", ttl="90 min")],
        r: Rows,
        most: Int,
        mark: OptionalText,
    ) -> Iterator[Row]:
        if seen.n < most:
            seen.n += 1
            yield Row(seen.n, f"{mark or ''}{text(r[0])}/{len(r)}")


@udptf(result_type="ROW<d INT, ms BIGINT>")
class Differences(ProcessTableFunction):
    def eval(
        self, ctx: Context, before: Annotated[Row, StateHint("ROW<v INT, `at` BIGINT>")], r: TimedRows
    ) -> Iterator[Row]:
        at = ctx.time_context(int).time()
        yield Row(
            None if r.v is None or before.v is None else r.v - before.v, None if before.at is None else at - before.at
        )
        before.v, before.at = r.v, at


@udptf(result_type="ROW<counts STRING, latest TIMESTAMP_LTZ(3)>")
class ThreeWays(ProcessTableFunction):
    def eval(
        self,
        ctx: Context,
        counts: Annotated[MapView, StateHint("MAP<STRING, INT>")],
        latest: Annotated[MapView, StateHint("MAP<STRING, TIMESTAMP(3)>")],
        a: EitherTimedRow,
        b: EitherTimedRow,
        c: EitherTimedRow,
    ) -> None:
        time = ctx.time_context()
        side = "a" if a is not None else "b" if b is not None else "c"
        counts[side] = (counts.get(side) or 0) + 1
        before = latest.get("at")
        if before is None or before < time.time():
            latest["at"] = time.time()
        time.register_on_time("all", datetime(2024, 1, 1, 1))

    def on_timer(self, ctx: OnTimerContext, counts: MapView, latest: MapView) -> Iterator[Row]:
        yield Row(text(dict(sorted(counts.items()))), latest.get("at"))
        ctx.clear_all()


@udptf(result_type="ROW<v INT, city STRING>")
class AsOf(ProcessTableFunction):
    def eval(
        self,
        ctx: Context,
        latest: Annotated[Row, StateHint("ROW<city STRING>", ttl="0 ms")],
        l: EitherTimedRow,
        r: EitherTimedRow,
    ) -> Iterator[Row]:
        if r is not None:
            latest.city = r.city
        else:
            assert l is not None
            yield Row(l.v, latest.city)


@udptf(result_type="ROW<v INT, again BOOLEAN, `all` ARRAY<INT>>")
class Unseen(ProcessTableFunction):
    def eval(
        self,
        seen: Annotated[MapView, StateHint(DataTypes.MAP_VIEW(DataTypes.INT(), DataTypes.BOOLEAN()), ttl="1 d")],
        all: Annotated[ListView, StateHint("ARRAY<INT>")],
        r: Rows,
    ) -> Iterator[Row]:
        if r.v is None:
            all.clear()
            return
        again = seen.contains(r.v)
        seen.put(r.v, again)
        all.add(r.v)
        kept = list(all)
        if again and len(kept) > 4:
            all.clear()
            all.add_all(kept[2:])
        yield Row(r.v, again, list(all))


@udptf(result_type="ROW<beat INT, `at` TIMESTAMP(3), mark BIGINT>")
class Heartbeat(ProcessTableFunction):
    def eval(self, ctx: Context, beats: Annotated[Number, StateHint("ROW<n INT NOT NULL>")], r: TimedRows) -> None:
        time = ctx.time_context()
        time.register_on_time(time.time() + timedelta(seconds=60))
        time.register_on_time(time.time() + timedelta(seconds=120))
        if r.v == 2:
            time.clear_timer(time.time() + timedelta(seconds=60))
        if r.v == 0:
            ctx.clear_all_timers()

    def on_timer(self, ctx: OnTimerContext, beats: Number) -> Iterator[Row]:
        time = ctx.time_context()
        beats.n += 1
        yield Row(beats.n, time.time(), 0 if ctx.current_timer() is None else 1)
        if beats.n == 2:
            time.register_on_time(time.time() + timedelta(seconds=30))


@udptf(result_type="ROW<kind STRING, n INT, v BIGINT>")
class Kinds(ProcessTableFunction):
    def eval(
        self,
        counts: Annotated[MapView, StateHint("MAP<STRING, INT>")],
        r: Annotated[Row, ArgumentHint(SET, UPDATES, ArgumentTrait.REQUIRE_UPDATE_BEFORE)],
    ) -> Iterator[Row]:
        kind = SHORT[r.get_row_kind()]
        counts[kind] = (counts.get(kind) or 0) + 1
        yield Row(kind, counts[kind], r.v)


@dataclass
class Sum:
    sum: float = 0.0
    n: int = 0
    shown: float | None = None


@udptf(result_type="ROW<mean DOUBLE, n BIGINT>")
class Averages(ProcessTableFunction):
    def eval(
        self,
        s: Annotated[Sum, StateHint("ROW<`sum` DOUBLE NOT NULL, n BIGINT NOT NULL, shown DOUBLE>")],
        r: Rows,
    ) -> Iterator[Row]:
        if r.v is None:
            return
        before = s.n
        s.sum += r.v
        s.n += 1
        mean = s.sum / s.n
        if mean < 4:
            if s.shown is not None:
                yield Row.of_kind(RowKind.DELETE, s.shown, before)
            s.shown = None
            return
        if s.shown is None:
            yield Row(mean, s.n)
        else:
            yield Row.of_kind(RowKind.UPDATE_BEFORE, s.shown, before)
            yield Row.of_kind(RowKind.UPDATE_AFTER, mean, s.n)
        s.shown = mean

    def get_changelog_mode(self, changelog_context: ChangelogContext) -> ChangelogMode:
        return ChangelogMode.all()


@udptf(result_type="ROW<n BIGINT, ids STRING>")
class Overall(ProcessTableFunction):
    def eval(
        self,
        ctx: Context,
        ids: Annotated[ListView, StateHint("ARRAY<INT>")],
        r: Annotated[Row, ArgumentHint(SET, OPTIONAL, TIMED)],
    ) -> None:
        ids.add(r.id)
        time = ctx.time_context(int)
        time.register_on_time("five", time.time() // 300_000 * 300_000 + 300_000)

    def on_timer(self, ctx: OnTimerContext, ids: ListView) -> Iterator[Row]:
        yield Row(len(list(ids)), text(sorted(ids)))
        ids.clear()


@dataclass
class Total:
    sum: int = 0


@udptf(result_type="ROW<total BIGINT, below BOOLEAN>")
class RunningSum(ProcessTableFunction):
    def eval(
        self,
        total: Annotated[Total, StateHint("ROW<`sum` BIGINT>")],
        r: Annotated[Row, ArgumentHint(SET, PASSED)],
        bound: Annotated[int, ArgumentHint(type="BIGINT NOT NULL")],
    ) -> Iterator[Row]:
        total.sum += r.v or 0
        yield Row(total.sum, total.sum < bound)
        if total.sum >= bound:
            total.sum = 0


@udptf(result_type="ROW<name STRING, text STRING, prefix STRING>")
class Exploded(ProcessTableFunction):
    def open(self, function_context: FunctionContext) -> None:
        self.prefix = function_context.get_job_parameter("prefix", "none")

    def eval(self, r: EachRow, nulls: Annotated[bool, ArgumentHint(type=DataTypes.BOOLEAN())]) -> Iterator[Row]:
        for name in ("id", "k", "v"):
            if r[name] is not None or nulls:
                yield Row(name, text(r[name]), self.prefix)


@dataclass
class Pair:
    sum: int = 0
    cities: int = 0


@udptf(result_type="ROW<t STRING>")
class TypedPair(ProcessTableFunction):
    def eval(
        self,
        kept: Annotated[Pair, StateHint("ROW<`sum` INT, cities INT>")],
        l: Annotated[Row | None, ArgumentHint(SET, type="ROW<k STRING, v INT>")],
        r: Annotated[Row | None, ArgumentHint(SET, type="ROW<k STRING, city STRING>")],
    ) -> Iterator[Row]:
        if l is not None:
            kept.sum += l.v or 0
        else:
            assert r is not None
            kept.cities += len(r.city)
        if l is not None and kept.cities == 0:
            yield Row(f"{text(l.k)}{kept.sum}")


@udptf(result_type="ROW<name STRING, `open` INT>")
class Deadlines(ProcessTableFunction):
    def eval(
        self,
        ctx: Context,
        open: Annotated[MapView, StateHint("MAP<STRING, BIGINT>")],
        r: TimedRows,
        seconds: OptionalInt,
    ) -> None:
        time = ctx.time_context(int)
        if not r.v:
            for _, name in sorted((at, name) for name, at in open.items())[1:]:
                time.clear_timer(name)
                open.remove(name)
            return
        at = time.time() + r.v * 1000 * (10 if seconds is None else seconds)
        open[f"row{r.id}"] = at
        time.register_on_time(f"row{r.id}", at)

    def on_timer(self, ctx: OnTimerContext, open: MapView) -> Iterator[Row]:
        open.remove(ctx.current_timer())
        yield Row(ctx.current_timer(), len(list(open)))
