"""Which fields of rows within the rows of a node are read, so that a source need not make the others."""

from __future__ import annotations

from collections.abc import Iterator

from ....plan.document import Plan
from ....plan.nodes import Calc, DropUpdateBefore, Exchange, ExecNode, MiniBatchAssigner, WatermarkAssigner
from ....plan.rex import FieldAccess, InputRef, OpaqueRex, RexNode, children, walk

FieldPath = tuple[int | str, ...]
"""The index of a column, and behind it the names of fields, each within the one before."""


def fields_read(plan: Plan, node: ExecNode) -> set[FieldPath]:
    """The paths of what is read of a node's rows; all that is within the end of a path is."""
    paths: set[FieldPath] = set()
    for reader in plan.outputs(node):
        paths.update(_read_by(reader, plan))
    return paths


def _read_by(reader: ExecNode, plan: Plan) -> Iterator[FieldPath]:
    match reader:
        case Calc(projection=projection, condition=condition):
            behind = fields_read(plan, reader)
            for i, rex in enumerate(projection):
                match rex:
                    case InputRef(index=index):
                        yield from ((index, *path[1:]) for path in behind if path[0] == i)
                    case _:
                        yield from _paths(rex, reader, plan)
            if condition is not None:
                yield from _paths(condition, reader, plan)
        case WatermarkAssigner():
            yield from fields_read(plan, reader)
            yield (reader.rowtime_field_index,)
            yield from _paths(reader.watermark_expr, reader, plan)
        case Exchange() | MiniBatchAssigner() | DropUpdateBefore():
            yield from fields_read(plan, reader)
        case _:
            for source in plan.inputs(reader):
                yield from ((i,) for i in range(len(source.fields)))


def _paths(rex: RexNode, reader: ExecNode, plan: Plan) -> Iterator[FieldPath]:
    """The paths of what an expression over the rows of the reader's input reads."""
    if any(isinstance(part, OpaqueRex) for part in walk(rex)):
        (source,) = plan.inputs(reader)
        yield from ((i,) for i in range(len(source.fields)))
        return
    names: list[str] = []
    of = rex
    while isinstance(of, FieldAccess):
        names.append(of.name)
        of = of.expr
    if isinstance(of, InputRef):
        yield (of.index, *reversed(names))
        return
    for part in children(of):
        yield from _paths(part, reader, plan)
