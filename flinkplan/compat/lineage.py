"""The meanings of the columns of a plan, which say where their values come from.

A plan refers to columns by position, so a column that is added below an operator shifts all others. Here each column of
 each node gets a *meaning*, a number that is equal exactly for two columns, of either plan, that are computed in the
same way from the same columns of the same tables.  Types do not count: they belong to the schema of the state.
"""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

from ..plan.document import Plan
from ..plan.functions import called
from ..plan.functions.cast import CAST
from ..plan.lineage.uses import aggregated_node
from ..plan.nodes import (
    BatchOverAggregate,
    ExecNode,
    LookupJoin,
    OverAggregate,
    PythonOverAggregate,
    TableSourceScan,
)
from ..plan.record import Struct, cached_property, field
from ..plan.rex import (
    Call,
    CorrelVariable,
    FieldAccess,
    InputRef,
    Literal,
    OpaqueRex,
    PatternInputRef,
    PlannerExpression,
    RexNode,
    Sarg,
    TableArgument,
)
from ..plan.specs import AggregateCall
from ..plan.types.widening import widens
from ..plan.yields import (
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

Meaning = int
Row = Sequence[Meaning]

_FILTER, _ROWS = ("filter",), ("rows",)


class Meanings:
    """Numbers the meanings of both plans."""

    def __init__(self) -> None:
        self._numbers: dict[Hashable, Meaning] = {}
        self._roots: list[frozenset[Meaning]] = []
        self._unfiltered: dict[Meaning, Meaning] = {}
        self._filters: set[Meaning] = set()
        self._widened: dict[Meaning, Meaning] = {}
        self._narrowed: set[Meaning] = set()

    def of(self, key: tuple[Hashable, ...], parts: Iterable[Meaning] = ()) -> Meaning:
        """The meaning of ``key``, computed from ``parts``; without parts it is a root itself."""
        parts = tuple(parts)
        full_key = (key, parts)
        meaning = self._numbers.get(full_key)
        if meaning is None:
            meaning = self._numbers[full_key] = len(self._roots)
            roots: Iterable[Meaning] = (r for p in parts for r in self._roots[p])
            self._roots.append(frozenset(roots) if parts else frozenset((meaning,)))
            if key != _FILTER and any(part in self._unfiltered for part in parts):
                unfiltered_parts = [self.unfiltered(part) for part in parts if part not in self._filters]
                self._unfiltered[meaning] = self.of(key, unfiltered_parts or [self.of(_ROWS)])
            elif key == _FILTER:
                self._filters.add(meaning)
                self._unfiltered[meaning] = meaning
        return meaning

    def unfiltered(self, meaning: Meaning) -> Meaning:
        """The meaning of the same value without the FILTER clauses of aggregates."""
        return self._unfiltered.get(meaning, meaning)

    def unwidened(self, meaning: Meaning) -> Meaning:
        """The meaning of the same value before it was cast to a type that holds all values of its own."""
        while meaning in self._widened:
            meaning = self._widened[meaning]
        return meaning

    def _cast(self, meaning: Meaning, operand: Meaning, is_widening: bool) -> None:
        """Note a cast; one of columns of several types counts as widening only if it always is."""
        if is_widening and meaning not in self._narrowed:
            self._widened[meaning] = operand
        elif not is_widening:
            self._narrowed.add(meaning)
            self._widened.pop(meaning, None)

    def constant(self, key: tuple[Hashable, ...]) -> Meaning:
        """The meaning of a constant, which has no roots."""
        meaning = self.of(("constant", *key))
        self._roots[meaning] = frozenset()
        return meaning

    def roots(self, meaning: Meaning) -> frozenset[Meaning]:
        """The table columns that a value is computed from."""
        return self._roots[meaning]

    def expression(self, rex: RexNode, row: Row) -> Meaning:
        """The meaning of an expression over ``row``."""
        match rex:
            case InputRef(index):
                return row[index] if 0 <= index < len(row) else self.of(("no such column", index))
            case PatternInputRef(alpha, index):
                return self.of(
                    ("pattern variable", alpha),
                    [row[index] if index < len(row) else self.of(("no such column", index))],
                )
            case Call(name, operands, t, syntax, reference):
                parts = [self.expression(o, row) for o in operands]
                function = called(rex)
                if function is not None and function.commutes:
                    parts.sort()
                target = str(t.nullable_()) if function is not None and function.states_target_type else ""
                meaning = self.of(("call", syntax, name, _text(reference), target), parts or [self.of(("call", name))])
                if name == CAST.internal_name and len(operands) == 1:
                    self._cast(meaning, parts[0], widens(operands[0].type, t))
                return meaning
            case FieldAccess(name, expr):
                return self.of(("field", name), [self.expression(expr, row)])
            case Literal(value, t, symbol):
                return self.constant((_text(value), t.root, symbol))
            case Sarg(ranges, null_as):
                return self.constant((repr(ranges), null_as))
            case CorrelVariable(correl):
                return self.of(("correlation", correl))
            case TableArgument(index, keys, _, order, directions):
                return self.constant(("table", index, keys, order or (), directions or ()))
            case OpaqueRex(_, _, source):
                return self.of(("opaque", _text(source)))
            case PlannerExpression():
                raise TypeError(f"no plan holds {rex!r:.80}")

    def aggregate(self, call: AggregateCall, row: Row) -> Meaning:
        """The meaning of an aggregate call over the rows of a group; its name and result type do not count."""
        function = (call.syntax, call.internal_name, call.catalog_name, call.system_name, call.class_)
        parts = [row[i] if 0 <= i < len(row) else self.of(("no such column", i)) for i in call.arg_list]
        if 0 <= call.filter_arg < len(row):
            parts.append(self.of(_FILTER, [row[call.filter_arg]]))
        flags = (call.is_distinct, call.approximate, call.ignore_nulls)
        return self.of(("aggregate", *function, *flags), parts or [self.of(_ROWS)])


def _text(value: Any) -> str:
    return "" if value is None else json.dumps(value, sort_keys=True, default=str)


class Lineage(Struct):
    """The meanings of all columns of one plan."""

    plan: Plan
    meanings: Meanings
    paired: frozenset[int]
    """The ids of the nodes that have a counterpart in the other plan."""
    tables: Mapping[int, str] = field(default_factory=dict)
    """The old names of renamed tables, by the id of the node that scans them."""
    rows: dict[int, Row] = field(default_factory=dict)
    """The meanings of each node's output columns, by node id."""

    def __post_init__(self) -> None:
        for node in self.plan.nodes:
            yielded = self.yielded(node)
            reader = _Reader(self, node)
            row = reader.unknown() if yielded is None else [reader.meaning(*each) for each in enumerate(yielded)]
            row += [reader.added(index) for index in range(len(row), len(node.fields))]
            self.rows[node.id] = row[: len(node.fields)]

    def yielded(self, node: ExecNode) -> Iterable[Yield] | None:
        """What the node's columns are computed from; ``None`` where this is not known."""
        return node.yields([source.fields for source in self.plan.inputs(node)])

    def input_rows(self, node: ExecNode) -> list[Row]:
        """The columns of each input."""
        return [self.rows[i.id] for i in self.plan.inputs(node)]

    def input_row(self, node: ExecNode) -> Row:
        """The columns of all inputs; equal columns of different inputs get different meanings."""
        row: list[Meaning] = []
        for columns in self.input_rows(node):
            known = set(row)
            row += [self.meanings.of(("again",), [m]) if m in known else m for m in columns]
        return row

    def aggregated_node(self, node: ExecNode) -> ExecNode:
        """The node whose input the aggregate calls of ``node`` read: for a global aggregation the local one."""
        return aggregated_node(self.plan, node)


class _Reader:
    """Finds the meanings of a node's columns from the node's declarations."""

    def __init__(self, lineage: Lineage, node: ExecNode) -> None:
        self.lineage, self.node, self.meanings = lineage, node, lineage.meanings
        self.row = lineage.input_row(node)
        self.starts = [0]
        for source in lineage.plan.inputs(node):
            self.starts.append(self.starts[-1] + len(source.fields))

    def unknown(self) -> list[Meaning]:
        """Meanings of output columns that may depend on any input column."""
        return [self.meanings.of(("output", self.node.metadata.name, f.name), self.row) for f in self.node.fields]

    def added(self, place: int) -> Meaning:
        """The meaning of a column that the node adds."""
        return self.meanings.of(("extra", self.node.metadata.name, self.node.fields[place].name))

    def meaning(self, place: int, column: Yield) -> Meaning:
        """The meaning of the output column at ``place``."""
        of = self.meanings.of
        match column:
            case InputColumn(side, index):
                return self._given(self.starts[side] + index)
            case UnionColumn(index):
                return self._merged(index)
            case Computed(expression):
                return self.meanings.expression(expression, self.row)
            case OneOf(expressions):
                return of(("expand",), [self.meanings.expression(each, self.row) for each in expressions])
            case FunctionColumn(call, index):
                return of(("function column", index), [self.meanings.expression(call, self.row)])
            case Aggregated(call):
                return self.meanings.aggregate(call, self.aggregated)
            case OverAggregated(call):
                return of(("over",), [self.meanings.aggregate(call, [*self.row, *self.constants])])
            case Accumulator(calls, index):
                return of(("accumulator", index), [self.meanings.aggregate(call, self.row) for call in calls])
            case WindowProperty(kind):
                return of(("window", kind))
            case SliceEnd():
                return of(("end of the slice",))
            case TableColumn(name):
                return of(("column", self._table(), name))
            case AddedColumn():
                return self.added(place)

    def _given(self, index: int) -> Meaning:
        return self.row[index] if 0 <= index < len(self.row) else self.meanings.of(("no such column", index))

    def _merged(self, index: int) -> Meaning:
        """The meaning of a union's column.  Inputs that are in only one plan do not count; they have own findings."""
        inputs = self.lineage.plan.inputs(self.node)
        paired = [self.lineage.rows[i.id] for i in inputs if i.id in self.lineage.paired]
        parts = {row[index] for row in paired or self.lineage.input_rows(self.node) if index < len(row)}
        return min(parts) if len(parts) == 1 else self.meanings.of(("union",), sorted(parts))

    @cached_property
    def aggregated(self) -> Row:
        """The row that aggregate calls read."""
        return self.lineage.input_row(self.lineage.aggregated_node(self.node))

    @cached_property
    def constants(self) -> Row:
        """The constants that follow the input columns of an OVER aggregation."""
        assert isinstance(self.node, OverAggregate | PythonOverAggregate | BatchOverAggregate)
        return [self.meanings.expression(constant, self.row) for constant in self.node.over_spec.constants]

    def _table(self) -> str:
        if isinstance(self.node, LookupJoin):
            return self.node.table.identifier
        assert isinstance(self.node, TableSourceScan)
        return self.lineage.tables.get(self.node.id, self.node.scan_table_source.table.identifier)
