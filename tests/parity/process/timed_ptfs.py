# ruff: noqa: E741
# mypy: disable-error-code="misc"
"""The process table functions of ``src`` with times and timers in Python, as ``ptfs.py`` has the others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated

from ptf_hints import NUMBER, OPTIONAL, SET, TIMED, EitherTimedRow, Number, OptionalInt, Rows, text  # type: ignore[import-not-found]
from pyflink.common import Row
from pyflink.table import ListView, MapView
from pyflink.table.udf import ArgumentHint, Context, OnTimerContext, ProcessTableFunction, StateHint, udptf

TimedRows = Annotated[Row, ArgumentHint(SET, TIMED)]


def instant(millis: int) -> str:
    return (datetime(1970, 1, 1) + timedelta(milliseconds=millis)).isoformat() + "Z"


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
