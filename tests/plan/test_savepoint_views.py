"""What accumulators keep in states beside their rows."""

from __future__ import annotations

import pytest

from flinkplan.plan.record import replace
from flinkplan.plan.rex import internal_name
from flinkplan.plan.savepoint.layout import COUNT_STAR
from flinkplan.plan.savepoint.views import Holding, view_of, view_state


@pytest.mark.parametrize(
    ("function", "retracts", "name", "holding"),
    [
        ("MAX", True, "map", Holding.COUNTS),
        ("LAST_VALUE", True, "orderToValueMap", Holding.BY_ORDER),
        ("LISTAGG", True, "list", Holding.LIST),
        ("COLLECT", False, "map", Holding.COUNTS),
        ("JSON_OBJECTAGG_NULL_ON_NULL", False, "map", Holding.ENTRIES),
        ("PERCENTILE", True, "valueCount", Holding.COUNTS),
    ],
)
def test_values_that_may_be_many_are_in_views(function: str, retracts: bool, name: str, holding: Holding) -> None:
    view = view_of(replace(COUNT_STAR, internal_name=internal_name(function)), retracts)
    assert view is not None
    assert (view.name, view.holding) == (name, holding)


@pytest.mark.parametrize(("function", "retracts"), [("MAX", False), ("LISTAGG", False), ("SUM", True), ("COUNT", True)])
def test_other_accumulators_are_all_in_their_rows(function: str, retracts: bool) -> None:
    assert view_of(replace(COUNT_STAR, internal_name=internal_name(function)), retracts) is None


def test_states_of_views_are_named_by_the_call() -> None:
    assert view_state(2, "map") == "agg2$map"
