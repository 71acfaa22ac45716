"""States of kernels that are others in Flink: sessions, rows in order, and slices whose order matters."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from flinkplan.executor.checkpoints.job_state import CheckpointState
from flinkplan.executor.jobs.job import JobOptions, execute
from flinkplan.executor.prepare.modes import Mode
from flinkplan.plan.document import Plan
from flinkplan.plan.nodes import (
    ExecNode,
    GlobalWindowAggregate,
    GroupWindowAggregate,
    Match,
    OverAggregate,
    WindowTableFunction,
)
from flinkplan.planner import compile_script
from flinkplan.state.form import ROW_KIND, Column, Kind, OperatorState, StateTable

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

_FILES = "'connector' = 'filesystem', 'path' = '${{DIR}}/{}', 'format' = '{}'"
_ROWS = [("a", 1, "x", 0), ("a", 2, "y", 2), ("b", 5, "z", 3), ("a", 4, "w", 9), ("a", 3, "v", 4)]
"""Keys, values, texts and seconds."""

_TIMERS = StateTable(
    9,
    "_timer_state/event_window-timers",
    Kind.TIMERS,
    key=(Column("f0", "STRING"),),
    namespace=(Column("f0", "BIGINT"), Column("f1", "BIGINT")),
    value=(Column("timestamp", "BIGINT"),),
    clock="event",
)


def columns(*types: str, is_row: bool = True) -> tuple[Column, ...]:
    kind = (Column(ROW_KIND, "TINYINT"),) if is_row else ()
    return (*(Column(f"f{i}", t) for i, t in enumerate(types)), *kind)


class Job:
    """A query over a table ``t`` whose rows have all been read, and are more to come."""

    def __init__(
        self,
        folder: Path,
        spark: SparkSession,
        query: str,
        types: str,
        session: Mapping[str, str] | None = None,
        *,
        takes_back: bool = False,
    ) -> None:
        """``takes_back``: the first row is taken back in the end."""
        rows: list[Any] = [{"k": k, "v": v, "s": s, "ts": f"2024-01-01 00:00:{second:02}"} for k, v, s, second in _ROWS]
        if takes_back:
            rows = [{"before": None, "after": row, "op": "c"} for row in rows]
            rows.append({"before": rows[0]["after"], "after": None, "op": "d"})
        (folder / "t").mkdir()
        (folder / "t" / "rows.json").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
        source, sink = (
            _FILES.format("t", "debezium-json" if takes_back else "json"),
            _FILES.format("o", "debezium-json"),
        )
        watermark = "WATERMARK FOR ts AS ts - INTERVAL '20' SECOND"
        sets = "".join(f"SET '{key}' = '{value}'; " for key, value in (session or {}).items())
        self.plan: Plan = compile_script(
            f"{sets}CREATE TABLE t (k STRING, v INT, s STRING, ts TIMESTAMP(3), p AS PROCTIME(), {watermark})"
            f" WITH ({source});"
            f"CREATE TABLE o ({types}) WITH ({sink}); INSERT INTO o {query};"
        )
        self.options = JobOptions(
            checkpoint=str(folder / "checkpoint"),
            variables={"DIR": str(folder)},
            options=session or {},
            mode=Mode.AVAILABLE_NOW,
            spark=spark,
        )
        execute(self.plan, self.options).wait()

    def entries(self, kind: type[ExecNode], *tables: StateTable) -> dict[str, list[dict[str, Any]]]:
        """What the states of the one node of a kind have in Flink, by their names."""
        (node,) = (node for node in self.plan.nodes if isinstance(node, kind))
        uid = f"{node.id}_{node.metadata.transformations[-1]}"
        spark = self.options.spark
        assert spark is not None
        operator = OperatorState(tables, uid=uid)
        with CheckpointState(self.plan, str(self.options.checkpoint), (operator,), spark, self.options) as state:
            return {
                table.name: [row for batch in state.batches(table) for row in batch.to_pylist()] for table in tables
            }


def test_sessions_are_given_with_what_they_have_accumulated(spark: SparkSession, tmp_path: Path) -> None:
    query = "SELECT k, COUNT(*), SUM(v) FROM t GROUP BY k, SESSION(ts, INTERVAL '3' SECOND)"
    job = Job(tmp_path, spark, query, "k STRING, n BIGINT, s INT")
    window = columns("BIGINT", "BIGINT", is_row=False)
    key = columns("STRING", is_row=False)
    aggregates = StateTable(1, "window-aggs", Kind.VALUE, key=key, namespace=window, value=columns("BIGINT", "INT"))
    mapping = StateTable(2, "session-window-mapping", Kind.MAP, key=key, map_key=window, value=window)
    entries = job.entries(GroupWindowAggregate, aggregates, mapping, _TIMERS)
    start = 1_704_067_200_000
    sessions = {
        (row["key"]["f0"], *row["namespace"].values()): tuple(row["value"].values())[:2]
        for row in entries["window-aggs"]
    }
    assert sessions == {
        ("a", start, start + 7_000): (3, 6),
        ("a", start + 9_000, start + 12_000): (1, 4),
        ("b", start + 3_000, start + 6_000): (1, 5),
    }
    assert {tuple(row["map_key"].values()) for row in entries["session-window-mapping"]} == {s[1:] for s in sessions}
    assert {row["value"]["timestamp"] for row in entries[_TIMERS.name]} == {end - 1 for _, _, end in sessions}


def test_rows_of_sessions_are_numbered_by_key(spark: SparkSession, tmp_path: Path) -> None:
    window = "SESSION(TABLE t PARTITION BY k, DESCRIPTOR(ts), INTERVAL '3' SECOND)"
    query = f"SELECT k, v, window_start FROM TABLE({window})"
    job = Job(tmp_path, spark, query, "k STRING, v INT, w TIMESTAMP(3)")
    key, window_columns = columns("STRING", is_row=False), columns("BIGINT", "BIGINT", is_row=False)
    number = columns("BIGINT", is_row=False)
    (scan,) = (node for node in job.plan.nodes if isinstance(node, WindowTableFunction))
    row = columns(*(str(field.type.regular()) for field in job.plan.inputs(scan)[0].fields))
    kept = StateTable(
        1, "session-window-tvf-acc", Kind.MAP, key=key, namespace=window_columns, map_key=number, value=row
    )
    entries = job.entries(
        WindowTableFunction,
        kept,
        StateTable(2, "session-window-tvf-counter", Kind.VALUE, key=key, value=number),
        StateTable(3, "session-window-mapping", Kind.MAP, key=key, map_key=window_columns, value=window_columns),
        _TIMERS,
    )
    names = [field.name for field in job.plan.inputs(scan)[0].fields]
    value = f"f{names.index('v')}"
    rows = [(r["map_key"]["f0"], r["value"][value]) for r in entries[kept.name] if r["key"]["f0"] == "a"]
    assert sorted(rows) == [(0, 1), (1, 2), (2, 4), (3, 3)]
    assert {r["key"]["f0"]: r["value"]["f0"] for r in entries["session-window-tvf-counter"]} == {"a": 4, "b": 1}
    assert len(entries["session-window-mapping"]) == len(entries[_TIMERS.name]) == 3


def test_windows_that_fire_early_are_given_with_their_last_results(spark: SparkSession, tmp_path: Path) -> None:
    early = {"table.exec.emit.early-fire.enabled": "true", "table.exec.emit.early-fire.delay": "0 s"}
    query = "SELECT k, COUNT(*) FROM t GROUP BY k, TUMBLE(ts, INTERVAL '5' SECOND)"
    job = Job(tmp_path, spark, query, "k STRING, n BIGINT", early)
    key, window = columns("STRING", is_row=False), columns("BIGINT", "BIGINT", is_row=False)
    (node,) = (node for node in job.plan.nodes if isinstance(node, GroupWindowAggregate))
    properties = ("TIMESTAMP(3)",) * len(node.named_window_properties)
    entries = job.entries(
        GroupWindowAggregate,
        StateTable(1, "window-aggs", Kind.VALUE, key=key, namespace=window, value=columns("BIGINT")),
        StateTable(2, "previous-aggs", Kind.VALUE, key=key, namespace=window, value=columns("BIGINT", *properties)),
        _TIMERS,
    )
    results = {name: [row["value"]["f0"] for row in entries[name]] for name in ("window-aggs", "previous-aggs")}
    assert sorted(results["window-aggs"]) == sorted(results["previous-aggs"]) == [1, 1, 3]


def test_rows_in_an_order_are_given_with_what_is_accumulated_up_to_each(spark: SparkSession, tmp_path: Path) -> None:
    query = "SELECT k, SUM(v) OVER (PARTITION BY k ORDER BY v) FROM t"
    job = Job(tmp_path, spark, query, "k STRING, s INT")
    key = columns("STRING", is_row=False)
    row = ("STRING", "INT")
    order = "ARRAY<ROW<`f0` ROW<`f0` INT>, `f1` ARRAY<BIGINT>>>"
    entries = job.entries(
        OverAggregate,
        StateTable(1, "idState", Kind.VALUE, key=key, value=columns("BIGINT", is_row=False)),
        StateTable(2, "sortedListState", Kind.VALUE, key=key, value=columns(order, is_row=False)),
        StateTable(
            3,
            "valueMapState",
            Kind.MAP,
            key=key,
            map_key=columns("BIGINT", is_row=False),
            value=columns(*row),
        ),
        StateTable(
            4, "accMapState", Kind.MAP, key=key, map_key=columns("INT", is_row=False), value=columns("BIGINT", "INT")
        ),
    )
    first = -(2**63)
    assert {r["key"]["f0"]: r["value"]["f0"] - first for r in entries["idState"]} == {"a": 4, "b": 1}
    (order_of_a,) = (r["value"]["f0"] for r in entries["sortedListState"] if r["key"]["f0"] == "a")
    assert [(one["f0"]["f0"], [i - first for i in one["f1"]]) for one in order_of_a] == [
        (1, [0]),
        (2, [1]),
        (3, [3]),
        (4, [2]),
    ]
    sums = {r["map_key"]["f0"]: r["value"]["f1"] for r in entries["accMapState"] if r["key"]["f0"] == "a"}
    assert sums == {1: 1, 2: 3, 3: 6, 4: 10}


def test_lists_of_windows_are_given_by_slice(spark: SparkSession, tmp_path: Path) -> None:
    window = "HOP(TABLE t, DESCRIPTOR(ts), INTERVAL '4' SECOND, INTERVAL '8' SECOND)"
    query = f"SELECT k, window_end, LISTAGG(s), COUNT(*) FROM TABLE({window}) GROUP BY k, window_start, window_end"
    job = Job(tmp_path, spark, query, "k STRING, e TIMESTAMP(3), l STRING, n BIGINT")
    key, end = columns("STRING", is_row=False), columns("BIGINT", is_row=False)
    aggregates = StateTable(
        1,
        "window-aggs",
        Kind.VALUE,
        key=key,
        namespace=end,
        value=columns("STRING", "STRING", "BIGINT"),
    )
    timers = StateTable(2, _TIMERS.name, Kind.TIMERS, key=key, namespace=end, value=_TIMERS.value, clock="event")
    entries = job.entries(GlobalWindowAggregate, aggregates, timers)
    start = 1_704_067_200_000
    slices = {
        (row["key"]["f0"], (row["namespace"]["f0"] - start) // 1000): (row["value"]["f1"], row["value"]["f2"])
        for row in entries["window-aggs"]
    }
    assert slices == {("a", 4): ("x,y", 2), ("a", 8): ("v", 1), ("a", 12): ("w", 1), ("b", 4): ("z", 1)}


def test_windows_of_one_pane_after_another_are_given_by_pane(spark: SparkSession, tmp_path: Path) -> None:
    query = "SELECT k, COUNT(*), MAX(v) FROM t GROUP BY k, HOP(ts, INTERVAL '4' SECOND, INTERVAL '8' SECOND)"
    job = Job(tmp_path, spark, query, "k STRING, n BIGINT, m INT", takes_back=True)
    key, window = columns("STRING", is_row=False), columns("BIGINT", "BIGINT", is_row=False)
    extreme = "ROW<`max` INT, `mapSize` BIGINT, `map` INT>"
    entries = job.entries(
        GroupWindowAggregate,
        StateTable(1, "window-aggs", Kind.VALUE, key=key, namespace=window, value=columns("BIGINT", extreme)),
        StateTable(
            2,
            "agg1$map",
            Kind.MAP,
            key=key,
            namespace=window,
            map_key=columns("INT", is_row=False),
            value=columns("BIGINT", is_row=False),
        ),
        _TIMERS,
    )
    start = 1_704_067_200_000
    panes = {
        (row["key"]["f0"], *((bound - start) // 1000 for bound in row["namespace"].values())): row["value"]
        for row in entries["window-aggs"]
    }
    assert {pane: (value["f0"], *value["f1"].values()) for pane, value in panes.items()} == {
        ("a", 0, 4): (1, 2, 1, None),
        ("a", 4, 8): (1, 3, 1, None),
        ("a", 8, 12): (1, 4, 1, None),
        ("b", 0, 4): (1, 5, 1, None),
    }
    counts = [(row["key"]["f0"], row["map_key"]["f0"], row["value"]["f0"]) for row in entries["agg1$map"]]
    assert sorted(counts) == [("a", 2, 1), ("a", 3, 1), ("a", 4, 1), ("b", 5, 1)]
    ends = sorted((row["value"]["timestamp"] - start + 1) // 1000 for row in entries[_TIMERS.name])
    assert ends == [4, 4, 8, 8, 12, 16]


def test_windows_without_aggregates_are_given(spark: SparkSession, tmp_path: Path) -> None:
    window = "TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '8' SECOND)"
    query = f"SELECT k, window_end FROM TABLE({window}) GROUP BY k, window_start, window_end"
    job = Job(tmp_path, spark, query, "k STRING, e TIMESTAMP(3)")
    key, end = columns("STRING", is_row=False), columns("BIGINT", is_row=False)
    aggregates = StateTable(1, "window-aggs", Kind.VALUE, key=key, namespace=end, value=columns())
    timers = StateTable(2, _TIMERS.name, Kind.TIMERS, key=key, namespace=end, value=_TIMERS.value, clock="event")
    entries = job.entries(GlobalWindowAggregate, aggregates, timers)
    assert sorted(row["key"]["f0"] for row in entries["window-aggs"]) == ["a", "a", "b"]
    assert len(entries[_TIMERS.name]) == 3


def test_the_rows_of_frames_by_the_clock_are_given(spark: SparkSession, tmp_path: Path) -> None:
    query = "SELECT k, MAX(v) OVER (PARTITION BY k ORDER BY p ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM t"
    job = Job(tmp_path, spark, query, "k STRING, m INT")
    key, time = columns("STRING", is_row=False), columns("BIGINT", is_row=False)
    (node,) = (node for node in job.plan.nodes if isinstance(node, OverAggregate))
    names = [field.name for field in job.plan.inputs(node)[0].fields]
    row = ", ".join(f"`f{i}` {f.type.regular()}" for i, f in enumerate(job.plan.inputs(node)[0].fields))
    extreme = "ROW<`max` INT, `mapSize` BIGINT, `map` INT>"
    entries = job.entries(
        OverAggregate,
        StateTable(1, "inputState", Kind.MAP, key=key, map_key=time, value=columns(f"ARRAY<ROW<{row}>>", is_row=False)),
        StateTable(2, "processedCountState", Kind.VALUE, key=key, value=time),
        StateTable(3, "smallestTSState", Kind.VALUE, key=key, value=time),
        StateTable(4, "accState", Kind.VALUE, key=key, value=columns(extreme, "BIGINT")),
        StateTable(5, "agg0$map", Kind.MAP, key=key, map_key=columns("INT", is_row=False), value=time),
    )
    value = f"f{names.index('v')}"
    kept = {r["key"]["f0"]: [one[value] for one in r["value"]["f0"]] for r in entries["inputState"]}
    assert kept == {"a": [4, 3], "b": [5]}
    assert {r["key"]["f0"]: r["value"]["f0"] for r in entries["processedCountState"]} == {"a": 2, "b": 1}
    assert {r["key"]["f0"]: r["value"]["f0"]["mapSize"] for r in entries["accState"]} == {"a": 2, "b": 1}
    assert sorted((r["key"]["f0"], r["map_key"]["f0"]) for r in entries["agg0$map"]) == [("a", 3), ("a", 4), ("b", 5)]


def test_matches_are_given_with_the_columns_that_the_pattern_reads(spark: SparkSession, tmp_path: Path) -> None:
    query = (
        "SELECT * FROM t MATCH_RECOGNIZE (PARTITION BY k ORDER BY p MEASURES LAST(A.v) AS v"
        " AFTER MATCH SKIP PAST LAST ROW PATTERN (A B+ C) DEFINE A AS A.v < 3, B AS B.v > A.v, C AS C.v > 100) AS m"
    )
    job = Job(tmp_path, spark, query, "k STRING, v INT")
    (node,) = (node for node in job.plan.nodes if isinstance(node, Match))
    fields = job.plan.inputs(node)[0].fields
    row = ", ".join(f"`f{i}` {field.type.regular()}" for i, field in enumerate(fields))
    event = "ROW<`f0` INT, `f1` BIGINT>"
    last = f"ROW<`f0` {event}, `f1` STRING>"
    match = f"ARRAY<ROW<`f0` STRING, `f1` {last}, `f2` ARRAY<INT>, `f3` BIGINT, `f4` BIGINT, `f5` {event}>>"
    edges = f"ARRAY<ROW<`f0` INT, `f1` ROW<`f0` {last}, `f1` ARRAY<INT>>>>"
    key, number = columns("STRING", is_row=False), columns("INT", is_row=False)
    time = columns("BIGINT", is_row=False)
    buffer = columns("INT", edges, is_row=False)
    entries = job.entries(
        Match,
        StateTable(1, "eventQueuesStateName", Kind.MAP, key=key, map_key=time, value=columns(f"ARRAY<ROW<{row}>>")),
        StateTable(2, "nfaStateName", Kind.VALUE, key=key, value=columns(match, match, is_row=False)),
        StateTable(
            3,
            "sharedBuffer-entries-with-lockable-edges",
            Kind.MAP,
            key=key,
            map_key=columns(last, is_row=False),
            value=buffer,
        ),
        StateTable(
            4,
            "sharedBuffer-events",
            Kind.MAP,
            key=key,
            map_key=columns("INT", "BIGINT", is_row=False),
            value=columns("INT", f"ROW<{row}>", is_row=False),
        ),
        StateTable(5, "sharedBuffer-events-count", Kind.MAP, key=key, map_key=time, value=number),
        StateTable(9, "_timer_state/processing_callbacks", Kind.TIMERS, key=key, value=time, clock="processing"),
    )
    places = {r["key"]["f0"]: [m["f0"] for m in r["value"]["f0"]] for r in entries["nfaStateName"]}
    assert {key: sorted(own) for key, own in places.items()} == {"a": ["A", "B", "B"]}
    names = [field.name for field in fields]
    rows = [r["value"]["f1"] for r in entries["sharedBuffer-events"]]
    assert sorted(one[f"f{names.index('v')}"] for one in rows) == [1, 2, 3, 4]
    assert {one[f"f{names.index('s')}"] for one in rows} == {None}
