"""ALTER TABLE ADD and DROP PARTITION."""

from __future__ import annotations

from collections.abc import Iterable

from ..binder.errors import BindError
from ..binder.inserts import partition_text
from ..catalog.catalog import Catalog, Table
from ..sql import ast


def alter_partitions(catalog: Catalog, table: Table, change: ast.AddPartitions | ast.DropPartitions) -> None:
    """Add or drop partitions.  Raises an error where they exist already, are missing, or do not fit the table."""
    keys = table.resolved.partition_keys or ()
    for values in change.partitions:
        spec = partition_spec(values)
        if isinstance(change, ast.AddPartitions):
            catalog.partitions.add(table.identifier, keys, spec, if_not_exists=change.if_not_exists)
        else:
            catalog.partitions.drop(table.identifier, keys, spec, if_exists=change.if_exists)


def partition_spec(values: Iterable[ast.PartitionValue]) -> dict[str, str]:
    """The values of partition columns, by column.  Raises :class:`BindError` for a column without a value."""
    return {value.column.name: _text(value) for value in values}


def _text(part: ast.PartitionValue) -> str:
    if part.value is None:
        raise BindError(f"the partition column '{part.column}' has no value", part.span, f"write {part.column} = '…'")
    return partition_text(part.value)
