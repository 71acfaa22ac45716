"""Scripts over the topics of a broker."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flinkplan.executor.jobs.job import Job, JobOptions, execute
from flinkplan.executor.jobs.progress import QueryProgress
from flinkplan.executor.prepare.modes import Mode
from flinkplan.plan.document import Plan
from flinkplan.planner import compile_script

from .brokers import Broker

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class Cluster:
    """Runs scripts over the topics of a broker and files in a folder."""

    def __init__(self, broker: Broker, spark: SparkSession, folder: Path) -> None:
        self.broker = broker
        self.spark = spark
        self.folder = folder
        self.progress: list[QueryProgress] = []

    def table(self, name: str, columns: str, **options: str) -> str:
        """The statement of a table over the topic of the same name."""
        given = {"connector": "kafka", "topic": name, "properties.bootstrap.servers": "${BROKERS}"}
        given |= {key.replace("__", "-").replace("_", "."): value for key, value in options.items()}
        options_text = ", ".join(f"'{key}' = '{value}'" for key, value in given.items())
        return f"CREATE TABLE {name} ({columns}) WITH ({options_text});"

    def source(self, name: str, columns: str, **options: str) -> str:
        """The same, read from its beginning to its end."""
        positions = {"scan_startup_mode": "earliest-offset", "scan_bounded_mode": "latest-offset"}
        return self.table(name, columns, **({} if "connector" in options else positions), **options)

    def out(self, columns: str, format_: str = "json") -> str:
        """The statement of the table ``out`` of files."""
        path = self.folder / "out"
        return (
            f"CREATE TABLE `out` ({columns}) WITH "
            f"('connector' = 'filesystem', 'path' = '{path}', 'format' = '{format_}');"
        )

    def run(self, *statements: str, mode: Mode | None = None, streams: bool = False) -> None:
        """Run a script to its end; a later one goes on from its checkpoint."""
        self.start(*statements, mode=mode, streams=streams).wait()

    def start(self, *statements: str, mode: Mode | None = None, streams: bool = False) -> Job:
        """Start a script; ``streams``: bounded input, too, in micro-batches."""
        return self.begin(compile_script("\n".join(statements)), mode, streams)

    def execute(self, plan: Plan, mode: Mode | None = None) -> None:
        """Run a plan to its end."""
        self.begin(plan, mode).wait()

    def begin(self, plan: Plan, mode: Mode | None, streams: bool = False) -> Job:
        """Start a plan, as :meth:`start` does a script."""
        options = JobOptions(
            checkpoint=str(self.folder / "checkpoint"),
            mode=mode,
            variables={"BROKERS": self.broker.servers},
            listener=self,
            spark=self.spark,
            streams=streams,
        )
        return execute(plan, options)

    def batch_done(self, progress: QueryProgress) -> None:
        self.progress.append(progress)

    def rows(self) -> list[dict[str, Any]]:
        """The rows of the table ``out``."""
        files = sorted(f for f in (self.folder / "out").rglob("*") if f.is_file() and f.name[0] != ".")
        return [json.loads(line) for file in files for line in file.read_text().splitlines()]
