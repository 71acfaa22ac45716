"""Queries: WITH, set operations, VALUES, ORDER BY and LIMIT."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from ...plan.functions.typing import least_restrictive
from ...plan.record import replace
from ...plan.rex import InputRef, Literal, RexNode
from ...plan.specs import SortField
from ...plan.types import INT, LogicalType, row
from ..algebra.logical import Project, Rel, SetKind, SetOp, Sort, Values
from ..algebra.names import uniquify
from ..rex.builder import cast, rescaled
from ..rex.expressions import identity
from ..sql import ast
from .context import Context
from .errors import BindError, unsupported
from .expressions import ExpressionBinder
from .scope import Namespace, Scope
from .select import bind_select
from .tables import bind_explicit_table

SINGLE_ROW = Values(fields=row([("ZERO", INT.not_null())], nullable=False), tuples=((Literal(0, INT.not_null()),),))
"""The one row of a query without FROM."""


def bind_query(context: Context, query: ast.Query, outer: Scope | None = None) -> Rel:
    """The relation of a query.  Raises :class:`BindError` or ``UnsupportedError``."""
    context = _with_ctes(context, query, outer)
    body = query.body
    if isinstance(body, ast.Select):
        return bind_select(context, body, outer, query)
    rel = _bind_body(context, body, outer)
    if not (query.order_by or query.offset or query.limit):
        return rel
    scope = Scope((Namespace(rel.row_type, 0),), outer)
    binder = ExpressionBinder(context, scope, "ORDER BY")
    order = tuple(_sort_field(binder, item, rel.row_type) for item in query.order_by)
    return sort(rel, order, query)


def bind_inner_query(context: Context, query: ast.Query, outer: Scope | None = None) -> Rel:
    """The relation of a query inside another, where an order by which nothing is cut off has no effect.

    Source: ``SqlToRelConverter.Config.isRemoveSortInSubQuery``.
    """
    rel = bind_query(context, query, outer)
    if not query.order_by or query.limit or _count(query.offset):
        return rel
    if isinstance(rel, Project):  # leaves out what was there to sort by only
        return replace(rel, input=rel.inputs[0].inputs[0])
    return rel.inputs[0]


def _with_ctes(context: Context, query: ast.Query, outer: Scope | None) -> Context:
    for cte in query.ctes:
        rel = bind_inner_query(context, cte.query, outer)
        found = rel, renamed(rel, cte.columns, cte.name)
        context = replace(context, ctes=(*context.ctes, {cte.name.name: found}))
    return context


def renamed(rel: Rel, columns: tuple[ast.Identifier, ...], name: ast.Identifier) -> LogicalType:
    """The relation's row type, with the column names that an alias lists, if any."""
    fields = rel.row_type.fields
    if not columns:
        return rel.row_type
    if len(columns) != len(fields):
        raise BindError(
            f"'{name.name}' has {len(fields)} columns, {len(columns)} names are given",
            columns[0].span.to(columns[-1].span),
            f"its columns are {', '.join(f.name for f in fields)}",
        )
    return row(zip((c.name for c in columns), rel.types, strict=True), nullable=False)


def rename(rel: Rel, row_type: LogicalType) -> Rel:
    """The relation with the column names of a row type."""
    if row_type.field_names == rel.names:
        return rel
    return replace(rel, fields=row_type) if isinstance(rel, Values) else under_names(rel, row_type)


def under_names(rel: Rel, row_type: LogicalType) -> Project:
    """A projection that gives the relation the column names of a row type."""
    return Project(input=rel, exprs=identity(rel.types), names=row_type.field_names)


def _bind_body(context: Context, body: ast.QueryBody, outer: Scope | None) -> Rel:
    match body:
        case ast.Query():
            return bind_inner_query(context, body, outer)
        case ast.Select():
            return bind_select(context, body, outer, ast.Query(body))
        case ast.SetOperation():
            return _bind_set_operation(context, body, outer)
        case ast.Values():
            return _bind_values(context, body, outer)
        case ast.ExplicitTable():
            return bind_explicit_table(context, body.name)
        case ast.WindowQuery():
            from .stream_windows import bind_window

            return bind_window(context, body)
    raise unsupported("this query", body.span)


# ---------------------------------------------------------------- set operations


def _bind_set_operation(context: Context, node: ast.SetOperation, outer: Scope | None) -> Rel:
    operands = [_bind_body(context, side, outer) for side in (node.left, node.right)]
    widths = [o.width for o in operands]
    if len(set(widths)) > 1:
        raise BindError(
            f"the sides of {node.operator} have {' and '.join(map(str, dict.fromkeys(widths)))} columns",
            node.span,
            "select the same number of columns on each side",
        )
    names = operands[0].names
    types = []
    for i, name in enumerate(names):
        sides = [o.types[i] for o in operands]
        common = least_restrictive(sides)
        if common is None:
            raise BindError(
                f"the types of column '{name}' do not go together: {' and '.join(map(str, dict.fromkeys(sides)))}",
                node.span,
                "CAST one side to the type of the other",
            )
        types.append(common)
    return SetOp(kind=SetKind(node.operator), all=node.all, operands=tuple(coerce(o, types) for o in operands))


def coerce(rel: Rel, types: Sequence[LogicalType]) -> Rel:
    """The relation with its columns cast to these types; itself if it has them."""
    if rel.types == tuple(types):
        return rel
    made = cast_columns(rel, types, rel.names)
    return replace(made, exprs=tuple(map(rescaled, made.exprs)))


def cast_columns(rel: Rel, types: Sequence[LogicalType], names: Sequence[str]) -> Project:
    """The relation with each column cast to a type and renamed; a projection is changed itself."""
    if isinstance(rel, Project):
        columns, source = rel.exprs, rel.input
    else:
        columns, source = identity(rel.types), rel
    exprs = tuple(cast(t, e, explicit=True) for e, t in zip(columns, types, strict=True))
    return Project(input=source, exprs=exprs, names=tuple(names))


# ---------------------------------------------------------------- VALUES


def _bind_values(context: Context, node: ast.Values, outer: Scope | None) -> Rel:
    binder = ExpressionBinder(context, Scope((), outer), "VALUES")
    rows = [binder.bind_all(r.items) for r in node.rows]
    width = len(rows[0])
    for bound, syntax in zip(rows, node.rows, strict=True):
        if len(bound) != width:
            raise BindError(f"this row has {len(bound)} values, the first one {width}", syntax.span)
        for value, place in zip(bound, syntax.items, strict=True):
            if value.type.root == "NULL":
                raise BindError(
                    "NULL alone has no type here", place.span, "write CAST(NULL AS STRING), or another type"
                )
    for i in range(width):
        if least_restrictive([r[i].type for r in rows]) is None:
            raise BindError(
                f"the values of column {i + 1} have no common type", node.rows[0].items[i].span, "CAST them to one type"
            )
    return rows_relation(rows, computed=any(isinstance(item, ast.Cast) for r in node.rows for item in r.items))


def rows_relation(rows: Sequence[tuple[RexNode, ...]], computed: bool = False) -> Rel:
    """Constant rows: a Values if they are literals, not ``computed``, else a union of one-row projections."""
    names = tuple(f"EXPR${i}" for i in range(len(rows[0])))
    types = [least_restrictive([r[i].type for r in rows]) or rows[0][i].type for i in range(len(names))]
    if not computed and all(isinstance(v, Literal) and v.value is not None for r in rows for v in r):
        fields = row(zip(names, types, strict=True), nullable=False)
        return Values(fields=fields, tuples=tuple(tuple(map(_typed_value, r, types)) for r in rows))
    projections = tuple(coerce(_single_row(names, r), types) for r in rows)
    if len(projections) == 1:
        return projections[0]
    return SetOp(kind=SetKind.UNION, all=True, operands=projections)


def _typed_value(value: RexNode, common: LogicalType) -> RexNode:
    """A value of VALUES: a DECIMAL has the digits of its column."""
    if not isinstance(value, Literal) or common.root != "DECIMAL":
        return value
    scaled = Decimal(str(value.value)).quantize(Decimal(1).scaleb(-(common.scale or 0)))
    return Literal(format(scaled, "f"), common.not_null())


def _single_row(names: tuple[str, ...], exprs: tuple[RexNode, ...]) -> Rel:
    return Project(input=SINGLE_ROW, exprs=exprs, names=names)


# ---------------------------------------------------------------- order


def _sort_field(binder: ExpressionBinder, item: ast.SortItem, row_type: LogicalType) -> SortField:
    position = ordinal(item.expression, len(row_type.fields))
    if position is None:
        rex = binder.bind(item.expression)
        if not isinstance(rex, InputRef):
            raise unsupported("an expression in the ORDER BY of a set operation", item.span, "name a column")
        position = rex.index
    return sort_field(position, item)


def ordinal(node: ast.Expression, width: int) -> int | None:
    """The column that ``ORDER BY 2`` means, from 0."""
    if not isinstance(node, ast.NumericLiteral) or not node.text.isdigit():
        return None
    position = int(node.text)
    if not 1 <= position <= width:
        raise BindError(f"ORDER BY {position}: there are {width} columns", node.span)
    return position - 1


def sort_field(position: int, item: ast.SortItem) -> SortField:
    """NULL counts as the least value unless said otherwise."""
    last = item.descending if item.nulls_first is None else not item.nulls_first
    return SortField(position, not item.descending, last)


def sort(rel: Rel, order: tuple[SortField, ...], query: ast.Query) -> Rel:
    """The relation ordered and cut as the query says; itself if it says nothing.

    It is ordered by a column once, and OFFSET 0 says nothing.
    """
    order = tuple({f.index: f for f in reversed(order)}[i] for i in dict.fromkeys(f.index for f in order))
    offset, fetch = _count(query.offset) or None, _count(query.limit)
    if not order and offset is None and fetch is None:
        return rel
    return Sort(input=rel, order=order, offset=offset, fetch=fetch)


def _count(node: ast.Expression | None) -> int | None:
    if node is None:
        return None
    if not isinstance(node, ast.NumericLiteral) or not node.text.isdigit():
        raise BindError("LIMIT and OFFSET take a whole number", node.span)
    return int(node.text)


def column_names(names: list[str | None]) -> tuple[str, ...]:
    """Output names, each once; an unnamed column is ``EXPR$`` and its position."""
    return uniquify(names, "EXPR${}".format)
