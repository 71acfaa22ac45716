"""A job that is killed again and again writes what one that is never killed writes.

An aggregation over a join, and a window, write files.  ``FLINKPLAN_KILLS`` sets how often the process is killed, with
SIGKILL at random moments: while it starts, within a batch, or between two; ``make soak`` kills 200 times.  Each process
has another number of cores, and cuts its input into as many tasks.  The last one ends the input.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from flinkplan.plan.document import save
from flinkplan.planner import compile_script
from tests.compat.watched import SINKS, feed, pipeline, written
from tests.killing import Kills, Work

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("processes")]


def test_nothing_is_lost_and_nothing_comes_twice(tmp_path: Path, classes: Path) -> None:
    kills, plan = Kills(4), tmp_path / "plan.json"
    save(compile_script(pipeline()), plan)
    killed, whole = tmp_path / "killed", tmp_path / "whole"
    for number in range(kills.feeds):
        feed(whole, number)
    Work(plan, whole, {"DIR": str(whole)}, classes).finish()
    assert all(written(whole).values())

    kills.inflict(Work(plan, killed, {"DIR": str(killed)}, classes), lambda number: feed(killed, number), SINKS)
    assert written(killed) == written(whole)
