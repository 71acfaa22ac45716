"""Recipes for operators whose state is computed anew, from rows that other operators of the old plan keep."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...plan.functions import aggregate
from ...plan.names import node_names
from ...plan.nodes import (
    Calc,
    Exchange,
    ExecNode,
    GlobalGroupAggregate,
    GroupAggregate,
    IntervalJoin,
    Join,
    LocalGroupAggregate,
    MultiJoin,
    WatermarkAssigner,
)
from ...plan.record import replace
from ...plan.rex import Call, InputRef, Literal, internal_name, shown_name
from ...plan.savepoint import flink_states
from ...plan.savepoint.layout import KeptState, Part
from ...plan.savepoint.views import view_state
from ...plan.specs import JoinType
from ...plan.types import RowField
from ...plan.types.parser import parse_type
from ..comparing import Comparison
from ..savepoint import Holder
from .accumulator_values import Accumulator
from .accumulators import accumulators_of
from .conditions import is_computed
from .context import Impossible, Pairing
from .joins import COUNTS_MATCHES
from .recipe import Need, Recipe, RecipeKind, StateRecipe
from .recipe_steps import (
    Accumulate,
    Accumulated,
    Computed,
    CountedValues,
    IntervalRows,
    Joined,
    JoinRows,
    Relation,
    Step,
    TimedSide,
    stored_in,
)
from .relations import Relations
from .row_sets import RowComparison

_MINUS = internal_name("-")
_MONTHS = frozenset(("YEAR", "MONTH"))
"""The units of intervals that are not numbers of milliseconds."""
_EXTREMES = {aggregate.MIN.internal_name: "min", aggregate.MAX.internal_name: "max"}
_VIEW = "map"
"""The view with the values of an extreme."""
_COUNTED = "rows with a number"
"""The form of rows that are computed."""
_SUMMED = ("TINYINT", "SMALLINT", "INT", "BIGINT", "DECIMAL")
"""The types whose sums do not depend on the order of the rows."""
_ORDERED = (*_SUMMED, "FLOAT", "DOUBLE", "DATE", "TIMESTAMP", "TIMESTAMP_LTZ")
"""The types of which Arrow finds the least value as Flink does."""


def recomputed(comparison: Comparison, rows: RowComparison, node: ExecNode) -> Recipe | None:
    """The recipe of an operator from rows that old operators keep; ``None`` if it has none.

    Raises :class:`Impossible` where rows that it needs are not kept.
    """
    relations = Relations(comparison, rows)
    match node:
        case GroupAggregate() | GlobalGroupAggregate():
            return _Recomputed(comparison, rows, node).aggregation(relations)
        case Join():
            return _Recomputed(comparison, rows, node).join(node, relations)
        case MultiJoin():
            return _Recomputed(comparison, rows, node).multi_join(node, relations)
        case IntervalJoin():
            return _Recomputed(comparison, rows, node).interval_join(node, relations)
    return None


class _Recomputed:
    """Makes the recipe of one node."""

    def __init__(self, comparison: Comparison, rows: RowComparison, node: ExecNode) -> None:
        self._comparison = comparison
        self._rows = rows
        self._node = node
        self._inputs = comparison.new.plan.inputs(node)

    def aggregation(self, relations: Relations) -> Recipe | None:
        """The accumulators over the rows that an aggregation reads."""
        first = self._comparison.new.aggregated_node(self._node)
        if not isinstance(first, GroupAggregate | LocalGroupAggregate):
            raise Impossible("the aggregation has more than two phases")
        holder = Holder(self._node, self._comparison.new)
        assert holder.layout is not None
        state, *views = holder.layout.states
        if views:
            raise Impossible("DISTINCT values cannot be computed yet")
        kept = accumulators_of(self._node, self._comparison.new)
        values = tuple(_values(state, kept, self._comparison.new.plan.inputs(first)[0].fields))
        needed = {*first.grouping, *(v.argument for v in values if v.argument >= 0)}
        needed |= {v.condition for v in values if v.condition >= 0}
        (source,) = self._comparison.new.plan.inputs(first)
        rows = relations.of(source, needed)
        step = Accumulate(rows, tuple(first.grouping), values)
        untold = ["rows of groups, until they change"]
        steps: dict[str, Step] = {state.name: step}
        calls = self._node.agg_calls  # type: ignore[attr-defined]
        for each, value in zip(kept, values, strict=True):
            origin = state.values[each.place].origin
            if value.has_view and isinstance(origin, Part):
                counted = replace(value, function="count", has_view=False)
                steps[view_state(calls.index(origin.call), _VIEW)] = CountedValues(rows, step.grouping, counted)
        return self._recipe(steps, [rows], [rows], "the aggregates", untold)

    def join(self, join: Join, relations: Relations) -> Recipe | None:
        """The rows of both sides, with how many of the other side each has met."""
        spec = join.join_spec
        rows = self._all_rows(relations)
        layout = join.layout([source.fields for source in self._inputs])
        condition = spec.non_equi_condition
        sides = []
        for side, state in enumerate(layout.states):
            unique = (join.left_upsert_keys, join.right_upsert_keys)[side] if "by their key" in state.form else None
            sides.append(
                JoinRows(
                    "",
                    tuple(range(len(self._inputs[side].fields))),
                    (spec.left_keys, spec.right_keys)[side],
                    min(unique or ((),), key=len),
                    state.form,
                    _COUNTED,
                    tuple(i for i, filters in enumerate(spec.filter_nulls) if filters),
                    condition=condition,
                    is_right=side == 1,
                    rows=rows[side],
                )
            )
        steps: dict[str, Step] = {}
        for side, (state, own) in enumerate(zip(layout.states, sides, strict=True)):
            if COUNTS_MATCHES in state.form:
                if condition is not None and not is_computed(condition):
                    raise Impossible("which rows match does not follow: the condition is not only of comparisons")
                own = replace(own, counts_matches=True, other=sides[1 - side])
            steps[state.name] = own
        return self._join_recipe(steps, rows)

    def multi_join(self, join: MultiJoin, relations: Relations) -> Recipe | None:
        """The rows of all inputs, by their join keys."""
        rows = self._all_rows(relations)
        layout = join.layout([source.fields for source in self._inputs])
        if len(join.key_columns()) != len(self._inputs):
            raise Impossible("by which columns the inputs are joined is not known", "correct the plan")
        steps: dict[str, Step] = {}
        for i, (state, key) in enumerate(zip(layout.states, join.key_columns(), strict=True)):
            width = len(self._inputs[i].fields)
            unique = join.unique_key(i) if "by their key" in state.form else ()
            own = JoinRows("", tuple(range(width)), key, unique, state.form, _COUNTED, rows=rows[i])
            steps[state.name] = replace(own, join_key=join.join_key(i))
        return self._join_recipe(steps, rows)

    def interval_join(self, join: IntervalJoin, relations: Relations) -> Recipe | None:
        """The rows of both sides by their times, and when they are past."""
        spec, bounds = join.interval_join_spec.join_spec, join.interval_join_spec.window_bounds
        if not bounds.is_event_time:
            raise Impossible("rows are kept by the time at which they came, which is not known", "join by event time")
        if spec.join_type is not JoinType.INNER:
            reason = "the interval join emits rows without a match once they are past, which may have been emitted"
            raise Impossible(reason, "make it an inner join")
        rows = self._all_rows(relations)
        keys = (spec.left_keys, spec.right_keys)
        times = (bounds.left_time_index, bounds.right_time_index)
        waits = (-bounds.left_lower_bound, bounds.left_upper_bound)
        left, right = (
            TimedSide(rows[i], keys[i], times[i], waits[i], self._delay(self._inputs[i], times[i])) for i in (0, 1)
        )
        sides = (left, right)
        steps: dict[str, Step] = {flink_states.TIMERS: IntervalRows("timers", sides)}
        for side in (0, 1):
            steps[flink_states.INTERVAL_ROWS[side]] = IntervalRows("rows", sides, side)
            steps[flink_states.INTERVAL_TIMERS[1 - side]] = IntervalRows("due", sides, side)
        untold = ["the end of rows outside of the bounds"]
        made = self._recipe(steps, rows, rows, "the join", untold)
        return made and replace(made, words=(*made.words, "rows that are past are left out"))

    def _delay(self, node: ExecNode, time: int) -> int | None:
        """How far watermarks are behind the latest row (milliseconds); ``None`` where that is not known."""
        plan = self._comparison.new.plan
        while isinstance(node, Calc | Exchange):
            if isinstance(node, Calc):
                column = node.projection[time]
                if not isinstance(column, InputRef):
                    return None
                time = column.index
            (node,) = plan.inputs(node)
        if not isinstance(node, WatermarkAssigner) or node.rowtime_field_index != time:
            return None
        match node.watermark_expr:
            case InputRef(index) if index == time:
                return 0
            case Call(name, (InputRef(index), Literal(str(delay), t))) if name == _MINUS and index == time:
                return int(delay) if delay.isdecimal() and _MONTHS.isdisjoint(t.root.split("_")) else None
        return None

    def _all_rows(self, relations: Relations) -> list[Relation]:
        """The rows of each input, with all columns."""
        return [relations.of(source, range(len(source.fields))) for source in self._inputs]

    def _join_recipe(self, steps: dict[str, Step], rows: Sequence[Relation]) -> Recipe | None:
        emitted = {self._rows.old.of(old) for old in self._comparison.old.plan.nodes}
        is_same = self._rows.new.of(self._node) in emitted
        untold = [] if is_same else ["the rows that the new join adds or takes back"]
        return self._recipe(steps, rows, [each for each in rows if _is_joined(each)], "the joins", untold)

    def _recipe(
        self,
        steps: dict[str, Step],
        rows: Sequence[Relation],
        complete: Sequence[Relation],
        kept: str,
        untold: Sequence[str],
    ) -> Recipe | None:
        """The recipe from ``rows``, of which ``complete`` must lack none that a TTL has removed."""
        stored = [each for relation in rows for each in stored_in(relation)]
        if not stored:
            return None
        old = self._comparison.old.plan
        names = node_names(old)
        keepers = ", ".join(dict.fromkeys(names[each.node] for each in stored))
        pairing = Pairing(self._comparison, self._rows, old.by_id[stored[0].node], self._node)
        words = [f"is computed from the rows that {keepers} keep{'' if ', ' in keepers else 's'}"]
        expired = {names[each.node] for relation in complete for each in stored_in(relation) if each.expires}
        needs: list[Need] = []
        if expired:
            why = f"{', '.join(sorted(expired))} has forgotten rows after its TTL"
            needs.append(pairing.mixed(why, f"keep {kept}"))
        states = [StateRecipe(name, step) for name, step in steps.items()]
        made = pairing.recipe(RecipeKind.DERIVED, states, words, needs, untold)
        return replace(made, old_name=keepers, old_operator=stored[0].operator)


def _not_following(accumulator: Accumulator) -> str:
    name = shown_name(accumulator.function) if accumulator.function else "a function"
    return f"the values of {name} do not follow from rows that are kept"


def _is_joined(rows: Relation) -> bool:
    """Whether rows are computed by a join of others."""
    return isinstance(rows, Joined) or (isinstance(rows, Computed) and _is_joined(rows.rows))


def _values(state: KeptState, accumulators: Sequence[Accumulator], fields: Sequence[RowField]) -> Iterator[Accumulated]:
    """How the values of accumulators are computed from rows with these columns.  Raises :class:`Impossible`."""
    for each in accumulators:
        origin = state.values[each.place].origin
        if not isinstance(origin, Part) or each.call.is_distinct:
            raise Impossible("DISTINCT values are not computed from rows")
        call = origin.call
        if each.has_view:
            types = [fields[i].type.root for i in call.arg_list if 0 <= i < len(fields)]
            if each.function not in _EXTREMES or types[:1] not in ([t] for t in _ORDERED):
                raise Impossible(_not_following(each))
            yield Accumulated(_EXTREMES[each.function], call.arg_list[0], call.filter_arg, has_view=True)
            continue
        argument = call.arg_list[0] if call.arg_list and each.part != "count1" else -1
        function = each.part
        if function in ("count", "count1"):
            function = "count"
        elif function == "sum":
            if parse_type(each.type).root not in _SUMMED:
                raise Impossible(_not_following(each))
            function = "sum" if each.is_null_without_values else "sum or zero"
        elif function not in ("min", "max") or parse_type(each.type).root not in _ORDERED:
            raise Impossible(_not_following(each))
        yield Accumulated(function, argument, call.filter_arg)
