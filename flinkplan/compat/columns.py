"""Where exec nodes name columns by position, and what those columns are.

:func:`resolved` turns a node's fields into values that compare by meaning: two nodes that group by the same
column of the same table compare equal wherever that column stands.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Any, ClassVar

from ..plan.codec import field_codecs, write_object
from ..plan.nodes import (
    ChangelogNormalize,
    Deduplicate,
    ExecNode,
    GlobalGroupAggregate,
    GlobalWindowAggregate,
    GroupAggregate,
    GroupWindowAggregate,
    IncrementalGroupAggregate,
    Join,
    LocalGroupAggregate,
    LocalWindowAggregate,
    LookupJoin,
    MultiJoin,
    OverAggregate,
    Sink,
    TemporalJoin,
    WatermarkAssigner,
    WindowAggregate,
    WindowDeduplicate,
    WindowOperator,
)
from ..plan.record import PartlyCompared, Record
from ..plan.rex import Call, CorrelVariable, FieldAccess, InputRef, Literal, OpaqueRex, Sarg, rex_to_json
from ..plan.specs import (
    AggregateCall,
    ContextResolvedTable,
    Distribution,
    JoinSpec,
    PartitionSpec,
    SessionWindow,
    SliceAttachedWindowing,
    SortField,
    TimeAttributeWindowing,
    TimeField,
    UpdateFastStrategy,
    VariableRankRange,
    WindowAttachedWindowing,
    WindowBounds,
)
from ..plan.type_json import type_to_json
from ..plan.types import LogicalType, RowField
from .lineage import Lineage, Meaning

_REX = (InputRef, Literal, Sarg, Call, FieldAccess, CorrelVariable, OpaqueRex)

ALL, LEFT, RIGHT, EACH = "all", "left", "right", "each"
"""Which row a position counts in: all inputs side by side, one of two inputs, or each input in turn."""

POSITIONS: Mapping[type, Mapping[str, str]] = {
    ChangelogNormalize: {"unique_keys": ALL},
    Deduplicate: {"unique_keys": ALL},
    Distribution: {"keys": ALL},
    GlobalGroupAggregate: {"grouping": ALL},
    GlobalWindowAggregate: {"grouping": ALL},
    GroupAggregate: {"grouping": ALL},
    GroupWindowAggregate: {"grouping": ALL},
    IncrementalGroupAggregate: {"partial_agg_grouping": ALL, "final_agg_grouping": ALL},
    Join: {"left_upsert_keys": LEFT, "right_upsert_keys": RIGHT},
    JoinSpec: {"left_keys": LEFT, "right_keys": RIGHT},
    LocalGroupAggregate: {"grouping": ALL},
    LocalWindowAggregate: {"grouping": ALL},
    LookupJoin: {"input_upsert_key": LEFT},
    MultiJoin: {"input_unique_keys": EACH},
    PartitionSpec: {"fields": ALL},
    SessionWindow: {"partition_key_indices": ALL},
    Sink: {"input_upsert_key": ALL},
    SliceAttachedWindowing: {"slice_end": ALL},
    SortField: {"index": ALL},
    TemporalJoin: {"left_time_attribute_index": LEFT, "right_time_attribute_index": RIGHT},
    TimeAttributeWindowing: {"time_attribute_index": ALL},
    TimeField: {"field_index": ALL},
    UpdateFastStrategy: {"primary_keys": ALL},
    VariableRankRange: {"end_index": ALL},
    WatermarkAssigner: {"rowtime_field_index": ALL},
    WindowAttachedWindowing: {"window_start": ALL, "window_end": ALL},
    WindowBounds: {"left_time_index": LEFT, "right_time_index": RIGHT},
    WindowAggregate: {"grouping": ALL},
    WindowDeduplicate: {"partition_keys": ALL, "order_key": ALL},
    WindowOperator: {"keys": ALL, "time_attribute_index": ALL},
}
"""The fields that hold positions of columns, and the row they count in."""

_DERIVED: Mapping[type, frozenset[str]] = {
    GlobalGroupAggregate: frozenset({"index_of_count_star", "local_agg_input_row_type"}),
    GlobalWindowAggregate: frozenset({"local_agg_input_row_type"}),
    IncrementalGroupAggregate: frozenset({"partial_local_agg_input_row_type"}),
    TimeField: frozenset({"input_index"}),
}
"""Fields that follow from others: where a column or call stands, and the types of columns nearby."""


class Shown(PartlyCompared):
    """A value that compares by ``meaning`` and is shown as ``shown``: JSON, an expression or a type."""

    meaning: Any
    shown: Any

    apart: ClassVar[frozenset[str]] = frozenset({"shown"})

    @property
    def json(self) -> Any:
        """What is shown, as JSON."""
        if isinstance(self.shown, LogicalType):
            return type_to_json(self.shown)
        return rex_to_json(self.shown) if isinstance(self.shown, _REX) else self.shown


class Row(Record):
    """Columns that positions count in: their meanings, names and types."""

    meanings: Sequence[Meaning]
    fields: Sequence[RowField]

    def column(self, index: int) -> Shown:
        """The column at ``index``; other numbers, such as -1 for none, stand for themselves."""
        if 0 <= index < len(self.meanings):
            return Shown((self.meanings[index],), self.fields[index].name)
        return Shown(index, index)


class Scope:
    """The rows that a node's positions count in."""

    def __init__(self, node: ExecNode, lineage: Lineage) -> None:
        self.meanings = lineage.meanings
        whole = _whole_row(node, lineage)
        each = [Row(lineage.rows[i.id], i.fields) for i in lineage.plan.inputs(node)]
        self.rows: Mapping[str, Row] = {
            ALL: whole,
            LEFT: each[0] if each else whole,
            RIGHT: each[1] if len(each) > 1 else whole,
            **{f"{EACH} {i}": row for i, row in enumerate(each)},
        }
        self.aggregated = _whole_row(lineage.aggregated_node(node), lineage)
        """What aggregate calls read."""
        self.computed = whole
        """What expressions read."""
        if isinstance(node, OverAggregate):
            self.aggregated = self.computed = _with_constants(whole, node, lineage)

    def columns(self, value: Any, row: str) -> Any:
        """Positions, in tuples of any depth, as columns."""
        if isinstance(value, tuple):
            if row == EACH:
                return [self.columns(v, f"{EACH} {i}") for i, v in enumerate(value)]
            return [self.columns(v, row) for v in value]
        return None if value is None else self.rows.get(row, self.rows[ALL]).column(value)

    def call(self, call: AggregateCall) -> Shown:
        """An aggregate call as what it computes, of which type."""
        meaning = self.meanings.aggregate(call, self.aggregated.meanings)
        fields = self.aggregated.fields
        is_count = call.internal_name == "$COUNT$1" and not call.distinct
        read = () if is_count else call.arg_list
        types = [_stored_type(fields[i].type) for i in read if 0 <= i < len(fields)]
        return Shown((meaning, _stored_type(call.type), *types), call_text(call, self.aggregated))

    def resolve(self, value: Any) -> Any:
        """A field's value with its columns and expressions by meaning."""
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
                return [self.resolve(v) for v in value]
        if isinstance(value, _REX):
            return Shown((self.meanings.expression(value, self.computed.meanings),), value)
        if isinstance(value, Record):
            return self.resolve_object(value)
        return value

    def resolve_object(self, value: Any) -> dict[str, Any]:
        """A record as an object of resolved fields."""
        cls = type(value)
        positions, derived = POSITIONS.get(cls, {}), _DERIVED.get(cls, frozenset())
        out: dict[str, Any] = {}
        if tag := getattr(cls, "__tag_value__", None):
            out[cls.__tag_name__] = tag
        for codec in field_codecs(cls):
            if codec.name in derived:
                continue
            item = getattr(value, codec.name)
            row = positions.get(codec.name)
            out[codec.json] = self.resolve(item) if row is None else self.columns(item, row)
        return out


def _whole_row(node: ExecNode, lineage: Lineage) -> Row:
    return Row(lineage.input_row(node), [f for i in lineage.plan.inputs(node) for f in i.fields])


def _with_constants(row: Row, node: OverAggregate, lineage: Lineage) -> Row:
    constants = node.over_spec.constants
    meanings = [lineage.meanings.expression(c, row.meanings) for c in constants]
    return Row([*row.meanings, *meanings], [*row.fields, *(RowField("constant", c.type) for c in constants)])


def _stored_type(t: LogicalType) -> str:
    """A type as far as stored values differ by it."""
    return str(t.nullable_().regular())


def call_text(call: AggregateCall, row: Row) -> str:
    """``SUM(DISTINCT amount) FILTER(paid)``."""
    name = call.internal_name or call.catalog_name or call.system_name or call.class_ or "?"
    if name.startswith("$"):
        name = name.strip("$").rpartition("$")[0] or name
    arguments = ", ".join(str(row.column(i).shown) for i in call.arg_list) or "*"
    distinct = "DISTINCT " if call.distinct else ""
    condition = "" if call.filter_arg < 0 else f" FILTER({row.column(call.filter_arg).shown})"
    return f"{name}({distinct}{arguments}){condition}"
