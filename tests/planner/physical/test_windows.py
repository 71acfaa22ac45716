"""Which aggregations and joins are planned per window, and where the window is assigned."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from flinkplan.plan.document import Plan
from flinkplan.plan.nodes import Sink
from flinkplan.planner import compile_script
from flinkplan.planner.errors import PlanningError

TABLES = """
CREATE TABLE ev (k STRING, v INT, ts TIMESTAMP(3), pt AS PROCTIME(), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)
  WITH ('connector' = 'filesystem', 'path' = 'p', 'format' = 'json');
CREATE TABLE cdc (id INT, v INT, ts TIMESTAMP(3), PRIMARY KEY (id) NOT ENFORCED, WATERMARK FOR ts AS ts)
  WITH ('connector' = 'filesystem', 'path' = 'p', 'format' = 'debezium-json');
CREATE TABLE d (v INT, name STRING) WITH ('connector' = 'filesystem', 'path' = 'p', 'format' = 'json');
"""
SOURCE = ["table-source-scan", "watermark-assigner"]
TWO_PHASES = ["local-window-aggregate", "exchange", "global-window-aggregate"]
SPLIT = {"table.optimizer.distinct-agg.split.enabled": "true"}
TUMBLE = "TABLE(TUMBLE(TABLE ev, DESCRIPTOR(ts), INTERVAL '10' MINUTE))"
BY_PROCTIME = "TABLE(TUMBLE(TABLE ev, DESCRIPTOR(pt), INTERVAL '10' MINUTE))"
SESSION = "TABLE(SESSION(TABLE ev PARTITION BY k, DESCRIPTOR(ts), INTERVAL '10' MINUTE))"
CHANGES = TUMBLE.replace("ev", "cdc")
BOUNDS = "window_start, window_end"
SAME = "l.v = r.v AND l.window_start = r.window_start AND l.window_end = r.window_end"
RANKED = f"(SELECT *, ROW_NUMBER() OVER (PARTITION BY {BOUNDS} ORDER BY v) AS n FROM {TUMBLE})"


def compiled(query: str, options: Mapping[str, str] | None = None) -> Plan:
    """The plan of a query."""
    sink = "CREATE TABLE o (n BIGINT) WITH ('connector' = 'blackhole');"
    return compile_script(f"{TABLES}{sink}\nINSERT INTO o {query};", options=options)


def nodes(query: str, options: Mapping[str, str] | None = None) -> list[str]:
    """The names of a query's nodes above its source, but for calcs and the sink."""
    names = [n.type.removeprefix("stream-exec-").rpartition("_")[0] for n in compiled(query, options).nodes]
    return [n for n in names if n not in (*SOURCE, "calc", "sink")]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        (f"SELECT COUNT(*) FROM {TUMBLE} GROUP BY {BOUNDS}, k", TWO_PHASES),
        (
            f"SELECT COUNT(*) FROM {TUMBLE} GROUP BY window_start",
            ["window-table-function", "exchange", "group-aggregate"],
        ),
        (f"SELECT COUNT(*) FROM {TUMBLE} GROUP BY {BOUNDS}, GROUPING SETS ((k), ())", ["expand", *TWO_PHASES]),
        (
            f"SELECT CAST(PERCENTILE(v, 0.5) AS INT) + CARDINALITY(ARRAY_AGG(k)) FROM {TUMBLE} GROUP BY {BOUNDS}",
            TWO_PHASES,
        ),
        (f"SELECT COUNT(*) FROM {RANKED} WHERE n < 3 GROUP BY {BOUNDS}", None),
        (f"SELECT COUNT(*) FROM (SELECT * FROM {TUMBLE} UNION ALL SELECT * FROM {TUMBLE}) GROUP BY {BOUNDS}", None),
    ],
)
def test_groups_with_start_and_end_are_windows(query: str, expected: list[str] | None) -> None:
    planned = nodes(query)
    if expected is None:
        assert planned[-3:] == TWO_PHASES
    else:
        assert planned == expected


@pytest.mark.parametrize(
    "query",
    [
        f"SELECT COUNT(*) FROM {TUMBLE} w JOIN d ON w.v = d.v GROUP BY {BOUNDS}",
        f"SELECT MAX(s) FROM (SELECT {BOUNDS}, SUM(v) OVER (ORDER BY ts) AS s FROM {TUMBLE}) GROUP BY {BOUNDS}",
        f"SELECT COUNT(*) FROM {SESSION} GROUP BY {BOUNDS}",
        f"SELECT COUNT(*) FROM {SESSION} GROUP BY {BOUNDS}, k, v",
        f"SELECT COUNT(*) FROM (SELECT {BOUNDS}, YEAR(window_end) AS y FROM {BY_PROCTIME}) GROUP BY {BOUNDS}, y",
    ],
    ids=["joined", "over", "session without its key", "session with another key", "computed by processing time"],
)
def test_windows_are_lost(query: str) -> None:
    assert nodes(query)[-1] == "group-aggregate"


@pytest.mark.parametrize(
    ("right", "expected"),
    [
        (TUMBLE, "window-join"),
        (f"(SELECT {BOUNDS}, v FROM {RANKED} WHERE n < 3)", "window-join"),
        (TUMBLE.replace("10", "20"), "join"),
        (BY_PROCTIME, "join"),
    ],
)
def test_joins_of_equal_windows(right: str, expected: str) -> None:
    assert nodes(f"SELECT l.v FROM {TUMBLE} l JOIN {right} r ON {SAME}")[-1] == expected


def test_an_aggregation_over_a_window_join_is_one_per_window() -> None:
    joined = f"SELECT l.window_start AS a, r.window_end AS b FROM {TUMBLE} l JOIN {TUMBLE} r ON {SAME}"
    assert nodes(f"SELECT COUNT(*) FROM ({joined}) GROUP BY a, b")[-3:] == TWO_PHASES


@pytest.mark.parametrize(("by", "key"), [(f"{BOUNDS}, v", (0,)), (BOUNDS, None)])
def test_the_first_row_by_key_and_window_is_updated_by_that_key(by: str, key: tuple[int, ...] | None) -> None:
    first = f"SELECT *, ROW_NUMBER() OVER (PARTITION BY {by} ORDER BY k) AS n FROM {TUMBLE}"
    plan = compiled(f"SELECT v FROM ({first}) WHERE n = 1")
    assert next(n.input_upsert_key for n in plan.nodes if isinstance(n, Sink)) == key


def test_an_aggregated_column_of_the_window_keeps_its_function() -> None:
    planned = nodes(f"SELECT COUNT(window_end) + YEAR(MAX(window_end)) FROM {TUMBLE} GROUP BY {BOUNDS}")
    assert planned == ["window-table-function", *TWO_PHASES]
    grouped = f"{BOUNDS}, GROUPING SETS ((k), ())"
    assert nodes(f"SELECT COUNT(window_end) FROM {TUMBLE} GROUP BY {grouped}")[-3:] == TWO_PHASES


def test_distinct_aggregations_are_split_per_window() -> None:
    planned = nodes(f"SELECT COUNT(DISTINCT k) + COUNT(DISTINCT v) + AVG(v) FROM {TUMBLE} GROUP BY {BOUNDS}", SPLIT)
    assert planned == ["expand", *TWO_PHASES, *TWO_PHASES]


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (
            f"SELECT id FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY {BOUNDS} ORDER BY v) AS n FROM {CHANGES}) "
            "WHERE n < 3",
            "a Top-N per window takes inserts only",
        ),
        ("SELECT SUM(v) OVER (ORDER BY ts) FROM cdc", "OVER ordered by time takes inserts only"),
        (f"SELECT l.v FROM {CHANGES} l JOIN {CHANGES} r ON {SAME}", "a window join takes inserts only"),
        (f"SELECT APPROX_COUNT_DISTINCT(v) FROM {TUMBLE} GROUP BY {BOUNDS}", "APPROX_COUNT_DISTINCT"),
    ],
)
def test_refused(query: str, message: str) -> None:
    with pytest.raises(PlanningError, match=message):
        nodes(query)


def test_a_time_column_behind_a_regular_join_is_refused() -> None:
    joined = "CREATE VIEW j AS SELECT ts, name FROM ev JOIN d ON ev.v = d.v;"
    window = "SELECT COUNT(*) FROM TABLE(TUMBLE(TABLE j, DESCRIPTOR(ts), INTERVAL '1' HOUR)) GROUP BY " + BOUNDS
    sink = "CREATE TABLE o (n BIGINT) WITH ('connector' = 'blackhole');"
    with pytest.raises(PlanningError, match="no time attribute any more"):
        compile_script(f"{TABLES}{joined}{sink}INSERT INTO o {window};")


@pytest.mark.parametrize(
    "query",
    [
        f"SELECT COUNT(*) FROM {TUMBLE} GROUP BY {BOUNDS}",
        "SELECT COUNT(*) FROM ev GROUP BY SESSION(ts, INTERVAL '1' MINUTE)",
    ],
)
def test_windows_that_fire_neither_early_nor_late(query: str) -> None:
    with pytest.raises(PlanningError, match="neither early nor late"):
        nodes(query, {"table.exec.emit.early-fire.enabled": "true"})
