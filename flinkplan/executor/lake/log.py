"""What a writer in Java asks of a table's log."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Protocol
from urllib.parse import unquote

from ...plan.errors import FlinkplanError
from ...plan.record import Record

DELETED = "__deleted"
"""The column that says that a key has no row any more."""

KIND = "__kind"
"""The column with the kind of a change: 0 for +I, 1 for -U, 2 for +U and 3 for -D."""


class DataFile(Record):
    """A Parquet file of a table: its path below the table's directory, and the texts of the partition columns."""

    path: str
    partition: Mapping[str, str | None]


class TableLog(Protocol):
    """The log of a table.  A writer is a query of a job, a batch one of its commits."""

    def holds(self, writer: str, batch: int) -> bool:
        """Whether a batch, or a later one of the same writer, has been committed."""

    def commit(self, writer: str, batch: int, files: list[DataFile]) -> None:
        """Add files to the table, as one version.  Raises :class:`FlinkplanError` where the table has changed."""

    def merge(self, writer: str, batch: int, paths: list[str]) -> None:
        """Put rows in the place of those of their primary keys, or remove these, as one version.

        The local Parquet files at ``paths`` have the columns of the table and :data:`DELETED`, and each key once.
        Where the writer keeps all changes they have :data:`KIND` instead, and each file all changes of its keys, in
        order.
        """

    def append(self, writer: str, batch: int, paths: list[str]) -> None:
        """Add the rows of the local Parquet files at ``paths``, as one version."""

    def overwrite(self, writer: str, batch: int, paths: list[str], partition: Mapping[str, str]) -> None:
        """Put the rows of the local Parquet files at ``paths`` in place of others, as one version.

        They replace those of the partitions that they are of, or of the ``partition`` that was named; in a table
        without partitions all.
        """


class JavaTableLog:
    """A log as ``PythonMethods.java`` asks it: by the name of the method and its arguments, all as JSON."""

    class Java:
        """What the object is for Java."""

        implements = ("java.util.function.BiFunction",)

    def __init__(self, log: TableLog) -> None:
        self._log = log

    def apply(self, method: str, arguments: str) -> str:
        """The answer, or why there is none."""
        try:
            match method, json.loads(arguments):
                case "holds", [writer, batch]:
                    return json.dumps({"answer": self._log.holds(writer, batch)})
                case "merge", [writer, batch, paths]:
                    self._log.merge(writer, batch, paths)
                    return json.dumps({"answer": None})
                case "overwrite", [writer, batch, paths, partition]:
                    self._log.overwrite(writer, batch, paths, partition)
                    return json.dumps({"answer": None})
                case "append", [writer, batch, paths]:
                    self._log.append(writer, batch, paths)
                    return json.dumps({"answer": None})
                case "commit", [writer, batch, paths]:
                    self._log.commit(writer, batch, [_data_file(path) for path in paths])
                    return json.dumps({"answer": None})
        except FlinkplanError as e:
            return json.dumps({"error": str(e)})
        raise AssertionError(method)


_NULL = "__HIVE_DEFAULT_PARTITION__"
"""The folder in which Spark puts rows whose partition column is NULL."""


def _data_file(path: str) -> DataFile:
    pairs = (folder.partition("=") for folder in path.split("/")[:-1])
    # Spark writes some characters of the names of folders as %XX
    return DataFile(path, {name: None if value == _NULL else unquote(value) for name, _, value in pairs})
