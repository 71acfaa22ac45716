"""What must be true of every tree, whatever rule made it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from flinkplan.plan.rex import InputRef, RexNode, walk
from flinkplan.plan.specs import JoinType
from flinkplan.plan.types import LogicalType
from flinkplan.planner.algebra import logical as a
from flinkplan.planner.algebra import physical as p
from flinkplan.planner.algebra.logical import Over, Rel, SubQuery


def violations(rel: Rel) -> Iterator[str]:
    """References beyond the input or of another type than its column, and rows that are not what is computed."""
    for each in rel.inputs:
        yield from violations(each)
    fields = [t for each in rel.inputs for t in each.types]
    for rex in _expressions(rel):
        for message in _wrong_references(rex, fields):
            yield f"{type(rel).__name__}: {message}"
    computed = _computed(rel)
    if computed is not None and [t.root for t in computed] != [t.root for t in rel.types]:
        yield f"{type(rel).__name__}: computes {_roots(computed)}, says {_roots(rel.types)}"


def _roots(types: Sequence[LogicalType]) -> str:
    return ", ".join(t.root for t in types)


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


def _computed(rel: Rel) -> list[LogicalType] | None:
    """The types of a relation's columns as its inputs and expressions give them, where they do."""
    inputs = [list(each.types) for each in rel.inputs]
    match rel:
        case a.Project():
            return [e.type for e in rel.exprs]
        case p.Calc():
            return [e.type for e in rel.projection]
        case a.Filter() | a.Sort():
            return inputs[0]
        case a.Join(type=JoinType.SEMI | JoinType.ANTI):
            return inputs[0]
        case a.Join():
            return inputs[0] + inputs[1]
        case a.SetOp():
            return inputs[0]
        case a.Aggregate():
            return [inputs[0][g] for g in rel.grouping] + [c.type for c in rel.calls]
    return None


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
