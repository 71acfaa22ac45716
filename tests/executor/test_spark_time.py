"""Flink's times among Spark's: Java and Python shift them alike."""

from __future__ import annotations

import re
from pathlib import Path

from flinkplan.executor import event_time, runtime


def test_both_have_the_same_numbers() -> None:
    text = Path(runtime.__path__[0], "src/flinkplan/runtime/SparkTime.java").read_text("utf-8")
    numbers = {name: int(number) for name, number in re.findall(r"long (\w+) = ([\d_]+)L;", text)}
    assert numbers == {"SHIFT": event_time.SHIFT_MS, "END": event_time.END_MS}
