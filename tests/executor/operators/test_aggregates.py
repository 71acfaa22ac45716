"""What group aggregates emit, and what each function computes and takes back."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import pytest
from pyspark.errors import StreamingQueryException

from flinkplan.executor.aggregate_functions import folds_exactly
from flinkplan.executor.build.accumulators import java_calls
from flinkplan.executor.build.kernels import int_array, object_array
from flinkplan.executor.build.stream import Stream
from flinkplan.plan.nodes import GroupAggregate
from flinkplan.plan.record import replace
from flinkplan.plan.specs import AggregateCall, StateMetadata
from flinkplan.plan.types import (
    BIGINT,
    BOOLEAN,
    DOUBLE,
    INT,
    STRING,
    LogicalType,
    array,
    decimal,
    multiset,
    row,
)

from ..building import build
from ..conftest import Bench

pytestmark = pytest.mark.spark

INPUT = row([("k", STRING), ("v", INT), ("d", decimal(10, 2)), ("s", STRING), ("x", DOUBLE), ("j", STRING)])


def call(function: str, *arguments: int, of: LogicalType, distinct: bool = False) -> AggregateCall:
    return AggregateCall(
        name=None,
        internal_name=f"${function}$1",
        arg_list=arguments,
        filter_arg=-1,
        distinct=distinct,
        approximate=False,
        ignore_nulls=False,
        type=of,
    )


def aggregate(
    bench: Bench,
    stream: Stream,
    calls: Sequence[AggregateCall],
    grouping: tuple[int, ...] = (0,),
    ttl: str = "0 ms",
    mini_batch: bool = False,
) -> Stream:
    node = GroupAggregate(
        id=1,
        version=1,
        grouping=grouping,
        agg_calls=tuple(calls),
        agg_call_need_retractions=tuple(stream.changelog for _ in calls),
        generate_update_before=True,
        need_retraction=stream.changelog,
        output_type=row([*[("k", STRING) for _ in grouping], *[(f"f{i}", c.type) for i, c in enumerate(calls)]]),
        state=(StateMetadata(0, ttl, "groupAggregateState"),),
        configuration={"table.exec.mini-batch.enabled": "true"} if mini_batch else None,
    )
    return build(node, (stream,), bench.context)


COUNT, SUM = call("COUNT", of=BIGINT), call("SUM", 1, of=INT)


def test_a_group_is_inserted_updated_and_deleted_with_its_last_row(bench: Bench) -> None:
    counted = aggregate(bench, bench.source("in", INPUT, changelog=True), [COUNT, SUM])
    bench.put("in", ("+I", "a", 1), ("+I", "a", 2), ("+I", "b", None))
    assert sorted(bench.step(counted)) == [("+I", "a", 2, 3), ("+I", "b", 1, None)]
    bench.put("in", ("-D", "a", 1), ("-D", "c", 1))
    assert bench.step(counted) == [("-U", "a", 2, 3), ("+U", "a", 1, 2)]
    bench.put("in", ("-D", "a", 2), ("+I", "b", 0), ("-D", "b", 0))
    assert bench.step(counted) == [("-D", "a", 1, 2)]


def test_a_bitmap_loses_a_member_with_its_last_row(bench: Bench) -> None:
    members = call("BITMAP_BUILD_CARDINALITY_AGG", 1, of=BIGINT)
    counted = aggregate(bench, bench.source("in", INPUT, changelog=True), [members])
    bench.put("in", ("+I", "a", 7), ("+I", "a", 7), ("+I", "a", -1), ("+I", "a", None), ("+I", "b", None))
    assert sorted(bench.step(counted)) == [("+I", "a", 2), ("+I", "b", None)]
    bench.put("in", ("-D", "a", 7))
    assert bench.step(counted) == []
    bench.put("in", ("-D", "a", 7))
    assert bench.step(counted) == [("-U", "a", 2), ("+U", "a", 1)]


def test_a_journal_gets_the_change_of_every_row(bench: Bench) -> None:
    bench.keep_journal()
    counted = aggregate(bench, bench.source("in", INPUT, changelog=True), [COUNT, SUM])
    bench.put("in", ("+I", "a", 1), ("+I", "a", 2), ("-D", "a", 1), ("-D", "a", 2), ("+I", "a", 5))
    assert bench.step(counted) == [
        ("+I", "a", 1, 1),
        ("-U", "a", 1, 1),
        ("+U", "a", 2, 3),
        ("-U", "a", 2, 3),
        ("+U", "a", 1, 2),
        ("-D", "a", 1, 2),
        ("+I", "a", 1, 5),
    ]


def test_a_mini_batch_comes_to_one_change_for_a_journal_too(bench: Bench) -> None:
    bench.keep_journal()
    counted = aggregate(bench, bench.source("in", INPUT), [COUNT, SUM], mini_batch=True)
    bench.put("in", ("a", 1), ("a", 2))
    assert bench.step(counted) == [("+I", "a", 2, 3)]


def test_without_groups_no_rows_give_no_row(bench: Bench) -> None:
    counted = aggregate(bench, bench.source("in", INPUT, changelog=True), [COUNT], grouping=())
    bench.put("in", ("+I", "a", 1))
    assert bench.step(counted) == [("+I", 1)]
    bench.put("in", ("-D", "a", 1))
    assert bench.step(counted) == [("-D", 1)]


@pytest.mark.parametrize(("ttl", "emitted"), [("0 ms", []), ("1 h", [("-U", "a", 3), ("+U", "a", 3)])])
def test_what_did_not_change_is_emitted_only_to_keep_states_downstream_alive(
    ttl: str, emitted: list[Any], bench: Bench
) -> None:
    highest = aggregate(bench, bench.source("in", INPUT), [call("MAX", 1, of=INT)], ttl=ttl)
    bench.put("in", ("a", 3))
    bench.step(highest)
    bench.put("in", ("a", 2))
    assert bench.step(highest) == emitted


ROWS = [
    ("a", 3, "1.10", "x", 1.0, "1"),
    ("a", None, None, None, None, None),
    ("a", 4, "2.25", "y", 4.0, "2"),
    ("a", 3, "0.01", "x", 7.0, "1"),
]

FUNCTIONS: list[tuple[AggregateCall, Any, Any]] = [
    (call("COUNT", 1, of=BIGINT), 3, 2),
    (call("COUNT", 1, of=BIGINT, distinct=True), 2, 2),
    (call("SUM", 1, of=INT), 10, 7),
    (call("$SUM0", 1, of=INT), 10, 7),
    (call("SUM", 2, of=decimal(38, 2)), Decimal("3.36"), Decimal("2.26")),
    (call("AVG", 1, of=INT), 3, 3),
    (call("AVG", 2, of=decimal(38, 6)), Decimal("1.12"), Decimal("1.13")),
    (call("MIN", 4, of=DOUBLE), 1.0, 4.0),
    (call("MAX", 3, of=STRING), "y", "y"),
    (call("FIRST_VALUE", 1, of=INT), 3, 4),
    (call("LAST_VALUE", 4, of=DOUBLE), 7.0, 7.0),
    (call("LISTAGG", 3, of=STRING), "x,y,x", "y,x"),
    (call("ARRAY_AGG", 1, of=array(INT)), [3, None, 4, 3], [None, 4, 3]),
    (call("COLLECT", 3, of=multiset(STRING)), {"x": 2, "y": 1}, {"x": 1, "y": 1}),
    (call("$WELFORD_M2", 4, of=DOUBLE), 18.0, 4.5),
    (call("JSON_ARRAYAGG_NULL_ON_NULL", 5, of=STRING), "[1,null,2,1]", "[null,2,1]"),
]


def test_functions_add_rows_up_and_take_them_back(bench: Bench) -> None:
    aggregated = aggregate(bench, bench.source("in", INPUT, changelog=True), [c for c, _, _ in FUNCTIONS])

    def values() -> list[Any]:
        _, _, *results = bench.step(aggregated)[-1]
        calls = (c for c, _, _ in FUNCTIONS)
        return [Decimal(str(r)) if c.type.root == "DECIMAL" else r for r, c in zip(results, calls, strict=True)]

    bench.put("in", *(("+I", *r) for r in ROWS))
    assert values() == [first for _, first, _ in FUNCTIONS]
    bench.put("in", ("-D", *ROWS[0]))
    assert values() == [second for _, _, second in FUNCTIONS]


def test_a_state_holds_rows_within_rows_of_several_shapes(bench: Bench) -> None:
    rows = row([("a", row([("x", row([("n", INT)]))])), ("b", row([("x", row([("s", STRING), ("n", INT)]))]))])
    last = aggregate(bench, bench.source("in", row([("k", STRING), ("r", rows)])), [call("LAST_VALUE", 1, of=rows)])
    first, second = ({"f0": {"f0": {"f0": n}}, "f1": {"f0": {"f0": "s", "f1": -n}}} for n in (1, 2))
    bench.put("in", ("a", first), ("b", None))
    assert sorted(bench.step(last), key=str) == [("+I", "a", first), ("+I", "b", None)]
    bench.put("in", ("a", second), ("b", first))
    assert [change[:3] for change in sorted(bench.step(last), key=str) if change[0] == "+U"] == [
        ("+U", "a", second),
        ("+U", "b", first),
    ]


def test_a_sum_that_overflowed_begins_anew_and_an_average_is_over(bench: Bench) -> None:
    of = row([("k", STRING), ("d", decimal(38, 0))])
    calls = [call("SUM", 1, of=decimal(38, 0)), call("AVG", 1, of=decimal(38, 6)), call("$SUM0", 1, of=decimal(38, 0))]
    aggregated = aggregate(bench, bench.source("in", of, changelog=True), calls)
    bench.put("in", ("+I", "a", "9" * 38), ("+I", "a", "1"))
    assert bench.step(aggregated) == [("+I", "a", None, None, None)]
    bench.put("in", ("+I", "a", "5"), ("-D", "a", "2"))
    assert bench.step(aggregated) == [("-U", "a", None, None, None), ("+U", "a", 3, None, None)]


def test_a_sum_of_38_digits_is_exact_when_rows_are_taken_back(bench: Bench) -> None:
    of = row([("k", STRING), ("d", decimal(38, 2))])
    calls = [call("SUM", 1, of=decimal(38, 2)), call("SUM", 1, of=decimal(38, 2), distinct=True)]
    aggregated = aggregate(bench, bench.source("in", of, changelog=True), calls)
    most, large = "9" * 36 + ".99", "123456789012345678901234567890123456.78"
    bench.put("in", ("+I", "a", most), ("+I", "a", "1.00"), ("-D", "a", most))
    bench.put("in", ("+I", "b", large), ("+I", "b", "-0.01"), ("-D", "b", large))
    values = {key: [float(v) for v in sums] for _, key, *sums in bench.step(aggregated)}
    assert values == {"a": [-1e36] * 2, "b": [-0.01] * 2}


@pytest.mark.parametrize(
    ("function", "rows", "message"),
    [
        ("JSON_OBJECTAGG_NULL_ON_NULL", [(None, None)], "a key is NULL"),
        ("JSON_OBJECTAGG_NULL_ON_NULL", [("x", None), ("x", None)], 'the key "x": occurs twice'),
        ("SINGLE_VALUE", [("x", "1"), ("y", "2")], "a scalar subquery returned more than one row"),
    ],
)
def test_what_has_no_result_fails_the_job(
    function: str, rows: list[tuple[str | None, str | None]], message: str, bench: Bench
) -> None:
    of = row([("k", STRING), ("s", STRING), ("j", STRING)])
    arguments = (1,) if function == "SINGLE_VALUE" else (1, 2)
    aggregated = aggregate(bench, bench.source("in", of), [call(function, *arguments, of=STRING)])
    bench.put("in", *(("g", *each) for each in rows))
    with pytest.raises(StreamingQueryException) as caught:
        bench.step(aggregated)
    assert message in str(caught.value)


def test_a_percentile_beyond_the_last_fails_the_job(bench: Bench) -> None:
    percentile = call("PERCENTILE", 1, 4, of=DOUBLE)
    aggregated = aggregate(bench, bench.source("in", INPUT), [percentile])
    bench.put("in", ("a", 1, "1.00", "x", 1.5))
    with pytest.raises(StreamingQueryException) as caught:
        bench.step(aggregated)
    assert "PERCENTILE takes fractions from 0 to 1; this is 1.5" in str(caught.value)


MERGED = ("COUNT", "SUM", "$SUM0", "AVG", "MIN", "MAX")
FOLDED = [f for f in FUNCTIONS if f[0].internal_name in [f"${name}$1" for name in MERGED] and not f[0].distinct]


def plan_of(stream: Stream) -> str:
    frame: Any = stream.frame
    return str(frame._jdf.queryExecution().analyzed().toString())


def test_tasks_fold_insert_only_rows_first(bench: Bench) -> None:
    aggregated = aggregate(bench, bench.source("in", INPUT), [c for c, _, _ in FOLDED])
    assert "Generate" in plan_of(aggregated)
    for each in ROWS:
        bench.put("in", each)  # a file each, which is a task each
    (inserted,) = bench.step(aggregated)
    assert inserted[:5] == ("+I", "a", 3, 10, 10)
    bench.put("in", ("b", 1), ("a", 20, "0.04", "z", 0.5))
    assert bench.step(aggregated) == [
        ("+I", "b", 1, 1, 1, None, 1, None, None, None),
        ("-U", *inserted[1:]),
        ("+U", "a", 4, 30, 30, 3.40, 7, 0.85, 0.5, "z"),
    ]


def test_a_filter_is_applied_before_rows_are_folded(bench: Bench) -> None:
    of = row([("k", STRING), ("v", INT), ("f", BOOLEAN)])
    calls = [replace(COUNT, filter_arg=2), replace(SUM, filter_arg=2), COUNT]
    aggregated = aggregate(bench, bench.source("in", of), calls)
    bench.put("in", ("a", 1, False), ("a", 2, True))
    bench.put("in", ("a", 4, None), ("a", 8, True), ("b", 1, False))
    assert sorted(bench.step(aggregated)) == [("+I", "a", 2, 10, 4), ("+I", "b", 0, None, 1)]


@pytest.mark.parametrize(
    ("calls", "changelog"),
    [
        ([COUNT, call("SUM", 4, of=DOUBLE)], False),
        ([COUNT, call("COUNT", 1, of=BIGINT, distinct=True)], False),
        ([COUNT, call("LAST_VALUE", 1, of=INT)], False),
        ([COUNT], True),
    ],
    ids=["floating-point", "distinct", "order", "changelog"],
)
def test_what_folding_could_change_is_not_folded(calls: list[AggregateCall], changelog: bool, bench: Bench) -> None:
    assert "Generate" not in plan_of(aggregate(bench, bench.source("in", INPUT, changelog=changelog), calls))


def test_what_is_folded_in_parts_is_what_the_accumulators_say(bench: Bench) -> None:
    """For each function and type that it can be of: Java's accumulators, and what decides without them."""
    types = [INT, BIGINT, DOUBLE, STRING, decimal(10, 2), decimal(26, 2), decimal(27, 2), decimal(38, 10)]
    for t in types:
        fields = row([("k", STRING), ("v", t)])
        stream = bench.source(f"in-{types.index(t)}", fields)
        schema = bench.context.java_schema(stream.frame.schema)
        results = {"COUNT": BIGINT, "AVG": t, "SUM": decimal(38, t.scale or 0) if t.root == "DECIMAL" else t}
        for name in ("COUNT", "MIN", "MAX", "LAST_VALUE", *(("SUM", "$SUM0", "AVG") if t is not STRING else ())):
            for distinct in (False, True):
                made = call(name, 1, of=results.get(name.replace("$SUM0", "SUM"), t), distinct=distinct)
                functions = java_calls(bench.context, schema, stream, [made], {1: 1})
                merges = bench.context.runtime.aggregate.PreAggregate.isExact(functions)
                assert merges == folds_exactly(made, fields), (name, str(t), distinct)


@pytest.mark.parametrize(("groups", "folded"), [(10_000, 10_000), (200_000, 600_000)])
def test_folding_stops_where_it_does_not_pay(groups: int, folded: int, bench: Bench) -> None:
    from pyspark.sql import functions as F

    rows = bench.spark.range(0, 600_000, 1, 1).select((F.col("id") % groups).alias("k0"), F.col("id").alias("__seq"))
    package = bench.context.runtime.aggregate
    count = package.Call("count", package.Count(int_array(bench.context, [])), -1)
    calls = object_array(bench.context, package.Call, [count])
    partial = bench.context.frame(package.PreAggregate.run(rows._jdf, 1, calls))
    assert partial.count() == folded
    totals = partial.groupBy("k0").agg(F.sum("rows"), F.sum("call0.count"), F.max("__seq") - F.max("k0"))
    last = 600_000 // groups * groups - groups
    assert totals.drop("k0").distinct().collect() == [(600_000 // groups, 600_000 // groups, last)]


def test_a_ttl_comes_and_goes_over_a_checkpoint(bench: Bench) -> None:
    source = bench.source("in", INPUT)
    calls = [call("SUM", 1, of=INT), call("COUNT", 1, of=BIGINT, distinct=True)]
    sums = {ttl: aggregate(bench, source, calls, ttl=ttl) for ttl in ("0 ms", "1 s")}

    def step(ttl: str, value: int, at: int) -> tuple[Any, ...]:
        bench.put("in", ("a", value))
        return bench.step(sums[ttl], at=at)[-1]

    assert step("0 ms", 1, at=0) == ("+I", "a", 1, 1)
    assert step("1 s", 2, at=60_000) == ("+U", "a", 3, 2), "what was written for ever is found"
    assert step("1 s", 1, at=60_500) == ("+U", "a", 4, 2)
    assert step("0 ms", 5, at=61_000) == ("+U", "a", 9, 3), "and what would expire"
    assert step("0 ms", 5, at=900_000) == ("+U", "a", 14, 3), "which is written for ever now"
    assert step("1 s", 0, at=900_001)[0] == "+U"
    assert step("1 s", 7, at=960_000) == ("+I", "a", 7, 1), "and no longer from now on"


@pytest.mark.parametrize("changelog", [False, True], ids=["insertions", "changelog"])
def test_a_distinct_value_is_written_when_it_is_new_or_may_be_taken_back(changelog: bool, bench: Bench) -> None:
    """Flink's ``DistinctAggCodeGen`` does so: where nothing is taken back, a value expires however often it comes."""
    kind = ("+I",) if changelog else ()
    distinct = aggregate(
        bench, bench.source("in", INPUT, changelog=changelog), [call("COUNT", 1, of=BIGINT, distinct=True)], ttl="1 s"
    )

    def step(at: int) -> tuple[Any, ...]:
        bench.put("in", (*kind, "a", 1), (*kind, "a", 1))
        return bench.step(distinct, at=at)[-1]

    assert [step(at) for at in (0, 600)] == [("+I", "a", 1), ("+U", "a", 1)]
    assert step(1200) == ("+U", "a", 1 if changelog else 2)
