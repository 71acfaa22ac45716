"""Which sinks a change concerns by itself: those whose rows are others under the new plan, before any new input.

What a sink holds follows from what the last operators with state above it keep.  The executor computes it for both
plans; the sink gets the difference before all other rows.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...plan.changelog import row_kinds
from ...plan.document import Plan
from ...plan.names import node_names
from ...plan.nodes import (
    Calc,
    ChangelogNormalize,
    Deduplicate,
    DropUpdateBefore,
    Exchange,
    ExecNode,
    Expand,
    GlobalGroupAggregate,
    GroupAggregate,
    Join,
    MiniBatchAssigner,
    MultiJoin,
    Rank,
    Sink,
    SortLimit,
    Union,
)
from ...plan.record import Record
from ...plan.row_kinds import INSERTS
from ..comparing import Comparison
from .recipe import Migration, Recipe, RecipeKind
from .row_sets import RowComparison

_STATELESS = (Calc, Exchange, Expand, Union, DropUpdateBefore, MiniBatchAssigner)
"""Nodes that make rows of rows and keep none."""
_KEEPING_INPUT = (Join, MultiJoin, Rank, SortLimit)
"""Operators that keep the rows of their inputs, of which they make their own again."""
_KEEPING_OUTPUT = (GroupAggregate, GlobalGroupAggregate, ChangelogNormalize, Deduplicate)
"""Operators whose own rows follow from each entry of their state."""


class SinkChange(Record):
    """A sink whose rows the change itself changes: its node in both plans, and the operators that its rows follow from.

    ``sink`` is the id in the new plan, ``old_sink`` that in the old one, ``None`` for a new sink.  ``keepers`` and
    ``old_keepers`` are the ids of the operators; ``inputs`` says of which of them the state has the rows of the inputs.
    ``obstacle`` says why the rows cannot be computed, if they cannot.
    """

    sink: int
    name: str
    old_sink: int | None
    keepers: tuple[int, ...] = ()
    old_keepers: tuple[int, ...] = ()
    obstacle: str = ""


def keeps_input(node: ExecNode) -> bool:
    """Whether the state of an operator holds the rows of its inputs, and not its own."""
    return isinstance(node, _KEEPING_INPUT)


def changed_sinks(comparison: Comparison, migration: Migration) -> tuple[SinkChange, ...]:
    """The sinks of the new plan whose rows the change itself adds to or takes back."""
    return tuple(_ChangedSinks(comparison, migration).changes())


class _UnknownError(Exception):
    """The rows of a sink do not follow from state."""


class _ChangedSinks:
    def __init__(self, comparison: Comparison, migration: Migration) -> None:
        self._comparison = comparison
        self._rows = RowComparison(comparison.old, comparison.new)
        self._pairs = {edit.new.id: edit.old for edit in comparison.pairs()}
        self._kept = {recipe.node for recipe in migration.recipes if _has_state(recipe)}
        self._names = node_names(comparison.new.plan)
        self._kinds = {id(plan): row_kinds(plan) for plan in (comparison.old.plan, comparison.new.plan)}

    def changes(self) -> Iterator[SinkChange]:
        for node in self._comparison.new.plan.nodes:
            if isinstance(node, Sink) and (change := self._change(node)) is not None:
                yield change

    def _change(self, sink: Sink) -> SinkChange | None:
        old = self._pairs.get(sink.id)
        old = old if isinstance(old, Sink) and _table(old) == _table(sink) else None
        if old is not None and (_columns(old) != _columns(sink) or self._is_same(old, sink)):
            return None
        new_plan, old_plan = self._comparison.new.plan, self._comparison.old.plan
        name = self._names[sink.id]
        old_id = None if old is None else old.id
        try:
            keepers = tuple(node.id for node in self._keepers(new_plan, sink))
            old_keepers = () if old is None else tuple(node.id for node in self._keepers(old_plan, old))
        except _UnknownError as e:
            return SinkChange(sink.id, name, old_id, obstacle=str(e))
        if self._kept.isdisjoint(keepers) and not old_keepers:
            return None
        if old is not None and not (keepers and old_keepers) and self._only_insert(old, sink):
            return None
        if old is not None and bool(keepers) != bool(old_keepers):
            return SinkChange(sink.id, name, old_id, obstacle="the rows that it has do not follow from the old state")
        if sink.is_stateful:
            return SinkChange(sink.id, name, old_id, obstacle="the sink keeps rows of its own, by which it is updated")
        return SinkChange(sink.id, name, old_id, keepers, old_keepers)

    def _only_insert(self, old: Sink, new: Sink) -> bool:
        """Whether nothing that reaches a sink is ever taken back, under either plan."""
        plans = (self._comparison.old.plan, old), (self._comparison.new.plan, new)
        return all(self._kinds[id(plan)][plan.inputs(sink)[0].id] == INSERTS for plan, sink in plans)

    def _is_same(self, old: Sink, new: Sink) -> bool:
        """Whether the same rows with the same columns reach a sink."""
        (before,), (after,) = self._rows.old.read_by(old), self._rows.new.read_by(new)
        if before != after:
            return False
        unwidened = self._comparison.new.meanings.unwidened
        rows = (self._comparison.old.input_row(old), self._comparison.new.input_row(new))
        return list(map(unwidened, rows[0])) == list(map(unwidened, rows[1]))

    def _keepers(self, plan: Plan, node: ExecNode) -> Iterator[ExecNode]:
        """The last operators above a node that emit changes; what only inserts has emitted its rows."""
        for source in plan.inputs(node):
            if isinstance(source, _STATELESS):
                yield from self._keepers(plan, source)
            elif isinstance(source, (*_KEEPING_INPUT, *_KEEPING_OUTPUT)):
                if isinstance(source, Join | MultiJoin) or self._kinds[id(plan)][source.id] != INSERTS:
                    yield source
            elif self._kinds[id(plan)][source.id] != INSERTS:
                raise _UnknownError(f"what '{source.metadata.name}' has emitted does not follow from its state")


def _has_state(recipe: Recipe) -> bool:
    return recipe.old is not None or recipe.kind is RecipeKind.HISTORY


def _table(sink: Sink) -> str:
    return sink.dynamic_table_sink.table.identifier


def _columns(sink: Sink) -> list[str]:
    (source,) = (sink.dynamic_table_sink.table.resolved_table,)
    return [] if source is None else [str(c.data_type) for c in source.schema.columns if c.is_physical]
