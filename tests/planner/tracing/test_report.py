"""What ``explain --rules`` shows: the phases that changed a tree, their rules, and diffs of the trees."""

from __future__ import annotations

import pytest

from flinkplan.plan.errors import FlinkplanError
from flinkplan.planner import compile_script, trace_script
from flinkplan.planner.tracing.report import diff_lines, trace_json, trace_lines
from tests.conftest import Golden
from tests.planner.outlines import TABLES as OUTLINED

TABLES = """
CREATE TABLE a (id INT, k STRING, v INT) WITH ('connector' = 'filesystem', 'path' = 'p', 'format' = 'json');
CREATE TABLE c (cid INT, name STRING) WITH ('connector' = 'filesystem', 'path' = 'p', 'format' = 'json');
CREATE TABLE ev (k STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
  WITH ('connector' = 'filesystem', 'path' = 'p', 'format' = 'json');
CREATE TABLE o (k STRING, n BIGINT) WITH ('connector' = 'print');
"""
QUERY = "INSERT INTO o SELECT k, COUNT(*) FROM (SELECT * FROM a JOIN c ON id = cid) WHERE v > 3 GROUP BY k;"
TWO_SINKS = """
EXECUTE STATEMENT SET BEGIN
INSERT INTO o SELECT k, id FROM a;
INSERT INTO o SELECT k, v FROM a WHERE v > 3;
END;
"""


def test_each_change_is_shown_with_its_stage_and_rules(golden: Golden) -> None:
    golden.check("query.txt", "\n".join(trace_lines(trace_script(TABLES + QUERY))))


def test_what_the_sinks_of_a_job_share_comes_last(golden: Golden) -> None:
    golden.check("two_sinks.txt", "\n".join(trace_lines(trace_script(TABLES + TWO_SINKS))))


def test_json_has_the_whole_trees() -> None:
    (insert,) = trace_json(trace_script(TABLES + QUERY))["inserts"]
    assert insert["table"] == "o"
    assert insert["steps"][0]["before"] == insert["bound"]
    for step, following in zip(insert["steps"], insert["steps"][1:], strict=False):
        assert step["after"] == following["before"]
    pushed = next(step for step in insert["steps"] if step["phase"] == "push_filters")
    assert pushed["stage"] == "predicate_pushdown"
    assert pushed["rules"] == ["push_past_project", "push_past_join"]


def test_a_trace_ends_with_what_is_compiled() -> None:
    """The last tree has the operators of the plan, sink last in the one and first in the other."""
    (insert,) = trace_script(TABLES + QUERY).inserts
    operators = [line.strip().partition("(")[0] for line in insert.steps[-1].after]
    plan = compile_script(TABLES + QUERY)
    assert len(operators) == len(plan.nodes)
    assert operators[0] == "Sink" and operators.count("Exchange") == 3


def test_errors_are_those_of_compiling() -> None:
    script = f"{TABLES}INSERT INTO o SELECT k, nothing FROM a;"
    with pytest.raises(FlinkplanError) as compiled:
        compile_script(script)
    with pytest.raises(FlinkplanError) as traced:
        trace_script(script)
    assert str(traced.value) == str(compiled.value)


def test_what_only_moves_deeper_is_no_change() -> None:
    before = ["Sink()", "  Filter()", "    Scan(a)"]
    after = ["Sink()", "  Project()", "    Filter()", "      Scan(a)"]
    assert diff_lines(before, after) == ["    Sink()", "  +   Project()", "        Filter()"]


def test_what_several_relations_read_is_shown_once() -> None:
    doubled = ", ".join(f"t{i} AS (SELECT x.id FROM t{i - 1} x JOIN t{i - 1} y ON x.id = y.id)" for i in range(1, 25))
    script = f"{TABLES}INSERT INTO o WITH t0 AS (SELECT id FROM a), {doubled} SELECT 'k', id FROM t24;"
    (insert,) = trace_script(script).inserts
    assert len(insert.bound) < 200
    assert sum(line.endswith("(see above)") for line in insert.bound) == 24


@pytest.mark.parametrize(
    ("query", "options", "line"),
    [
        (
            "SELECT a.k, b.v FROM a JOIN a b ON a.id = b.id JOIN c ON a.id = c.cid",
            {"table.optimizer.multi-join.enabled": "true"},
            "MultiJoin(joinTypes=[InnerJoin, InnerJoin], where=[(id = id0), (id = cid)], select=[id, k, id0, v0, cid])",
        ),
        (
            "SELECT clocked.k, r.v FROM clocked JOIN looked FOR SYSTEM_TIME AS OF pt AS r ON clocked.id = r.id",
            {},
            "LookupJoin(table=[looked], joinType=[InnerJoin], lookup=[id], select=[id, k, id0, v])",
        ),
        (
            "SELECT k, n FROM a, LATERAL (SELECT COUNT(*) AS n FROM c WHERE cid = id)",
            {},
            "Lateral(joinType=[InnerJoin], correlation=[$cor0])",
        ),
        (
            "SELECT k, COUNT(*) FROM clocked GROUP BY k",
            {"table.exec.mini-batch.enabled": "true", "table.exec.mini-batch.allow-latency": "2 s"},
            "GlobalGroupAggregate(groupBy=[k], select=[COUNT(*) AS EXPR$1])",
        ),
        (
            "SELECT k, COUNT(id) OVER (PARTITION BY k ORDER BY pt) FROM clocked",
            {},
            "Project(select=[k, COUNT(id) OVER (PARTITION BY k ORDER BY pt ASC RANGE BETWEEN UNBOUNDED PRECEDING AND "
            "CURRENT ROW) AS EXPR$1])",
        ),
    ],
)
def test_operators_say_what_they_do(query: str, options: dict[str, str], line: str) -> None:
    sink = "CREATE TABLE s WITH ('connector' = 'print') AS "
    (insert,) = trace_script(f"{OUTLINED}{sink}{query};", options=options).inserts
    trees = (insert.bound, *(step.after for step in insert.steps))
    assert line in {shown.strip() for tree in trees for shown in tree}
