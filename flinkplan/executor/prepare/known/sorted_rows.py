"""The order in which operators of batch plans emit rows, and whether it shows in what is written."""

from __future__ import annotations

from collections.abc import Sequence

from ....plan.document import Plan
from ....plan.nodes import (
    BatchCalc,
    BatchCorrelate,
    BatchExchange,
    BatchLimit,
    BatchOverAggregate,
    BatchRank,
    BatchSort,
    BatchSortAggregate,
    BatchSortLimit,
    ExecNode,
)
from ....plan.record import replace
from ....plan.rex import InputRef
from ....plan.specs import DistributionType, SortField

Order = tuple[SortField, ...]


def order_of(plan: Plan, node: ExecNode) -> Order:
    """The columns that the rows of ``node`` are sorted by in each task; none if they are not sorted.

    Source: ``satisfyTraits`` of Flink's ``BatchPhysical…`` nodes, by which the planner leaves a sort out.
    """
    match node:
        case BatchSort(sort_spec=spec) | BatchSortLimit(sort_spec=spec):
            return spec.fields
        case BatchOverAggregate(over_spec=spec) if spec.partition.fields or spec.groups[-1].order_by.fields:
            partition = tuple(SortField(index, True, False) for index in spec.partition.fields)
            return (*partition, *spec.groups[-1].order_by.fields)
        case BatchExchange() if not _keeps_order(node):
            return ()
        case BatchCalc(projection=projection):
            return _projected(order_of(plan, plan.inputs(node)[0]), projection)
        case BatchExchange() | BatchCorrelate() | BatchOverAggregate() | BatchRank() | BatchLimit():
            return order_of(plan, plan.inputs(node)[0])
    return ()


def _keeps_order(node: BatchExchange) -> bool:
    """Whether rows stay in the task that has sorted them."""
    (required,) = (each.required_distribution.type for each in node.input_properties or ())
    return required is DistributionType.KEEP_INPUT_AS_IS


def _projected(order: Order, projection: Sequence[object]) -> Order:
    """The order by the columns of a projection, up to the first column that is not one of them."""
    places = {rex.index: place for place, rex in reversed(list(enumerate(projection))) if isinstance(rex, InputRef)}
    projected: list[SortField] = []
    for each in order:
        if each.index not in places:
            break
        projected.append(replace(each, index=places[each.index]))
    return tuple(projected)


def readers(plan: Plan, node: ExecNode) -> list[ExecNode]:
    """The operators that read the rows of ``node``, through exchanges and sorts."""
    operators: list[ExecNode] = []
    for reader in plan.outputs(node):
        operators += readers(plan, reader) if isinstance(reader, (BatchExchange, BatchSort)) else [reader]
    return operators


def serves_operators(plan: Plan, sort: BatchSort) -> bool:
    """Whether a sort is there for operators alone that read sorted rows, and that bring rows into order here."""
    return all(_sorts(reader) for reader in readers(plan, sort))


def _sorts(node: ExecNode) -> bool:
    if isinstance(node, BatchOverAggregate):
        return bool(node.over_spec.groups[-1].order_by.fields)
    return isinstance(node, (BatchRank, BatchSortAggregate))
