"""Finds for each operator of a changed plan the old operator whose state it continues from."""

from __future__ import annotations

from collections.abc import Hashable
from typing import NamedTuple

from ..plan.nodes import ExecNode, Sink, TableSourceScan
from ..plan.record import Record
from ..plan.specs import ContextResolvedTable
from .columns import Scope
from .comparing import Comparison
from .lineage import Lineage
from .reordering import calls_of, retractions_of
from .savepoint import Holder, restore
from .stored import Stored, stored
from .verdicts import Verdict


def heirs(c: Comparison) -> dict[int, ExecNode]:
    """The old node whose state each new node continues from, by the new node's id.

    Nodes in the same place of their plans are not paired if their states have another meaning: Flink would misread the
    state if the types agree.  A node without a pair then gets an old node elsewhere that keeps the same state.
    """
    pairs = {e.new.id: e.old for e in c.pairs() if _is_same_operator(e.old, e.new)}
    pairs = {new: old for new, old in pairs.items() if not _would_be_misread(c, old, c.new.plan.by_id[new])}
    paired = {old.id for old in pairs.values()}
    unpaired: dict[Hashable, list[ExecNode]] = {}
    for node in c.old.plan.nodes:
        if node.is_stateful and node.id not in paired:
            unpaired.setdefault(_identity(node, c.old), []).append(node)
    for node in c.new.plan.nodes:
        if node.is_stateful and node.id not in pairs and (candidates := unpaired.get(_identity(node, c.new))):
            pairs[node.id] = candidates.pop(0)
    return pairs


def _is_same_operator(old: ExecNode, new: ExecNode) -> bool:
    """Whether the new node can read the old node's state: another operator or connector cannot."""
    return old.metadata.name == new.metadata.name and _connector(old) == _connector(new)


def _connector(node: ExecNode) -> str | None:
    table = _table(node)
    options = table.resolved_table.options if table and table.resolved_table else None
    return options.get("connector") if options else None


def _table(node: ExecNode) -> ContextResolvedTable | None:
    if isinstance(node, TableSourceScan):
        return node.scan_table_source.table
    return node.dynamic_table_sink.table if isinstance(node, Sink) else None


class _StateMeanings(Record):
    """The meanings of an operator's state: those of its keys, of the columns of its rows, and of its aggregates."""

    keys: tuple[Hashable, ...]
    rows: tuple[tuple[Hashable, ...], ...]
    calls: tuple[Hashable, ...]


def _identity(node: ExecNode, lineage: Lineage) -> Hashable:
    states = list(stored(node, lineage))
    keys = tuple(_meanings(s) for s in states if s.is_key)
    rows = tuple(_meanings(s) for s in states if not s.is_key)
    return node.metadata.name, _StateMeanings(keys, rows, tuple(_calls(node, lineage)))


def _meanings(state: Stored) -> tuple[Hashable, ...]:
    return tuple((column.meaning, column.type) for column in state.columns)


class _Call(NamedTuple):
    """An aggregate: its meaning, the types that it stores, and whether it retracts rows."""

    meaning: Hashable
    types: tuple[Hashable, ...]
    retracts: bool


def _calls(node: ExecNode, lineage: Lineage) -> list[_Call]:
    scope = Scope(node, lineage)
    calls = [scope.call(call).meaning for call in calls_of(node)]
    with_retractions = zip(calls, retractions_of(node), strict=True)
    return [_Call(meaning, tuple(types), retracts) for (meaning, *types), retracts in with_retractions]


def _would_be_misread(c: Comparison, old: ExecNode, new: ExecNode) -> bool:
    """Whether the new node would misread the old node's state.

    This is so if values have another meaning or another key, and if only one of the nodes retracts rows, because then
    the same count is one of other rows.
    """
    fate = restore(Holder(old, c.old), Holder(new, c.new))
    retracts, retracted = (getattr(node, "need_retraction", None) for node in (new, old))
    return fate.verdict is Verdict.CORRUPTING or fate.is_of_key or retracts != retracted
