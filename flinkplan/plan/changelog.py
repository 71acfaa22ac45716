"""The kinds of rows that each node of a plan emits.

A plan says them only at its sinks and, for some operators, whether updates come with the old row; the rest
follows from what the operators do.  Source: ``FlinkChangelogModeInferenceProgram``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Flag

from .connectors import has_key, source_kinds, with_said_kinds
from .document import Plan
from .nodes import (
    Calc,
    ChangelogNormalize,
    Correlate,
    Deduplicate,
    DropUpdateBefore,
    Exchange,
    ExecNode,
    Expand,
    GlobalGroupAggregate,
    GroupAggregate,
    GroupWindowAggregate,
    IncrementalGroupAggregate,
    Join,
    Limit,
    LookupJoin,
    MiniBatchAssigner,
    MultiJoin,
    OverAggregate,
    Rank,
    Sink,
    SortLimit,
    TableSourceScan,
    TemporalJoin,
    Union,
    WatermarkAssigner,
    WindowTableFunction,
)
from .specs import JoinType, RowKind


class RowKinds(Flag):
    """A set of row kinds, in Flink's order."""

    NONE = 0
    I = 1  # noqa: E741 - Flink's name
    UB = 2
    UA = 4
    D = 8

    def __str__(self) -> str:
        return ",".join(kind.name or "" for kind in self) or "NONE"


INSERT_ONLY = RowKinds.I
UPSERTS = RowKinds.I | RowKinds.UA | RowKinds.D
ALL = UPSERTS | RowKinds.UB

_SETS = dict(zip(RowKind, RowKinds, strict=True))


def row_kinds(plan: Plan) -> Mapping[int, RowKinds]:
    """Node id → the kinds of rows it emits; none for a sink."""
    found: dict[int, RowKinds] = {}
    for node in plan.nodes:
        found[node.id] = _emitted(plan, node, [found[source.id] for source in plan.inputs(node)])
    return found


def sink_kinds(sink: Sink) -> RowKinds:
    """The kinds of rows that reach a sink, as the plan says."""
    return _together([_SETS[kind] for kind in sink.input_changelog_mode])


def _emitted(plan: Plan, node: ExecNode, inputs: list[RowKinds]) -> RowKinds:
    rule = _RULES.get(type(node))
    return INSERT_ONLY if rule is None else rule(plan, node, inputs)


def _together(kinds: list[RowKinds]) -> RowKinds:
    found = RowKinds.NONE
    for each in kinds:
        found |= each
    return found


Rule = Callable[[Plan, ExecNode, list[RowKinds]], RowKinds]


def _nothing(plan: Plan, node: ExecNode, inputs: list[RowKinds]) -> RowKinds:
    return RowKinds.NONE


def _as_inputs(plan: Plan, node: ExecNode, inputs: list[RowKinds]) -> RowKinds:
    return _together(inputs)


def _as_left(plan: Plan, node: ExecNode, inputs: list[RowKinds]) -> RowKinds:
    return inputs[0]


def _scan(plan: Plan, node: ExecNode, inputs: list[RowKinds]) -> RowKinds:
    assert isinstance(node, TableSourceScan)
    table = node.scan_table_source.table
    options = with_said_kinds(table.options, node)
    return _together([_SETS[kind] for kind in source_kinds(options, has_key(table.resolved_table))])


def _drop_update_before(plan: Plan, node: ExecNode, inputs: list[RowKinds]) -> RowKinds:
    return inputs[0] & ~RowKinds.UB


def _group_aggregate(plan: Plan, node: ExecNode, inputs: list[RowKinds]) -> RowKinds:
    assert isinstance(node, (GroupAggregate, GlobalGroupAggregate))
    deletes = RowKinds.D if node.need_retraction or _is_split(plan, node) else RowKinds.NONE
    return _with_updates(INSERT_ONLY | deletes, node.generate_update_before)


def _is_split(plan: Plan, node: ExecNode) -> bool:
    """Whether a distinct aggregation was split, whose first half updates what the second one reads."""
    (source,) = plan.inputs(node)
    while isinstance(source, Exchange):
        (source,) = plan.inputs(source)
    return isinstance(source, IncrementalGroupAggregate)


def _deduplicate(plan: Plan, node: ExecNode, inputs: list[RowKinds]) -> RowKinds:
    assert isinstance(node, Deduplicate)
    inserts = node.output_insert_only or (not node.keep_last_row and not node.is_rowtime)
    return INSERT_ONLY if inserts else _with_updates(INSERT_ONLY | RowKinds.D, node.generate_update_before)


def _ranking(plan: Plan, node: ExecNode, inputs: list[RowKinds]) -> RowKinds:
    assert isinstance(node, (Rank, SortLimit, Limit))
    if inputs[0] == INSERT_ONLY and (isinstance(node, Limit) or _stays_first(plan, node)):
        return INSERT_ONLY
    return _with_updates(INSERT_ONLY | RowKinds.D, node.generate_update_before)


def _stays_first(plan: Plan, node: ExecNode) -> bool:
    in_batches = any(isinstance(other, MiniBatchAssigner) for other in plan.nodes)
    return isinstance(node, Rank) and node.takes_first_to_stay and not in_batches


def _normalize(plan: Plan, node: ExecNode, inputs: list[RowKinds]) -> RowKinds:
    assert isinstance(node, ChangelogNormalize)
    return _with_updates(INSERT_ONLY | RowKinds.D, node.generate_update_before)


def _join(plan: Plan, node: ExecNode, inputs: list[RowKinds]) -> RowKinds:
    assert isinstance(node, Join)
    if node.join_spec.join_type in (JoinType.INNER, JoinType.SEMI):
        return _together(inputs)
    return _with_updates(INSERT_ONLY | RowKinds.D, _wants_update_before(plan, node))


def _multi_join(plan: Plan, node: ExecNode, inputs: list[RowKinds]) -> RowKinds:
    assert isinstance(node, MultiJoin)
    if set(node.join_types) <= {"INNER"}:
        return _together(inputs)
    return _with_updates(INSERT_ONLY | RowKinds.D, _wants_update_before(plan, node))


def _group_window(plan: Plan, node: ExecNode, inputs: list[RowKinds]) -> RowKinds:
    if "emit=[" not in node.description:
        return INSERT_ONLY
    return _with_updates(INSERT_ONLY, _wants_update_before(plan, node))


def _over(plan: Plan, node: ExecNode, inputs: list[RowKinds]) -> RowKinds:
    assert isinstance(node, OverAggregate)
    fields = plan.inputs(node)[0].fields
    first = [group.order_by.fields[0].index for group in node.over_spec.groups if group.order_by.fields]
    by_time = all(index < len(fields) and fields[index].type.is_time_attribute for index in first)
    return INSERT_ONLY if by_time else ALL


def _with_updates(kinds: RowKinds, update_before: bool) -> RowKinds:
    return kinds | RowKinds.UA | (RowKinds.UB if update_before else RowKinds.NONE)


def _wants_update_before(plan: Plan, node: ExecNode) -> bool:
    """Whether a consumer needs old rows; all do but sinks that say otherwise, and what drops them."""
    asked = {node.id}
    pending = [node]
    while pending:
        for consumer in plan.outputs(pending.pop()):
            if isinstance(consumer, Sink):
                if RowKinds.UB in sink_kinds(consumer):
                    return True
            elif type(consumer) in _FORWARDING:
                if consumer.id not in asked:
                    asked.add(consumer.id)
                    pending.append(consumer)
            elif not isinstance(consumer, DropUpdateBefore):
                return True
    return False


_FORWARDING: tuple[type[ExecNode], ...] = (
    Calc,
    Correlate,
    Exchange,
    Expand,
    MiniBatchAssigner,
    Union,
    WatermarkAssigner,
    WindowTableFunction,
)

_RULES: Mapping[type[ExecNode], Rule] = {
    **dict.fromkeys(_FORWARDING, _as_inputs),
    ChangelogNormalize: _normalize,
    Deduplicate: _deduplicate,
    DropUpdateBefore: _drop_update_before,
    GlobalGroupAggregate: _group_aggregate,
    GroupAggregate: _group_aggregate,
    GroupWindowAggregate: _group_window,
    Join: _join,
    Limit: _ranking,
    LookupJoin: _as_left,
    MultiJoin: _multi_join,
    OverAggregate: _over,
    Rank: _ranking,
    Sink: _nothing,
    SortLimit: _ranking,
    TableSourceScan: _scan,
    TemporalJoin: _as_left,
}
