"""Lowering of joins."""

from __future__ import annotations

from ...plan import nodes
from ...plan.nodes.base import ExecNode
from ...plan.specs import JoinSpec, JoinType
from .. import physical as p
from ..optimizer.keys import Keys, keys_in_group_range
from ..optimizer.row_types import unique_names
from .context import Context, Rules, names
from .printer import expression
from .windows import windowing_text

_NAMES = {
    JoinType.INNER: "InnerJoin",
    JoinType.LEFT: "LeftOuterJoin",
    JoinType.RIGHT: "RightOuterJoin",
    JoinType.FULL: "FullOuterJoin",
    JoinType.SEMI: "LeftSemiJoin",
    JoinType.ANTI: "LeftAntiJoin",
}


def _head(spec: JoinSpec) -> str:
    return f"joinType=[{_NAMES[spec.join_type]}]"


def _where(rel: p.Binary) -> str:
    fields = unique_names([*names(rel.left), *names(rel.right)])
    return f"where=[{expression(rel.condition, fields)}]"


def _select(rel: p.Binary) -> str:
    return f"select=[{', '.join(names(rel))}]"


def _keys_json(keys: Keys) -> tuple[tuple[int, ...], ...] | None:
    found = sorted((tuple(sorted(k)) for k in keys), key=lambda k: (len(k), k))
    return tuple(found) or None


def _input_spec(keys: Keys, join_keys: tuple[int, ...]) -> str:
    if not keys:
        return "NoUniqueKey"
    contained = any(k <= frozenset(join_keys) for k in keys)
    return "JoinKeyContainsUniqueKey" if contained else "HasUniqueKey"


def regular(rel: p.RegularJoin, ctx: Context) -> ExecNode:
    """A join that keeps both sides."""
    spec = rel.spec
    left, right = keys_in_group_range(rel.left, spec.left_keys), keys_in_group_range(rel.right, spec.right_keys)
    text = (
        f"{_head(spec)}, {_where(rel)}, {_select(rel)}, leftInputSpec=[{_input_spec(left, spec.left_keys)}], "
        f"rightInputSpec=[{_input_spec(right, spec.right_keys)}]"
    )
    if ctx.config.get("table.exec.mini-batch.enabled", "false").lower() == "true":
        text += ", miniBatch=[true]"
    hinted = dict(rel.ttl.by_input) if rel.ttl else {}
    return ctx.node(
        nodes.Join,
        rel,
        f"Join({text})",
        join_spec=spec,
        left_upsert_keys=_keys_json(left),
        right_upsert_keys=_keys_json(right),
        state=ctx.states(nodes.Join, (hinted.get(0), hinted.get(1))),
    )


def interval(rel: p.IntervalJoin, ctx: Context) -> ExecNode:
    """A join with time bounds."""
    bounds = rel.spec.window_bounds
    window = (
        f"isRowTime={str(bounds.is_event_time).lower()}, leftLowerBound={bounds.left_lower_bound}, "
        f"leftUpperBound={bounds.left_upper_bound}, leftTimeIndex={bounds.left_time_index}, "
        f"rightTimeIndex={bounds.right_time_index}"
    )
    text = f"{_head(rel.spec.join_spec)}, windowBounds=[{window}], {_where(rel)}, {_select(rel)}"
    return ctx.node(nodes.IntervalJoin, rel, f"IntervalJoin({text})", interval_join_spec=rel.spec)


def window(rel: p.WindowJoin, ctx: Context) -> ExecNode:
    """A join of rows that share a window."""
    left, right = (
        windowing_text(rel.left_windowing, names(rel.left)),
        windowing_text(rel.right_windowing, names(rel.right)),
    )
    text = f"leftWindow=[{left}], rightWindow=[{right}], {_head(rel.spec)}, {_where(rel)}, {_select(rel)}"
    return ctx.node(
        nodes.WindowJoin,
        rel,
        f"WindowJoin({text})",
        join_spec=rel.spec,
        left_windowing=rel.left_windowing,
        right_windowing=rel.right_windowing,
    )


def versioned(rel: p.VersionedJoin, ctx: Context) -> ExecNode:
    """A temporal join."""
    return ctx.node(
        nodes.TemporalJoin,
        rel,
        f"TemporalJoin({_head(rel.spec)}, {_where(rel)}, {_select(rel)})",
        join_spec=rel.spec,
        is_temporal_function_join=False,
        left_time_attribute_index=rel.left_time,
        right_time_attribute_index=rel.right_time,
    )


RULES: Rules = {
    p.RegularJoin: regular,
    p.IntervalJoin: interval,
    p.WindowJoin: window,
    p.VersionedJoin: versioned,
}
