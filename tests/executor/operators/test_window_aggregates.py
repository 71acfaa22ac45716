"""What aggregations in windows refuse."""

from __future__ import annotations

import pytest

from flinkplan.executor.operators.window_aggregates import window_aggregate
from flinkplan.plan.errors import UnsupportedError
from flinkplan.plan.nodes import WindowAggregate
from flinkplan.plan.specs import HoppingWindow, TimeAttributeWindowing
from flinkplan.plan.types import STRING, row

from ..conftest import Bench
from .event_time import ROWTIME, timed_source

pytestmark = pytest.mark.spark


def test_hopping_windows_consist_of_whole_slides(bench: Bench) -> None:
    of = row([("k", STRING), ("ts", ROWTIME)])
    windows = HoppingWindow("PT10M", "PT3M")
    node = WindowAggregate(
        id=1,
        version=1,
        grouping=(0,),
        agg_calls=(),
        windowing=TimeAttributeWindowing(windows, ROWTIME, 1, True),
        named_window_properties=(),
        need_retraction=False,
        output_type=row([("k", STRING)]),
    )
    with pytest.raises(UnsupportedError, match="600000 ms every 180000 ms"):
        window_aggregate(node, (timed_source(bench, "in", of, 1),), bench.context)
