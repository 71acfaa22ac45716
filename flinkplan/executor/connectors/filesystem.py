"""The connector ``filesystem``: files below a directory, perhaps in partition directories ``key=value``.

Source: the options of Flink's ``FileSystemConnectorOptions``.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from ...plan.connectors import partition_commits
from ...plan.connectors.bundled import COMPACTS, FILE_SYSTEMS
from ...plan.options import is_true
from ...plan.printable import shortened
from ...plan.types import LogicalType
from ..errors import TableError
from ..formats import find_format, format_options
from ..formats.fields import check_fields
from .base import Connector, connector
from .tables import Table

if TYPE_CHECKING:
    pass


_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):")


@connector
class FileSystem(Connector):
    """Files in any of the formats."""

    name = "filesystem"
    answers_lookups = True
    repeats = True

    def check(self, table: Table, is_source: bool) -> None:
        where = f"table {table.identifier}"
        _check_path(table.options["path"], where)
        format_ = find_format(table.options, where)
        if format_.framed:
            raise TableError(
                f"the format '{format_.name}' is not executed here in files", where=where, hint="messages of it are"
            )
        check_fields(format_, message_fields(table), format_options(format_, table.options), where)
        if not is_source:
            _check_commits(table, where)

    def is_bounded(self, table: Table) -> bool:
        return "source.monitor-interval" not in table.options

    def can_wait(self, table: Table) -> bool:
        return not find_format(table.options, f"table {table.identifier}").columnar

    def real_time_obstacle(self, table: Table, is_source: bool) -> str | None:
        format_ = find_format(table.options, f"table {table.identifier}")
        if format_.columnar:
            return f"files of the format '{format_.name}' are read and written as a whole"
        if not is_source and partition_commits.policies(table.options):
            return "its partitions are committed behind batches"
        if not is_source and is_true(table.options.get(COMPACTS)):
            return "its files are compacted by batches"
        if is_source and self.is_bounded(table):
            return "its files are read once: 'source.monitor-interval' has them looked after"
        return None

    def size(self, table: Table) -> int | None:
        path = table.options.get("path")
        if path is None:
            return None
        root = Path(path.removeprefix("file://"))
        if root.is_file():
            return root.stat().st_size
        return sum(p.stat().st_size for p in root.rglob("*") if p.is_file()) if root.is_dir() else None


def _check_commits(table: Table, where: str) -> None:
    """Raise :class:`TableError` for commits of partitions that are not executed."""
    options = table.options
    for kind in partition_commits.policies(options):
        if kind != partition_commits.SUCCESS:
            why = "there is no metastore of files" if kind == "metastore" else "it runs a class"
            raise TableError(
                f"'{partition_commits.POLICY}' = '{kind}' is not executed here: {why}",
                where=where,
                hint=f"'{partition_commits.SUCCESS}' is",
            )
    if options.get(partition_commits.EXTRACTOR) == "custom":
        message = f"'{partition_commits.EXTRACTOR}' = 'custom' is not executed here: it runs a class"
        raise TableError(message, where=where, hint=f"'{partition_commits.PATTERN}' says how times are written")
    name = partition_commits.option(options, partition_commits.SUCCESS_FILE)
    if not name or "/" in name or name in (".", ".."):
        raise TableError(f"'{partition_commits.SUCCESS_FILE}' = '{name}' is no name of a file", where=where)


def _check_path(path: str, where: str) -> None:
    """Raise :class:`TableError` for a path that is none of files, or not of this machine."""
    scheme = _SCHEME.match(path)
    if scheme is not None and scheme[1].lower() not in FILE_SYSTEMS:
        hint = f"it is a path of this machine, or begins with one of {', '.join(FILE_SYSTEMS)}"
        raise TableError(
            f"paths that begin with '{shortened(scheme[1])}:' are not executed here", where=where, hint=hint
        )
    if path.startswith(("//", "\\\\")) or re.match(r"file://(?!localhost/|/|\$)", path, re.IGNORECASE):
        raise TableError("the path is of another machine", where=where, hint="write it as file:///folder, or /folder")


def message_fields(table: Table) -> list[tuple[str, LogicalType]]:
    """The columns that messages hold; those of the partition stand in the path."""
    return [(n, t) for n, t in table.physical if n not in table.partition_keys]
