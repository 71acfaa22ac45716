"""Lines for standard output, several of which are printed at once."""

from __future__ import annotations

import time
from typing import Any

import pytest
from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

PATIENCE = 30.0
"""Seconds within which a line must be printed."""


def test_lines_are_printed_in_their_order_and_without_anybody_asking_for_them(spark: SparkSession) -> None:
    jvm: Any = spark._jvm
    written = jvm.java.io.ByteArrayOutputStream()
    printed = jvm.flinkplan.runtime.sink.PrintedLines(jvm.java.io.PrintStream(written, True, "UTF-8"))
    lines = ["first", "", "ü" * 5000, *(f"line {i}" for i in range(300)), "last"]
    for line in lines:
        printed.add(line)
    until = time.monotonic() + PATIENCE
    while not written.toString("UTF-8").endswith("last\n"):
        assert time.monotonic() < until
    assert written.toString("UTF-8").splitlines() == lines


def test_what_is_left_is_printed_at_the_end(spark: SparkSession) -> None:
    jvm: Any = spark._jvm
    written = jvm.java.io.ByteArrayOutputStream()
    printed = jvm.flinkplan.runtime.sink.PrintedLines(jvm.java.io.PrintStream(written, True, "UTF-8"))
    for line in ("one", "two"):
        printed.add(line)
    printed.print()
    assert written.toString("UTF-8") == "one\ntwo\n"
