"""Whether Spark can run all tasks of a job at once, as real-time mode has them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from ...plan.errors import FlinkplanError
from ..jvm.session import PARTITIONS
from ..prepare.query import QueryPlan
from ..prepare.real_time import task_slots

if TYPE_CHECKING:
    from pyspark import SparkContext

SHORTEST_INTERVAL = 5.0
"""Spark takes no more checkpoints than one in so many seconds."""

_LOCAL = re.compile(r"local(?:\[(\*|\d+)(?:,\d+)?\])?")


def check_interval(seconds: float) -> None:
    """Raise :class:`FlinkplanError` for an interval between checkpoints that Spark refuses."""
    if seconds < SHORTEST_INTERVAL:
        raise FlinkplanError(
            f"real-time mode takes a checkpoint every {SHORTEST_INTERVAL:g} s at the most, not every {seconds:g} s",
            hint=f"--checkpoint-interval {SHORTEST_INTERVAL:g}s",
        )


def master_with(slots: int, master: str | None) -> str | None:
    """``master``, a local one with threads for so many tasks at once."""
    match = _LOCAL.fullmatch(master or "local[*]")
    if match is None:
        return master
    threads = match[1] or "1"
    own = os.cpu_count() or 1 if threads == "*" else int(threads)
    return f"local[{max(slots, own)}]"


def check_slots(slots: int, spark: SparkContext) -> None:
    """Raise :class:`FlinkplanError` where Spark on this machine, or as many executors as were asked for, have too few.

    Of executors that come and go nobody knows how many there will be; Spark says it when it has too few.
    """
    master, conf = spark.master or "", spark.getConf()
    executors = conf.get("spark.executor.instances")
    if _LOCAL.fullmatch(master):
        available, hint = spark.defaultParallelism, f"--master local[{slots}]"
    elif executors is not None:
        available = int(executors) * int(conf.get("spark.executor.cores") or 1)
        hint = "more executors: --conf spark.executor.instances=N, or more cores for each: spark.executor.cores"
    else:
        return
    if slots > available:
        raise FlinkplanError(
            f"in real-time mode all tasks run at once: the job has {slots}, and {available} can; "
            f"{slots - available} slots are missing",
            hint=f"{hint}; or bring rows together in fewer partitions: --conf {PARTITIONS}=1",
        )


def slots_of(queries: Iterable[QueryPlan], partitions: int) -> int:
    """The slots of all queries of a job."""
    return sum(task_slots(query, partitions) for query in queries)
