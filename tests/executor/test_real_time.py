"""What runs in real-time mode and what does not, told without Spark."""

from __future__ import annotations

from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import pytest

from flinkplan.executor.jobs.slots import check_interval, check_slots, master_with, slots_of
from flinkplan.executor.prepare.explain import physical_lines
from flinkplan.executor.prepare.job_plan import JobPlan, prepare
from flinkplan.executor.prepare.modes import Mode
from flinkplan.executor.prepare.real_time import check_real_time, task_slots, unshared
from flinkplan.plan.document import Edge, Plan
from flinkplan.plan.errors import FlinkplanError, UnsupportedError
from flinkplan.plan.nodes import TableSourceScan, Union
from flinkplan.plan.record import replace
from flinkplan.planner import compile_script
from tests.conftest import Golden

EVENTS = """
    CREATE TABLE events (k STRING, v INT, ts TIMESTAMP(3), p AS PROCTIME(), WATERMARK FOR ts AS ts) WITH (
        'connector' = 'filesystem', 'path' = '/in', 'format' = 'json', 'source.monitor-interval' = '1 s');
    CREATE TABLE names (k STRING, name STRING) WITH ('connector' = 'datagen');
    CREATE TABLE others (k STRING, t TIMESTAMP(3), WATERMARK FOR t AS t) WITH ('connector' = 'datagen');
    CREATE VIEW parts AS SELECT k, part, ts FROM events CROSS JOIN UNNEST(ARRAY[v, 1]) AS t (part);
    CREATE VIEW firsts AS SELECT k, ts FROM (
        SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY p) AS r FROM events) WHERE r = 1;
    CREATE TABLE once (k STRING) WITH ('connector' = 'filesystem', 'path' = '/in', 'format' = 'json');
    CREATE TABLE out1 (k STRING, n BIGINT) WITH ('connector' = 'print');
    CREATE TABLE texts (k STRING, name STRING) WITH ('connector' = 'blackhole');
    CREATE TABLE kept (k STRING PRIMARY KEY NOT ENFORCED, n BIGINT) WITH (
        'connector' = 'jdbc', 'url' = 'jdbc:derby:memory:a', 'table-name' = 'kept');
    CREATE TABLE pages (k STRING, n BIGINT) WITH ('connector' = 'filesystem', 'path' = '/out', 'format' = 'parquet');
"""
WINDOWS = (
    "SELECT k, COUNT(*) AS n, window_start, window_end FROM TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '1' MINUTE) "
    "GROUP BY k, window_start, window_end"
)
COUNTS = "SELECT k, COUNT(*) AS n FROM events GROUP BY k"
RUN = {
    "SELECT k, CAST(v AS BIGINT) FROM events WHERE v > 1": 1,
    COUNTS: 3,
    "SELECT k, n FROM (SELECT k, n, ROW_NUMBER() OVER (ORDER BY n DESC) AS r FROM (" + COUNTS + ")) WHERE r < 3": 5,
    "SELECT events.k, CAST(v AS BIGINT) FROM events JOIN names ON events.k = names.k": 4,
    "SELECT k, CAST(v AS BIGINT) FROM events UNION ALL SELECT k, 1 FROM names": 2,
    "SELECT a.k, 1 FROM events AS a JOIN events AS b ON a.k = b.k WHERE a.v < b.v": 4,
    f"SELECT k, n FROM ({WINDOWS})": 3,
    f"SELECT k, n FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY n DESC) AS r "
    f"FROM ({WINDOWS})) WHERE r < 3": 5,
    "SELECT k, COUNT(*) OVER (PARTITION BY k ORDER BY ts) FROM events": 3,
    "SELECT part, COUNT(*) FROM (SELECT CAST(part AS STRING) AS part, ts FROM parts) GROUP BY part, "
    "TUMBLE(ts, INTERVAL '1' MINUTE)": 3,
    "SELECT k, COUNT(*) FROM HOP(TABLE events, DESCRIPTOR(p), INTERVAL '1' SECOND, INTERVAL '1' MINUTE) "
    "GROUP BY k, window_start, window_end": 3,
    "SELECT k, COUNT(*) OVER (PARTITION BY k ORDER BY p) FROM events": 3,
    "SELECT k, 1 FROM events ORDER BY p": 3,
    "SELECT a.k, 1 FROM events AS a JOIN events AS b ON a.k = b.k AND a.p BETWEEN b.p AND b.p + INTERVAL '1' HOUR": 4,
    "SELECT k, COUNT(*) FROM events GROUP BY k, SESSION(p, INTERVAL '1' MINUTE)": 3,
    "SELECT e.k, CAST(v AS BIGINT) FROM events e JOIN others o ON e.k = o.k AND t BETWEEN ts AND ts + INTERVAL '1' "
    "MINUTE": 4,
}
"""Queries of ``out1``, and how many task slots they take with two partitions."""
REFUSED = {
    f"INSERT INTO out1 SELECT e.k, c.n FROM names AS e JOIN ({COUNTS}) AS c ON e.k = c.k": "with state",
    f"INSERT INTO out1 {COUNTS} UNION ALL SELECT k, 1 FROM names": "with state",
    "INSERT INTO out1 SELECT k, 1 FROM names UNION ALL SELECT k, 2 FROM names WHERE name > 'a'": "goes two ways",
    "INSERT INTO out1 SELECT k, COUNT(*) FROM TUMBLE(TABLE firsts, DESCRIPTOR(ts), INTERVAL '1' MINUTE) "
    "GROUP BY k, window_start, window_end": "no watermark comes behind node",
    "INSERT INTO out1 SELECT k, COUNT(*) FROM TUMBLE(TABLE events, DESCRIPTOR(p), INTERVAL '1' MINUTE) "
    "GROUP BY k, window_start, window_end UNION ALL SELECT k, COUNT(*) FROM TUMBLE(TABLE others, DESCRIPTOR(t), "
    "INTERVAL '1' MINUTE) GROUP BY k, window_start, window_end": "some operators of the query go by the clock",
    "INSERT INTO out1 SELECT k, 1 FROM once": "source.monitor-interval",
    "INSERT INTO out1 SELECT k, 1 FROM kept": "read once",
    "INSERT INTO pages SELECT k, 1 FROM events": "parquet",
}


def plan_of(statement: str) -> Plan:
    return compile_script(EVENTS + statement)


def job_of(plan: Plan) -> JobPlan:
    return prepare(plan, Mode.REAL_TIME)


@pytest.mark.parametrize("query", RUN)
def test_runs(query: str) -> None:
    queries = job_of(plan_of(f"INSERT INTO out1 {query}")).queries.values()
    check_real_time(queries)
    assert slots_of(queries, 2) == RUN[query]


def diamonds(count: int) -> Plan:
    """A plan where each of so many unions is of one input twice."""
    plan = plan_of("INSERT INTO out1 SELECT k, 1 FROM events WHERE v > 1 UNION ALL SELECT k, 1 FROM events")
    union = next(node for node in plan.nodes if isinstance(node, Union))
    sink = plan.sinks[0].id
    ids = [union.id, *range(100, 100 + count - 1)]
    more = [(below, above) for below, above in pairwise(ids) for _ in range(2)]
    nodes = (*(node for node in plan.nodes if node.id != sink), *(replace(union, id=id) for id in ids[1:]))
    edges = (*(edge for edge in plan.edges if edge.target != sink), *(Edge(*ends) for ends in [*more, (ids[-1], sink)]))
    return Plan(plan.flink_version, (*nodes, *plan.sinks), edges)


def test_each_source_of_a_query_is_read_once() -> None:
    (query,) = job_of(diamonds(3)).queries.values()
    check_real_time([query])
    alone = unshared(query).plan
    assert all(len(alone.outputs(node)) <= 1 for node in alone.nodes)
    assert [len(alone.inputs(node)) for node in alone.nodes if isinstance(node, Union)] == [2] * (1 + 2 + 4)
    known: set[int] = set()
    for node in alone.nodes:
        assert {source.id for source in alone.inputs(node)} <= known
        known.add(node.id)
    scans = sum(isinstance(node, TableSourceScan) for node in alone.nodes)
    assert scans == task_slots(query, 2)


def test_ways_may_be_too_many() -> None:
    with pytest.raises(FlinkplanError, match=rf"its rows go {2**40} ways"):
        check_real_time(job_of(diamonds(40)).queries.values())


def test_rows_may_go_into_a_database() -> None:
    check_real_time(job_of(plan_of(f"INSERT INTO kept {COUNTS}")).queries.values())


@pytest.mark.parametrize("statement", REFUSED)
def test_is_refused_with_the_reason(statement: str) -> None:
    with pytest.raises(FlinkplanError, match="does not run in real-time mode") as caught:
        check_real_time(job_of(plan_of(statement)).queries.values())
    assert all(isinstance(error, UnsupportedError) for error in caught.value.errors)
    assert REFUSED[statement] in " ".join(error.message for error in caught.value.errors)


def test_tree_says_what_does_not_run(golden: Golden) -> None:
    lines = physical_lines(job_of(plan_of(next(iter(REFUSED)))))
    golden.check("physical/real-time.txt", "".join(f"{line}\n" for line in lines))


@pytest.mark.parametrize(
    ("master", "slots", "expected"),
    [
        ("local[2]", 5, "local[5]"),
        ("local[8]", 5, "local[8]"),
        ("local", 3, "local[3]"),
        ("local[2,3]", 4, "local[4]"),
        (None, 999, "local[999]"),
        ("local[*]", 999, "local[999]"),
        ("local-cluster[2,1,1024]", 5, "local-cluster[2,1,1024]"),
        ("spark://host:7077", 5, "spark://host:7077"),
    ],
)
def test_a_local_master_gets_as_many_threads_as_there_are_tasks(master: str | None, slots: int, expected: str) -> None:
    assert master_with(slots, master) == expected


def _context(master: str, parallelism: int, **conf: str) -> Any:
    settings = {f"spark.executor.{key}": value for key, value in conf.items()}
    return SimpleNamespace(master=master, defaultParallelism=parallelism, getConf=lambda: settings)


@pytest.mark.parametrize(
    ("context", "missing"),
    [(_context("local[2]", 2), 3), (_context("spark://h:1", 9, instances="2", cores="2"), 1)],
)
def test_too_few_slots_are_an_error(context: Any, missing: int) -> None:
    with pytest.raises(FlinkplanError, match=f"{missing} slots are missing"):
        check_slots(5, context)


@pytest.mark.parametrize(
    "context",
    [_context("local[5]", 5), _context("spark://h:1", 2, instances="5"), _context("spark://h:1", 2)],
)
def test_enough_slots(context: Any) -> None:
    check_slots(5, context)


def test_checkpoints_are_five_seconds_apart_at_least() -> None:
    check_interval(5)
    with pytest.raises(FlinkplanError, match="every 5 s at the most, not every 1 s"):
        check_interval(1)
