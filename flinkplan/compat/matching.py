"""Matches the nodes of two plans by structure, never by id.

The plans are aligned from their sinks downwards, as two trees are in a tree edit distance: for each node of
the one and each of the other, the cheapest of matching the two, taking the one out and putting the other in,
given the cheapest alignments of their inputs.  Stateful nodes weigh more than stateless ones, so that the
alignment explains as much of the state as it can.  Costs are kept in one table, filled in topological order,
so that deep plans need no recursion and plans that differ everywhere no more time than others.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from ..plan.codec import write_object
from ..plan.document import Plan
from ..plan.errors import UnsupportedError
from ..plan.nodes import Exchange, ExecNode, IntervalJoin, Sink, TableSourceScan, Union
from ..plan.record import Record
from .normal import Numbering, contents, signatures
from .reordering import join_spec, mirrors, with_swapped_sides

_STATEFUL, _STATELESS, _EXCHANGE = 8.0, 2.0, 0.25
"""What taking out or putting in a node costs."""

_CHANGED, _OTHER_TABLE, _SWAPPED, _MIRRORED, _REPLACED = 0.5, 1.0, 0.45, 0.05, 1.9
"""The shares of that which it costs to change a node, its table, the order of its inputs (of a join whose keys and
condition change sides along with them), its type."""

_LIMIT = 4_000_000
"""Pairs of nodes beyond which two plans are not compared: some ten seconds."""


class Pair(Record):
    """A node of the old plan and its counterpart.

    ``same``: they and all below them are equal; ``swapped``: the left input became the right one.
    """

    old: ExecNode
    new: ExecNode
    same: bool = False
    swapped: bool = False


class Matching(Record):
    """Which node became which."""

    pairs: tuple[Pair, ...]
    removed: tuple[ExecNode, ...]
    inserted: tuple[ExecNode, ...]


def match(old: Plan, new: Plan) -> Matching:
    """Match two plans.  Raises :class:`UnsupportedError` beyond 2,000 nodes, unless they are of one build."""
    numbering = Numbering()
    if len(old.nodes) * len(new.nodes) <= _LIMIT:
        return _Matcher(_Side(old, numbering), _Side(new, numbering)).match()
    if _build(old) != _build(new):
        raise UnsupportedError(f"plans of {len(old.nodes)} and {len(new.nodes)} nodes are too large to compare")
    before, after = (signatures(plan, contents(plan, numbering), numbering) for plan in (old, new))
    pairs = (Pair(o, n, before[o.id] == after[n.id]) for o, n in zip(old.nodes, new.nodes, strict=True))
    return Matching(tuple(pairs), (), ())


def _build(plan: Plan) -> object:
    """What edits by hand leave as it is: which types of nodes there are, and how they are connected."""
    numbers = {node.id: i for i, node in enumerate(plan.nodes)}
    return [node.type for node in plan.nodes], [(numbers[e.source], numbers[e.target]) for e in plan.edges]


class _Side:
    """A plan with its nodes numbered from 0, and what the costs are made of."""

    def __init__(self, plan: Plan, numbering: Numbering) -> None:
        self.nodes = plan.nodes
        numbers = contents(plan, numbering)
        signed = signatures(plan, numbers, numbering)
        index = {node.id: i for i, node in enumerate(plan.nodes)}
        self.sinks = [index[n.id] for n in plan.sinks]
        self.contents = [numbers[n.id] for n in plan.nodes]
        self.signatures = [signed[n.id] for n in plan.nodes]
        self.inputs = [[index[i.id] for i in plan.inputs(n)] for n in plan.nodes]
        self.joins = [numbering.of(_spec(n)) if mirrors(n, n) else None for n in plan.nodes]
        """What the two sides of each join have to do with each other, and the same seen from the other side."""
        self.mirrored = [numbering.of(_spec(_mirrored(n, plan))) if mirrors(n, n) else None for n in plan.nodes]
        self.weights = [_weight(n) for n in plan.nodes]
        self.shapes = [_shape(n, len(self.inputs[i])) for i, n in enumerate(plan.nodes)]
        self.sizes: list[float] = []
        """The weight of each node with all below it."""
        for i, inputs in enumerate(self.inputs):
            self.sizes.append(self.weights[i] + sum(self.sizes[k] for k in inputs))
        self.without = [[(k, self.sizes[i] - self.sizes[k]) for k in inputs] for i, inputs in enumerate(self.inputs)]
        """For each node its inputs, with the cost of giving up the node and its other inputs."""


class _Shape(NamedTuple):
    """What decides how much of a node is changed by making it another one."""

    name: str
    table: str | None
    is_stateful: bool
    inputs: int


def _shape(node: ExecNode, inputs: int) -> _Shape:
    return _Shape(node.metadata.name, _table(node), node.is_stateful, inputs)


def _share(old: _Shape, new: _Shape) -> float | None:
    """The share of a node's weight that making the one of the other costs; ``None``: cannot be."""
    if old.name == new.name:
        return _CHANGED if old.table == new.table else _OTHER_TABLE
    if old.is_stateful and new.is_stateful and old.inputs == new.inputs:
        return _REPLACED
    return None


class _Step(NamedTuple):
    """How two nodes are aligned: as a pair or not, and which nodes at or below them are aligned then."""

    paired: bool
    below: tuple[tuple[int, int], ...]
    swapped: bool = False


_NOTHING = _Step(False, ())


class _Matcher:
    def __init__(self, old: _Side, new: _Side) -> None:
        self.old, self.new = old, new
        self.costs: list[list[float]] = []

    def match(self) -> Matching:
        self.fill()
        found: dict[int, tuple[int, bool]] = {}
        taken: set[int] = set()
        for o, n, swapped in self.walk(self.sink_pairs()):
            if o not in found and n not in taken:
                found[o] = (n, swapped)
                taken.add(n)
        old, new = self.old.nodes, self.new.nodes
        return Matching(
            tuple(self.pair(o, *found[o]) for o in sorted(found)),
            tuple(node for o, node in enumerate(old) if o not in found),
            tuple(node for n, node in enumerate(new) if n not in taken),
        )

    def pair(self, o: int, n: int, swapped: bool) -> Pair:
        same = self.old.signatures[o] == self.new.signatures[n]
        return Pair(self.old.nodes[o], self.new.nodes[n], same, swapped)

    def walk(self, start: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int, bool]]:
        """The pairs of the cheapest alignments of these nodes and of all below them."""
        stack, seen = list(reversed(start)), set()
        while stack:
            at = stack.pop()
            if at in seen:
                continue
            seen.add(at)
            step = self.step(*at)
            if step.paired:
                yield *at, step.swapped
            stack.extend(reversed(step.below))

    def sink_pairs(self) -> list[tuple[int, int]]:
        """Sinks of the same table in order, then what is left, the cheapest first."""
        left = list(self.new.sinks)
        found, rest = [], []
        for o in self.old.sinks:
            table = _table(self.old.nodes[o])
            twin = next((n for n in left if table is not None and _table(self.new.nodes[n]) == table), None)
            if twin is None:
                rest.append(o)
            else:
                left.remove(twin)
                found.append((o, twin))
        return found + self.cheapest(rest, left)

    def cheapest(self, old: Sequence[int], new: Sequence[int]) -> list[tuple[int, int]]:
        """Pairs of these nodes, greedily, as long as pairing is cheaper than giving both up."""
        offers = sorted(
            (self.costs[o][n] - self.old.sizes[o] - self.new.sizes[n], i, j)
            for i, o in enumerate(old)
            for j, n in enumerate(new)
        )
        rows: set[int] = set()
        columns: set[int] = set()
        found = []
        for gain, i, j in offers:
            if gain < 0 and i not in rows and j not in columns:
                rows.add(i)
                columns.add(j)
                found.append((old[i], new[j]))
        return found

    def fill(self) -> None:
        """Work out what the cheapest alignment of each old with each new node costs.

        This runs once for each pair of nodes, hence the care for its speed.
        """
        old, new, costs = self.old, self.new, self.costs
        shares: dict[_Shape, list[float | None]] = {}
        columns = list(zip(new.signatures, new.contents, new.sizes, new.without, new.inputs, strict=True))
        for o, shape in enumerate(old.shapes):
            signature, content, size, weight = old.signatures[o], old.contents[o], old.sizes[o], old.weights[o]
            only = old.inputs[o][0] if len(old.inputs[o]) == 1 else None
            if shape not in shares:
                shares[shape] = [_share(shape, other) for other in new.shapes]
            row: list[float] = []
            costs.append(row)
            kept = [(costs[k], lost) for k, lost in old.without[o]]
            for n, share in enumerate(shares[shape]):
                its_signature, its_content, its_size, without, inputs = columns[n]
                if signature == its_signature:
                    row.append(0.0)
                    continue
                best = size + its_size
                for other, lost in kept:
                    if (cost := lost + other[n]) < best:
                        best = cost
                for k, lost in without:
                    if (cost := lost + row[k]) < best:
                        best = cost
                if share is not None:
                    cost = 0.0 if content == its_content else share * weight
                    cost += self.paired(o, n)[0] if only is None or len(inputs) != 1 else costs[only][inputs[0]]
                    if cost < best:
                        best = cost
                row.append(best)

    def step(self, o: int, n: int) -> _Step:
        """The first step of the cheapest alignment of two nodes."""
        old, new, best = self.old, self.new, self.costs[o][n]
        share = _share(old.shapes[o], new.shapes[n])
        if share is not None:
            cost, step = self.paired(o, n)
            own = 0.0 if old.contents[o] == new.contents[n] else share * old.weights[o]
            if own + cost <= best or old.signatures[o] == new.signatures[n]:
                return step
        for k, lost in old.without[o]:
            if lost + self.costs[k][n] <= best:
                return _Step(False, ((k, n),))
        for k, lost in new.without[n]:
            if lost + self.costs[o][k] <= best:
                return _Step(False, ((o, k),))
        return _NOTHING

    def paired(self, o: int, n: int) -> tuple[float, _Step]:
        """The two nodes match: what their inputs cost, in the best order."""
        old, new = self.old.inputs[o], self.new.inputs[n]
        if isinstance(self.old.nodes[o], Union):
            return self.below(old, new, self.cheapest(old, new))
        cost, step = self.below(old, new, list(zip(old, new, strict=False)))
        if len(old) == len(new) == 2 and cost:
            crossed, cross = self.below(old, new, list(zip(old, new[::-1], strict=True)))
            crossed += self.swapping(o, n)
            if crossed < cost:
                return crossed, cross._replace(swapped=True)
        return cost, step

    def swapping(self, o: int, n: int) -> float:
        """What it costs to swap the inputs of a node, beside what it costs to change it."""
        weight, spec = self.old.weights[o], self.old.joins[o]
        if spec is None or spec != self.new.mirrored[n]:
            return _SWAPPED * weight
        return (_MIRRORED if spec == self.new.joins[n] else _MIRRORED - _CHANGED) * weight

    def below(self, old: Sequence[int], new: Sequence[int], pairs: Sequence[tuple[int, int]]) -> tuple[float, _Step]:
        """The cost of aligning inputs in these pairs and of giving up the others."""
        cost = sum(self.costs[o][n] for o, n in pairs)
        if len(pairs) < max(len(old), len(new)):
            cost += sum(self.old.sizes[o] for o in old) - sum(self.old.sizes[o] for o, _ in pairs)
            cost += sum(self.new.sizes[n] for n in new) - sum(self.new.sizes[n] for _, n in pairs)
        return cost, _Step(True, tuple(pairs))


def _spec(node: ExecNode) -> list[Any]:
    bounds = node.interval_join_spec.window_bounds if isinstance(node, IntervalJoin) else None
    return [node.metadata.name, write_object(join_spec(node)), bounds and write_object(bounds)]


def _mirrored(node: ExecNode, plan: Plan) -> ExecNode:
    left, right = (len(i.fields) for i in plan.inputs(node))
    return with_swapped_sides(node, left, right)


def _weight(node: ExecNode) -> float:
    if isinstance(node, Exchange):
        return _EXCHANGE
    return _STATEFUL if node.is_stateful else _STATELESS


def _table(node: ExecNode) -> str | None:
    if isinstance(node, Sink):
        return node.dynamic_table_sink.table.identifier
    if isinstance(node, TableSourceScan):
        return node.scan_table_source.table.identifier
    return None
