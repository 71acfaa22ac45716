# ruff: noqa: E741, F403, F405
# mypy: disable-error-code="misc, name-defined"
"""The process table functions of ``src`` in Python: each does what the class of its name does in Java.

Those with times and timers are in a module of their own, and known by this one's name, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Annotated

from ptf_hints import *  # type: ignore[import-not-found]
from pyflink.common import Row, RowKind
from pyflink.table import ChangelogMode, DataTypes, FunctionContext, ListView, MapView
from pyflink.table.udf import (
    ArgumentHint,
    ArgumentTrait,
    ChangelogContext,
    Context,
    ProcessTableFunction,
    StateHint,
    udptf,
)
from timed_ptfs import *  # type: ignore[import-not-found]

EachRow = Annotated[Row, ArgumentHint(ROW)]
EitherRow = Annotated[Row | None, ArgumentHint(SET)]
Int = Annotated[int, ArgumentHint(type="INT")]
OptionalText = Annotated[str | None, ArgumentHint(type=DataTypes.STRING(), optional=True)]


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
