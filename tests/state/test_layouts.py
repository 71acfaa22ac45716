"""Whether the states of a savepoint are those that the operators of a plan keep."""

from __future__ import annotations

import pytest

from flinkplan.plan.nodes import IntervalJoin, Rank
from flinkplan.planner import compile_script
from flinkplan.state.form import Column, Kind, OperatorState, StateTable
from flinkplan.state.layouts import mismatches

SCRIPT = """
CREATE TABLE l (k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector' = 'datagen');
CREATE TABLE r (k STRING, w BIGINT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector' = 'datagen');
CREATE TABLE o (k STRING, v INT, w BIGINT) WITH ('connector' = 'blackhole');
INSERT INTO o SELECT l.k, v, w FROM l JOIN r ON l.k = r.k AND l.ts BETWEEN r.ts AND r.ts + INTERVAL '1' HOUR;
"""
TEXT = "VARCHAR(2147483647)"


@pytest.mark.parametrize(("second", "fits"), [("BIGINT", True), ("DATE", False)])
def test_rows_of_pairs_are_compared(second: str, fits: bool) -> None:
    plan = compile_script(SCRIPT)
    (node,) = (node for node in plan.nodes if isinstance(node, IntervalJoin))
    row = f"ROW<`f0` {TEXT}, `f1` {second}, `f2` TIMESTAMP(3), `$kind` TINYINT>"
    table = StateTable(
        0,
        "IntervalJoinRightCache",
        Kind.MAP,
        key=(Column("f0", TEXT),),
        map_key=(Column("value", "BIGINT"),),
        value=(Column("value", f"ARRAY<ROW<`f0` {row}, `f1` BOOLEAN>>"),),
        entries=1,
    )
    found = list(mismatches(OperatorState((table,)), node, [source.fields for source in plan.inputs(node)]))
    assert (found == []) is fits


RANKED = """
CREATE TABLE c (k STRING, v INT) WITH ('connector' = 'filesystem', 'path' = '/c', 'format' = 'debezium-json');
CREATE TABLE o (k STRING, v INT) WITH ('connector' = 'blackhole');
INSERT INTO o SELECT k, v FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY v) AS r FROM c) WHERE r <= 2;
"""


@pytest.mark.parametrize(("order", "fits"), [("INT", True), ("DATE", False)])
def test_rows_in_maps_are_compared(order: str, fits: bool) -> None:
    plan = compile_script(RANKED)
    (node,) = (node for node in plan.nodes if isinstance(node, Rank))
    kept = f"MAP<ROW<`f0` {order}, `$kind` TINYINT>, BIGINT>"
    table = StateTable(0, "sorted-map", Kind.VALUE, (Column("f0", TEXT),), value=(Column("value", kept),), entries=1)
    found = list(mismatches(OperatorState((table,)), node, [source.fields for source in plan.inputs(node)]))
    assert (found == []) is fits
