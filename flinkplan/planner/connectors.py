"""The properties of connectors (:mod:`~.plan.connectors`) that the planner needs, for a table."""

from __future__ import annotations

from collections.abc import Mapping

from ..plan import connectors
from ..plan.connectors import CONNECTORS, Connector, Kinds, Source, has_key
from .catalog.catalog import Table

_UNKNOWN = Connector("", "a connector of which nothing is known")
_NOTHING = Source(None)


def table_options(table: Table, hints: Mapping[str, str] | None = None) -> dict[str, str]:
    """A table's options, overridden by those of an OPTIONS hint."""
    return {**(table.resolved.options or {}), **(hints or {})}


def source_kinds(table: Table, hints: Mapping[str, str]) -> Kinds:
    """The row kinds that a source emits."""
    return connectors.source_kinds(table_options(table, hints), has_key(table.resolved))


def sink_kinds(table: Table, hints: Mapping[str, str], inserts_only: bool) -> Kinds:
    """The row kinds that a sink accepts; ``inserts_only``: the query emits insertions only."""
    return connectors.sink_kinds(table_options(table, hints), has_key(table.resolved), inserts_only)


def required_kinds(table: Table, hints: Mapping[str, str], inserts_only: bool) -> Kinds:
    """The row kinds that a sink requires."""
    return connectors.required_kinds(table_options(table, hints), has_key(table.resolved), inserts_only)


def deletes_by_key(table: Table, hints: Mapping[str, str], *, as_sink: bool) -> bool:
    """Whether deletions of a source have the key only, or a sink needs the key of deletions only."""
    return connectors.deletes_by_key(table_options(table, hints), has_key(table.resolved), as_sink)


def connector_of(table: Table) -> Connector:
    """The connector of a table, which may be an unknown one."""
    return CONNECTORS.get((table.resolved.options or {}).get("connector", ""), _UNKNOWN)


def source_of(table: Table) -> Source:
    """The abilities of a table's source."""
    return connector_of(table).source or _NOTHING
