"""Pushing projections towards the sources, so that each operator reads only what is needed above it.

Sources: Calcite's ``PushProjector`` and the ``Project…TransposeRule`` of ``FlinkStreamRuleSets.PROJECT_RULES``,
``ProjectWatermarkAssignerTransposeRule``, ``PushProjectIntoTableSourceScanRule``.
"""

from __future__ import annotations

from collections.abc import Mapping

from ...plan.functions import aggregation_of
from ...plan.functions.aggregate import AVG, SUM
from ...plan.record import replace
from ...plan.rex import InputRef, RexNode
from ...plan.specs import FilterPushDown, ProjectPushDown
from ..algebra.builders import select_columns
from ..algebra.calls import is_call_of
from ..algebra.logical import (
    Aggregate,
    Filter,
    Join,
    MultiJoin,
    Project,
    SetOp,
    Snapshot,
    TemporalJoin,
    Watermark,
    WindowFunction,
    is_one_sided,
)
from ..algebra.names import uniquify
from ..algebra.physical import LegacyWindowAggregate, OverAggregate, SourceScan
from ..algebra.rel import ONE_SIDED, Rel
from ..algebra.scan_columns import _reading_order, project_scan
from ..connectors import source_of
from ..metadata.estimates import Estimates
from ..rex.expressions import (
    are_columns,
    cast,
    identity,
    inline,
    ordered_refs,
    refs,
    remap,
    retype,
)
from ..rex.simplify import built_condition
from .merged_projections import (
    computes_over,
    is_identity,
    merge_projects,
    name_groups,
    remove_identity,
    remove_identity_again,
)
from .rule import Order, Rule, RuleSet, rule


def _reading(rel: Project, source: Rel, mapping: Mapping[int, int]) -> Project:
    """The projection over another input, with its column references mapped to new positions."""
    return replace(rel, input=source, exprs=tuple(remap(e, mapping) for e in rel.exprs))


def _read(rel: Project) -> set[int]:
    """The columns of its input that a projection reads."""
    return set().union(*map(refs, rel.exprs))


@rule(on=Project, over=Filter)
def push_past_filter(rel: Project, below: Filter) -> Rel:
    """ProjectFilterTransposeRule: below the filter only columns that the filter or the projection reads.

    They keep the names of the input.  The filter is built anew, which simplifies it.
    """
    if computes_over(rel):
        return rel
    needed = sorted(refs(below.condition).union(_read(rel)))
    if len(needed) == below.input.width:
        return rel
    trimmed = select_columns(below.input, needed)
    mapping = {old: new for new, old in enumerate(needed)}
    given = None if below.given is None else tuple(below.given[i] for i in needed)
    inner = Filter(input=trimmed, condition=built_condition(remap(below.condition, mapping)), given=given)
    return _reading(rel, inner, mapping)


@rule(on=Project, over=Filter)
def name_below_filters(rel: Project, below: Filter) -> Rel:
    """A projection that only chooses columns goes below a filter, and with it its names: the lowest one first.

    One of all columns above it goes then.  Source: ``HepMatchOrder.BOTTOM_UP``.
    """
    chosen = below.input
    if isinstance(chosen, Project) and isinstance(chosen.input, OverAggregate) and is_identity(rel):
        return below
    if not isinstance(chosen, OverAggregate) or not are_columns(rel.exprs):
        return rel
    pushed = push_past_filter(rel)
    return remove_identity(pushed) if isinstance(pushed, Project) else pushed


@rule(on=Project, over=Join)
def push_past_join(rel: Project, below: Join) -> Rel:
    """FlinkProjectJoinTransposeRule, ProjectSemiAntiJoinTransposeRule: each input is pruned to the columns read.

    An input of which nothing is read keeps its first column.
    """
    return _trimmed(rel, below, refs(below.condition))


@rule(on=Project, over=(Join, Filter))
def narrow_joins(rel: Project, below: Join | Filter) -> Rel:
    """Push the lowest projections into joins below them first, past filters.

    So they decide on the column that an input keeps of which nothing is read.  Source: ``HepMatchOrder.BOTTOM_UP``.
    """
    source: Rel = below
    while isinstance(source, Filter):
        source = source.input
    return _into_join(rel) if isinstance(source, Join) else rel


def _into_join(rel: Rel) -> Rel:
    if not isinstance(rel, Project):
        return rel
    if isinstance(rel.input, Join):
        return push_past_join(rel)
    pushed = push_past_filter(rel)
    return pushed.over(lambda filtered: filtered.over(_into_join))


@rule(on=Project, over=(Join, MultiJoin))
def drop_joined_aliases(rel: Project, below: Join | MultiJoin) -> Rel:
    """A projection that is redundant once the join's inputs are pruned takes the join's column names."""
    places = [e.index if isinstance(e, InputRef) else -1 for e in rel.exprs]
    conditions = (below.condition,) if isinstance(below, Join) else below.conditions
    if -1 in places or places != sorted({*places, *(i for c in conditions for i in refs(c))}):
        return rel
    if isinstance(below, MultiJoin):
        return replace(rel, names=tuple(below.names[i] for i in places))
    joined = (*below.left.names, *below.right.names)
    sides = {i < below.left.width for i in places}
    return rel if len(sides) < len(below.inputs) else replace(rel, names=uniquify(joined[i] for i in places))


@rule(on=Project, over=Join)
def push_past_moved_join(rel: Project, below: Join) -> Rel:
    """The same, unless the right input would then be a projection.

    The cost of a join grows with the size of its left rows only.  Source: ``FlinkLogicalJoin.computeSelfCost``.
    """
    width = below.left.width
    right = range(width, width + below.right.width)
    read = refs(below.condition).union(_read(rel))
    narrowed = PUSH_PROJECTIONS.run(select_columns(below.right, (i - width for i in right if i in read)))
    gains_nothing = isinstance(narrowed, Project) and narrowed.input == PUSH_PROJECTIONS.run(below.right)
    trimmed = _trimmed(rel, below, refs(below.condition).union(right if gains_nothing else ()))
    if trimmed is rel or not is_one_sided(below.left):
        return trimmed
    estimates = Estimates()
    return min(PUSH_PROJECTIONS.run(trimmed), rel, key=estimates.cost)


def _trimmed(rel: Project, below: Join, kept: frozenset[int]) -> Rel:
    width = below.left.width
    total = width + below.right.width
    needed = sorted(kept.union(_read(rel)))
    if len(needed) == total:
        return rel
    left = [i for i in needed if i < width] or [0]
    right = [i for i in needed if i >= width] or ([] if below.type in ONE_SIDED else [width])
    needed = [*left, *right]
    if len(needed) == total:
        return rel
    new_left, new_right = select_columns(below.left, left), select_columns(below.right, [i - width for i in right])
    mapping = {old: new for new, old in enumerate(needed)}
    join = replace(below, left=new_left, right=new_right, condition=remap(below.condition, mapping))
    return _reading(rel, join, mapping)


@rule(on=Project, over=MultiJoin)
def push_past_multi_join(rel: Project, below: MultiJoin) -> Rel:
    """ProjectMultiJoinTransposeRule: each input is pruned to the columns read."""
    needed = set().union(*map(refs, rel.exprs), *map(refs, below.conditions))
    if len(needed) == below.width:
        return rel
    first, mapping = 0, {old: new for new, old in enumerate(sorted(needed))}
    operands = []
    for operand in below.operands:
        width = operand.width
        operands.append(select_columns(operand, (i for i in range(width) if first + i in needed)))
        first += width
    join = replace(
        below,
        operands=tuple(operands),
        conditions=tuple(remap(c, mapping) for c in below.conditions),
        names=tuple(below.names[i] for i in sorted(needed)),
    )
    return _reading(rel, join, mapping)


@rule(on=Project, over=Join)
def trim_one_sided(rel: Project, below: Join) -> Rel:
    """ProjectSemiAntiJoinTransposeRule, before redundant projections go: the right side is pruned.

    That of a semi or anti join without a projection above it keeps what the condition does not read.
    """
    return replace(rel, input=read_right_side(below)) if below.type in ONE_SIDED else rel


def read_right_side(rel: Join) -> Join:
    """The semi or anti join with its right side pruned to the columns that the condition reads."""
    width = rel.left.width
    needed = sorted(i - width for i in refs(rel.condition) if i >= width)
    if len(needed) == rel.right.width:
        return rel
    mapping = {i: i for i in range(width)} | {old + width: new + width for new, old in enumerate(needed)}
    return replace(rel, right=select_columns(rel.right, needed), condition=remap(rel.condition, mapping))


@rule(on=Project, over=TemporalJoin)
def push_past_temporal_join(rel: Project, below: TemporalJoin) -> Rel:
    """FlinkProjectJoinTransposeRule with ProjectSnapshotTransposeRule: time columns of both inputs are kept, too."""
    width = below.left.width
    by_event_time = below.time.type.is_rowtime
    right_time = [width + i for i, t in enumerate(below.right.types) if by_event_time and t.is_rowtime]
    key = _primary_key(below.right)
    kept = {*refs(below.time), *right_time, *(width + k for k in key), *refs(below.condition)}
    needed = sorted(kept.union(_read(rel)))
    if len(needed) == width + below.right.width:
        return rel
    new_left = select_columns(below.left, [i for i in needed if i < width])
    new_right = select_columns(below.right, [i - width for i in needed if i >= width])
    mapping = {old: new for new, old in enumerate(needed)}
    join = replace(
        below,
        left=new_left,
        right=new_right,
        condition=remap(below.condition, mapping),
        time=remap(below.time, mapping),
    )
    return _reading(rel, join, mapping)


def _primary_key(rel: Rel) -> tuple[int, ...]:
    """The key columns of a table below its watermark and computed columns."""
    while isinstance(rel, (Watermark, Project, Filter)):
        rel = rel.input
    if not isinstance(rel, SourceScan) or rel.table.resolved.schema.primary_key is None:
        return ()
    names = rel.names
    return tuple(names.index(c) for c in rel.table.resolved.schema.primary_key.columns if c in names)


@rule(on=Project, over=LegacyWindowAggregate)
def push_past_legacy_window(rel: Project, below: LegacyWindowAggregate) -> Rel:
    """Unread calls are removed; if no window property is read, all are removed."""
    keys, first = len(below.grouping), below.width - len(below.properties)
    read = _read(rel)
    calls = [i for i in range(keys, first) if i in read]
    properties = below.properties if any(i >= first for i in read) else ()
    kept = [*range(keys), *calls, *range(first, first + len(properties))]
    if len(kept) == below.width:
        return rel
    new = replace(below, calls=tuple(below.calls[i - keys] for i in calls), properties=properties)
    mapping = {old: place for place, old in enumerate(kept)}
    return _reading(rel, new, mapping)


@rule(on=Project, over=SetOp)
def push_past_set_op(rel: Project, below: SetOp) -> Rel:
    """ProjectSetOpTransposeRule: the projection goes into every input of a UNION ALL."""
    if not below.all or computes_over(rel):
        return rel
    operands = tuple(replace(rel, input=o, exprs=tuple(retype(e, o.types) for e in rel.exprs)) for o in below.operands)
    return replace(below, operands=operands)


@rule(on=Project, over=WindowFunction)
def push_past_window(rel: Project, below: WindowFunction) -> Rel:
    """ProjectWindowTableFunctionTransposeRule: the input is pruned to the columns read and the time column."""
    if computes_over(rel):
        return rel
    width = below.input.width
    wanted = {below.time_index, *below.partition_keys}.union(_read(rel))
    needed = sorted(i for i in wanted if i < width)
    if len(needed) == width:
        return rel
    mapping = {old: new for new, old in enumerate([*needed, *range(width, width + 3)])}
    window = replace(
        below,
        input=select_columns(below.input, needed),
        time_index=mapping[below.time_index],
        partition_keys=tuple(mapping[k] for k in below.partition_keys),
    )
    return _reading(rel, window, mapping)


@rule(on=Project, over=Watermark)
def push_past_watermark(rel: Project, below: Watermark) -> Rel:
    """ProjectWatermarkAssignerTransposeRule: the input is pruned to the columns read, where that is cheaper."""
    if computes_over(rel):
        return rel
    needed = ordered_refs([*rel.exprs, identity(below.types)[below.rowtime_index], below.expr])
    if len(needed) == below.input.width or _is_read_whole(below.input):
        return rel
    mapping = {old: new for new, old in enumerate(needed)}
    source = select_columns(below.input, needed)
    expr = retype(remap(below.expr, mapping), source.types)
    marked = replace(below, input=source, rowtime_index=mapping[below.rowtime_index], expr=expr)
    pruned = _reading(rel, marked, mapping)
    return pruned if is_identity(pruned) or _is_cheaper(below.input, needed) else rel


@rule(on=Project, over=Snapshot)
def push_past_snapshot(rel: Project, below: Snapshot) -> Rel:
    """ProjectSnapshotTransposeRule: the projection goes below the snapshot."""
    return replace(below, input=replace(rel, input=below.input))


def _is_read_whole(rel: Rel) -> bool:
    """Whether the source reads all columns, as it does not support projection."""
    return isinstance(rel, SourceScan) and not source_of(rel.table).projection


def _is_cheaper(rel: Rel, needed: tuple[int, ...]) -> bool:
    """Whether pruning to the needed columns saves reading or computing; selecting columns costs nothing."""
    if not isinstance(rel, Project) or not isinstance(rel.input, SourceScan):
        return True
    left_out = [e for i, e in enumerate(rel.exprs) if i not in needed]
    if not are_columns(left_out):
        return True
    read = ordered_refs([rel.exprs[i] for i in needed])
    width = len(read) + len(_missing_key(rel.input, read))
    return source_of(rel.input.table).projection and width < rel.input.width


@rule(on=Project, over=Aggregate)
def push_past_aggregate(rel: Project, below: Aggregate) -> Rel:
    """PruneAggregateCallRule: unread calls are removed, but one is kept if nothing else is left.

    Those of grouping sets are removed when the sets have been expanded, for all that the calls read.  Where an unread
    call is a SUM or an AVG, ``AggregateReduceFunctionsRule`` has also replaced what selects a grouping column by that
    column, which costs less.
    """
    keys = len(below.grouping)
    read = _read(rel)
    kept = [i for i in range(len(below.calls)) if keys + i in read or (i == keys == 0 and not read)]
    if len(kept) == len(below.calls) or below.grouping_sets is not None:
        return rel
    if any(is_call_of(call, AVG, SUM) for i, call in enumerate(below.calls) if i not in kept):
        rel = _with_keys(rel, below)
        read = _read(rel)
        kept = [i for i in kept if keys + i in read]
    indexes = [*range(keys), *(keys + i for i in kept)]
    mapping = {old: new for new, old in enumerate(indexes)}
    new = replace(below, calls=tuple(below.calls[i] for i in kept))
    return _reading(rel, new, mapping)


def _with_keys(rel: Project, below: Aggregate) -> Project:
    """The projection with grouping columns in place of calls that select one of them, such as MAX."""
    columns: list[RexNode] = list(identity(below.types))
    for i, call in enumerate(below.calls, len(below.grouping)):
        selects = aggregation_of(call.internal_name).selects_argument or is_call_of(call, AVG)
        if selects and call.filter_arg < 0 and call.arg_list[0] in below.grouping:
            columns[i] = cast(columns[below.grouping.index(call.arg_list[0])], call.type)
    return replace(rel, exprs=tuple(inline(e, tuple(columns)) for e in rel.exprs))


@rule(on=Project, over=SourceScan)
def push_into_scan(rel: Project, below: SourceScan) -> Rel:
    """PushProjectIntoTableSourceScanRule: the source reads only the used columns, in the order of their use."""
    width = below.width
    read = ordered_refs(rel.exprs)
    needed = (*read, *_missing_key(below, read)) or (0,)
    if not source_of(below.table).projection or len(needed) == width or _filters_projected(below):
        return rel
    mapping = {old: new for new, old in enumerate(_reading_order(below, needed))}
    return _reading(rel, project_scan(below, needed), mapping)


def _filters_projected(scan: SourceScan) -> bool:
    """Whether predicates were pushed that know the columns as a projection before has left them."""
    kinds = [type(a) for a in scan.abilities if isinstance(a, (ProjectPushDown, FilterPushDown))]
    return kinds == [ProjectPushDown, FilterPushDown]


def _missing_key(scan: SourceScan, columns_: tuple[int, ...]) -> tuple[int, ...]:
    """The key columns that a scan must read for its changelog to be normalized."""
    key = scan.table.resolved.schema.primary_key
    if not scan.normalized or key is None:
        return ()
    indexes = (scan.names.index(name) for name in key.columns)
    return tuple(i for i in indexes if i not in columns_)


_ELSEWHERE: tuple[Rule, ...] = (
    remove_identity,
    merge_projects,
    push_past_filter,
    push_past_multi_join,
    push_past_set_op,
    push_past_window,
    push_past_watermark,
    push_past_snapshot,
    push_past_temporal_join,
    push_past_legacy_window,
)

NAME_COLUMNS = RuleSet("name_columns", (name_groups, drop_joined_aliases), Order.BOTTOM_UP, to_fixpoint=False)
"""Fix the names of columns before projections are removed."""

REWRITE_PROJECTIONS = RuleSet("rewrite_projections", (*_ELSEWHERE, push_past_join), Order.TOP_DOWN, to_fixpoint=True)
"""Push every projection as far down as possible, but unread calls of aggregations stay."""

PUSH_PROJECTIONS = RuleSet(
    "push_projections",
    (*_ELSEWHERE, push_into_scan, push_past_aggregate, push_past_join),
    Order.TOP_DOWN,
    to_fixpoint=True,
)
"""Push every projection as far down as possible."""

PUSH_PROJECTIONS_AGAIN = RuleSet(
    "push_projections_again",
    (*_ELSEWHERE[1:], push_into_scan, remove_identity_again, push_past_aggregate, push_past_moved_join),
    Order.TOP_DOWN,
    to_fixpoint=True,
)
"""The same after joins were moved, where it is cheaper by Flink's estimates."""
