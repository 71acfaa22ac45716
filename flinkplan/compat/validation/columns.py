"""Checks columns: those that nodes read against their inputs, and output types against what nodes compute."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from ...plan.codec import field_codecs
from ...plan.findings import Finding
from ...plan.nodes import OpaqueNode, WindowOperator
from ...plan.record import Json, Record
from ...plan.references import Input, Mark
from ...plan.rex import RexNode
from ...plan.types import LogicalType, RowField
from ...plan.types.json import type_from_json
from ...plan.yields import UnionColumn, Yield, input_columns
from .contents import objects_in
from .raw import RawNode, RawPlan

Path = tuple[str | int, ...]
Fields = Sequence[RowField]

_HINT = "check that its edges come from the right nodes"


def check_output_types(plan: RawPlan) -> Iterator[Finding]:
    """An output type has one column for each column of the node, and those of inputs with their types."""
    for node, inputs in _readable(plan):
        yielded = node.node.yields(inputs) if node.node and inputs else None
        if yielded is not None and node.fields is not None:
            yield from _check_output_type(node, inputs, tuple(yielded), node.fields)


def _check_output_type(
    node: RawNode, inputs: Sequence[Fields], yielded: Sequence[Yield], fields: Fields
) -> Iterator[Finding]:
    passed = _passed_rows(yielded, inputs)
    if passed is None and len(yielded) != len(fields):
        message = f"the output type has {len(fields)} columns, but the node has {len(yielded)}"
        yield node.finding("output-columns", message, "outputType")
    for row in passed or ():
        if [field.type.root for field in row] != [field.type.root for field in fields]:
            message = f"passes on the columns ({_listed(fields)}), but its input has ({_listed(row)})"
            yield node.finding("column-type", message, "outputType", hint=_HINT)


def _passed_rows(yielded: Sequence[Yield], inputs: Sequence[Fields]) -> Sequence[Fields] | None:
    """The rows of the inputs that a node passes on unchanged; ``None`` for a node that computes columns."""
    if yielded and all(isinstance(column, UnionColumn) for column in yielded):
        return inputs
    return inputs[:1] if yielded == tuple(input_columns(inputs[:1])) else None


def _listed(fields: Fields) -> str:
    return ", ".join(f"{field.name} {field.type.root}" for field in fields)


def check_reads(plan: RawPlan) -> Iterator[Finding]:
    """Columns in expressions, keys, arguments, sort orders and so on exist in the inputs, with their types."""
    for node, inputs in _readable(plan):
        for read in _Reader(node, inputs).reads() if inputs else ():
            yield from _check_read(node, read)


def _check_read(node: RawNode, read: _Read) -> Iterator[Finding]:
    if read.index not in range(len(read.row)):
        verb = "named" if read.type is None else "read"
        message = f"column {read.index} is {verb}, but the input has {len(read.row)} columns"
        yield node.finding("column-index", message, *read.path, hint=f"columns count from 0 to {len(read.row) - 1}")
        return
    column = read.row[read.index]
    if read.path[-1] == "filterArg" and column.type.root != "BOOLEAN":
        message = f"column {read.index} filters, but '{column.name}' is {column.type.root}"
        hint = "a filter is a BOOLEAN column, or -1 for none"
        yield node.finding("column-type", message, *read.path, hint=hint)
    declared = None if read.type is None else _root(read.type)
    if declared not in (None, column.type.root):
        message = f"column {read.index} is read as {declared}, but '{column.name}' is {column.type.root}"
        yield node.finding("column-type", message, *read.path[:-1], "type", hint=_HINT)


def check_element_names(plan: RawPlan) -> Iterator[Finding]:
    """Python classes of a window have a name for each column of its rows."""
    for node, inputs in _readable(plan):
        if not isinstance(node.node, WindowOperator) or not node.node.python_parts or not inputs:
            continue
        named, columns = len(node.node.element_names or ()), len(inputs[0])
        if named != columns:
            message = f"Python classes have names for {named} columns, but the input has {columns}"
            yield node.finding("element-names", message, "elementNames", hint="compile the pipeline again")


def _readable(plan: RawPlan) -> Iterator[tuple[RawNode, list[Fields]]]:
    """The nodes of known types whose inputs have known columns, with these columns."""
    for node in plan.nodes:
        inputs = [source.fields for source in plan.inputs(node)]
        if node.cls is not None and not issubclass(node.cls, OpaqueNode) and None not in inputs:
            yield node, [fields or () for fields in inputs]


class _Read(Record):
    """A column that is read: its path, index and row; in an expression also the declared type as JSON."""

    path: Path
    index: int
    row: Fields
    type: Any = None


class _Reader:
    """Finds the columns to which a node's fields refer, from the declarations of the fields."""

    def __init__(self, node: RawNode, inputs: Sequence[Fields]) -> None:
        self.node, self.inputs = node, inputs
        joined = [field for fields in inputs for field in fields]
        over = node.values.get("over_spec")
        constants = [RowField("constant", constant.type) for constant in over.constants] if over else []
        aggregated = node.values.get("agg_input_row_type")
        self.rows: Mapping[Input | None, Fields | None] = {
            Input.ALL: joined,
            Input.LEFT: inputs[0],
            Input.RIGHT: inputs[-1],
            Input.CONSTANTS: [*joined, *constants],
            Input.BOUND: [*joined[: over.original_input_fields if over else 0], *constants],
            Input.BEFORE: None if aggregated is None else aggregated.fields,
        }

    def reads(self) -> Iterator[_Read]:
        """All columns that are read from the node's inputs."""
        return self._of_record(self.node.cls, self.node.values, self.node.json, (), None)

    def _of_record(
        self, cls: Any, values: Mapping[str, Any], json: Any, at: Path, called: Fields | None
    ) -> Iterator[_Read]:
        rows = {**self.rows, Input.CALLS: called}
        for codec in field_codecs(cls):
            value, place = values.get(codec.name), (*at, codec.json)
            if value is None or codec.json not in json or (value == -1 and Mark.PERHAPS in codec.marks):
                continue
            if codec.input is Input.EACH:
                items = zip(value, json[codec.json], self.inputs, strict=False)
                for i, (item, item_json, row) in enumerate(items):
                    yield from self._of_value(item, item_json, (*place, i), row)
            else:
                yield from self._of_value(value, json[codec.json], place, rows.get(codec.input))

    def _of_value(self, value: Any, json: Any, at: Path, row: Fields | None) -> Iterator[_Read]:
        if isinstance(value, tuple):
            for i, item in enumerate(value):
                yield from self._of_value(item, json[i], (*at, i), row)
        elif isinstance(value, Json):
            for key, item in value.items():
                yield from self._of_value(item, json[key], (*at, key), row)
        elif isinstance(value, RexNode):
            yield from self._of_expression(json, at, row) if row is not None else ()
        elif isinstance(value, Record) and not isinstance(value, LogicalType):
            values = {name: getattr(value, name) for name in value.__struct_fields__}
            yield from self._of_record(type(value), values, json, at, row)
        elif type(value) is int and row is not None:
            yield _Read(at, value, row)

    def _of_expression(self, json: Any, at: Path, row: Fields) -> Iterator[_Read]:
        for path, item in objects_in(json, at):
            if item.get("kind") == "INPUT_REF" and type(index := item.get("inputIndex")) is int:
                yield _Read((*path, "inputIndex"), index, row, item.get("type"))


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
