"""The CREATE statement of a table or view, as Flink's SHOW CREATE writes it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ...plan.secrets import masked
from ...plan.specs import Column
from ..catalog.catalog import Properties, Table, View
from .expression_text import quoted, quoted_string


def create_table_text(table: Table) -> str:
    """The CREATE TABLE statement that makes the table."""
    resolved = table.resolved
    elements = ",\n".join(f"  {element}" for element in schema_elements(table))
    lines = [f"CREATE {_temporary(table)}TABLE {table.identifier} (", elements, ")"]
    if resolved.comment:
        lines.append(f"COMMENT {quoted_string(resolved.comment)}")
    if resolved.distribution is not None:
        lines.append(str(resolved.distribution))
    if resolved.partition_keys:
        lines.append(f"PARTITIONED BY ({_names(tuple(resolved.partition_keys))})")
    return "\n".join([*lines, *_with(resolved.options or {})]) + "\n"


def schema_elements(table: Table) -> Iterator[str]:
    """The columns, watermarks and key of a table, as they stand in parentheses."""
    schema = table.resolved.schema
    yield from map(_column, schema.columns)
    for w in schema.watermark_specs or ():
        yield f"WATERMARK FOR {quoted(w.rowtime_attribute)} AS {w.expression.serializable_string}"
    if schema.primary_key is not None:
        key = schema.primary_key
        yield f"CONSTRAINT {quoted(key.name)} PRIMARY KEY ({_names(key.columns)}) NOT ENFORCED"


def create_view_text(view: View) -> str:
    """The CREATE VIEW statement that makes the view; its query stands as it was written."""
    names = view.columns or view.row_type.field_names
    columns = ",\n".join(f"  {quoted(name)}" for name in names)
    lines = [f"CREATE {_temporary(view)}VIEW {view.identifier} (", columns, ")"]
    if view.comment:
        lines.append(f"COMMENT {quoted_string(view.comment)}")
    return "\n".join([*lines, f"AS {view.text}\n"])


def create_catalog_text(name: str, properties: Properties) -> str:
    """The CREATE CATALOG statement that makes the catalog."""
    lines = [f"CREATE CATALOG {quoted(name)}"]
    if properties.comment:
        lines.append(f"COMMENT {quoted_string(properties.comment)}")
    return "\n".join([*lines, *_with(properties.options)]) + "\n"


def _with(options: Mapping[str, str]) -> list[str]:
    """The lines of the clause WITH, none without options; passwords are masked."""
    if not options:
        return []
    pairs = (f"  {quoted_string(k)} = {quoted_string(masked(k, v))}" for k, v in sorted(options.items()))
    return ["WITH (", ",\n".join(pairs), ")"]


def _temporary(item: Table | View) -> str:
    return "TEMPORARY " if item.temporary else ""


def _names(names: tuple[str, ...]) -> str:
    return ", ".join(map(quoted, names))


def _column(column: Column) -> str:
    text = f"{quoted(column.name)} {_kind(column)}"
    return f"{text} COMMENT {quoted_string(column.comment)}" if column.comment else text


def _kind(column: Column) -> str:
    if column.expression is not None:
        return f"AS {column.expression.serializable_string}"
    assert column.data_type is not None
    return f"{column.data_type.regular()}{metadata_text(column)}"


def metadata_text(column: Column) -> str:
    """``METADATA FROM 'key' VIRTUAL`` behind the type of a metadata column; nothing for another."""
    if column.kind != "METADATA":
        return ""
    key = f" FROM {quoted_string(column.metadata_key)}" if column.metadata_key else ""
    return f" METADATA{key}{' VIRTUAL' if column.is_virtual else ''}"
