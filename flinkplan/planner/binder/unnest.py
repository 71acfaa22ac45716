"""UNNEST: the elements of a collection as rows, of each row of a table or of constants."""

from __future__ import annotations

from ...plan.functions.table import UNNEST_ROWS, UNNEST_ROWS_WITH_ORDINALITY, unnested_type
from ...plan.record import replace
from ...plan.rex import Call, CorrelVariable, FieldAccess, InputRef, Literal, RexNode, input_refs, transform, walk
from ...plan.specs import JoinType
from ...plan.types import LogicalType, row
from ..algebra.logical import Correlate, Values
from ..algebra.names import anonymous, uniquify
from ..sql import ast
from .context import Context
from .errors import BindError, unsupported
from .expressions import ExpressionBinder
from .from_items import FromItem
from .joins import outer_type
from .scope import Namespace, Scope


def _over_function(condition: RexNode, left: FromItem) -> RexNode:
    """A condition that reads only columns of the table function, over these columns."""
    width = left.rel.width
    if any(i < width for i in input_refs(condition)):
        return condition
    return transform(condition, lambda r: replace(r, index=r.index - width) if isinstance(r, InputRef) else r)


def bind_unnest(
    context: Context,
    join: ast.Join,
    node: ast.Unnest,
    collection: RexNode,
    left: FromItem,
    kind: JoinType,
    outer: Scope | None,
) -> FromItem:
    """``left JOIN UNNEST(collection)``: each left row with the elements of its collection."""
    if kind not in (JoinType.INNER, JoinType.LEFT):
        raise unsupported(f"a {join.kind} JOIN with UNNEST", join.span, "use CROSS JOIN or LEFT JOIN … ON TRUE")
    function_type = unnested_type(collection.type, node.with_ordinality)
    names = _unnest_names(node, collection.type, function_type)
    element_type = row(zip(names, function_type.field_types, strict=True), nullable=False)
    nullable = kind is JoinType.LEFT
    padded_type = row(((f.name, outer_type(f.type, nullable)) for f in element_type.fields), nullable=False)
    alias = node.alias.name.name if node.alias else None
    namespace = Namespace(padded_type, left.rel.width, alias)
    right_type = padded_type if nullable and not all(t.nullable for t in element_type.field_types) else element_type
    references = sum(isinstance(r, InputRef) for r in walk(collection))
    correl, *_ = [context.correlations.next() for _ in range(references)]
    left_fields = left.rel.row_type.fields
    variable_names = uniquify([*(f.name for f in left_fields), *right_type.field_names])
    variable_types = [*left.rel.types, *right_type.field_types]
    variable = CorrelVariable(correl, row(zip(variable_names, variable_types, strict=True), nullable=False))

    def through_variable(rex: RexNode) -> RexNode:
        return FieldAccess(variable_names[rex.index], variable) if isinstance(rex, InputRef) else rex

    call = _unnesting(node, transform(collection, through_variable), function_type)
    joined = Scope((*left.namespaces, namespace), outer, left.merged)
    condition = None
    if join.condition is not None:
        inner = Scope((*left.namespaces, replace(namespace, row_type=element_type)), outer, left.merged)
        bound = ExpressionBinder(context, inner, "ON").condition(join.condition)
        condition = None if isinstance(bound, Literal) and bound.value is True else _over_function(bound, left)
    rel = Correlate(
        input=left.rel,
        type=kind,
        correl=correl,
        call=call,
        function_type=function_type if right_type is element_type else right_type,
        condition=condition,
        aliases=names,
    )
    unnested = (*left.unnested, (correl, len(left_fields), right_type))
    return FromItem(rel, joined.namespaces, left.merged, unnested=unnested)


def collection_of(binder: ExpressionBinder, node: ast.Unnest) -> RexNode:
    """The array, map or multiset that is unnested.  Raises :class:`BindError` where it is none."""
    if len(node.args) != 1:
        raise unsupported("UNNEST of several collections", node.span)
    rex = binder.bind(node.args[0])
    if rex.type.root not in ("ARRAY", "MAP", "MULTISET"):
        raise BindError(f"UNNEST takes an array, a map or a multiset, not {rex.type.nullable_()}", node.args[0].span)
    return rex


def _unnest_names(node: ast.Unnest, collection: LogicalType, function_type: LogicalType) -> tuple[str, ...]:
    """The column names: those of the alias, the alias itself for a single column, or Calcite's names."""
    alias, width = node.alias, len(function_type.fields)
    if alias is not None and alias.columns:
        if len(alias.columns) != width:
            raise BindError(f"UNNEST gives {width} columns, {len(alias.columns)} names are given", alias.span)
        return tuple(c.name for c in alias.columns)
    return (alias.name.name,) if alias is not None and width == 1 else _unnamed(collection, function_type.field_names)


def _unnamed(collection: LogicalType, names: tuple[str, ...]) -> tuple[str, ...]:
    if collection.root == "MAP":
        return ("KEY", "VALUE", *names[2:])
    return names if collection.element.root == "ROW" else (anonymous(0), *names[1:])


def _unnesting(node: ast.Unnest, collection: RexNode, function_type: LogicalType) -> Call:
    function = UNNEST_ROWS_WITH_ORDINALITY if node.with_ordinality else UNNEST_ROWS
    return function.typed(function_type, collection)


def constant_rows(node: ast.Unnest, collection: RexNode) -> FromItem:
    """The elements of a collection that reads no other table."""
    function_type = unnested_type(collection.type, node.with_ordinality)
    names = _unnest_names(node, collection.type, function_type)
    rel = Correlate(
        input=Values(fields=row([], nullable=False), tuples=((),)),
        type=JoinType.INNER,
        correl="",
        call=_unnesting(node, collection, function_type),
        function_type=function_type,
        aliases=None,
    )
    named = row(zip(names, function_type.field_types, strict=True), nullable=False)
    return FromItem(rel, (Namespace(named, 0, node.alias.name.name if node.alias else None),))
