"""What it takes of an operator's fields to put its keys, its aggregates or the sides of a join into another order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..plan.nodes import (
    ChangelogNormalize,
    Deduplicate,
    Exchange,
    ExecNode,
    GlobalGroupAggregate,
    GlobalWindowAggregate,
    GroupAggregate,
    GroupWindowAggregate,
    IntervalJoin,
    Join,
    LocalGroupAggregate,
    LocalWindowAggregate,
    OverAggregate,
    Rank,
    TemporalJoin,
    WindowAggregate,
    WindowDeduplicate,
    WindowRank,
)
from ..plan.record import replace
from ..plan.rex import InputRef, RexNode, transform
from ..plan.specs import AggregateCall, InputProperty, JoinSpec, JoinType, PartitionSpec
from .moving import Order, described_keys

GROUPED = (GroupAggregate, GlobalGroupAggregate, WindowAggregate, GlobalWindowAggregate, GroupWindowAggregate)
"""Operators whose rows are keys, then aggregates, then what else there is."""
GLOBAL = (GlobalGroupAggregate, GlobalWindowAggregate)
"""Second phases."""
LOCAL = (LocalGroupAggregate, LocalWindowAggregate)
"""First phases: their rows are keys, then accumulators."""
JOINS = (Join, IntervalJoin, TemporalJoin)

_KEYS: Mapping[type[ExecNode], str] = {
    **dict.fromkeys(GROUPED, "grouping"),
    ChangelogNormalize: "unique_keys",
    Deduplicate: "unique_keys",
    Rank: "partition",
    WindowDeduplicate: "partition_keys",
    WindowRank: "partition_spec",
}
"""The field that holds the keys."""


def with_keys(node: ExecNode, order: Order) -> ExecNode:
    """A node, or the exchange below it, with its keys in another order."""
    properties = tuple(_spread(p, order) for p in node.input_properties or ()) or None
    changed: dict[str, Any] = {
        "input_properties": properties,
        "description": described_keys(node.description, order),
    }
    if isinstance(node, JOINS):
        spec = join_spec(node)
        left, right, filters = (_arranged(v, order) for v in (spec.left_keys, spec.right_keys, spec.filter_nulls))
        return with_join_spec(
            replace(node, **changed), replace(spec, left_keys=left, right_keys=right, filter_nulls=filters)
        )
    if isinstance(node, OverAggregate):
        over = node.over_spec
        changed["over_spec"] = replace(over, partition=_arranged(over.partition, order))
    elif not isinstance(node, Exchange):
        name = _KEYS[type(node)]
        changed[name] = _arranged(getattr(node, name), order)
    return replace(node, **changed)


def _spread(required: InputProperty, order: Order) -> InputProperty:
    distribution = required.required_distribution
    if distribution.keys is None or len(distribution.keys) != len(order):
        return required
    return replace(required, required_distribution=replace(distribution, keys=_arranged(distribution.keys, order)))


def _arranged(values: Any, order: Order) -> Any:
    if isinstance(values, PartitionSpec):
        return replace(values, fields=_arranged(values.fields, order))
    return tuple(values[place] for place in order)


def calls_of(node: ExecNode) -> Sequence[AggregateCall]:
    """The aggregates of a node that keeps them in one order; of a first phase, too."""
    if isinstance(node, OverAggregate):
        groups = node.over_spec.groups
        return groups[0].agg_calls if len(groups) == 1 else ()
    return node.agg_calls if isinstance(node, (*GROUPED, *LOCAL)) else ()


def with_calls(node: ExecNode, order: Order) -> ExecNode:
    """A node with its aggregates in another order."""
    calls = _arranged(calls_of(node), order)
    if isinstance(node, OverAggregate):
        (group,) = node.over_spec.groups
        return replace(node, over_spec=replace(node.over_spec, groups=(replace(group, agg_calls=calls),)))
    changed: dict[str, Any] = {"agg_calls": calls}
    if isinstance(node, GroupAggregate | GlobalGroupAggregate | LocalGroupAggregate):
        changed["agg_call_need_retractions"] = _arranged(node.agg_call_need_retractions, order)
    if isinstance(node, GlobalGroupAggregate) and node.index_of_count_star in order:
        changed["index_of_count_star"] = order.index(node.index_of_count_star)
    return replace(node, **changed)


def join_spec(node: Any) -> JoinSpec:
    """Keys and condition of a join."""
    spec: JoinSpec = node.interval_join_spec.join_spec if isinstance(node, IntervalJoin) else node.join_spec
    return spec


def with_join_spec(node: Any, spec: JoinSpec) -> ExecNode:
    """A join with other keys or another condition."""
    if isinstance(node, IntervalJoin):
        return replace(node, interval_join_spec=replace(node.interval_join_spec, join_spec=spec))
    made: ExecNode = replace(node, join_spec=spec)
    return made


_MIRRORED = {JoinType.LEFT: JoinType.RIGHT, JoinType.RIGHT: JoinType.LEFT}
"""What a join is called from the other side."""


def mirrors(old: ExecNode, new: ExecNode) -> bool:
    """Whether a join can be the other one with its inputs in their old places."""
    if type(old) is not type(new) or not isinstance(old, Join | IntervalJoin):
        return False
    kind = join_spec(new).join_type
    return join_spec(old).join_type is _MIRRORED.get(kind, kind) and kind not in (JoinType.SEMI, JoinType.ANTI)


def with_swapped_sides(node: ExecNode, left: int, right: int) -> ExecNode:
    """A join that :func:`mirrors` another one with its inputs in the other order; they have so many columns now."""

    def column(rex: RexNode) -> RexNode:
        if not isinstance(rex, InputRef):
            return rex
        return replace(rex, index=rex.index + right if rex.index < left else rex.index - left)

    spec = join_spec(node)
    condition = spec.non_equi_condition
    swapped = JoinSpec(
        _MIRRORED.get(spec.join_type, spec.join_type),
        spec.right_keys,
        spec.left_keys,
        spec.filter_nulls,
        condition and transform(condition, column),
    )
    node = with_join_spec(replace(node, input_properties=(node.input_properties or ())[::-1] or None), swapped)
    if isinstance(node, Join):
        states = node.state and tuple(
            replace(state, ttl=twin.ttl) for state, twin in zip(node.state, node.state[::-1], strict=True)
        )
        keys = {"left_upsert_keys": node.right_upsert_keys, "right_upsert_keys": node.left_upsert_keys}
        return replace(node, **keys, state=states)
    assert isinstance(node, IntervalJoin)
    bounds = node.interval_join_spec.window_bounds
    mirrored = replace(
        bounds,
        left_lower_bound=-bounds.left_upper_bound,
        left_upper_bound=-bounds.left_lower_bound,
        left_time_index=bounds.right_time_index,
        right_time_index=bounds.left_time_index,
    )
    return replace(node, interval_join_spec=replace(node.interval_join_spec, window_bounds=mirrored))
