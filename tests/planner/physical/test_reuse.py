"""What the sinks of a job have in common: once, or as often as the options say."""

from __future__ import annotations

from collections import Counter

import pytest

from flinkplan.plan.nodes import LocalGroupAggregate
from flinkplan.planner import compile_script

TABLES = """
CREATE TABLE t (id INT, k STRING, v INT) WITH ('connector' = 'filesystem', 'path' = 'p', 'format' = 'json');
CREATE TABLE o (k STRING, n BIGINT) WITH ('connector' = 'blackhole');
CREATE TABLE other (k STRING, n BIGINT) WITH ('connector' = 'blackhole');
"""
AGAIN = """
INSERT INTO o SELECT k, SUM(v) FROM t WHERE v > 1 GROUP BY k;
INSERT INTO other SELECT k, SUM(v) FROM t WHERE v > 1 GROUP BY k;
"""
OF_DIFFERENT_COLUMNS = """
INSERT INTO o SELECT k, CAST(id AS BIGINT) FROM t;
INSERT INTO other SELECT k, CAST(v AS BIGINT) FROM t;
"""
INTO_ONE_TABLE = """
INSERT INTO o SELECT k, CAST(v AS BIGINT) FROM t WHERE v > 1;
INSERT INTO o SELECT k, CAST(v AS BIGINT) FROM t WHERE v < 1;
"""


def nodes(statements: str, **options: str) -> Counter[str]:
    """How many nodes there are of each class."""
    settings = "".join(f"SET 'table.optimizer.{k.replace('_', '-')}-enabled' = '{v}';" for k, v in options.items())
    script = f"{TABLES}{settings}EXECUTE STATEMENT SET BEGIN {statements} END;"
    return Counter(type(node).__name__ for node in compile_script(script).nodes)


def test_equal_subplans_are_one() -> None:
    planned = nodes(AGAIN)
    assert (planned["TableSourceScan"], planned["GroupAggregate"], planned["Sink"]) == (1, 1, 2)


def test_equal_subplans_stay_apart_where_the_option_says_so() -> None:
    planned = nodes(AGAIN, reuse_sub_plan="false")
    assert (planned["TableSourceScan"], planned["GroupAggregate"], planned["Sink"]) == (2, 2, 2)


def test_what_stands_on_sources_apart_is_one() -> None:
    """The aggregation is shared with all below it, its source with it."""
    planned = nodes(AGAIN, reuse_source="false")
    assert (planned["TableSourceScan"], planned["GroupAggregate"]) == (1, 1)


@pytest.mark.parametrize(("option", "scans"), [("true", 1), ("false", 2)])
def test_scans_of_different_columns_are_one_that_reads_both(option: str, scans: int) -> None:
    assert nodes(OF_DIFFERENT_COLUMNS, reuse_source=option)["TableSourceScan"] == scans


@pytest.mark.parametrize(("option", "sinks", "unions"), [("true", 1, 1), ("false", 2, 0)])
def test_sinks_of_one_table_are_one_over_a_union(option: str, sinks: int, unions: int) -> None:
    planned = nodes(INTO_ONE_TABLE, reuse_sink=option)
    assert (planned["Sink"], planned["Union"]) == (sinks, unions)


COUNTED = "(SELECT k, COUNT(*) {} FROM t GROUP BY k)"


@pytest.mark.parametrize(
    ("query", "name"),
    [
        (f"SELECT a.k, a.n + b.m FROM {COUNTED.format('n')} a JOIN {COUNTED.format('m')} b ON a.k = b.k", "m"),
        (
            f"SELECT b.k, b.n FROM (SELECT MAX(c) x FROM {COUNTED.format('c')}) a JOIN {COUNTED.format('n')} b "
            "ON a.x = b.n",
            "c",
        ),
        (" UNION ALL ".join(f"SELECT * FROM {COUNTED.format(name)}" for name in "nmp"), "m"),
    ],
    ids=["the last one", "the deepest one", "the last one of the deepest"],
)
def test_a_first_phase_that_is_shared_names_its_calls_as_flinks_does(query: str, name: str) -> None:
    """Names are those of the plans of Flink 2.3."""
    two_phases = {"table.exec.mini-batch.enabled": "true", "table.exec.mini-batch.allow-latency": "1 s"}
    two_phases |= {"table.exec.mini-batch.size": "100", "table.optimizer.agg-phase-strategy": "TWO_PHASE"}
    settings = "".join(f"SET '{key}' = '{value}';" for key, value in two_phases.items())
    plan = compile_script(f"{TABLES}{settings}INSERT INTO o {query};")
    first, *others = (node for node in plan.nodes if isinstance(node, LocalGroupAggregate))
    assert [call.name for call in first.agg_calls] == [name]
    assert all(other.agg_calls != first.agg_calls for other in others)
