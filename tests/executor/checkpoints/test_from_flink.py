"""A job goes on from states as Flink has them: one query for each kind of operator, all in one job."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from flinkplan.executor.checkpoints.move import write_checkpoint
from flinkplan.executor.jobs.job import JobOptions, execute
from flinkplan.executor.prepare.modes import Mode
from flinkplan.plan.document import Plan
from flinkplan.plan.nodes import (
    Deduplicate,
    ExecNode,
    GroupAggregate,
    GroupWindowAggregate,
    Match,
    OverAggregate,
    WindowAggregate,
    WindowTableFunction,
)
from flinkplan.plan.record import replace
from flinkplan.planner import compile_script
from flinkplan.state.form import Column, JobState, Kind, Manifest, OperatorState, StateTable
from flinkplan.state.form_arrow import table_schema
from tests.parity.restore import Rows

pytestmark = pytest.mark.spark

SCRIPT = """
SET 'table.optimizer.agg-phase-strategy' = 'ONE_PHASE';
CREATE TABLE s (k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
  WITH ('connector' = 'filesystem', 'path' = '{folder}/s', 'format' = 'json');
CREATE TABLE c (k STRING, v INT) WITH ('connector' = 'filesystem', 'path' = '{folder}/c', 'format' = 'debezium-json');
CREATE TABLE changes (k STRING, m INT, f INT, l STRING) WITH ('connector' = 'print');
CREATE TABLE sessions (k STRING, n BIGINT, v INT, d BIGINT) WITH ('connector' = 'print');
CREATE TABLE overs (k STRING, v INT, s INT) WITH ('connector' = 'print');
CREATE TABLE firsts (k STRING, v INT) WITH ('connector' = 'print');
CREATE TABLE hops (k STRING, e TIMESTAMP(3), s DOUBLE) WITH ('connector' = 'print');
CREATE TABLE patterns (k STRING, x INT, y INT) WITH ('connector' = 'print');
EXECUTE STATEMENT SET BEGIN
INSERT INTO changes SELECT k, MAX(v), FIRST_VALUE(v), LISTAGG(CAST(v AS STRING)) FROM c GROUP BY k;
INSERT INTO sessions SELECT k, COUNT(*), SUM(v), COUNT(DISTINCT v) FROM s GROUP BY k, SESSION(ts, INTERVAL '1' MINUTE);
INSERT INTO overs SELECT k, v, SUM(v) OVER (PARTITION BY k ORDER BY ts ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM s;
INSERT INTO firsts SELECT k, v FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts ASC) AS r FROM s) WHERE r = 1;
INSERT INTO hops SELECT k, window_end, SUM(CAST(v AS DOUBLE))
  FROM HOP(TABLE s, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '2' MINUTE) GROUP BY k, window_start, window_end;
INSERT INTO patterns SELECT * FROM s MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES A.v AS x, B.v AS y
  PATTERN (A B) DEFINE A AS A.v > 4, B AS B.v < 5);
END;
"""
BITS = bytes.fromhex("3a300000 01000000 0000 0100 10000000 0100 0200")
"""The Roaring bitmap of 1 and 2."""

CLOCK_SCRIPT = """
SET 'table.optimizer.agg-phase-strategy' = 'ONE_PHASE';
CREATE TABLE p (k STRING, v INT, pt AS PROCTIME())
  WITH ('connector' = 'filesystem', 'path' = '{folder}/p', 'format' = 'json');
CREATE TABLE s (k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
  WITH ('connector' = 'filesystem', 'path' = '{folder}/s', 'format' = 'json');
CREATE TABLE e (k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
  WITH ('connector' = 'filesystem', 'path' = '{folder}/e', 'format' = 'debezium-json');
CREATE TABLE extremes (k STRING, m INT) WITH ('connector' = 'print');
CREATE TABLE overs (k STRING, v INT, s INT) WITH ('connector' = 'print');
CREATE TABLE spans (k STRING, v INT, e TIMESTAMP(3)) WITH ('connector' = 'print');
CREATE TABLE hops (k STRING, e TIMESTAMP(3), d BIGINT) WITH ('connector' = 'print');
CREATE TABLE bits (k STRING, n BIGINT) WITH ('connector' = 'print');
EXECUTE STATEMENT SET BEGIN
INSERT INTO hops SELECT k, window_end, COUNT(DISTINCT v)
  FROM HOP(TABLE s, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '2' MINUTE) GROUP BY k, window_start, window_end;
INSERT INTO extremes SELECT k, MAX(v) FROM e GROUP BY k, SESSION(ts, INTERVAL '1' MINUTE);
INSERT INTO bits SELECT k, BITMAP_CARDINALITY(BITMAP_BUILD_AGG(v)) FROM p GROUP BY k;
INSERT INTO overs SELECT k, v, SUM(v) OVER (PARTITION BY k ORDER BY pt ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM p;
INSERT INTO spans SELECT k, v, window_end FROM SESSION(TABLE s PARTITION BY k, DESCRIPTOR(ts), INTERVAL '1' MINUTE);
END;
"""
T0 = datetime(2024, 1, 1)
MILLIS = 1_704_067_200_000
"""The same in milliseconds."""

TYPE = {"value": "ROW<`f0` INT, `f1` BIGINT, `f2` VARBINARY(2147483647)>"}
EVENT = "ROW<`f0` INT, `f1` BIGINT>"
NODE = f"ROW<`f0` {EVENT}, `f1` VARCHAR(2147483647)>"
MATCHES = f"ARRAY<ROW<`f0` VARCHAR(2147483647), `f1` {NODE}, `f2` ARRAY<INT>, `f3` BIGINT, `f4` BIGINT, `f5` {EVENT}>>"
EDGES = f"ARRAY<ROW<`f0` INT, `f1` ROW<`f0` {NODE}, `f1` ARRAY<INT>>>>"
ROW = "ROW<`f0` VARCHAR(2147483647), `f1` INT, `f2` TIMESTAMP(3), `$kind` TINYINT>"
TEXT, INT, LONG = "VARCHAR(2147483647)", "INT", "BIGINT"


def at(seconds: int) -> int:
    """A time in milliseconds."""
    return MILLIS + 1000 * seconds


def row(v: int, seconds: int) -> dict[str, Any]:
    """A row of the key ``a``."""
    return {"f0": "a", "f1": v, "f2": T0 + timedelta(seconds=seconds), "$kind": 0}


class Given(JobState):
    """States of the key ``a``."""

    def __init__(self) -> None:
        self._operators: dict[str, list[StateTable]] = {}
        self._rows: list[list[dict[str, Any]]] = []

    def add(
        self,
        plan: Plan,
        cls: type[ExecNode],
        name: str,
        kind: Kind,
        value: Mapping[str, str],
        *rows: dict[str, Any],
        **columns: Mapping[str, str],
    ) -> None:
        """Add a state of the one node of a class, whose key is a text."""
        (node,) = (n for n in plan.nodes if isinstance(n, cls))
        described = {part: tuple(Column(*column) for column in types.items()) for part, types in columns.items()}
        table = StateTable(
            len(self._rows),
            name,
            kind,
            key=(Column("f0", TEXT),),
            value=tuple(Column(*column) for column in value.items()),
            entries=len(rows),
            **described,  # type: ignore[arg-type]
        )
        self._operators.setdefault(f"{node.id}_{node.stateful_transformations[0]}", []).append(table)
        self._rows.append([{"key": {"f0": "a"}, **each} for each in rows])

    @property
    def manifest(self) -> Manifest:
        return Manifest("flink", tuple(OperatorState(tuple(t), uid=uid) for uid, t in self._operators.items()))

    def batches(self, table: StateTable) -> Iterator[Any]:
        yield pa.RecordBatch.from_pylist(self._rows[table.table], schema=table_schema(table))


def given(plan: Plan) -> Given:
    """What Flink has kept of the rows (5, 10 s), and of others before."""
    state = Given()
    single = {"value": LONG}
    _changes(plan, state)
    bounds = {"start": at(10), "end": at(70)}
    window = {"start": LONG, "end": LONG}
    accumulators = {"f0": LONG, "f1": INT, "f2": LONG, "$kind": "TINYINT"}
    state.add(
        plan, GroupWindowAggregate, "session-window-mapping", Kind.MAP, window, {"map_key": bounds, "value": bounds},
        map_key=window,
    )  # fmt: skip
    value = {"f0": 2, "f1": 8, "f2": 2, "$kind": 0}
    state.add(
        plan, GroupWindowAggregate, "window-aggs", Kind.VALUE, accumulators, {"namespace": bounds, "value": value},
        namespace=window,
    )  # fmt: skip
    seen = [{"namespace": bounds, "map_key": {"value": v}, "value": {"value": 1}} for v in (3, 5)]
    state.add(
        plan, GroupWindowAggregate, "distinctAcc_0", Kind.MAP, single, *seen, map_key={"value": INT}, namespace=window
    )
    counted = {"f0": LONG, "f1": INT, "f2": LONG, "$kind": "TINYINT"}
    state.add(plan, OverAggregate, "accState", Kind.VALUE, counted, {"value": {"f0": 1, "f1": 5, "f2": 1, "$kind": 0}})
    for name, number in (("lastTriggeringTsState", at(10)), ("processedCountState", 1)):
        state.add(plan, OverAggregate, name, Kind.VALUE, single, {"value": {"value": number}})
    kept = {"map_key": {"value": at(10)}, "value": {"value": [row(5, 10)]}}
    state.add(plan, OverAggregate, "inputState", Kind.MAP, {"value": f"ARRAY<{ROW}>"}, kept, map_key=single)
    columns = {"f0": TEXT, "f1": INT, "f2": "TIMESTAMP(3)", "$kind": "TINYINT"}
    state.add(plan, Deduplicate, "waiting-to-emit-on-timer", Kind.VALUE, columns, {"value": row(5, 10)})
    sums = {"f0": "DOUBLE", "f1": LONG, "$kind": "TINYINT"}
    slice_ = {"namespace": {"value": at(60)}, "value": {"f0": 1.5, "f1": 1, "$kind": 0}}
    state.add(plan, WindowAggregate, "window-aggs", Kind.VALUE, sums, slice_, namespace=single)
    _matches(plan, state)
    return state


def _changes(plan: Plan, state: Given) -> None:
    value = {"f0": TYPE["value"], "f1": TYPE["value"], "f2": TYPE["value"], "f3": LONG, "$kind": "TINYINT"}
    whole = {"f0": 7, "f1": 2, "f2": None}
    empty = {"f0": None, "f1": None, "f2": None}
    accumulators = {"f0": whole, "f1": {"f0": 7, "f1": 5, "f2": None}, "f2": empty, "f3": 2, "$kind": 0}
    state.add(plan, GroupAggregate, "accState", Kind.VALUE, value, {"value": accumulators})
    counts = [{"map_key": {"value": v}, "value": {"value": 1}} for v in (3, 7)]
    state.add(plan, GroupAggregate, "agg0$map", Kind.MAP, {"value": LONG}, *counts, map_key={"value": INT})
    ordered = [{"map_key": {"value": n}, "value": {"value": [v]}} for n, v in ((6, 3), (5, 7))]
    listed = {"value": f"ARRAY<{INT}>"}
    state.add(plan, GroupAggregate, "agg1$orderToValueMap", Kind.MAP, listed, *ordered, map_key={"value": LONG})
    texts = [{"position": n, "value": {"value": text}} for n, text in enumerate(("7", "3"))]
    state.add(plan, GroupAggregate, "agg2$list", Kind.LIST, {"value": TEXT}, *texts)


def _extremes(plan: Plan, state: Given) -> None:
    """A session of the rows (3, 10 s) and (7, 30 s)."""
    window, bounds = {"start": LONG, "end": LONG}, {"start": at(10), "end": at(90)}
    opened = {"map_key": bounds, "value": bounds}
    state.add(plan, GroupWindowAggregate, "session-window-mapping", Kind.MAP, window, opened, map_key=window)
    value = {"f0": TYPE["value"], "f1": LONG, "$kind": "TINYINT"}
    whole = {"namespace": bounds, "value": {"f0": {"f0": 7, "f1": 2, "f2": None}, "f1": 2, "$kind": 0}}
    state.add(plan, GroupWindowAggregate, "window-aggs", Kind.VALUE, value, whole, namespace=window)
    counts = [{"namespace": bounds, "map_key": {"value": v}, "value": {"value": 1}} for v in (3, 7)]
    keys = {"map_key": {"value": INT}, "namespace": window}
    state.add(plan, GroupWindowAggregate, "agg0$map", Kind.MAP, {"value": LONG}, *counts, **keys)


def _matches(plan: Plan, state: Given) -> None:
    event = {"f0": 0, "f1": at(10)}
    node = {"f0": event, "f1": "A"}
    begun = {"f0": "B", "f1": node, "f2": [1, 0], "f3": at(10), "f4": at(10), "f5": event}
    start = {"f0": "A", "f1": None, "f2": [2], "f3": -1, "f4": -1, "f5": None}
    both = {"value": {"f0": [begun, start], "f1": []}}
    state.add(plan, Match, "nfaStateName", Kind.VALUE, {"f0": MATCHES, "f1": MATCHES}, both)
    value = {"f0": 1, "f1": row(5, 10)}
    event_columns = {"f0": INT, "f1": LONG}
    held = {"map_key": event, "value": value}
    state.add(plan, Match, "sharedBuffer-events", Kind.MAP, {"f0": INT, "f1": ROW}, held, map_key=event_columns)
    edges = [{"f0": 1, "f1": {"f0": None, "f1": [1]}}]
    entry = {"map_key": {"value": node}, "value": {"f0": 1, "f1": edges}}
    name = "sharedBuffer-entries-with-lockable-edges"
    state.add(plan, Match, name, Kind.MAP, {"f0": INT, "f1": EDGES}, entry, map_key={"value": NODE})


def _write(folder: Path, name: str, rows: Sequence[Mapping[str, Any]]) -> None:
    (folder / name).mkdir()
    (folder / name / "rows.json").write_text("".join(json.dumps(each) + "\n" for each in rows))


def test_each_kind_of_operator_goes_on(spark: SparkSession, tmp_path: Path) -> None:
    rows = (("a", 4, "00:01:00"), ("b", 9, "00:10:00"), ("b", 9, "01:00:00"))
    _write(tmp_path, "s", [{"k": k, "v": v, "ts": f"2024-01-01 {time}"} for k, v, time in rows])
    _write(tmp_path, "c", [{"before": {"k": "a", "v": 7}, "after": None, "op": "d"}])
    plan = compile_script(SCRIPT.format(folder=tmp_path))
    options = JobOptions(mode=Mode.AVAILABLE_NOW, spark=spark)
    checkpoint = str(tmp_path / "checkpoint")
    write_checkpoint(plan, given(plan), checkpoint, spark, options)
    collected = Rows()
    execute(plan, replace(options, checkpoint=checkpoint, collector=collected)).wait()
    assert Counter((name, text) for name, text in collected.texts() if "[a," in text) == Counter(
        [
            ("changes", "-U[a, 7, 7, 7,3]"),
            ("changes", "+U[a, 3, 3, 3]"),
            ("sessions", "+I[a, 3, 12, 3]"),
            ("overs", "+I[a, 4, 9]"),
            ("firsts", "+I[a, 5]"),
            ("hops", "+I[a, 2024-01-01T00:01, 1.5]"),
            ("hops", "+I[a, 2024-01-01T00:02, 5.5]"),
            ("hops", "+I[a, 2024-01-01T00:03, 4.0]"),
            ("patterns", "+I[a, 5, 4]"),
        ]
    )


def test_frames_by_the_clock_sessions_of_rows_and_counted_values_go_on(spark: SparkSession, tmp_path: Path) -> None:
    _write(tmp_path, "p", [{"k": "a", "v": 4}])
    rows = (("a", 4, "00:01:00"), ("a", 9, "01:00:00"))
    _write(tmp_path, "s", [{"k": k, "v": v, "ts": f"2024-01-01 {time}"} for k, v, time in rows])
    taken_back = {"before": {"k": "a", "v": 7, "ts": "2024-01-01 00:00:30"}, "after": None, "op": "d"}
    last = {"before": None, "after": {"k": "b", "v": 9, "ts": "2024-01-01 01:00:00"}, "op": "c"}
    _write(tmp_path, "e", [taken_back, last])
    plan = compile_script(CLOCK_SCRIPT.format(folder=tmp_path))
    state = Given()
    _extremes(plan, state)
    single = {"value": LONG}
    counted = {"f0": LONG, "f1": INT, "f2": LONG, "$kind": "TINYINT"}
    state.add(plan, OverAggregate, "accState", Kind.VALUE, counted, {"value": {"f0": 2, "f1": 8, "f2": 2, "$kind": 0}})
    for name, number in (("smallestTSState", at(1)), ("processedCountState", 2)):
        state.add(plan, OverAggregate, name, Kind.VALUE, single, {"value": {"value": number}})
    clocked = ROW.replace("TIMESTAMP(3)", "TIMESTAMP_LTZ(3)")
    kept = [{"map_key": {"value": at(t)}, "value": {"value": [{**row(v, 0), "f2": None}]}} for t, v in ((1, 3), (2, 5))]
    state.add(plan, OverAggregate, "inputState", Kind.MAP, {"value": f"ARRAY<{clocked}>"}, *kept, map_key=single)
    window, bounds = {"start": LONG, "end": LONG}, {"start": at(10), "end": at(80)}
    owner = {"start": at(10), "end": at(70)}
    opened = {"map_key": bounds, "value": owner}
    state.add(plan, WindowTableFunction, "session-window-mapping", Kind.MAP, window, opened, map_key=window)
    columns = {"f0": TEXT, "f1": INT, "f2": "TIMESTAMP(3)", "$kind": "TINYINT"}
    held = [
        {"namespace": owner, "map_key": {"value": n}, "value": row(v, seconds)}
        for n, v, seconds in ((1, 3, 20), (0, 5, 10))
    ]
    state.add(
        plan, WindowTableFunction, "session-window-tvf-acc", Kind.MAP, columns, *held, map_key=single, namespace=window
    )
    end = {"namespace": {"value": at(60)}}
    sums = {"f0": LONG, "f1": LONG, "$kind": "TINYINT"}
    slice_ = {**end, "value": {"f0": 2, "f1": 3, "$kind": 0}}
    state.add(plan, WindowAggregate, "window-aggs", Kind.VALUE, sums, slice_, namespace=single)
    seen = [{**end, "map_key": {"value": v}, "value": {"value": times}} for v, times in ((3, 2), (5, 1))]
    state.add(plan, WindowAggregate, "distinctAcc_0", Kind.MAP, single, *seen, map_key={"value": INT}, namespace=single)
    bitmap = {"f0": "BITMAP", "$kind": "TINYINT"}
    state.add(plan, GroupAggregate, "accState", Kind.VALUE, bitmap, {"value": {"f0": BITS, "$kind": 0}})
    options = JobOptions(mode=Mode.AVAILABLE_NOW, spark=spark)
    checkpoint = str(tmp_path / "checkpoint")
    write_checkpoint(plan, state, checkpoint, spark, options)
    collected = Rows()
    execute(plan, replace(options, checkpoint=checkpoint, collector=collected)).wait()
    assert sorted(collected.texts()) == [
        ("bits", "+U[a, 3]"),
        ("bits", "-U[a, 2]"),
        ("extremes", "+I[a, 3]"),
        ("hops", "+I[a, 2024-01-01T00:01, 2]"),
        ("hops", "+I[a, 2024-01-01T00:02, 3]"),
        ("hops", "+I[a, 2024-01-01T00:03, 1]"),
        ("overs", "+I[a, 4, 9]"),
        ("spans", "+I[a, 3, 2024-01-01T00:02]"),
        ("spans", "+I[a, 4, 2024-01-01T00:02]"),
        ("spans", "+I[a, 5, 2024-01-01T00:02]"),
    ]
