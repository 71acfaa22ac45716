"""CREATE TABLE and CREATE VIEW: from the syntax tree to objects of the catalog."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set

from ...plan.errors import VALIDATION
from ...plan.findings import did_you_mean
from ...plan.functions.temporal import SOURCE_WATERMARK
from ...plan.functions.user import UserFunction
from ...plan.record import Record, field, replace
from ...plan.specs import (
    Column,
    ResolvedSchema,
    ResolvedTable,
    TableDistribution,
    TableExpression,
    UniqueConstraint,
    WatermarkSpec,
)
from ...plan.types import LogicalType, TimeKind, row
from ...plan.types.readable import readable
from ..binder.columns import renamed
from ..binder.context import Context
from ..binder.datatypes import resolve_type
from ..binder.errors import BindError, unsupported
from ..binder.expressions import ExpressionBinder
from ..binder.query import bind_query
from ..binder.scope import Namespace, Scope
from ..catalog.catalog import Catalog, Table, View
from ..rex.expressions import is_call
from ..sql import ast
from ..sql.source import Span
from .expression_text import quoted_string, sql_text
from .view_text import Lookup, view_query_text


class _Draft(Record):
    """The definition that LIKE takes over; ``merging`` says for each feature how conflicts are resolved.

    ``supplied`` are the keys of the options that the table has from its catalog, which each table has for itself.
    """

    columns: tuple[Column, ...] = ()
    watermarks: tuple[WatermarkSpec, ...] = ()
    primary_key: UniqueConstraint | None = None
    partition_keys: tuple[str, ...] = ()
    distribution: TableDistribution | None = None
    options: tuple[tuple[str, str], ...] = ()
    supplied: frozenset[str] = frozenset()
    merging: Mapping[str, str] = field(default_factory=dict)

    def check(self, feature: str, conflict: bool, feature_text: str, span: Span) -> None:
        """Raise :class:`BindError` if the statement repeats a feature that LIKE includes."""
        if conflict and self.merging.get(feature) == "INCLUDING":
            ways = f"EXCLUDING {feature}" + ("" if feature in _KEPT_WHOLE else f" or OVERWRITING {feature}")
            raise BindError(f"the table after LIKE has {feature_text} already", span, f"add ({ways}) behind its name")


def create_table(context: Context, node: ast.CreateTable) -> Table:
    """The table of a CREATE TABLE.

    Raises :class:`BindError` for an unknown column, a wrong type or what Flink refuses.
    """
    draft = _like(context.catalog, node.like) if node.like is not None else _Draft()
    columns = _columns(context, node, draft.columns)
    for key in node.primary_keys:
        draft.check("CONSTRAINTS", draft.primary_key is not None, "a PRIMARY KEY", key.span)
    taken_over = {c.name for c in draft.columns}
    primary_key, columns = _primary_key(node, draft.primary_key, columns, taken_over)
    for watermark in node.watermarks:
        draft.check("WATERMARKS", bool(draft.watermarks), "a WATERMARK", watermark.span)
    watermarks = _watermarks(context, node, columns) or draft.watermarks
    columns = tuple(_rowtime(c) if c.name in {w.rowtime_attribute for w in watermarks} else c for c in columns)
    for partition_column in node.partitioned_by[:1]:
        draft.check("PARTITIONS", bool(draft.partition_keys), "partitions", partition_column.span)
    partition_keys = _partition_keys(node, columns) or draft.partition_keys
    if node.distribution is not None:
        draft.check("DISTRIBUTION", draft.distribution is not None, "buckets", node.distribution.span)
    for option in node.options:
        draft.check("OPTIONS", option.key in dict(draft.options), f"the option '{option.key}'", option.span)
    identifier = context.catalog.qualify(node.name.names)
    external = context.catalog.external.get(identifier.catalog)
    supplied = dict(external.table_options(identifier)) if external and not node.temporary else {}
    taken = {key: value for key, value in draft.options if not (supplied and key in draft.supplied)}
    options = dict(sorted((supplied | taken | {o.key: o.value for o in node.options}).items()))
    if not options and identifier.catalog in context.catalog.external:
        raise BindError(f"the table '{node.name}' has no WITH options", node.name.span, "add WITH ('connector' = '…')")
    return Table(
        identifier,
        ResolvedTable(
            schema=ResolvedSchema(columns, watermarks or None, primary_key),
            distribution=_distribution(node, columns) or draft.distribution,
            partition_keys=partition_keys or None,
            options=options,
            comment=node.comment,
        ),
        temporary=node.temporary,
        option_spans={o.key: o.span for o in node.options},
    )


def create_view(context: Context, node: ast.CreateView) -> View:
    """The view of a CREATE VIEW, whose query is bound anew where it is used.

    Raises :class:`BindError` if the query is wrong.
    """
    catalog = context.catalog
    row_type = renamed(bind_query(context, node.query), node.columns, node.name.parts[-1])
    _check_names(node.columns or _selected_names(node.query.body))
    return View(
        catalog.qualify(node.name.names),
        node.query,
        tuple(c.name for c in node.columns),
        node.temporary,
        view_query_text(node.query, _lookup(catalog)) or node.query.span.text,
        node.comment,
        row_type,
        (catalog.current_catalog, catalog.current_database),
    )


def _lookup(catalog: Catalog) -> Lookup:
    def lookup(names: tuple[str, ...]) -> tuple[str, Sequence[str]] | None:
        item = catalog.find(names)
        if item is None:
            return None
        if isinstance(item, View):
            return str(item.identifier), item.row_type.field_names
        return str(item.identifier), [column.name for column in item.resolved.schema.columns]

    return lookup


def _selected_names(body: ast.QueryBody) -> list[ast.Identifier]:
    """The names that the items of a SELECT, or of the first SELECT of a set operation, have themselves."""
    while not isinstance(body, ast.Select):
        if isinstance(body, ast.Query):
            body = body.body
        elif isinstance(body, ast.SetOperation):
            body = body.left
        else:
            return []
    columns = (i.expression.parts[-1] if isinstance(i.expression, ast.ColumnRef) else None for i in body.items)
    names = (item.alias or column for item, column in zip(body.items, columns, strict=True))
    return [name for name in names if name is not None]


def _check_names(names: Iterable[ast.Identifier]) -> None:
    """Raise :class:`BindError` where a view would have two columns of one name."""
    seen: set[str] = set()
    for name in names:
        if name.name in seen:
            raise BindError(f"the view has two columns '{name.name}'", name.span, "give one another name with AS")
        seen.add(name.name)


# ---------------------------------------------------------------- columns


def _columns(context: Context, node: ast.CreateTable, inherited: tuple[Column, ...]) -> tuple[Column, ...]:
    seen = {c.name for c in inherited}
    for column in node.columns:
        if column.name.name in seen:
            in_flink = (VALIDATION, f"A regular Column named '{column.name.name}' already exists in the table.")
            raise BindError(f"the column '{column.name.name}' is declared twice", column.name.span, in_flink=in_flink)
        seen.add(column.name.name)
    stored = [c for c in inherited if c.kind != "COMPUTED"]
    stored += [_stored_column(c) for c in node.columns if not isinstance(c, ast.ComputedColumn)]
    scope = _scope(((c.name, c.data_type) for c in stored if c.data_type is not None), str(node.name))
    computed = {c.name for c in node.columns if isinstance(c, ast.ComputedColumn)}
    by_name = {c.name: c for c in stored}
    columns = list(inherited)
    for column in node.columns:
        if isinstance(column, ast.ComputedColumn):
            columns.append(_computed_column(context, column, scope, {c.name for c in computed}))
        else:
            columns.append(by_name[column.name.name])
    return tuple(columns)


def _stored_column(column: ast.PhysicalColumn | ast.MetadataColumn) -> Column:
    t = resolve_type(column.type)
    if isinstance(column, ast.PhysicalColumn):
        return Column(column.name.name, comment=column.comment, data_type=t)
    return Column(
        column.name.name,
        comment=column.comment,
        kind="METADATA",
        data_type=t,
        metadata_key=column.key,
        is_virtual=column.virtual,
    )


def _with_user_functions(context: Context, node: ast.Expression) -> ast.Expression:
    """The expression with the names of users' functions in quotes, those of catalogs with their full names."""

    def named(part: ast.Node) -> ast.Node:
        if not isinstance(part, ast.FunctionCall):
            return part
        function = context.function(part.name)
        if not isinstance(function, UserFunction):
            return part
        names = part.name.names
        if "catalogName" in function.reference:
            identifier = context.catalog.qualify(names)
            names = (identifier.catalog, identifier.database, identifier.name)
        parts = tuple(ast.Identifier(name, True, span=part.name.span) for name in names)
        return replace(part, name=ast.Name(parts, span=part.name.span))

    rewritten = node.rewritten(named)
    assert isinstance(rewritten, ast.Expression)
    return rewritten


def _computed_column(context: Context, column: ast.ComputedColumn, scope: Scope, computed: set[str]) -> Column:
    for part in column.expression.walk():
        if isinstance(part, ast.ColumnRef) and part.names[0] in computed:
            raise BindError(
                f"a computed column cannot read the computed column '{part.names[0]}'",
                part.span,
                "repeat its expression, or compute it in a view",
            )
    rex = _binder(context, scope, "a computed column").bind(column.expression)
    return Column(
        column.name.name,
        comment=column.comment,
        kind="COMPUTED",
        expression=TableExpression(rex, sql_text(_with_user_functions(context, column.expression))),
    )


def _binder(context: Context, scope: Scope, place: str) -> ExpressionBinder:
    binder = ExpressionBinder(context, scope, place)
    binder.keeps_as_written = True
    return binder


def _scope(fields: Iterable[tuple[str, LogicalType]], name: str) -> Scope:
    return Scope((Namespace(row(fields, nullable=False), 0, name),))


def column_type(column: Column) -> LogicalType:
    """The type of a stored or computed column."""
    if column.expression is not None:
        return column.expression.rex_node.type
    assert column.data_type is not None
    return column.data_type


# ---------------------------------------------------------------- keys, watermarks, partitions


def _primary_key(
    node: ast.CreateTable, inherited: UniqueConstraint | None, columns: tuple[Column, ...], taken_over: Set[str]
) -> tuple[UniqueConstraint | None, tuple[Column, ...]]:
    """The primary key, and the columns with those of the key NOT NULL; what LIKE has taken over stays as it is."""
    if node.unique_keys:
        raise BindError(
            "Flink has no UNIQUE constraint", node.unique_keys[0].span, "declare a PRIMARY KEY … NOT ENFORCED"
        )
    if len(node.primary_keys) > 1:
        raise BindError("a table has one PRIMARY KEY at most", node.primary_keys[1].span)
    if not node.primary_keys:
        return inherited, columns
    key = node.primary_keys[0]
    if key.enforced:
        raise BindError(
            "Flink does not enforce a PRIMARY KEY",
            key.span,
            "write PRIMARY KEY (…) NOT ENFORCED",
            in_flink=(
                "org.apache.flink.sql.parser.error.SqlValidateException",
                "Flink doesn't support ENFORCED mode for PRIMARY KEY constraint. ENFORCED/NOT ENFORCED controls if the "
                "constraint checks are performed on the incoming/outgoing data. Flink does not own the data therefore "
                "the only supported mode is the NOT ENFORCED mode",
            ),
        )
    by_name = {c.name: c for c in columns}
    for name in key.columns:
        column = by_name.get(name.name)
        if column is None:
            place = f"line {name.span.line}, column {name.span.column}"
            in_flink = (VALIDATION, f"Primary key column '{name.name}' is not defined in the schema at {place}")
            hint = did_you_mean(name.name, by_name)
            raise BindError(f"there is no column '{name.name}'", name.span, hint, in_flink=in_flink)
        if not column.is_physical:
            raise BindError(f"'{name.name}' is no stored column, a PRIMARY KEY needs one", name.span)
        if name.name in taken_over and column.data_type is not None and column.data_type.nullable:
            raise BindError(
                f"'{name.name}' may be NULL in the table after LIKE, a PRIMARY KEY needs a column that is NOT NULL",
                name.span,
                "declare it NOT NULL there, or list the columns here",
            )
    names = tuple(c.name for c in key.columns)
    constraint = key.name.name if key.name is not None else "PK_" + "_".join(names)
    unique = UniqueConstraint(constraint, "PRIMARY_KEY", names)
    return unique, tuple(_not_null(c) if c.name in names else c for c in columns)


def _not_null(column: Column) -> Column:
    assert column.data_type is not None
    return replace(column, data_type=column.data_type.not_null())


def _watermarks(context: Context, node: ast.CreateTable, columns: tuple[Column, ...]) -> tuple[WatermarkSpec, ...]:
    if not node.watermarks:
        return ()
    if len(node.watermarks) > 1:
        raise BindError("a table has one WATERMARK at most", node.watermarks[1].span)
    watermark = node.watermarks[0]
    if len(watermark.column) > 1:
        raise unsupported("a WATERMARK for a nested column", watermark.span, "compute it as a column of its own")
    name = watermark.column[0]
    column = next((c for c in columns if c.name == name.name), None)
    if column is None:
        names = [c.name for c in columns]
        raise BindError(
            f"there is no column '{name.name}'",
            name.span,
            did_you_mean(name.name, names),
            in_flink=(
                VALIDATION,
                f"The rowtime attribute field '{name.name}' is not defined in the table schema, at line "
                f"{name.span.line}, column {name.span.column}\nAvailable fields: "
                f"[{', '.join(map(quoted_string, names))}]",
            ),
        )
    t = column_type(column)
    if t.root not in ("TIMESTAMP", "TIMESTAMP_LTZ") or (t.precision or 0) > 3:
        raise BindError(
            f"event time must be of type TIMESTAMP(3) or TIMESTAMP_LTZ(3), but '{name.name}' is {t.nullable_()}",
            name.span,
            "declare it as TIMESTAMP(3), or add a computed column such as ts AS TO_TIMESTAMP_LTZ(millis, 3)",
            in_flink=(
                VALIDATION,
                "Invalid data type of time field for watermark definition. The field must be of type TIMESTAMP(p) or "
                "TIMESTAMP_LTZ(p), the supported precision 'p' is from 0 to 3, but the time field type is "
                f"{readable(str(t))}",
            ),
        )
    if t.is_proctime:
        raise BindError(
            f"a column of processing time, such as '{name.name}', takes no WATERMARK",
            name.span,
            "leave the WATERMARK out, or declare it for a column of event time",
        )
    scope = _scope(((c.name, _plain(column_type(c))) for c in columns), str(node.name))
    rex = _binder(context, scope, "WATERMARK").bind(watermark.expression)
    if rex.type.root not in ("TIMESTAMP", "TIMESTAMP_LTZ"):
        raise BindError(f"a watermark is a timestamp, not {rex.type.nullable_()}", watermark.expression.span)
    if rex.type.root != t.root and not is_call(rex, SOURCE_WATERMARK):
        raise BindError(
            f"the watermark is {rex.type.regular().nullable_()}, but '{name.name}' is {t.nullable_()}",
            watermark.expression.span,
            "cast the watermark, or the column, to the type of the other",
        )
    if is_call(rex, SOURCE_WATERMARK):
        rex = replace(rex, type=_plain(t).nullable_())
    return (
        WatermarkSpec(name.name, TableExpression(rex, sql_text(_with_user_functions(context, watermark.expression)))),
    )


def _rowtime(column: Column) -> Column:
    """A stored column with a watermark, as rowtime attribute; a computed column becomes one in queries."""
    if column.data_type is None:
        return column
    return replace(column, data_type=replace(column.data_type, kind=TimeKind.ROWTIME))


def _no_rowtime(column: Column) -> Column:
    return column if column.data_type is None else replace(column, data_type=column.data_type.regular())


def _plain(t: LogicalType) -> LogicalType:
    return t.regular() if t.kind is TimeKind.ROWTIME else t


def _partition_keys(node: ast.CreateTable, columns: tuple[Column, ...]) -> tuple[str, ...]:
    names = [c.name for c in columns if c.is_physical]
    for key in node.partitioned_by:
        if key.name not in names:
            raise BindError(f"there is no column '{key.name}' to partition by", key.span, did_you_mean(key.name, names))
    return tuple(k.name for k in node.partitioned_by)


def _distribution(node: ast.CreateTable, columns: tuple[Column, ...]) -> TableDistribution | None:
    """The buckets of a table; raises :class:`BindError` for a key that is no physical column, and for no bucket."""
    given = node.distribution
    if given is None:
        return None
    names = [c.name for c in columns if c.is_physical]
    for key in given.columns:
        if key.name not in names:
            raise BindError(
                f"there is no column '{key.name}' to distribute by", key.span, did_you_mean(key.name, names)
            )
    if given.buckets is not None and given.buckets < 1:
        raise BindError("a table has one bucket at least", given.span, "INTO a number of buckets from 1 on")
    return TableDistribution(given.kind or "UNKNOWN", given.buckets, tuple(key.name for key in given.columns))


# ---------------------------------------------------------------- LIKE

_FEATURES = ("CONSTRAINTS", "DISTRIBUTION", "GENERATED", "METADATA", "OPTIONS", "PARTITIONS", "WATERMARKS")
_KEPT_WHOLE = ("CONSTRAINTS", "PARTITIONS", "DISTRIBUTION")
"""Features that cannot be overwritten."""


def _like(catalog: Catalog, node: ast.TableLike) -> _Draft:
    """The definition that LIKE takes over: columns always, other features unless excluded."""
    source = catalog.find(node.table.names)
    if not isinstance(source, Table):
        message, hint = catalog.absence("table", node.table.names)
        in_flink = (
            f"Source table '{catalog.qualify(node.table.names)}' of the LIKE clause not found in the catalog, at line "
            f"{node.table.span.line}, column {node.table.span.column}"
        )
        raise BindError(message, node.table.span, hint, in_flink=(VALIDATION, in_flink))
    merging = dict.fromkeys(_FEATURES, "INCLUDING") | {"OPTIONS": "OVERWRITING"}
    for option in node.options:
        features = _FEATURES if option.feature == "ALL" else (option.feature,)
        merging.update(dict.fromkeys(features, option.merging))
    resolved = source.resolved
    external = catalog.external.get(source.identifier.catalog)
    schema = resolved.schema

    def kept(feature: str) -> bool:
        return merging[feature] != "EXCLUDING"

    kinds = {None} | ({"COMPUTED"} if kept("GENERATED") else set()) | ({"METADATA"} if kept("METADATA") else set())
    return _Draft(
        columns=tuple(_no_rowtime(c) for c in schema.columns if c.kind in kinds),
        watermarks=tuple(schema.watermark_specs or ()) if kept("WATERMARKS") else (),
        primary_key=schema.primary_key if kept("CONSTRAINTS") else None,
        partition_keys=tuple(resolved.partition_keys or ()) if kept("PARTITIONS") else (),
        distribution=resolved.distribution if kept("DISTRIBUTION") else None,
        options=tuple((resolved.options or {}).items()) if kept("OPTIONS") else (),
        supplied=frozenset(external.table_options(source.identifier)) if external else frozenset(),
        merging=merging,
    )
