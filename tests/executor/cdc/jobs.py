"""Scripts over the tables of a PostgreSQL server."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flinkplan.executor.jobs.job import Job, JobOptions, execute
from flinkplan.executor.prepare.modes import Mode
from flinkplan.planner import compile_script
from tests.executor.mariadb_server import MariaDb
from tests.executor.postgres_server import PASSWORD, USER, Server
from tests.killing import changes, left

if TYPE_CHECKING:
    from collections import Counter

    from pyspark.sql import SparkSession

_SLOTS = count()


class Capturing:
    """Runs scripts over tables of a server, with a slot of its own and files in a folder."""

    def __init__(self, server: Server | MariaDb, spark: SparkSession, folder: Path) -> None:
        self.server = server
        self._spark = spark
        self.folder = folder
        self.slot = f"slot_{next(_SLOTS)}"

    def source(self, name: str, columns: str, **options: str) -> str:
        """The statement of a table over the one of the same name."""
        given = {
            "connector": "postgres-cdc",
            "hostname": "127.0.0.1",
            "port": "${PORT}",
            "username": USER,
            "password": "${PASSWORD}",
            "database-name": "postgres",
            "schema-name": "public",
            "table-name": name,
            "slot.name": self.slot,
            "decoding.plugin.name": "pgoutput",
        } | {key.replace("__", "-").replace("_", "."): value for key, value in options.items()}
        written = ", ".join(f"'{key}' = '{value}'" for key, value in given.items())
        return f"CREATE TABLE {name} ({columns}) WITH ({written});"

    def files(self, name: str, columns: str, format_: str = "debezium-json") -> str:
        """The statement of a table of files in the folder of that name."""
        path = self.folder / name
        options = f"'connector' = 'filesystem', 'path' = '{path}', 'format' = '{format_}'"
        return f"CREATE TABLE `{name}` ({columns}) WITH ({options});"

    def start(self, *statements: str, mode: Mode) -> Job:
        """Start a script, or go on with it from its checkpoint."""
        options = JobOptions(
            checkpoint=str(self.folder / "checkpoint"),
            mode=mode,
            variables={"PORT": str(self.server.port), "PASSWORD": PASSWORD},
            spark=self._spark,
        )
        return execute(compile_script("\n".join(statements)), options)

    def run(self, *statements: str, mode: Mode = Mode.AVAILABLE_NOW) -> None:
        """Run a script over what there is."""
        self.start(*statements, mode=mode).wait()

    @contextmanager
    def running(self, *statements: str) -> Iterator[Job]:
        """A stream until the end of the block."""
        job = self.start(*statements, mode=Mode.STREAMING)
        try:
            yield job
        finally:
            job.stop()

    def changes(self, name: str = "out") -> list[dict[str, Any]]:
        """What has been written to a table, in order."""
        return list(changes(self.folder / name))

    def left(self, name: str = "out") -> Counter[tuple[Any, ...]]:
        """The rows that a changelog leaves."""
        return left(self.folder / name)

    def lines(self, name: str = "out") -> list[dict[str, Any]]:
        """The rows of a table of JSON."""
        files = sorted(f for f in (self.folder / name).rglob("*") if f.is_file() and f.name[0] != ".")
        return [json.loads(line) for file in files for line in file.read_text().splitlines()]
