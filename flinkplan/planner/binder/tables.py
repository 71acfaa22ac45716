"""FROM: tables, views, subqueries and joins; functions are in :mod:`.table_functions`, UNNEST in :mod:`.unnest`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from ...plan.errors import SQL_VALIDATOR, VALIDATION
from ...plan.findings import Finding
from ...plan.record import replace
from ...plan.rex import InputRef, RexNode, walk
from ...plan.settings import COLUMN_EXPANSION, OPTIONS_HINTS, is_on, value_of
from ...plan.specs import Column, JoinType
from ...plan.types import LogicalType, row
from ..algebra.logical import (
    Filter,
    Join,
    Lateral,
    ProcessTable,
    Project,
    Scan,
    Snapshot,
    TemporalJoin,
    Watermark,
)
from ..algebra.rel import Rel
from ..catalog.catalog import Table, View
from ..connectors import source_of
from ..rex.expressions import TRUE
from ..sql import ast
from ..sql.source import Span
from .columns import rename, renamed, under_names
from .context import Context, TableUse
from .errors import BindError, unsupported
from .expressions import ExpressionBinder
from .from_items import FromItem, named_item
from .hints import SelectHints, check_hints
from .joins import JOIN_TYPES, join_condition, joined
from .nested import bind_inner_query, bind_query
from .patterns import bind_match
from .scope import Scope
from .table_functions import bind_function, bind_function_join, takes_tables, user_table_function
from .unnest import bind_unnest, collection_of, constant_rows


def bind_from(context: Context, node: ast.TableExpression, outer: Scope | None, hints: SelectHints) -> FromItem:
    """An item of FROM.  Raises :class:`BindError` or ``UnsupportedError``."""
    match node:
        case ast.Join():
            return _bind_join(context, node, outer, hints)
        case ast.TableRef():
            if node.system_time is not None:
                raise unsupported(
                    "FOR SYSTEM_TIME AS OF without a join",
                    node.span,
                    "join the versioned table",
                    reason="reading an old version needs a catalog of Flink that keeps versions",
                )
            return _bind_table(context, node)
        case ast.DerivedTable():
            return _bind_derived(context, node, outer)
        case ast.TableFunction():
            return bind_function(context, node, outer)
        case ast.MatchRecognize():
            source = bind_from(context, node.table, outer, hints)
            rel = bind_match(context, node, source.rel, source.name)
            return named_item(rel, rel.row_type, node.alias, None)
        case ast.Unnest():
            return constant_rows(node, collection_of(ExpressionBinder(context, Scope((), outer), "UNNEST"), node))


# ---------------------------------------------------------------- tables and views


def _bind_table(context: Context, node: ast.TableRef) -> FromItem:
    names = node.name.names
    alias = names[-1] if node.alias is None else node.alias.name.name
    shown = alias if context.names_scans else None
    rel, row_type = _relation_of(context, node.name, hint_options(context, node.hints), shown)
    path = () if node.alias is not None else (*_path(context, names),)
    if context.is_hinted and isinstance(rel, Scan):
        rel = replace(rel, hinted_as=alias)
    item = named_item(rel, row_type, node.alias, names[-1], path)
    hidden = _hidden_columns(context, node.name)
    return replace(item, namespaces=(replace(item.namespaces[0], hidden=hidden),)) if hidden else item


def _hidden_columns(context: Context, name: ast.Name) -> frozenset[int]:
    """The virtual metadata columns of a table that ``*`` leaves out.  Source: ``FlinkCalciteSqlValidator``."""
    strategies = value_of(context.config, COLUMN_EXPANSION).upper()
    if not strategies or (len(name.names) == 1 and any(name.names[0] in level for level in context.ctes)):
        return frozenset()
    table = context.catalog.find(name.names)
    if not isinstance(table, Table):
        return frozenset()
    virtual = [(i, c) for i, c in enumerate(table.resolved.schema.columns) if c.kind == "METADATA" and c.is_virtual]
    return frozenset(i for i, c in virtual if ("DEFAULT" if c.metadata_key is None else "ALIASED") in strategies)


def _path(context: Context, names: tuple[str, ...]) -> tuple[str, ...]:
    identifier = context.catalog.qualify(names)
    return identifier.catalog, identifier.database, identifier.name


def hint_options(context: Context, hints: tuple[ast.Hint, ...]) -> tuple[tuple[str, str], ...]:
    """The options of OPTIONS hints.

    Raises :class:`BindError` for another hint, for one without options, and if the session has none.
    """
    check_hints(hints, ("OPTIONS",))
    if bare := next((hint for hint in hints if not hint.options), None):
        message = "Hint [OPTIONS] only support non empty key value options"
        raise BindError(
            "the OPTIONS hint has no options with values",
            bare.span,
            "write OPTIONS('key' = 'value')",
            in_flink=("java.lang.AssertionError", message),
        )
    if hints and not is_on(context.config, OPTIONS_HINTS):
        raise BindError(
            f"there are no OPTIONS hints with '{OPTIONS_HINTS}' = 'false'", hints[0].span, "remove the hint or the SET"
        )
    return tuple((o.key, o.value) for h in hints if h.name == "OPTIONS" for o in h.options)


def bind_explicit_table(context: Context, name: ast.Name) -> Rel:
    """``TABLE t``."""
    return rename(*_relation_of(context, name, ()))


def _relation_of(
    context: Context, name: ast.Name, options: tuple[tuple[str, str], ...], alias: str | None = None
) -> tuple[Rel, LogicalType]:
    """The relation of a table or view, and its columns with the names that the query uses."""
    names = name.names
    if len(names) == 1:
        for ctes in reversed(context.ctes):
            if names[0] in ctes:
                return ctes[names[0]](context)
    entry = context.catalog.find(names)
    if entry is None:
        names_of_ctes = (each for level in context.ctes for each in level)
        message, hint = context.catalog.absence("table or view", names, names_of_ctes)
        in_flink = (SQL_VALIDATOR, f"Object '{names[-1]}' not found")
        raise BindError(message, name.span, hint, in_flink=in_flink)
    if isinstance(entry, View):
        if options:
            raise BindError(
                f"the view '{name}' takes no options",
                name.span,
                "give them to the tables that it reads",
                in_flink=(
                    VALIDATION,
                    f"View '{entry.identifier}' cannot be enriched with new options. Hints can only be applied to "
                    "tables.",
                ),
            )
        rel = _expand_view(context, entry, name)
    else:
        context.uses.append(TableUse(entry, dict(options), name.span))
        scans, key = context.catalog.expansions, (entry.identifier, options, alias)
        rel = scans[key] if key in scans else scans.setdefault(key, scan(entry, options, alias))
    return rel, rel.row_type


def _expand_view(context: Context, view: View, name: ast.Name) -> Rel:
    """The relation of a view, which is bound once for all uses in the same context."""
    if view.identifier.summary in context.expanding:
        raise BindError(f"the view '{name}' is defined by itself", name.span)
    known = context.catalog.expansions
    seen = (view.identifier, context.correlations.made, context.names_scans, frozenset(context.config.items()))
    if seen not in known:
        uses: list[TableUse] = []
        warnings: list[tuple[Sequence[Finding], Span]] = []
        inner = replace(
            context,
            catalog=replace(context.catalog, current_catalog=view.home[0], current_database=view.home[1]),
            ctes=(),
            is_hinted=False,
            expanding=(*context.expanding, view.identifier.summary),
            uses=uses,
            tell=lambda findings, span: warnings.append((tuple(findings), span)),
        )
        known[seen] = _bind_view(inner, view, name), uses, warnings, inner.correlations.made
    rel, uses, warnings, context.correlations.made = known[seen]
    context.uses.extend(uses)
    for findings, span in warnings:
        context.tell(findings, span)
    return cast(Rel, rel)


def _bind_view(context: Context, view: View, name: ast.Name) -> Rel:
    rel = bind_query(context, view.query)
    if view.columns:
        columns = tuple(ast.Identifier(c) for c in view.columns)
        row_type = renamed(rel, columns, name.parts[-1])
        names = row_type.field_names
        rel = replace(rel, names=names) if isinstance(rel, Project) else under_names(rel, row_type)
    return rel


def scan(table: Table, options: tuple[tuple[str, str], ...] = (), alias: str | None = None) -> Rel:
    """A table as a query sees it: its stored columns, then the computed ones, then its watermark."""
    columns = table.resolved.schema.columns
    stored = [c for c in columns if c.kind != "COMPUTED"]
    is_plain = len(stored) == len(columns) and not table.resolved.schema.watermark_specs
    rel: Rel = Scan(table=table, options=options, alias=alias if is_plain else None, fields=_row_of(stored))
    if len(stored) < len(columns):
        positions = {c.name: i for i, c in enumerate(stored)}
        exprs = tuple(_column_rex(c, positions) for c in columns)
        rel = Project(input=rel, exprs=exprs, names=tuple(c.name for c in columns))
    for spec in table.resolved.schema.watermark_specs or ():
        index = next(i for i, c in enumerate(columns) if c.name == spec.rowtime_attribute)
        rel = Watermark(input=rel, rowtime_index=index, expr=spec.expression.rex_node)
    return rel


def _row_of(columns: list[Column]) -> LogicalType:
    return row(((c.name, c.data_type.regular()) for c in columns if c.data_type is not None), nullable=False)


def _column_rex(column: Column, positions: dict[str, int]) -> RexNode:
    if column.expression is not None:
        return column.expression.rex_node
    assert column.data_type is not None
    return InputRef(positions[column.name], column.data_type.regular())


def _bind_derived(context: Context, node: ast.DerivedTable, outer: Scope | None) -> FromItem:
    rel = bind_inner_query(context, node.query, outer)
    single = isinstance(node.query.body, ast.Values) and rel.width == 1
    alias = node.alias
    if single and alias is not None and not alias.columns:
        alias = replace(alias, columns=(alias.name,))
    return named_item(rel, rel.row_type, alias, None)


# ---------------------------------------------------------------- joins


def _bind_join(context: Context, node: ast.Join, outer: Scope | None, hints: SelectHints) -> FromItem:
    left = bind_from(context, node.left, outer, hints)
    kind = JOIN_TYPES[node.kind]
    if isinstance(node.right, ast.Unnest):
        inside = Scope(left.namespaces, outer, left.merged)
        collection = collection_of(ExpressionBinder(context, inside, "UNNEST"), node.right)
        if any(isinstance(part, InputRef) for part in walk(collection)):
            return bind_unnest(context, node, node.right, collection, left, kind, outer)
        right = constant_rows(node.right, collection)
    elif isinstance(node.right, ast.TableFunction) and not takes_tables(context, node.right.call):
        function = user_table_function(context, node.right.call)
        return bind_function_join(context, node, node.right, function, left, kind, outer)
    elif isinstance(node.right, ast.TableRef) and node.right.system_time is not None:
        return _bind_temporal(context, node, node.right, left, kind, outer, hints)
    elif isinstance(node.right, ast.DerivedTable) and node.right.lateral:
        inside = Scope(left.namespaces, outer, left.merged, context.correlations.next)
        right = bind_from(context, node.right, inside, hints)
        if inside.correlated:
            return _bind_lateral(context, node, left, right, kind, inside.correl)
    else:
        right = bind_from(context, node.right, outer, hints)
        if isinstance(right.rel, ProcessTable) and not right.rel.tables:
            raise unsupported(
                "a join with a process table function without tables",
                node.right.span,
                "write it as a subquery: (SELECT * FROM f(…))",
            )
    scope = joined(left, right, kind, outer)
    condition, merged = join_condition(context, node, left, right, scope)
    rel = Join(
        left=left.rel,
        right=right.rel,
        type=kind,
        condition=condition,
        ttl=hints.join(left, right),
        is_hinted=hints.merges(left.name, right.name),
        shown_hints=hints.shown(left, right),
    )
    return FromItem(rel, scope.namespaces, merged, unnested=left.unnested)


def _bind_lateral(
    context: Context, node: ast.Join, left: FromItem, right: FromItem, kind: JoinType, correl: str
) -> FromItem:
    if kind not in (JoinType.INNER, JoinType.LEFT):
        raise unsupported(f"a {node.kind} JOIN with LATERAL", node.span, "use INNER or LEFT JOIN")
    scope = joined(left, right, kind, None)
    condition, merged = join_condition(context, node, left, right, scope)
    if kind is JoinType.LEFT and condition != TRUE:
        raise unsupported("a condition of LEFT JOIN LATERAL", node.span, "write the condition in the subquery")
    rel: Rel = Lateral(left=left.rel, right=right.rel, type=kind, correl=correl)
    if condition != TRUE:
        rel = Filter(input=rel, condition=condition)
    return FromItem(rel, scope.namespaces, merged, unnested=left.unnested)


def _bind_temporal(
    context: Context,
    node: ast.Join,
    table: ast.TableRef,
    left: FromItem,
    kind: JoinType,
    outer: Scope | None,
    hints: SelectHints,
) -> FromItem:
    if kind not in (JoinType.INNER, JoinType.LEFT):
        raise unsupported(f"a {node.kind} JOIN with FOR SYSTEM_TIME AS OF", node.span, "use INNER or LEFT JOIN")
    assert table.system_time is not None
    right = _bind_table(context, replace(table, system_time=None))
    time = ExpressionBinder(context, Scope(left.namespaces, outer, left.merged), "FOR SYSTEM_TIME AS OF").bind(
        table.system_time
    )
    if not time.type.is_time_attribute:
        raise BindError(
            f"FOR SYSTEM_TIME AS OF takes a time attribute of the left side, not {time.type.nullable_()}",
            table.system_time.span,
            "declare a WATERMARK for the column, or use a column of PROCTIME()",
        )
    correl = context.correlations.next()  # Flink's variable for the row whose time it is
    scope = joined(left, right, kind, outer)
    condition, merged = join_condition(context, node, left, right, scope)
    if time.type.is_proctime and _is_looked_up(right.rel):
        table_now = Snapshot(input=right.rel, lookup=hints.lookups.of(right), time=time, correl=correl)
        rel: Rel = Join(left=left.rel, right=table_now, type=kind, condition=condition)
    else:
        hints.lookups.joins(left, right)
        versions = Snapshot(input=right.rel) if time.type.is_proctime else right.rel
        rel = TemporalJoin(left=left.rel, right=versions, type=kind, condition=condition, time=time, correl=correl)
    return FromItem(rel, scope.namespaces, merged, unnested=left.unnested)


def _is_looked_up(rel: Rel) -> bool:
    while isinstance(rel, (Project, Filter)):
        rel = rel.input
    return isinstance(rel, Scan) and source_of(rel.table).lookups
