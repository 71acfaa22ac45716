"""Which operator's state each operator of a changed plan is to go on from."""

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
    """The old node that each new one takes over from, by the new one's id.

    Where nodes that stand in the same place keep something else, Flink would take the one's state for the other's if
    the types agree: they are not related.  State that is left over goes to a node that keeps the same elsewhere.
    """
    found = {e.new.id: e.old for e in c.pairs() if _is_same_operator(e.old, e.new)}
    found = {new: old for new, old in found.items() if not _is_mistaken(c, old, c.new.plan.by_id[new])}
    taken = {old.id for old in found.values()}
    left: dict[Hashable, list[ExecNode]] = {}
    for node in c.old.plan.nodes:
        if node.is_stateful and node.id not in taken:
            left.setdefault(_identity(node, c.old), []).append(node)
    for node in c.new.plan.nodes:
        if node.is_stateful and node.id not in found and (same := left.get(_identity(node, c.new))):
            found[node.id] = same.pop(0)
    return found


def _is_same_operator(old: ExecNode, new: ExecNode) -> bool:
    """Whether the new node can read what the old one writes: another operator or connector cannot."""
    return old.metadata.name == new.metadata.name and _connector(old) == _connector(new)


def _connector(node: ExecNode) -> str | None:
    table = _table(node)
    options = table.resolved_table.options if table and table.resolved_table else None
    return options.get("connector") if options else None


def _table(node: ExecNode) -> ContextResolvedTable | None:
    if isinstance(node, TableSourceScan):
        return node.scan_table_source.table
    return node.dynamic_table_sink.table if isinstance(node, Sink) else None


class _Held(Record):
    """What an operator keeps: the meanings of keys, of the columns of rows, of aggregates."""

    keys: tuple[Hashable, ...]
    rows: tuple[tuple[Hashable, ...], ...]
    calls: tuple[Hashable, ...]


def _identity(node: ExecNode, lineage: Lineage) -> Hashable:
    kept = list(stored(node, lineage))
    keys = tuple(_meanings(s) for s in kept if s.is_key)
    rows = tuple(_meanings(s) for s in kept if not s.is_key)
    return node.metadata.name, _Held(keys, rows, tuple(_calls(node, lineage)))


def _meanings(kept: Stored) -> tuple[Hashable, ...]:
    return tuple((column.meaning, column.type) for column in kept.columns)


class _Call(NamedTuple):
    """An aggregate: what it computes, of which types, and whether it takes rows back."""

    meaning: Hashable
    types: tuple[Hashable, ...]
    retracts: bool


def _calls(node: ExecNode, lineage: Lineage) -> list[_Call]:
    scope = Scope(node, lineage)
    calls = [scope.call(call).meaning for call in calls_of(node)]
    both = zip(calls, retractions_of(node), strict=True)
    return [_Call(meaning, tuple(types), retracts) for (meaning, *types), retracts in both]


def _is_mistaken(c: Comparison, old: ExecNode, new: ExecNode) -> bool:
    """Whether what the old node keeps is something else than what the new one keeps.

    So it is where Flink would read it as such, where it is kept by another key, and where rows are taken back now, or
    no longer: the same count is then one of other rows.
    """
    fate = restore(Holder(old, c.old), Holder(new, c.new))
    takes_back, took_back = (getattr(node, "need_retraction", None) for node in (new, old))
    return fate.verdict is Verdict.CORRUPTING or fate.is_of_key or takes_back != took_back
