"""Queries: WITH, set operations, VALUES, ORDER BY and LIMIT."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal

from ...plan.functions.typing import least_restrictive
from ...plan.record import replace
from ...plan.rex import CorrelVariable, InputRef, Literal, RexNode
from ...plan.specs import SortField
from ...plan.types import LogicalType, row
from ..algebra.logical import Correlate, Project, SetKind, SetOp, Values
from ..algebra.names import anonymous
from ..algebra.rel import Rel
from ..algebra.tree import bottom_up
from ..rex.builder import convert, rescaled
from ..rex.exact import EXACT
from ..rex.expressions import identity, rewrite
from ..sql import ast
from .columns import SINGLE_ROW, renamed
from .context import Context
from .errors import BindError, unsupported, untyped_null
from .expressions import ExpressionBinder
from .order import count, ordinal, sort, sort_field
from .scope import Namespace, Scope
from .select import bind_select
from .tables import bind_explicit_table


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
    if not query.order_by or query.limit or count(query.offset):
        return rel
    if isinstance(rel, Project):  # leaves out what was there to sort by only
        return replace(rel, input=rel.inputs[0].inputs[0])
    return rel.inputs[0]


def _with_ctes(context: Context, query: ast.Query, outer: Scope | None) -> Context:
    for cte in query.ctes:
        context = replace(context, ctes=(*context.ctes, {cte.name.name: _bind_cte(context, cte, outer)}))
    return context


def _bind_cte(
    context: Context, cte: ast.CommonTableExpression, outer: Scope | None
) -> Callable[[Context], tuple[Rel, LogicalType]]:
    """What gives the relation of a WITH query where it is used: one for all uses unless it has correlation variables.

    These are fresh ones for each use, as Flink's are, which then shares no operator that reads them.
    """

    def bind(user: Context) -> tuple[Rel, LogicalType]:
        rel = bind_inner_query(replace(context, correlations=user.correlations), cte.query, outer)
        return rel, renamed(rel, cte.columns, cte.name)

    first = context.apart()
    bound = bind(first)
    return bind if first.correlations.made > context.correlations.made else lambda _: bound


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
        case ast.BoundQuery():
            return _translated(context, body.rel)
        case ast.WindowQuery():
            from .datastream.windows import bind_window

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
    written = tuple(o.exprs if isinstance(o, Project) else () if o.types == tuple(types) else None for o in operands)
    coerced = tuple(coerce(o, types) for o in operands)
    return SetOp(kind=SetKind(node.operator), all=node.all, operands=coerced, written=written)


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
    exprs = tuple(convert(t, e, explicit=True) for e, t in zip(columns, types, strict=True))
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
                raise untyped_null(place.span)
    for i in range(width):
        if least_restrictive([r[i].type for r in rows]) is None:
            raise BindError(
                f"the values of column {i + 1} have no common type", node.rows[0].items[i].span, "CAST them to one type"
            )
    return rows_relation(rows, computed=any(isinstance(item, ast.Cast) for r in node.rows for item in r.items))


def rows_relation(rows: Sequence[tuple[RexNode, ...]], computed: bool = False) -> Rel:
    """Constant rows: a Values if they are literals, not ``computed``, else a union of one-row projections."""
    names = tuple(map(anonymous, range(len(rows[0]))))
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
    scaled = Decimal(str(value.value)).quantize(Decimal(1).scaleb(-(common.scale or 0)), context=EXACT)
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


def _translated(context: Context, rel: Rel) -> Rel:
    """A relation of the Table API, with a variable of the session for each of its correlates.

    Source: ``QueryOperationConverter``, which runs whenever a table is planned.
    """

    def change(each: Rel) -> Rel:
        if not isinstance(each, Correlate) or not each.by_position:
            return each
        correl = context.correlations.next()

        def renamed(rex: RexNode) -> RexNode:
            return replace(rex, correl=correl) if isinstance(rex, CorrelVariable) else rex

        return replace(each, correl=correl, call=rewrite(each.call, renamed))

    return bottom_up(rel, change)
