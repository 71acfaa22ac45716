"""Global windows of a million keys over a simulated hour: ``python -m tests.executor.soak_windows``.

Windows that a count purges would be kept for ever where a key never comes again; their TTL ends them.  Rows of keys by
chance come for an hour of a clock that is set by hand, and what is kept is counted on the way: behind the first TTL it
stays what it is.  Exits with 1 where it has grown.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from flinkplan.executor.build.stream import SEQUENCE
from flinkplan.executor.jvm.session import session
from flinkplan.plan.record import replace

from .building import build
from .conftest import Bench
from .operators.test_stream_windows import CLICKS, operator

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MINUTE = 60_000
GROWTH = 1.05
"""By how much what is kept may differ by chance."""


def main() -> int:
    """Run it; prints a line for each count."""
    parser = argparse.ArgumentParser(prog="python -m tests.executor.soak_windows", description=__doc__)
    parser.add_argument("--keys", type=int, default=1_000_000)
    parser.add_argument("--rows", type=int, default=100_000, help="of a batch")
    parser.add_argument("--minutes", type=int, default=60, help="of the simulated clock")
    parser.add_argument("--every", type=int, default=2, help="minutes between two batches")
    arguments = parser.parse_args()
    spark = session("local[2]", {"spark.sql.shuffle.partitions": "2"})
    spark.conf.set("spark.sql.streaming.stateStore.encodingFormat", "avro")
    with tempfile.TemporaryDirectory() as folder:
        counts = _run(spark, Path(folder), arguments)
    spark.stop()
    return int(max(counts) > GROWTH * counts[0])


def _run(spark: SparkSession, folder: Path, arguments: argparse.Namespace) -> list[int]:
    """How many keys are kept at each third of the time; all states have a TTL of a sixth of it."""
    bench = Bench(spark, folder)
    node = operator(trigger={"purging": {"count": 3}}, aggregate={"person": "person", "total": "SUM(amount)"})
    ttl = f"{arguments.minutes // 6} min"
    node = replace(node, state=tuple(replace(state, ttl=ttl) for state in node.states))
    source = bench.source("clicks", CLICKS)
    stream = build(node, (source,), bench.context)
    counts, fired = [], 0
    for minute in range(0, arguments.minutes + 1, arguments.every):
        _put(spark, folder / "clicks", minute, arguments)
        began = time.monotonic()
        fired += len(bench.step(stream, minute * MINUTE))
        taken = time.monotonic() - began
        if minute and minute % (arguments.minutes // 3) == 0:
            reader = spark.read.format("statestore").option("stateVarName", "windows")
            counts.append(reader.load(str(folder / "checkpoint")).count())
            print(f"minute {minute}: {counts[-1]:,} keys kept, {fired:,} fired, a batch in {taken:.1f} s", flush=True)
    return counts


def _put(spark: SparkSession, folder: Path, minute: int, arguments: argparse.Namespace) -> None:
    from pyspark.sql import functions as F

    number = F.col("id") + minute * arguments.rows
    person = F.pmod(F.xxhash64(number), F.lit(arguments.keys)).cast("string")
    rows = spark.range(0, arguments.rows, 1, 1).select(person.alias("c0"), F.lit(1).alias("c1"), number.alias(SEQUENCE))
    rows.write.mode("append").json(str(folder))


if __name__ == "__main__":
    sys.exit(main())
