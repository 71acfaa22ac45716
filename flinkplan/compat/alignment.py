"""Plans a changed query in the order that the state of the old one has.

Flink keeps rows, keys and accumulators by position.  Where nothing but their order changed, or the side of a join, the
operator is put back into the old order, and a projection above restores the order that the query asks for: the same
rows come out, and state is read as what it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..plan.document import Edge, Plan
from ..plan.nodes import Calc, ColumnOrder, Exchange, ExecNode
from ..plan.record import Record, replace
from ..plan.rex import InputRef
from ..plan.specs import PIPELINED_INPUT, JoinType
from ..plan.types import row
from ..plan.yields import Accumulator
from .columns import Row, Scope, call_text
from .comparing import Comparison, compare
from .lineage import merges
from .moving import Order, arranged, described, identity, moved, side_by_side
from .reordering import calls_of, join_spec, number_of_keys, with_calls, with_keys, with_swapped_sides
from .required_orders import RequiredOrders, is_spread_anew, required_orders
from .stored import keys_of, row_name

_ROUNDS = 4
"""How often a plan is put into order: what stands above can follow only when what is below has."""


class Mend(Record):
    """An operator that is planned in the old order; ``node`` is its id in the changed plan."""

    node: int
    what: str


class Alignment(Record):
    """A plan in the order of an older one's state, and what was done for it."""

    plan: Plan
    mends: tuple[Mend, ...] = ()


def align(old: Plan, new: Plan) -> Alignment:
    """The new plan with its operators in the order that the old one's state has, where that is all that changed.

    Raises :class:`UnsupportedError` where the plans are too large to compare.
    """
    mends: dict[Mend, None] = {}
    for _ in range(_ROUNDS):
        found = aligned(compare(old, new))
        if not found.mends:
            break
        new = found.plan
        mends.update(dict.fromkeys(found.mends))
    return Alignment(new, tuple(mends))


def aligned(c: Comparison) -> Alignment:
    """One round of it.  Joins whose inputs changed places come first: what their columns mean depends on that."""
    asked = _asked(c)
    found = tuple(mends(c, asked))
    return Alignment(_Aligner(c.new.plan, asked).build(), found) if found else Alignment(c.new.plan)


def _asked(c: Comparison) -> dict[int, RequiredOrders]:
    asked = {node: _possible(c.new.plan, c.new.plan.by_id[node], a) for node, a in required_orders(c).items()}
    if any(a.is_swapped for a in asked.values()):
        return {node: a.without_orders() for node, a in asked.items()}
    return asked


def _possible(plan: Plan, node: ExecNode, asked: RequiredOrders) -> RequiredOrders:
    """What can be done of what is asked."""
    if asked.keys and not (number_of_keys(node) and _can_order_keys(plan, node)):
        asked = replace(asked, keys=None)
    if asked.calls and merges(node):
        local = first_phase(plan, node)
        columns = local.yields([i.fields for i in plan.inputs(local)]) if local else ()
        if local is None or len(asked.calls) != sum(isinstance(column, Accumulator) for column in columns):
            asked = replace(asked, calls=None)
    return asked


def _can_order_keys(plan: Plan, node: ExecNode) -> bool:
    """Whether the order of the keys is the node's own affair, and that of the exchanges that feed nothing else."""
    for source, keys in zip(plan.inputs(node), keys_of(node, plan), strict=True):
        properties = source.input_properties or ()
        if not isinstance(source, Exchange) or len(plan.outputs(source)) > 1 or not properties:
            return False
        if list(properties[0].required_distribution.keys or ()) != list(keys):
            return False
    return is_spread_anew(plan, node)


def first_phase(plan: Plan, node: ExecNode) -> Any:
    """The local aggregate that feeds a global one and nothing else; ``None`` where there is none."""
    at = plan.inputs(node)[0]
    if not isinstance(at, Exchange) or len(plan.outputs(at)) > 1:
        return None
    local = plan.inputs(at)[0]
    return local if len(plan.outputs(local)) == 1 and local.metadata.order is ColumnOrder.ACCUMULATED else None


def mends(c: Comparison, asked: Mapping[int, RequiredOrders] | None = None) -> Iterator[Mend]:
    """What an alignment does about the nodes of the new plan, in words; of one round, as :func:`aligned`."""
    asked = _asked(c) if asked is None else asked
    return (mend for node in c.new.plan.nodes for mend in _mends(c, node, asked[node.id]))


def _mends(c: Comparison, node: ExecNode, asked: RequiredOrders) -> Iterator[Mend]:
    inputs = c.new.plan.inputs(node)
    if asked.is_swapped:
        yield Mend(node.id, "reads its inputs in their old order")
    for i, order in enumerate(asked.inputs):
        if node.is_stateful and order and order != identity(len(order)):
            columns = ", ".join(inputs[i].fields[column].name for column in order)
            yield Mend(node.id, f"keeps {row_name(node, i, len(inputs))} as ({columns})")
    if asked.keys:
        keys = keys_of(node, c.new.plan)[0]
        read = Row(c.new.rows[inputs[0].id], inputs[0].fields)
        columns = ", ".join(str(read.column(keys[place]).shown) for place in asked.keys)
        yield Mend(node.id, f"keeps its state by ({columns})")
    if asked.calls:
        row_read = Scope(node, c.new).aggregated
        calls = calls_of(node)
        yield Mend(node.id, f"computes {', '.join(call_text(calls[place], row_read) for place in asked.calls)}")


class _Aligner:
    def __init__(self, plan: Plan, asked: Mapping[int, RequiredOrders]) -> None:
        self.plan, self.asked = plan, asked
        self.nodes: list[ExecNode] = []
        self.edges: list[Edge] = []
        self.orders: dict[int, Order] = {}
        """The order in which each node hands on its columns."""
        self.made: dict[int, ExecNode] = {}
        self.projections: dict[tuple[int, Order], ExecNode] = {}
        self.next_id = max(node.id for node in plan.nodes) + 1
        self.wanted: dict[int, Order | None] = {}
        self.spread: dict[int, Order] = {}
        """The order of an exchange's keys."""
        self.phases: dict[int, Order] = {}
        """The order of the aggregates of first phases."""
        for node in reversed(plan.nodes):
            self.want(node)

    def want(self, node: ExecNode) -> None:
        """Find out in which order a node had better hand on its columns, and how it is to be spread."""
        readers = self.plan.outputs(node)
        asked = self.asked[node.id]
        if len(readers) == 1:
            reader = readers[0]
            place = self.plan.inputs(reader).index(node)
            passed = reader.metadata.order is ColumnOrder.PASSED
            self.wanted[node.id] = self.wanted[reader.id] if passed else self.asked[reader.id].inputs[place]
        else:
            self.wanted[node.id] = None
        if asked.keys:
            self.spread.update(dict.fromkeys((i.id for i in self.plan.inputs(node)), asked.keys))
        if asked.calls and merges(node):
            self.phases[first_phase(self.plan, node).id] = asked.calls

    def build(self) -> Plan:
        """The plan in order."""
        by_target: dict[int, list[Edge]] = {}
        for edge in self.plan.edges:
            by_target.setdefault(edge.target, []).append(edge)
        for node in self.plan.nodes:
            asked, inputs, edges = self.asked[node.id], self.plan.inputs(node), by_target.get(node.id, [])
            orders, sources = [], []
            for i, source in enumerate(inputs):
                wanted = self.wanted[node.id] if node.metadata.order is ColumnOrder.PASSED else asked.inputs[i]
                orders.append(wanted or self.orders[source.id])
                sources.append(self.projected(source, orders[i]))
            made = self.put(node, orders)
            self.orders[node.id] = self.handed_on(node, orders)
            if _does_nothing(made, sources):
                self.made[node.id] = sources[0]
                continue
            self.made[node.id] = made
            self.nodes.append(made)
            read = [replace(edge, source=source.id) for edge, source in zip(edges, sources, strict=True)]
            self.edges += read[::-1] if asked.is_swapped else read
        return replace(self.plan, nodes=tuple(self.nodes), edges=tuple(self.edges))

    def put(self, node: ExecNode, orders: list[Order]) -> ExecNode:
        """A node over inputs of these orders, itself in the order that is asked for."""
        asked = self.asked[node.id]
        order = self.handed_on(node, orders)
        made = moved(node, orders)
        if calls := asked.calls or self.phases.get(node.id):
            made = with_calls(made, calls)
        if keys := asked.keys or self.spread.get(node.id):
            made = with_keys(made, keys)
        if asked.is_swapped:
            made = with_swapped_sides(made, *map(len, orders))
        if order == identity(len(order)):
            return made
        if isinstance(made, Calc):
            made = replace(made, projection=tuple(made.projection[i] for i in order))
        output_type = replace(node.output_type, fields=arranged(node.fields, order))
        return replace(made, output_type=output_type, description=described(made.description, order))

    def handed_on(self, node: ExecNode, orders: list[Order]) -> Order:
        """The order in which a node over such inputs hands on its columns."""
        asked, width = self.asked[node.id], len(node.fields)
        front: Order = ()
        match node.metadata.order:
            case ColumnOrder.PASSED:
                return orders[0]
            case ColumnOrder.CHOSEN:
                return self.wanted[node.id] or identity(width)
            case ColumnOrder.JOINED if join_spec(node).join_type in (JoinType.SEMI, JoinType.ANTI):
                return orders[0]
            case ColumnOrder.JOINED:
                return side_by_side(orders, (1, 0) if asked.is_swapped else (0, 1))
            case ColumnOrder.EXTENDED:
                front = orders[0]
            case ColumnOrder.GROUPED | ColumnOrder.ACCUMULATED:
                front = asked.keys or identity(number_of_keys(node))
        calls = asked.calls or self.phases.get(node.id) or ()
        front = (*front, *(len(front) + place for place in calls))
        return (*front, *range(len(front), width))

    def projected(self, source: ExecNode, order: Order) -> ExecNode:
        """The source, or a projection of it, with its columns in this order."""
        made, given = self.made[source.id], self.orders[source.id]
        if given == order:
            return made
        key = (source.id, order)
        if key not in self.projections:
            fields = arranged(source.fields, order)
            calc = Calc(
                id=self.next_id,
                version=Calc.metadata.versions[-1],
                input_properties=(PIPELINED_INPUT,),
                output_type=row((f.name, f.type) for f in fields),
                description=f"Calc(select=[{', '.join(f.name for f in fields)}])",
                projection=tuple(InputRef(given.index(column), source.fields[column].type) for column in order),
                condition=None,
            )
            self.next_id += 1
            self.projections[key] = calc
            self.nodes.append(calc)
            self.edges.append(Edge(made.id, calc.id))
        return self.projections[key]


def _does_nothing(node: ExecNode, sources: list[ExecNode]) -> bool:
    """Whether a node hands on what it reads, as a projection does whose order has been restored.  Flink refuses it."""
    if not isinstance(node, Calc) or node.condition is not None:
        return False
    (source,) = sources
    places = [rex.index if isinstance(rex, InputRef) else None for rex in node.projection]
    return places == list(range(len(source.fields)))
