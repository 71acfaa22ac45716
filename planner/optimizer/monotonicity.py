"""How the columns of a relation move when its rows are updated.

Source: ``FlinkRelMdModifiedMonotonicity``.
"""

from __future__ import annotations

from collections.abc import Callable

from ...plan.rex import Call, InputRef, RexNode
from ...plan.specs import AggregateCall, JoinType
from ..algebra import Rel
from ..connectors import INSERT_ONLY, source_kinds
from ..physical import (
    Calc,
    Exchange,
    Expand,
    GlobalGroupAggregate,
    GroupAggregate,
    MiniBatchAssigner,
    RegularJoin,
    SourceScan,
    WatermarkAssigner,
)
from .rexes import CAST

CONSTANT, INCREASING, DECREASING, NOT_MONOTONIC = "CONSTANT", "INCREASING", "DECREASING", "NOT_MONOTONIC"
Directions = tuple[str, ...]


def monotonicity(rel: Rel) -> Directions | None:
    """The direction of each column; ``None`` where nothing is known."""
    rule = _RULES.get(type(rel))
    return rule(rel) if rule else None


def _scan(rel: SourceScan) -> Directions | None:
    insert_only = source_kinds(rel.table, dict(rel.options)) <= INSERT_ONLY
    return (CONSTANT,) * len(rel.row_type.fields) if insert_only else None


def _input(rel: Exchange) -> Directions | None:
    return monotonicity(rel.input)


def _calc(rel: Calc) -> Directions | None:
    below = monotonicity(rel.input)
    return None if below is None else tuple(_direction(e, below) for e in rel.projection)


def _direction(rex: RexNode, below: Directions) -> str:
    if isinstance(rex, InputRef):
        return below[rex.index]
    if isinstance(rex, Call) and rex.name == CAST:
        return _direction(rex.operands[0], below)
    if isinstance(rex, Call):
        read = [_direction(o, below) for o in rex.operands]
        return CONSTANT if all(d == CONSTANT for d in read) else NOT_MONOTONIC
    return CONSTANT


def _expand(rel: Expand) -> Directions | None:
    """Copies of rows that never change do not change either."""
    below = monotonicity(rel.input)
    return (CONSTANT,) * len(rel.row_type.fields) if below is not None and set(below) <= {CONSTANT} else None


def _join(rel: RegularJoin) -> Directions | None:
    """An inner join changes no column of its inputs."""
    left, right = monotonicity(rel.left), monotonicity(rel.right)
    if left is None or right is None or rel.spec.join_type not in (JoinType.INNER, JoinType.SEMI):
        return None
    return left if rel.spec.join_type is JoinType.SEMI else left + right


def _aggregate(rel: GroupAggregate | GlobalGroupAggregate) -> Directions | None:
    source: Rel = rel.input
    while isinstance(source, (Exchange, MiniBatchAssigner)):
        source = source.input
    below = monotonicity(source)
    if below is None or any(below[g] != CONSTANT for g in rel.grouping):
        return None
    return (*(CONSTANT for _ in rel.grouping), *(_call(c, below) for c in rel.calls))


def _call(call: AggregateCall, below: Directions) -> str:
    if call.internal_name == "$COUNT$1":
        steady = all(below[i] in (CONSTANT, INCREASING) for i in call.arg_list)
        return INCREASING if steady else NOT_MONOTONIC
    if call.internal_name == "$MAX$1" and below[call.arg_list[0]] in (CONSTANT, INCREASING):
        return INCREASING
    if call.internal_name == "$MIN$1" and below[call.arg_list[0]] in (CONSTANT, DECREASING):
        return DECREASING
    return NOT_MONOTONIC


_RULES: dict[type[Rel], Callable[..., Directions | None]] = {
    SourceScan: _scan,
    Exchange: _input,
    MiniBatchAssigner: _input,
    WatermarkAssigner: _input,
    Calc: _calc,
    Expand: _expand,
    RegularJoin: _join,
    GroupAggregate: _aggregate,
    GlobalGroupAggregate: _aggregate,
}
