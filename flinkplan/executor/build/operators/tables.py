"""Where rows enter and leave: scans and sinks."""

from __future__ import annotations

from typing import Any

from ....plan.nodes import Sink, TableSourceScan
from ....plan.record import replace
from ...connectors import find_connector
from ...connectors.tables import Table, table_of
from ...connectors.turns import Turn
from ...errors import TableError
from ...jvm.spark import F, fields
from ...prepare.choose.tables import KernelCompactUpserts, KernelUpserts, NativeScan, NativeSink
from ..connectors import builder_of
from ..constraints import enforce_constraints
from ..context import TranslationContext
from ..final_rows import final_rows
from ..kernels import int_array, keyed_rows, run_kernel, schema_of
from ..registry import builder
from ..stream import INSERT, KIND, ORDER, ROW_KINDS, SEQUENCE, TIE, Stream
from ..time.event_time import with_clock
from ..time.switches import switch_of


@builder(NativeScan, TableSourceScan)
def scan(node: TableSourceScan, step: NativeScan, inputs: tuple[Stream, ...], context: TranslationContext) -> Stream:
    """Read a table by its connector."""
    if node.id in context.given:
        return context.given[node.id](context.spark)
    table = table_of(node.scan_table_source.table, context.variables)
    stream = builder_of(table).read(table, node, _behind_snapshots(node, step, table, context))
    return with_clock(stream, node.id) if context.tells_time else stream


def _behind_snapshots(
    node: TableSourceScan, step: NativeScan, table: Table, context: TranslationContext
) -> TranslationContext:
    """Where the rows are joined with tables whose snapshots may not end with the first batch, they are read behind."""
    if not step.awaits:
        return context
    awaited = [scan for scan in context.plan.nodes if isinstance(scan, TableSourceScan) and scan.id in step.awaits]
    names = ", ".join(sorted({scan.scan_table_source.table.identifier for scan in awaited}))
    if node in awaited or not find_connector(table).can_wait(table):
        raise TableError(
            f"its rows do not wait here until the history of {names} ends",
            where=f"table {table.identifier}",
            hint="those of kafka and upsert-kafka wait, and of filesystem with formats of lines",
        )
    switch = context.runtime.source.Switch(names)
    for each in awaited:
        switch.follow(switch_of(each, context))
    return replace(context, turn=Turn.LAST, switch=switch)


@builder(NativeSink, Sink)
def native_sink(node: Sink, step: NativeSink, inputs: tuple[Stream, ...], context: TranslationContext) -> Stream:
    """The rows as the table takes them, constraints enforced."""
    stream = final_rows(inputs[0]) if step.nets else inputs[0]
    table, stream = _accepted_rows(node, stream, context)
    if step.orders:
        insert = F.lit(INSERT).cast("tinyint").alias(KIND)
        stream = replace(stream, frame=stream.frame.select("*", insert), changelog=True)
    return _as_written(table, stream)


@builder(KernelUpserts, Sink)
def upserts(node: Sink, step: KernelUpserts, inputs: tuple[Stream, ...], context: TranslationContext) -> Stream:
    """The same where of the rows of each primary key the last one shows."""
    (changes,) = inputs
    table, stream = _accepted_rows(node, changes, context)
    kept = run_kernel(
        context,
        step,
        keyed_rows(stream, step.primary_key),
        max(1, len(step.primary_key)),
        row=schema_of(stream.type.field_types),
        upsertKey=_upsert_key(node, context),
        ttl=node.ttl_ms(),
    )
    return _as_written(table, replace(stream, frame=kept))


@builder(KernelCompactUpserts, Sink)
def compact_upserts(
    node: Sink, step: KernelCompactUpserts, inputs: tuple[Stream, ...], context: TranslationContext
) -> Stream:
    """The same where a primary key has one row only."""
    (changes,) = inputs
    table, stream = _accepted_rows(node, changes, context)
    kept = run_kernel(
        context,
        step,
        keyed_rows(stream, step.primary_key),
        max(1, len(step.primary_key)),
        row=schema_of(stream.type.field_types),
        upsertKey=_upsert_key(node, context),
        fails=step.fails,
        ttl=node.ttl_ms(),
    )
    return _as_written(table, replace(stream, frame=kept))


def _upsert_key(node: Sink, context: TranslationContext) -> Any:
    """The columns that the changelog's rows are known by, in Java; ``None``: whole rows."""
    return int_array(context, node.input_upsert_key) if node.input_upsert_key else None


def _accepted_rows(node: Sink, stream: Stream, context: TranslationContext) -> tuple[Table, Stream]:
    """The sink's table, and the rows that satisfy its constraints, of the kinds that the sink takes."""
    table = table_of(node.dynamic_table_sink.table, context.variables)
    stream = enforce_constraints(node, table, stream, context)
    if stream.changelog:
        stream = stream.where(F.col(KIND).isin([ROW_KINDS[kind] for kind in node.input_kinds]))
    return table, stream


def _as_written(table: Table, stream: Stream) -> Stream:
    """The columns as the table's writer takes them.

    Those of its partition stand last, then those of its metadata and, in a changelog, row kind and what rows stand in
    order by.
    """
    order = [*sink_order(table), *range(len(table.physical), len(stream.type.fields))]
    columns = [stream.column(i).alias(f"c{position}") for position, i in enumerate(order)]
    hidden = [name for name in stream.hidden if stream.changelog and name in (KIND, TIE, ORDER, SEQUENCE)]
    return replace(stream, frame=fields.select(stream.frame, [*columns, *hidden]))


def sink_key(node: Sink, table: Table) -> list[int]:
    """The columns of a table's key, or of the key that the changelog's rows are known by, as its writer takes them."""
    names = [name for name, _ in table.physical]
    key = [names.index(name) for name in table.primary_key] or node.input_upsert_key or ()
    return [sink_order(table).index(i) for i in key]


def sink_order(table: Table) -> list[int]:
    """The indexes of a table's columns as its writer takes them: those of the partition last."""
    names = [name for name, _ in table.physical]
    kept = [i for i, name in enumerate(names) if name not in table.partition_keys]
    return kept + [names.index(key) for key in table.partition_keys]
