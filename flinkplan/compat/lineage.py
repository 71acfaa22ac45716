"""What the columns of a plan mean: where their values come from.

A plan names columns by position, so a column that is added below moves all others.  Here each column of each
node gets a *meaning*, a number that is equal exactly where two columns, of either plan, are computed in the
same way from the same columns of the same tables.  Types are left out: they are a matter of the state's schema.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any

from ..plan.document import Plan
from ..plan.nodes import (
    Calc,
    ChangelogNormalize,
    Correlate,
    Deduplicate,
    DropUpdateBefore,
    Exchange,
    ExecNode,
    Expand,
    GlobalGroupAggregate,
    GlobalWindowAggregate,
    GroupAggregate,
    GroupWindowAggregate,
    IncrementalGroupAggregate,
    IntervalJoin,
    Join,
    Limit,
    LocalGroupAggregate,
    LocalWindowAggregate,
    MiniBatchAssigner,
    MultiJoin,
    OverAggregate,
    Rank,
    Sink,
    Sort,
    SortLimit,
    TableSourceScan,
    TemporalJoin,
    TemporalSort,
    Union,
    WatermarkAssigner,
    WindowAggregate,
    WindowDeduplicate,
    WindowJoin,
    WindowRank,
    WindowTableFunction,
)
from ..plan.record import Struct, field
from ..plan.rex import Call, CorrelVariable, FieldAccess, InputRef, Literal, OpaqueRex, RexNode, Sarg
from ..plan.specs import AggregateCall

Meaning = int
Row = Sequence[Meaning]

_FILTER, _ROWS = ("filter",), ("rows",)
_COMMUTATIVE = {("BINARY", f"${sign}$1") for sign in ("AND", "OR", "=", "<>", "*", "+")}
_CASTS = {"$CAST$1", "$TRY_CAST$1", "$REINTERPRET$1", "$JSON_VALUE$1"}
"""Calls whose target is nothing but their type."""


class Meanings:
    """The meanings found so far, shared by both plans."""

    def __init__(self) -> None:
        self._numbers: dict[Hashable, Meaning] = {}
        self._roots: list[frozenset[Meaning]] = []
        self._unfiltered: dict[Meaning, Meaning] = {}
        self._filters: set[Meaning] = set()

    def of(self, key: tuple[Hashable, ...], parts: Iterable[Meaning] = ()) -> Meaning:
        """The meaning of ``key``, computed from ``parts``; without parts it is a root itself."""
        parts = tuple(parts)
        full = (key, parts)
        found = self._numbers.get(full)
        if found is None:
            found = self._numbers[full] = len(self._roots)
            roots: Iterable[Meaning] = (r for p in parts for r in self._roots[p])
            self._roots.append(frozenset(roots) if parts else frozenset((found,)))
            if key != _FILTER and any(part in self._unfiltered for part in parts):
                kept = [self.unfiltered(part) for part in parts if part not in self._filters]
                self._unfiltered[found] = self.of(key, kept or [self.of(_ROWS)])
            elif key == _FILTER:
                self._filters.add(found)
                self._unfiltered[found] = found
        return found

    def unfiltered(self, meaning: Meaning) -> Meaning:
        """The meaning of the same without the FILTER clauses of aggregates: of which rows does not count then."""
        return self._unfiltered.get(meaning, meaning)

    def constant(self, key: tuple[Hashable, ...]) -> Meaning:
        """The meaning of a constant, which comes from nowhere."""
        found = self.of(("constant", *key))
        self._roots[found] = frozenset()
        return found

    def roots(self, meaning: Meaning) -> frozenset[Meaning]:
        """The table columns that a value is computed from."""
        return self._roots[meaning]

    def expression(self, rex: RexNode, row: Row) -> Meaning:
        """The meaning of an expression over ``row``."""
        match rex:
            case InputRef(index):
                return row[index] if 0 <= index < len(row) else self.of(("no such column", index))
            case Call(name, operands, t, syntax, reference):
                parts = [self.expression(o, row) for o in operands]
                if rex.key in _COMMUTATIVE:
                    parts.sort()
                target = str(t.nullable_()) if name in _CASTS else ""
                return self.of(("call", syntax, name, _text(reference), target), parts or [self.of(("call", name))])
            case FieldAccess(name, expr):
                return self.of(("field", name), [self.expression(expr, row)])
            case Literal(value, t, symbol):
                return self.constant((_text(value), t.root, symbol))
            case Sarg(ranges, null_as):
                return self.constant((repr(ranges), null_as))
            case CorrelVariable(correl):
                return self.of(("correlation", correl))
            case OpaqueRex(_, _, source):
                return self.of(("opaque", _text(source)))

    def aggregate(self, call: AggregateCall, row: Row) -> Meaning:
        """The meaning of an aggregate call over the rows of a group; its name and result type do not count."""
        function = (call.syntax, call.internal_name, call.catalog_name, call.system_name, call.class_)
        parts = [row[i] if 0 <= i < len(row) else self.of(("no such column", i)) for i in call.arg_list]
        if 0 <= call.filter_arg < len(row):
            parts.append(self.of(_FILTER, [row[call.filter_arg]]))
        flags = (call.distinct, call.approximate, call.ignore_nulls)
        return self.of(("aggregate", *function, *flags), parts or [self.of(_ROWS)])


def _text(value: Any) -> str:
    return "" if value is None else json.dumps(value, sort_keys=True, default=str)


class Lineage(Struct):
    """The meanings of all columns of one plan."""

    plan: Plan
    meanings: Meanings
    paired: frozenset[int]
    """The ids of the nodes that are in the other plan, too."""
    tables: Mapping[int, str] = field(default_factory=dict)
    """Other names of tables, by the id of the node that scans them: what a renamed table was called before."""
    rows: dict[int, Row] = field(default_factory=dict)
    """The meanings of each node's output columns, by node id."""

    def __post_init__(self) -> None:
        for node in self.plan.nodes:
            rule = _RULES.get(type(node), _opaque)
            row = list(rule(self, node))
            width = len(node.fields)
            row += [
                self.meanings.of(("extra", node.metadata.name, node.fields[i].name)) for i in range(len(row), width)
            ]
            self.rows[node.id] = row[:width]

    def input_rows(self, node: ExecNode) -> list[Row]:
        """The columns of each input."""
        return [self.rows[i.id] for i in self.plan.inputs(node)]

    def input_row(self, node: ExecNode) -> Row:
        """The columns of all inputs side by side; those of a later input stay apart from equal earlier ones."""
        row: list[Meaning] = []
        for columns in self.input_rows(node):
            known = set(row)
            row += [self.meanings.of(("again",), [m]) if m in known else m for m in columns]
        return row

    def aggregated_node(self, node: ExecNode) -> ExecNode:
        """The node whose input the aggregate calls of ``node`` read: of a second phase, the first phase."""
        at = node
        while isinstance(at, GlobalGroupAggregate | GlobalWindowAggregate | IncrementalGroupAggregate | Exchange):
            below = self.plan.inputs(at)
            if not below:
                return node
            at = below[0]
        return at if isinstance(at, LocalGroupAggregate | LocalWindowAggregate) else node


Rule = Callable[[Lineage, Any], Iterable[Meaning]]


def _opaque(lineage: Lineage, node: ExecNode) -> Iterable[Meaning]:
    row = lineage.input_row(node)
    for f in node.fields:
        yield lineage.meanings.of(("output", node.metadata.name, f.name), row)


def _input(lineage: Lineage, node: ExecNode) -> Iterable[Meaning]:
    return lineage.input_row(node)


def _scan(lineage: Lineage, node: TableSourceScan) -> Iterable[Meaning]:
    table = lineage.tables.get(node.id, node.scan_table_source.table.identifier)
    return [lineage.meanings.of(("column", table, f.name)) for f in node.fields]


def _calc(lineage: Lineage, node: Calc) -> Iterable[Meaning]:
    row = lineage.input_row(node)
    return [lineage.meanings.expression(e, row) for e in node.projection]


def _union(lineage: Lineage, node: Union) -> Iterable[Meaning]:
    """Branches that are only in one of the plans do not count: they are told as what they are."""
    inputs = lineage.plan.inputs(node)
    rows = [lineage.rows[i.id] for i in inputs if i.id in lineage.paired] or lineage.input_rows(node)
    for parts in zip(*rows, strict=False):
        yield parts[0] if len(set(parts)) == 1 else lineage.meanings.of(("union",), sorted(set(parts)))


def _expand(lineage: Lineage, node: Expand) -> Iterable[Meaning]:
    row = lineage.input_row(node)
    for column in zip(*node.projects, strict=False):
        yield lineage.meanings.of(("expand",), [lineage.meanings.expression(e, row) for e in column])


def _correlate(lineage: Lineage, node: Correlate) -> Iterable[Meaning]:
    row = lineage.input_row(node)
    yield from row
    call = lineage.meanings.expression(node.function_call, row)
    for i in range(len(node.fields) - len(row)):
        yield lineage.meanings.of(("function column", i), [call])


def _grouped(lineage: Lineage, node: Any) -> Iterable[Meaning]:
    row, aggregated = lineage.input_row(node), lineage.input_row(lineage.aggregated_node(node))
    yield from (row[i] for i in node.grouping if 0 <= i < len(row))
    for call in node.agg_calls:
        yield lineage.meanings.aggregate(call, aggregated)


def _windowed(lineage: Lineage, node: Any) -> Iterable[Meaning]:
    yield from _grouped(lineage, node)
    for named in node.named_window_properties:
        yield lineage.meanings.of(("window", named.property.kind))


def _partial(lineage: Lineage, node: LocalGroupAggregate | LocalWindowAggregate) -> Iterable[Meaning]:
    row = lineage.input_row(node)
    yield from (row[i] for i in node.grouping if 0 <= i < len(row))
    parts = [lineage.meanings.aggregate(call, row) for call in node.agg_calls]
    accumulators = len(node.fields) - len(node.grouping) - isinstance(node, LocalWindowAggregate)
    for i in range(accumulators):
        yield lineage.meanings.of(("accumulator", i), parts)
    if isinstance(node, LocalWindowAggregate):
        yield lineage.meanings.of(("end of the slice",))


def _over(lineage: Lineage, node: OverAggregate) -> Iterable[Meaning]:
    row = lineage.input_row(node)
    yield from row
    constants = [lineage.meanings.expression(c, row) for c in node.over_spec.constants]
    for group in node.over_spec.groups:
        for call in group.agg_calls:
            yield lineage.meanings.of(("over",), [lineage.meanings.aggregate(call, [*row, *constants])])


_RULES: Mapping[type[ExecNode], Rule] = {
    TableSourceScan: _scan,
    Calc: _calc,
    Union: _union,
    Expand: _expand,
    Correlate: _correlate,
    GroupAggregate: _grouped,
    GlobalGroupAggregate: _grouped,
    LocalGroupAggregate: _partial,
    LocalWindowAggregate: _partial,
    WindowAggregate: _windowed,
    GlobalWindowAggregate: _windowed,
    GroupWindowAggregate: _windowed,
    OverAggregate: _over,
    **dict.fromkeys(
        (
            ChangelogNormalize,
            Deduplicate,
            DropUpdateBefore,
            Exchange,
            IntervalJoin,
            Join,
            Limit,
            MiniBatchAssigner,
            MultiJoin,
            Rank,
            Sink,
            Sort,
            SortLimit,
            TemporalJoin,
            TemporalSort,
            WatermarkAssigner,
            WindowDeduplicate,
            WindowJoin,
            WindowRank,
            WindowTableFunction,
        ),
        _input,
    ),
}
"""How each type of node makes its columns.  What a node appends beyond these is named after it."""
