"""Where rows enter and leave: scans, constant rows and sinks."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ...plan.nodes import Sink, TableSourceScan
from ..connectors import find_connector
from ..constraints import enforce_constraints
from ..context import TranslationContext
from ..registry import translator
from ..stream import DELETE, KIND, ROW_KINDS, SEQUENCE, UPDATE_BEFORE, Stream
from ..tables import Table, table_of

if TYPE_CHECKING:
    from pyspark.sql import Column


@translator(TableSourceScan)
def scan(node: TableSourceScan, inputs: tuple[Stream, ...], context: TranslationContext) -> Stream:
    """Read a table by its connector."""
    table = table_of(node.scan_table_source.table, context.variables)
    return find_connector(table).read(table, node, context)


@translator(Sink)
def sink(node: Sink, inputs: tuple[Stream, ...], context: TranslationContext) -> Stream:
    """The rows as the table takes them: constraints enforced, in the order of a single-threaded job.

    The columns are the table's, those of its partition last, then, in a changelog, the row kind.
    """
    from pyspark.sql import functions as F

    (stream,) = inputs
    table = table_of(node.dynamic_table_sink.table, context.variables)
    stream = enforce_constraints(node, table, stream)
    if stream.changelog:
        kinds = [ROW_KINDS[kind] for kind in node.input_changelog_mode]
        stream = stream.where(F.col(KIND).isin(kinds))
        if node.require_upsert_materialize:
            from .materialize import materialize_upserts

            stream = materialize_upserts(node, table, stream, context)
        stream = _ordered(table, stream)
    names = [name for name, _ in table.physical]
    order = sorted(range(len(names)), key=lambda i: (names[i] in table.partition_keys, _place(table, names[i], i)))
    columns = [stream.column(i).alias(f"c{position}") for position, i in enumerate(order)]
    kind = [stream.frame[KIND]] if stream.changelog else []
    return replace(stream, frame=stream.frame.select(*columns, *kind))


def _place(table: Table, name: str, index: int) -> int:
    """The place of a column among those of its sort: partition columns stand as their keys are declared."""
    return table.partition_keys.index(name) if name in table.partition_keys else index


def _ordered(table: Table, stream: Stream) -> Stream:
    """The changes of a primary key (without one, of a whole row) in one partition, in their order."""
    from pyspark.sql import functions as F

    names = [name for name, _ in table.physical]
    keys = [stream.column(names.index(k)) for k in table.primary_key] or [F.xxhash64(*map(_hashable, stream.columns))]
    retracts = F.col(KIND).isin(UPDATE_BEFORE, DELETE)
    spread = stream.frame.repartition(*keys)
    return replace(stream, frame=spread.sortWithinPartitions(F.col(SEQUENCE), F.when(retracts, 0).otherwise(1)))


def _hashable(column: Column) -> Column:
    """Maps cannot be hashed; their text can."""
    from pyspark.sql import functions as F

    return F.to_json(F.struct(column))
