"""Which rows reach an operator, so that state of other rows is not taken for that of the new query.

Columns are compared by their meanings, which do not say which rows there are.  Here each node gets a description of the
rows that it emits, which is equal for nodes of either plan that emit the same rows, whatever columns they have.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from itertools import zip_longest
from typing import Any, TypeAlias

from ...plan.functions.comparison import EQ
from ...plan.nodes import (
    Calc,
    DropUpdateBefore,
    Exchange,
    ExecNode,
    GlobalGroupAggregate,
    GlobalWindowAggregate,
    GroupAggregate,
    GroupWindowAggregate,
    Join,
    LocalGroupAggregate,
    LocalWindowAggregate,
    MiniBatchAssigner,
    MultiJoin,
    TableSourceScan,
    Union,
    WatermarkAssigner,
    WindowAggregate,
)
from ...plan.record import Record
from ...plan.rex import Call, InputRef, Literal, RexNode
from ...plan.specs import FilterPushDown, LimitPushDown, PartitionPushDown
from ...plan.types import BOOLEAN
from ..columns import Scope, Shown
from ..lineage import Lineage

_PASSING = (
    Exchange,
    DropUpdateBefore,
    MiniBatchAssigner,
    WatermarkAssigner,
    LocalGroupAggregate,
    LocalWindowAggregate,
)
"""Nodes that emit the rows of their input; the rows of a local aggregation stand for those of its input."""

_NOT_ROWS = frozenset(
    (
        *("id", "type", "version", "configuration", "inputProperties", "outputType", "description", "state"),
        *("generateUpdateBefore", "aggCalls", "aggCallNeedRetractions", "namedWindowProperties", "needRetraction"),
        *("leftUpsertKeys", "rightUpsertKeys", "rankStrategy", "outputRowNumber"),
    )
)
"""Fields of nodes that do not affect which rows there are."""

_AND = "$AND$1"
_BOTH = 2
"""The number of inputs of a join."""


RowSet = int
"""The number of a description, which is equal exactly for equal descriptions, of either plan."""


class Rows(Record):
    """The rows that a node emits: what it does, in which way, and with the rows of which inputs."""

    what: str
    how: Hashable
    inputs: tuple[RowSet, ...] = ()


class Condition(Record):
    """A condition, and the meanings of the columns that it reads."""

    rex: RexNode
    row: tuple[int, ...]


class Descriptions:
    """Numbers the descriptions of both plans: nodes that several others read would be described again and again."""

    def __init__(self) -> None:
        self._numbers: dict[Rows, RowSet] = {}
        self._rows: list[Rows] = []
        self._tables: list[frozenset[str]] = []

    def number(self, rows: Rows) -> RowSet:
        """The number of a description."""
        number = self._numbers.get(rows)
        if number is None:
            number = self._numbers[rows] = len(self._rows)
            self._rows.append(rows)
            own = frozenset((str(rows.how),)) if rows.what == "table" else frozenset()
            self._tables.append(own.union(*(self._tables[each] for each in rows.inputs)))
        return number

    def __getitem__(self, number: RowSet) -> Rows:
        return self._rows[number]

    def tables(self, number: RowSet) -> frozenset[str]:
        """The tables from which rows come."""
        return self._tables[number]


_Grouping: TypeAlias = (
    GroupAggregate | GlobalGroupAggregate | WindowAggregate | GlobalWindowAggregate | GroupWindowAggregate
)


class RowSets:
    """The rows of each node of a plan."""

    def __init__(self, lineage: Lineage, known: Descriptions) -> None:
        self._lineage = lineage
        self._known = known
        self._by_node: dict[int, RowSet] = {}
        self.conditions: dict[Hashable, Condition] = {}
        """The conditions of filters by their meanings."""
        for node in lineage.plan.nodes:
            inputs = tuple(self._by_node[source.id] for source in lineage.plan.inputs(node))
            self._by_node[node.id] = self._rows(node, inputs)

    def of(self, node: ExecNode) -> RowSet:
        """The rows that a node emits."""
        return self._by_node[node.id]

    def read_by(self, node: ExecNode) -> tuple[RowSet, ...]:
        """The rows of each input of a node."""
        return tuple(self._by_node[source.id] for source in self._lineage.plan.inputs(node))

    def _rows(self, node: ExecNode, inputs: tuple[RowSet, ...]) -> RowSet:
        if isinstance(node, _PASSING):
            return inputs[0]
        if isinstance(node, Calc):
            if node.condition is None:
                return inputs[0]
            row = tuple(self._lineage.input_row(node))
            conditions = frozenset(self._condition(each, row) for each in conjuncts(node.condition))
            return self._filtered(conditions, inputs[0])
        if isinstance(node, TableSourceScan):
            return self._scanned(node)
        return self._known.number(self._described(node, inputs))

    def _described(self, node: ExecNode, inputs: tuple[RowSet, ...]) -> Rows:
        if isinstance(node, Union):
            united = (self._known[each].inputs if self._known[each].what == "union" else (each,) for each in inputs)
            return Rows("union", None, tuple(sorted(each for inner in united for each in inner)))
        if isinstance(node, GroupAggregate | GlobalGroupAggregate):
            return Rows("groups", self._keys(node), inputs)
        if isinstance(node, Join) and len(inputs) == _BOTH:
            return self._join(node, inputs)
        if isinstance(node, MultiJoin) and len(inputs) == len(node.join_types) == len(node.join_conditions) > 1:
            return self._multi_join(node, inputs)
        scope = Scope(node, self._lineage)
        if isinstance(node, WindowAggregate | GlobalWindowAggregate | GroupWindowAggregate):
            kept = node.window if isinstance(node, GroupWindowAggregate) else node.windowing.window
            window = _hashable(scope.resolve(kept, None))
            return Rows("windows", (self._keys(node), window), inputs)
        return Rows(node.metadata.name, _hashable(scope.resolve_object(node)), inputs)

    def _join(self, node: Join, inputs: tuple[RowSet, ...]) -> Rows:
        spec = node.join_spec
        row = self._lineage.input_row(node)
        width = len(self._lineage.plan.inputs(node)[0].fields)
        conditions: set[Hashable] = set()
        meanings = self._lineage.meanings
        for left, right, filters in zip_longest(spec.left_keys, spec.right_keys, spec.filter_nulls, fillvalue=-1):
            equality = equal_columns(left, width + right)
            meaning = meanings.expression(equality, row)
            conditions.add(meaning if filters else ("NULL matches NULL", meaning))
        if spec.non_equi_condition is not None:
            conditions |= {meanings.expression(each, row) for each in conjuncts(spec.non_equi_condition)}
        return Rows(Join.metadata.name, (spec.join_type.value, frozenset(conditions)), inputs)

    def _multi_join(self, node: MultiJoin, inputs: tuple[RowSet, ...]) -> Rows:
        """A join of several inputs as joins of two, one above the other."""
        row = self._lineage.input_row(node)
        joined, *others = inputs
        steps = zip(node.join_types[1:], node.join_conditions[1:], strict=True)
        rows = self._known[joined]
        for right, (kind, condition) in zip(others, steps, strict=True):
            parts = () if condition is None else conjuncts(condition)
            conditions = frozenset(self._lineage.meanings.expression(each, row) for each in parts)
            rows = Rows(Join.metadata.name, (kind.value, conditions), (joined, right))
            joined = self._known.number(rows)
        return rows

    def _keys(self, node: _Grouping) -> Hashable:
        row = self._lineage.input_row(node)
        return frozenset(row[key] if 0 <= key < len(row) else ("no such column", key) for key in node.grouping)

    def _scanned(self, node: TableSourceScan) -> RowSet:
        spec = node.scan_table_source
        table = self._lineage.tables.get(node.id, spec.table.identifier)
        schema = spec.table.resolved_table
        names = [column.name for column in schema.schema.columns if column.is_physical] if schema else []
        pushed: set[Hashable] = set()
        for ability in spec.abilities or ():
            match ability:
                case FilterPushDown(predicates):
                    row = tuple(self._lineage.meanings.of(("column", table, name)) for name in names)
                    pushed.update(self._condition(each, row) for each in predicates)
                case LimitPushDown() | PartitionPushDown():
                    pushed.add(repr(ability))
            produced = getattr(ability, "produced_type", None)
            names = list(produced.field_names) if produced is not None else names
        rows = self._known.number(Rows("table", table))
        return self._filtered(frozenset(pushed), rows) if pushed else rows

    def _condition(self, rex: RexNode, row: tuple[int, ...]) -> Hashable:
        """The meaning of a condition, which is noted."""
        meaning = self._lineage.meanings.expression(rex, row)
        self.conditions[meaning] = Condition(rex, row)
        return meaning

    def _filtered(self, conditions: frozenset[Hashable], rows: RowSet) -> RowSet:
        """Filters one above the other are one."""
        below = self._known[rows]
        if below.what == "filter" and isinstance(below.how, frozenset):
            return self._known.number(Rows("filter", below.how | conditions, below.inputs))
        return self._known.number(Rows("filter", conditions, (rows,)))


def conjuncts(condition: RexNode) -> Iterator[RexNode]:
    """The conditions that an AND connects; a condition that is none of its own."""
    if type(condition) is Call and condition.name == _AND:
        for operand in condition.operands:
            yield from conjuncts(operand)
    elif not (isinstance(condition, Literal) and condition.value is True):
        yield condition


def equal_columns(left: int, right: int) -> Call:
    """The condition that two columns are equal, whatever their types."""
    return Call(EQ.internal_name, (InputRef(left, BOOLEAN), InputRef(right, BOOLEAN)), BOOLEAN, EQ.syntax)


def _hashable(value: Any) -> Hashable:
    """A resolved value of a node's fields; columns and expressions by their meanings."""
    match value:
        case Shown(meaning=meaning):
            return _hashable(meaning)
        case Mapping():
            return tuple((key, _hashable(item)) for key, item in value.items() if key not in _NOT_ROWS)
        case list() | tuple():
            return tuple(_hashable(item) for item in value)
    return value if isinstance(value, Hashable) else repr(value)


class Difference(Record):
    """Why rows differ: a sentence, and the smallest change of the query that avoids it."""

    why: str
    fix: str


class RowComparison:
    """Compares the rows that reach operators of two plans."""

    def __init__(self, old: Lineage, new: Lineage) -> None:
        self._known = Descriptions()
        self.old, self.new = RowSets(old, self._known), RowSets(new, self._known)
        self._old_tables = frozenset().union(*(self._known.tables(self.old.of(node)) for node in old.plan.nodes))

    def difference(self, old: RowSet, new: RowSet) -> Difference | None:
        """Why the rows of two nodes differ; ``None`` if they are the same, or those of new tables come on top."""
        if old == new:
            return None
        before, after = self._known[old], self._known[new]
        if _conditions(before) != _conditions(after):
            return Difference(
                f"the state is of rows that came before their filter changed ({self._origin(new)})",
                "filter what the operator emits instead",
            )
        if "union" in (before.what, after.what):
            return self._of_unions(self._united(old), self._united(new))
        if before.what != after.what:
            what = f"'{after.what}', not from '{before.what}'"
            return Difference(f"the rows now come from {what}", f"keep the '{before.what}' below")
        if before.how != after.how:
            what = f"table {before.how}" if before.what == "table" else f"'{before.what}' below"
            return Difference(f"the state is of rows that came before the {what} changed", f"keep the {what}")
        if len(before.inputs) != len(after.inputs):
            return Difference(f"the '{after.what}' below has other inputs", "keep these inputs")
        pairs = zip(before.inputs, after.inputs, strict=True)
        return next((d for each in pairs if (d := self.difference(*each)) is not None), None)

    def added_conditions(self, old: RowSet, new: RowSet) -> tuple[Condition, ...] | None:
        """The conditions that rows must meet now besides those of before; ``None`` if more than this has changed."""
        before, after = self._known[old], self._known[new]
        if after.what != "filter":
            return None
        kept = before.how if before.what == "filter" else frozenset()
        below = before.inputs[0] if before.what == "filter" else old
        assert isinstance(after.how, frozenset) and isinstance(kept, frozenset)
        if self.difference(below, after.inputs[0]) is not None or not kept <= after.how:
            return None
        conditions = [self.new.conditions.get(meaning) for meaning in after.how - kept]
        return None if None in conditions else tuple(c for c in conditions if c is not None)

    def has_been_read(self, rows: RowSet) -> bool:
        """Whether rows of the new plan come from a table that the old plan reads."""
        return bool(self._known.tables(rows) & self._old_tables)

    def _of_unions(self, old: list[RowSet], new: list[RowSet]) -> Difference | None:
        added = list(new)
        removed = [rows for rows in old if not _taken_out(added, rows)]
        if removed:
            names = ", ".join(map(self._origin, removed))
            return Difference(f"the state has rows of {names}, which the query no longer reads", f"keep {names}")
        read_before = [rows for rows in added if self._known.tables(rows) & self._old_tables]
        if read_before:
            names = ", ".join(map(self._origin, read_before))
            return Difference(f"the state lacks rows of {names} that have been read", f"leave out {names}")
        return None

    def _united(self, rows: RowSet) -> list[RowSet]:
        """The inputs of a union."""
        described = self._known[rows]
        return list(described.inputs) if described.what == "union" else [rows]

    def _origin(self, rows: RowSet) -> str:
        """What to call rows: their tables."""
        return ", ".join(sorted(self._known.tables(rows))) or self._known[rows].what


def _taken_out(rows: list[RowSet], one: RowSet) -> bool:
    if one not in rows:
        return False
    rows.remove(one)
    return True


def _conditions(rows: Rows) -> Hashable:
    return rows.how if rows.what == "filter" else frozenset()
