"""Which columns the messages of a format can hold."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from ...plan.connectors import Format
from ...plan.types import LogicalType
from ...plan.types.readable import readable
from ..errors import TableError

Fields: TypeAlias = Sequence[tuple[str, LogicalType]]
"""Names and types."""


def check_fields(format_: Format, fields: Fields, options: Mapping[str, str], where: str) -> None:
    """Raise :class:`TableError` for columns that the format, with its options, has no messages for."""
    match format_.name:
        case "raw" if len(fields) != 1:
            raise TableError("a table of the format 'raw' has exactly one column", where=where)
        case "csv":
            _check_csv(fields, where)
        case "avro" | "avro-confluent" | "debezium-avro-confluent":
            _check_avro(fields, options, where)


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


_AVRO_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def _check_avro(fields: Fields, options: Mapping[str, str], where: str) -> None:
    """Raise :class:`TableError` for what Avro, or the decoder here, does not have.  Source: ``AvroSchemaConverter``."""
    if options.get("encoding", "binary") == "json":
        raise TableError("'avro.encoding' = 'json' is not executed here", where=where, hint="binary is")
    is_legacy = options.get("timestamp_mapping.legacy", "true").lower() == "true"
    for name, t in fields:
        for inner_name, inner in ((name, t), *_inner(t)):
            if inner_name is not None and not _AVRO_NAME.fullmatch(inner_name):
                hint = "names are of letters, digits and underscores"
                raise TableError(readable(f"Avro has no fields '{inner_name}'"), where=where, hint=hint)
            if why := _avro_obstacle(inner, is_legacy):
                message = readable(f"the avro format has no columns of the type {t}, as '{name}' is")
                raise TableError(message, where=where, hint=why)


def _inner(t: LogicalType) -> Iterator[tuple[str | None, LogicalType]]:
    """The types within a type, those of fields with their names."""
    for name, inner in (*zip(t.field_names, t.field_types, strict=True), *((None, child) for child in t.children)):
        yield name, inner
        yield from _inner(inner)


def _avro_obstacle(t: LogicalType, is_legacy: bool) -> str | None:
    """Why Flink derives no schema of a type itself; ``None``: it does."""
    digits = t.precision or 0
    match t.root:
        case "BOOLEAN" | "TINYINT" | "SMALLINT" | "INT" | "BIGINT" | "FLOAT" | "DOUBLE" | "DECIMAL" | "DATE" | "ROW":
            return None
        case "CHAR" | "VARCHAR" | "BINARY" | "VARBINARY":
            return None
        case "TIMESTAMP" if is_legacy and digits > 3:
            return "TIMESTAMP(3) is the finest, but with 'avro.timestamp_mapping.legacy' = 'false'"
        case "TIMESTAMP_LTZ" if is_legacy:
            return "set 'avro.timestamp_mapping.legacy' = 'false'"
        case "TIME" if digits > 3:
            return "TIME(3) is the finest"
        case "MAP" | "MULTISET" if t.children[0].root not in ("CHAR", "VARCHAR"):
            return "the keys of Avro's maps are texts"
        case "ARRAY" | "MAP" if not is_legacy and any(inner.root.startswith("TIMESTAMP") for _, inner in _inner(t)):
            return "within arrays and maps Flink has times in the older mapping alone"
        case "TIMESTAMP" | "TIMESTAMP_LTZ" | "TIME" | "ARRAY" | "MAP" | "MULTISET":
            return None
    return "json takes all types"


def _map_keys(t: LogicalType) -> Iterator[LogicalType]:
    """The types of the keys of all maps and multisets within a type."""
    if t.root in ("MAP", "MULTISET"):
        yield t.children[0]
    for inner in (*t.children, *t.field_types):
        yield from _map_keys(inner)
