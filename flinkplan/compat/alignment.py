"""Restores the old order of columns, keys and aggregates in a changed plan, so that it can read the old state.

Flink stores rows, keys and accumulators by position.  If only their order changed, or the sides of a join, the operator
keeps the old order, and a projection above it restores the order of the query.  The results are the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..plan.document import Edge, Plan
from ..plan.lineage.uses import merges
from ..plan.nodes import Calc, ColumnOrder, Exchange, ExecNode
from ..plan.record import Record, replace
from ..plan.rex import InputRef
from ..plan.specs import PIPELINED_INPUT, JoinType
from ..plan.types import row
from ..plan.yields import Accumulator
from .columns import Row, Scope, call_text
from .comparing import Comparison, compare
from .moving import Order, arranged, described, identity, moved, side_by_side
from .reordering import calls_of, join_spec, number_of_keys, with_calls, with_keys, with_swapped_sides
from .required_orders import RequiredOrders, is_shuffled_before_next_state, required_orders
from .stored import keys_of, row_name

_ROUNDS = 4
"""How often a plan is aligned: an operator can follow only after the operators below it."""


class Reordering(Record):
    """An operator that keeps its old order; ``node`` is its id in the changed plan."""

    node: int
    description: str


class Alignment(Record):
    """A plan whose operators have the order of the old state, and what was changed for this."""

    plan: Plan
    reorderings: tuple[Reordering, ...] = ()
    comparison: Comparison | None = None
    """The old plan and this one compared; ``None`` where that has not been done."""


def align(old: Plan, new: Plan) -> Alignment:
    """The new plan, in which operators have the old plan's order if only the order changed.

    Raises :class:`UnsupportedError` where the plans are too large to compare.
    """
    reorderings: dict[Reordering, None] = {}
    for _ in range(_ROUNDS):
        comparison = compare(old, new)
        alignment = align_once(comparison)
        if not alignment.reorderings:
            return Alignment(new, tuple(reorderings), comparison)
        new = alignment.plan
        reorderings.update(dict.fromkeys(alignment.reorderings))
    return Alignment(new, tuple(reorderings))


def align_once(c: Comparison) -> Alignment:
    """One round.  Swapped joins are done in a round of their own, because the meaning of columns depends on them."""
    orders = _feasible_orders(c)
    changed = tuple(reorderings(c, orders))
    return Alignment(_Aligner(c.new.plan, orders).build(), changed) if changed else Alignment(c.new.plan)


def _feasible_orders(c: Comparison) -> dict[int, RequiredOrders]:
    orders = {node: _feasible(c.new.plan, c.new.plan.by_id[node], o) for node, o in required_orders(c).items()}
    if any(o.is_swapped for o in orders.values()):
        return {node: o.without_orders() for node, o in orders.items()}
    return orders


def _feasible(plan: Plan, node: ExecNode, required: RequiredOrders) -> RequiredOrders:
    """The required orders that can be restored."""
    if required.keys and not (number_of_keys(node) and _can_order_keys(plan, node)):
        required = replace(required, keys=None)
    if required.calls and merges(node):
        local = first_phase(plan, node)
        columns = local.yields([i.fields for i in plan.inputs(local)]) if local else ()
        if local is None or len(required.calls) != sum(isinstance(column, Accumulator) for column in columns):
            required = replace(required, calls=None)
    return required


def _can_order_keys(plan: Plan, node: ExecNode) -> bool:
    """Whether only the node and its own exchanges depend on the order of its keys."""
    for source, keys in zip(plan.inputs(node), keys_of(node, plan), strict=True):
        properties = source.input_properties or ()
        if not isinstance(source, Exchange) or len(plan.outputs(source)) > 1 or not properties:
            return False
        if list(properties[0].required_distribution.keys or ()) != list(keys):
            return False
    return is_shuffled_before_next_state(plan, node)


def first_phase(plan: Plan, node: ExecNode) -> Any:
    """The local aggregate that feeds only this global one; ``None`` where there is none."""
    exchange = plan.inputs(node)[0]
    if not isinstance(exchange, Exchange) or len(plan.outputs(exchange)) > 1:
        return None
    local = plan.inputs(exchange)[0]
    return local if len(plan.outputs(local)) == 1 and local.metadata.order is ColumnOrder.ACCUMULATED else None


def reorderings(c: Comparison, orders: Mapping[int, RequiredOrders] | None = None) -> Iterator[Reordering]:
    """What one round of :func:`align_once` changes in the nodes of the new plan."""
    orders = _feasible_orders(c) if orders is None else orders
    return (reordering for node in c.new.plan.nodes for reordering in _node_reorderings(c, node, orders[node.id]))


def _node_reorderings(c: Comparison, node: ExecNode, required: RequiredOrders) -> Iterator[Reordering]:
    inputs = c.new.plan.inputs(node)
    if required.is_swapped:
        yield Reordering(node.id, "reads its inputs in their old order")
    for i, order in enumerate(required.inputs):
        if node.is_stateful and order and order != identity(len(order)):
            columns = ", ".join(inputs[i].fields[column].name for column in order)
            yield Reordering(node.id, f"keeps {row_name(node, i, len(inputs))} as ({columns})")
    if required.keys:
        keys = keys_of(node, c.new.plan)[0]
        input_row = Row(c.new.rows[inputs[0].id], inputs[0].fields)
        columns = ", ".join(str(input_row.column(keys[place]).shown) for place in required.keys)
        yield Reordering(node.id, f"keeps its state by ({columns})")
    if required.calls:
        row = Scope(node, c.new).aggregated
        calls = calls_of(node)
        yield Reordering(node.id, f"computes {', '.join(call_text(calls[place], row) for place in required.calls)}")


class _Aligner:
    def __init__(self, plan: Plan, required: Mapping[int, RequiredOrders]) -> None:
        self.plan, self.required = plan, required
        self.nodes: list[ExecNode] = []
        self.edges: list[Edge] = []
        self.orders: dict[int, Order] = {}
        """The order of the output columns of each node."""
        self.rebuilt: dict[int, ExecNode] = {}
        self.projections: dict[tuple[int, Order], ExecNode] = {}
        self.next_id = max(node.id for node in plan.nodes) + 1
        self.wanted: dict[int, Order | None] = {}
        """The order in which the reader of each node needs its columns."""
        self.exchange_keys: dict[int, Order] = {}
        """The order of the keys of exchanges."""
        self.local_calls: dict[int, Order] = {}
        """The order of the aggregates of local aggregations."""
        for node in reversed(plan.nodes):
            self.want(node)

    def want(self, node: ExecNode) -> None:
        """Set the wanted order of a node's output, and the orders of exchanges and local aggregations below it."""
        readers = self.plan.outputs(node)
        required = self.required[node.id]
        if len(readers) == 1:
            reader = readers[0]
            place = self.plan.inputs(reader).index(node)
            passed = reader.metadata.order is ColumnOrder.PASSED
            self.wanted[node.id] = self.wanted[reader.id] if passed else self.required[reader.id].inputs[place]
        else:
            self.wanted[node.id] = None
        if required.keys:
            self.exchange_keys.update(dict.fromkeys((i.id for i in self.plan.inputs(node)), required.keys))
        if required.calls and merges(node):
            self.local_calls[first_phase(self.plan, node).id] = required.calls

    def build(self) -> Plan:
        """The aligned plan."""
        by_target: dict[int, list[Edge]] = {}
        for edge in self.plan.edges:
            by_target.setdefault(edge.target, []).append(edge)
        for node in self.plan.nodes:
            required, inputs, edges = self.required[node.id], self.plan.inputs(node), by_target.get(node.id, [])
            orders, sources = [], []
            for i, source in enumerate(inputs):
                wanted = self.wanted[node.id] if node.metadata.order is ColumnOrder.PASSED else required.inputs[i]
                orders.append(wanted or self.orders[source.id])
                sources.append(self.projected(source, orders[i]))
            rebuilt = self.rebuild(node, orders)
            self.orders[node.id] = self.output_order(node, orders)
            if _does_nothing(rebuilt, sources):
                self.rebuilt[node.id] = sources[0]
                continue
            self.rebuilt[node.id] = rebuilt
            self.nodes.append(rebuilt)
            new_edges = [replace(edge, source=source.id) for edge, source in zip(edges, sources, strict=True)]
            self.edges += new_edges[::-1] if required.is_swapped else new_edges
        return replace(self.plan, nodes=tuple(self.nodes), edges=tuple(self.edges))

    def rebuild(self, node: ExecNode, orders: list[Order]) -> ExecNode:
        """A node for inputs in these orders, with its own required order."""
        required = self.required[node.id]
        order = self.output_order(node, orders)
        rebuilt = moved(node, orders)
        if calls := required.calls or self.local_calls.get(node.id):
            rebuilt = with_calls(rebuilt, calls)
        if keys := required.keys or self.exchange_keys.get(node.id):
            rebuilt = with_keys(rebuilt, keys)
        if required.is_swapped:
            rebuilt = with_swapped_sides(rebuilt, *map(len, orders))
        if order == identity(len(order)):
            return rebuilt
        if isinstance(rebuilt, Calc):
            rebuilt = replace(rebuilt, projection=tuple(rebuilt.projection[i] for i in order))
        output_type = replace(node.output_type, fields=arranged(node.fields, order))
        return replace(rebuilt, output_type=output_type, description=described(rebuilt.description, order))

    def output_order(self, node: ExecNode, orders: list[Order]) -> Order:
        """The order of the output columns of a node whose inputs have these orders."""
        required, width = self.required[node.id], len(node.fields)
        front: Order = ()
        match node.metadata.order:
            case ColumnOrder.PASSED:
                return orders[0]
            case ColumnOrder.CHOSEN:
                return self.wanted[node.id] or identity(width)
            case ColumnOrder.JOINED if join_spec(node).join_type in (JoinType.SEMI, JoinType.ANTI):
                return orders[0]
            case ColumnOrder.JOINED:
                return side_by_side(orders, (1, 0) if required.is_swapped else (0, 1))
            case ColumnOrder.EXTENDED:
                front = orders[0]
            case ColumnOrder.GROUPED | ColumnOrder.ACCUMULATED:
                front = required.keys or identity(number_of_keys(node))
        calls = required.calls or self.local_calls.get(node.id) or ()
        front = (*front, *(len(front) + place for place in calls))
        return (*front, *range(len(front), width))

    def projected(self, source: ExecNode, order: Order) -> ExecNode:
        """The source, or a projection of it, with its columns in this order."""
        rebuilt, current = self.rebuilt[source.id], self.orders[source.id]
        if current == order:
            return rebuilt
        key = (source.id, order)
        if key not in self.projections:
            fields = arranged(source.fields, order)
            calc = Calc(
                id=self.next_id,
                version=Calc.metadata.versions[-1],
                input_properties=(PIPELINED_INPUT,),
                output_type=row((f.name, f.type) for f in fields),
                description=f"Calc(select=[{', '.join(f.name for f in fields)}])",
                projection=tuple(InputRef(current.index(column), source.fields[column].type) for column in order),
                condition=None,
            )
            self.next_id += 1
            self.projections[key] = calc
            self.nodes.append(calc)
            self.edges.append(Edge(rebuilt.id, calc.id))
        return self.projections[key]


def _does_nothing(node: ExecNode, sources: list[ExecNode]) -> bool:
    """Whether a node is an identity projection, which Flink refuses, because the old order was restored below it."""
    if not isinstance(node, Calc) or node.condition is not None:
        return False
    (source,) = sources
    places = [rex.index if isinstance(rex, InputRef) else None for rex in node.projection]
    return places == list(range(len(source.fields)))
