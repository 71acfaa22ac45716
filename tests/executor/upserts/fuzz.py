"""Queries over changing tables, run into a database that takes upserts and held against SQLite."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

from flinkplan.executor.jobs.job import Job, JobOptions, execute
from flinkplan.executor.jvm.session import PARTITIONS
from flinkplan.executor.prepare.modes import Mode
from flinkplan.planner import compile_script
from tests.executor.databases import Database

from .changes import Change, changes, content
from .relations import COLUMNS, TABLES, Relation, relation

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tests.executor.kafka.brokers import Broker

_MINI_BATCH = "table.exec.mini-batch"
SETTINGS: Sequence[dict[str, str]] = (
    {},
    {},
    {f"{_MINI_BATCH}.enabled": "true", f"{_MINI_BATCH}.allow-latency": "1 s", f"{_MINI_BATCH}.size": "3"},
    {"table.optimizer.multi-join.enabled": "true"},
    {"table.exec.source.cdc-events-duplicate": "true"},
)
"""What a script sets, one of them by chance."""
PATIENCE = 90.0
"""Seconds that a query in real-time mode has for its rows."""
CONFLICTS = {"table.exec.sink.require-on-conflict": "false"}


@dataclass(frozen=True)
class Example:
    """Tables and how they change, and queries over them."""

    seed: int
    tables: Mapping[str, Sequence[Change]]
    queries: Sequence[Relation]
    settings: Mapping[str, str]
    batches: int
    partitions: int

    @classmethod
    def of(cls, seed: int, queries: int) -> Example:
        """The one of a seed."""
        random = Random(seed)
        return cls(
            seed,
            {table: changes(random, random.choice((6, 15, 40))) for table in TABLES},
            [relation(random, random.choice((1, 1, 2, 2, 3))) for _ in range(queries)],
            random.choice(SETTINGS) | CONFLICTS,
            random.randint(1, 4),
            random.choice((1, 1, 3)),
        )

    def expected(self) -> list[list[list[str | None]]]:
        """The rows of each query, sorted, values as texts."""
        with closing(sqlite3.connect(":memory:")) as connection:
            for table, made in self.tables.items():
                connection.execute(f"CREATE TABLE {table} ({', '.join(COLUMNS)})")
                connection.executemany(f"INSERT INTO {table} VALUES (?, ?, ?)", content(made))
            return [_sorted(connection.execute(query.sql).fetchall()) for query in self.queries]

    def script(self, sources: Sequence[str], sinks: Sequence[str]) -> str:
        """The script that writes each query into the table of its place in ``sinks``."""
        sets = [f"SET '{key}' = '{value}';" for key, value in self.settings.items()]
        inserts = [f"INSERT INTO o{i} {query.sql};" for i, query in enumerate(self.queries)]
        return "\n".join([*sets, *sources, *sinks, "EXECUTE STATEMENT SET BEGIN", *inserts, "END;"])


def columns_of(query: Relation) -> str:
    """The columns of a sink's table, with its key."""
    key = ", ".join(f"c{i}" for i in query.key)
    return f"{', '.join(f'{c} INT' for c in query.columns)}, PRIMARY KEY ({key}) NOT ENFORCED"


class Run:
    """A run of an example into a database of its own.

    The changes come in files in ``folder``, as Debezium writes them, or with a ``broker`` as upserts.
    """

    def __init__(self, example: Example, spark: SparkSession, folder: Path, broker: Broker | None = None) -> None:
        self._example = example
        self._broker = broker
        self._spark = spark
        self._folder = folder
        self._database = Database(spark, folder)
        for i, query in enumerate(example.queries):
            columns = [f"c{c} INT{' NOT NULL' if c in query.key else ''}" for c in range(query.width)]
            key = ", ".join(f"c{c}" for c in query.key)
            self._database.execute(f"CREATE TABLE o{i} ({', '.join(columns)}, PRIMARY KEY ({key}))")

    def close(self) -> None:
        self._database.close()

    def bounded(self) -> list[int]:
        """Run it over all changes; the places of the queries whose results are not SQLite's."""
        self._add(0, 1)
        self._execute(Mode.BOUNDED).wait()
        return self._wrong()

    def available_now(self) -> list[int]:
        """The same in batches that go on from each other."""
        for batch in range(self._example.batches):
            self._add(batch, self._example.batches)
            self._execute(Mode.AVAILABLE_NOW).wait()
        return self._wrong()

    def real_time(self) -> list[int]:
        """The same row by row, stopped once on the way."""
        for part in range(2):
            self._add(part, 2)
            job = self._execute(Mode.REAL_TIME)
            end = time.monotonic() + PATIENCE
            try:
                while (wrong := self._wrong(part + 1, 2)) and time.monotonic() < end:
                    job.wait(0.5)
            finally:
                job.stop()
        return wrong

    def _add(self, part: int, parts: int) -> None:
        for table, made in self._example.tables.items():
            if self._broker is not None:
                for change in _slice(made, part, parts):
                    key, value = change.upsert()
                    self._broker.put(self._topic(table), value, key=key, partition=key["id"] % 2)
                continue
            folder = self._folder / table
            folder.mkdir(exist_ok=True)
            lines = (json.dumps(change.debezium()) for change in _slice(made, part, parts))
            (folder / f".{part}").write_text("".join(f"{line}\n" for line in lines))
            (folder / f".{part}").rename(folder / f"{part}")

    def _topic(self, table: str) -> str:
        return f"{self._folder.name}-{table}"

    def _source(self, table: str, mode: Mode) -> str:
        """The statement of a table of changes."""
        options = {"connector": "filesystem", "path": str(self._folder / table), "format": "debezium-json"}
        if mode is Mode.REAL_TIME:
            options["source.monitor-interval"] = "1 s"
        if self._broker is not None:
            options = {
                "connector": "upsert-kafka",
                "topic": self._topic(table),
                "properties.bootstrap.servers": self._broker.servers,
                "key.format": "json",
                "value.format": "json",
            }
        given = ", ".join(f"'{key}' = '{value}'" for key, value in options.items())
        return f"CREATE TABLE {table} (id INT, k INT, v INT, PRIMARY KEY (id) NOT ENFORCED) WITH ({given});"

    def _execute(self, mode: Mode) -> Job:
        example, database = self._example, self._database
        sinks = [database.table(f"o{i}", columns_of(query)) for i, query in enumerate(example.queries)]
        sources = [self._source(table, mode) for table in example.tables]
        options = JobOptions(
            checkpoint=str(self._folder / "checkpoint"),
            variables={"URL": database.url},
            mode=mode,
            spark=self._spark,
            conf={} if mode is Mode.REAL_TIME else {PARTITIONS: str(example.partitions)},
        )
        return execute(compile_script(example.script(sources, sinks)), options)

    def _wrong(self, part: int = 1, parts: int = 1) -> list[int]:
        """The places of the queries whose results are not SQLite's over the first parts of all changes."""
        tables = {table: made[: len(made) * part // parts] for table, made in self._example.tables.items()}
        wanted = replace(self._example, tables=tables).expected()
        found = [_sorted(self._database.rows(f"SELECT * FROM o{i}")) for i in range(len(wanted))]
        return [i for i, rows in enumerate(found) if rows != wanted[i]]


def _slice(made: Sequence[Change], part: int, parts: int) -> Sequence[Change]:
    return made[len(made) * part // parts : len(made) * (part + 1) // parts]


def _sorted(rows: Sequence[Sequence[object]]) -> list[list[str | None]]:
    texts = [[None if value is None else str(value) for value in row] for row in rows]
    return sorted(texts, key=lambda row: [(value is not None, value or "") for value in row])
