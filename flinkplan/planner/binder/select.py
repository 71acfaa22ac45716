"""SELECT: FROM, WHERE, the select list, DISTINCT, ORDER BY."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...plan.errors import UnsupportedError
from ...plan.record import Record, replace
from ...plan.rex import InputRef, Literal, RexNode, children
from ...plan.specs import SortField
from ..algebra.hints import ShownHints, TtlHint
from ..algebra.logical import Aggregate, Filter, Project
from ..algebra.names import anonymous, uniquify
from ..algebra.rel import Rel
from ..metadata.uniqueness import is_unique
from ..rex.builder import field_access
from ..rex.simplify import built_condition
from ..sql import ast
from ..sql.errors import snippet
from .aggregates import AggregateBinder, has_aggregate
from .columns import SINGLE_ROW, column_names
from .context import Context
from .errors import BindError, untyped_null
from .expressions import ExpressionBinder
from .from_items import FromItem
from .hints import SelectHints, with_paths
from .order import ordinal, sort, sort_field
from .over import WindowedBinder
from .scope import Scope
from .tables import bind_from

if TYPE_CHECKING:
    from collections.abc import Iterator


class Item(Record):
    """An item of the select list, after stars are expanded: its output name and its source."""

    name: str | None
    node: ast.Expression | None
    rex: RexNode | None = None
    """The column, if the item comes from a star."""


def bind_select(context: Context, select: ast.Select, outer: Scope | None, query: ast.Query) -> Rel:
    """The relation of a SELECT with the ORDER BY and LIMIT of its query."""
    hints = SelectHints(context, select.hints)
    if hints.written:
        context = replace(context, is_hinted=True)
    nothing = FromItem(SINGLE_ROW, ())
    source = nothing if select.from_ is None else bind_from(context, select.from_, outer, hints)
    _check_names(source, select)
    scope = Scope(source.namespaces, outer, source.merged, aliases=_aliases(select))
    rel = source.with_whole_rows()
    if select.where is not None:
        inner = replace(context, names_scans=True) if hints.by_name else context
        condition = ExpressionBinder(inner, scope, "WHERE").condition(select.where)
        if not (isinstance(condition, Literal) and condition.value is True):
            rel = Filter(input=rel, condition=condition)
    items = list(_expand(select, scope))
    if select.qualify is not None:
        select = replace(select, qualify=_without_aliases(select.qualify, items, unique=True))
    query = replace(query, order_by=tuple(_sorted_by(item, items) for item in query.order_by))
    binder: WindowedBinder
    windows = _named_windows(select)
    grouped = _is_aggregated(context, select, query)
    hint = hints.aggregate(source) if grouped or select.distinct else None
    if grouped:
        binder = AggregateBinder(context, scope, _output_names(items), windows, rel.names)
        _collect(binder, select, items, query)
        rel = binder.build(rel, hint, hints.shown(source))
        if select.having is not None:
            rel = Filter(input=rel, condition=built_condition(binder.condition(select.having)))
    else:
        binder = WindowedBinder(context, scope, windows)
    hints.check()
    return _project(binder, rel, select, items, query, hints, None if grouped else hint, hints.shown(source))


def _check_names(source: FromItem, select: ast.Select) -> None:
    """Raise :class:`BindError` if two items of FROM have one name."""
    names = [n.alias for n in source.namespaces if n.alias]
    twice = next((name for i, name in enumerate(names) if name in names[:i]), None)
    if twice is not None and select.from_ is not None:
        raise BindError(f"'{twice}' names two items of FROM", select.from_.span, "give one of them another alias")


def _aliases(select: ast.Select) -> dict[str, str]:
    """The expressions behind the aliases of the select list, as text on one line."""
    return {item.alias.name: " ".join(item.expression.span.text.split()) for item in select.items if item.alias}


def _named_windows(select: ast.Select) -> dict[str, ast.WindowSpec]:
    """The windows of the WINDOW clause.  Raises :class:`BindError` for a name that is defined twice, as Flink does."""
    windows: dict[str, ast.WindowSpec] = {}
    for named in select.windows:
        if named.name.name in windows:
            raise BindError(f"there are two windows '{named.name.name}'", named.name.span, "rename one of them")
        same = next((name for name, window in windows.items() if window == named.window), None)
        if same is not None:
            raise BindError(f"this window is '{same}' again", named.span, f"use OVER {same} for both")
        windows[named.name.name] = named.window
    return windows


def _project(
    binder: WindowedBinder,
    rel: Rel,
    select: ast.Select,
    items: list[Item],
    query: ast.Query,
    hints: SelectHints,
    ttl: TtlHint | None,
    shown_hints: ShownHints | None,
) -> Rel:
    exprs = [_item(binder, item) for item in items]
    is_aggregated = isinstance(binder, AggregateBinder)
    names = column_names([*_aggregated_names(items)] if is_aggregated else [item.name for item in items])
    order, extra = _order(binder, query, items, exprs, names, distinct=select.distinct)
    width = len(exprs)
    if select.qualify is not None:
        rel = _qualified(binder, rel, select.qualify, exprs, names)
    elif width + len(extra):
        all_exprs, all_names = [*exprs, *(rex for rex, _ in extra)], column_names([*names, *(n for _, n in extra)])
        rel = project(rel, all_exprs, all_names, force=not is_aggregated)
    if select.distinct and not is_unique(rel, range(width + len(extra))):
        keys = tuple(range(width + len(extra)))
        rel = Aggregate(input=rel, grouping=keys, calls=(), ttl=ttl, shown_hints=shown_hints)
    rel = sort(rel, order, query)
    rel = with_paths(rel) if hints.written else rel
    if extra:
        rel = project(rel, [InputRef(i, e.type) for i, e in enumerate(exprs)], names)
    return rel


def project(rel: Rel, exprs: Sequence[RexNode], names: Sequence[str], *, force: bool = False) -> Rel:
    """A projection; the input where it changes nothing, unless it is forced."""
    same = [e.index for e in exprs if isinstance(e, InputRef)] == list(range(rel.width)) and tuple(names) == rel.names
    return rel if same and not force else Project(input=rel, exprs=tuple(exprs), names=tuple(names))


# ---------------------------------------------------------------- the select list


def _expand(select: ast.Select, scope: Scope) -> Iterator[Item]:
    """The items, each star replaced by its columns.

    A name from a star is made unique among the names before it, as Calcite does when it expands stars.
    """
    names: set[str] = set()
    for item in select.items:
        node = item.expression
        if not isinstance(node, ast.Star):
            name = item_name(item)
            names.add(name or "")
            yield Item(name, node)
            continue
        if select.from_ is None:
            raise BindError("'*' needs a FROM", node.span)
        if not node.qualifier:
            columns = list(scope.visible())
        else:
            qualified = scope.columns_of(tuple(p.name for p in node.qualifier))
            columns = _row_columns(scope, node) if qualified is None else qualified
        for name, rex in columns:
            unique = uniquify([*names, name])[-1]
            names.add(unique)
            yield Item(unique, None, rex)


def _row_columns(scope: Scope, node: ast.Star) -> list[tuple[str, RexNode]]:
    """The fields of a row-typed column, for ``r.*``."""
    rex = scope.resolve(node.qualifier)
    if not rex.type.fields:
        raise BindError(f"'{node.span.text}' has no columns: it is of type {rex.type}", node.span)
    return [(f.name, field_access(rex, f.name)) for f in rex.type.fields]


def item_name(item: ast.SelectItem) -> str | None:
    """The name of an item, if it has one."""
    return item.alias.name if item.alias is not None else _own_name(item.expression)


def _own_name(node: ast.Expression) -> str | None:
    """The name of an expression without alias: that of a column, or of a function such as CURRENT_DATE."""
    if isinstance(node, ast.ColumnRef):
        return node.parts[-1].name
    if isinstance(node, ast.FunctionCall) and not node.parentheses:
        return str(node.name)
    return None


def _item(binder: WindowedBinder, item: Item) -> RexNode:
    if item.node is None:
        assert item.rex is not None
        return binder.star_column(item.rex, item.name or "")
    rex = binder.bind(item.node)
    if rex.type.root == "NULL":
        raise untyped_null(item.node.span)
    return rex


# ---------------------------------------------------------------- aggregation


def _is_aggregated(context: Context, select: ast.Select, query: ast.Query) -> bool:
    nodes: list[ast.Node] = [i.expression for i in select.items]
    nodes += [n for n in (select.having, select.qualify) if n is not None]
    nodes += [i.expression for i in query.order_by]
    if select.group_by is not None or select.having is not None:
        return True
    return any(has_aggregate(context, node) for node in nodes)


def _output_names(items: list[Item]) -> dict[ast.Expression, str]:
    """The names of the select list's expressions, by which an aggregate names its columns."""
    return {item.node: item.name or anonymous(i) for i, item in enumerate(items) if item.node is not None}


def _aggregated_names(items: list[Item]) -> list[str]:
    """The column names of an aggregate; a repeated item counts once for the positions of later ones."""
    different: set[tuple[str, ast.Expression | None]] = set()
    names = []
    for item in items:
        names.append(item.name or anonymous(len(different)))
        different.add((names[-1], item.node))
    return names


def _collect(binder: AggregateBinder, select: ast.Select, items: list[Item], query: ast.Query) -> None:
    """Bind all expressions above the aggregate, so that it is built with all that they need."""
    if select.group_by is not None:
        binder.group_by(select.group_by)
    for item in items:
        _item(binder, item)
    for node in (select.having, select.qualify):
        if node is not None:
            binder.bind(node)
    aliases = {item.name for item in items}
    for order_item in query.order_by:
        node = order_item.expression
        is_alias = isinstance(node, ast.ColumnRef) and len(node.parts) == 1 and node.parts[0].name in aliases
        if not is_alias and not isinstance(node, ast.NumericLiteral):
            binder.bind(node)


# ---------------------------------------------------------------- QUALIFY and ORDER BY


def _sorted_by(item: ast.SortItem, items: list[Item]) -> ast.SortItem:
    """An expression of ORDER BY; a plain name or number means an item of the select list."""
    if isinstance(item.expression, (ast.ColumnRef, ast.NumericLiteral)):
        return item
    return replace(item, expression=_without_aliases(item.expression, items))


def _without_aliases(node: ast.Expression, items: list[Item], *, unique: bool = False) -> ast.Expression:
    """An expression of QUALIFY or ORDER BY with aliases of the select list, which hide columns, replaced.

    Of several items with one name the first is taken, unless the name must be ``unique``.
    """
    named: dict[str | None, list[ast.Expression]] = {}
    for item in items:
        if item.node is not None:
            named.setdefault(item.name, []).append(item.node)

    def meant(part: ast.Node) -> ast.Node:
        if not isinstance(part, ast.ColumnRef) or len(part.parts) > 1 or part.parts[0].name not in named:
            return part
        exprs = named[part.parts[0].name]
        if unique and len(exprs) > 1:
            raise BindError(f"the select list has several columns '{part.parts[0].name}'", part.span)
        return exprs[0]

    rewritten = node.rewritten(meant)
    assert isinstance(rewritten, ast.Expression)
    return rewritten


def _qualified(
    binder: WindowedBinder, rel: Rel, node: ast.Expression, exprs: list[RexNode], names: tuple[str, ...]
) -> Rel:
    """QUALIFY: the condition becomes a column, by which a filter above it chooses the rows."""
    if isinstance(rel, Aggregate) and project(rel, exprs, names) is rel:
        raise UnsupportedError(
            "Flink cannot plan QUALIFY where SELECT has just the columns of the GROUP BY and the aggregates",
            where=node.span.location,
            hint="aggregate in a subquery, and filter by the window function outside",
            snippet=snippet(node.span),
        )
    predicate = binder.condition(node)
    rel = project(rel, [*exprs, predicate], [*names, "QualifyExpression"])
    rel = Filter(input=rel, condition=InputRef(len(exprs), predicate.type))
    return project(rel, [InputRef(i, e.type) for i, e in enumerate(exprs)], names)


def _order(
    binder: WindowedBinder,
    query: ast.Query,
    items: list[Item],
    exprs: list[RexNode],
    names: tuple[str, ...],
    *,
    distinct: bool,
) -> tuple[tuple[SortField, ...], list[tuple[RexNode, str | None]]]:
    """The sort fields, and the expressions to sort by that are not in the select list, with their names."""
    fields: list[SortField] = []
    extra: list[tuple[RexNode, str | None]] = []
    for item in query.order_by:
        node = item.expression
        position = ordinal(node, len(exprs))
        if position is None and isinstance(node, ast.ColumnRef) and len(node.parts) == 1:
            name = node.parts[0].name
            position = next((i for i, it in enumerate(items) if it.name == name), None)
        if position is not None:
            position = exprs.index(exprs[position])  # of equal expressions the first is meant
        else:
            rex = binder.bind(node)
            everything = [*exprs, *(e for e, _ in extra)]
            if rex in everything:
                position = everything.index(rex)
            elif distinct and not _is_made_of(rex, exprs):
                raise BindError("with DISTINCT, ORDER BY can use only columns of the SELECT list", node.span)
            else:
                position = len(everything)
                extra.append((rex, _own_name(node)))
        fields.append(sort_field(position, item))
    return tuple(fields), extra


def _is_made_of(rex: RexNode, exprs: Sequence[RexNode]) -> bool:
    """Whether an expression can be computed from the values of other expressions."""
    return rex in exprs or (not isinstance(rex, InputRef) and all(_is_made_of(o, exprs) for o in children(rex)))
