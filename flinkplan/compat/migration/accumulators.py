"""Recipes for aggregations: accumulators that are kept, computed from others, merged, or start empty."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence

from ...plan.accumulator_columns import parts
from ...plan.errors import PlanError, UnsupportedError
from ...plan.functions import aggregate
from ...plan.nodes import (
    ExecNode,
    GlobalGroupAggregate,
    GlobalWindowAggregate,
    GroupAggregate,
    GroupWindowAggregate,
    WindowAggregate,
)
from ...plan.record import replace
from ...plan.savepoint.accumulators import accumulator_names
from ...plan.savepoint.flink_states import WINDOW_TIMERS
from ...plan.savepoint.layout import Argument, Column, KeptState, Part, Value, written
from ...plan.savepoint.views import view_of, view_state
from ...plan.specs import AggregateCall
from ...plan.types import LogicalType, RowField
from ...plan.types.parser import parse_type
from ...plan.types.widening import holds
from ..lineage import Lineage
from ..reordering import retractions_of
from ..savepoint import Holder
from .accumulator_values import Accumulator, Call
from .context import Impossible, Pairing
from .recipe import Need, NeedKind, Recipe, RecipeKind, StateRecipe
from .recipe_steps import (
    Copy,
    Initial,
    Merge,
    MergeSlices,
    NullIfZero,
    OfView,
    Project,
    Step,
    Taken,
    ValueSource,
    ZeroIfKeyIsNull,
    ZeroIfNull,
)
from .siblings import sibling_value
from .slices import Slices
from .windows import kept_slices, other_windows

AGGREGATIONS = (GroupAggregate, GlobalGroupAggregate, WindowAggregate, GlobalWindowAggregate, GroupWindowAggregate)
_OF_NULL = "_null_state"
"""The end of the name of the state that says whether a view has seen NULL."""
_OF_WINDOWS = (WindowAggregate, GlobalWindowAggregate, GroupWindowAggregate)

_COUNT, _SUM, _SUM0, _AVG, _MIN, _MAX = (
    f.internal_name
    for f in (aggregate.COUNT, aggregate.SUM, aggregate.SUM0, aggregate.AVG, aggregate.MIN, aggregate.MAX)
)
_INITIAL: Mapping[tuple[str | None, str], int | None] = {
    (_COUNT, "count"): 0,
    (_COUNT, "count1"): 0,
    (_SUM, "sum"): None,
    (_SUM, "count"): 0,
    (_SUM0, "sum"): 0,
    (_AVG, "sum"): 0,
    (_AVG, "count"): 0,
    (_MIN, "min"): None,
    (_MAX, "max"): None,
}
"""What the parts of accumulators start with.  Source: ``getInitialValueExpressions`` of Flink's aggregate functions."""
_MERGES = {"sum": "sum", "count": "sum", "count1": "sum", "min": "min", "max": "max"}
"""How parts of accumulators are merged."""
_OF_VALUES: Mapping[str, tuple[str | None, ...]] = {
    "min": (_MIN,),
    "max": (_MAX,),
    "count": (_COUNT, _SUM, _AVG),
    "sum": (_SUM, _SUM0, _AVG),
}
"""The parts of accumulators that are computed from distinct values, and the functions that have them."""
_EXACT_OF_VALUES = ("TINYINT", "SMALLINT", "INT", "BIGINT", "DECIMAL", "DATE")
_EXACT_SUMS = ("TINYINT", "SMALLINT", "INT", "BIGINT", "DECIMAL", "DOUBLE")
"""The types whose sums are the same in the accumulators of SUM and AVG."""


def accumulators_of(node: ExecNode, lineage: Lineage) -> list[Accumulator]:
    """The values of the accumulators of an aggregation of one of the plans."""
    holder = Holder(node, lineage)
    assert holder.layout is not None
    types = [field.type for field in _arguments(node, lineage)]
    retractions = dict(zip(node.agg_calls, _retractions(node), strict=True))  # type: ignore[attr-defined]
    values = enumerate(holder.layout.states[0].values)
    return [_accumulator(value, place, holder, types, retractions) for place, value in values]


def _arguments(node: ExecNode, lineage: Lineage) -> tuple[RowField, ...]:
    """The columns that the aggregate calls of a node read."""
    local: LogicalType | None = getattr(node, "local_agg_input_row_type", None)
    return lineage.plan.inputs(node)[0].fields if local is None else local.fields


def recipe(pairing: Pairing) -> Recipe:
    """The recipe of an aggregation.  Raises :class:`Impossible`."""
    old, new = pairing.old, pairing.new
    if isinstance(old, _OF_WINDOWS) is not isinstance(new, _OF_WINDOWS):
        raise Impossible(
            "the old aggregation is in windows and the new one is not, or the other way round",
            "keep the GROUP BY of windows",
        )
    return _Aggregation(pairing).recipe()


class _Aggregation:
    def __init__(self, pairing: Pairing) -> None:
        self.pairing = pairing
        self.old_state, self.new_state = pairing.old_layout.states[0], pairing.new_layout.states[0]
        self.old = accumulators_of(pairing.old, pairing.comparison.old)
        self.new = accumulators_of(pairing.new, pairing.comparison.new)
        self.needs: list[Need] = []
        self.words: list[str] = []
        self.untold: list[str] = []
        self.kinds: set[RecipeKind] = {RecipeKind.PROJECTED}

    def recipe(self) -> Recipe:
        pairing = self.pairing
        self.needs += pairing.row_needs()
        windows = other_windows(pairing) if isinstance(pairing.new, _OF_WINDOWS) else None
        key = pairing.key_order()
        is_coarser = len(key) < len(pairing.old_layout.key)
        values = tuple(self._value(place) for place in range(len(self.new)))
        views = list(self._views(key))
        main: Step
        if is_coarser and isinstance(pairing.new, _OF_WINDOWS):
            windows = windows or kept_slices(pairing)
            if windows is None:
                raise Impossible(
                    "windows of several keys that are not made of slices cannot be merged", self._keep_key()
                )
        if windows is not None:
            return self._resliced(windows, key, values, views)
        if is_coarser:
            if views:
                raise Impossible("DISTINCT values of several keys cannot be merged", self._keep_key())
            main = Merge(self.old_state.name, key, values, tuple(self._merging(each) for each in self.new))
            self.kinds.add(RecipeKind.REKEYED)
            self.words.append("groups that are now one are merged")
            self.untold.append("the rows of the groups by the old key")
        else:
            main = Project(self.old_state.name, key, values)
            if key != tuple(range(len(key))):
                self.kinds.add(RecipeKind.REKEYED)
                self.words.append("the columns of the key get the new order")
        states = [StateRecipe(self.new_state.name, main), *views]
        others = {state.name: state for state in pairing.new_layout.states[1:]}
        for name in others.keys() - {state.name for state in states}:
            if not name.startswith("distinctAcc_"):
                states.append(StateRecipe(name, Copy(name, key)))
        kind = max(self.kinds, key=lambda kind: kind.rank)
        return pairing.recipe(kind, states, self.words, self.needs, self.untold)

    def _resliced(
        self,
        windows: tuple[Slices, Slices],
        key: tuple[int, ...],
        values: tuple[ValueSource, ...],
        views: Sequence[StateRecipe],
    ) -> Recipe:
        """The recipe of other windows, whose slices are made of those that are kept."""
        if views:
            raise Impossible("DISTINCT values of several windows or keys cannot be merged", self._keep_key())
        functions = tuple(self._merging(each) for each in self.new)
        main = MergeSlices(self.old_state.name, key, values, functions, *windows)
        states = [StateRecipe(self.new_state.name, main), StateRecipe(WINDOW_TIMERS, replace(main, is_timers=True))]
        if windows[0] != windows[1]:
            self.words.append("slices of the old windows are put together to those of the new ones")
        if len(key) < len(self.pairing.old_layout.key):
            self.words.append("groups that are now one are merged")
            self.untold.append("the rows of the groups by the old key")
        if main.is_uncertain:
            self.words.append("if the watermark says that none of them is lacking")
        kind = RecipeKind.WINDOWS if windows[0] != windows[1] else RecipeKind.REKEYED
        return self.pairing.recipe(kind, states, self.words, self.needs, self.untold)

    def _keep_key(self) -> str:
        return "keep the columns of GROUP BY"

    def _merging(self, accumulator: Accumulator) -> str:
        merging = _MERGES.get(accumulator.part)
        if merging is None or accumulator.has_view:
            raise Impossible(f"accumulators of {accumulator.function} cannot be merged", self._keep_key())
        return merging

    def _value(self, place: int) -> ValueSource:
        """Where a value of the new accumulator comes from."""
        wanted = self.new[place]
        if not wanted.part:  # a placeholder for values of DISTINCT, which are in states of their own
            return Initial(None)
        kept = self._find(wanted.function, wanted.part, wanted.call, wanted.type)
        if kept is not None:
            return kept
        of_view = self._of_view(place)
        if of_view is not None:
            self.kinds.add(RecipeKind.DERIVED)
            self.words.append(f"{self._shown(place)} is computed from the values that are kept")
            return of_view
        if wanted.has_view or wanted.call.is_distinct:
            return self._empty(place)
        return self._derived(wanted, self._shown(place)) or self._of_sibling(place) or self._empty(place)

    def _of_sibling(self, place: int) -> ValueSource | None:
        """A value that another aggregation keeps."""
        found = sibling_value(self.pairing, self.new[place], accumulators_of)
        if found is not None:
            self.kinds.add(RecipeKind.DERIVED)
            word = f"{self._shown(place) or 'the number of rows'} is taken from another aggregation by this key"
            self.words += [] if word in self.words else [word]
        return found

    def _of_view(self, place: int) -> OfView | None:
        """A value that is computed from all values of the same column, which another call keeps."""
        wanted = self.new[place]
        if isinstance(self.pairing.new, _OF_WINDOWS) or len(self.pairing.new_layout.key) < len(
            self.pairing.old_layout.key
        ):
            return None
        if wanted.has_view:
            return self._other_extreme(place)
        if wanted.call.condition is not None or wanted.function not in _OF_VALUES.get(wanted.part, ()):
            return None
        if not wanted.call.is_distinct and wanted.part not in ("min", "max"):
            return None
        view = self._distinct_view(wanted.call.arguments)
        t = _type(wanted.type)
        if view is None or t is None or t.root not in _EXACT_OF_VALUES:
            return None
        function = "sum or zero" if wanted.part == "sum" and wanted.function != _SUM else wanted.part
        return OfView(view.name, function)

    def _other_extreme(self, place: int) -> OfView | None:
        """MIN of the values that are kept for MAX, or the other way round."""
        wanted, origin = self.new[place], self.new_state.values[place].origin
        t = self._argument_type(origin) if isinstance(origin, Part) else None
        if wanted.function not in (_MIN, _MAX) or t is None or t.root not in _EXACT_OF_VALUES:
            return None
        for each in self.old:
            old_origin = self.old_state.values[each.place].origin
            is_other = each.function in (_MIN, _MAX) and each.function != wanted.function and each.has_view
            if is_other and each.call == wanted.call and isinstance(old_origin, Part):
                calls = self.pairing.old.agg_calls  # type: ignore[attr-defined]
                name = view_state(calls.index(old_origin.call), "map")
                function = "min" if wanted.function == _MIN else "max"
                return OfView(name, function, Taken(self.old_state.name, each.place))
        return None

    def _argument_type(self, part: Part) -> LogicalType | None:
        fields = _arguments(self.pairing.new, self.pairing.comparison.new)
        index = next(iter(part.call.arg_list), -1)
        return fields[index].type if 0 <= index < len(fields) else None

    def _distinct_view(self, arguments: Hashable) -> KeptState | None:
        """The old state with all values of a column, each once."""
        pairing = self.pairing
        for state in pairing.old_layout.states:
            if not state.name.startswith("distinctAcc_") or state.form != "a number for each value":
                continue
            meanings = tuple(pairing.before.exact_meanings(state.values))
            sharing = self._sharing(state, pairing.old, pairing.before)
            unfiltered = all(isinstance(each, Call) and each.condition is None for each in sharing)
            if meanings == arguments and len(meanings) == 1 and unfiltered:
                return state
        return None

    def _find(self, function: str | None, part: str, call: Call, type_: str | None) -> Taken | None:
        """An old value of this function."""
        for each in self.old:
            if each.function != function or each.part != part or each.call != call:
                continue
            if part == "sum" and each.type.startswith("FLOAT") and type_ is not None and not type_.startswith("FLOAT"):
                continue  # a sum of FLOAT has lost digits that one of DOUBLE has
            if type_ is None or holds(each.type, type_, null=True):
                return Taken(self.old_state.name, each.place)
        return None

    def _derived(self, wanted: Accumulator, shown: str) -> ValueSource | None:
        """A value that is computed from those of other functions of the same columns."""
        source: ValueSource | None = None
        call = wanted.call
        match wanted.function, wanted.part:
            case _, "count" | "count1":
                source = self._count(wanted)
            case function, "sum" if function in (_SUM, _SUM0, _AVG):
                source = self._sum(wanted)
            case function, ("min" | "max") if function in (_MIN, _MAX):
                source = self._key_column(call, wanted.type)
        if source is not None:
            self.kinds.add(RecipeKind.DERIVED)
            word = f"{shown or 'the number of rows'} is computed from what is kept"
            self.words += [] if word in self.words else [word]
        return source

    def _count(self, wanted: Accumulator) -> ValueSource | None:
        call = wanted.call
        for function, part in ((_COUNT, "count"), (_COUNT, "count1"), (_AVG, "count"), (_SUM, "count")):
            if (kept := self._find(function, part, call, "BIGINT")) is not None:
                return kept
        rows = self._rows(call)
        if wanted.is_never_null or not call.arguments:
            return rows
        key = self._key_column(call, None)
        return None if rows is None or key is None else ZeroIfKeyIsNull(rows, key)

    def _rows(self, call: Call) -> Taken | None:
        """How many rows there were that meet the condition of a call."""
        for each in self.old:
            is_count = each.part in ("count", "count1") and (each.is_never_null or not each.call.arguments)
            if is_count and each.call.condition == call.condition and not (each.call.is_distinct or call.is_distinct):
                return Taken(self.old_state.name, each.place)
        return None

    def _sum(self, wanted: Accumulator) -> ValueSource | None:
        sums = {f: self._find_sum(f, wanted.call, wanted) for f in (_SUM, _SUM0, _AVG)}
        zero_based = sums[_SUM0] or sums[_AVG]
        if wanted.function == _SUM:
            count = self._count(wanted)
            if sums[_SUM] is None and zero_based is not None and isinstance(count, Taken):
                return NullIfZero(zero_based, count)
            return sums[_SUM]
        of_sum = sums[_SUM]
        return zero_based if zero_based is not None or of_sum is None else ZeroIfNull(of_sum)

    def _find_sum(self, function: str | None, call: Call, wanted: Accumulator) -> Taken | None:
        kept = self._find(function, "sum", call, None)
        if kept is None:
            return None
        old, new = _type(self.old_state.values[kept.place].type), _type(wanted.type)
        if old is None or new is None or old.root not in _EXACT_SUMS or new.root not in _EXACT_SUMS:
            return None
        is_whole = {old.root, new.root} <= set(_EXACT_SUMS[:4])
        return kept if is_whole or old.same_as(new) else None

    def _key_column(self, call: Call, type_: str | None) -> Taken | None:
        """The column of the key that a call over it alone aggregates."""
        if call.condition is not None or not isinstance(call.arguments, tuple) or len(call.arguments) != 1:
            return None
        meanings = self.pairing.before.exact_meanings(self.pairing.old_layout.key)
        for place, value in enumerate(self.pairing.old_layout.key):
            if meanings[place] == call.arguments[0] and (type_ is None or holds(value.type, type_)):
                return Taken("", place)
        return None

    def _empty(self, place: int) -> ValueSource:
        """The value of an accumulator that starts empty, if that is accepted."""
        wanted, what = self.new[place], self._shown(place)
        if not what:
            raise Impossible("how many rows each group has is not kept", "keep whether rows are retracted below")
        if (wanted.function, wanted.part) not in _INITIAL or wanted.has_view or wanted.call.is_distinct:
            if any(each.call == wanted.call and each.function == wanted.function for each in self.old):
                raise Impossible(f"{what} was kept in another form", "keep whether rows are retracted below")
            raise Impossible(f"{what} is kept nowhere, and cannot start empty", f"leave out {what}")
        why = f"{what} is kept nowhere: it would start empty, and cover rows from now on only"
        similar = [a for a in self.old if a.function == wanted.function and a.call.arguments == wanted.call.arguments]
        if similar:
            why = f"{what} had another FILTER: it would start empty, and cover rows from now on only"
        need = Need(NeedKind.EMPTY, f"{self.pairing.name}.{what}", why, f"leave out {what}")
        if need not in self.needs:
            self.needs.append(need)
            self.untold.append(f"rows with {what}, until their group changes")
        self.kinds.add(RecipeKind.EXTENDED)
        return Initial(_INITIAL[wanted.function, wanted.part])

    def _shown(self, place: int) -> str:
        """What to call the call whose accumulator has a value; empty for the COUNT(*) that Flink adds."""
        origin = self.new_state.values[place].origin
        return self._names().get(origin.call, "") if isinstance(origin, Part) else ""

    def _names(self) -> Mapping[AggregateCall, str]:
        """What to call the new calls."""
        node = self.pairing.new
        calls = node.agg_calls  # type: ignore[attr-defined]
        return dict(zip(calls, accumulator_names(calls, _arguments(node, self.pairing.comparison.new)), strict=True))

    def _views(self, key: tuple[int, ...]) -> Iterator[StateRecipe]:
        """The states of values of DISTINCT and of retracted extremes."""
        old_views = [s for s in self.pairing.old_layout.states if s.name.startswith("distinctAcc_")]
        for view in self.pairing.new_layout.states:
            if not view.name.startswith("distinctAcc_"):
                continue
            match = next((each for each in old_views if self._is_same_view(each, view)), None)
            null, number = f"{view.name}{_OF_NULL}", None
            if match is None:
                match, number = next(
                    ((old, bits) for old in old_views if (bits := self._bits(old, view))), (None, None)
                )
            if match is not None and number is not None:
                values = tuple(Taken(match.name, place) for place in range(len(match.values)))
                yield StateRecipe(view.name, Project(match.name, key, values, number))
                yield StateRecipe(null, Project(f"{match.name}{_OF_NULL}", key, (), number))
                continue
            if match is None:
                raise Impossible(
                    "the values of a DISTINCT are kept nowhere, or by other calls",
                    "keep the DISTINCT calls as they are",
                )
            yield StateRecipe(view.name, Copy(match.name, key))
            yield StateRecipe(null, Copy(f"{match.name}{_OF_NULL}", key))
        old_calls, new_calls = (node.agg_calls for node in (self.pairing.old, self.pairing.new))  # type: ignore[attr-defined]
        retract_old, retract_new = map(_retractions, (self.pairing.old, self.pairing.new))
        for number, call in enumerate(new_calls):
            seen = view_of(call, retract_new[number])
            if seen is None:
                continue
            wanted = self._call(call, self.pairing.after)
            for old_number, old_call in enumerate(old_calls):
                names = {old_call.internal_name, call.internal_name}
                is_same = (len(names) == 1 or names == {_MIN, _MAX}) and retract_old[old_number]
                if is_same and self._call(old_call, self.pairing.before) == wanted:
                    for name in (seen.name, *seen.others, *([seen.pending] if seen.pending else [])):
                        yield StateRecipe(view_state(number, name), Copy(view_state(old_number, name), key))
                    break

    def _call(self, call: AggregateCall, holder: Holder) -> Call:
        arguments, condition = holder.arguments(call)
        return Call(arguments, condition, call.is_distinct)

    def _is_same_view(self, old: KeptState, new: KeptState) -> bool:
        """Whether two views hold the values of the same columns for the same calls in the same order."""
        pairing = self.pairing
        if [v.type for v in old.values] != [v.type for v in new.values] or old.form != new.form:
            return False
        if pairing.before.exact_meanings(old.values) != pairing.after.exact_meanings(new.values):
            return False
        return self._sharing(old, pairing.old, pairing.before) == self._sharing(new, pairing.new, pairing.after)

    def _bits(self, old: KeptState, new: KeptState) -> int | None:
        """What a view keeps with each value, if all calls have seen all values: a bit for each call."""
        pairing = self.pairing
        if any(getattr(node, "need_retraction", True) for node in (pairing.old, pairing.new)):
            return None
        if old.form != new.form or [v.type for v in old.values] != [v.type for v in new.values]:
            return None
        if pairing.before.exact_meanings(old.values) != pairing.after.exact_meanings(new.values):
            return None
        before = self._sharing(old, pairing.old, pairing.before)
        after = self._sharing(new, pairing.new, pairing.after)
        if any(isinstance(call, Call) and call.condition is not None for call in (*before, *after)):
            return None
        return int((1 << len(after)) - 1)

    def _sharing(self, view: KeptState, node: ExecNode, holder: Holder) -> list[Hashable]:
        arguments = tuple(v.origin.index for v in view.values if isinstance(v.origin, Argument))
        calls = node.agg_calls  # type: ignore[attr-defined]
        return [self._call(call, holder) for call in calls if call.is_distinct and call.arg_list == arguments]


def _retractions(node: ExecNode) -> Sequence[bool]:
    """Which calls of an aggregation take rows back: in windows all do, or none."""
    if isinstance(node, _OF_WINDOWS):
        return [bool(node.need_retraction)] * len(node.agg_calls)
    return retractions_of(node)


def _type(text: str) -> LogicalType | None:
    try:
        return parse_type(text)
    except PlanError:
        return None


def _accumulator(
    value: Value,
    place: int,
    holder: Holder,
    types: list[LogicalType],
    retractions: Mapping[AggregateCall, bool],
) -> Accumulator:
    if not isinstance(value.origin, Part):
        assert not isinstance(value.origin, Column)
        return Accumulator(None, "", Call((), None, False), value.type, place, has_view=False)
    call, number = value.origin.call, value.origin.number
    retracts = retractions.get(call, False)
    name = f"part {number}"
    for possible in (retracts, not retracts):
        try:
            own = parts(call, possible, types)
        except (UnsupportedError, IndexError):
            continue
        if number < len(own) and written(own[number][1]) == value.type:
            name = own[number][0]
            break
    arguments, condition = holder.arguments(call)
    is_never_null = _is_never_null(call, types)
    if call.internal_name == _COUNT and not call.is_distinct and is_never_null:
        arguments, name = (), "count1"
    identity = Call(arguments, condition, call.is_distinct)
    has_view = view_of(call, retracts) is not None
    return Accumulator(call.internal_name, name, identity, value.type, place, has_view, is_never_null)


def _is_never_null(call: AggregateCall, types: list[LogicalType]) -> bool:
    return all(i < len(types) and not types[i].nullable for i in call.arg_list)
