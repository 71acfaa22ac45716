"""Runs the old plan of a change, migrates its checkpoint, runs the new plan, and compares with the new plan alone."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from flinkplan.cli.migrate_checkpoint import write_migrated
from flinkplan.cli.state_change import StateChange
from flinkplan.compat.comparing import compare
from flinkplan.compat.migration.changed_sinks import changed_sinks
from flinkplan.compat.migration.null_keys import for_checkpoint
from flinkplan.compat.migration.planning import migration_of
from flinkplan.compat.migration.recipe import Allowed
from flinkplan.executor.jobs.job import JobOptions, execute
from flinkplan.executor.prepare.modes import Mode
from flinkplan.plan.document import Plan, dumps, loads, plan_from_json
from flinkplan.state.form import StateError
from tests.compat.truths import Files, Truth

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Rows = Counter[tuple[str, ...]]
"""How often a row was added less how often it was taken back; its first value is the sink."""


def put(folder: Path, files: Files) -> None:
    """Write the rows of tables as files."""
    for name, rows in files.items():
        file = folder / "in" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("".join(json.dumps(row) + "\n" for row in rows))


def written(folder: Path) -> Mapping[Path, Rows]:
    """The net rows of each file that sinks have written."""
    files = [f for f in (folder / "out").rglob("*") if f.is_file() and not f.name.startswith(".")]
    return {file: Counter(dict(_net(file, file.relative_to(folder / "out").parts[0]))) for file in files}


def _net(file: Path, sink: str) -> Iterator[tuple[tuple[str, ...], int]]:
    counts: Rows = Counter()
    for change in map(json.loads, file.read_text().splitlines()):
        is_added = change["op"] == "c"
        row = change["after"] if is_added else change["before"]
        counts[sink, *map(str, row.values())] += 1 if is_added else -1
    yield from counts.items()


def total(files: Mapping[Path, Rows]) -> dict[tuple[str, ...], int]:
    """The net rows of several files."""
    counts: Rows = Counter()
    for rows in files.values():
        for row, number in rows.items():
            counts[row] += number
    return {row: number for row, number in counts.items() if number}


def in_folder(plan: Plan, folder: Path) -> Plan:
    """The plan over tables in a folder, all of whose sinks write changes into files."""
    document = json.loads(dumps(plan))
    for node in document["nodes"]:
        table = node.get("dynamicTableSink", {}).get("table", {})
        if "resolvedTable" in table:
            name = table["identifier"].rpartition(".")[2].strip("`")
            options = {"connector": "filesystem", "path": f"${{DIR}}/out/{name}", "format": "debezium-json"}
            table["resolvedTable"]["options"] = options
    return loads(dumps(plan_from_json(document)).replace("${DIR}", str(folder)))


@dataclass(frozen=True)
class Outcome:
    """What became of a change: ``refused`` with a reason, or the rows of the migrated job and those of a new one.

    ``after`` are the net rows since the migration, ``all`` those of both plans together.  ``has_first_rows``: the sinks
    got what the change itself adds and takes back.
    """

    refused: str = ""
    after: Mapping[tuple[str, ...], int] = None  # type: ignore[assignment]
    all: Mapping[tuple[str, ...], int] = None  # type: ignore[assignment]
    expected_after: Mapping[tuple[str, ...], int] = None  # type: ignore[assignment]
    expected: Mapping[tuple[str, ...], int] = None  # type: ignore[assignment]
    has_first_rows: bool = False

    @property
    def is_right(self) -> bool:
        """Whether the rows are those of a new job: all of them with first rows, else those since the change."""
        return self.all == self.expected if self.has_first_rows else self.after == self.expected_after


def migrate(plans: tuple[Plan, Plan], files: tuple[Files, Files], folder: Path, spark: SparkSession) -> Outcome:
    """Migrate a job between two files of input."""
    comparison = compare(*plans)
    migration = for_checkpoint(comparison, migration_of(comparison).settled(Allowed()))
    refusals = [f"{where}: {why}; {fix}" for where, why, fix in migration.refusals(Allowed())]
    if refusals:
        return Outcome("; ".join(refusals))
    sinks = changed_sinks(comparison, migration)
    if obstacles := [f"{sink.name}: {sink.obstacle}" for sink in sinks if sink.obstacle]:
        return Outcome("; ".join(obstacles))
    work = folder / "migrated"
    old, new = (in_folder(plan, work) for plan in plans)
    put(work, files[0])
    _run(old, work / "checkpoint", spark)
    before = written(work)
    change = StateChange(str(work / "checkpoint"), (old, new), migration, str(work / "target"))
    try:
        write_migrated(change, sinks, spark)
    except StateError as e:
        return Outcome(f"{type(e).__name__}: {e}")
    put(work, files[1])
    _run(new, work / "target", spark)
    every = written(work)
    alone = folder / "alone"
    again = in_folder(plans[1], alone)
    put(alone, files[0])
    _run(again, alone / "checkpoint", spark)
    first = written(alone)
    put(alone, files[1])
    _run(again, alone / "checkpoint", spark)
    expected = written(alone)
    return Outcome(
        "",
        total({file: rows for file, rows in every.items() if file not in before}),
        total(every),
        total({file: rows for file, rows in expected.items() if file not in first}),
        total(expected),
        bool(sinks),
    )


def _run(plan: Plan, checkpoint: Path, spark: SparkSession) -> None:
    execute(plan, JobOptions(str(checkpoint), mode=Mode.AVAILABLE_NOW, spark=spark)).wait()


def of_truth(truth: Truth, folder: Path, spark: SparkSession) -> Outcome:
    """Migrate a job by a change that was tried on Spark or Flink."""
    return migrate(truth.plans, (truth.first, truth.second), folder, spark)
