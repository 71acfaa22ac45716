"""GROUP BY TUMBLE(…), HOP(…), SESSION(…).

Sources: ``StreamLogicalWindowAggregateRule``, ``WindowPropertiesRules``, ``WindowEmitStrategy``.
"""

from __future__ import annotations

from collections.abc import Mapping

from ...plan import specs
from ...plan.durations import format_iso_duration, parse_duration
from ...plan.functions.aggregate import COUNT
from ...plan.functions.table import GROUP_WINDOWS, HOP, TUMBLE, WINDOW_AUXILIARIES
from ...plan.functions.temporal import PROCTIME
from ...plan.record import replace
from ...plan.rex import Call, InputRef, Literal, RexNode, children, internal_name, shown_name
from ...plan.settings import is_on, value_of
from ...plan.types import LogicalType
from ..algebra.aggregations import remap_aggregate
from ..algebra.calls import is_call_of, remap_calls
from ..algebra.logical import Aggregate, Filter, Project
from ..algebra.names import inferred, uniquify
from ..algebra.physical import LegacyWindowAggregate
from ..algebra.rel import Rel
from ..errors import PlanningError
from ..rex.expressions import are_identity, cast, identity, inline, is_call, refs, remap, rewrite
from .merged_projections import is_identity, merge_built_projects
from .rule import Config, rule

_PROPERTIES = (("START", "WindowStart"), ("END", "WindowEnd"), ("ROWTIME", "Rowtime"), ("PROCTIME", "Proctime"))
_WINDOW = internal_name("WINDOW")
"""A call that stands for the window while the aggregation is built; its operands are the window properties."""


@rule(on=(Aggregate, Project, Filter), over=Project, configured=True)
def legacy_windows(rel: Aggregate | Project | Filter, below: Project, config: Config) -> Rel:
    """GROUP BY of a group window becomes a window aggregation, with early and late firing if the options ask for it."""
    if isinstance(rel, Aggregate):
        return _aggregate(rel, below, emit_text(config))
    if not any(_is_window(e) for e in below.exprs):
        return rel
    if isinstance(rel, Project):
        exprs = tuple(_resolved(inline(e, below.exprs)) for e in rel.exprs)
        return replace(rel, input=below.input, exprs=exprs)
    condition = _resolved(inline(rel.condition, below.exprs))
    return replace(below, input=Filter(input=below.input, condition=condition))


@rule(on=LegacyWindowAggregate, over=(Project, Filter))
def without_processing_time(rel: LegacyWindowAggregate, below: Project | Filter) -> Rel:
    """A window of the Table API names its column of processing time, which no operator reads."""
    index = rel.window.time_field.field_index
    if not rel.window.time_field.field_type.is_proctime or not (index < below.width and below.types[index].is_proctime):
        return rel
    if index in rel.grouping or any(index in c.arg_list for c in rel.calls):
        return rel
    places = {old: new for new, old in enumerate(i for i in range(below.width) if i != index)}
    source = _without(below, index, places)
    if source is None:
        return rel
    grouping = tuple(places[g] for g in rel.grouping)
    return replace(rel, input=source, grouping=grouping, calls=remap_calls(rel.calls, places))


def _without(rel: Rel, index: int, places: Mapping[int, int]) -> Rel | None:
    """A projection, perhaps below filters, without a column; ``None`` where it is another relation or is read."""
    if isinstance(rel, Filter):
        source = None if index in refs(rel.condition) else _without(rel.input, index, places)
        return None if source is None else replace(rel, input=source, condition=remap(rel.condition, places))
    if not isinstance(rel, Project):
        return None
    exprs = tuple(rel.exprs[i] for i in places)
    if are_identity(exprs, rel.input.types):
        return rel.input
    return replace(rel, exprs=exprs, names=tuple(rel.names[i] for i in places))


def _is_window(rex: RexNode) -> bool:
    return isinstance(rex, Call) and rex.name == _WINDOW


def _resolved(rex: RexNode) -> RexNode:
    """TUMBLE_START(window) as the column that holds the window's start."""

    def step(node: RexNode) -> RexNode:
        if isinstance(node, Call) and len(node.operands) == 1 and _is_window(node.operands[0]):
            _, suffix = WINDOW_AUXILIARIES[shown_name(node.name)]
            return children(node.operands[0])[[known for known, _ in _PROPERTIES].index(suffix)]
        return node

    return rewrite(rex, step)


def _aggregate(rel: Aggregate, below: Project, emit: str | None) -> Rel:
    if rel.grouping_sets is not None:
        return rel
    windows = [g for g in rel.grouping if is_call(below.exprs[g], *GROUP_WINDOWS.values())]
    if len(windows) != 1:
        return rel
    at = windows[0]
    call = below.exprs[at]
    assert isinstance(call, Call)
    source, indexes, time = _source(below, call.operands[0], at)
    time_type = time.field_type
    aggregate = remap_aggregate(rel, indexes, source)
    calls = aggregate.calls if len(rel.grouping) > 1 else tuple(map(_if_empty, aggregate.calls))
    window = _window(call, time)
    keys = sorted((i for i, g in enumerate(rel.grouping) if g != at), key=lambda i: aggregate.grouping[i])
    grouping = tuple(aggregate.grouping[i] for i in keys)
    properties = _properties(time_type)
    count = len(rel.grouping)
    result = LegacyWindowAggregate(
        input=source,
        grouping=grouping,
        calls=calls,
        window=window,
        properties=properties,
        emit=emit,
    )
    outputs = identity(result.types)
    first = len(keys) + len(rel.calls)
    by_kind = {p.property.kind: outputs[first + i] for i, p in enumerate(properties)}
    marker = Call(_WINDOW, tuple(by_kind.get(kind, outputs[first]) for _, kind in _PROPERTIES), time_type)
    place = {k: i for i, k in enumerate(keys)}
    new: list[RexNode] = [marker if rel.grouping[i] == at else outputs[place[i]] for i in range(count)]
    new += (cast(outputs[len(keys) + i], c.type) for i, c in enumerate(rel.calls))
    return Project(input=result, exprs=tuple(new), names=rel.names)


def _source(below: Project, time: RexNode, at: int) -> tuple[Rel, list[int], specs.TimeField]:
    """The input of a window aggregation, the positions in it of the columns of ``below``, and that of the time column.

    Processing time is a column of it only where something else is computed, too.  What stands between it and the window
    aggregation below is kept, and the time called by its place.
    """
    merged = below
    while isinstance(lower := merge_built_projects(merged), Project) and lower is not merged:
        merged = lower
    start = children(merged.exprs[at])[0]
    if is_call(start, PROCTIME):
        return _with_processing_time(merged, start, at)
    if not isinstance(merged.input, LegacyWindowAggregate):
        below, time = merged, children(merged.exprs[at])[0]
    exprs = list(below.exprs)
    exprs[at] = time
    names = list(uniquify(inferred(below.input.names, exprs)))
    if isinstance(below.input, Project):
        names[at] = f"$f{at}"
        for i, rex in enumerate(exprs):  # what the projection below computes is merged before it is named
            if isinstance(rex, InputRef) and _is_computed(below.input, rex.index):
                names[i] = f"$f{i}"
        renamed, indexes = _deduplicated(below.input, exprs, names)
        source = merge_built_projects(renamed)
    else:
        source, indexes = _without_permutation(*_simplified(*_deduplicated(below.input, exprs, names)))
    column = indexes[at]
    is_grouped = any(i == column for i in (*indexes[:at], *indexes[at + 1 :]))
    name = names[at] if is_grouped else source.names[column]
    return source, indexes, specs.TimeField(name, column, 0, source.types[column])


def _is_computed(rel: Project, index: int) -> bool:
    """Whether a column is computed, or is a property of a window, which are calls as the query has them."""
    rex, below = rel.exprs[index], rel.input
    if not isinstance(rex, InputRef):
        return True
    return isinstance(below, LegacyWindowAggregate) and rex.index >= below.width - len(below.properties)


def _with_processing_time(below: Project, time: RexNode, at: int) -> tuple[Rel, list[int], specs.TimeField]:
    exprs = list(below.exprs)
    name = f"$f{below.input.width}"
    if all(isinstance(e, InputRef) for i, e in enumerate(exprs) if i != at):
        del exprs[at]
        source, indexes = _simplified(*_deduplicated(below.input, exprs, list(inferred(below.input.names, exprs))))
        indexes.insert(at, at)
        return source, indexes, specs.TimeField(name, at, 0, time.type)
    exprs[at] = time
    names = list(inferred(below.input.names, exprs))
    names[at] = name
    source, indexes = _simplified(*_deduplicated(below.input, exprs, names))
    return source, indexes, specs.TimeField(name, indexes[at], 0, time.type)


def _if_empty(call: specs.AggregateCall) -> specs.AggregateCall:
    """The calls, nullable in an aggregation without grouping columns, as Flink's planner types them."""
    return call if is_call_of(call, COUNT) else replace(call, type=call.type.nullable_())


def _simplified(source: Project, indexes: list[int]) -> tuple[Rel, list[int]]:
    """The projection, or its input where the projection is the identity."""
    return (source.input if is_identity(source) else source), indexes


def _deduplicated(source: Rel, exprs: list[RexNode], names: list[str]) -> tuple[Project, list[int]]:
    """The projection without duplicate expressions, and the new position of each given expression."""
    unique: list[RexNode] = []
    unique_names: list[str] = []
    indexes = []
    for e, name in zip(exprs, names, strict=True):
        if e not in unique:
            unique.append(e)
            unique_names.append(name)
        indexes.append(unique.index(e))
    return Project(input=source, exprs=tuple(unique), names=tuple(unique_names)), indexes


def _without_permutation(source: Rel, indexes: list[int]) -> tuple[Rel, list[int]]:
    """The projection, or its input where the projection only reorders columns and the input is no filter."""
    if not isinstance(source, Project) or isinstance(source.input, Filter):
        return source, indexes
    order = [e.index for e in source.exprs if isinstance(e, InputRef)]
    if len(order) != len(source.exprs) or sorted(order) != list(range(source.input.width)):
        return source, indexes
    return source.input, [order[i] for i in indexes]


def _properties(time: LogicalType) -> tuple[specs.NamedWindowProperty, ...]:
    reference = specs.WindowReference("w$", time)
    return tuple(
        specs.NamedWindowProperty(f"w${suffix.lower()}", specs.WindowProperty(kind, reference))
        for suffix, kind in _PROPERTIES
        if suffix != "ROWTIME" or time.is_rowtime
    )


def _window(call: Call, field: specs.TimeField) -> specs.GroupWindow:
    alias = specs.WindowReference("w$", field.field_type)
    times = [_duration(o) for o in call.operands[1:]]
    if is_call(call, TUMBLE):
        return specs.TumblingGroupWindow(alias, field, True, times[0])
    if is_call(call, HOP):
        return specs.SlidingGroupWindow(alias, field, True, times[1], times[0])
    return specs.SessionGroupWindow(alias, field, times[0])


def _duration(size: RexNode) -> str:
    if not isinstance(size, Literal):
        raise PlanningError("the size of a window cannot be told before the job runs", hint="write it as an interval")
    return format_iso_duration(int(size.value))


def emit_text(config: Mapping[str, str]) -> str | None:
    """The early and late firing of windows as text; ``None`` where windows fire once."""
    parts = []
    for kind in ("early", "late"):
        if is_on(config, f"table.exec.emit.{kind}-fire.enabled"):
            delay = parse_duration(value_of(config, f"table.exec.emit.{kind}-fire.delay") or "0 ms")
            parts.append(f"{kind} delay {delay} millisecond" if delay else f"{kind} no delay")
    return ", ".join(parts) or None
