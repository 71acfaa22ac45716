"""Matches the nodes of two plans by structure, never by id.

The plans are aligned from their sinks downwards, as two trees are in a tree edit distance: equal sub-plans
match at once; nodes of one type match where that is cheaper than taking one out or putting one in.  Stateful
nodes weigh more than stateless ones, so that the alignment explains as much of the state as it can.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from ..plan.document import Plan
from ..plan.nodes import Exchange, ExecNode, Sink, TableSourceScan
from .normal import content, signatures

_STATEFUL, _STATELESS, _EXCHANGE = 8.0, 2.0, 0.25
_CHANGED, _MOVED = 0.5, 1.0
"""The weight of taking out or putting in a node, and the shares of it that changing or moving one costs."""


@dataclass(frozen=True)
class Pair:
    """A node of the old plan and its counterpart; ``moved`` where it feeds another input than before."""

    old: ExecNode
    new: ExecNode
    moved: bool = False


@dataclass(frozen=True)
class Matching:
    """Which node became which."""

    pairs: tuple[Pair, ...]
    removed: tuple[ExecNode, ...]
    inserted: tuple[ExecNode, ...]


@dataclass(frozen=True)
class _Alignment:
    cost: float
    pairs: tuple[Pair, ...] = ()
    below: tuple[_Alignment, ...] = field(default=(), repr=False)

    def all_pairs(self) -> Iterable[Pair]:
        """The pairs of this alignment and of those below it, in one pass."""
        stack, seen = [self], set()
        while stack:
            alignment = stack.pop()
            if id(alignment) in seen:
                continue
            seen.add(id(alignment))
            yield from alignment.pairs
            stack.extend(reversed(alignment.below))


def match(old: Plan, new: Plan) -> Matching:
    """Match two plans."""
    return _Matcher(old, new).match()


class _Matcher:
    def __init__(self, old: Plan, new: Plan) -> None:
        self.old, self.new = old, new
        self.old_signatures, self.new_signatures = signatures(old, new)
        self.memo: dict[tuple[int, int], _Alignment] = {}
        self.old_sizes, self.new_sizes = _sizes(old), _sizes(new)

    def match(self) -> Matching:
        pairs: dict[int, Pair] = {}
        taken: set[int] = set()
        for old_sink, new_sink in self.sink_pairs():
            for pair in self.align(old_sink, new_sink).all_pairs():
                if pair.old.id not in pairs and pair.new.id not in taken:
                    pairs[pair.old.id] = pair
                    taken.add(pair.new.id)
        return Matching(
            tuple(pairs[n.id] for n in self.old.nodes if n.id in pairs),
            tuple(n for n in self.old.nodes if n.id not in pairs),
            tuple(n for n in self.new.nodes if n.id not in taken),
        )

    def sink_pairs(self) -> list[tuple[ExecNode, ExecNode]]:
        """Sinks of the same table in order, then what is left by order."""
        left = list(self.new.sinks)
        found, rest = [], []
        for old in self.old.sinks:
            twin = next((n for n in left if _table(n) == _table(old)), None)
            if twin is None:
                rest.append(old)
            else:
                left.remove(twin)
                found.append((old, twin))
        return found + list(zip(rest, left, strict=False))

    def align(self, old: ExecNode, new: ExecNode) -> _Alignment:
        key = (old.id, new.id)
        found = self.memo.get(key)
        if found is None:
            found = self.memo[key] = self.derive(old, new)
        return found

    def derive(self, old: ExecNode, new: ExecNode) -> _Alignment:
        old_inputs, new_inputs = self.old.inputs(old), self.new.inputs(new)
        if self.old_signatures[old.id] == self.new_signatures[new.id]:
            below = tuple(self.align(o, n) for o, n in zip(old_inputs, new_inputs, strict=True))
            return _Alignment(0.0, (Pair(old, new),), below)
        options: list[Callable[[], _Alignment]] = []
        if old.metadata.name == new.metadata.name:
            own = self.own_cost(old, new)
            same = self.matched(old, new, own, old_inputs, new_inputs)
            if own == 0 and len(old_inputs) == len(new_inputs) == 1:
                return same
            options.append(lambda: same)
            if len(old_inputs) == len(new_inputs) == 2:
                options.append(lambda: self.swapped(old, new, own, old_inputs, new_inputs))
        options.extend(lambda o=o: self.without(self.align(o, new), self.taken_out(old, o)) for o in old_inputs)
        options.extend(lambda n=n: self.without(self.align(old, n), self.put_in(new, n)) for n in new_inputs)
        candidates = [option() for option in options]
        candidates.append(_Alignment(self.old_sizes[old.id] + self.new_sizes[new.id]))
        return min(candidates, key=lambda a: a.cost)

    def own_cost(self, old: ExecNode, new: ExecNode) -> float:
        if content(old) == content(new):
            return 0.0
        share = _CHANGED
        if isinstance(old, TableSourceScan | Sink) and _table(old) != _table(new):
            share = 2 * _CHANGED
        return share * _weight(old)

    def matched(
        self,
        old: ExecNode,
        new: ExecNode,
        own: float,
        old_inputs: Sequence[ExecNode],
        new_inputs: Sequence[ExecNode],
    ) -> _Alignment:
        """The two nodes match; their inputs match in order as far as that pays."""
        below, cost = self.in_order(old_inputs, new_inputs)
        return _Alignment(own + cost, (Pair(old, new),), below)

    def in_order(
        self, old_inputs: Sequence[ExecNode], new_inputs: Sequence[ExecNode]
    ) -> tuple[tuple[_Alignment, ...], float]:
        if len(old_inputs) == len(new_inputs):
            below = tuple(self.align(o, n) for o, n in zip(old_inputs, new_inputs, strict=True))
            return below, sum(a.cost for a in below)
        return self.best_order(old_inputs, new_inputs)

    def best_order(
        self, old_inputs: Sequence[ExecNode], new_inputs: Sequence[ExecNode]
    ) -> tuple[tuple[_Alignment, ...], float]:
        """A union gained or lost inputs: each old input takes the cheapest new one that is left."""
        left, below, cost = list(new_inputs), [], 0.0
        for old in old_inputs:
            best = min((self.align(old, n) for n in left), key=lambda a: a.cost, default=None)
            if best is None or best.cost >= self.old_sizes[old.id]:
                cost += self.old_sizes[old.id]
                continue
            left.pop(next(i for i, n in enumerate(left) if self.align(old, n) is best))
            below.append(best)
            cost += best.cost
        return tuple(below), cost + sum(self.new_sizes[n.id] for n in left)

    def swapped(
        self,
        old: ExecNode,
        new: ExecNode,
        own: float,
        old_inputs: Sequence[ExecNode],
        new_inputs: Sequence[ExecNode],
    ) -> _Alignment:
        """The two nodes match, but left became right."""
        below, cost = self.in_order(old_inputs, new_inputs[::-1])
        moved = tuple(_Alignment(0.0, tuple(Pair(p.old, p.new, moved=True) for p in a.pairs), a.below) for a in below)
        return _Alignment(own + cost + _MOVED * _weight(old), (Pair(old, new),), moved)

    def without(self, alignment: _Alignment, cost: float) -> _Alignment:
        return _Alignment(alignment.cost + cost, (), (alignment,))

    def taken_out(self, node: ExecNode, kept: ExecNode) -> float:
        """The cost of removing a node and its inputs, but for the one kept."""
        others = sum(self.old_sizes[i.id] for i in self.old.inputs(node) if i is not kept)
        return _weight(node) + others

    def put_in(self, node: ExecNode, kept: ExecNode) -> float:
        others = sum(self.new_sizes[i.id] for i in self.new.inputs(node) if i is not kept)
        return _weight(node) + others


def _weight(node: ExecNode) -> float:
    if isinstance(node, Exchange):
        return _EXCHANGE
    return _STATEFUL if node.is_stateful else _STATELESS


def _sizes(plan: Plan) -> dict[int, float]:
    """The weight of each node with all below it."""
    found: dict[int, float] = {}
    for node in plan.nodes:
        found[node.id] = _weight(node) + sum(found[i.id] for i in plan.inputs(node))
    return found


def _table(node: ExecNode) -> str | None:
    if isinstance(node, Sink):
        return node.dynamic_table_sink.table.identifier
    if isinstance(node, TableSourceScan):
        return node.scan_table_source.table.identifier
    return None
