"""Column lineage as text and as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from typing import Any

from ..functions import find_function
from ..printable import aligned, one_line
from ..record import replace
from .origins import Origin, Origins, SinkLineage, SourceColumn, unused_columns

JSON_VERSION = 1


def is_masked(origin: Origin) -> bool:
    """Whether the value of a column cannot be seen in what is computed from it, such as a digest."""
    functions = map(find_function, origin.functions)
    return any(function is not None and function.masks for function in functions)


def only(origins: Origins, pattern: str) -> Origins:
    """The part of a lineage that is about the columns, of sinks or sources, which a pattern of ``TABLE.COLUMN`` names.

    A column of a source is kept with all that comes from it, one of a sink with all that it comes from.
    """
    sinks = []
    for sink in origins.sinks:
        columns = []
        for name, found in sink.columns:
            is_named = fnmatchcase(f"{sink.table.name}.{name}", pattern)
            kept = found if is_named else tuple(o for o in found if fnmatchcase(str(o.column), pattern))
            if is_named or kept:
                columns.append((name, kept))
        rows = tuple(origin for origin in sink.rows if fnmatchcase(str(origin.column), pattern))
        if columns or rows:
            sinks.append(replace(sink, columns=tuple(columns), rows=rows))
    return replace(origins, sinks=tuple(sinks))


# ---------------------------------------------------------------- text


def lineage_text(origins: Origins, *, with_unused: bool = True) -> str:
    """A table for each sink, then the columns of sources that no sink depends on."""
    blocks = []
    for sink in origins.sinks:
        table = aligned(("column", "from", "how"), list(lineage_rows(sink)))
        blocks.append(f"{one_line(sink.table.name)}\n{_indented(table)}")
    unused = [one_line(text) for text in _unused(origins)] if with_unused else []
    return "\n\n".join([*blocks, *(["\n".join(unused)] if unused else [])]) + "\n"


def _indented(text: str) -> str:
    return "\n".join(f"  {line}".rstrip() for line in text.split("\n"))


def lineage_rows(sink: SinkLineage) -> Iterator[tuple[str, str, str]]:
    """The rows of the table of a sink: its column, or none for that of the row before, what it comes from, and how."""
    for name, found in sink.columns:
        yield from _rows_of(name, found)
    if sink.rows:
        yield from _rows_of("(all rows)", sink.rows)


def _rows_of(name: str, found: Iterable[Origin]) -> Iterator[tuple[str, str, str]]:
    by_column: dict[SourceColumn, list[str]] = {}
    for origin in found:
        by_column.setdefault(origin.column, []).append(how(origin))
    if not by_column:
        yield name, "-", ""
    for place, (column, ways) in enumerate(by_column.items()):
        yield "" if place else name, str(column), "; ".join(filter(None, ways))


def how(origin: Origin) -> str:
    """How a column comes from another one: the functions, or the clause that decides; empty for the value itself."""
    return ", ".join(origin.functions) if origin.kind.is_direct else origin.kind.value


def _unused(origins: Origins) -> Iterator[str]:
    by_table: dict[str, list[str]] = {}
    for column in unused_columns(origins):
        by_table.setdefault(column.table, []).append(column.name)
    for table, names in by_table.items():
        yield f"not used of {table}: {', '.join(names)}"


# ---------------------------------------------------------------- JSON


def lineage_json(origins: Origins) -> dict[str, Any]:
    """The lineage as ``schemas/lineage-v1.schema.json`` describes it."""
    return {
        "version": JSON_VERSION,
        "sinks": [
            {
                "table": sink.table.name,
                "identifier": sink.table.identifier,
                "node": sink.node.id,
                "columns": [
                    {"name": name, "from": [_origin_json(origin) for origin in found]} for name, found in sink.columns
                ],
                "rows": [_origin_json(origin) for origin in sink.rows],
            }
            for sink in origins.sinks
        ],
        "sources": [_source_json(origins, table.identifier, table.name, names) for table, names in origins.sources],
    }


def _source_json(origins: Origins, identifier: str, table: str, names: Iterable[str]) -> dict[str, Any]:
    used = origins.used
    columns = [{"name": name, "used": SourceColumn(identifier, table, name) in used} for name in names]
    return {"table": table, "identifier": identifier, "columns": columns}


def _origin_json(origin: Origin) -> dict[str, Any]:
    return {
        "table": origin.column.table,
        "identifier": origin.column.identifier,
        "column": origin.column.name,
        "kind": origin.kind.name,
        "functions": list(origin.functions),
        "masked": is_masked(origin),
    }
