"""Columns: what nodes read is what their inputs yield, and tables have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from ...plan.codec import field_codecs
from ...plan.findings import Finding
from ...plan.nodes import (
    Calc,
    ChangelogNormalize,
    Deduplicate,
    DropUpdateBefore,
    Exchange,
    ExecNode,
    Expand,
    GlobalGroupAggregate,
    GlobalWindowAggregate,
    IncrementalGroupAggregate,
    Limit,
    MiniBatchAssigner,
    OpaqueNode,
    SortLimit,
    TemporalSort,
    Union,
    WatermarkAssigner,
)
from ...plan.record import Record
from ...plan.rex import RexNode
from ...plan.specs import AggregateCall
from ...plan.type_json import type_from_json
from ...plan.types import LogicalType, RowField
from ..columns import ALL, EACH, LEFT, POSITIONS, RIGHT
from .contents import objects_in
from .raw import RawNode, RawPlan


def check_columns(plan: RawPlan) -> Iterator[Finding]:
    """No expression reads a column that the inputs do not have."""
    for node in plan.nodes:
        if node.cls is None or issubclass(node.cls, OpaqueNode):
            continue
        inputs = plan.inputs(node)
        widths = [i.columns for i in inputs]
        if inputs and None not in widths:
            yield from _check_references(node, sum(w or 0 for w in widths))


def check_positions(plan: RawPlan) -> Iterator[Finding]:
    """No key, argument, sort column or the like is a column that the inputs do not have."""
    for node in plan.nodes:
        inputs = [each.columns for each in plan.inputs(node)]
        widths = [width for width in inputs if width is not None]
        if node.cls is None or issubclass(node.cls, OpaqueNode) or not widths or len(widths) < len(inputs):
            continue
        rows = {ALL: sum(widths), LEFT: widths[0], RIGHT: widths[-1]}
        rows |= {f"{EACH} {i}": width for i, width in enumerate(widths)}
        if node.cls not in _MERGING:
            over = node.values.get("over_spec")
            rows[_ARGUMENTS] = rows[ALL] + (len(over.constants) if over else 0)
        for path, index, row in _positions(node.cls, node.values):
            width = rows.get(row)
            if width is not None and index not in range(width) and (index != -1 or path[-1] not in _PERHAPS_NONE):
                message = f"column {index} is named, but the input has {width} columns"
                yield node.finding("column-index", message, *path, hint=f"columns count from 0 to {width - 1}")


Path = tuple[str | int, ...]

_ARGUMENTS = "arguments"
"""What aggregate calls read: the input, behind it the constants of an OVER aggregation."""

_MERGING = (GlobalGroupAggregate, GlobalWindowAggregate, IncrementalGroupAggregate)
"""Nodes whose calls read the input of the phase before theirs."""

_PERHAPS_NONE = ("filterArg", "windowStart", "rightTimeAttributeIndex")
"""Fields in which -1 stands for no column."""

_POSITIONS: Mapping[type, Mapping[str, str]] = {
    **POSITIONS,
    AggregateCall: {"arg_list": _ARGUMENTS, "filter_arg": _ARGUMENTS},
}


def _positions(cls: type[ExecNode], values: Mapping[str, Any]) -> Iterator[tuple[Path, int, str]]:
    """The positions that a node's fields hold: where, which, and the row that they count in."""
    own = _POSITIONS.get(cls, {})
    for codec in field_codecs(cls):
        yield from _positions_in(values.get(codec.name), (codec.json,), own.get(codec.name))


def _positions_in(value: Any, at: Path, row: str | None) -> Iterator[tuple[Path, int, str]]:
    if isinstance(value, tuple):
        for i, item in enumerate(value):
            yield from _positions_in(item, (*at, i), f"{EACH} {i}" if row == EACH else row)
    elif row is not None and isinstance(value, int):
        yield at, value, row
    elif isinstance(value, Record) and not isinstance(value, (LogicalType, RexNode)):
        positions = _POSITIONS.get(type(value), {})
        for codec in field_codecs(type(value)):
            yield from _positions_in(getattr(value, codec.name), (*at, codec.json), positions.get(codec.name))


def check_column_types(plan: RawPlan) -> Iterator[Finding]:
    """What expressions and keys read, and what is handed on as it is, is of the inputs' types."""
    for node in plan.nodes:
        inputs = [source.fields for source in plan.inputs(node)]
        if node.cls is None or not inputs or None in inputs:
            continue
        fields = [field for each in inputs for field in each or ()]
        yield from _check_reads(node, fields)
        yield from _check_filters(node, fields)
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
        for path, value in objects_in(node.json.get(field), (field,)):
            index = value.get("inputIndex")
            if value.get("kind") != "INPUT_REF" or type(index) is not int or index not in range(len(fields)):
                continue
            said, found = _root(value.get("type")), fields[index]
            if said not in (None, found.type.root):
                message = f"column {index} is read as {said}, but '{found.name}' is {found.type.root}"
                yield node.finding("column-type", message, *path, "type", hint=_MISSING)


def _check_filters(node: RawNode, fields: Sequence[RowField]) -> Iterator[Finding]:
    if node.cls in _MERGING:
        return
    for path, value in objects_in(node.json, ()):
        index = value.get("filterArg")
        if type(index) is int and index in range(len(fields)) and fields[index].type.root != "BOOLEAN":
            message = f"column {index} filters, but '{fields[index].name}' is {fields[index].type.root}"
            hint = "a filter is a BOOLEAN column, or -1 for none"
            yield node.finding("column-type", message, *path, "filterArg", hint=hint)


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
        for path, value in objects_in(node.json.get(field), (field,)):
            if value.get("kind") == "INPUT_REF" and type(index := value.get("inputIndex")) is int and index >= width:
                message = f"column {index} is read, but the input has {width} columns"
                hint = f"columns count from 0 to {width - 1}"
                yield node.finding("column-index", message, *path, "inputIndex", hint=hint)
