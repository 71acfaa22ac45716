"""Rules on sources and sinks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from ...plan.findings import Severity
from ...plan.nodes import BatchSink, BatchTableSourceScan, ExecNode, Sink, TableSourceScan
from ...plan.record import replace
from ...plan.specs import (
    ProjectPushDown,
    ReadingMetadata,
    ResolvedTable,
    SourceAbility,
    SourceWatermark,
    WatermarkPushDown,
)
from ...plan.types import row
from ...plan.types.readable import readable
from ..comparing import Comparison
from ..edits import FieldChange, Keep, Update
from ..lineage import Lineage, Meaning
from ..verdicts import Effect, Verdict
from .model import Became, ChangeRule, Judgement, arrows, field_judge, label, pair_judge, rule

RENAMED = rule(
    "table-renamed",
    "a table has another name in the catalog",
    "The options of a table determine what is read or written; its name in the catalog does not matter for sources.",
    flink=Verdict.COSMETIC,
    spark=Verdict.COSMETIC,
    results=Effect.NO,
    example="The source `orders` was renamed to `purchases` with the same options.",
    fix="Nothing to do.",
)
COMMENT = rule(
    "table-comment-changed",
    "a comment of a table changed",
    "Comments have no effect.",
    flink=Verdict.COSMETIC,
    spark=Verdict.COSMETIC,
    results=Effect.NO,
    example="`COMMENT 'all orders'` was added.",
    fix="Nothing to do.",
)
UNDEFINED = rule(
    "table-definition-missing",
    "only one of the plans has the definition of a table",
    "A plan compiled with `table.plan.compile.catalog-objects` = IDENTIFIER has only the names of tables, whose "
    "definitions may have changed.",
    flink=Verdict.UNKNOWN,
    spark=Verdict.UNKNOWN,
    results=Effect.UNKNOWN,
    example="The old plan was compiled with ALL, the new one with IDENTIFIER.",
    fix="Compile both plans with `table.plan.compile.catalog-objects` = ALL.",
)
SOURCE_CONNECTOR = rule(
    "source-connector-changed",
    "a source has another connector",
    "Each connector stores its position in a format of its own. Flink may refuse the position of another connector, "
    "or start at the beginning; this was not tested.",
    flink=Verdict.UNKNOWN,
    spark=Verdict.INCOMPATIBLE,
    results=Effect.YES,
    example="`'connector' = 'filesystem'` became `'kafka'`.",
    fix="Start without state.",
)
SOURCE_LOCATION = rule(
    "source-location-changed",
    "a source reads from another location",
    "The list of files that were read is kept; files with other names at the new location are read as new.",
    flink=Verdict.COMPATIBLE,
    spark=Verdict.COMPATIBLE,
    results=Effect.YES,
    example="`'path' = '/data/orders'` became `'/archive/orders'`.",
    fix="If the same files were moved, they are read again: start without state, or keep the path.",
)
SOURCE_OPTIONS = rule(
    "source-options-changed",
    "options of a source or of its format changed",
    "They only affect how new input is read.",
    flink=Verdict.COMPATIBLE,
    spark=Verdict.COMPATIBLE,
    results=Effect.YES,
    example="`'csv.ignore-parse-errors' = 'true'` was added.",
    fix="Nothing to do.",
)
SOURCE_FORMAT = rule(
    "source-format-changed",
    "the format of a source changed between lines and columnar files",
    "It was not tested what Flink does with the position in files of another kind. On Spark parquet and orc files "
    "are read by another source than lines of text, which stores its position in another format.",
    flink=Verdict.UNKNOWN,
    spark=Verdict.INCOMPATIBLE,
    results=Effect.YES,
    example="`'format' = 'json'` became `'parquet'`.",
    fix="On Spark, start with a new checkpoint.",
)
SOURCE_POSITION = rule(
    "source-position-unknown",
    "the location or options of a source changed, and its connector may not find its position again",
    "Only file sources are known to keep their position when options change.",
    flink=Verdict.UNKNOWN,
    spark=Verdict.UNKNOWN,
    results=Effect.YES,
    example="A Kafka source reads another topic.",
    fix="Read the connector's documentation, then allow it: `--allow source-position-unknown@NODE`.",
)
SOURCE_SCHEMA = rule(
    "source-schema-changed",
    "a source's columns changed",
    "The columns of a source are not in its state; operators that store them have their own findings.",
    flink=Verdict.COMPATIBLE,
    spark=Verdict.COMPATIBLE,
    results=Effect.UNKNOWN,
    example="A column was added to the source's table.",
    fix="Nothing to do.",
)
PUSHDOWN = rule(
    "source-pushdown-changed",
    "the filters, limits or partitions of a source changed",
    "From now on the source emits other rows. Rows that were read before stay in state.",
    flink=Verdict.COMPATIBLE,
    spark=Verdict.COMPATIBLE,
    results=Effect.YES,
    example="A filter on a partition column was added to the query.",
    fix="Nothing to do.",
)
PROJECTION = rule(
    "source-projection-changed",
    "a source reads more or fewer of its table's columns",
    "The columns that are read are not in the state of the source; operators that store them have their own findings.",
    flink=Verdict.COMPATIBLE,
    spark=Verdict.COMPATIBLE,
    results=Effect.NO,
    example="The query uses one more column of the table.",
    fix="Nothing to do.",
)
WATERMARK = rule(
    "watermark-changed",
    "the watermarks of a table changed",
    "The state does not change. From now on other rows are late, and windows close at other times.",
    flink=Verdict.COMPATIBLE,
    spark=Verdict.COMPATIBLE,
    results=Effect.YES,
    example="`WATERMARK FOR ts AS ts - INTERVAL '5' SECOND` became `'1' MINUTE`.",
    fix="Nothing to do.",
)
SINK_OPTIONS = rule(
    "sink-options-changed",
    "options of a sink changed",
    "From now on rows are written to another place or in another format; written rows stay where they are.",
    flink=Verdict.COMPATIBLE,
    spark=Verdict.COMPATIBLE,
    results=Effect.YES,
    example="`'format' = 'json'` became `'csv'`.",
    fix="Nothing to do.",
)
SINK_CONNECTOR = rule(
    "sink-connector-changed",
    "a sink has another connector",
    "Some sinks of Flink have state, such as unfinished files, in a format of their own.",
    flink=Verdict.UNKNOWN,
    spark=Verdict.COMPATIBLE,
    results=Effect.YES,
    example="`'connector' = 'filesystem'` became `'kafka'`.",
    fix="For Flink, stop the old job with a savepoint, and start with --allowNonRestoredState.",
)
SINK_SCHEMA = rule(
    "sink-schema-changed",
    "a sink's columns or key changed",
    "Only sinks that store rows have state, and it has its own findings.",
    flink=Verdict.COMPATIBLE,
    spark=Verdict.COMPATIBLE,
    results=Effect.YES,
    example="A column was added to the sink's table.",
    fix="Nothing to do.",
)
SINK_VALUES = rule(
    "sink-columns-exchanged",
    "columns of a sink get the values of other columns",
    "The columns of a query are assigned to those of the sink by position, whatever their names.",
    flink=Verdict.COMPATIBLE,
    spark=Verdict.COMPATIBLE,
    results=Effect.YES,
    example="`SELECT k, MIN(a), MAX(a)` became `SELECT k, MAX(a), MIN(a)`, and the sink's table did not change.",
    fix="Reorder the columns of the query, unless this is intended.",
    severity=Severity.WARNING,
)
SINK_RENAMED = rule(
    "sink-renamed",
    "the table of a sink has another name",
    "In Flink the name does not matter. A checkpoint of `flinkplan execute` has a directory for each query, named "
    "after its sink. With another name nothing is found, and everything is read and written again.",
    flink=Verdict.COSMETIC,
    spark=Verdict.INCOMPATIBLE,
    results=Effect.YES,
    example="`INSERT INTO totals` became `INSERT INTO order_totals`.",
    fix="Keep the name, or start with a new checkpoint.",
)
MATERIALIZER = rule(
    "sink-materializer-changed",
    "a sink started or stopped to store rows in state",
    "Flink's upsert materializer is an operator before the sink. A new one starts empty; if it is removed, Flink "
    "refuses the state that no operator claims.",
    flink=Verdict.PARTIAL,
    spark=Verdict.INCOMPATIBLE,
    results=Effect.YES,
    example="The sink's primary key is no longer the query's upsert key.",
    fix="Start without state, or restore the old value of `table.exec.sink.upsert-materialize`.",
)

LOCATIONS = frozenset(("path", "topic", "url", "table-name", "hosts", "hostname", "database-name"))
"""The options of tables that say where their data is."""
_COLUMNAR = ("parquet", "orc")
_TABLE = "/table/resolvedTable"


@field_judge("scan_table_source", TableSourceScan, BatchTableSourceScan)
def sources(c: Comparison, edit: Update, changes: tuple[FieldChange, ...]) -> Iterator[Judgement]:
    """Changes of a source's table, and of what is pushed down to it."""
    options = _options(edit.new) | _options(edit.old)
    is_files = options.get("connector", "filesystem") == "filesystem"
    yield from _grouped(edit, changes, lambda change: _source_rule(change, is_files, edit))


@field_judge("dynamic_table_sink", Sink, BatchSink)
def sinks(c: Comparison, edit: Update, changes: tuple[FieldChange, ...]) -> Iterator[Judgement]:
    """Changes of a sink's table."""
    for judgement in _grouped(edit, changes, _sink_rule):
        yield replace(judgement, flink=_connector_on_flink(edit)) if judgement.rule is SINK_CONNECTOR else judgement


def _connector_on_flink(edit: Update) -> Verdict | None:
    """The verdict on Flink for another connector; state that no operator claims has a rule of its own."""
    is_known = (n.stateful_connector_operators is not None for n in (edit.old, edit.new) if isinstance(n, Sink))
    return Verdict.COMPATIBLE if all(is_known) else None


@field_judge("require_upsert_materialize", Sink)
def materializers(c: Comparison, edit: Update, changes: tuple[FieldChange, ...]) -> Iterator[Judgement]:
    """Changes of whether a sink stores rows."""
    message = "keeps rows now" if getattr(edit.new, "require_upsert_materialize", False) else "no longer keeps rows"
    yield Judgement(MATERIALIZER, message, edit.old, edit.new, changes[0].pointer, changes=changes)


@pair_judge
def exchanged(c: Comparison, edit: Became) -> Iterator[Judgement]:
    """Columns of a sink that get the values that other columns got before."""
    if not isinstance(edit, Keep | Update) or not isinstance(edit.new, Sink):
        return
    old, new = (_filled(node, lineage) for node, lineage in ((edit.old, c.old), (edit.new, c.new)))
    places = {meaning: name for name, meaning in old.items()}
    moved = [
        f"{name} gets what went into {places[meaning]}"
        for name, meaning in new.items()
        if name in old and meaning in places and places[meaning] in new and old[name] != meaning
    ]
    if moved:
        yield Judgement(SINK_VALUES, "; ".join(moved), edit.old, edit.new)


def _filled(sink: ExecNode, lineage: Lineage) -> dict[str, Meaning]:
    """The meanings of the values of a sink's columns; empty where the plan does not have the columns."""
    names, row = _columns(sink), lineage.rows[sink.id]
    return dict(zip(names, row, strict=True)) if len(names) == len(row) else {}


def _options(node: object) -> dict[str, str]:
    table = node.scan_table_source.table.resolved_table if isinstance(node, TableSourceScan) else None
    return dict(table.options or {}) if table else {}


def _grouped(
    edit: Update, changes: tuple[FieldChange, ...], choose: Callable[[FieldChange], ChangeRule]
) -> Iterator[Judgement]:
    """One judgement for all changes with the same rule."""
    by_rule: dict[ChangeRule, list[FieldChange]] = {}
    for change in changes:
        by_rule.setdefault(choose(change), []).append(change)
    for rule_, rule_changes in by_rule.items():
        message = _message(rule_, edit, tuple(rule_changes))
        yield Judgement(rule_, message, edit.old, edit.new, rule_changes[0].pointer, changes=tuple(rule_changes))


def _message(rule_: ChangeRule, edit: Update, changes: tuple[FieldChange, ...]) -> str:
    if rule_ in (PROJECTION, SOURCE_SCHEMA, SINK_SCHEMA):
        read = _fields if rule_ is PROJECTION else _columns
        return _columns_change(edit, read) or arrows(changes)
    if rule_ is PUSHDOWN and edit.old.description != edit.new.description:
        return f"{edit.old.description} → {edit.new.description}"
    texts = tuple(change for change in changes if label(change.pointer) == "serializableString")
    return arrows(texts or changes)


def _columns_change(edit: Update, read: Callable[[ExecNode], Mapping[str, str]]) -> str:
    """The change of the columns as text: their names, else their types, and the primary key."""
    old, new = read(edit.old), read(edit.new)
    if list(old) != list(new):
        return f"({', '.join(old)}) → ({', '.join(new)})"
    texts = [f"{name} {readable(t)} → {readable(new[name])}" for name, t in old.items() if new[name] != t]
    keys = [_primary_key(node) for node in (edit.old, edit.new)]
    if keys[0] != keys[1]:
        texts.append(f"primary key {' → '.join(keys)}")
    return "; ".join(texts)


def _primary_key(node: ExecNode) -> str:
    table = _table_of(node)
    key = table.schema.primary_key if table else None
    return f"({', '.join(key.columns)})" if key else "none"


def _fields(node: ExecNode) -> dict[str, str]:
    """The output columns of a scan, with their types."""
    return {f.name: str(f.type.regular()) for f in node.fields}


def _columns(node: ExecNode) -> dict[str, str]:
    """The columns of a table's schema, with their types if they have one."""
    table = _table_of(node)
    return {c.name: str(c.data_type or "") for c in table.schema.columns} if table else {}


def _table_of(node: ExecNode) -> ResolvedTable | None:
    """The table that a node reads or writes, if the plan has its definition."""
    if isinstance(node, TableSourceScan):
        return node.scan_table_source.table.resolved_table
    return node.dynamic_table_sink.table.resolved_table if isinstance(node, Sink) else None


def _source_rule(change: FieldChange, is_files: bool, edit: Update) -> ChangeRule:
    at = change.pointer.removeprefix("/scanTableSource")
    if at.startswith("/abilities"):
        return _ability_rule(edit)
    if (common := _common_rule(at, RENAMED)) is not None:
        return common
    option = at.removeprefix(f"{_TABLE}/options/")
    if option == at:
        return WATERMARK if at.startswith(f"{_TABLE}/schema/watermarkSpecs") else SOURCE_SCHEMA
    if option == "connector":
        return SOURCE_CONNECTOR
    if not is_files:
        return SOURCE_POSITION
    if option == "format" and (change.old in _COLUMNAR) != (change.new in _COLUMNAR):
        return SOURCE_FORMAT
    return SOURCE_LOCATION if option in LOCATIONS else SOURCE_OPTIONS


def _sink_rule(change: FieldChange) -> ChangeRule:
    at = change.pointer.removeprefix("/dynamicTableSink")
    renamed = RENAMED if _table_name(change.old) == _table_name(change.new) else SINK_RENAMED
    if (common := _common_rule(at, renamed)) is not None:
        return common
    option = at.removeprefix(f"{_TABLE}/options/")
    if option == at:
        return SINK_SCHEMA
    return SINK_CONNECTOR if option == "connector" else SINK_OPTIONS


def _table_name(identifier: object) -> str:
    """The last part of an identifier: ``t`` of `` `catalog`.`database`.`t` ``."""
    return str(identifier).rpartition(".")[2].strip("`")


def _common_rule(at: str, renamed: ChangeRule) -> ChangeRule | None:
    if at == "/table/identifier":
        return renamed
    if at in (_TABLE, f"{_TABLE}/options"):
        return UNDEFINED
    return COMMENT if at.endswith("/comment") else None


def _ability_rule(edit: Update) -> ChangeRule:
    """The rule for what is pushed into a source, by the abilities that differ."""
    old, new = _abilities(edit.old), _abilities(edit.new)
    differ = {kind for kind in {**old, **new} if old.get(kind) != new.get(kind)}
    if differ & {WatermarkPushDown, SourceWatermark}:
        return WATERMARK
    return PROJECTION if differ <= {ProjectPushDown, ReadingMetadata} else PUSHDOWN


def _abilities(node: object) -> Mapping[type[SourceAbility], SourceAbility]:
    """The abilities by kind, without the columns that each hands on."""
    abilities = node.scan_table_source.abilities or () if isinstance(node, TableSourceScan) else ()
    return {type(a): _without_columns(a) for a in abilities}


def _without_columns(ability: SourceAbility) -> SourceAbility:
    return (
        replace(ability, produced_type=row(())) if isinstance(ability, WatermarkPushDown | SourceWatermark) else ability
    )
