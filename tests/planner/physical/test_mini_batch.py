"""Where mini-batches are marked in small trees, and which aggregations then have two phases."""

from __future__ import annotations

import pytest

from flinkplan.planner.algebra.physical import MiniBatchAssigner, WatermarkAssigner
from flinkplan.planner.algebra.rel import Rel
from flinkplan.planner.physical.mini_batch import assign_mini_batches, planning_options, two_phase_aggregates
from flinkplan.planner.program import physical
from tests.planner.outlines import bind, outline

OPTIONS = {"table.exec.mini-batch.enabled": "true", "table.exec.mini-batch.allow-latency": "2 s"}


def classes(query: str, **more: str) -> list[str]:
    """The operators of a query in mini-batches, from the top, without what they hold."""
    config = OPTIONS | {f"table.optimizer.{key.replace('_', '-')}": value for key, value in more.items()}
    tree = two_phase_aggregates(assign_mini_batches(physical(bind(query, config), config), config), config)
    return [line.partition("(")[0].strip() for line in outline(tree).splitlines()]


def test_a_source_is_marked_above_what_is_read_of_it() -> None:
    assert classes("SELECT k, COUNT(*) FROM a GROUP BY k") == [
        "GlobalGroupAggregate",
        "Exchange",
        "LocalGroupAggregate",
        "MiniBatchAssigner",
        "SourceScan",
    ]


WINDOWED = """
SELECT k, COUNT(*) AS n FROM TABLE(TUMBLE(TABLE ev, DESCRIPTOR(ts), INTERVAL '1' HOUR))
GROUP BY k, window_start, window_end
"""


@pytest.mark.parametrize(
    ("query", "mode"),
    [
        ("SELECT k, COUNT(*) FROM ev GROUP BY k", "ProcTime"),
        (WINDOWED, "RowTime"),
        (f"SELECT n, COUNT(*) FROM ({WINDOWED}) GROUP BY n", "RowTime"),
    ],
)
def test_a_watermark_is_marked_by_what_reads_it(query: str, mode: str) -> None:
    def marks(rel: Rel) -> list[tuple[str, type[Rel]]]:
        own = [(rel.mode, type(rel.input))] if isinstance(rel, MiniBatchAssigner) else []
        return own + [mark for each in rel.inputs for mark in marks(each)]

    assert marks(assign_mini_batches(physical(bind(query, OPTIONS), OPTIONS), OPTIONS)) == [(mode, WatermarkAssigner)]


@pytest.mark.parametrize(
    ("strategy", "operator"), [("ONE_PHASE", "GroupAggregate"), ("TWO_PHASE", "GlobalGroupAggregate")]
)
def test_the_option_says_how_many_phases_there_are(strategy: str, operator: str) -> None:
    operators = classes("SELECT k, SUM(v) FROM a GROUP BY k", agg_phase_strategy=strategy)
    assert operator in operators
    assert ("LocalGroupAggregate" in operators) == (strategy == "TWO_PHASE")


def test_split_distinct_aggregations_are_incremental_between_their_halves() -> None:
    split = {"distinct_agg.split.enabled": "true"}
    query = "SELECT k, COUNT(DISTINCT v) FROM a GROUP BY k"
    assert classes(query, **split).count("IncrementalGroupAggregate") == 1
    assert classes(query, **split, incremental_agg_enabled="false").count("IncrementalGroupAggregate") == 0


@pytest.mark.parametrize(
    ("query", "is_on"), [("SELECT k FROM a WHERE v > 1", False), ("SELECT k, COUNT(*) FROM a GROUP BY k", True)]
)
def test_a_job_of_rows_one_by_one_has_no_batches(query: str, is_on: bool) -> None:
    assert (planning_options([bind(query, OPTIONS)], OPTIONS) == OPTIONS) == is_on
