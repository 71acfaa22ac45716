"""Converts rows of Python values to a query."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from types import UnionType
from typing import Any

from ..plan.errors import PlanError
from ..plan.functions.typing import least_restrictive
from ..planner.algebra.logical import Project, SetKind, SetOp
from ..planner.algebra.rel import Rel
from ..planner.binder.columns import SINGLE_ROW
from ..planner.binder.context import Context
from ..planner.ddl.expression_text import quoted, quoted_string
from ..planner.rex.builder import convert
from .data_types import DataType, DataTypes, Field, RowType, logical_type
from .expression import Expression
from .resolving import Resolver
from .rows import Row


def elements_query(elements: Iterable[Any], schema: RowType | Sequence[str] | None) -> str:
    """The query whose rows are the elements, which are tuples or single values.

    ``schema`` has names and types, or only names; other types are inferred from the values as in PyFlink: BIGINT,
    DOUBLE, STRING, TIMESTAMP(6) and so on.

    Raises :class:`PlanError` for rows of different lengths, and for values without a known type.
    """
    items = list(elements)
    rows = [_row(element) for element in items]
    widths = {len(row) for row in rows}
    if len(widths) > 1:
        raise PlanError(f"the rows have {' or '.join(map(str, sorted(widths)))} values; all need the same number")
    fields = _fields(rows, schema or _names(items))
    casts = ", ".join(f"{_nullable(f)} AS {quoted(f.name)}" for f in fields)
    if not rows:
        nothing = ", ".join(f"CAST(NULL AS {f.data_type.null()}) AS {quoted(f.name)}" for f in fields)
        return f"SELECT {nothing} WHERE FALSE"
    values = ", ".join(f"({', '.join(map(_literal, row, (f.data_type for f in fields)))})" for row in rows)
    return f"SELECT {casts} FROM (VALUES {values}) AS t ({', '.join(quoted(f.name) for f in fields)})"


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


def _nullable(field: Field) -> str:
    """A column as its type; literals are NOT NULL, so for a nullable type this makes the column nullable."""
    column = f"CAST({quoted(field.name)} AS {field.data_type.null()})"
    return f"CASE WHEN TRUE THEN {column} END" if field.data_type.nullable else column


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


def _literal(value: Any, data_type: DataType) -> str:
    """A value as an expression of SQL with the type ``data_type``."""
    if value is None:
        return f"CAST(NULL AS {data_type.null()})"
    to_sql = next((to_sql for known, to_sql in _TO_SQL if isinstance(value, known)), _cast)
    return to_sql(value, data_type)


def _cast(value: Any, data_type: DataType) -> str:
    return f"CAST({quoted_string(str(value))} AS {data_type.null()})"


def _number(value: Decimal, data_type: DataType) -> str:
    return _cast(format(value, "f"), data_type)


def _boolean(value: bool, data_type: DataType) -> str:
    return str(value).upper()


def _bytes(value: bytes, data_type: DataType) -> str:
    return f"CAST(X'{value.hex()}' AS {data_type.null()})"


def _moment(value: date | time, data_type: DataType) -> str:
    return f"{type(value).__name__.upper()} {quoted_string(value.isoformat())}"


def _timestamp(value: datetime, data_type: DataType) -> str:
    if value.tzinfo is None:
        return f"TIMESTAMP {quoted_string(value.isoformat(' '))}"
    millis, rest = divmod(value - datetime.fromtimestamp(0, value.tzinfo), timedelta(milliseconds=1))
    if rest:
        raise PlanError(f"{value} has microseconds, but SQL can only create instants with milliseconds")
    return f"TO_TIMESTAMP_LTZ({millis}, 3)"


def _map(value: Mapping[Any, Any], data_type: DataType) -> str:
    return f"MAP[{', '.join(f'{_nested(key)}, {_nested(item)}' for key, item in value.items())}]"


def _list(value: Sequence[Any], data_type: DataType) -> str:
    if not isinstance(data_type, RowType):
        return f"ARRAY[{', '.join(map(_nested, value))}]"
    fields = (_literal(item, field.data_type) for item, field in zip(value, data_type.fields, strict=True))
    return f"CAST(ROW({', '.join(fields)}) AS {data_type.null()})"


def _nested(value: Any) -> str:
    """A value nested in another one, with its own type."""
    return _literal(value, DataTypes.STRING() if value is None else _type_of(value))


_TO_SQL: Sequence[tuple[type[Any] | UnionType, Callable[[Any, DataType], str]]] = (
    (bool, _boolean),
    (Decimal, _number),
    (bytes, _bytes),
    (datetime, _timestamp),
    (date | time, _moment),
    (Mapping, _map),
    (list | tuple | Row, _list),
)
