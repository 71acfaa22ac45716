"""The order in which the keys of an operator with state come: that of the bytes under which RocksDB keeps them."""

from __future__ import annotations

from itertools import groupby
from random import Random
from typing import Any

import pytest
from pyspark.sql import SparkSession

from flinkplan.executor.prepare.modes import Mode
from flinkplan.planner import compile_script

from ..jobs import Place, stream_of

pytestmark = pytest.mark.spark

SCRIPT = """\
CREATE TABLE t (k {type}, v INT) WITH ('connector' = 'filesystem', 'path' = '{root}/in', 'format' = 'json');
CREATE TABLE o (k {type}, n BIGINT) WITH ('connector' = 'filesystem', 'path' = '{root}/out',
  'format' = 'debezium-json');
INSERT INTO o SELECT k, COUNT(DISTINCT v) FROM t GROUP BY k;
"""
NUMBERS = range(100, 500, 3)
KEYS = {
    "TIMESTAMP(3)": [f"2024-01-01 {n // 60:02}:{n % 60:02}:00" for n in NUMBERS],
    "DATE": [f"{1900 + n // 12}-{n % 12 + 1:02}-03" for n in NUMBERS],
}


def avro(number: int) -> bytes:
    """A whole number as Avro writes it: zigzag, seven bits a byte, the lowest ones first."""
    rest = (number << 1) ^ (number >> 63)
    written = bytearray()
    while rest > 0x7F:
        written.append(rest & 0x7F | 0x80)
        rest >>= 7
    return bytes([*written, rest])


def test_numbers_of_one_length_stand_in_the_order_of_their_bytes(spark: SparkSession) -> None:
    jvm: Any = spark._jvm
    random = Random(7)
    numbers = {random.randint(-(2**bits), 2**bits) for bits in range(63) for _ in range(4)} | {-(2**63), 2**63 - 1}
    ordered = sorted(numbers, key=lambda n: jvm.flinkplan.runtime.state.KeyOrder.asStored(n))
    for _, alike in groupby(sorted(ordered, key=lambda n: len(avro(n))), lambda n: len(avro(n))):
        written = [avro(n) for n in alike]
        assert written == sorted(written)


def test_each_number_has_a_place_of_its_own(spark: SparkSession) -> None:
    jvm: Any = spark._jvm
    numbers = [sign * 2**bit + near for bit in range(63) for near in (-1, 0, 1) for sign in (1, -1)]
    assert len({jvm.flinkplan.runtime.state.KeyOrder.asStored(n) for n in numbers}) == len(set(numbers))


@pytest.mark.parametrize(
    ("type_", "ordered"), [("INT", True), ("BIGINT", True), ("TIMESTAMP(3)", True), ("DATE", True), ("STRING", False)]
)
def test_rows_are_brought_to_kernels_in_that_order(place: Place, type_: str, ordered: bool) -> None:
    place.put("0", *({"k": key, "v": v} for v in range(3) for key in [*KEYS.get(type_, NUMBERS), None]))
    job = place.start(compile_script(SCRIPT.format(root=place.root, type=type_)), Mode.STREAMING)
    try:
        stream = stream_of(job)
        stream.handle.processAllAvailable()
        query: Any = stream.handle
        plan = query._jsq.streamingQuery().lastExecution().executedPlan().toString()
    finally:
        job.stop()
    assert any("Sort [" in line and "asStored" in line for line in plan.splitlines()) == ordered
    assert sorted(row["after"]["n"] for row in place.rows()) == [3] * (len(NUMBERS) + 1)
