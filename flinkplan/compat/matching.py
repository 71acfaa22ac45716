"""Matches the nodes of two plans by structure, never by id.

The plans are aligned from their sinks down by a tree edit distance. For each pair of an old and a new node it takes the
 cheapest of matching them, removing the old one and inserting the new one, given the cheapest alignments of their
inputs. Stateful nodes weigh more than stateless ones, so that the alignment matches as much of the state as possible.
The costs are in one table that is filled in topological order: deep plans need no recursion, and the time does not
depend on how much the plans differ.
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
"""The cost of removing or inserting a node."""

_CHANGED, _OTHER_TABLE, _SWAPPED, _MIRRORED, _REPLACED = 0.5, 1.0, 0.45, 0.05, 1.9
"""The shares of this cost for changing a node's fields, its table, the order of its inputs, the order of a join's
inputs together with its keys and condition, and its type."""

_LIMIT = 4_000_000
"""The maximum number of pairs of nodes that are compared, which takes some ten seconds."""


class Pair(Record):
    """A node of the old plan and its counterpart.

    ``same`` says that they and all nodes below them are equal, ``swapped`` that the left input became the right one.
    """

    old: ExecNode
    new: ExecNode
    same: bool = False
    swapped: bool = False


class Matching(Record):
    """The pairs of matching nodes, and those without a counterpart."""

    pairs: tuple[Pair, ...]
    removed: tuple[ExecNode, ...]
    inserted: tuple[ExecNode, ...]


def match(old: Plan, new: Plan) -> Matching:
    """Match two plans.  Raises :class:`UnsupportedError` for more than 2,000 nodes, unless the shapes are equal."""
    numbering = Numbering()
    if len(old.nodes) * len(new.nodes) <= _LIMIT:
        return _Matcher(_Side(old, numbering), _Side(new, numbering)).match()
    if _plan_shape(old) != _plan_shape(new):
        raise UnsupportedError(f"plans of {len(old.nodes)} and {len(new.nodes)} nodes are too large to compare")
    before, after = (signatures(plan, contents(plan, numbering), numbering) for plan in (old, new))
    pairs = (Pair(o, n, before[o.id] == after[n.id]) for o, n in zip(old.nodes, new.nodes, strict=True))
    return Matching(tuple(pairs), (), ())


def _plan_shape(plan: Plan) -> object:
    """The types of the nodes and the edges between them, which edits by hand do not change."""
    numbers = {node.id: i for i, node in enumerate(plan.nodes)}
    return [node.type for node in plan.nodes], [(numbers[e.source], numbers[e.target]) for e in plan.edges]


class _Side:
    """A plan with its nodes numbered from 0, and the data for computing costs."""

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
        """A number for the keys and condition of each join."""
        self.mirrored = [numbering.of(_spec(_mirrored(n, plan))) if mirrors(n, n) else None for n in plan.nodes]
        self.weights = [_weight(n) for n in plan.nodes]
        self.shapes = [_shape(n, len(self.inputs[i])) for i, n in enumerate(plan.nodes)]
        self.sizes: list[float] = []
        """The weight of each node and all nodes below it."""
        for i, inputs in enumerate(self.inputs):
            self.sizes.append(self.weights[i] + sum(self.sizes[k] for k in inputs))
        self.without = [[(k, self.sizes[i] - self.sizes[k]) for k in inputs] for i, inputs in enumerate(self.inputs)]
        """For each node its inputs, each with the cost of removing the node and its other inputs."""


class _Shape(NamedTuple):
    """The properties of a node that determine the cost of changing it into another one."""

    name: str
    table: str | None
    is_stateful: bool
    inputs: int


def _shape(node: ExecNode, inputs: int) -> _Shape:
    return _Shape(node.metadata.name, _table(node), node.is_stateful, inputs)


def _share(old: _Shape, new: _Shape) -> float | None:
    """The cost of changing one node into the other, as a share of its weight; ``None`` where this is impossible."""
    if old.name == new.name:
        return _CHANGED if old.table == new.table else _OTHER_TABLE
    if old.is_stateful and new.is_stateful and old.inputs == new.inputs:
        return _REPLACED
    return None


class _Step(NamedTuple):
    """How two nodes are aligned: as a pair or not, and the pairs of nodes to align next."""

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
        counterparts: dict[int, tuple[int, bool]] = {}
        matched: set[int] = set()
        for o, n, swapped in self.walk(self.sink_pairs()):
            if o not in counterparts and n not in matched:
                counterparts[o] = (n, swapped)
                matched.add(n)
        old, new = self.old.nodes, self.new.nodes
        return Matching(
            tuple(self.pair(o, *counterparts[o]) for o in sorted(counterparts)),
            tuple(node for o, node in enumerate(old) if o not in counterparts),
            tuple(node for n, node in enumerate(new) if n not in matched),
        )

    def pair(self, o: int, n: int, swapped: bool) -> Pair:
        same = self.old.signatures[o] == self.new.signatures[n]
        return Pair(self.old.nodes[o], self.new.nodes[n], same, swapped)

    def walk(self, start: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int, bool]]:
        """The pairs in the cheapest alignments of these nodes and of all nodes below them."""
        stack, seen = list(reversed(start)), set()
        while stack:
            nodes = stack.pop()
            if nodes in seen:
                continue
            seen.add(nodes)
            step = self.step(*nodes)
            if step.paired:
                yield *nodes, step.swapped
            stack.extend(reversed(step.below))

    def sink_pairs(self) -> list[tuple[int, int]]:
        """The pairs of sinks: first those of the same table, then the others, the cheapest first."""
        unmatched_new = list(self.new.sinks)
        pairs, unmatched_old = [], []
        for o in self.old.sinks:
            table = _table(self.old.nodes[o])
            same = next((n for n in unmatched_new if table is not None and _table(self.new.nodes[n]) == table), None)
            if same is None:
                unmatched_old.append(o)
            else:
                unmatched_new.remove(same)
                pairs.append((o, same))
        return pairs + self.cheapest(unmatched_old, unmatched_new)

    def cheapest(self, old: Sequence[int], new: Sequence[int]) -> list[tuple[int, int]]:
        """Pairs of these nodes, chosen greedily as long as pairing is cheaper than removing and inserting."""
        offers = sorted(
            (self.costs[o][n] - self.old.sizes[o] - self.new.sizes[n], i, j)
            for i, o in enumerate(old)
            for j, n in enumerate(new)
        )
        rows: set[int] = set()
        columns: set[int] = set()
        pairs = []
        for gain, i, j in offers:
            if gain < 0 and i not in rows and j not in columns:
                rows.add(i)
                columns.add(j)
                pairs.append((old[i], new[j]))
        return pairs

    def fill(self) -> None:
        """Compute the cost of the cheapest alignment of each old node with each new one.

        The inner loop runs once for each pair of nodes, so it is written for speed.
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
                new_signature, new_content, new_size, without, inputs = columns[n]
                if signature == new_signature:
                    row.append(0.0)
                    continue
                best = size + new_size
                for other, lost in kept:
                    if (cost := lost + other[n]) < best:
                        best = cost
                for k, lost in without:
                    if (cost := lost + row[k]) < best:
                        best = cost
                if share is not None:
                    cost = 0.0 if content == new_content else share * weight
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
        """The cost of the inputs, in the best order, if two nodes match."""
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
        """The cost of swapping the inputs of a node, in addition to changing it."""
        weight, spec = self.old.weights[o], self.old.joins[o]
        if spec is None or spec != self.new.mirrored[n]:
            return _SWAPPED * weight
        return (_MIRRORED if spec == self.new.joins[n] else _MIRRORED - _CHANGED) * weight

    def below(self, old: Sequence[int], new: Sequence[int], pairs: Sequence[tuple[int, int]]) -> tuple[float, _Step]:
        """The cost of aligning these pairs of inputs and of removing or inserting the others."""
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
