"""What aggregations in windows refuse."""

from __future__ import annotations

import pytest

from flinkplan.executor.operators.window_aggregates import window_aggregate
from flinkplan.plan.errors import UnsupportedError
from flinkplan.plan.nodes import WindowAggregate
from flinkplan.plan.specs import (
    AggregateCall,
    CumulativeWindow,
    HoppingWindow,
    SessionWindow,
    TimeAttributeWindowing,
    WindowSpec,
)
from flinkplan.plan.types import STRING, row

from ..conftest import Bench
from .event_time import ROWTIME, timed_source
from .test_over import call

pytestmark = pytest.mark.spark


def refused(bench: Bench, windows: WindowSpec, *calls: AggregateCall) -> str:
    """What is said of an aggregation."""
    node = WindowAggregate(
        id=1,
        version=1,
        grouping=(0,),
        agg_calls=calls,
        windowing=TimeAttributeWindowing(windows, ROWTIME, 1, True),
        named_window_properties=(),
        need_retraction=False,
        output_type=row([("k", STRING), *((f"c{i}", c.type) for i, c in enumerate(calls))]),
    )
    of = row([("k", STRING), ("ts", ROWTIME)])
    with pytest.raises(UnsupportedError) as caught:
        window_aggregate(node, (timed_source(bench, "in", of, 1),), bench.context)
    return str(caught.value)


def test_hopping_windows_consist_of_whole_slides(bench: Bench) -> None:
    assert "600000 ms every 180000 ms" in refused(bench, HoppingWindow("PT10M", "PT3M"))


@pytest.mark.parametrize(
    "windows",
    [HoppingWindow("PT10M", "PT5M"), CumulativeWindow("PT10M", "PT5M"), SessionWindow("PT10M")],
    ids=lambda window: type(window).__name__,
)
def test_functions_that_flink_cannot_merge_take_windows_of_one_part(windows: WindowSpec, bench: Bench) -> None:
    assert "FIRST_VALUE in a window that is made of parts" in refused(bench, windows, call("FIRST_VALUE", 0, of=STRING))
