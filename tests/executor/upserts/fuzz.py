"""Queries over changing tables, run into a database that takes upserts and held against SQLite."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

from flinkplan.executor.context import Mode
from flinkplan.executor.job import JobOptions, execute
from flinkplan.executor.session import PARTITIONS
from flinkplan.planner import compile_script
from tests.executor.databases import Database

from .changes import Change, changes, content
from .relations import COLUMNS, TABLES, Relation, relation

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SETTINGS = (
    {},
    {},
    {
        "table.exec.mini-batch.enabled": "true",
        "table.exec.mini-batch.allow-latency": "1 s",
        "table.exec.mini-batch.size": "3",
    },
    {"table.optimizer.multi-join.enabled": "true"},
    {"table.exec.source.cdc-events-duplicate": "true"},
)
"""What a script sets, one of them by chance."""
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


def wrong_queries(example: Example, spark: SparkSession, folder: Path, mode: Mode) -> list[int]:
    """The places of the queries whose results in the database are not SQLite's; the files come in ``folder``."""
    database = Database(spark, folder)
    try:
        for i, query in enumerate(example.queries):
            columns = [f"c{c} INT{' NOT NULL' if c in query.key else ''}" for c in range(query.width)]
            key = ", ".join(f"c{c}" for c in query.key)
            database.execute(f"CREATE TABLE o{i} ({', '.join(columns)}, PRIMARY KEY ({key}))")
        sinks = [database.table(f"o{i}", columns_of(query)) for i, query in enumerate(example.queries)]
        declared = "id INT, k INT, v INT, PRIMARY KEY (id) NOT ENFORCED"
        sources = [database.files(table, declared, "debezium-json") for table in example.tables]
        plan = compile_script(example.script(sources, sinks))
        batches = 1 if mode is Mode.BOUNDED else example.batches
        for batch in range(batches):
            for table, made in example.tables.items():
                part = made[len(made) * batch // batches : len(made) * (batch + 1) // batches]
                _add(folder / table, f"{batch}", part)
            options = JobOptions(
                checkpoint=str(folder / "checkpoint"),
                variables={"URL": database.url},
                mode=mode,
                spark=spark,
                conf={PARTITIONS: str(example.partitions)},
            )
            execute(plan, options).wait()
        found = [_sorted(database.rows(f"SELECT * FROM o{i}")) for i in range(len(example.queries))]
    finally:
        database.close()
    wanted = example.expected()
    return [i for i, rows in enumerate(found) if rows != wanted[i]]


def _add(folder: Path, name: str, made: Sequence[Change]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f".{name}").write_text("".join(f"{json.dumps(change.debezium())}\n" for change in made))
    (folder / f".{name}").rename(folder / name)


def _sorted(rows: Sequence[Sequence[object]]) -> list[list[str | None]]:
    texts = [[None if value is None else str(value) for value in row] for row in rows]
    return sorted(texts, key=lambda row: [(value is not None, value or "") for value in row])
