"""Changes the order of an operator's keys or aggregates, or swaps the sides of a join."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ..plan.codec import PlanRecord, field_codecs
from ..plan.nodes import ExecNode, GlobalGroupAggregate, IntervalJoin, Join
from ..plan.record import replace
from ..plan.references import Mark
from ..plan.rex import InputRef, RexNode, transform
from ..plan.specs import AggregateCall, InputProperty, JoinSpec, JoinType
from .moving import Order, described_keys


def with_keys(node: ExecNode, order: Order) -> ExecNode:
    """A node, or the exchange below it, with its keys in another order."""
    properties = tuple(_with_distribution_keys(p, order) for p in node.input_properties or ()) or None
    reordered: ExecNode = _reordered(node, {Mark.KEY}, order)
    return replace(reordered, input_properties=properties, description=described_keys(node.description, order))


def _with_distribution_keys(required: InputProperty, order: Order) -> InputProperty:
    distribution = required.required_distribution
    if distribution.keys is None or len(distribution.keys) != len(order):
        return required
    keys = tuple(distribution.keys[place] for place in order)
    return replace(required, required_distribution=replace(distribution, keys=keys))


def number_of_keys(node: ExecNode) -> int:
    """The number of keys that can be reordered."""
    return len(next(_marked(node, Mark.KEY), ()))


def calls_of(node: ExecNode) -> Sequence[AggregateCall]:
    """The aggregates of a node that has one list of them, which may be one phase of an aggregation."""
    lists = list(_marked(node, Mark.CALL))
    return lists[0] if len(lists) == 1 else ()


def retractions_of(node: ExecNode) -> Sequence[bool]:
    """Which of :func:`calls_of` retract rows; false where the node does not declare it."""
    calls, declared = len(calls_of(node)), next(_marked(node, Mark.BY_CALL), ())
    return (*declared, *[False] * calls)[:calls]


def with_calls(node: ExecNode, order: Order) -> ExecNode:
    """A node with its aggregates in another order."""
    reordered: ExecNode = _reordered(node, {Mark.CALL, Mark.BY_CALL}, order)
    if isinstance(reordered, GlobalGroupAggregate) and reordered.index_of_count_star in order:
        return replace(reordered, index_of_count_star=order.index(reordered.index_of_count_star))
    return reordered


def _marked(value: PlanRecord | ExecNode, mark: Mark) -> Iterator[Any]:
    """The values of the fields with a mark, nested records included."""
    for codec in field_codecs(type(value)):
        item = getattr(value, codec.name)
        if mark in codec.marks:
            yield item
        for nested in item if isinstance(item, tuple) else (item,):
            if isinstance(nested, PlanRecord):
                yield from _marked(nested, mark)


def _reordered(value: Any, marks: set[Mark], order: Order) -> Any:
    """A node or a value in it, with the lists in fields with these marks in another order."""
    if isinstance(value, tuple):
        return tuple(_reordered(item, marks, order) for item in value)
    if not isinstance(value, PlanRecord | ExecNode):
        return value
    changed = {}
    for codec in field_codecs(type(value)):
        item = getattr(value, codec.name)
        is_marked = not marks.isdisjoint(codec.marks)
        changed[codec.name] = tuple(item[place] for place in order) if is_marked else _reordered(item, marks, order)
    return replace(value, **changed)


def join_spec(node: Any) -> JoinSpec:
    """The keys and the condition of a join."""
    spec: JoinSpec = node.interval_join_spec.join_spec if isinstance(node, IntervalJoin) else node.join_spec
    return spec


def with_join_spec(node: Any, spec: JoinSpec) -> ExecNode:
    """A join with other keys or another condition."""
    if isinstance(node, IntervalJoin):
        return replace(node, interval_join_spec=replace(node.interval_join_spec, join_spec=spec))
    join: ExecNode = replace(node, join_spec=spec)
    return join


_MIRRORED = {JoinType.LEFT: JoinType.RIGHT, JoinType.RIGHT: JoinType.LEFT}
"""The type of a join after its inputs are swapped."""


def mirrors(old: ExecNode, new: ExecNode) -> bool:
    """Whether swapping the inputs of the new join can give the old one."""
    if type(old) is not type(new) or not isinstance(old, Join | IntervalJoin):
        return False
    kind = join_spec(new).join_type
    return join_spec(old).join_type is _MIRRORED.get(kind, kind) and kind not in (JoinType.SEMI, JoinType.ANTI)


def with_swapped_sides(node: ExecNode, left: int, right: int) -> ExecNode:
    """The join with its inputs swapped; ``left`` and ``right`` are the numbers of columns of its current inputs."""

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
            replace(state, ttl=other.ttl) for state, other in zip(node.state, node.state[::-1], strict=True)
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
