"""Small states in the neutral form, with the tables that Flink's operators have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

from flinkplan.compat.migration.migrated import MigratedState
from flinkplan.compat.migration.planning import plan_migration
from flinkplan.plan.document import Plan
from flinkplan.plan.nodes import ExecNode
from flinkplan.plan.savepoint.layout import KeptState, Value
from flinkplan.plan.uids import Uids
from flinkplan.state.form import ROW_KIND, Column, JobState, Kind, Manifest, OperatorState, StateTable
from flinkplan.state.form_arrow import table_schema
from flinkplan.state.operators import operators_of

Rows = Sequence[Mapping[str, Any]]
Row = tuple[Any, ...]
Entries = list[tuple[Row, Row, Row]]
"""Of each entry of a state the key, the map key and the value."""
_KIND = Column(ROW_KIND, "TINYINT")


def _columns(values: Sequence[Value]) -> tuple[Column, ...]:
    return tuple(Column(f"f{i}", "INT" if v.type == "distinct values" else v.type) for i, v in enumerate(values))


def _row(values: Sequence[Value]) -> str:
    fields = ", ".join(f"`{c.name}` {c.type}" for c in (*_columns(values), _KIND))
    return f"ROW<{fields}>"


def _table(number: int, key: Sequence[Value], state: KeptState, sort_columns: int, namespace: str) -> StateTable:
    """The table of a state of this form."""
    own_key, form, values = _columns(key), state.form, state.values
    windows: dict[str, Any] = {}
    if namespace:
        windows = {"namespace": (Column("end", "BIGINT"),), "namespace_kind": "window end"}
    if form.startswith("rows with a number"):
        numbers = ("f0", "f1") if "met" in form else ("value",)
        value = tuple(Column(name, "INT") for name in numbers)
        return StateTable(number, state.name, Kind.MAP, own_key, map_key=(*_columns(values), _KIND), value=value)
    if form == "rows by the order":
        sort_key = (*_columns(values[:sort_columns]), _KIND)
        rows = (Column("value", f"ARRAY<{_row(values[sort_columns:])}>"),)
        return StateTable(number, state.name, Kind.MAP, own_key, map_key=sort_key, value=rows)
    if form == "rows by time":
        rows = (Column("value", f"ARRAY<{_row(values)}>"),)
        return StateTable(number, state.name, Kind.MAP, own_key, map_key=(Column("value", "BIGINT"),), value=rows)
    if form == "a number":
        return StateTable(number, state.name, Kind.VALUE, own_key, value=(Column("value", "BIGINT"),))
    return StateTable(number, state.name, Kind.VALUE, own_key, value=(*_columns(values), _KIND), **windows)


def operator(plan: Plan, node: ExecNode, further: Sequence[str] = ()) -> OperatorState:
    """The operator of a node with empty tables; ``further`` are states with a number for each key."""
    inputs = [source.fields for source in plan.inputs(node)]
    layout = node.layout(inputs)
    assert layout is not None
    key = layout.key[: len(layout.key) // 2] if layout.transformation == "join" else layout.key
    sort_columns = len(node.order_by.fields) if hasattr(node, "order_by") else 0
    states = [*layout.states, *(KeptState(name, form="a number") for name in further)]
    tables = tuple(_table(i, key, s, sort_columns, layout.namespace) for i, s in enumerate(states))
    return OperatorState(tables, uid=f"{node.id}_{layout.transformation}")


def keeper(plan: Plan) -> ExecNode:
    """The only node with keyed state."""
    (node,) = [n for n in plan.nodes if n.is_stateful and n.layout([i.fields for i in plan.inputs(n)]) is not None]
    return node


class Given(JobState):
    """State with these rows by the names of states; a row kind is added where a row has none."""

    def __init__(self, own: OperatorState, rows: Mapping[str, Rows]) -> None:
        self._manifest = Manifest("flink", (own,))
        self._rows = {table.table: rows.get(table.name, ()) for table in own.states}

    @property
    def manifest(self) -> Manifest:
        return self._manifest

    def batches(self, table: StateTable) -> Iterator[pa.RecordBatch]:
        yield pa.RecordBatch.from_pylist(list(self._rows[table.table]), schema=table_schema(table))


class Job(JobState):
    """The state of all operators of a plan: entries by the UIDs of operators and the names of states."""

    def __init__(self, plan: Plan, entries: Mapping[str, Mapping[str, Entries]]) -> None:
        self._manifest = Manifest("flink", operators_of(plan, Uids()))
        self._entries = {
            table.table: entries.get(operator.uid or "", {}).get(table.name, [])
            for operator, table in self._manifest.tables()
        }

    @property
    def manifest(self) -> Manifest:
        return self._manifest

    def batches(self, table: StateTable) -> Iterator[pa.RecordBatch]:
        schema = table_schema(table)
        parts = [schema.field(name) for name in ("key", "map_key", "value") if name in schema.names]
        rows = [
            {field.name: _named(field.type, part) for field, part in zip(parts, entry, strict=True)}
            for entry in self._entries[table.table]
        ]
        yield pa.RecordBatch.from_pylist(rows, schema=schema)


def _named(t: pa.DataType, values: Row) -> dict[str, Any]:
    """A row by the names of its fields, as an insertion; rows within it as well."""
    nested = [_named(t.field(i).type, v) if isinstance(v, tuple) else v for i, v in enumerate(values)]
    return dict(zip([t.field(i).name for i in range(t.num_fields)], [*nested, 0], strict=False))


def entries_of(state: JobState, table: StateTable) -> Entries:
    """The entries of a state; keys within maps are insertions."""
    rows = [row for batch in state.batches(table) for row in batch.to_pylist()]
    assert all(row.get("map_key", {}).get(ROW_KIND, 0) == 0 for row in rows)
    return [tuple(plain(row[part]) for part in ("key", "map_key", "value") if part in row) for row in rows]


def migrated(old: Plan, new: Plan, rows: Mapping[str, Rows], further: Sequence[str] = ()) -> dict[str, list[Any]]:
    """The rows of each new state, made from these rows of the old ones."""
    return made(old, new, (keeper(old), keeper(new)), rows, further)


def made(
    old: Plan, new: Plan, keepers: tuple[ExecNode, ExecNode], rows: Mapping[str, Rows], further: Sequence[str] = ()
) -> dict[str, list[Any]]:
    """The rows of the states of a new node, made from these rows of the states of an old one."""
    given = Given(operator(old, keepers[0], further), rows)
    template = operator(new, keepers[1], further)
    state = MigratedState(given, (old, new), plan_migration(old, new), [template])
    found: dict[str, list[Any]] = {}
    for owner, table in state.manifest.tables():
        if owner.uid != template.uid:
            continue
        found[table.name] = [plain(row) for batch in state.batches(table) for row in batch.to_pylist()]
    return found


def plain(value: Any) -> Any:
    """A value without row kinds, rows as tuples."""
    if isinstance(value, dict):
        return tuple(plain(item) for name, item in value.items() if name != ROW_KIND)
    return [plain(item) for item in value] if isinstance(value, list) else value


def row(*values: Any) -> dict[str, Any]:
    """A row, an insertion."""
    return {**{f"f{i}": value for i, value in enumerate(values)}, ROW_KIND: 0}


def key(*values: Any) -> dict[str, Any]:
    """A key."""
    return {f"f{i}": value for i, value in enumerate(values)}
