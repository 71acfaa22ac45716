"""Relations of both algebras as text, one line each, in the style of Flink's ``EXPLAIN``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ...plan import specs
from ...plan.durations import format_duration
from ...plan.rex import RexNode
from ...plan.row_kinds import kinds_text
from ..algebra import logical as a
from ..algebra import physical as p
from ..algebra.dispatch import Dispatch
from ..algebra.lookups import LookupJoin
from ..algebra.names import uniquify
from ..algebra.rel import AssignsWatermark, Correlation, MatchesPattern, NaryJoin, Rel
from ..algebra.scan_columns import source_columns
from ..lowering.aggregate_text import call_text
from ..lowering.aggregates import group_window_text
from ..lowering.context import columns, group_by, order_text
from ..lowering.joins import JOIN_NAMES
from ..lowering.ranks import range_text, strategy_text
from ..lowering.relational import partition_text
from ..lowering.windows import windowing_text
from ..rex.expressions import rewrite
from ..rex.printer import expression, named
from ..rex.unplanned import SubQuery

Parts = Iterable[str]
"""What stands in the brackets behind an operator's name, each as ``key=[value]``."""


def tree_lines(rel: Rel) -> Iterator[str]:
    """The lines of a tree, inputs indented; behind a relation's own line stand the trees of its subqueries.

    A physical relation whose changelog mode is inferred shows it as ``changelogMode=[I,UA,D]``.  What stands below a
    relation that several others read is shown once.
    """
    return _lines(rel, 0, set())


def _lines(rel: Rel, depth: int, shown: set[int]) -> Iterator[str]:
    parts = list(_PARTS[rel](rel))
    if rel.change_trait is not None:
        parts.append(f"changelogMode=[{kinds_text(frozenset(rel.change_trait.row_kinds)) or 'NONE'}]")
    is_repeated = id(rel) in shown and bool(_inputs(rel))
    shown.add(id(rel))
    yield f"{'  ' * depth}{type(rel).__name__}({', '.join(parts)}){' (see above)' * is_repeated}"
    if is_repeated:
        return
    for subquery in _subqueries(rel):
        yield f"{'  ' * (depth + 1)}subquery:"
        yield from _lines(subquery, depth + 2, shown)
    for each in _inputs(rel):
        yield from _lines(each, depth + 1, shown)


def _inputs(rel: Rel) -> tuple[Rel, ...]:
    """The inputs of a relation, with those of window operators, which are planned by themselves."""
    match rel:
        case a.WindowOperator():
            return (rel.rows,)
        case a.LateRows():
            return (rel.operator,)
    return rel.inputs


def _subqueries(rel: Rel) -> Iterator[Rel]:
    """The relations of the subqueries in a relation's expressions."""
    match rel:
        case a.Project():
            exprs = rel.exprs
        case a.Filter() | a.Join():
            exprs = (rel.condition,)
        case _:
            return
    relations: list[Rel] = []

    def collect(rex: RexNode) -> RexNode:
        if isinstance(rex, SubQuery):
            relations.append(rex.rel)
        return rex

    for rex in exprs:
        rewrite(rex, collect)
    yield from relations


def _select(exprs: Iterable[RexNode], names: Iterable[str], fields: Sequence[str]) -> str:
    items = (named(expression(rex, fields), name) for rex, name in zip(exprs, names, strict=True))
    return f"select=[{', '.join(items)}]"


def _fields(rel: Rel) -> tuple[str, ...]:
    """The names of the columns that expressions of a relation read."""
    return uniquify([name for each in rel.inputs for name in each.names])


def _nothing(rel: Rel) -> Parts:
    return ()


def _table(rel: a.Scan | a.TableModify | p.Sink) -> Parts:
    yield f"table=[{rel.table.identifier.name}]"
    if rel.options:
        yield f"options=[{', '.join(f'{key}={value}' for key, value in rel.options)}]"


def _source(rel: p.SourceScan) -> Parts:
    yield from _table(rel)  # type: ignore[arg-type]
    fields = source_columns(rel)
    for ability in rel.abilities:
        match ability:
            case specs.PartitionPushDown(partitions):
                yield f"partitions=[{', '.join(map(partition_text, partitions))}]"
            case specs.FilterPushDown(predicates):
                yield f"filter=[{', '.join(expression(predicate, fields) for predicate in predicates)}]"
            case specs.ProjectPushDown(produced_type=produced):
                fields = produced.field_names
                yield f"project=[{', '.join(produced.field_names)}]"
            case specs.ReadingMetadata(keys, produced):
                fields = produced.field_names
                if keys:
                    yield f"metadata=[{', '.join(keys)}]"
            case specs.LimitPushDown(limit):
                yield f"limit=[{limit}]"
    yield f"fields=[{', '.join(rel.names)}]"


def _values(rel: a.Values | p.ConstantRows) -> Parts:
    rows = ("{" + ", ".join(expression(value, ()) for value in row) + "}" for row in rel.tuples)
    return (f"tuples=[{', '.join(rows)}]",)


def _project(rel: a.Project) -> Parts:
    return (_select(rel.exprs, rel.names, _fields(rel)),)


def _filter(rel: a.Filter) -> Parts:
    yield f"where=[{expression(rel.condition, _fields(rel))}]"
    if rel.given is not None:
        yield f"names=[{', '.join(rel.given)}]"


def _calc(rel: p.Calc) -> Parts:
    yield _select(rel.projection, rel.names, _fields(rel))
    if rel.condition is not None:
        yield f"where=[{expression(rel.condition, _fields(rel))}]"


def _watermark(rel: AssignsWatermark) -> Parts:
    fields = _fields(rel)
    return f"rowtime=[{fields[rel.rowtime_index]}]", f"watermark=[{expression(rel.expr, fields)}]"


def _aggregation(
    rel: a.Aggregate | p.GroupAggregate | p.GlobalGroupAggregate | p.WindowAggregate | p.GlobalWindowAggregate,
) -> Parts:
    if isinstance(rel, (p.WindowAggregate, p.GlobalWindowAggregate)):
        yield from group_by(rel.input, rel.grouping)
        yield f"window=[{windowing_text(rel.windowing, rel.input.names)}]"
    else:
        yield from group_by(rel.input, rel.grouping, rel.phase)
    if isinstance(rel, a.Aggregate) and rel.grouping_sets is not None:
        sets = (f"{{{columns(rel.input, grouping)}}}" for grouping in rel.grouping_sets)
        yield f"groupingSets=[{', '.join(sets)}]"
    yield _calls(rel.calls, rel.names[len(rel.grouping) :], _aggregated_fields(rel))


def _aggregated_fields(rel: Rel) -> tuple[str, ...]:
    """The columns that the calls of an aggregation are over: in a second phase those that the first one reads."""
    if isinstance(rel, (p.GlobalGroupAggregate, p.GlobalWindowAggregate)):
        return rel.local_input.field_names
    return _fields(rel)


def _calls(calls: Sequence[specs.AggregateCall], names: Sequence[str], fields: Sequence[str]) -> str:
    texts = (f"{call_text(call, fields)} AS {name}" for call, name in zip(calls, names, strict=False))
    return f"select=[{', '.join(texts)}]"


def _local_aggregation(rel: p.LocalGroupAggregate | p.LocalWindowAggregate) -> Parts:
    yield from group_by(rel.input, rel.grouping, rel.phase if isinstance(rel, p.LocalGroupAggregate) else None)
    if isinstance(rel, p.LocalWindowAggregate):
        yield f"window=[{windowing_text(rel.windowing, rel.input.names)}]"
    yield f"select=[{', '.join(call_text(call, rel.input.names) for call in rel.calls)}]"


def _incremental(rel: p.IncrementalGroupAggregate) -> Parts:
    yield f"partialAggGrouping=[{columns(rel.input, rel.partial_grouping)}]"
    yield f"finalAggGrouping=[{columns(rel.input, rel.final_grouping)}]"


def _legacy_window(rel: p.LegacyWindowAggregate) -> Parts:
    yield from group_by(rel.input, rel.grouping)
    yield f"window=[{group_window_text(rel.window)}]"
    if rel.properties:
        yield f"properties=[{', '.join(named.name for named in rel.properties)}]"
    yield _calls(rel.calls, rel.names[len(rel.grouping) :], _fields(rel))
    if rel.emit is not None:
        yield f"emit=[{rel.emit}]"


def _over(rel: p.OverAggregate) -> Parts:
    fields = [*rel.input.names, *(expression(constant, ()) for constant in rel.constants)]
    if rel.partition:
        yield f"partitionBy=[{columns(rel.input, rel.partition)}]"
    yield f"orderBy=[{order_text(rel.input, rel.groups[0].order_by.fields)}]"
    yield _calls(rel.calls, rel.names[rel.input.width :], fields)


def _join(rel: a.Join | a.TemporalJoin | p.PhysicalBinary) -> Parts:
    yield f"joinType=[{JOIN_NAMES[rel.kind]}]"
    yield f"where=[{expression(rel.condition, _fields(rel))}]"
    if isinstance(rel, a.TemporalJoin):
        yield f"asOf=[{expression(rel.time, _fields(rel))}]"
    yield f"select=[{', '.join(rel.names)}]"


def _lateral(rel: a.Lateral) -> Parts:
    return f"joinType=[{JOIN_NAMES[rel.kind]}]", f"correlation=[{rel.correl}]"


def _multi_join(rel: NaryJoin) -> Parts:
    yield f"joinTypes=[{', '.join(JOIN_NAMES[kind] for kind in rel.kinds[1:])}]"
    yield f"where=[{', '.join(expression(condition, rel.names) for condition in rel.conditions[1:])}]"
    yield f"select=[{', '.join(rel.names)}]"


def _correlate(rel: Correlation) -> Parts:
    yield f"joinType=[{JOIN_NAMES[rel.type]}]"
    yield f"call=[{expression(rel.call, rel.input.names)}]"
    yield f"select=[{', '.join(rel.names)}]"
    if rel.condition is not None:
        yield f"where=[{expression(rel.condition, rel.names)}]"


def _lookup_join(rel: LookupJoin) -> Parts:
    yield f"table=[{rel.table.table.identifier.name}]"
    yield f"joinType=[{JOIN_NAMES[rel.kind]}]"
    yield f"lookup=[{', '.join(rel.table.names[column] for column, _ in rel.keys)}]"
    fields = uniquify([*rel.input.names, *rel.answers.names])
    if rel.condition is not None:
        yield f"where=[{expression(rel.condition, fields)}]"
    yield f"select=[{', '.join(rel.names)}]"


def _snapshot(rel: a.Snapshot) -> Parts:
    return ("period=[PROCTIME]",) if rel.lookup is None else ("period=[PROCTIME]", "lookup=[true]")


def _set_operation(rel: a.SetOp) -> Parts:
    return f"kind=[{rel.kind.value}]", f"all=[{str(rel.all).lower()}]"


def _union(rel: p.UnionAll) -> Parts:
    return ("all=[true]", f"union=[{', '.join(rel.names)}]")


def _window_function(rel: a.WindowFunction) -> Parts:
    sizes = {"size": rel.size, "slide": rel.slide, "offset": rel.offset}
    times = (f"{name}=[{format_duration(millis)}]" for name, millis in sizes.items() if millis is not None)
    yield f"window=[{rel.kind}(time_col=[{rel.input.names[rel.time_index]}], {', '.join(times)})]"
    if rel.partition_keys:
        yield f"partitionBy=[{columns(rel.input, rel.partition_keys)}]"


def _window_table_function(rel: p.WindowTableFunction) -> Parts:
    return (f"window=[{windowing_text(rel.windowing, rel.input.names)}]",)


def _match(rel: MatchesPattern) -> Parts:
    if rel.partition:
        yield f"partitionBy=[{columns(rel.input, rel.partition)}]"
    yield f"orderBy=[{order_text(rel.input, rel.order)}]"
    fields = rel.input.names
    measures = (f"{expression(rex, fields)} AS {name}" for name, rex in rel.measures)
    yield f"measures=[{', '.join(measures)}]"
    yield f"define=[{', '.join(f'{name} AS {expression(rex, fields)}' for name, rex in rel.definitions)}]"


def _window_operator(rel: a.WindowOperator | p.WindowOperator) -> Parts:
    source = rel.rows if isinstance(rel, a.WindowOperator) else rel.input
    yield f"assigner=[{type(rel.window.assigner).__name__}]"
    if rel.window.keys:
        yield f"keyBy=[{columns(source, rel.window.keys)}]"
    yield f"select=[{', '.join(rel.names)}]"


def _sort(rel: a.Sort | p.SortLimit | p.Limit | p.TemporalSort | p.FullSort) -> Parts:
    if not isinstance(rel, p.Limit) and rel.order:
        yield f"orderBy=[{order_text(rel.input, rel.order)}]"
    if isinstance(rel, (a.Sort, p.SortLimit, p.Limit)):
        if rel.offset:
            yield f"offset=[{rel.offset}]"
        if rel.fetch is not None:
            yield f"fetch=[{rel.fetch}]"
    if rel.change_trait is not None and isinstance(rel, (p.SortLimit, p.Limit)):
        yield f"strategy=[{strategy_text(rel.strategy)}]"


def _exchange(rel: p.Exchange) -> Parts:
    return (f"distribution=[hash[{columns(rel.input, rel.keys)}]]" if rel.keys else "distribution=[single]",)


def _mini_batch(rel: p.MiniBatchAssigner) -> Parts:
    return f"interval=[{rel.interval}ms]", f"mode=[{rel.mode}]"


def _normalize(rel: p.ChangelogNormalize) -> Parts:
    yield f"key=[{columns(rel.input, rel.unique_keys)}]"
    if rel.condition is not None:
        yield f"condition=[{expression(rel.condition, rel.input.names)}]"


def _expand(rel: p.Expand) -> Parts:
    rows = ("{" + ", ".join(expression(rex, rel.input.names) for rex in row) + "}" for row in rel.projects)
    return f"projects=[{', '.join(rows)}]", f"select=[{', '.join(rel.names)}]"


def _rank(rel: p.Rank | p.WindowRank) -> Parts:
    yield f"rankType=[{rel.kind}]"
    yield f"rankRange=[{range_text(rel.range, rel.input)}]"
    yield f"partitionBy=[{columns(rel.input, rel.partition)}]"
    yield f"orderBy=[{order_text(rel.input, rel.order)}]"
    if isinstance(rel, p.WindowRank):
        yield f"window=[{windowing_text(rel.windowing, rel.input.names)}]"
    if rel.change_trait is not None and isinstance(rel, p.Rank):
        yield f"strategy=[{strategy_text(rel.strategy)}]"
    if rel.rank is not None:
        yield f"rank=[{rel.rank}]"


def _deduplicate(rel: p.Deduplicate) -> Parts:
    yield f"keep=[{'LastRow' if rel.keep_last else 'FirstRow'}]"
    yield f"key=[{columns(rel.input, rel.keys)}]"
    yield f"order=[{'ROWTIME' if rel.is_rowtime else 'PROCTIME'}]"


def _window_deduplicate(rel: p.WindowDeduplicate) -> Parts:
    yield f"keep=[{'LastRow' if rel.keep_last else 'FirstRow'}]"
    yield f"partitionBy=[{columns(rel.input, rel.partition)}]"
    yield f"orderBy=[{rel.input.names[rel.order_key]}]"
    yield f"window=[{windowing_text(rel.windowing, rel.input.names)}]"


def _sink(rel: p.Sink) -> Parts:
    yield from _table(rel)
    if rel.upsert_materialize:
        yield "upsertMaterialize=[true]"


_PARTS: Dispatch[Parts] = Dispatch(
    "the text",
    {
        a.Scan: _table,
        a.TableModify: _table,
        a.Values: _values,
        a.Project: _project,
        a.Filter: _filter,
        a.Watermark: _watermark,
        a.Aggregate: _aggregation,
        a.Join: _join,
        a.TemporalJoin: _join,
        a.Lateral: _lateral,
        a.MultiJoin: _multi_join,
        a.Snapshot: _snapshot,
        a.Correlate: _correlate,
        a.SetOp: _set_operation,
        a.WindowFunction: _window_function,
        a.Match: _match,
        a.WindowOperator: _window_operator,
        a.LateRows: _nothing,
        a.Sort: _sort,
        p.SourceScan: _source,
        p.Calc: _calc,
        p.Exchange: _exchange,
        p.WatermarkAssigner: _watermark,
        p.MiniBatchAssigner: _mini_batch,
        p.DropUpdateBefore: _nothing,
        p.ChangelogNormalize: _normalize,
        p.Expand: _expand,
        p.GroupAggregate: _aggregation,
        p.LocalGroupAggregate: _local_aggregation,
        p.GlobalGroupAggregate: _aggregation,
        p.IncrementalGroupAggregate: _incremental,
        p.LegacyWindowAggregate: _legacy_window,
        p.OverAggregate: _over,
        p.Match: _match,
        p.WindowTableFunction: _window_table_function,
        p.WindowAggregate: _aggregation,
        p.LocalWindowAggregate: _local_aggregation,
        p.GlobalWindowAggregate: _aggregation,
        p.WindowOperator: _window_operator,
        p.LateRows: _nothing,
        p.RegularJoin: _join,
        p.IntervalJoin: _join,
        p.WindowJoin: _join,
        p.VersionedJoin: _join,
        LookupJoin: _lookup_join,
        p.TableFunctionJoin: _correlate,
        p.Rank: _rank,
        p.WindowRank: _rank,
        p.Deduplicate: _deduplicate,
        p.WindowDeduplicate: _window_deduplicate,
        p.SortLimit: _sort,
        p.Limit: _sort,
        p.TemporalSort: _sort,
        p.FullSort: _sort,
        p.MultiJoin: _multi_join,
        p.UnionAll: _union,
        p.ConstantRows: _values,
        p.Sink: _sink,
    },
    unknown=(),
    logical=True,
    physical=True,
)
