"""What must be true of every tree, whatever rule made it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from flinkplan.plan.rex import InputRef, RexNode, walk
from flinkplan.plan.types import LogicalType
from flinkplan.planner.algebra import logical as a
from flinkplan.planner.algebra import physical as p
from flinkplan.planner.algebra.rel import Rel
from flinkplan.planner.rex.unplanned import Over, SubQuery


def violations(rel: Rel) -> Iterator[str]:
    """References beyond the input or of another type than its column, and columns without a name."""
    for each in rel.inputs:
        yield from violations(each)
    if len(rel.names) != rel.width:
        yield f"{type(rel).__name__}: {len(rel.names)} names for {rel.width} columns"
    fields = [t for each in rel.inputs for t in each.types]
    for rex in _expressions(rel):
        for message in _wrong_references(rex, fields):
            yield f"{type(rel).__name__}: {message}"


def _expressions(rel: Rel) -> Iterator[RexNode]:
    match rel:
        case a.Project():
            yield from rel.exprs
        case p.Calc():
            yield from rel.projection
            if rel.condition is not None:
                yield rel.condition
        case a.Filter() | a.Join():
            yield rel.condition
        case a.Aggregate():
            types = rel.input.types
            for i in (*rel.grouping, *(i for c in rel.calls for i in (*c.arg_list, c.filter_arg) if i >= 0)):
                yield InputRef(i, types[i] if i < len(types) else LogicalType("NULL"))


def _wrong_references(rex: RexNode, fields: Sequence[LogicalType]) -> Iterator[str]:
    for node in _walk(rex):
        if not isinstance(node, InputRef):
            continue
        if node.index >= len(fields):
            yield f"column {node.index} of {len(fields)}"
        elif fields[node.index].root != node.type.root:
            yield f"column {node.index} is {fields[node.index]}, not {node.type}"


def _walk(rex: RexNode) -> Iterator[RexNode]:
    """All sub-expressions but those of a subquery's relation, which has columns of its own."""
    for node in walk(rex):
        yield node
        if isinstance(node, Over):
            for part in (*node.operands, *node.partition, *(key for key, *_ in node.order)):
                yield from _walk(part)
        elif isinstance(node, SubQuery):
            for part in node.operands:
                yield from _walk(part)
