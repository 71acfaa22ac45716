"""Where rows enter and leave: scans and sinks."""

from __future__ import annotations

from collections.abc import Mapping

from ....plan.document import Plan
from ....plan.elements import NAME as ELEMENTS
from ....plan.elements import elements_of
from ....plan.errors import UnsupportedError
from ....plan.nodes import Sink, TableSourceScan
from ....plan.session import option_of
from ....plan.specs import ContextResolvedTable, SourceWatermark
from ...connectors import find_connector
from ...connectors.tables import defined_options, table_of
from ...errors import TableError
from ..known.constraints import check_enforcers
from ..known.sources import snapshots_awaited
from ..modes import Mode
from ..query import QueryPlan, chooser
from ..steps import Kernel, Native, own_state

ROWTIME_INSERTER = "table.exec.sink.rowtime-inserter"
_UNKNOWN = "unknown connector"


class NativeScan(Native, kw_only=True):
    """A source; ``awaits``: the ids of scans whose tables' snapshots must be there before it is read."""

    awaits: tuple[int, ...]


class NativeSink(Native, kw_only=True):
    """A sink.

    ``orders``: inserted rows, too, are put in order, since a later one of a key replaces an earlier one.  ``nets``: of
    a changelog the rows are written that stay.
    """

    orders: bool
    nets: bool


class KernelUpserts(Kernel, kw_only=True):
    """A sink whose ``primary_key`` is not what rows are known by: of several rows of a key the last one shows."""

    primary_key: tuple[int, ...]


class KernelCompactUpserts(Kernel, kw_only=True):
    """The same where a primary key has one row only; ``fails``: a second one fails the job."""

    primary_key: tuple[int, ...]
    fails: bool


def _check_scan(node: TableSourceScan, plan: Plan, options: Mapping[str, str]) -> None:
    """Hardly any source here tells watermarks of its own; rows of Python values stand in the node."""
    table = node.scan_table_source.table.resolved_table
    if table is not None and (table.options or {}).get("connector") == ELEMENTS:
        elements_of(node.own_properties, len(table_of(node.scan_table_source.table, {}).physical))
    abilities = node.scan_table_source.abilities or ()
    asks = any(isinstance(ability, SourceWatermark) and ability.source_watermark_enabled for ability in abilities)
    if asks and not _tells_watermarks(node.scan_table_source.table):
        raise UnsupportedError("watermarks that a source knows of, SOURCE_WATERMARK()")


def _tells_watermarks(reference: ContextResolvedTable) -> bool:
    if reference.resolved_table is None or reference.resolved_table.options is None:
        return False
    return find_connector(table_of(reference, {})).knows_watermarks


def _real_time_scan(node: TableSourceScan, query: QueryPlan) -> str | None:
    return _real_time_table(node.scan_table_source.table, is_source=True)


def _real_time_table(reference: ContextResolvedTable, *, is_source: bool) -> str | None:
    """What stands against a table, where the plan defines it."""
    if reference.resolved_table is None or reference.resolved_table.options is None:
        return None
    table = table_of(reference, {})
    return find_connector(table).real_time_obstacle(table, is_source)


@chooser(TableSourceScan, check=_check_scan, real_time=_real_time_scan)
def scan(node: TableSourceScan, query: QueryPlan) -> NativeScan:
    """Read a table by its connector."""
    awaited = [] if query.mode is Mode.BOUNDED else snapshots_awaited(node, query.plan)
    options = defined_options(node.scan_table_source.table, query.variables)
    return NativeScan(
        operators=options.get("connector", _UNKNOWN),
        why="reads the table",
        awaits=tuple(scan.id for scan in awaited if _may_last(scan, query)),
    )


def _may_last(scan: TableSourceScan, query: QueryPlan) -> bool:
    """Whether the snapshot of a table may not end with the first batch."""
    reference = scan.scan_table_source.table
    if reference.resolved_table is None or reference.resolved_table.options is None:
        return False
    table = table_of(reference, query.variables)
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
    if node.require_upsert_materialize and _compacts(node):
        return "the changes between two watermarks come to one"
    return _real_time_table(node.dynamic_table_sink.table, is_source=False)


@chooser(Sink, check=_check_sink, real_time=_real_time_sink)
def sink(node: Sink, query: QueryPlan) -> NativeSink | KernelUpserts | KernelCompactUpserts:
    """The rows as the table takes them.

    Where its primary key is not what rows are known by, the row that each primary key shows: of several the last, or as
    the plan says of conflicts.  Source: Flink's ``SinkUpsertMaterializer`` and ``WatermarkCompactingSinkMaterializer``.
    """
    reference = node.dynamic_table_sink.table
    schema = reference.resolved_table.schema if reference.resolved_table else None
    key = schema.primary_key.columns if schema and schema.primary_key else ()
    is_changelog = query.is_changelog(query.input(node)) and not query.is_final
    if not (node.require_upsert_materialize and is_changelog):
        options = defined_options(reference, query.variables)
        connector = options.get("connector", _UNKNOWN)
        orders = bool(key) and not is_changelog and not query.is_real_time and _upserts(reference, query)
        way = "foreach" if query.is_real_time else "micro-batch sink"
        nets = query.must_net(query.input(node))
        return NativeSink(operators=f"{way}, {connector}", why="writes the table", orders=orders, nets=nets)
    names = [c.name for c in schema.columns if c.is_physical] if schema else []
    primary_key = tuple(names.index(name) for name in key)
    why = "rows are known by another key than the table's; the sink then writes it"
    if _compacts(node):
        return KernelCompactUpserts(
            kernel="changelog.CompactUpserts",
            why=why,
            shuffle=key,
            states=(own_state(node, "ValueState", "the row of a primary key"),),
            primary_key=primary_key,
            fails=_conflict_behavior(node) == "ERROR",
        )
    return KernelUpserts(
        kernel="changelog.UpsertMaterialize",
        why=why,
        shuffle=key,
        states=(own_state(node, "ValueState", "the rows of a primary key, in order"),),
        primary_key=primary_key,
    )


def _upserts(reference: ContextResolvedTable, query: QueryPlan) -> bool:
    if reference.resolved_table is None or reference.resolved_table.options is None:
        return False
    table = table_of(reference, query.variables)
    return find_connector(table).replaces(table)


def _conflict_behavior(node: Sink) -> str:
    """What becomes of a second row of a primary key."""
    return node.conflict_strategy.behavior if node.conflict_strategy else "DEDUPLICATE"


def _compacts(node: Sink) -> bool:
    """Whether a primary key has one row only."""
    return _conflict_behavior(node) in ("ERROR", "NOTHING")
