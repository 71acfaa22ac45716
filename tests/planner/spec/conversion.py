"""SQL scripts as specs, so that every script of the corpus tests the spec, too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flinkplan.planner.script import job_of
from flinkplan.planner.sql import ast

Spec = dict[str, Any]


def spec_of(script: ast.Script) -> Spec | None:
    """The spec that says the same; ``None`` for a script with statements that a spec does not know."""
    spec: Spec = {"version": 1, "options": {}, "tables": {}, "views": {}, "inserts": []}
    job = job_of(script)
    for statement in script.statements:
        add = _ADDERS.get(type(statement))
        if add is not None:
            add(spec, statement)
        elif statement is not job:
            return None
    assert not isinstance(job, ast.CreateTable)
    inserts = job.inserts if isinstance(job, ast.StatementSet) else (job,)
    spec["inserts"] = [_insert(insert) for insert in inserts]
    return spec


def _table(spec: Spec, node: ast.CreateTable) -> None:
    table: Spec = {"columns": {column.name.name: _column(column) for column in node.columns}}
    for key in node.primary_keys:
        names = [column.name for column in key.columns]
        table["primary-key"] = {"name": key.name.name, "columns": names} if key.name else names
    for watermark in node.watermarks:
        column = ".".join(part.name for part in watermark.column)
        table["watermark"] = {"column": column, "as": watermark.expression.span.text}
    if node.partitioned_by:
        table["partitioned-by"] = [column.name for column in node.partitioned_by]
    if node.comment is not None:
        table["comment"] = node.comment
    if node.like is not None:
        like: Spec = {"table": str(node.like.table)}
        for option in node.like.options:
            like.setdefault(option.merging.lower(), []).append(option.feature.lower())
        table["like"] = like
    spec["tables"][str(node.name)] = {**table, "with": {option.key: option.value for option in node.options}}


def _column(node: ast.TableColumn) -> Spec:
    column: Spec = {} if node.comment is None else {"comment": node.comment}
    if isinstance(node, ast.ComputedColumn):
        return {**column, "as": node.expression.span.text}
    written = node.type.span.text
    column["type"] = written if node.type.nullable or written.upper().endswith("NULL") else f"{written} NOT NULL"
    if isinstance(node, ast.MetadataColumn):
        column |= {"metadata": node.key or True, "virtual": node.virtual}
    return column


def _view(spec: Spec, node: ast.CreateView) -> None:
    view: Spec = {"query": node.query.span.text}
    if node.columns:
        view["columns"] = [column.name for column in node.columns]
    spec["views"][str(node.name)] = view


def _option(spec: Spec, node: ast.SetOption) -> None:
    spec["options"][node.key] = node.value


def _insert(node: ast.Insert) -> Spec:
    insert: Spec = {"into": str(node.table), "query": node.query.span.text, "overwrite": node.overwrite}
    if node.columns:
        insert["columns"] = [str(column) for column in node.columns]
    if node.partition:
        insert["partition"] = {part.column.name: _value(part.value) for part in node.partition}
    if node.on_conflict is not None:
        insert["on-conflict"] = node.on_conflict.lower()
    return {**insert, "options": {option.key: option.value for hint in node.hints for option in hint.options}}


def _value(node: ast.Expression | None) -> str | int | None:
    if isinstance(node, ast.StringLiteral):
        return node.value
    return None if node is None else int(node.span.text)


_ADDERS: dict[type[ast.Statement], Callable[[Spec, Any], None]] = {
    ast.CreateTable: _table,
    ast.CreateView: _view,
    ast.SetOption: _option,
}
