"""How many bytes Flink expects a row to take.  Source: ``FlinkRelMdSize``."""

from __future__ import annotations

from ...plan.record import cached_on_record
from ...plan.rex import Call, InputRef, Literal, RexNode, children
from ...plan.types import CHARACTER, LogicalType
from ..algebra.logical import Aggregate, Filter, Join, Project, SetKind, SetOp, Sort, Values
from ..algebra.rel import Rel

_SIZES = (
    dict.fromkeys(("TINYINT", "BOOLEAN", "CHAR", "NULL"), 1.0)
    | {"SMALLINT": 2.0}
    | dict.fromkeys(("INT", "FLOAT"), 4.0)
    | dict.fromkeys(("BIGINT", "DOUBLE"), 8.0)
    | dict.fromkeys(("VARCHAR", "DECIMAL", "DATE", "TIME", "TIMESTAMP", "TIMESTAMP_LTZ"), 12.0)
    | dict.fromkeys(("BINARY", "VARBINARY"), 16.0)
)
_OF_OTHERS = 128.0
_ELEMENTS = 16
"""The assumed number of elements of a collection."""


def row_size(rel: Rel) -> float:
    """The bytes of a row of a relation."""
    return sum(column_sizes(rel))


@cached_on_record
def column_sizes(rel: Rel) -> tuple[float, ...]:
    """The bytes of each column's values."""
    match rel:
        case Values(tuples=tuples) if tuples:
            return tuple(sum(map(_literal_size, column)) / len(tuples) for column in zip(*tuples, strict=True))
        case Project():
            below = column_sizes(rel.input)
            return tuple(_rex_size(e, below) for e in rel.exprs)
        case Filter() | Sort():
            return column_sizes(rel.input)
        case Aggregate():
            below = column_sizes(rel.input)
            return (*(below[g] for g in rel.grouping), *(_type_size(c.type) for c in rel.calls))
        case Join():
            both = (*column_sizes(rel.left), *column_sizes(rel.right))
            return both[: rel.width]
        case SetOp(kind=SetKind.UNION):
            columns = zip(*map(column_sizes, rel.operands), strict=True)
            return tuple(sum(column) / len(column) for column in columns)
        case SetOp():
            return column_sizes(rel.operands[0])
    return tuple(map(_type_size, rel.types))


def _rex_size(rex: RexNode, columns: tuple[float, ...]) -> float:
    """The size of an expression: that of its first operand of the same type, if there is one."""
    if isinstance(rex, InputRef):
        return columns[rex.index]
    if isinstance(rex, Literal):
        return _literal_size(rex)
    alike = (o for o in children(rex) if o.type.root == rex.type.root) if isinstance(rex, Call) else iter(())
    operand = next(alike, None)
    return _type_size(rex.type) if operand is None else _rex_size(operand, columns)


def _literal_size(rex: RexNode) -> float:
    if not isinstance(rex, Literal):
        return _type_size(rex.type)
    if rex.value is None:
        return 1.0
    return 2.0 * len(rex.value) if rex.type.root in CHARACTER else _type_size(rex.type)


def _type_size(t: LogicalType) -> float:
    match t.root:
        case "ROW" | "STRUCTURED":
            return sum(map(_type_size, t.field_types))
        case "ARRAY":
            return _type_size(t.element) * _ELEMENTS
        case "MAP":
            return sum(map(_type_size, t.children)) * _ELEMENTS
        case "MULTISET":
            return (_type_size(t.element) + _SIZES["INT"]) * _ELEMENTS
    if t.root.startswith("INTERVAL"):
        return 8.0 if t.root.removeprefix("INTERVAL_").startswith(("YEAR", "MONTH")) else 4.0
    return _SIZES.get(t.root, _OF_OTHERS)
