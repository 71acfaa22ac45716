"""The columns of its inputs that each column of an exec node is computed from, and those that decide about its rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum

from ..codec import field_codecs
from ..document import Plan
from ..functions import called
from ..functions.conditional import CASE
from ..nodes import (
    BatchOverAggregate,
    BatchSort,
    Deduplicate,
    Exchange,
    ExecNode,
    IncrementalGroupAggregate,
    LateRows,
    LookupJoin,
    OverAggregate,
    PythonOverAggregate,
    WindowTableFunction,
)
from ..record import Record
from ..references import Input
from ..rex import Call, CorrelVariable, FieldAccess, InputRef, PatternInputRef, RexNode, children, shown_name, walk
from ..specs import AggregateCall
from ..types import LogicalType
from ..yields import (
    Accumulator,
    AddedColumn,
    Aggregated,
    Computed,
    FunctionColumn,
    InputColumn,
    OneOf,
    OverAggregated,
    SliceEnd,
    TableColumn,
    UnionColumn,
    WindowProperty,
    Yield,
)


class Kind(StrEnum):
    """How a column depends on another.  Source: the facet ``columnLineage`` of OpenLineage."""

    IDENTITY = "identity"
    """It has the same value."""
    TRANSFORMATION = "transformation"
    """It is computed from the value in the same row."""
    AGGREGATION = "aggregation"
    """It is computed from the values in several rows."""
    CONDITIONAL = "conditional"
    """The value decides which other value it gets."""
    FILTER = "filter"
    """The value decides whether there is a row."""
    JOIN = "join"
    """The value decides with which rows a row is joined."""
    GROUP_BY = "group by"
    """The value decides to which group a row belongs."""
    SORT = "sort"
    """The value decides about the place of a row among others."""
    WINDOW = "window"
    """The value decides to which window or frame a row belongs."""

    @property
    def is_direct(self) -> bool:
        """Whether the value itself is computed from the other one."""
        return self in (Kind.IDENTITY, Kind.TRANSFORMATION, Kind.AGGREGATION)


class NodeColumn(Record):
    """A column of a node's output, by the node's id and the column's position."""

    node: int
    index: int


class TableField(Record):
    """A column of the table that a node reads or looks up, by the column's name there."""

    name: str


class Use(Record):
    """A column that is used, how, and through which functions.

    ``functions`` are named from the inside out: ``CAST, SUM`` for ``SUM(CAST(x))``.
    """

    column: NodeColumn | TableField
    kind: Kind
    functions: tuple[str, ...] = ()


UsedRow = Sequence[NodeColumn | TableField]
"""The columns to which the positions in expressions refer."""


class NodeUses(Record):
    """What each column of a node uses, and what decides about its rows."""

    columns: tuple[tuple[Use, ...], ...]
    rows: tuple[Use, ...]


_REASONS: Mapping[str, Kind | None] = {
    **dict.fromkeys(
        (
            *("condition", "filter_condition", "pre_filter_condition", "filter_on_temporal_table"),
            *("match_spec", "pattern_definitions", "rank_range"),
        ),
        Kind.FILTER,
    ),
    **dict.fromkeys(
        (
            *(
                "function_call",
                "join_spec",
                "interval_join_spec",
                "join_conditions",
                "multi_join_condition",
                "join_condition",
            ),
            *("left_join_keys", "right_join_keys"),
            *("lookup_keys", "left_time_attribute_index", "right_time_attribute_index"),
        ),
        Kind.JOIN,
    ),
    **dict.fromkeys(
        (
            *("grouping", "partial_agg_grouping", "final_agg_grouping", "partition", "partition_spec"),
            *("partition_keys", "partition_fields", "unique_keys", "keys"),
        ),
        Kind.GROUP_BY,
    ),
    **dict.fromkeys(("order_by", "sort_spec", "sort_fields", "order_key"), Kind.SORT),
    **dict.fromkeys(
        ("window", "windowing", "left_windowing", "right_windowing", "time_attribute_index", "over_spec"), Kind.WINDOW
    ),
    **dict.fromkeys(("assigner", "trigger", "evictor"), Kind.WINDOW),
    # these are the columns themselves, or say nothing of values
    **dict.fromkeys(
        (
            *("projection", "projects", "function", "agg_calls", "partial_original_agg_calls", "measures"),
            *("projection_on_temporal_table", "temporal_table", "scan_table_source", "dynamic_table_sink"),
            *("left_upsert_keys", "right_upsert_keys", "input_upsert_key", "input_unique_keys", "rank_strategy"),
            *("left_upsert_key", "right_upsert_key"),
            *("watermark_expr", "rowtime_field_index", "state", "input_properties", "tuples", "aux_grouping"),
        )
    ),
}
"""Why the columns in a field of a node decide about its rows; a field of a spec in the node may have its own reason."""

_OVER = (OverAggregate, BatchOverAggregate, PythonOverAggregate)
_OF_COLUMNS = (*_OVER, WindowTableFunction)
"""Nodes that decide about no rows: what their fields name are reasons of the columns that they add."""


def uses_of(plan: Plan) -> dict[int, NodeUses]:
    """The uses of each node, by its id."""
    return {node.id: _Reader(plan, node).uses() for node in plan.nodes}


def aggregated_node(plan: Plan, node: ExecNode) -> ExecNode:
    """The node whose input the aggregate calls of ``node`` read: for a global aggregation the local one."""
    current = node
    while merges(current) or isinstance(current, (Exchange, BatchSort)):
        inputs = plan.inputs(current)
        if not inputs:
            return node
        current = inputs[0]
    yielded = current.yields([source.fields for source in plan.inputs(current)])
    return current if any(isinstance(each, Accumulator) for each in yielded or ()) else node


def merges(node: ExecNode) -> bool:
    """Whether the node merges the accumulators of a local aggregation."""
    if not getattr(node, "is_merge", True):
        return False
    return any(codec.input is Input.BEFORE for codec in field_codecs(type(node)))


class _Reader:
    """Reads the uses of one node from its declarations."""

    def __init__(self, plan: Plan, node: ExecNode) -> None:
        self.plan, self.node = plan, node
        self.row = _joined_row(plan, node)
        self.sides = [_row_of(source) for source in plan.inputs(node)]

    def uses(self) -> NodeUses:
        """The uses of all columns, and of the rows."""
        if isinstance(self.node, LateRows):  # its rows are those of the input of the window operator that it reads
            window = self.plan.inputs(self.node)[0]
            return NodeUses(tuple((Use(column, Kind.IDENTITY),) for column in _joined_row(self.plan, window)), ())
        reasons = tuple(dict.fromkeys(self._reasons()))
        yielded = self.node.yields([source.fields for source in self.plan.inputs(self.node)])
        if yielded is None:
            columns = [self._unknown(place) for place in range(len(self.node.fields))]
        else:
            columns = [tuple(dict.fromkeys(self._of(place, each, reasons))) for place, each in enumerate(yielded)]
            columns = [*columns, *[reasons] * (len(self.node.fields) - len(columns))][: len(self.node.fields)]
        return NodeUses(tuple(columns), () if isinstance(self.node, _OF_COLUMNS) else reasons)

    def _unknown(self, place: int) -> tuple[Use, ...]:
        """What a column uses of a node whose columns are not known: any."""
        if isinstance(self.node, IncrementalGroupAggregate) and place < len(self.node.final_agg_grouping):
            return (Use(self.row[self.node.final_agg_grouping[place]], Kind.IDENTITY),)
        return tuple(Use(column, Kind.TRANSFORMATION, (short_type(self.node),)) for column in self.row)

    def _of(self, place: int, column: Yield, reasons: Sequence[Use]) -> Iterator[Use]:
        """What an output column uses."""
        match column:
            case InputColumn(side, index):
                if side < len(self.sides) and index < len(self.sides[side]):
                    yield Use(self.sides[side][index], Kind.IDENTITY)
            case UnionColumn(index):
                yield from (Use(side[index], Kind.IDENTITY) for side in self.sides if index < len(side))
            case Computed(expression) | FunctionColumn(expression):
                yield from expression_uses(expression, self.row, self._correlated)
            case OneOf(expressions):
                for expression in expressions:
                    yield from expression_uses(expression, self.row)
            case Aggregated(call):
                yield from self._of_aggregate(call)
            case OverAggregated(call):
                yield from _call_uses(call, self.row)
                yield from reasons
            case Accumulator(calls):
                for each in calls:
                    yield from _call_uses(each, self.row)
            case TableColumn(name) if not isinstance(self.node, LookupJoin):
                yield Use(TableField(name), Kind.IDENTITY)
            case TableColumn() | AddedColumn() if isinstance(self.node, LookupJoin):
                yield from expression_uses(self.node.table_row[place - len(self.row)], _table_row(self.node))
            case WindowProperty() | SliceEnd():
                yield from _of_window(reasons)
            case AddedColumn() if isinstance(self.node, WindowTableFunction):
                yield from _of_window(reasons)
            case AddedColumn():
                yield from reasons

    @property
    def _correlated(self) -> Mapping[str, NodeColumn]:
        """The columns of the input by their names, by which the call of a table function refers to them."""
        inputs = self.plan.inputs(self.node)[:1]
        return {field.name: column for source in inputs for field, column in zip(source.fields, self.row, strict=False)}

    def _of_aggregate(self, call: AggregateCall) -> Iterator[Use]:
        """What an aggregate uses: for a global one the columns of the local one's input."""
        local = aggregated_node(self.plan, self.node)
        row = _joined_row(self.plan, local)
        incremental = next(
            (
                n
                for n in self.plan.upstream([self.node], lambda n: n.id == local.id)
                if isinstance(n, IncrementalGroupAggregate)
            ),
            None,
        )
        if incremental is None or local is self.node:
            yield from _call_uses(call, row)
            return
        # the call is over the results of a partial aggregation: its keys, then its aggregates
        keys, calls = incremental.partial_agg_grouping, incremental.partial_original_agg_calls
        for use in _call_uses(call, [NodeColumn(-1, index) for index in range(len(keys) + len(calls))]):
            assert isinstance(use.column, NodeColumn)
            index = use.column.index
            if index < len(keys):
                yield Use(NodeColumn(local.id, index), use.kind, use.functions)
            else:
                for partial in _call_uses(calls[index - len(keys)], row):
                    yield Use(partial.column, use.kind, (*partial.functions, *use.functions))

    def _reasons(self) -> Iterator[Use]:
        """The columns that the node's fields name other than to compute columns, each with the reason."""
        node = self.node
        for codec in field_codecs(type(node)):
            kind = _REASONS.get(codec.name)
            if kind is not None:
                yield from self._named(getattr(node, codec.name), codec.input, kind)
        if isinstance(node, Deduplicate) and node.is_rowtime:
            fields = [field for source in self.plan.inputs(node) for field in source.fields]
            times = (column for column, field in zip(self.row, fields, strict=True) if field.type.is_time_attribute)
            yield from (Use(column, Kind.SORT) for column in times)
        if isinstance(node, LookupJoin):
            row = _table_row(node)
            positions = (int(key) for key in node.lookup_keys if key.isdecimal())
            yield from (Use(row[position], Kind.JOIN) for position in positions if position < len(row))

    def _named(self, value: object, input: Input | None, kind: Kind) -> Iterator[Use]:
        """The columns that a value names: by positions in the row of ``input``, in expressions and in records."""
        if isinstance(value, bool | str | LogicalType | AggregateCall):
            return
        if isinstance(value, int):
            row = self._row(input)
            if 0 <= value < len(row):
                yield Use(row[value], kind)
        elif isinstance(value, RexNode):
            uses = expression_uses(value, self._row(input), self._correlated)
            yield from (Use(use.column, kind) for use in uses)
        elif isinstance(value, Mapping):
            for each in value.values():
                yield from self._named(each, input, kind)
        elif isinstance(value, tuple):
            for each in value:
                yield from self._named(each, input, kind)
        elif isinstance(value, Record):
            for codec in field_codecs(type(value)):
                reason = _REASONS.get(codec.name, kind) if kind is Kind.FILTER else kind
                if reason is not None:
                    yield from self._named(getattr(value, codec.name), codec.input, reason)

    def _row(self, input: Input | None) -> UsedRow:
        """The row to which positions in a field refer."""
        match input:
            case Input.ALL | Input.CONSTANTS:
                return self.row
            case Input.BOUND if isinstance(self.node, _OVER):
                return self.row[: self.node.over_spec.original_input_fields]
            case Input.LEFT:
                return self.sides[0] if self.sides else ()
            case Input.RIGHT:
                return self.sides[1] if len(self.sides) > 1 else ()
            case Input.TABLE if isinstance(self.node, LookupJoin):
                return _table_row(self.node)
            case Input.FUNCTION if isinstance(self.node, LookupJoin):
                table, names = self.node.table_row, _table_row(self.node)
                looked_up = [names[e.index] if isinstance(e, InputRef) else TableField("") for e in table]
                return [*self.row, *looked_up]
        return ()


def short_type(node: ExecNode) -> str:
    """The type of a node as it is shown: ``process-table-function``."""
    return node.metadata.short_name


def _row_of(node: ExecNode) -> list[NodeColumn]:
    return [NodeColumn(node.id, index) for index in range(len(node.fields))]


def _joined_row(plan: Plan, node: ExecNode) -> list[NodeColumn]:
    return [column for source in plan.inputs(node) for column in _row_of(source)]


def _table_row(node: LookupJoin) -> list[TableField]:
    """The row that the looked-up table returns."""
    return [TableField(name) for name in node.temporal_table.output_type.field_names]


def _of_window(reasons: Sequence[Use]) -> Iterator[Use]:
    """What a property of a window uses: it is computed from the time of the rows, or from one that they carry."""
    return (Use(use.column, Kind.TRANSFORMATION, ("WINDOW",)) for use in reasons if use.kind is Kind.WINDOW)


def _call_uses(call: AggregateCall, row: UsedRow) -> Iterator[Use]:
    for index in call.arg_list:
        if 0 <= index < len(row):
            yield Use(row[index], Kind.AGGREGATION, (call.function_name.removeprefix("$"),))
    if 0 <= call.filter_arg < len(row):
        yield Use(row[call.filter_arg], Kind.CONDITIONAL)


def read_positions(rex: RexNode) -> set[int]:
    """The positions of the columns that an expression reads, also as those of a pattern's variables."""
    return {part.index for part in walk(rex) if isinstance(part, InputRef | PatternInputRef)}


def expression_uses(rex: RexNode, row: UsedRow, correlated: Mapping[str, NodeColumn] | None = None) -> Iterator[Use]:
    """The columns of ``row`` that an expression reads, each with the functions around it, from the inside out.

    ``correlated`` are the columns that it reads by their names, as a field of a correlation variable.
    """
    pending: list[tuple[RexNode, tuple[str, ...], bool]] = [(rex, (), False)]
    while pending:
        part, functions, decides = pending.pop()
        column = _column(part, row, correlated or {})
        if column is not None:
            kind = Kind.CONDITIONAL if decides else Kind.TRANSFORMATION if functions else Kind.IDENTITY
            yield Use(column, kind, () if decides else functions)
            continue
        name = _name(part)
        inner = (name, *functions) if name else functions
        operands = children(part)
        for index, operand in reversed(list(enumerate(operands))):
            is_condition = called(part) is CASE and index % 2 == 0 and index < len(operands) - 1
            pending.append((operand, inner, decides or is_condition))


def _column(rex: RexNode, row: UsedRow, correlated: Mapping[str, NodeColumn]) -> NodeColumn | TableField | None:
    """The column that an expression is."""
    if isinstance(rex, InputRef | PatternInputRef):
        return row[rex.index] if rex.index < len(row) else None
    if isinstance(rex, FieldAccess) and isinstance(rex.expr, CorrelVariable):
        return correlated.get(rex.name)
    return None


def _name(rex: RexNode) -> str | None:
    """The name of the function that an expression calls."""
    if isinstance(rex, FieldAccess):
        return f".{rex.name}"
    if not isinstance(rex, Call):
        return None
    function = called(rex)
    if function is not None:
        return function.name
    if rex.reference is not None:
        named = rex.reference.get("catalogName") or rex.reference.get("systemName") or rex.reference.get("class")
        return str(named) if named else "a function"
    return shown_name(rex.name) if rex.name.startswith("$") else rex.name
