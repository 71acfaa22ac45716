"""Names for the columns of a savepoint's tables: Flink writes positions, the plan knows what stands there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from ..plan.accumulator_columns import parts
from ..plan.document import Plan, dumps
from ..plan.errors import PlanError, UnsupportedError
from ..plan.names import node_names
from ..plan.nodes import ExecNode
from ..plan.record import Record, cached_property, replace
from ..plan.savepoint.accumulators import accumulator_names
from ..plan.savepoint.layout import Argument, Inputs, KeptState, Layout, Part, Value
from ..plan.savepoint.layout import Column as InputColumn
from ..plan.types import LogicalType, RowField
from ..plan.types.parser import parse_type
from .form import ROW_KIND, VALUE, Column, JobState, Manifest, OperatorState, Origin, StateTable
from .form_arrow import arrow, table_schema

if TYPE_CHECKING:
    from pyarrow import RecordBatch

_VIEW = "distinct_values"
"""The name of the placeholder of the values that DISTINCT has seen, which stand in states of their own."""
_MET = "how many each has met"
"""What the form of a state of outer joins says: beside a row's number stands how many rows it was joined with."""

Path = tuple[int, ...]
"""Where a value stands: the number of a column, then those of fields within rows."""


class NamedState(JobState):
    """State whose columns have the names of the plan; ``holders`` are the plan's nodes by the UIDs of operators."""

    def __init__(self, state: JobState, plan: Plan, holders: Mapping[str, ExecNode]) -> None:
        self._state = state
        self._plan = plan
        self._holders = holders

    @cached_property
    def manifest(self) -> Manifest:
        """What the state consists of, with the nodes of operators and the names and origins of columns."""
        manifest = self._state.manifest
        operators = tuple(self._named(operator) for operator in manifest.operators)
        return replace(manifest, operators=operators, has_plan=True)

    @property
    def plan_text(self) -> str:
        return dumps(self._plan)

    def batches(self, table: StateTable) -> Iterator[RecordBatch]:
        schema = table_schema(table)
        for batch in self._state.batches(self._unnamed[table.table]):
            columns = [array.view(field.type) for array, field in zip(batch.columns, schema, strict=True)]
            yield arrow().RecordBatch.from_arrays(columns, schema=schema)

    @cached_property
    def _unnamed(self) -> Mapping[int, StateTable]:
        return {table.table: table for _, table in self._state.manifest.tables()}

    def _named(self, operator: OperatorState) -> OperatorState:
        node = self._holders.get(operator.uid or "")
        if node is None:
            return operator
        inputs = [source.fields for source in self._plan.inputs(node)]
        states = named_tables(operator.states, node, inputs)
        return replace(operator, states=states, node=node.id, name=node_names(self._plan)[node.id])


def named_tables(tables: Sequence[StateTable], node: ExecNode, inputs: Inputs) -> tuple[StateTable, ...]:
    """The tables of a node's operator with the names and origins of their columns, as far as they are known."""
    layout = node.layout(inputs)
    if layout is None:
        return tuple(tables)
    names = _Names(node, inputs)
    kept = {state.name: state for state in layout.states}
    key = names.keys(layout)
    named = []
    for table in tables:
        if len(key) == len(table.key):
            table = replace(table, key=_renamed(table.key, {(i,): each for i, each in enumerate(key)}))
        state = kept.get(table.name)
        named.append(table if state is None else _with_names(table, state, names))
    return tuple(named)


class _Description(Record):
    name: str
    origin: Origin | None


class _Names:
    """What the values of a node's states are called."""

    def __init__(self, node: ExecNode, inputs: Inputs) -> None:
        self._node = node
        self._inputs = inputs

    def described(self, value: Value) -> _Description:
        match value.origin:
            case InputColumn(side, index):
                name = self._inputs[side][index].name
                return _Description(name, Origin(input=side, column=name))
            case Argument(index):
                name = self._column(index)
                return _Description(name, Origin(input=0, column=name))
            case Part(call, number):
                (name,) = accumulator_names([call], self._arguments)
                origin = Origin(call=self._number(value.origin), part=number)
                return _Description(name + self._part(value.origin), origin)
        return _Description(_VIEW if value.type == "distinct values" else "", None)

    def keys(self, layout: Layout) -> list[_Description]:
        """What the columns of the key are called: those of the first input, where both sides of a join have one."""
        described = [self.described(value) for value in layout.key]
        columns = (self._node.key_columns() or ((),))[0]
        if len(columns) != len(described) or not self._inputs:
            return described
        fields = self._inputs[0]
        return [
            each if each.name or index >= len(fields) else _Description(fields[index].name, None)
            for each, index in zip(described, columns, strict=True)
        ]

    @property
    def _arguments(self) -> Sequence[RowField]:
        """The columns that aggregate calls read: those of the first phase, where there are two."""
        local: LogicalType | None = getattr(self._node, "local_agg_input_row_type", None)
        return self._inputs[0] if local is None else local.fields

    def _column(self, index: int) -> str:
        fields = self._arguments
        return fields[index].name if index < len(fields) else ""

    def _number(self, part: Part) -> int | None:
        calls = getattr(self._node, "agg_calls", ())
        return calls.index(part.call) if part.call in calls else None

    def _part(self, part: Part) -> str:
        """What the name of a part ends with: nothing where an accumulator has but one."""
        types = [field.type for field in self._arguments]
        for retracts in (True, False):
            try:
                own = parts(part.call, retracts, types)
            except (UnsupportedError, IndexError):
                return f"_{part.number}" if part.number else ""
            if part.number < len(own) and len(own) > 1:
                return f"_{own[part.number][0]}"
        return ""


def _with_names(table: StateTable, state: KeptState, names: _Names) -> StateTable:
    """A table with the names of a state's values, if their types are those of its columns."""
    within, value = values_within(table.map_key), values_within(table.value)
    shift = len(table.map_key)
    for places in ([*within, *(((p[0] + shift, *p[1:]), t) for p, t in value)], None):
        chosen = value if places is None else places
        if len(chosen) >= len(state.values) and all(
            has_type(kept, t) for kept, (_, t) in zip(state.values, chosen, strict=False)
        ):
            found = {path: names.described(v) for v, (path, _) in zip(state.values, chosen, strict=False)}
            if places is None:
                return replace(table, value=_renamed(table.value, found))
            of_value = {(p[0] - shift, *p[1:]): d for p, d in found.items() if p[0] >= shift}
            if _MET in state.form and len(table.value) == 2 and (1,) not in of_value:
                of_value = {(0,): _Description("number", None), **of_value, (1,): _Description("met", None)}
            of_key = {p: d for p, d in found.items() if p[0] < shift}
            return replace(table, map_key=_renamed(table.map_key, of_key), value=_renamed(table.value, of_value))
    return table


def values_within(columns: Sequence[Column]) -> list[tuple[Path, LogicalType]]:
    """The values of columns in order, rows and lists of rows taken apart."""
    found: list[tuple[Path, LogicalType]] = []
    for i, column in enumerate(columns):
        if column.name != ROW_KIND:
            found += _within((i,), parse_type(column.type), is_row=column.name in (VALUE, "f0"))
    return found


def _within(path: Path, t: LogicalType, is_row: bool) -> Iterator[tuple[Path, LogicalType]]:
    row = t.element if t.root == "ARRAY" else t
    if is_row and row.root == "ROW" and ROW_KIND in row.field_names:
        for i, field in enumerate(row.fields):
            if field.name != ROW_KIND:
                yield (*path, i), field.type
    else:
        yield path, t


def has_type(value: Value, t: LogicalType) -> bool:
    """Whether a value may stand in a column of a type; placeholders of views and what SQL has no type for may."""
    if value.type == t.root:  # without a length, in which serializers of single texts do not differ
        return True
    try:
        expected = parse_type(value.type)
    except PlanError:
        return True
    return str(expected.nullable_throughout()) == str(t.nullable_throughout())


def _renamed(columns: Sequence[Column], found: Mapping[Path, _Description]) -> tuple[Column, ...]:
    """Columns under other names; a name that is there already gets a number."""
    taken: Counter[str] = Counter(c.name for i, c in enumerate(columns) if (i,) not in found)
    renamed = []
    for i, column in enumerate(columns):
        own = found.get((i,))
        if own is not None and own.name:
            taken[own.name] += 1
            name = own.name if taken[own.name] == 1 else f"{own.name}_{taken[own.name]}"
            column = replace(column, name=name, origin=own.origin)
        nested = {path[1]: each.name for path, each in found.items() if len(path) == 2 and path[0] == i and each.name}
        if nested and len(set(nested.values())) == len(nested):
            column = replace(column, type=str(_with_fields(parse_type(column.type), nested)))
        renamed.append(column)
    return tuple(renamed)


def _with_fields(t: LogicalType, names: Mapping[int, str]) -> LogicalType:
    if t.root == "ARRAY":
        return replace(t, children=(_with_fields(t.element, names),))
    return replace(t, fields=tuple(replace(f, name=names.get(i, f.name)) for i, f in enumerate(t.fields)))
