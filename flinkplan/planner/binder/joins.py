"""The scope of a join, and its condition: ON, USING or NATURAL."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce

from ...plan.functions import called, comparison, conditional
from ...plan.record import replace
from ...plan.rex import FUNCTION, Call, InputRef, RexNode, input_refs, transform
from ...plan.specs import JoinType
from ...plan.types import LogicalType, row
from ..algebra.rel import LEFT_NULLABLE, RIGHT_NULLABLE
from ..rex.builder import conjunction
from ..rex.expressions import TRUE, is_call, is_strict
from ..rex.simplify import reordered_condition
from ..sql import ast
from ..sql.source import Span
from .calls import fit
from .context import Context
from .expressions import ExpressionBinder
from .from_items import FromItem
from .operators import check_join_keys, comparison_of
from .scope import MergedColumn, Namespace, Scope

JOIN_TYPES = {
    "INNER": JoinType.INNER,
    "CROSS": JoinType.INNER,
    "COMMA": JoinType.INNER,
    "LEFT": JoinType.LEFT,
    "RIGHT": JoinType.RIGHT,
    "FULL": JoinType.FULL,
}


def joined(left: FromItem, right: FromItem, kind: JoinType, outer: Scope | None) -> Scope:
    """The scope of both sides."""
    width = left.rel.width
    left_nullable, right_nullable = kind in LEFT_NULLABLE, kind in RIGHT_NULLABLE
    namespaces = (
        *(_placed(n, 0, left_nullable) for n in left.namespaces),
        *(_placed(n, width, right_nullable) for n in right.namespaces),
    )
    merged = (
        *(_merged_nullable(m, 0, left_nullable) for m in left.merged),
        *(_merged_nullable(m, width, right_nullable) for m in right.merged),
    )
    return Scope(namespaces, outer, merged)


def outer_type(t: LogicalType, nullable: bool) -> LogicalType:
    return t.nullable_() if nullable else t


def _placed(namespace: Namespace, by: int, nullable: bool) -> Namespace:
    row_type = namespace.row_type
    if nullable:
        row_type = row(((f.name, f.type.nullable_()) for f in row_type.fields), nullable=False)
    return replace(namespace, offset=namespace.offset + by, row_type=row_type)


def _merged_nullable(column: MergedColumn, by: int, nullable: bool) -> MergedColumn:
    def move(node: RexNode) -> RexNode:
        return InputRef(node.index + by, outer_type(node.type, nullable)) if isinstance(node, InputRef) else node

    of_all = None if column.of_all is None else transform(column.of_all, move)
    hidden = tuple(i + by for i in column.hidden)
    return replace(column, expr=transform(column.expr, move), hidden=hidden, of_all=of_all)


def join_condition(
    context: Context, node: ast.Join, left: FromItem, right: FromItem, scope: Scope
) -> tuple[RexNode, tuple[MergedColumn, ...]]:
    """The join condition, and the columns that USING or NATURAL merge.

    That of ON is in the order that ``RelBuilder.join`` leaves behind.
    """
    inner = joined(left, right, JoinType.INNER, scope.outer)
    if node.natural:
        right_names = {n for n, _ in Scope(right.namespaces, None, right.merged).visible()}
        common = [n for n, _ in Scope(left.namespaces, None, left.merged).visible() if n in right_names]
        names = [ast.Identifier(n, span=node.span) for n in common]
    else:
        names = list(node.using)
    if not names:
        if node.condition is None:
            return TRUE, scope.merged
        binder = ExpressionBinder(context, inner, "ON")
        binder.keeps_not_distinct = True
        condition = binder.condition(node.condition)
        _check_join_keys(condition, node.condition.span)
        if scope.namespaces != inner.namespaces:
            types = {i: t for n in scope.namespaces for i, t in enumerate(n.row_type.field_types, n.offset)}
            condition, _ = _as_validated(condition, types)
        return reordered_condition(condition), scope.merged
    parts, merged = [], []
    width = left.rel.width
    for name in names:
        earlier = next((m for m in left.merged if m.name == name.name), None)
        sides = [_side(Scope(item.namespaces, None, item.merged), name) for item in (left, right)]
        moved = _shifted(sides[1], width)
        if earlier is not None:
            sides[0] = _first(left, earlier)
        check_join_keys(sides[0].type, moved.type, name.span)
        parts.append(comparison_of("=", sides[0], moved, name.span))
        column = _merge(name, sides[0], moved, scope)
        if earlier is not None:
            column = _merge_again(name, column, scope)
        merged.append(replace(column, is_named=not node.natural))
    return conjunction(parts), (*merged, *(m for m in scope.merged if m.name not in {n.name for n in names}))


def _as_validated(rex: RexNode, types: Mapping[int, LogicalType]) -> tuple[RexNode, RexNode]:
    """The condition with its functions typed as validated, and the condition as the validator sees it.

    Inside ON the validator takes the columns of the side that may have no row for nullable.  Functions keep the type
    from there, columns and operators do not.  Source: ``StandardConvertletTable.convertFunction``.
    """
    if isinstance(rex, InputRef):
        return rex, replace(rex, type=types[rex.index])
    if not isinstance(rex, Call):
        return rex, rex
    operands, validated = (
        zip(*(_as_validated(o, types) for o in rex.operands), strict=True) if rex.operands else ((), ())
    )
    function = called(rex)
    if function is not None and rex.syntax == FUNCTION and validated != rex.operands:
        result = function.call(*validated)
        nullable = result.type.nullable or rex.type.nullable
        return replace(rex, operands=operands, type=rex.type.with_nullability(nullable)), result
    if is_strict(rex) or is_call(rex, comparison.AND, comparison.OR):
        return _with_nullability_of(rex, operands), _with_nullability_of(rex, validated)
    return replace(rex, operands=operands), rex


def _with_nullability_of(rex: Call, operands: tuple[RexNode, ...]) -> Call:
    """The call with other operands, nullable where one of these is; itself where they are the same.

    A field that is NOT NULL in a row that may be NULL does not tell that its cast may be NULL.
    """
    if operands == rex.operands:
        return rex
    nullable = any(o.type.nullable for o in operands)
    return replace(rex, operands=operands, type=rex.type.with_nullability(nullable))


def _check_join_keys(condition: RexNode, span: Span) -> None:
    """Raise :class:`BindError` where the types of compared columns cannot be joined."""
    if is_call(condition, comparison.AND):
        for part in condition.operands:
            _check_join_keys(part, span)
    elif is_call(condition, comparison.EQ) and all(map(input_refs, condition.operands)):
        left, right = condition.operands
        check_join_keys(left.type, right.type, span)


def _side(scope: Scope, name: ast.Identifier) -> RexNode:
    """The first column with the name, which Flink takes."""
    column_of_name = next((column for shown, column in scope.visible() if shown == name.name), None)
    return scope.resolve((name,)) if column_of_name is None else column_of_name


def _first(item: FromItem, column: MergedColumn) -> RexNode:
    """The first of merged columns, with which Flink joins a further table."""
    at = column.hidden[0]
    return InputRef(at, item.rel.types[at])


def _merge_again(name: ast.Identifier, column: MergedColumn, scope: Scope) -> MergedColumn:
    """A merged column of more than two tables: its name means that of the first two, ``*`` that of all."""
    types = [t for _, t in scope.row_fields]
    first, second, *others = (InputRef(i, types[i]) for i in column.hidden)
    both = _either((first, second), name.span)
    return replace(column, expr=both, of_all=reduce(lambda a, b: _either((a, b), name.span), others, both))


def _shifted(rex: RexNode, by: int) -> RexNode:
    return transform(rex, lambda n: InputRef(n.index + by, n.type) if isinstance(n, InputRef) else n)


def _merge(name: ast.Identifier, left: RexNode, right: RexNode, scope: Scope) -> MergedColumn:
    """The merged column of two equal ones: the value of the side that has a row."""
    types = [t for _, t in scope.row_fields]

    def retype(node: RexNode) -> RexNode:
        return InputRef(node.index, types[node.index]) if isinstance(node, InputRef) else node

    sides = tuple(transform(side, retype) for side in (left, right))
    hidden = {i for side in (left, right) for i in input_refs(side)}
    hidden |= {i for m in scope.merged if m.name == name.name for i in m.hidden}
    return MergedColumn(name.name, _either(sides, name.span), tuple(sorted(hidden)))


def _either(sides: tuple[RexNode, ...], span: Span) -> RexNode:
    return conditional.COALESCE.call(*fit(conditional.COALESCE, sides, span))
