"""A plan that Flink has compiled, which runs as it is.

Flink's connector is a jar of its own, so what its planner asks of it was asked of a stand-in: ``flink/compile.py``.
"""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from flinkplan.executor.prepare.modes import Mode
from flinkplan.plan.document import load

from .brokers import PARTITIONS
from .clusters import Cluster

PLAN = Path(__file__).parent / "flink" / "plan.json"
PATIENCE = 60.0


@pytest.mark.spark
def test_a_plan_of_flinks_runs_unchanged(cluster: Cluster) -> None:
    for second in range(0, 36, 3):
        order = {"id": second, "product": f"p{second % 2}", "amount": second % 5, "ts": f"2024-01-01 00:00:{second:02}"}
        for partition in range(PARTITIONS):
            cluster.broker.put("flink-orders", order, partition=partition)
    job = cluster.begin(load(PLAN), Mode.STREAMING)
    deadline = time.monotonic() + PATIENCE
    try:
        while len(found := list(cluster.broker.messages("flink-counted"))) < 3 and time.monotonic() < deadline:
            job.wait(0.5)
    finally:
        job.stop()
    rows = [(json.loads(message.value() or b"{}"), message.timestamp()[1]) for message in found]
    assert sorted((*row.values(), told) for row, told in rows) == [
        ("2024-01-01 00:00:00", "p0", 4, 2, 4),
        ("2024-01-01 00:00:00", "p1", 28, 3, 8),
        ("2024-01-01 00:00:10", "p0", 20, 6, 8),
    ]
