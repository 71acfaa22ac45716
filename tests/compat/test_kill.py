"""A job that is killed again and again writes what its input comes to, as if it had never been.

An aggregation over a join, and a window, write files.  The process is killed with SIGKILL once while it starts, once
within a batch and once between two; ``FLINKPLAN_KILLS`` sets how often it is at random moments, ``make soak`` kills 200
times.  Each process has another number of cores, and cuts its input into as many tasks.  The last one ends the input.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from flinkplan.plan.document import save
from flinkplan.planner import compile_script
from tests.compat.watched import SINKS, expected, feed, pipeline, written
from tests.killing import Kills, Place, Work

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("processes")]


def test_nothing_is_lost_and_nothing_comes_twice(tmp_path: Path) -> None:
    kills, plan, folder = Kills(*Place), tmp_path / "plan.json", tmp_path / "killed"
    save(compile_script(pipeline()), plan)
    work = Work(plan, folder, {"DIR": str(folder)})
    feeds = kills.inflict(work, lambda number: feed(folder, number), SINKS)
    assert written(folder) == expected(feeds)
