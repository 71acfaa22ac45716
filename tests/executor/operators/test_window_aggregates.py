"""What aggregations in windows refuse, and in which order they take rows."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from flinkplan.executor.prepare.modes import Mode
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
from flinkplan.planner import compile_script

from ..building import build
from ..conftest import Bench
from ..jobs import Place
from ..plans import refusal
from .event_time import ROWTIME, minute, timed_source
from .test_over import call

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


def aggregate(windows: WindowSpec, *calls: AggregateCall) -> WindowAggregate:
    """An aggregation by the first column, in windows by the second."""
    return WindowAggregate(
        id=1,
        version=1,
        grouping=(0,),
        agg_calls=calls,
        windowing=TimeAttributeWindowing(windows, ROWTIME, 1, True),
        named_window_properties=(),
        need_retraction=False,
        output_type=row([("k", STRING), *((f"c{i}", c.type) for i, c in enumerate(calls))]),
    )


def refused(windows: WindowSpec, *calls: AggregateCall) -> str:
    """What is said of an aggregation."""
    return refusal(aggregate(windows, *calls), row([("k", STRING), ("ts", ROWTIME)]))


def test_hopping_windows_consist_of_whole_slides() -> None:
    assert "600000 ms every 180000 ms" in refused(HoppingWindow("PT10M", "PT3M"))


@pytest.mark.parametrize(
    "windows",
    [HoppingWindow("PT10M", "PT5M"), CumulativeWindow("PT10M", "PT5M"), SessionWindow("PT10M")],
    ids=lambda window: type(window).__name__,
)
def test_functions_that_flink_cannot_merge_take_windows_of_one_part(windows: WindowSpec) -> None:
    assert "FIRST_VALUE in a window that is made of parts" in refused(windows, call("FIRST_VALUE", 0, of=STRING))


@pytest.mark.parametrize(
    ("windows", "expected"),
    [
        (HoppingWindow("PT10M", "PT5M"), ["p,r", "q,s,p,r", "q,s"]),
        (CumulativeWindow("PT10M", "PT5M"), ["p,r", "p,r,q,s"]),
    ],
    ids=lambda of: type(of).__name__,
)
def test_windows_are_merged_of_slices_whenever_the_rows_came(
    windows: WindowSpec, expected: list[str], bench: Bench
) -> None:
    of = row([("k", STRING), ("ts", ROWTIME), ("v", STRING)])
    source = timed_source(bench, "in", of, 1, delay=300_000)
    node = aggregate(windows, call("LISTAGG", 2, of=STRING))
    stream = build(node, (source,), bench.context)
    emitted = []
    for rows in [(1, "p"), (6, "q"), (2, "r")], [(7, "s"), (20, "x")], [(21, "y")]:
        bench.put("in", *(("a", minute(m), v) for m, v in rows))
        emitted += bench.step(stream)
    assert emitted == [("+I", "a", listed) for listed in expected]


SESSIONS = """
CREATE TABLE s (ts TIMESTAMP(3), v STRING, WATERMARK FOR ts AS ts - INTERVAL '5' MINUTE)
  WITH ('connector' = 'filesystem', 'path' = '{0}/in', 'format' = 'json');
CREATE TABLE o (l STRING) WITH ('connector' = 'filesystem', 'path' = '{0}/out', 'format' = 'json');
INSERT INTO o SELECT LISTAGG(v) FROM TABLE(SESSION(TABLE s, DESCRIPTOR(ts), INTERVAL '10' MINUTE))
  GROUP BY window_start, window_end;
"""


def test_a_session_takes_its_rows_in_the_order_of_their_batches(tmp_path: Path, spark: SparkSession) -> None:
    place = Place(spark, tmp_path)
    for number, rows in enumerate([[(4, "p"), (7, "q")], [(3, "r"), (5, "s")], [(30, "x")], [(59, "y")]]):
        place.put(f"{number}", *({"ts": f"2024-01-01 00:{m:02}:00", "v": v} for m, v in rows))
        place.run(compile_script(SESSIONS.format(tmp_path)), Mode.AVAILABLE_NOW)
    assert place.rows() == [{"l": "p,q,r,s"}, {"l": "x"}]


def test_a_slice_without_values_leaves_the_separator_of_others(bench: Bench) -> None:
    of = row([("k", STRING), ("ts", ROWTIME), ("v", STRING), ("separator", STRING)])
    source = timed_source(bench, "in", of, 1)
    node = aggregate(HoppingWindow("PT10M", "PT5M"), call("LISTAGG", 2, 3, of=STRING))
    stream = build(node, (source,), bench.context)
    emitted = []
    for rows in [(1, "p"), (2, "q"), (6, None)], [(40, "x")], [(41, "y")]:
        bench.put("in", *(("a", minute(m), v, "|") for m, v in rows))
        emitted += bench.step(stream)
    assert emitted == [("+I", "a", "p|q"), ("+I", "a", "p|q"), ("+I", "a", None)]
