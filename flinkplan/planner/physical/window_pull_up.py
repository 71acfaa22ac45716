"""Window table functions pulled up into the aggregation, which then assigns the windows itself.

Sources: ``PullUpWindowTableFunctionIntoWindowAggregateRule``, ``ExpandWindowTableFunctionTransposeRule``.
"""

from __future__ import annotations

from collections.abc import Mapping

from ...plan.functions.cast import CAST
from ...plan.functions.user import calls_python_anywhere
from ...plan.record import Record, replace
from ...plan.rex import InputRef, Literal, RexNode
from ...plan.specs import SessionWindow, TimeAttributeWindowing
from ..algebra.builders import calc, merge_calc
from ..algebra.calls import remap_calls
from ..algebra.logical import Filter
from ..algebra.names import uniquify
from ..algebra.physical import Calc, Exchange, Expand, WindowAggregate, WindowTableFunction
from ..algebra.rel import Rel
from ..metadata.estimates import Estimates, shuffle_cpu
from ..metadata.selectivity import selectivity
from ..rex.expressions import identity, is_call, refs, remap


def pull_up_window(rel: WindowAggregate) -> WindowAggregate:
    """The aggregation that assigns windows itself, if a calc, and maybe an expand, stands between.

    It must aggregate no window column, and the calc call no Python function.
    """
    source = _past_expand(rel.input)
    if not isinstance(source, Calc) or not isinstance(source.input, WindowTableFunction):
        return rel
    if any(map(calls_python_anywhere, source.projection)):
        return replace(rel, input=source)
    function = source.input
    below = _below_window(function, source)
    if below is None or any(a not in below.mapping for c in rel.calls for a in c.arg_list):
        return replace(rel, input=source)
    if _is_cheaper_above(rel, source, function):
        return replace(rel, input=source)
    mapping = below.mapping
    strategy = _strategy(function)
    spec = strategy.window
    grouping = tuple(mapping[g] for g in rel.grouping)
    if isinstance(spec, SessionWindow) and spec.partition_key_indices:
        spec = replace(spec, partition_key_indices=grouping)
    return replace(
        rel,
        input=below.rel,
        grouping=grouping,
        calls=remap_calls(rel.calls, mapping),
        windowing=replace(strategy, window=spec, time_attribute_index=below.time_index),
    )


def _is_cheaper_above(rel: WindowAggregate, above: Calc, function: WindowTableFunction) -> bool:
    """Whether a filter above the window table function is expected to leave so few rows that the function pays.

    Above the function Flink estimates what the filter keeps, below it, on rows with watermarks, it guesses.
    Sources: ``FlinkRelMdSelectivity``, the ``computeSelfCost`` of ``Exchange`` and ``SingleRel``.
    """
    if above.condition is None or isinstance(function.input, Exchange):
        return False
    estimates = Estimates()
    rows = estimates.rows(function)
    kept = rows * selectivity(above.condition)
    kept_below = estimates.rows(Filter(input=function.input, condition=above.condition))
    computed = sum(not isinstance(e, (InputRef, Literal)) and not is_call(e, CAST) for e in above.projection)
    each = shuffle_cpu(rel.grouping) + computed + 1.0
    return rows + kept * each < kept_below * each


class _Below(Record):
    """A calc moved below the window table function.

    ``mapping`` says where the columns are now, but for those of the window; the time column stands at
    ``time_index``, behind the others unless the calc passed it on.
    """

    rel: Rel
    mapping: Mapping[int, int]
    time_index: int
    time_added: bool


def _strategy(function: WindowTableFunction) -> TimeAttributeWindowing:
    assert isinstance(function.windowing, TimeAttributeWindowing)
    return function.windowing


def _window_columns(function: WindowTableFunction) -> set[int]:
    width = function.input.width
    return {width, width + 1, width + 2}


def _below_window(function: WindowTableFunction, above: Calc | None) -> _Below | None:
    """The calc below the window table function; ``None`` where it computes something of window columns."""
    window = _window_columns(function)
    exprs = identity(function.types) if above is None else above.projection
    condition = None if above is None else above.condition
    if refs(condition) & window or any(refs(e) & window and not isinstance(e, InputRef) for e in exprs):
        return None
    source = function.input.input if isinstance(function.input, Exchange) else function.input
    time = identity(source.types)[_strategy(function).time_attribute_index]
    kept = [i for i, e in enumerate(exprs) if not refs(e) & window]
    names = (function if above is None else above).names
    new_exprs: list[RexNode] = [exprs[i] for i in kept]
    new_names = [names[i] for i in kept]
    added = time not in new_exprs
    if added:
        new_exprs.append(time)
        new_names.append(source.names[time.index])
    below = calc(source, new_exprs, uniquify(new_names, separator="_"), condition)
    last = max(i for i, e in enumerate(new_exprs) if e == time)
    return _Below(below, {old: new for new, old in enumerate(kept)}, last, added)


def _past_expand(rel: Rel) -> Rel:
    """The window table function moved above an expand."""
    if isinstance(rel, Calc) and isinstance(rel.input, Expand):
        return merge_calc(replace(rel, input=_transposed(rel.input)))
    return _transposed(rel) if isinstance(rel, Expand) else rel


def _transposed(expand: Expand) -> Rel:
    above = expand.input if isinstance(expand.input, Calc) else None
    function = expand.input if above is None else above.input
    if not isinstance(function, WindowTableFunction):
        return expand
    below = _below_window(function, above)
    if below is None:
        return expand
    width = expand.width
    kept = [i for i in range(width) if i in below.mapping or i >= expand.input.width]
    if any(not refs(p[i]) <= below.mapping.keys() for p in expand.projects for i in kept):
        return expand
    types = below.rel.types
    time = [InputRef(below.time_index, types[below.time_index])] if below.time_added else []
    lower = Expand(
        input=below.rel,
        projects=tuple((*(remap(p[i], below.mapping) for i in kept), *time) for p in expand.projects),
        expand_index=kept.index(expand.expand_index),
        names=(*(expand.names[i] for i in kept), *(below.rel.names[t.index] for t in time)),
    )
    time_index = lower.width - 1 if below.time_added else below.time_index
    assigned = WindowTableFunction(
        input=lower,
        windowing=replace(_strategy(function), time_attribute_index=time_index),
    )
    place = {old: new for new, old in enumerate(kept)}
    columns = identity(function.types) if above is None else above.projection
    first = function.input.width
    for i, e in enumerate(columns):
        if isinstance(e, InputRef) and e.index >= first:
            place[i] = lower.width + e.index - first
    outputs = identity(assigned.types)
    return calc(assigned, (outputs[place[i]] for i in range(width)), expand.names)
