"""What several operators of a stream read: once a micro-batch, over checkpoints that know of one reading for each."""

from __future__ import annotations

from pathlib import Path

import pytest

from flinkplan.executor.build.sharing import SharedRows, SharedStreams
from flinkplan.executor.build.stream import Stream
from flinkplan.executor.jobs.job import JobOptions, execute
from flinkplan.executor.jobs.states import find_states
from flinkplan.executor.prepare.modes import Mode
from flinkplan.plan.document import Plan
from flinkplan.plan.record import replace
from flinkplan.planner import compile_script

from .jobs import Place

pytestmark = pytest.mark.spark

TABLES = """\
CREATE TABLE t (ts TIMESTAMP(3), k STRING, v BIGINT, WATERMARK FOR ts AS ts - INTERVAL '10' SECOND)
  WITH ('connector' = 'filesystem', 'path' = '{root}/in', 'format' = 'json');
CREATE TABLE o (k STRING, n BIGINT, m BIGINT) WITH (
  'connector' = 'filesystem', 'path' = '{root}/{out}', 'format' = '{format_}');
"""
JOIN = "INSERT INTO o SELECT a.k, a.v, b.v FROM t a JOIN t b ON a.k = b.k WHERE a.v < 10 AND b.v >= 10;"
TWICE = """\
CREATE VIEW c AS SELECT k, COUNT(*) n, window_start s, window_end e
  FROM TABLE(HOP(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '2' MINUTE))
  GROUP BY k, window_start, window_end;
INSERT INTO o SELECT c.k, c.n, x.m FROM c
  JOIN (SELECT MAX(n) m, s, e FROM c GROUP BY s, e) x ON c.s = x.s AND c.e = x.e AND c.n >= x.m;
"""
GROUPED = """\
CREATE VIEW g AS SELECT k, COUNT(*) n FROM t GROUP BY k;
INSERT INTO o SELECT a.k, a.n, b.n FROM g a JOIN g b ON a.k = b.k;
"""
QUERIES = pytest.mark.parametrize("query", [JOIN, TWICE, GROUPED], ids=["rows", "windows", "groups"])


def put(place: Place, name: str, *rows: tuple[str, str, int]) -> None:
    place.put(name, *({"ts": f"2024-01-01 {ts}", "k": k, "v": v} for ts, k, v in rows))


def compiled(place: Place, query: str, out: str = "out") -> Plan:
    format_ = "debezium-json" if query == GROUPED else "json"
    return compile_script(TABLES.format(root=place.root, out=out, format_=format_) + query)


def lines(folder: Path) -> list[str]:
    """Those of all files of an output, in order."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and not path.name.startswith("."))
    return [line for path in files for line in path.read_text().splitlines()]


FILES = (
    [("10:00:01", "a", 1), ("10:00:02", "a", 10), ("10:00:02", "b", 2)],
    [("10:01:10", "b", 20), ("10:00:30", "a", 3), ("10:01:30", "c", 4)],
    [("10:03:00", "a", 30), ("10:00:05", "a", 5), ("10:06:00", "b", 6)],
)


def run_files(place: Place, plan: Plan) -> None:
    for number, rows in enumerate(FILES):
        put(place, str(number), *rows)
        place.run(plan, Mode.AVAILABLE_NOW)


@QUERIES
def test_a_source_that_is_read_twice_is_read_once(place: Place, query: str) -> None:
    run_files(place, compiled(place, query))
    assert sum(p.rows_read for p in place.progress) == sum(map(len, FILES))
    operators = [o.name for o in place.progress[0].operators]
    assert len(operators) == len(set(operators)), "an operator that is read twice is run once"
    assert all(o.node is not None for p in place.progress for o in p.operators)
    states = find_states(place.root / "checkpoint")
    assert len({s.node for s in states}) == len({s.operator for s in states}) == len(operators)
    assert ([s.node for s in states if s.name == "windows"] != []) == (query == TWICE)
    assert not place.spark.sparkContext._jsc.getPersistentRDDs(), "what was shared is released"


@pytest.mark.parametrize(
    "query",
    [
        pytest.param(JOIN, id="rows"),
        pytest.param(TWICE, id="windows", marks=pytest.mark.nightly("groups are shared operators, too")),
        pytest.param(GROUPED, id="groups"),
    ],
)
def test_a_checkpoint_of_a_query_that_shares_nothing_goes_on(
    place: Place, query: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rows, and their order, are those of a query that never shares."""
    for number, rows in enumerate(FILES):
        put(place, str(number), *rows)
        for name, shares in (("changed", number > 0), ("never", False)):
            with monkeypatch.context() as patch:
                if not shares:
                    patch.setattr(SharedRows, "share", lambda self, frame: frame)
                checkpoint = str(place.root / f"checkpoint-{name}")
                options = JobOptions(checkpoint=checkpoint, mode=Mode.AVAILABLE_NOW, spark=place.spark)
                execute(compiled(place, query, name), options).wait()
    assert lines(place.root / "changed") == lines(place.root / "never") != []


def test_rows_that_are_kept_are_computed_before_they_are_read_and_once(place: Place) -> None:
    plan, jobs = compiled(place, GROUPED), place.spark.sparkContext.statusTracker()
    shared = SharedStreams(plan, lambda node: False)
    node = next(node for node in plan.nodes if sum(edge.source == node.id for edge in plan.edges) > 1)
    kept = shared.keep(node, True, Stream(place.spark.range(3).toDF("k"), node.output_type), {}).frame
    before = set(jobs.getJobIdsForGroup())
    for part in (replace(plan, nodes=(), edges=()), plan, plan):
        shared.compute(part)
    place.spark.sparkContext._jsc.sc().listenerBus().waitUntilEmpty()
    assert len(set(jobs.getJobIdsForGroup()) - before) == 1
    assert kept.storageLevel.useMemory
    shared.release()
    assert not kept.storageLevel.useMemory


def test_late_rows_go_to_a_sink_of_their_own_also_behind_that_of_the_windows(place: Place) -> None:
    folder = Path(__file__).parents[2] / "sample_plans" / "plane-sessions"
    flights = (folder.parent / "data" / "flights.csv").read_text("utf-8").splitlines()
    place.put("flights.csv", *flights[:3000])
    plan = compile_script((folder / "pipeline.yaml").read_text("utf-8"), file="pipeline.yaml")
    variables = {"DATA": str(place.root / "in"), "OUT": str(place.root / "out")}
    execute(plan, JobOptions(variables=variables, listener=place, spark=place.spark)).wait()
    assert {path.parent.name for path in place.output()} == {"plane-sessions", "late-departures"}
