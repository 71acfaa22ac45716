"""What it takes of an operator's fields to put its keys, its aggregates or the sides of a join into another order."""

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
    properties = tuple(_spread(p, order) for p in node.input_properties or ()) or None
    made: ExecNode = _arranged(node, {Mark.KEY}, order)
    return replace(made, input_properties=properties, description=described_keys(node.description, order))


def _spread(required: InputProperty, order: Order) -> InputProperty:
    distribution = required.required_distribution
    if distribution.keys is None or len(distribution.keys) != len(order):
        return required
    keys = tuple(distribution.keys[place] for place in order)
    return replace(required, required_distribution=replace(distribution, keys=keys))


def number_of_keys(node: ExecNode) -> int:
    """How many keys can be put into another order."""
    return len(next(_listed(node, Mark.KEY), ()))


def calls_of(node: ExecNode) -> Sequence[AggregateCall]:
    """The aggregates of a node that keeps them in one order; of a first phase, too."""
    found = list(_listed(node, Mark.CALL))
    return found[0] if len(found) == 1 else ()


def retractions_of(node: ExecNode) -> Sequence[bool]:
    """Which of :func:`calls_of` take rows back, as far as the node says it of each."""
    calls, said = len(calls_of(node)), next(_listed(node, Mark.BY_CALL), ())
    return (*said, *[False] * calls)[:calls]


def with_calls(node: ExecNode, order: Order) -> ExecNode:
    """A node with its aggregates in another order."""
    made: ExecNode = _arranged(node, {Mark.CALL, Mark.BY_CALL}, order)
    if isinstance(made, GlobalGroupAggregate) and made.index_of_count_star in order:
        return replace(made, index_of_count_star=order.index(made.index_of_count_star))
    return made


def _listed(value: PlanRecord | ExecNode, mark: Mark) -> Iterator[Any]:
    """What stands in the fields of a mark, those of the records that are held included."""
    for codec in field_codecs(type(value)):
        item = getattr(value, codec.name)
        if mark in codec.marks:
            yield item
        for held in item if isinstance(item, tuple) else (item,):
            if isinstance(held, PlanRecord):
                yield from _listed(held, mark)


def _arranged(value: Any, marks: set[Mark], order: Order) -> Any:
    """A node, or what it holds, with all that in another order."""
    if isinstance(value, tuple):
        return tuple(_arranged(item, marks, order) for item in value)
    if not isinstance(value, PlanRecord | ExecNode):
        return value
    changed = {}
    for codec in field_codecs(type(value)):
        item = getattr(value, codec.name)
        is_listed = not marks.isdisjoint(codec.marks)
        changed[codec.name] = tuple(item[place] for place in order) if is_listed else _arranged(item, marks, order)
    return replace(value, **changed)


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
