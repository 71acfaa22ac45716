"""Which columns the messages of a format can hold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

from ...plan.connectors import Format
from ...plan.readable import readable
from ...plan.types import LogicalType
from ..errors import TableError

Fields: TypeAlias = Sequence[tuple[str, LogicalType]]
"""Names and types."""


def check_fields(format_: Format, fields: Fields, where: str) -> None:
    """Raise :class:`TableError` for columns that the format has no messages for."""
    if format_.name == "raw" and len(fields) != 1:
        raise TableError("a table of the format 'raw' has exactly one column", where=where)
    if format_.name == "csv":
        _check_csv(fields, where)


def _check_csv(fields: Fields, where: str) -> None:
    """Raise :class:`TableError` for columns that are too deep for one line.  Source: ``CsvRowSchemaConverter``."""
    for name, t in fields:
        inner = t.field_types if t.root == "ROW" else (t.element,) if t.root == "ARRAY" else ()
        if t.root in ("MAP", "MULTISET") or any(i.root in ("ARRAY", "MAP", "MULTISET", "ROW") for i in inner):
            raise TableError(
                readable(f"the csv format has no columns of the type {t}, as '{name}' is"),
                where=where,
                hint="it takes arrays and rows of simple values; json takes all types",
            )


def check_map_keys(format_: Format, fields: Fields, where: str) -> None:
    """Raise :class:`TableError` for maps that no JSON object can be.  Source: ``RowDataToJsonConverters``."""
    for name, t in fields if format_.name.endswith("json") else ():
        for key in _map_keys(t):
            if key.root not in ("CHAR", "VARCHAR"):
                raise TableError(
                    readable(f"the keys of JSON objects are texts, but '{name}' is {t}"),
                    where=where,
                    hint="let the keys be STRING",
                )


def _map_keys(t: LogicalType) -> Iterator[LogicalType]:
    """The types of the keys of all maps and multisets within a type."""
    if t.root in ("MAP", "MULTISET"):
        yield t.children[0]
    for inner in (*t.children, *t.field_types):
        yield from _map_keys(inner)
