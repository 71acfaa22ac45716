"""A checked spec to the statements that the SQL script which says the same would have."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from ..sql import ast
from ..sql.source import Source
from . import sql
from .errors import Findings
from .nodes import Mapping, Node, Scalar
from .windows import views_of

T = TypeVar("T")
S = TypeVar("S", bound=ast.Statement)

_MERGING = ("including", "excluding", "overwriting")


def script(spec: Mapping, source: Source) -> ast.Script:
    """The statements of a spec: settings, then tables and views, then the inserts.

    Tables and views stand behind those they refer to, so that a spec may name them in any order.  Raises
    :class:`FlinkplanError` for what is no SQL, an ErrorGroup for several.
    """
    findings = Findings()
    tables = _built(findings, _table, spec.mapping("tables").entries)
    views = _built(findings, _view, spec.mapping("views").entries)
    for windows in _built(findings, _windows, spec.mapping("windows").entries):
        views.extend(windows)
    inserts = _built(findings, _insert, ((item,) for item in spec.sequence("inserts")))
    findings.raise_if_any()
    job = inserts[0] if len(inserts) == 1 else ast.StatementSet(tuple(inserts), True, span=inserts[0].span)
    statements = (
        *(_setting(key, value) for key, value in spec.mapping("options").entries),
        *_ordered({str(table.name): table for table in tables}, _liked),
        *_ordered({str(view.name): view for view in views}, _read),
        job,
    )
    return ast.Script(statements, source, span=spec.span)


def _built(findings: Findings, build: Callable[..., T], arguments: Iterable[tuple[Node, ...]]) -> list[T]:
    built = (findings.attempt(build, *each) for each in arguments)
    return [statement for statement in built if statement is not None]


def _ordered(statements: dict[str, S], references: Callable[[S], Iterable[str]]) -> list[S]:
    """The statements, each behind those it refers to; those that refer to each other in a circle as they stand."""
    placed: dict[str, S] = {}
    entered: set[str] = set()

    def place(name: str) -> None:
        if name in entered or name not in statements:
            return
        entered.add(name)
        for reference in references(statements[name]):
            place(reference)
        placed[name] = statements[name]

    for name in statements:
        place(name)
    return list(placed.values())


def _liked(table: ast.CreateTable) -> Iterable[str]:
    return () if table.like is None else (str(table.like.table),)


def _read(view: ast.CreateView) -> Iterable[str]:
    named = (ast.TableRef, ast.ExplicitTable)
    return [str(part.name) for part in view.query.walk() if isinstance(part, named)]


# ---------------------------------------------------------------- statements


def _setting(key: Scalar, value: Node) -> ast.SetOption:
    return ast.SetOption(key.text, _text(value), span=key.span)


def _table(key: Scalar, table: Mapping) -> ast.CreateTable:
    """``CREATE TABLE key (columns, primary key, watermark) … WITH (…) LIKE …``."""
    findings = Findings()
    columns = _built(findings, _column, table.mapping("columns").entries)
    watermark = table.get("watermark")
    watermarks = _built(findings, _watermark, [] if watermark is None else [(watermark,)])
    findings.raise_if_any()
    return ast.CreateTable(
        sql.name(key),
        tuple(columns),
        primary_keys=_primary_keys(table),
        watermarks=tuple(watermarks),
        comment=table.text("comment"),
        partitioned_by=sql.identifiers(table.scalars("partitioned-by")),
        options=_options(table.mapping("with")),
        like=_like(table.get("like")),
        span=key.span,
    )


def _column(key: Scalar, column: Node) -> ast.TableColumn:
    name = sql.identifier(key)
    if isinstance(column, Scalar):
        return ast.PhysicalColumn(name, sql.data_type(column), span=key.span)
    assert isinstance(column, Mapping)
    comment = column.text("comment")
    expression = column.scalar("as")
    if expression is not None:
        return ast.ComputedColumn(name, sql.expression(expression), comment, span=key.span)
    written = column.scalar("type")
    assert written is not None
    kind = sql.data_type(written)
    metadata = column.scalar("metadata")
    if metadata is None or metadata.data is False:
        return ast.PhysicalColumn(name, kind, comment, span=key.span)
    from_key = None if metadata.data is True else metadata.text
    return ast.MetadataColumn(name, kind, from_key, column.flag("virtual"), comment, span=key.span)


def _primary_keys(table: Mapping) -> tuple[ast.PrimaryKey, ...]:
    entry = table.entry("primary-key")
    if entry is None:
        return ()
    key, value = entry
    if not isinstance(value, Mapping):
        return (ast.PrimaryKey(sql.identifiers(table.scalars("primary-key")), span=key.span),)
    name = value.scalar("name")
    columns = sql.identifiers(value.scalars("columns"))
    return (ast.PrimaryKey(columns, None if name is None else sql.identifier(name), span=key.span),)


def _watermark(watermark: Mapping) -> ast.Watermark:
    column, expression = watermark.scalar("column"), watermark.scalar("as")
    assert column is not None and expression is not None
    return ast.Watermark(sql.name(column).parts, sql.expression(expression), span=column.span)


def _like(like: Node | None) -> ast.TableLike | None:
    if like is None:
        return None
    if isinstance(like, Scalar):
        return ast.TableLike(sql.name(like), span=like.span)
    assert isinstance(like, Mapping)
    table = like.scalar("table")
    assert table is not None
    options = tuple(
        ast.LikeOption(key.text.upper(), feature.text.upper(), span=feature.span)
        for key, _ in like.entries
        if key.text in _MERGING
        for feature in like.scalars(key.text)
    )
    return ast.TableLike(sql.name(table), options, span=table.span)


def _view(key: Scalar, view: Node) -> ast.CreateView:
    if isinstance(view, Scalar):
        return ast.CreateView(sql.name(key), sql.query(view), temporary=True, span=key.span)
    assert isinstance(view, Mapping)
    query = view.scalar("query")
    assert query is not None
    columns = sql.identifiers(view.scalars("columns"))
    return ast.CreateView(sql.name(key), sql.query(query), columns, view.text("comment"), temporary=True, span=key.span)


def _windows(key: Scalar, window: Node) -> tuple[ast.CreateView, ...]:
    assert isinstance(window, Mapping)
    return tuple(views_of(key, window))


def _insert(insert: Mapping) -> ast.Insert:
    into, query, conflict = insert.scalar("into"), insert.scalar("query"), insert.text("on-conflict")
    assert into is not None and query is not None
    options = insert.mapping("options")
    return ast.Insert(
        sql.name(into),
        sql.query(query),
        tuple(sql.name(column) for column in insert.scalars("columns")),
        tuple(_partition_value(key, value) for key, value in insert.mapping("partition").entries),
        insert.flag("overwrite"),
        (ast.Hint("OPTIONS", _options(options), span=options.span),) if options.entries else (),
        None if conflict is None else conflict.upper(),
        span=into.span,
    )


def _partition_value(key: Scalar, value: Node) -> ast.PartitionValue:
    assert isinstance(value, Scalar)
    return ast.PartitionValue(sql.identifier(key), _literal(value), span=key.span)


def _literal(scalar: Scalar) -> ast.Expression | None:
    data = scalar.data
    if data is None:
        return None
    if isinstance(data, bool):
        return ast.BooleanLiteral(data, span=scalar.span)
    if isinstance(data, str):
        return ast.StringLiteral(data, span=scalar.span)
    return ast.NumericLiteral(scalar.text, span=scalar.span)


def _options(options: Mapping) -> tuple[ast.Option, ...]:
    return tuple(ast.Option(key.text, _text(value), span=key.span) for key, value in options.entries)


def _text(value: Node) -> str:
    assert isinstance(value, Scalar)
    return value.text
