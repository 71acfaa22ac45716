"""Keys of every type: they are part of states, which are restored, expire and call back."""

from __future__ import annotations

from typing import Any

import pytest

from flinkplan.plan.nodes import GroupAggregate, GroupWindowAggregate
from flinkplan.plan.specs import AggregateCall, StateMetadata, TimeField, TumblingGroupWindow, WindowReference
from flinkplan.plan.types import BIGINT, SMALLINT, STRING, TINYINT, LogicalType, array, map_, row, timestamp

from ..building import build
from ..conftest import Bench
from .event_time import ROWTIME, minute, timed_source

pytestmark = pytest.mark.spark

HOUR_MS = 3_600_000
COUNT = AggregateCall(
    name=None,
    internal_name="$COUNT$1",
    arg_list=(),
    filter_arg=-1,
    distinct=False,
    approximate=False,
    ignore_nulls=False,
    type=BIGINT,
)

KEYS: list[tuple[LogicalType, Any, Any]] = [
    (TINYINT, 7, -7),
    (SMALLINT, 300, None),
    (array(STRING), ["x", None], ["x"]),
    (row([("a", STRING), ("b", TINYINT)]), {"f0": "x", "f1": 1}, {"f0": "x", "f1": None}),
    (map_(STRING, BIGINT), {"x": 1}, {"x": 2}),
]
IDS = [str(t) for t, _, _ in KEYS]


@pytest.mark.parametrize(("digits", "counts"), [(0, [2, 1]), (3, [2, 1]), (6, [1, 1, 1])])
def test_timestamps_of_three_digits_are_told_apart_by_milliseconds(
    digits: int, counts: list[int], bench: Bench
) -> None:
    key = timestamp(digits)
    node = GroupAggregate(
        id=1,
        version=1,
        grouping=(0,),
        agg_calls=(COUNT,),
        agg_call_need_retractions=(False,),
        generate_update_before=False,
        need_retraction=False,
        output_type=row([("k", key), ("n", BIGINT)]),
        state=(StateMetadata(0, "0 ms", "groupAggregateState"),),
    )
    counted = build(node, (bench.source("in", row([("k", key)])),), bench.context)
    bench.put("in", ("2024-01-01 00:00:00.123456",), ("2024-01-01 00:00:00.123",), ("2024-01-01 00:00:00.124",))
    assert sorted((n for _, _, n in bench.step(counted)), reverse=True) == counts


@pytest.mark.parametrize(("key", "one", "other"), KEYS, ids=IDS)
def test_groups_are_found_again_until_they_expire(key: LogicalType, one: Any, other: Any, bench: Bench) -> None:
    node = GroupAggregate(
        id=1,
        version=1,
        grouping=(0,),
        agg_calls=(COUNT,),
        agg_call_need_retractions=(False,),
        generate_update_before=False,
        need_retraction=False,
        output_type=row([("k", key), ("n", BIGINT)]),
        state=(StateMetadata(0, "1 h", "groupAggregateState"),),
    )
    counted = build(node, (bench.source("in", row([("k", key)])),), bench.context)
    bench.put("in", (one,), (other,), (one,))
    assert [n for _, _, n in bench.step(counted)] in ([1, 2], [2, 1])
    bench.put("in", (one,))
    assert bench.step(counted, HOUR_MS // 2) == [("+U", one, 3)]
    bench.put("in", (other,))
    assert bench.step(counted, HOUR_MS + 1) == [("+I", other, 1)]


@pytest.mark.parametrize(("key", "one", "other"), KEYS, ids=IDS)
def test_windows_of_a_key_are_called_back(key: LogicalType, one: Any, other: Any, bench: Bench) -> None:
    reference = WindowReference("w", ROWTIME)
    node = GroupWindowAggregate(
        id=1,
        version=1,
        grouping=(0,),
        agg_calls=(COUNT,),
        window=TumblingGroupWindow(reference, TimeField("ts", 1, 0, ROWTIME), True, "PT1M"),
        named_window_properties=(),
        need_retraction=False,
        output_type=row([("k", key), ("n", BIGINT)]),
    )
    source = timed_source(bench, "in", row([("k", key), ("ts", ROWTIME)]), 1)
    counted = build(node, (source,), bench.context)
    bench.put("in", (one, minute(0)), (one, minute(0)), (other, minute(2)))
    assert bench.step(counted) == []
    bench.put("in", (other, minute(2)))
    assert bench.step(counted) == [("+I", one, 2)]
