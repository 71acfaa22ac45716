"""Flink's times among Spark's: Java and Python shift them alike."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from flinkplan.executor import runtime
from flinkplan.executor.build.time import event_time


def test_both_have_the_same_numbers() -> None:
    text = Path(runtime.__path__[0], "src/flinkplan/runtime/watermark/SparkTime.java").read_text("utf-8")
    numbers = {name: int(number) for name, number in re.findall(r"long (\w+) = ([\d_]+)L;", text)}
    assert numbers == {"SHIFT": event_time.SHIFT_MS, "END": event_time.END_MS}


@pytest.mark.parametrize(
    ("spark", "flink"),
    [
        (None, None),
        ("1970-01-01T00:00:00.000Z", None),
        ("2219-03-20T04:26:40.000Z", "0001-01-01 00:00:00.000"),
        ("4242-05-17T16:26:40.123Z", "2024-02-29 12:00:00.123"),
        ("9998-05-17T04:26:40.000Z", "7780-02-29 00:00:00.000"),
        ("+10000-01-01T00:00:00.000Z", "7781-10-14 19:33:20.000"),
        ("+12218-03-19T04:26:39.999Z", "9999-12-31 23:59:59.999"),
        ("+12218-03-19T04:26:40.000Z", "10000-01-01 00:00:00.000"),
        ("+33658-09-27T01:46:39.999Z", "31440-07-11 21:19:59.999"),
        ("+33658-09-27T01:46:40.000Z", event_time.END),
    ],
)
def test_a_watermark_ends_the_input_at_its_own_time_alone(spark: str | None, flink: str | None) -> None:
    assert event_time.watermark_text(spark) == flink
