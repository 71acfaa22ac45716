"""What the recipes of an operator are made from: an operator of the old plan and one of the new plan."""

from __future__ import annotations

from collections.abc import Sequence

from ...plan.names import node_names
from ...plan.nodes import ExecNode
from ...plan.record import cached_property
from ...plan.savepoint.layout import Argument, Column, KeptState, Layout, Part, Value
from ...plan.types.widening import holds
from ..comparing import Comparison
from ..savepoint import Holder
from .recipe import Need, NeedKind, Recipe, RecipeKind, StateRecipe
from .recipe_steps import Taken
from .row_sets import RowComparison

_BOTH_SIDES = 2
"""The number of keys of a join."""


class Impossible(Exception):
    """The states cannot be made: the reason, and the smallest change of the query that avoids it."""

    def __init__(self, reason: str, fix: str = "") -> None:
        super().__init__(reason)
        self.reason, self.fix = reason, fix


class Pairing:
    """An old operator and the new one that is to have its states."""

    def __init__(self, comparison: Comparison, rows: RowComparison, old: ExecNode, new: ExecNode) -> None:
        self.comparison, self.rows = comparison, rows
        self.old, self.new = old, new
        self.before = Holder(old, comparison.old)
        self.after = Holder(new, comparison.new)

    @property
    def old_layout(self) -> Layout:
        """The layout of the old operator."""
        assert self.before.layout is not None
        return self.before.layout

    @property
    def new_layout(self) -> Layout:
        """The layout of the new operator."""
        assert self.after.layout is not None
        return self.after.layout

    @cached_property
    def name(self) -> str:
        """The name of the new node."""
        return node_names(self.comparison.new.plan)[self.new.id]

    @cached_property
    def old_name(self) -> str:
        """The name of the old node."""
        return node_names(self.comparison.old.plan)[self.old.id]

    def recipe(
        self,
        kind: RecipeKind,
        states: Sequence[StateRecipe] = (),
        words: Sequence[str] = (),
        needs: Sequence[Need] = (),
        untold: Sequence[str] = (),
    ) -> Recipe:
        """A recipe of these operators."""
        return Recipe(
            kind,
            self.new.id,
            self.name,
            self.old.id,
            self.old_name,
            self.old_layout.transformation,
            self.new_layout.transformation,
            tuple(states),
            tuple(words),
            tuple(needs),
            tuple(untold),
        )

    def mixed(self, why: str, fix: str) -> Need:
        """The need to accept state of other rows."""
        return Need(NeedKind.MIXED, self.name, why, fix)

    def row_needs(self, *, swapped: bool = False, only: int | None = None) -> list[Need]:
        """What is to be accepted because other rows reach the new operator, or its input ``only``, than before."""
        before = self.rows.old.read_by(self.old)
        after = self.rows.new.read_by(self.new)
        if len(before) != len(after):
            raise Impossible("the operator has another number of inputs", "keep its inputs")
        pairs = list(zip(before[::-1] if swapped else before, after, strict=True))
        found = (self.rows.difference(old, new) for old, new in (pairs if only is None else [pairs[only]]))
        return [self.mixed(each.why, each.fix) for each in found if each is not None]

    def key_order(self) -> tuple[int, ...]:
        """The old key's place of each column of the new key; layouts of joins have the keys of both sides.

        Raises :class:`Impossible`.
        """
        old, new = self.old_layout.key, self.new_layout.key
        if len(self.new.key_columns()) != _BOTH_SIDES:
            return self._taken_keys(old, new)
        old_half, new_half = len(old) // 2, len(new) // 2
        left = self._taken_keys(old[:old_half], new[:new_half])
        if left != self._taken_keys(old[old_half:], new[new_half:]):
            raise Impossible("the columns of the join key are in another order on each side", "keep the join key")
        return left

    def check_no_coarser_key(self, key: Sequence[int]) -> None:
        """Look whether no two old keys become one, with rows of both.  Raises :class:`Impossible`."""
        sides = 2 if len(self.old.key_columns()) == _BOTH_SIDES else 1
        if len(key) < len(self.old_layout.key) // sides:
            raise Impossible("rows of several keys would become those of one", "keep the columns of the key")

    def _taken_keys(self, old: Sequence[Value], key: Sequence[Value]) -> tuple[int, ...]:
        """The places in an old key of the columns of a new one."""
        old_meanings = self.before.exact_meanings(old)
        places: list[int] = []
        for value, meaning in zip(key, self.after.exact_meanings(key), strict=True):
            place = self._place(old, old_meanings, value, meaning, len(places))
            if place is None:
                reason = f"the key has {self.shown(value)}, by which the old state is not kept"
                raise Impossible(reason, "keep the columns of the key")
            places.append(place)
        return tuple(places)

    def taken(self, old: KeptState, value: Value, place: int = -1) -> Taken | None:
        """Where a value of the new state is in an old state, if it is there: best at the same ``place``."""
        (meaning,) = self.after.exact_meanings([value])
        found = self._place(old.values, self.before.exact_meanings(old.values), value, meaning, place)
        return None if found is None else Taken(old.name, found)

    @staticmethod
    def _place(
        old: Sequence[Value], meanings: Sequence[int | None], value: Value, meaning: int | None, preferred: int
    ) -> int | None:
        if meaning is None:
            return None
        fitting = [i for i, m in enumerate(meanings) if m == meaning and holds(old[i].type, value.type)]
        return min(fitting, key=lambda i: (i != preferred, old[i].type != value.type), default=None)

    def shown(self, value: Value) -> str:
        """What to call a value of the new plan."""
        match value.origin:
            case Column(side, index):
                sources = self.comparison.new.plan.inputs(self.new)
                return sources[side].fields[index].name
            case Argument(index):
                return f"argument {index}"
            case Part(call):
                return call.function_name.removeprefix("$")
        return value.type
