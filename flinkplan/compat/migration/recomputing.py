"""Recipes for aggregations that are computed anew, from rows that an operator below them keeps."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from ...plan.nodes import (
    Calc,
    ChangelogNormalize,
    Deduplicate,
    DropUpdateBefore,
    Exchange,
    ExecNode,
    GlobalGroupAggregate,
    GroupAggregate,
    Join,
    LocalGroupAggregate,
    MiniBatchAssigner,
    Rank,
)
from ...plan.savepoint import flink_states
from ...plan.savepoint.layout import Part
from ...plan.specs import ConstantRankRange, JoinType
from ...plan.types.parser import parse_type
from ..comparing import Comparison
from .accumulator_values import Accumulator
from .accumulators import accumulators_of
from .conditions import is_computed
from .context import Impossible, Pairing
from .joins import kept_side
from .kept_rows import references
from .recipe import (
    Accumulate,
    Accumulated,
    Computed,
    FirstField,
    KeptRows,
    KeptSide,
    NullIfZero,
    Recipe,
    RecipeKind,
    StateRecipe,
    Taken,
)
from .row_sets import RowComparison

_PASSING = (Calc, Exchange, MiniBatchAssigner, DropUpdateBefore, LocalGroupAggregate)
_KEEPERS = (Join, Rank, Deduplicate, ChangelogNormalize, GroupAggregate, GlobalGroupAggregate)
_SUMMED = ("TINYINT", "SMALLINT", "INT", "BIGINT", "DECIMAL")
"""The types whose sums do not depend on the order of the rows."""
_ORDERED = (*_SUMMED, "FLOAT", "DOUBLE", "DATE", "TIMESTAMP", "TIMESTAMP_LTZ")
"""The types of which Arrow finds the least value as Flink does."""


def recomputed(comparison: Comparison, rows: RowComparison, node: ExecNode) -> Recipe | None:
    """The recipe of an aggregation from rows that an old operator keeps; ``None`` if there are none."""
    if not isinstance(node, GroupAggregate | GlobalGroupAggregate):
        return None
    for keeper, calcs in _below(comparison, node):
        for old in comparison.old.plan.nodes:
            if type(old) is type(keeper) and _has_rows_of(old, keeper, rows):
                try:
                    return _recipe(Pairing(comparison, rows, old, node), keeper, calcs)
                except Impossible:
                    continue
    return None


def _has_rows_of(old: ExecNode, keeper: ExecNode, rows: RowComparison) -> bool:
    """Whether an old operator keeps what the rows of a new one follow from: of a join, the rows of its inputs."""
    if isinstance(old, Join):
        return rows.old.read_by(old) == rows.new.read_by(keeper)
    return rows.old.of(old) == rows.new.of(keeper)


def _below(comparison: Comparison, node: ExecNode) -> Iterator[tuple[ExecNode, list[Calc]]]:
    """The operator whose rows an aggregation reads, if it keeps them, and the calcs between, in their order."""
    plan = comparison.new.plan
    calcs: list[Calc] = []
    inputs = plan.inputs(node)
    while len(inputs) == 1 and isinstance(inputs[0], _PASSING):
        if isinstance(inputs[0], Calc):
            calcs.insert(0, inputs[0])
        inputs = plan.inputs(inputs[0])
    if len(inputs) == 1 and isinstance(inputs[0], _KEEPERS):
        yield inputs[0], calcs


def _recipe(pairing: Pairing, keeper: ExecNode, calcs: list[Calc]) -> Recipe:
    lineage = pairing.comparison.new
    first = lineage.aggregated_node(pairing.new)
    if not isinstance(first, GroupAggregate | LocalGroupAggregate):
        raise Impossible("the aggregation has more than two phases")
    states = pairing.new_layout.states
    if len(states) != 1:
        raise Impossible("DISTINCT values cannot be computed yet")
    values = tuple(_values(pairing))
    needed = {*first.grouping, *(v.argument for v in values if v.argument >= 0)}
    needed |= {v.condition for v in values if v.condition >= 0}
    steps: list[Computed] = []
    for calc in reversed(calcs):
        read = [calc.projection[i] for i in sorted(needed)]
        projection = tuple(rex if i in needed else None for i, rex in enumerate(calc.projection))
        condition = calc.condition
        if not all(map(is_computed, [*read, *([] if condition is None else [condition])])):
            raise Impossible("an expression is not computed here")
        needed = set().union(*map(references, read), references(condition) if condition is not None else ())
        steps.insert(0, Computed(projection, condition))
    if isinstance(keeper, Join):
        rows, columns = _joined(pairing, keeper), tuple(range(len(keeper.fields)))
    else:
        rows, columns = _kept(pairing), _columns(pairing, keeper, needed)
    step = Accumulate(rows, columns, tuple(steps), tuple(first.grouping), values)
    words = [f"is computed from the rows that {pairing.old_name} keeps"]
    needs = []
    if any(not state.ttl.startswith("0 ") for state in pairing.old.states):
        needs.append(pairing.mixed(f"{pairing.old_name} has forgotten rows after its TTL", "keep the aggregates"))
    untold = ["rows of groups, until they change"]
    return pairing.recipe(RecipeKind.DERIVED, [StateRecipe(states[0].name, step)], words, needs, untold)


def _values(pairing: Pairing) -> Iterator[Accumulated]:
    for each in accumulators_of(pairing):
        origin = pairing.new_layout.states[0].values[each.place].origin
        if not isinstance(origin, Part) or each.has_view or each.call.is_distinct:
            raise Impossible("its values are not computed from rows")
        call = origin.call
        argument = call.arg_list[0] if call.arg_list and each.part != "count1" else -1
        function = each.part
        if function in ("count", "count1"):
            function = "count"
        elif function == "sum":
            if parse_type(each.type).root not in _SUMMED:
                raise Impossible("its sums depend on the order of rows")
            function = "sum" if each.is_null_without_values else "sum or zero"
        elif function not in ("min", "max") or parse_type(each.type).root not in _ORDERED:
            raise Impossible("its values are not computed from rows")
        yield Accumulated(function, argument, call.filter_arg)


def _columns(pairing: Pairing, keeper: ExecNode, needed: set[int]) -> tuple[int, ...]:
    """For each column of the new operator below, that of the old one; 0 for those that nobody reads."""
    comparison = pairing.comparison
    unwidened = comparison.new.meanings.unwidened
    before = [unwidened(meaning) for meaning in comparison.old.rows[pairing.old.id]]
    columns = []
    for i, meaning in enumerate(comparison.new.rows[keeper.id]):
        place = next((p for p, m in enumerate(before) if m == unwidened(meaning)), None)
        if place is not None and pairing.old.fields[place].type.root != keeper.fields[i].type.root:
            place = None
        if place is None and i in needed:
            raise Impossible("a column is not kept")
        columns.append(place or 0)
    return tuple(columns)


def _joined(pairing: Pairing, join: Join) -> KeptRows:
    """How the rows of a new join are computed from those of its inputs, which the old one keeps."""
    spec = join.join_spec
    if spec.non_equi_condition is not None and not is_computed(spec.non_equi_condition):
        raise Impossible("the condition of the join is not computed here")
    joins = Pairing(pairing.comparison, pairing.rows, pairing.old, join)
    sides = [kept_side(joins, side, side) for side in (0, 1)]
    kept = tuple(KeptSide(s.state, _taken(s.state, s.values), s.old_form, s.key) for s in sides)
    return KeptRows(kept, spec.join_type, sides[0].never_null, spec.non_equi_condition)


def _kept(pairing: Pairing) -> KeptRows:
    """How the rows of the old operator are computed."""
    old = pairing.old
    layout = pairing.old_layout
    inputs = [source.fields for source in pairing.comparison.old.plan.inputs(old)]
    if isinstance(old, GroupAggregate | GlobalGroupAggregate):
        return KeptRows((_groups(pairing, old),))
    condition = old.filter_condition if isinstance(old, ChangelogNormalize) else None
    if condition is not None and not is_computed(condition):
        raise Impossible("the filter is not computed here")
    if isinstance(old, Rank):
        range_ = old.rank_range
        if not isinstance(range_, ConstantRankRange) or range_.start != 1 or old.output_row_number:
            raise Impossible("not all of the rows that the ranking keeps are its own")
        if layout.states[0].name == flink_states.SORTED:
            raise Impossible("the ranking keeps rows behind its own")
    elif layout.states[0].name != flink_states.LAST_ROWS or not layout.states[0].values:
        raise Impossible("rows are not kept")
    state = layout.states[0]
    values = range(len(state.values) - len(inputs[0]), len(state.values))
    return KeptRows((KeptSide(state.name, _taken(state.name, values)),), JoinType.INNER, (), condition)


def _taken(state: str, places: Iterable[int]) -> tuple[Taken, ...]:
    return tuple(Taken(state, place) for place in places)


def _groups(pairing: Pairing, old: GroupAggregate | GlobalGroupAggregate) -> KeptSide:
    """The rows of an aggregation: its keys and results."""
    state = pairing.old_layout.states[0]
    columns: list[Taken | NullIfZero | FirstField] = [Taken("", place) for place in range(len(pairing.old_layout.key))]
    kept = accumulators_of(pairing, of_old=True)
    for call in old.agg_calls:
        parts = {}
        for each in kept:
            origin = state.values[each.place].origin
            if isinstance(origin, Part) and origin.call == call:
                parts[origin.number] = each
        columns.append(_result(state.name, parts))
    return KeptSide(state.name, tuple(columns))


def _result(state: str, parts: Mapping[int, Accumulator]) -> Taken | NullIfZero | FirstField:
    """The result of an aggregate call, of the values of its accumulator."""
    first = parts.get(0)
    if first is None or first.part not in ("count", "count1", "sum", "min", "max") or first.is_average:
        raise Impossible("a result of the aggregation below does not follow from what it keeps")
    value = Taken(state, first.place)
    if first.has_view:
        return FirstField(value)
    if first.part == "sum" and 1 in parts:
        return NullIfZero(value, Taken(state, parts[1].place))
    return value
