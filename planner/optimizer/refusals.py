"""What Flink refuses to plan for a stream, though it could be bound.

Sources: ``SatisfyModifyKindSetTraitVisitor``, ``WindowUtil``, ``AggFunctionFactory``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from ...plan.specs import AggregateCall, SessionGroupWindow
from ...plan.types import CHARACTER, DATETIME, NUMERIC, LogicalType
from ..algebra import Rel
from ..physical import (
    Deduplicate,
    GlobalGroupAggregate,
    GlobalWindowAggregate,
    GroupAggregate,
    IntervalJoin,
    LegacyWindowAggregate,
    LocalGroupAggregate,
    LocalWindowAggregate,
    OverAggregate,
    TemporalSort,
    WindowAggregate,
    WindowDeduplicate,
    WindowJoin,
    WindowRank,
)
from .changelog import PlanningError
from .legacy_windows import emit_text
from .modify_kinds import INSERT_ONLY, Kinds, is_ordered_by_time, modify_kinds

_READS_INSERTS: dict[type[Rel], str] = {
    Deduplicate: "a deduplication by time",
    IntervalJoin: "an interval join",
    OverAggregate: "OVER ordered by time",
    TemporalSort: "a sort by time",
    WindowDeduplicate: "a deduplication per window",
    WindowJoin: "a window join",
    WindowRank: "a Top-N per window",
}
"""The operators that take no updates and deletions, in words."""


_DISTINCT_TYPES = frozenset((*CHARACTER, "BOOLEAN", *NUMERIC, *DATETIME))
"""What DISTINCT takes, besides intervals."""
_SWITCH_OFF = "switch table.exec.emit.early-fire.enabled and table.exec.emit.late-fire.enabled off"


def refuse_unplannable(rel: Rel, config: Mapping[str, str]) -> None:
    """Raise :class:`PlanningError` for the first operator of a physical tree, inputs first, that Flink refuses."""
    _check(rel, config, {})


def _check(rel: Rel, config: Mapping[str, str], kinds: dict[int, Kinds]) -> None:
    for each in rel.inputs:
        _check(each, config, kinds)
    if _reads_inserts(rel) and any(not modify_kinds(each, kinds) <= INSERT_ONLY for each in rel.inputs):
        raise PlanningError(f"{_READS_INSERTS[type(rel)]} takes inserts only, but its input has updates or deletions")
    if any(c.internal_name == "$APPROX_COUNT_DISTINCT$1" for c in _calls(rel)):
        raise PlanningError("APPROX_COUNT_DISTINCT does not work on streams", hint="use COUNT(DISTINCT …)")
    for t in _distinct_arguments(rel):
        if t.root not in _DISTINCT_TYPES and not t.root.startswith("INTERVAL"):
            raise PlanningError(
                f"DISTINCT in an aggregate function does not support {t.nullable_()}",
                hint="aggregate a column of a simple type, or the result of SELECT DISTINCT in a subquery",
            )
    rule = _RULES.get(type(rel))
    if rule is not None:
        rule(rel, config)


def _reads_inserts(rel: Rel) -> bool:
    return is_ordered_by_time(rel) if isinstance(rel, OverAggregate) else type(rel) in _READS_INSERTS


def _calls(rel: Rel) -> Iterator[AggregateCall]:
    if isinstance(rel, OverAggregate):
        yield from (c for g in rel.groups for c in g.agg_calls)
    elif isinstance(rel, _AGGREGATES):
        yield from rel.calls


def _distinct_arguments(rel: Rel) -> Iterator[LogicalType]:
    """The types of what calls with DISTINCT read.  Source: ``AggregateUtil.createDistinctKeyType``."""
    if isinstance(rel, _FIRST_PHASES):
        fields = rel.input.row_type.fields
        yield from (fields[c.arg_list[0]].type for c in rel.calls if c.distinct and len(c.arg_list) == 1)


def _window_aggregate(rel: WindowAggregate | GlobalWindowAggregate, config: Mapping[str, str]) -> None:
    if emit_text(config) is not None:
        raise PlanningError(
            "an aggregation over a window table function fires neither early nor late", hint=_SWITCH_OFF
        )


def _legacy_window(rel: LegacyWindowAggregate, config: Mapping[str, str]) -> None:
    if rel.emit is not None and isinstance(rel.window, SessionGroupWindow):
        raise PlanningError("a session window fires neither early nor late", hint=_SWITCH_OFF)


_FIRST_PHASES = (GroupAggregate, LocalGroupAggregate, LegacyWindowAggregate, WindowAggregate, LocalWindowAggregate)
_AGGREGATES = (GroupAggregate, GlobalGroupAggregate, LegacyWindowAggregate, WindowAggregate, GlobalWindowAggregate)
_RULES: dict[type[Rel], Callable[..., None]] = {
    WindowAggregate: _window_aggregate,
    GlobalWindowAggregate: _window_aggregate,
    LegacyWindowAggregate: _legacy_window,
}
