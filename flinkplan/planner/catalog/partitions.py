"""The partitions of tables, as the catalog in memory keeps them.

Source: ``GenericInMemoryCatalog``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ...plan.record import Struct, field
from .errors import CatalogError
from .identifier import Identifier

PartitionSpec = Mapping[str, str]
"""The values of partition columns, by column."""

_EXCEPTIONS = "org.apache.flink.table.catalog.exceptions."


class Partitions(Struct):
    """The partitions that ALTER TABLE has added, by table, in their order.

    ``keys`` are the partition columns of the table.
    """

    by_table: dict[Identifier, list[PartitionSpec]] = field(default_factory=dict)

    def within(self, table: Identifier, keys: Sequence[str], values: PartitionSpec) -> Iterator[PartitionSpec]:
        """The partitions of a table that have the ``values``.

        Raises :class:`CatalogError` for a table without partitions, and for columns that do not partition it.
        """
        _check_partitioned(table, keys)
        if not set(values) <= set(keys):
            raise _mismatch(table, keys, values)
        for spec in self.by_table.get(table, ()):
            if values.items() <= spec.items():
                yield spec

    def add(self, table: Identifier, keys: Sequence[str], spec: PartitionSpec, *, if_not_exists: bool) -> None:
        """Add a partition.  Raises :class:`CatalogError` if it exists, or does not fit the table."""
        _check_partitioned(table, keys)
        if set(spec) != set(keys):
            raise _mismatch(table, keys, spec)
        known = self.by_table.setdefault(table, [])
        if spec not in known:
            known.append(spec)
        elif not if_not_exists:
            raise CatalogError(
                f"the partition {partition_name(keys, spec)} of '{table.name}' exists already",
                hint="write ADD IF NOT EXISTS",
                in_flink=f"Partition {_text(spec)} of table {_in_catalog(table)} already exists.",
                of_class=f"{_EXCEPTIONS}PartitionAlreadyExistsException",
            )

    def drop(self, table: Identifier, keys: Sequence[str], spec: PartitionSpec, *, if_exists: bool) -> None:
        """Remove a partition.  Raises :class:`CatalogError` if it is missing."""
        known = self.by_table.get(table, [])
        if spec in known:
            known.remove(spec)
        elif not if_exists:
            raise CatalogError(
                f"there is no partition {partition_name(keys, spec)} of '{table.name}'",
                hint="write DROP IF EXISTS",
                in_flink=f"Partition {_text(spec)} of table {_in_catalog(table)} does not exist.",
                of_class=f"{_EXCEPTIONS}PartitionNotExistException",
            )


def _check_partitioned(table: Identifier, keys: Sequence[str]) -> None:
    if not keys:
        raise CatalogError(
            f"the table '{table.name}' has no partitions",
            hint="define it with PARTITIONED BY",
            in_flink=f"Table {_in_catalog(table)} is not partitioned.",
            of_class=f"{_EXCEPTIONS}TableNotPartitionedException",
        )


def _mismatch(table: Identifier, keys: Sequence[str], spec: PartitionSpec) -> CatalogError:
    return CatalogError(
        f"a partition of '{table.name}' has a value of {' and of '.join(keys)}",
        in_flink=f"PartitionSpec {_text(spec)} does not match partition keys [{', '.join(keys)}] of table "
        f"{_in_catalog(table)}.",
        of_class=f"{_EXCEPTIONS}PartitionSpecInvalidException",
    )


def partition_name(keys: Sequence[str], spec: PartitionSpec) -> str:
    """``a=1/b=2``, as SHOW PARTITIONS shows a partition."""
    return "/".join(f"{key}={spec[key]}" for key in keys if key in spec)


def _text(spec: PartitionSpec) -> str:
    return f"CatalogPartitionSpec{{{{{', '.join(f'{key}={value}' for key, value in spec.items())}}}}}"


def _in_catalog(table: Identifier) -> str:
    return f"{table.database}.{table.name} in catalog {table.catalog}"
