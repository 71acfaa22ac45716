"""How many rows of an aggregation a filter on its results keeps.  Source: ``AggCallSelectivityEstimator``."""

from __future__ import annotations

import pytest

from flinkplan.planner.algebra.logical import Filter, Scan
from flinkplan.planner.algebra.rel import Rel
from flinkplan.planner.metadata.estimates import Estimates
from tests.planner.outlines import bind


def _filter(rel: Rel) -> Filter:
    return rel if isinstance(rel, Filter) else _filter(rel.inputs[0])


@pytest.mark.parametrize(
    ("condition", "share"),
    [
        ("COUNT(*) > 4", 0.5),
        ("SUM(v) > 4", 0.5),
        ("SUM(v) = 4", 0.15),
        ("COUNT(v) > 4", 0.99),
        ("COUNT(v) > 100", 0.01),
        ("COUNT(v) <= 100", 0.99),
        ("COUNT(v) = 100", 0.01),
        ("COUNT(v) > 4 AND SUM(v) > 4", 0.495),
    ],
)
def test_filter_on_results_of_an_aggregation(condition: str, share: float) -> None:
    rel = _filter(bind(f"SELECT k FROM a GROUP BY k HAVING {condition}"))
    known = Estimates()
    assert known.rows(rel) / known.rows(rel.input) == pytest.approx(share)


def test_filter_on_results_leaves_fewer_values_of_a_key() -> None:
    rel = _filter(bind("SELECT id FROM cdc GROUP BY id HAVING COUNT(*) > 4"))
    known = Estimates()
    assert known.distinct_rows(rel, {0}) == pytest.approx(0.5 * known.rows(_scan(rel)))


def _scan(rel: Rel) -> Rel:
    return rel if isinstance(rel, Scan) or not rel.inputs else _scan(rel.inputs[0])
