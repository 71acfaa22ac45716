"""Where rows enter and leave: scans, constant rows and sinks."""

from __future__ import annotations

from collections.abc import Mapping

from ...plan.document import Plan
from ...plan.errors import UnsupportedError
from ...plan.nodes import Sink, TableSourceScan
from ...plan.record import replace
from ...plan.session import option_of
from ...plan.specs import ContextResolvedTable, SourceWatermark
from ..connectors import find_connector
from ..constraints import check_enforcers, enforce_constraints
from ..context import Mode, TranslationContext, Turn
from ..errors import TableError
from ..event_time import with_clock
from ..execution import Execution, QueryPlan, kernel, native, with_ttl
from ..jvm.spark import fields
from ..registry import translator
from ..stream import INSERT, KIND, ORDER, ROW_KINDS, SEQUENCE, TIE, Stream
from ..switches import snapshots_awaited, switch_of
from ..tables import Table, table_of
from .materialize import compacts, materialize_upserts

ROWTIME_INSERTER = "table.exec.sink.rowtime-inserter"


def _runs_scan(node: TableSourceScan, query: QueryPlan) -> Execution:
    return native(_options(node.scan_table_source.table).get("connector", "unknown connector"), "reads the table")


def _runs_sink(node: Sink, query: QueryPlan) -> Execution:
    connector = _options(node.dynamic_table_sink.table).get("connector", "unknown connector")
    if not node.require_upsert_materialize:
        return native(f"{'foreach' if query.is_real_time else 'foreachBatch'}, {connector}", "writes the table")
    single = compacts(node)
    holds = "the row of a primary key" if single else "the rows of a primary key, in order"
    state = with_ttl("ValueState", "sinkMaterializeState", holds, node.ttl_ms())
    schema = node.dynamic_table_sink.table.resolved_table
    key = schema.schema.primary_key if schema else None
    why = "rows are known by another key than the table's; foreachBatch then writes it"
    name = "changelog.CompactUpserts" if single else "changelog.UpsertMaterialize"
    return kernel(node, query, name, why, state, keys=key.columns if key else ())


def _options(table: ContextResolvedTable) -> Mapping[str, str]:
    return (table.resolved_table.options if table.resolved_table else None) or {}


def _check_scan(node: TableSourceScan, plan: Plan, options: Mapping[str, str]) -> None:
    """Sources here make no watermarks of their own."""
    if any(isinstance(ability, SourceWatermark) for ability in node.scan_table_source.abilities or ()):
        raise UnsupportedError("watermarks that a source knows of, SOURCE_WATERMARK()")


def _real_time_scan(node: TableSourceScan, query: QueryPlan) -> str | None:
    return _real_time_table(node.scan_table_source.table, is_source=True)


def _real_time_table(reference: ContextResolvedTable, *, is_source: bool) -> str | None:
    """What stands against a table, where the plan defines it."""
    if reference.resolved_table is None or reference.resolved_table.options is None:
        return None
    table = table_of(reference, {})
    return find_connector(table).real_time_obstacle(table, is_source)


@translator(TableSourceScan, runs=_runs_scan, check=_check_scan, real_time=_real_time_scan)
def scan(node: TableSourceScan, inputs: tuple[Stream, ...], context: TranslationContext) -> Stream:
    """Read a table by its connector."""
    table = table_of(node.scan_table_source.table, context.variables)
    stream = find_connector(table).read(table, node, _behind_snapshots(node, table, context))
    return with_clock(stream, node.id) if context.tells_time else stream


def _behind_snapshots(node: TableSourceScan, table: Table, context: TranslationContext) -> TranslationContext:
    """Where the rows are joined with tables whose snapshots may not end with the first batch, they are read behind."""
    awaited = [scan for scan in snapshots_awaited(node, context.plan) if _may_last(scan, context)]
    if not awaited or context.mode is Mode.BOUNDED:
        return context
    names = ", ".join(sorted({scan.scan_table_source.table.identifier for scan in awaited}))
    if node in awaited or not find_connector(table).can_wait(table):
        raise TableError(
            f"its rows do not wait here until the history of {names} ends",
            where=f"table {table.identifier}",
            hint="those of kafka and upsert-kafka wait, and of filesystem with formats of lines",
        )
    switch = context.runtime.source.Switch(names)
    for scan in awaited:
        switch.follow(switch_of(scan, context))
    return replace(context, turn=Turn.LAST, switch=switch)


def _may_last(scan: TableSourceScan, context: TranslationContext) -> bool:
    table = table_of(scan.scan_table_source.table, context.variables)
    return find_connector(table).may_last(table)


def _check_sink(node: Sink, plan: Plan, options: Mapping[str, str]) -> None:
    """Of rows with several times Flink could write one only as theirs."""
    check_enforcers(node, options)
    (source,) = plan.inputs(node)
    times = [field.name for field in source.fields if field.type.is_rowtime]
    if len(times) > 1 and option_of(node, ROWTIME_INSERTER, options) == "ENABLED":
        name = node.dynamic_table_sink.table.identifier.replace("`", "")
        raise TableError(
            f"The query contains more than one rowtime attribute column [{', '.join(times)}] for writing into table "
            f"'{name}'.",
            hint="cast all but one of them to TIMESTAMP or TIMESTAMP_LTZ",
        )


def _real_time_sink(node: Sink, query: QueryPlan) -> str | None:
    if node.require_upsert_materialize and compacts(node):
        return "the changes between two watermarks come to one"
    return _real_time_table(node.dynamic_table_sink.table, is_source=False)


@translator(Sink, runs=_runs_sink, check=_check_sink, real_time=_real_time_sink)
def sink(node: Sink, inputs: tuple[Stream, ...], context: TranslationContext) -> Stream:
    """The rows as the table takes them, constraints enforced.

    The columns are the table's, those of its partition last, then those of its metadata and, in a changelog, row kind
    and what rows stand in order by.
    """
    from pyspark.sql import functions as F

    (stream,) = inputs
    table = table_of(node.dynamic_table_sink.table, context.variables)
    stream = enforce_constraints(node, table, stream, context)
    if stream.changelog:
        kinds = [ROW_KINDS[kind] for kind in node.input_changelog_mode]
        stream = stream.where(F.col(KIND).isin(kinds))
        if node.require_upsert_materialize:
            stream = materialize_upserts(node, table, stream, context)
    elif table.primary_key and find_connector(table).upserts and not context.is_real_time:
        insert = F.lit(INSERT).cast("tinyint").alias(KIND)
        stream = replace(stream, frame=stream.frame.select("*", insert), changelog=True)  # so they are put in order
    order = [*sink_order(table), *range(len(table.physical), len(stream.type.fields))]
    columns = [stream.column(i).alias(f"c{position}") for position, i in enumerate(order)]
    hidden = [name for name in stream.hidden if stream.changelog and name in (KIND, TIE, ORDER, SEQUENCE)]
    return replace(stream, frame=fields.select(stream.frame, [*columns, *hidden]))


def sink_order(table: Table) -> list[int]:
    """The indexes of a table's columns as its writer takes them: those of the partition last."""
    names = [name for name, _ in table.physical]
    kept = [i for i, name in enumerate(names) if name not in table.partition_keys]
    return kept + [names.index(key) for key in table.partition_keys]
