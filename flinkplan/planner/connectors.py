"""What the planner asks of connectors (:mod:`~.plan.connectors`), for a table of the catalog."""

from __future__ import annotations

from collections.abc import Mapping

from ..plan import connectors
from ..plan.connectors import ALL as ALL_CHANGES
from ..plan.connectors import CONNECTORS, Connector, Kinds, Source, has_key
from ..plan.connectors import INSERTS as INSERT_ONLY
from ..plan.connectors import UPSERTS as UPSERT
from ..plan.rex import RexNode
from ..plan.types import LogicalType
from .catalog.catalog import Table

__all__ = [
    "ALL_CHANGES",
    "INSERT_ONLY",
    "UPSERT",
    "applies_filter",
    "can_be_looked_up",
    "emits_deletes_by_key",
    "metadata_types",
    "sink_kinds",
    "source_kinds",
    "supports_filters",
    "supports_limit",
    "supports_metadata",
    "supports_partitions",
    "supports_projection",
    "table_options",
    "takes_deletes_by_key",
]

_NOTHING = Source(None)


def table_options(table: Table, hints: Mapping[str, str] | None = None) -> dict[str, str]:
    """A table's options, overridden by those of an OPTIONS hint."""
    return {**(table.resolved.options or {}), **(hints or {})}


def source_kinds(table: Table, hints: Mapping[str, str]) -> Kinds:
    """The row kinds that a source emits."""
    return connectors.source_kinds(table_options(table, hints), has_key(table.resolved))


def sink_kinds(table: Table, hints: Mapping[str, str], inserts_only: bool) -> Kinds:
    """The row kinds that a sink takes; ``inserts_only``: of a query that emits nothing else."""
    return connectors.sink_kinds(table_options(table, hints), has_key(table.resolved), inserts_only)


def emits_deletes_by_key(table: Table, hints: Mapping[str, str]) -> bool:
    """Whether the deletions that a source emits hold the key alone."""
    return connectors.deletes_by_key(table_options(table, hints), has_key(table.resolved), as_sink=False)


def takes_deletes_by_key(table: Table, hints: Mapping[str, str]) -> bool:
    """Whether a sink needs no more of a deletion than its key."""
    return connectors.deletes_by_key(table_options(table, hints), has_key(table.resolved), as_sink=True)


def _connector(table: Table) -> Connector | None:
    return CONNECTORS.get((table.resolved.options or {}).get("connector", ""))


def _source(table: Table) -> Source:
    connector = _connector(table)
    return (connector and connector.source) or _NOTHING


def can_be_looked_up(table: Table) -> bool:
    """Whether the source can be asked for the rows of a key."""
    return _source(table).lookups


def supports_projection(table: Table) -> bool:
    """Whether the source can leave columns out."""
    return _source(table).projection


def supports_filters(table: Table) -> bool:
    """Whether the source takes filters."""
    return _source(table).filters is not False


def applies_filter(table: Table, hints: Mapping[str, str], predicate: RexNode) -> bool | None:
    """Whether the source applies a filter itself; ``None``: it takes all as a hint."""
    applies = _source(table).filters
    return None if isinstance(applies, bool) else applies(table_options(table, hints), predicate)


def supports_limit(table: Table) -> bool:
    """Whether the source can stop early."""
    return _source(table).limit


def supports_partitions(table: Table) -> bool:
    """Whether the source can list and skip partitions."""
    return _source(table).partitions and bool(table.resolved.partition_keys)


def supports_metadata(table: Table) -> bool:
    """Whether the source has metadata columns."""
    connector = _connector(table)
    return connector is not None and connector.has_metadata


def metadata_types(table: Table) -> Mapping[str, LogicalType]:
    """The types that the source gives its metadata columns, by key, as far as they are known."""
    connector = _connector(table)
    return connector.metadata if connector else {}
