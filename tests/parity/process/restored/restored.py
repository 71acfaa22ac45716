# ruff: noqa: E741
# mypy: disable-error-code="misc"
"""The process table functions of ``src`` in Python: each does what the class of its name does in Java."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from pyflink.common import Row
from pyflink.table import ChangelogMode, MapView
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

SET = ArgumentTrait.SET_SEMANTIC_TABLE
Rows = Annotated[Row, ArgumentHint(SET)]
Number = Annotated[Row, StateHint("ROW<n INT>")]


@udptf(result_type="STRING")
class Marked(ProcessTableFunction):
    def eval(
        self,
        r: Annotated[Row, ArgumentHint(ArgumentTrait.ROW_SEMANTIC_TABLE)],
        i: Annotated[int, ArgumentHint(type="INT")],
    ) -> Iterator[str]:
        yield f"{r.name} {r.score} {i}"


def text(value: object) -> str:
    """A value as Java shows it."""
    return "null" if value is None else str(value)


@udptf(result_type="STRING")
class Counters(ProcessTableFunction):
    def eval(self, rows: Number, before: Number, r: Rows) -> Iterator[str]:
        yield f"{text(rows.n)} {text(before.n)} {r.score}"
        before.n = rows.n or 0
        rows.n = (rows.n or 0) + 1


@udptf(result_type="STRING")
class Alarms(ProcessTableFunction):
    def eval(self, ctx: Context, r: Annotated[Row, ArgumentHint(SET, ArgumentTrait.REQUIRE_ON_TIME)]) -> Iterator[str]:
        time = ctx.time_context(int)
        yield f"row {r.score} at {time.time()}"
        if time.time() == 0:
            for i in (1, 2, 3):
                time.register_on_time(f"alarm{i}", i)
            time.register_on_time("never", 2**63 - 1)

    def on_timer(self, ctx: OnTimerContext) -> Iterator[str]:
        time = ctx.time_context(int)
        now = time.time()
        assert now is not None
        yield f"{ctx.current_timer()} at {now}"
        if ctx.current_timer() == "alarm1":
            time.register_on_time("alarm2", now + 4)
            time.clear_timer("alarm3")
        else:
            time.clear_all_timers()


@udptf(result_type="STRING")
class Sides(ProcessTableFunction):
    def eval(
        self,
        l: Annotated[Row | None, ArgumentHint(SET)],
        r: Annotated[Row | None, ArgumentHint(SET)],
    ) -> Iterator[str]:
        yield f"{text(l and l.score)} {text(r and r.city)}"


@udptf(result_type="STRING")
class Tally(ProcessTableFunction):
    def eval(
        self, ctx: Context, counts: Annotated[MapView[str, int], StateHint("MAP<STRING, INT>")], r: Rows
    ) -> Iterator[str]:
        shown = ", ".join(f"{key}={value}" for key, value in sorted(counts.items()))
        yield f"{{{shown}}} {r.score}"
        count = counts.get(r.name) if counts.contains(r.name) else 1
        counts.put(f"before {r.name}", count)
        counts.put(r.name, count + 1)
        if count == 2:
            ctx.clear_state("counts")


@udptf(result_type="ROW<name STRING, total BIGINT, mode STRING>")
class Mirrored(ProcessTableFunction):
    def eval(self, ctx: Context, r: Annotated[Row, ArgumentHint(SET, ArgumentTrait.SUPPORT_UPDATES)]) -> Iterator[Row]:
        mode = "keys" if ctx.get_changelog_mode().key_only_deletes else "rows"
        yield Row.of_kind(r.get_row_kind(), r.name, r.total, mode)

    def get_changelog_mode(self, changelog_context: ChangelogContext) -> ChangelogMode:
        return ChangelogMode.upsert(changelog_context.get_required_changelog_mode().key_only_deletes)
