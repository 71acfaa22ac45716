"""Databases of Derby's in memory, and jobs over their tables."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flinkplan.executor.jobs.job import JobOptions, execute
from flinkplan.executor.prepare.modes import Mode
from flinkplan.planner import compile_script

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class Database:
    """A database of Derby's in memory, and jobs over its tables."""

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        self._spark = spark
        self.folder = folder
        self.url = f"jdbc:derby:memory:{folder.name}"
        assert spark._jvm is not None
        self._connection = spark._jvm.java.sql.DriverManager.getConnection(f"{self.url};create=true")

    def execute(self, *statements: str) -> None:
        for statement in statements:
            self._connection.createStatement().execute(statement)

    def rows(self, query: str) -> list[list[str | None]]:
        """The rows of a query, values as texts."""
        found = self._connection.createStatement().executeQuery(query)
        width = found.getMetaData().getColumnCount()
        rows = []
        while found.next():
            rows.append([found.getString(i + 1) for i in range(width)])
        return rows

    def table(self, name: str, columns: str, **more: str) -> str:
        """The statement of a table of the same name."""
        given = {"connector": "jdbc", "url": "${URL}", "table-name": name}
        given |= {key.replace("__", "-").replace("_", "."): value for key, value in more.items()}
        return f"CREATE TABLE {name} ({columns}) WITH ({', '.join(f'{k!r} = {v!r}' for k, v in given.items())});"

    def files(self, name: str, columns: str, format_: str, *rows: dict[str, Any]) -> str:
        """The statement of a table over files that hold these rows."""
        path = self.folder / name
        if rows:
            path.mkdir(exist_ok=True)
            (path / "rows").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
        return (
            f"CREATE TABLE {name} ({columns}) WITH "
            f"('connector' = 'filesystem', 'path' = '{path}', 'format' = '{format_}');"
        )

    def run(
        self,
        *statements: str,
        mode: Mode | None = None,
        streams: bool = False,
        conf: Mapping[str, str] | None = None,
    ) -> None:
        """Run a script to its end."""
        plan = compile_script("\n".join(statements))
        variables = {"URL": self.url}
        options = JobOptions(mode=mode, variables=variables, spark=self._spark, streams=streams, conf=conf or {})
        execute(plan, options).wait()

    def close(self) -> None:
        self._connection.close()
