"""Makes state under one plan, restarts under another, and looks at what comes out."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from flinkplan.compat.diff import Source, diff_texts
from flinkplan.compat.verdicts import Verdict
from flinkplan.executor.jobs.job import JobOptions, execute
from flinkplan.executor.prepare.modes import Mode
from flinkplan.executor.prepare.python_classes import PythonCode
from flinkplan.plan.document import Plan, dumps
from flinkplan.plan.errors import FlinkplanError
from tests.compat.truths import TRUTHS, Files, Truth

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


def put(folder: Path, files: Files) -> None:
    """Write the rows of tables as files that appear whole."""
    for name, rows in files.items():
        file = folder / "in" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("".join(json.dumps(row) + "\n" for row in rows))


@dataclass(frozen=True)
class Runner:
    """Runs plans over the tables of a folder."""

    spark: SparkSession
    folder: Path

    def run(self, plan: Plan) -> None:
        """Run what is there and stop."""
        options = JobOptions(
            str(self.folder / "checkpoint"),
            variables={"DIR": str(self.folder)},
            mode=Mode.AVAILABLE_NOW,
            spark=self.spark,
            python=PythonCode(modules=("tests.parity.datastream.window_classes",)),
        )
        execute(plan, options).wait()


Change = tuple[Any, ...]
"""``c`` or ``d``, then the row."""


def changes(folder: Path) -> dict[Path, list[Change]]:
    """What was written, by file."""
    files = (p for p in folder.rglob("*") if p.is_file() and not p.name.startswith("."))
    return {file: [_change(json.loads(line)) for line in file.read_text().splitlines()] for file in files}


def _change(change: dict[str, Any]) -> Change:
    row = change["after"] if change["op"] == "c" else change["before"]
    return (change["op"], *row.values())


def rows(written: Iterable[Change]) -> Counter[tuple[Any, ...]]:
    """The rows that changes leave."""
    counts: Counter[tuple[Any, ...]] = Counter()
    for op, *row in written:
        counts[tuple(row)] += 1 if op == "c" else -1
    return +counts


def restart(truth: Truth, runner: Runner) -> tuple[list[Change], list[Change]]:
    """Run the old plan, then the new one; returns what each wrote."""
    out = runner.folder / "out"
    old, new = truth.plans
    put(runner.folder, truth.first)
    runner.run(old)
    before = changes(out)
    put(runner.folder, truth.second)
    runner.run(new)
    after = {file: lines for file, lines in changes(out).items() if file not in before}
    return [*chain.from_iterable(before.values())], [*chain.from_iterable(after.values())]


def judged(truth: Truth) -> Verdict:
    """What is said of the checkpoint before."""
    old, new = map(dumps, truth.plans)
    return diff_texts(Source("old", old), Source("new", new), locate=False).spark


def never_stopped(truth: Truth, runner: Runner) -> Counter[tuple[Any, ...]]:
    """The rows of a run of the new plan over everything."""
    if truth.uninterrupted is not None:
        return Counter(truth.uninterrupted)
    put(runner.folder, truth.first)
    put(runner.folder, truth.second)
    runner.run(truth.plans[1])
    return rows(chain.from_iterable(changes(runner.folder / "out").values()))


GOING_ON = [truth for truth in TRUTHS if truth.refused is None]
REPEATED = {
    "ttl-changed",
    "old-entries-keep-their-expiry",
    "filter-changed",
    "having-added",
    "having-removed",
    "aggregates-reordered",
    "filter-pushed-down",
    "one-phase",
    "rank-shown",
    "watermark-changed",
    "window-changed",
    "window-lateness-shortened",
    "window-lateness-lengthened",
    "window-keys-changed",
}
"""Truths of rules that others show as well, over the same types of nodes."""
NIGHTLY = pytest.mark.nightly("others restart the same types of nodes after changes by the same rules")


@pytest.mark.parametrize(
    "truth",
    [pytest.param(truth, marks=NIGHTLY if truth.name in REPEATED else (), id=truth.name) for truth in GOING_ON],
)
def test_spark_goes_on(truth: Truth, spark: SparkSession, tmp_path: Path) -> None:
    _, after = restart(truth, Runner(spark, tmp_path))
    assert sorted(after, key=str) == sorted(truth.expected, key=str)


@pytest.mark.nightly("what a job writes that never stops is compared with what test_spark_goes_on expects")
@pytest.mark.parametrize("truth", GOING_ON, ids=lambda truth: truth.name)
def test_a_stop_shows_where_it_is_judged_to(truth: Truth, spark: SparkSession, tmp_path: Path) -> None:
    shows = judged(truth) is Verdict.INCOMPATIBLE
    if not (truth.seamless or shows):
        pytest.skip("the truth does not say whether a stop shows")
    before, after = restart(truth, Runner(spark, tmp_path))
    if truth.seamless:
        assert rows(after) == never_stopped(truth, Runner(spark, tmp_path / "again"))
    if shows:
        assert rows([*before, *after]) != never_stopped(truth, Runner(spark, tmp_path / "again"))


@pytest.mark.parametrize("truth", [t for t in TRUTHS if t.refused is not None], ids=lambda truth: truth.name)
def test_spark_refuses(truth: Truth, spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(FlinkplanError) as refused:
        restart(truth, Runner(spark, tmp_path))
    assert truth.refused is not None
    assert truth.refused in str(refused.value)
