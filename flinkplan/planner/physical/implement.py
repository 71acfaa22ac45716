"""From logical to physical operators, with exchanges where rows have to be shuffled.

Sources: the ``StreamPhysical…Rule`` classes and ``FlinkExpandConversionRule``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ...plan.functions.comparison import EQ, IS_NOT_DISTINCT_FROM
from ...plan.record import Struct, field, replace
from ...plan.rex import RexNode
from ...plan.settings import is_batch_mode
from ...plan.specs import (
    ConstantRankRange,
    IntervalJoinSpec,
    SessionWindow,
    SortField,
    TimeAttributeWindowing,
    WindowAttachedWindowing,
)
from ..algebra import physical as p
from ..algebra.builders import merge_calc
from ..algebra.dispatch import Dispatch
from ..algebra.logical import (
    Aggregate,
    Correlate,
    Filter,
    Join,
    Lateral,
    LateRows,
    Match,
    MultiJoin,
    ProcessTable,
    Project,
    Scan,
    SetOp,
    Snapshot,
    Sort,
    TableAggregate,
    TableModify,
    TemporalJoin,
    Values,
    Watermark,
    WindowFunction,
    WindowOperator,
)
from ..algebra.rel import Rel
from ..algebra.tree import copy_as
from ..connectors import table_options
from ..errors import Part, PlanningError
from ..metadata.join_kinds import JoinKeys, interval_bounds, is_lookup, join_keys, null_safe_equality
from ..metadata.modify_kinds import INSERT_ONLY, modify_kinds
from ..metadata.multi_joins import common_keys
from ..metadata.process_tables import process_uid
from ..metadata.window_properties import WindowColumns, groups_by_window, window_columns, window_keys, window_spec
from ..rex.expressions import and_, identity
from .lookup_joins import lookup_join
from .mini_batch import is_enabled
from .temporal_joins import temporal_join
from .windows import window_aggregate


class Implementer(Struct):
    """Builds the physical tree bottom-up; ``plan`` makes the physical tree of a bound tree."""

    config: Mapping[str, str]
    plan: Callable[[Rel], Rel]
    seen: dict[int, tuple[Rel, Rel]] = field(default_factory=dict)
    """By the ``id`` of a logical relation: the relation, and its physical one."""

    def visit(self, rel: Rel) -> Rel:
        """The physical relation of a logical one; one that stands at several places is shared."""
        entry = self.seen.get(id(rel))
        if entry is None:
            entry = self.seen[id(rel)] = rel, _RULES[rel](self, rel)
        return entry[1]

    def retracts(self, rel: Rel) -> bool:
        """Whether a physical relation updates or deletes rows."""
        return not modify_kinds(rel) <= INSERT_ONLY


def exchange(rel: Rel, keys: tuple[int, ...]) -> Rel:
    """The relation shuffled by ``keys``; the result of a limit is in one task already."""
    if not keys and isinstance(rel, (p.Limit, p.SortLimit)):
        return rel
    return p.Exchange(input=rel, keys=keys)


def _over_inputs(self: Implementer, rel: Rel) -> Rel:
    """An operator that logical rules have made, over physical inputs."""
    return rel.over(self.visit)


def _calc(self: Implementer, rel: p.Calc) -> Rel:
    source = self.visit(rel.input)
    names = rel.input.names
    named = replace(rel, input=source, input_names=None if source.names == names else names)
    return merge_calc(named)


def _watermark(self: Implementer, rel: Watermark) -> Rel:
    return copy_as(p.WatermarkAssigner, rel, input=self.visit(rel.input))


def _aggregate(self: Implementer, rel: Aggregate) -> Rel:
    source = self.visit(rel.input)
    if groups_by_window(rel):
        return window_aggregate(rel, source, self.config, self.retracts(source))
    ttl = dict(rel.ttl.by_input).get(0) if rel.ttl else None
    return copy_as(p.GroupAggregate, rel, input=exchange(source, rel.grouping), ttl=ttl)


def _table_aggregate(self: Implementer, rel: TableAggregate) -> Rel:
    """Source: ``StreamPhysicalPythonGroupTableAggregateRule``."""
    return copy_as(p.GroupTableAggregate, rel, input=exchange(self.visit(rel.input), rel.grouping))


def _legacy_window(self: Implementer, rel: p.LegacyWindowAggregate) -> Rel:
    return replace(rel, input=exchange(self.visit(rel.input), rel.grouping))


def _over(self: Implementer, rel: p.OverAggregate) -> Rel:
    below = rel.input
    if rel.number and isinstance(below, p.OverAggregate) and not is_batch_mode(self.config):
        orders = {(each.partition, each.groups[0].order_by) for each in (rel, below)}
        if len(orders) == 1:
            raise PlanningError("one query can have only one frame over the same partition and order", part=Part.OVER)
        raise PlanningError(
            "one query can have only one partition and order for OVER",
            hint="compute one of them in a subquery",
            part=Part.OVER,
        )
    return replace(rel, input=exchange(self.visit(rel.input), rel.partition))


def _window_function(self: Implementer, rel: WindowFunction) -> Rel:
    source = self.visit(rel.input)
    spec = window_spec(rel)
    time = source.types[rel.time_index]
    if not time.is_time_attribute:
        raise PlanningError(
            f"the time column '{source.names[rel.time_index]}' of a window is no time attribute any more",
            hint="a regular join or an aggregation between its table and the window makes it a plain timestamp",
        )
    if isinstance(spec, SessionWindow):
        source = exchange(source, spec.partition_key_indices or ())
    strategy = TimeAttributeWindowing(spec, time, rel.time_index, time.is_rowtime)
    return p.WindowTableFunction(input=source, windowing=strategy)


def _window_operator(self: Implementer, rel: WindowOperator) -> Rel:
    """A window operator over the physical tree of its rows, which is planned on its own."""
    source = self.plan(rel.rows)
    return copy_as(p.WindowOperator, rel, input=exchange(source, rel.window.keys))


def _process_table(self: Implementer, rel: ProcessTable) -> Rel:
    """Source: ``StreamPhysicalProcessTableFunctionRule``."""
    inputs = [self.visit(each) for each in rel.operands]
    for table, declared in zip(rel.tables, rel.declared_tables, strict=True):
        if declared.is_set:
            inputs[table.input_index] = exchange(inputs[table.input_index], table.partition_keys)
    return copy_as(p.ProcessTable, rel, operands=tuple(inputs), uid=process_uid(rel))


def _late_rows(self: Implementer, rel: LateRows) -> Rel:
    return p.LateRows(input=self.visit(rel.operator))


def _match(self: Implementer, rel: Match) -> Rel:
    return copy_as(p.Match, rel, input=exchange(self.visit(rel.input), rel.partition))


def _join(self: Implementer, rel: Join) -> Rel:
    if is_lookup(rel):
        (table,) = rel.right.inputs
        lookup = lookup_join(rel, self.visit(rel.left), self.visit(table))
        return replace(lookup, input=exchange(lookup.input, lookup.left_keys)) if lookup.hint.shuffle else lookup
    windowed = window_keys(rel)
    rel = replace(rel, left=self.visit(rel.left), right=self.visit(rel.right))
    types = (*rel.left.types, *rel.right.types)
    width = rel.left.width
    if windowed is not None:
        keys = windowed.keys
        return copy_as(
            p.WindowJoin,
            _exchanged(rel, keys),
            condition=_without_windows(rel, keys),
            spec=keys.spec(rel.type),
            left_windowing=_attached(windowed.left, windowed.starts[0], windowed.ends[0]),
            right_windowing=_attached(windowed.right, windowed.starts[1], windowed.ends[1]),
        )
    bounds, rest = interval_bounds(rel.condition, types, width)
    keys = join_keys(rel.condition if bounds is None else and_(rest), width)
    if bounds is not None:
        spec = IntervalJoinSpec(keys.spec(rel.type), bounds)
        return copy_as(p.IntervalJoin, _exchanged(rel, keys), spec=spec)
    condition = null_safe_equality(rel.condition) or rel.condition
    return copy_as(p.RegularJoin, _exchanged(rel, keys), condition=condition, spec=keys.spec(rel.type))


def _exchanged(rel: Join, keys: JoinKeys) -> Join:
    """The join with both inputs shuffled by the join key."""
    return replace(rel, left=exchange(rel.left, keys.left), right=exchange(rel.right, keys.right))


def _multi_join(self: Implementer, rel: MultiJoin) -> Rel:
    keys = common_keys(rel)
    inputs = tuple(exchange(self.visit(o), key) for o, key in zip(rel.operands, keys, strict=True))
    return copy_as(p.MultiJoin, rel, operands=inputs, keys=keys)


def _without_windows(rel: Join, keys: JoinKeys) -> RexNode:
    """The condition of a window join without its comparison of windows; as in the description, keys come first.

    Source: ``WindowJoinUtil``.
    """
    columns = identity((*rel.left.types, *rel.right.types))
    pairs = zip(keys.left, keys.right, keys.filter_nulls, strict=True)
    equal = [
        (EQ if nulls else IS_NOT_DISTINCT_FROM).call(columns[a], columns[rel.left.width + b]) for a, b, nulls in pairs
    ]
    return and_((*equal, *keys.rest))


def _attached(window: WindowColumns, start: int, end: int) -> WindowAttachedWindowing:
    return WindowAttachedWindowing(window.spec, window.time_type, start, end, window.time_type.is_rowtime)


def _rank(self: Implementer, rel: p.Rank) -> Rel:
    source = self.visit(rel.input)
    window = window_columns(rel.input)
    if window is not None and window.bounded_by(rel.partition):
        return _window_rank(rel, source, window)
    if _is_deduplicate(rel, source) and not self.retracts(source):
        time = source.types[rel.order[0].index]
        return p.Deduplicate(
            input=exchange(source, rel.partition),
            keys=rel.partition,
            is_rowtime=time.is_rowtime,
            keep_last=not rel.order[0].is_ascending,
            uses_mini_batches=is_enabled(self.config),
        )
    return replace(rel, input=exchange(source, rel.partition), uses_mini_batches=is_enabled(self.config))


def _is_deduplicate(rel: p.Rank, source: Rel) -> bool:
    """RankUtil.canConvertToDeduplicate: the first or last row by one time attribute."""
    return (
        rel.kind == "ROW_NUMBER"
        and rel.range == ConstantRankRange(1, 1)
        and rel.rank is None
        and len(rel.order) == 1
        and source.types[rel.order[0].index].is_time_attribute
    )


def _window_rank(rel: p.Rank, source: Rel, window: WindowColumns) -> Rel:
    partition = tuple(i for i in rel.partition if i not in window.all)
    start = min(window.starts & set(rel.partition))
    end = min(window.ends & set(rel.partition))
    windowing = _attached(window, start, end)
    first = rel.kind == "ROW_NUMBER" and rel.range == ConstantRankRange(1, 1) and rel.rank is None
    if first and len(rel.order) == 1 and source.types[rel.order[0].index].is_time_attribute:
        return p.WindowDeduplicate(
            input=exchange(source, partition),
            partition=partition,
            order_key=rel.order[0].index,
            keep_last=not rel.order[0].is_ascending,
            windowing=windowing,
        )
    return copy_as(p.WindowRank, rel, input=exchange(source, partition), partition=partition, windowing=windowing)


def _sort(self: Implementer, rel: Sort) -> Rel:
    source = exchange(self.visit(rel.input), ())
    offset = rel.offset or 0
    if not rel.order:
        return p.Limit(input=source, offset=offset, fetch=rel.fetch)
    if rel.fetch is not None or rel.offset is not None:
        return p.SortLimit(input=source, order=rel.order, offset=offset, fetch=rel.fetch)
    if _by_time(source, rel.order):
        return p.TemporalSort(input=source, order=rel.order)
    return p.FullSort(input=source, order=rel.order)


def _by_time(rel: Rel, order: tuple[SortField, ...]) -> bool:
    return order[0].is_ascending and rel.types[order[0].index].is_time_attribute


def _union(self: Implementer, rel: SetOp) -> Rel:
    return p.UnionAll(operands=tuple(self.visit(o) for o in rel.operands))


def _values(self: Implementer, rel: Values) -> Rel:
    return copy_as(p.ConstantRows, rel)


def _correlate(self: Implementer, rel: Correlate) -> Rel:
    return copy_as(p.TableFunctionJoin, rel, input=self.visit(rel.input))


def _temporal(self: Implementer, rel: TemporalJoin) -> Rel:
    left, right = self.visit(rel.left), self.visit(rel.right)
    join = temporal_join(rel, left, right)
    return replace(join, left=exchange(left, join.spec.left_keys), right=exchange(right, join.spec.right_keys))


def _sink(self: Implementer, rel: TableModify) -> Rel:
    source = self.visit(rel.input)
    keys = _shuffled_by(rel)
    return copy_as(p.Sink, rel, input=exchange(source, keys) if keys else source)


def _shuffled_by(rel: TableModify) -> tuple[int, ...]:
    """The partition columns by which a file sink shuffles rows, if the option asks for that."""
    options = table_options(rel.table, dict(rel.options))
    if options.get("sink.shuffle-by-partition.enable", "").lower() != "true":
        return ()
    fixed = dict(rel.static_partition)
    stored = [c.name for c in rel.table.resolved.schema.columns if c.is_physical]
    return tuple(stored.index(key) for key in rel.table.resolved.partition_keys or () if key not in fixed)


_RULES: Dispatch[Rel] = Dispatch(
    "the physical operator",
    {
        p.SourceScan: _over_inputs,
        p.Expand: _over_inputs,
        Watermark: _watermark,
        p.Calc: _calc,
        Aggregate: _aggregate,
        TableAggregate: _table_aggregate,
        p.LegacyWindowAggregate: _legacy_window,
        p.OverAggregate: _over,
        WindowFunction: _window_function,
        ProcessTable: _process_table,
        WindowOperator: _window_operator,
        LateRows: _late_rows,
        Match: _match,
        Join: _join,
        MultiJoin: _multi_join,
        TemporalJoin: _temporal,
        p.Rank: _rank,
        Sort: _sort,
        SetOp: _union,
        Values: _values,
        Correlate: _correlate,
        TableModify: _sink,
    },
    unknown=(Scan, Filter, Project, Lateral, Snapshot),
    logical=True,
)
"""Rules have rewritten those without a physical operator; a lookup join includes its snapshot."""
