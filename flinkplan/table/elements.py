"""Tables of rows of Python values."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, time
from decimal import Decimal
from math import isfinite
from typing import Any

from ..plan.elements import NAME, elements_options
from ..plan.errors import PlanError
from ..plan.functions.collection import ARRAY, MAP, ROW
from ..plan.functions.typing import least_restrictive
from ..plan.rex import Literal, RexNode
from ..plan.types import INTEGER_BITS, LogicalType
from ..plan.types.readable import readable
from ..planner.algebra.logical import Project, SetKind, SetOp
from ..planner.algebra.rel import Rel
from ..planner.binder.columns import SINGLE_ROW
from ..planner.binder.context import Context
from ..planner.rex.builder import convert
from .data_types import DataType, DataTypes, Field, RowType, logical_type
from .descriptors import Schema, TableDescriptor
from .expression import Expression
from .resolving import Resolver
from .rows import Row


def elements_descriptor(
    elements: Iterable[Any], schema: RowType | Sequence[str] | None, *, verifies: bool
) -> TableDescriptor:
    """The table whose rows are the elements, which are tuples or single values.

    ``schema`` has names and types, or only names; other types are inferred from the values as in PyFlink: BIGINT,
    DOUBLE, STRING, TIMESTAMP(6) and so on.  ``verifies``: values must be of the types of the schema.

    Raises :class:`PlanError` for rows of different lengths, and for values without a known type, or of another one.
    """
    items = list(elements)
    rows = [_row(element) for element in items]
    widths = {len(row) for row in rows}
    if len(widths) > 1:
        raise PlanError(f"the rows have {' or '.join(map(str, sorted(widths)))} values; all need the same number")
    fields = _fields(rows, schema or _names(items))
    if verifies and isinstance(schema, RowType):
        for row in rows:
            for value, field in zip(row, fields, strict=True):
                _verify(value, field.data_type, field.name)
    types = [logical_type(field.data_type) for field in fields]
    constants = [[_constant(value, t) for value, t in zip(row, types, strict=True)] for row in rows]
    builder = Schema.new_builder()
    for field in fields:
        builder = builder.column(field.name, field.data_type)
    descriptor = TableDescriptor.for_connector(NAME).schema(builder.build())
    for key, value in elements_options(constants).items():
        descriptor = descriptor.option(key, value)
    return descriptor.build()


def expression_rows(context: Context, items: Sequence[Expression], schema: RowType | Sequence[str] | None) -> Rel:
    """The relation of rows that are expressions: a union of projections of one row each.

    Raises :class:`PlanError` for rows of different lengths or types.  Source: ``ValuesOperationFactory``.
    """
    resolver = Resolver(context, (), ())
    rows = [item._args if item._name == "row" else (item,) for item in items]
    bound = [resolver.all(r) for r in rows]
    if len({len(r) for r in bound}) > 1:
        raise PlanError("the rows have different numbers of values")
    if isinstance(schema, RowType):
        names: Sequence[str] = [f.name for f in schema.fields]
        types = [logical_type(f.data_type) for f in schema.fields]
    else:
        names = schema or [f"f{i}" for i in range(len(bound[0]))]
        types = [least_restrictive([r[i].type for r in bound]) or bound[0][i].type for i in range(len(names))]
    parts = tuple(
        Project(
            input=SINGLE_ROW,
            exprs=tuple(convert(t, e, explicit=True) for e, t in zip(r, types, strict=True)),
            names=tuple(names),
        )
        for r in bound
    )
    return parts[0] if len(parts) == 1 else SetOp(kind=SetKind.UNION, all=True, operands=parts)


def _names(elements: Sequence[Any]) -> list[str] | None:
    """The names of the fields of rows; those of mappings are sorted, as in PyFlink."""
    first = elements[0] if elements else None
    if isinstance(first, Mapping):
        return sorted(first)
    return first._fields if isinstance(first, Row) and hasattr(first, "_fields") else None


def _row(element: Any) -> tuple[Any, ...]:
    if isinstance(element, Mapping):
        return tuple(element[name] for name in sorted(element))
    return tuple(element) if isinstance(element, tuple | list | Row) else (element,)


def _fields(rows: Sequence[tuple[Any, ...]], schema: RowType | Sequence[str] | None) -> list[Field]:
    if isinstance(schema, RowType):
        fields = list(schema.fields)
    elif not rows:
        raise PlanError("there are no rows to infer the types from", hint="give a schema: DataTypes.ROW([…])")
    else:
        names = schema or [f"_{i}" for i in range(1, len(rows[0]) + 1)]
        fields = [
            Field(name, _inferred(name, column)) for name, column in zip(names, zip(*rows, strict=True), strict=False)
        ]
    if rows and len(fields) != len(rows[0]):
        raise PlanError(f"the schema has {len(fields)} columns, the rows have {len(rows[0])} values")
    return fields


def _inferred(name: str, values: Iterable[Any]) -> DataType:
    """The type of the first value that is not None."""
    for value in values:
        if value is not None:
            return _type_of(value)
    raise PlanError(
        f"the column '{name}' has no value to infer its type from", hint="give a schema: DataTypes.ROW([…])"
    )


_TYPES: Sequence[tuple[type[Any], DataType]] = (
    (bool, DataTypes.BOOLEAN()),
    (int, DataTypes.BIGINT()),
    (float, DataTypes.DOUBLE()),
    (str, DataTypes.STRING()),
    (bytes, DataTypes.BYTES()),
    (Decimal, DataTypes.DECIMAL(38, 18)),
    (datetime, DataTypes.TIMESTAMP()),
    (date, DataTypes.DATE()),
    (time, DataTypes.TIME()),
)


def _type_of(value: Any) -> DataType:
    for known, data_type in _TYPES:
        if isinstance(value, known):
            zoned = isinstance(value, datetime) and value.tzinfo is not None
            return DataTypes.TIMESTAMP_LTZ() if zoned else data_type
    if isinstance(value, tuple | Row) and value:
        names: Sequence[str] = getattr(value, "_fields", ()) if isinstance(value, Row) else ()
        names = names or tuple(f"_{i}" for i in range(1, len(value) + 1))
        return DataTypes.ROW([DataTypes.FIELD(n, _inferred(n, (v,))) for n, v in zip(names, value, strict=True)])
    if isinstance(value, list) and value:
        return DataTypes.ARRAY(_inferred("an array", value))
    if isinstance(value, Mapping) and value:
        return DataTypes.MAP(_inferred("a map's keys", value), _inferred("a map's values", value.values()))
    raise PlanError(f"there is no SQL type for {value!r}", hint="give a schema: DataTypes.ROW([…])")


_TAKEN: Mapping[str, tuple[type[Any], ...]] = {
    "BOOLEAN": (bool,),
    **dict.fromkeys(INTEGER_BITS, (int,)),
    **dict.fromkeys(("FLOAT", "DOUBLE"), (float,)),
    "DECIMAL": (Decimal,),
    **dict.fromkeys(("CHAR", "VARCHAR"), (str,)),
    **dict.fromkeys(("BINARY", "VARBINARY"), (bytearray,)),
    "DATE": (date, datetime),
    "TIME": (time,),
    **dict.fromkeys(("TIMESTAMP", "TIMESTAMP_LTZ"), (datetime,)),
    "ARRAY": (list, tuple),
    "MAP": (dict,),
    "ROW": (tuple, list, dict, Row),
}
"""The classes of values that a type takes, no subclasses.  Source: ``_create_type_verifier`` of PyFlink."""


def _verify(value: Any, data_type: DataType, name: str) -> None:
    """Raise :class:`PlanError` for a value that is not of the type."""
    t = logical_type(data_type)
    _verify_value(value, t, name)


def _verify_value(value: Any, t: LogicalType, name: str) -> None:
    problem = _problem(value, t)
    if problem:
        raise PlanError(f"the field '{name}' of type {readable(str(t))} does not take {value!r}: {problem}")
    match t.root:
        case "ARRAY" if value is not None:
            for element in value:
                _verify_value(element, t.element, f"{name}[]")
        case "MAP" if value is not None:
            for key, item in value.items():
                _verify_value(key, t.children[0], f"{name}'s key")
                _verify_value(item, t.children[1], f"{name}'s value")
        case "ROW" if value is not None:
            items = [value.get(f.name) for f in t.fields] if isinstance(value, Mapping) else list(value)
            for item, inner in zip(items, t.fields, strict=True):
                _verify_value(item, inner.type, f"{name}.{inner.name}")


def _problem(value: Any, t: LogicalType) -> str | None:
    """Why a type does not take a value itself, whatever stands in it."""
    if value is None:
        return None if t.nullable else "it is NOT NULL"
    taken = _TAKEN.get(t.root)
    if taken is not None and type(value) not in taken:
        return f"it is of the class {type(value).__name__}, not {' or '.join(c.__name__ for c in taken)}"
    if t.root in INTEGER_BITS and not -(1 << INTEGER_BITS[t.root] - 1) <= value < 1 << INTEGER_BITS[t.root] - 1:
        return "it is out of range"
    exact, most = t.root in ("CHAR", "BINARY"), t.root in ("VARCHAR", "VARBINARY")
    if t.length is not None and ((exact and len(value) != t.length) or (most and len(value) > t.length)):
        return f"its length is {len(value)}"
    if t.root == "ROW" and not isinstance(value, Mapping) and len(value) != len(t.fields):
        return f"it has {len(value)} values, not {len(t.fields)}"
    return None


def _constant(value: Any, t: LogicalType) -> RexNode:
    """A value as an expression: literals as plans write them, and arrays, maps and rows of these."""
    if value is None:
        return Literal(None, t.nullable_())
    t = t.not_null()
    match t.root:
        case "ARRAY":
            return ARRAY.typed(t, *(_constant(element, t.element) for element in value))
        case "MAP":
            parts = (_constant(v, c) for pair in value.items() for v, c in zip(pair, t.children, strict=True))
            return MAP.typed(t, *parts)
        case "ROW":
            items = [value.get(f.name) for f in t.fields] if isinstance(value, Mapping) else value
            return ROW.typed(t, *(_constant(v, f.type) for v, f in zip(items, t.fields, strict=True)))
    return Literal(_written(value), t)


def _written(value: Any) -> Any:
    """A value as the literals of plans have it; a moment with a zone is that of UTC."""
    match value:
        case bytes() | bytearray():
            return base64.b64encode(value).decode()
        case Decimal():
            return format(value, "f")
        case datetime():
            moment = value if value.tzinfo is None else value.astimezone(UTC).replace(tzinfo=None)
            return moment.isoformat(" ")
        case date() | time():
            return value.isoformat()
        case float():
            return value if isfinite(value) else str(value)
    return value
