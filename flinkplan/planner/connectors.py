"""What the planner must know of connectors and formats: which changes they read and write, what they can push down.

Source: the ``getChangelogMode`` and ``Supports…`` interfaces of Flink's connectors.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..plan.specs import RowKind
from ..plan.types import BIGINT, STRING, timestamp_ltz
from .catalog.catalog import Table

INSERT_ONLY = frozenset({RowKind.INSERT})
ALL_CHANGES = frozenset(RowKind)
UPSERT = ALL_CHANGES - {RowKind.UPDATE_BEFORE}

_CDC_FORMATS = frozenset({"debezium-json", "canal-json", "maxwell-json", "ogg-json", "debezium-avro-confluent"})
_UPSERT_CONNECTORS = frozenset({"blackhole", "upsert-kafka", "jdbc", "elasticsearch-7", "mongodb"})
_ANY_CHANGES = frozenset({"print"})
_AS_EMITTED = frozenset({"blackhole", "print"})
"""Sinks that need no key of a query that only inserts."""


def table_options(table: Table, hints: Mapping[str, str] | None = None) -> dict[str, str]:
    """A table's options, overridden by those of an OPTIONS hint."""
    return {**(table.resolved.options or {}), **(hints or {})}


def _format(options: Mapping[str, str]) -> str | None:
    return options.get("format") or options.get("value.format")


def source_kinds(table: Table, hints: Mapping[str, str]) -> frozenset[RowKind]:
    """The row kinds that a source emits."""
    options = table_options(table, hints)
    if options.get("connector") == "upsert-kafka":
        return UPSERT
    return ALL_CHANGES if _format(options) in _CDC_FORMATS else INSERT_ONLY


def sink_kinds(table: Table, hints: Mapping[str, str], inserts_only: bool) -> frozenset[RowKind]:
    """The row kinds that a sink takes; ``inserts_only``: of a query that emits nothing else."""
    options = table_options(table, hints)
    connector = options.get("connector")
    if inserts_only and connector in _AS_EMITTED:
        return INSERT_ONLY
    if connector in _UPSERT_CONNECTORS:
        return UPSERT
    if connector in _ANY_CHANGES or _format(options) in _CDC_FORMATS:
        return ALL_CHANGES
    return INSERT_ONLY


def _is(table: Table, *connectors: str) -> bool:
    return (table.resolved.options or {}).get("connector") in connectors


def supports_projection(table: Table) -> bool:
    """Whether the source can leave columns out."""
    return _is(table, "filesystem", "kafka", "upsert-kafka", "jdbc")


def supports_filters(table: Table) -> bool:
    """Whether the source takes filters (as a hint: the planner still applies them)."""
    return _is(table, "filesystem")


def supports_limit(table: Table) -> bool:
    """Whether the source can stop early."""
    return _is(table, "filesystem", "datagen", "jdbc")


def supports_partitions(table: Table) -> bool:
    """Whether the source can list and skip partitions."""
    return _is(table, "filesystem") and bool(table.resolved.partition_keys)


FILE_METADATA = {
    "file.path": STRING.not_null(),
    "file.name": STRING.not_null(),
    "file.size": BIGINT.not_null(),
    "file.modification-time": timestamp_ltz(3, nullable=False),
}
"""What a filesystem source knows of the file of a row."""


def supports_metadata(table: Table) -> bool:
    """Whether the source has metadata columns."""
    return _is(table, "filesystem", "kafka", "upsert-kafka")
