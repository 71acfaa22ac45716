"""The columns to which positions in the fields of exec nodes refer.

:meth:`Scope.resolve_object` turns a node's fields into values that compare by meaning: two nodes that group by the same
column of the same table are equal, whatever position the column has.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from functools import cache
from typing import Any, ClassVar

from ..plan.codec import field_codecs, write_object
from ..plan.functions.aggregate import COUNT
from ..plan.nodes import BatchOverAggregate, ExecNode, OverAggregate, PythonOverAggregate
from ..plan.record import PartlyCompared, Record
from ..plan.references import Input, Mark
from ..plan.rex import RexNode, rex_to_json
from ..plan.specs import AggregateCall, ContextResolvedTable
from ..plan.types import LogicalType, RowField
from ..plan.types.json import type_to_json
from .lineage import Lineage, Meaning


class Shown(PartlyCompared):
    """A value that is compared by ``meaning`` and shown as ``shown``: JSON, an expression or a type."""

    meaning: Any
    shown: Any

    apart: ClassVar[frozenset[str]] = frozenset({"shown"})

    @property
    def json(self) -> Any:
        """``shown`` as JSON."""
        if isinstance(self.shown, LogicalType):
            return type_to_json(self.shown)
        return rex_to_json(self.shown) if isinstance(self.shown, RexNode) else self.shown


class Row(Record):
    """The columns to which positions refer, with their meanings, names and types."""

    meanings: Sequence[Meaning]
    fields: Sequence[RowField]

    def column(self, index: int) -> Shown:
        """The column at ``index``; for a number that is no column, such as -1 for none, the number itself."""
        if 0 <= index < len(self.meanings):
            return Shown((self.meanings[index],), self.fields[index].name)
        return Shown(index, index)


class Scope:
    """The rows to which the positions in a node's fields refer."""

    def __init__(self, node: ExecNode, lineage: Lineage) -> None:
        self.meanings = lineage.meanings
        self.computed = _joined_row(node, lineage)
        """The row that expressions read."""
        self.each = [Row(lineage.rows[i.id], i.fields) for i in lineage.plan.inputs(node)]
        self.rows: Mapping[Input | None, Row] = {
            Input.ALL: self.computed,
            Input.LEFT: self.each[0] if self.each else self.computed,
            Input.RIGHT: self.each[1] if len(self.each) > 1 else self.computed,
        }
        self.aggregated = _joined_row(lineage.aggregated_node(node), lineage)
        """The row that aggregate calls read."""
        if isinstance(node, OverAggregate | PythonOverAggregate | BatchOverAggregate):
            self.aggregated = self.computed = _with_constants(self.computed, node, lineage)

    def columns(self, positions: Sequence[int]) -> list[Shown]:
        """The columns at these positions of all inputs side by side."""
        return [self.rows[Input.ALL].column(position) for position in positions]

    def call(self, call: AggregateCall) -> Shown:
        """An aggregate call, compared by its meaning and the types that it stores."""
        meaning = self.meanings.aggregate(call, self.aggregated.meanings)
        fields = self.aggregated.fields
        is_count = call.internal_name == COUNT.internal_name and not call.is_distinct
        arguments = () if is_count else call.arg_list
        types = [_stored_type(fields[i].type) for i in arguments if 0 <= i < len(fields)]
        return Shown((meaning, _stored_type(call.type), *types), call_text(call, self.aggregated))

    def resolve(self, value: Any, row: Row | None) -> Any:
        """A field's value with its columns and expressions by meaning; its positions refer to ``row``."""
        if value is None or type(value) is str or type(value) is bool:
            return value
        match value:
            case AggregateCall():
                return self.call(value)
            case LogicalType():
                return Shown(value.regular(), value)
            case ContextResolvedTable():
                return write_object(value)
            case Enum():
                return value.value
            case tuple():
                return [self.resolve(v, row) for v in value]
            case Mapping():
                return {key: self.resolve(v, row) for key, v in value.items()}
            case int() if row is not None and not isinstance(value, bool):
                return row.column(value)
        if isinstance(value, RexNode):
            return Shown((self.meanings.expression(value, self.computed.meanings),), value)
        if isinstance(value, Record):
            return self.resolve_object(value)
        return value

    def resolve_object(self, value: Any) -> dict[str, Any]:
        """A record as an object of resolved fields, without derived fields and fields that do not affect results."""
        cls: Any = type(value)
        out: dict[str, Any] = {}
        if tag := getattr(cls, "__tag_value__", None):
            out[cls.__tag_name__] = tag
        for name, key, read_row in _resolved_fields(cls):
            item = getattr(value, name)
            if read_row is Input.EACH:
                out[key] = item and [self.resolve(v, row) for v, row in zip(item, self.each, strict=False)]
            else:
                out[key] = self.resolve(item, self.rows.get(read_row))
        return out


@cache
def _resolved_fields(cls: Any) -> tuple[tuple[str, str, Input | None], ...]:
    """The name, the JSON name and the row of each field of a record that is neither derived nor without effect."""
    return tuple(
        (codec.name, codec.json, codec.input)
        for codec in field_codecs(cls)
        if Mark.DERIVED not in codec.marks and Mark.TUNING not in codec.marks
    )


def _joined_row(node: ExecNode, lineage: Lineage) -> Row:
    return Row(lineage.input_row(node), [f for i in lineage.plan.inputs(node) for f in i.fields])


def _with_constants(row: Row, node: OverAggregate | PythonOverAggregate | BatchOverAggregate, lineage: Lineage) -> Row:
    constants = node.over_spec.constants
    meanings = [lineage.meanings.expression(c, row.meanings) for c in constants]
    return Row([*row.meanings, *meanings], [*row.fields, *(RowField("constant", c.type) for c in constants)])


def _stored_type(t: LogicalType) -> str:
    """The part of a type on which the format of stored values depends."""
    return str(t.nullable_().regular())


def call_text(call: AggregateCall, row: Row) -> str:
    """``SUM(DISTINCT amount) FILTER(paid)``."""
    arguments = ", ".join(str(row.column(i).shown) for i in call.arg_list) or "*"
    distinct = "DISTINCT " if call.is_distinct else ""
    condition = "" if call.filter_arg < 0 else f" FILTER({row.column(call.filter_arg).shown})"
    return f"{call.function_name.removeprefix('$')}({distinct}{arguments}){condition}"
