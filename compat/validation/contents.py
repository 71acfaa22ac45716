"""What stands inside a node: types, expressions, functions, column indexes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from ...plan.codec import field_codecs, read_field
from ...plan.errors import FlinkplanError
from ...plan.findings import Finding, nearest
from ...plan.nodes import (
    Calc,
    ChangelogNormalize,
    Deduplicate,
    DropUpdateBefore,
    Exchange,
    ExecNode,
    Expand,
    Limit,
    MiniBatchAssigner,
    OpaqueNode,
    SortLimit,
    TemporalSort,
    Union,
    WatermarkAssigner,
)
from ...plan.type_json import type_from_json
from ...plan.types import RowField
from .raw import RawNode, RawPlan

_USER_FUNCTION = {"catalogName", "systemName", "class", "instance"}


def check_types_and_expressions(plan: RawPlan) -> Iterator[Finding]:
    """Every field of a node can be read."""
    for node in plan.nodes:
        if node.cls is None:
            continue
        for codec in field_codecs(node.cls):
            if codec.name in ("version", "id", "state") or codec.json not in node.json:
                continue
            try:
                read_field(codec, node.json[codec.json])
            except FlinkplanError as e:
                yield node.finding("type", e.message, codec.json, hint=e.hint)


def check_columns(plan: RawPlan) -> Iterator[Finding]:
    """No expression reads a column that the inputs do not have; the outputs are as many as said."""
    for node in plan.nodes:
        if node.cls is None or issubclass(node.cls, OpaqueNode):
            continue
        inputs = plan.inputs(node)
        widths = [i.columns for i in inputs]
        if inputs and None not in widths:
            yield from _check_references(node, sum(w or 0 for w in widths))
        projection = node.json.get("projection")
        if isinstance(projection, list) and node.columns not in (None, len(projection)):
            message = f"the projection has {len(projection)} expressions and the output type {node.columns} columns"
            yield node.finding("output-columns", message, "outputType")


def check_column_types(plan: RawPlan) -> Iterator[Finding]:
    """What expressions and keys read, and what is handed on as it is, is of the inputs' types."""
    for node in plan.nodes:
        inputs = [source.fields for source in plan.inputs(node)]
        if node.cls is None or not inputs or None in inputs:
            continue
        fields = [field for each in inputs for field in each or ()]
        yield from _check_reads(node, fields)
        if node.cls in _HANDING_ON and node.fields is not None:
            for each in inputs:
                yield from _check_rows(node, each or (), node.fields)


_HANDING_ON = (
    ChangelogNormalize,
    Deduplicate,
    DropUpdateBefore,
    Exchange,
    Limit,
    MiniBatchAssigner,
    SortLimit,
    TemporalSort,
    Union,
    WatermarkAssigner,
)
"""Nodes that yield the columns of their inputs."""

_EXPRESSIONS: Mapping[type[ExecNode], tuple[str, ...]] = {
    Calc: ("projection", "condition"),
    Expand: ("projects",),
    WatermarkAssigner: ("watermarkExpr",),
}
"""The fields whose expressions read nothing but the input."""


def _check_reads(node: RawNode, fields: Sequence[RowField]) -> Iterator[Finding]:
    for field in _EXPRESSIONS.get(node.cls or ExecNode, ()):
        for path, value in _objects(node.json.get(field), (field,)):
            index = value.get("inputIndex")
            if value.get("kind") != "INPUT_REF" or type(index) is not int or index not in range(len(fields)):
                continue
            said, found = _root(value.get("type")), fields[index]
            if said not in (None, found.type.root):
                message = f"column {index} is read as {said}, but '{found.name}' is {found.type.root}"
                yield node.finding("column-type", message, *path, "type", hint=_MISSING)


def _check_rows(node: RawNode, before: Sequence[RowField], after: Sequence[RowField]) -> Iterator[Finding]:
    old, new = ([f"{field.name} {field.type.root}" for field in fields] for fields in (before, after))
    if [field.type.root for field in before] != [field.type.root for field in after]:
        message = f"hands on the columns ({', '.join(new)}), but its input has ({', '.join(old)})"
        yield node.finding("column-type", message, "outputType", hint=_MISSING)


_MISSING = "see whether its edges come from the right nodes"


def _root(type_: Any) -> str | None:
    """The root of a type in JSON; ``None`` where it cannot be read."""
    if isinstance(type_, str):
        return _root_of_text(type_)
    try:
        return type_from_json(type_).root
    except Exception:
        return None


@cache
def _root_of_text(text: str) -> str | None:
    try:
        return type_from_json(text).root
    except Exception:
        return None


def _check_references(node: RawNode, width: int) -> Iterator[Finding]:
    for field in ("projection", "condition", "projects", "filterCondition", "watermarkExpr", "joinSpec"):
        for path, value in _objects(node.json.get(field), (field,)):
            if value.get("kind") == "INPUT_REF" and type(index := value.get("inputIndex")) is int and index >= width:
                message = f"column {index} is read, but the input has {width} columns"
                hint = f"columns count from 0 to {width - 1}"
                yield node.finding("column-index", message, *path, "inputIndex", hint=hint)
    grouping = node.json.get("grouping")
    for position, column in enumerate(grouping if isinstance(grouping, list) else ()):
        if type(column) is int and column >= width:
            message = f"column {column} is grouped by, but the input has {width} columns"
            yield node.finding("column-index", message, "grouping", position)


def check_functions(plan: RawPlan) -> Iterator[Finding]:
    """Every built-in function is one of the function table, but where nobody looks into the node."""
    from ...plan.functions import all_functions

    known = {function.key for function in all_functions()}
    names = {name for _, name in known}
    for node in plan.nodes:
        if node.cls is None or issubclass(node.cls, OpaqueNode):
            continue
        for path, value in _objects(node.json, ()):
            name = value.get("internalName")
            syntax = value.get("syntax", "FUNCTION")
            if not isinstance(name, str) or not isinstance(syntax, str) or value.keys() & _USER_FUNCTION:
                continue
            if (syntax, name) not in known:
                hint = nearest(name, names)
                if name in names:
                    hint = f"it exists as {' and '.join(sorted(s for s, n in known if n == name))}"
                message = f"the function {name} ({syntax}) is not known"
                yield node.finding("function", message, *path, "internalName", hint=hint)


def _objects(value: Any, path: tuple[str | int, ...]) -> Iterator[tuple[tuple[str | int, ...], Mapping[str, Any]]]:
    """All objects inside a JSON value, with their paths."""
    pending: list[tuple[tuple[str | int, ...], Any]] = [(path, value)]
    while pending:
        at, item = pending.pop()
        if isinstance(item, Mapping):
            yield at, item
            pending.extend(((*at, k), v) for k, v in item.items())
        elif isinstance(item, list):
            pending.extend(((*at, i), v) for i, v in enumerate(item))
