"""INSERT: the query's columns are matched with those of the sink."""

from __future__ import annotations

from ...plan.connectors import CONNECTORS
from ...plan.errors import VALIDATION
from ...plan.findings import did_you_mean
from ...plan.functions.cast import cast_without_rule
from ...plan.record import replace
from ...plan.rex import InputRef, RexNode
from ...plan.specs import Column
from ...plan.types import LogicalType
from ..algebra.logical import Project, TableModify, Values
from ..algebra.names import anonymous
from ..algebra.rel import Rel
from ..catalog.catalog import Table, View
from ..rex.builder import convert, null
from ..rex.casts import avoids_cast, can_cast, can_cast_implicitly
from ..sql import ast
from ..sql.source import Span
from .context import Context, TableUse
from .errors import BindError, unsupported
from .expressions import ExpressionBinder
from .query import bind_query, cast_columns, rows_relation
from .scope import Scope
from .select import item_name
from .tables import hint_options


def bind_insert(context: Context, node: ast.Insert) -> TableModify:
    """The ``TableModify`` of an INSERT.

    Raises :class:`BindError` if the sink is missing or the query does not fit its columns.
    """
    table = _sink(context, node)
    columns = [c for c in table.resolved.schema.columns if is_persisted(c)]
    static = _static_partition(context, node, table, columns)
    targets = _targets(node, {c.name: i for i, c in enumerate(columns)}, columns, static)
    query, order = _in_table_order(node.query, targets)
    rel = bind_query(context, query)
    if (node.columns or static) and not (node.of_new_table and targets == list(range(len(columns)))):
        rel = _arranged(rel, node, columns, static, order)
    rel = _fitted(rel, node, table, columns)
    return TableModify(
        input=rel,
        table=table,
        overwrite=node.overwrite,
        static_partition=tuple((p.column.name, partition_text(p.value)) for p in node.partition if p.value is not None),
        target_columns=_declared_targets(table, columns, targets) if node.columns and not node.of_new_table else None,
        conflict=node.on_conflict,
        options=hint_options(context, node.hints),
    )


def _declared_targets(table: Table, columns: list[Column], targets: list[int]) -> tuple[int, ...]:
    """The positions of the targets among all columns that the table declares."""
    declared = table.resolved.schema.columns
    return tuple(declared.index(columns[i]) for i in targets)


def is_persisted(column: Column) -> bool:
    """Whether a sink stores the column."""
    return column.kind is None or (column.kind == "METADATA" and not column.is_virtual)


def _sink(context: Context, node: ast.Insert) -> Table:
    table = context.catalog.find(node.table.names)
    if table is None:
        message, hint = context.catalog.absence("table", node.table.names)
        in_flink = (
            f"Cannot find table '{context.catalog.qualify(node.table.names)}' in any of the catalogs "
            f"[{', '.join(context.catalog.catalogs)}], nor as a temporary table."
        )
        raise BindError(message, node.table.span, hint, in_flink=(VALIDATION, in_flink))
    if isinstance(table, View):
        raise BindError(f"'{node.table}' is a view, nothing can be inserted into it", node.table.span)
    connector = CONNECTORS.get((table.resolved.options or {}).get("connector", ""))
    if node.overwrite and not (connector and connector.sink and connector.sink.overwrites):
        able = ", ".join(sorted(c.name for c in CONNECTORS.values() if c.sink and c.sink.overwrites))
        raise BindError(
            f"'{node.table}' cannot be overwritten",
            node.span.to(node.table.span),
            f"only tables of {able} can; write INSERT INTO",
        )
    if table.resolved.distribution is not None:
        raise BindError(
            f"'{node.table}' cannot be written: no connector here divides rows into buckets",
            node.table.span,
            "define the table without DISTRIBUTED",
        )
    context.uses.append(TableUse(table, dict(hint_options(context, node.hints)), node.table.span, as_sink=True))
    return table


# ---------------------------------------------------------------- column list and partition


def _static_partition(context: Context, node: ast.Insert, table: Table, columns: list[Column]) -> dict[str, RexNode]:
    binder = ExpressionBinder(context, Scope(), "PARTITION")
    values = {}
    keys = table.resolved.partition_keys or ()
    for part in node.partition:
        name = part.column.name
        if name not in keys:
            raise BindError(
                f"'{name}' is no partition column of '{node.table}'", part.column.span, did_you_mean(name, keys)
            )
        if part.value is not None:
            column = next(c for c in columns if c.name == name)
            value = binder.bind(part.value)
            values[name] = convert(_type(column).with_nullability(value.type.nullable), value)
    return values


def partition_text(value: ast.Expression | None) -> str:
    """The text of a partition column's value."""
    if isinstance(value, ast.StringLiteral):
        return value.value
    return "" if value is None else value.span.text.strip("'")


def _in_table_order(query: ast.Query, targets: list[int]) -> tuple[ast.Query, list[int]]:
    """A plain SELECT with its items, and the listed columns, in the order of the sink; otherwise both unchanged.

    The order numbers what has no name.  Source: ``PreValidateReWriter``.
    """
    body = query.body
    if not isinstance(body, ast.Select) or len(body.items) != len(targets):
        return query, targets
    if any(isinstance(item.expression, ast.Star) for item in body.items):
        return query, targets
    order = sorted(range(len(targets)), key=targets.__getitem__)
    places = [targets[i] for i in order]
    items = [body.items[i] for i in order]
    if places != list(range(len(places))):
        items = list(map(_numbered, items, places))
    return replace(query, body=replace(body, items=tuple(items))), places


def _numbered(item: ast.SelectItem, target: int) -> ast.SelectItem:
    """An item without a name is named by its position in the sink."""
    if item_name(item) is not None:
        return item
    return replace(item, alias=ast.Identifier(anonymous(target), span=item.expression.span))


def _arranged(rel: Rel, node: ast.Insert, columns: list[Column], static: dict[str, RexNode], targets: list[int]) -> Rel:
    """The query's columns, which are for these of the sink, in the sink's order: NULL where one is left out."""
    fields = rel.row_type.fields
    if len(targets) != len(fields):
        raise BindError(
            f"the query gives {len(fields)} columns, {len(targets)} are to be written: "
            + ", ".join(columns[i].name for i in targets),
            node.query.span,
        )
    for i, column in enumerate(columns):
        unset = column.name not in static and i not in targets
        if unset and not _type(column).nullable:
            raise BindError(
                f"the column '{column.name}' is NOT NULL but gets no value",
                node.columns[0].span.to(node.columns[-1].span) if node.columns else node.span,
                "add it to the column list",
            )
    sources = [targets.index(i) if i in targets else None for i in range(len(columns))]
    if isinstance(rel, Values):
        rows = [_filled(t, columns, sources, static) for t in rel.tuples]
        return rows_relation(rows, computed=bool(static))
    exprs = _filled(tuple(InputRef(i, f.type) for i, f in enumerate(fields)), columns, sources, static)
    names = [
        anonymous(i) if source is None or fields[source].name == anonymous(source) else fields[source].name
        for i, source in enumerate(sources)
    ]
    is_part = static or node.of_new_table or node.columns
    if is_part and isinstance(rel, Project):  # what is added joins the list of the SELECT
        selected = rel.exprs
        exprs = tuple(selected[expr.index] if isinstance(expr, InputRef) else expr for expr in exprs)
        return replace(rel, exprs=exprs, names=tuple(names))
    return Project(input=rel, exprs=exprs, names=tuple(names))


def _filled(
    values: tuple[RexNode, ...], columns: list[Column], sources: list[int | None], static: dict[str, RexNode]
) -> tuple[RexNode, ...]:
    """A row in the sink's order: each column's value, that of the PARTITION clause, or NULL."""
    return tuple(
        values[source] if source is not None else static.get(column.name) or null(_type(column).regular())
        for column, source in zip(columns, sources, strict=True)
    )


def _type(column: Column) -> LogicalType:
    assert column.data_type is not None
    return column.data_type


def _targets(node: ast.Insert, by_name: dict[str, int], columns: list[Column], static: dict[str, RexNode]) -> list[int]:
    if not node.columns:
        return [i for i, c in enumerate(columns) if c.name not in static]
    targets = []
    for name in node.columns:
        if len(name.parts) > 1:
            raise unsupported("inserting into a nested column", name.span)
        column = name.names[0]
        if column not in by_name:
            raise BindError(
                f"'{node.table}' has no column '{column}' to write", name.span, did_you_mean(column, by_name)
            )
        if by_name[column] in targets:
            raise BindError(f"the column '{column}' is listed twice", name.span)
        targets.append(by_name[column])
    return targets


# ---------------------------------------------------------------- types


def _fitted(rel: Rel, node: ast.Insert, table: Table, columns: list[Column]) -> Rel:
    """The query with implicit casts to the sink's types, and the sink's names where there are any.

    Whether a column is NOT NULL is left to the sink to check at run time, so every target is nullable throughout.
    """
    fields = rel.row_type.fields
    if len(fields) != len(columns):
        cause = f"it has {len(columns)} columns, the query gives {len(fields)}"
        raise _mismatch(rel, node, table, columns, cause, _surplus(node, len(columns)), _missing_comma(node, columns))
    needs_cast = False
    targets: list[LogicalType] = []
    for position, (field, column) in enumerate(zip(fields, columns, strict=True)):
        source = field.type.regular().nullable_()
        target = _type(column).regular().nullable_throughout()
        if not can_cast_implicitly(source, target):
            cause = _cause(column, position, source, target)
            raise _mismatch(rel, node, table, columns, cause, _item(node, position).span)
        needs_cast = needs_cast or not avoids_cast(field.type.nullable_(), target)
        targets.append(target)
    if not needs_cast:
        return rel
    return cast_columns(rel, targets, [c.name for c in columns])


def _cause(column: Column, position: int, source: LogicalType, target: LogicalType) -> str:
    runs = can_cast(source, target) and not cast_without_rule(source, target)
    mend = f", CAST(… AS {target}) would do" if runs else ""
    return f"column {position + 1} '{column.name}' is {target}, the query gives {source}{mend}"


def _items(node: ast.Insert) -> tuple[ast.SelectItem, ...]:
    """The items of the select list, if the query is one SELECT."""
    body = node.query.body
    while isinstance(body, ast.Query):
        body = body.body
    return body.items if isinstance(body, ast.Select) else ()


def _item(node: ast.Insert, position: int) -> ast.Node:
    """The select item of an output column, if there is one for each column."""
    items = _items(node)
    plain = bool(items) and not any(isinstance(item.expression, ast.Star) for item in items)
    return items[position] if plain and not node.columns and not node.partition else node.query


def _surplus(node: ast.Insert, count: int) -> Span:
    """The items beyond a number; the whole select list if it has fewer, or if they come from a star."""
    items = _items(node)
    if not items:
        return node.query.span
    plain = not any(isinstance(item.expression, ast.Star) for item in items) and not node.partition
    first = items[count] if plain and count < len(items) else items[0]
    return first.span.to(items[-1].span)


def _missing_comma(node: ast.Insert, columns: list[Column]) -> str | None:
    """A hint where an alias without AS is a column name of the sink: a comma may be missing."""
    names = {column.name for column in columns}
    for item in _items(node):
        if item.alias is not None and item.alias.name in names and isinstance(item.expression, ast.ColumnRef):
            between = item.span.text[len(item.expression.span.text) :].split()
            if between[0].upper() != "AS":
                return f"is a ',' missing before '{item.alias.name}'? Without one it is an alias"
    return None


def _mismatch(
    rel: Rel,
    node: ast.Insert,
    table: Table,
    columns: list[Column],
    cause: str,
    place: Span,
    advice: str | None = None,
) -> BindError:
    query = ", ".join(f"{f.name} {f.type}" for f in rel.row_type.fields)
    sink = ", ".join(f"{c.name} {c.data_type}" for c in columns)
    return BindError(
        f"the query does not fit the sink '{table.identifier.summary}': {cause}",
        place,
        advice or f"the query gives ({query}); the sink takes ({sink})",
    )
