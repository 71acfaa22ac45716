"""The entries of a state as flat columns: what tables have in keys, maps, lists and tuples, by the layout's values."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from time import time_ns
from typing import TYPE_CHECKING, Any

from ...plan.nodes.joins import BY_JOIN_KEY, ONE_ROW, ROWS_AND_WHETHER_JOINED
from ...plan.savepoint.layout import KeptState
from ...plan.types import LogicalType
from ...plan.types.parser import parse_type
from ...state.form import ROW_KIND, Column, Kind, StateError, StateTable
from ...state.form_arrow import arrow, struct_type, table_schema
from ...state.naming import Path, has_type, values_within

if TYPE_CHECKING:
    from pyarrow import Array, DataType, RecordBatch


_SORTED = "numbers in the order"
"""The beginning of the form of sorted maps, which are one value whose parts are not taken apart."""
_PAIR_PATH = 3
"""The length of the path of a value in a row that is the first part of a pair in a list."""
_BEHIND_JOIN_KEY = 1
"""The column of the row in a map key that is a join key and a row."""
_KEYED_OTHERWISE = ("rows by time", "rows in order", f"{ONE_ROW}{BY_JOIN_KEY}")
"""The beginnings of forms of maps whose keys are not among the layout's values."""


@dataclass(frozen=True)
class Flat:
    """Entries as columns of Arrow: ``rows`` of them.

    ``values`` are those of the state's layout.  ``rest_of_key`` and ``rest`` are further columns of the map key and of
    the value, such as the number of a row.  An entry that is a list of rows, or of rows with something beside them, is
    several rows here, which have the same number in ``entry`` and stand in the order of the list.
    """

    rows: int
    key: tuple[Array, ...]
    values: tuple[Array, ...]
    rest_of_key: tuple[Array, ...] = ()
    rest: tuple[Array, ...] = ()
    kind: Array | None = None
    namespace: Array | None = None
    accessed: Array | None = None
    position: Array | None = None
    entry: Array | None = None

    def take(self, indices: Array) -> Flat:
        """The rows at these indices."""

        def taken(columns: Iterable[Array]) -> tuple[Array, ...]:
            return tuple(column.take(indices) for column in columns)

        singles = {
            name: None if (column := getattr(self, name)) is None else column.take(indices)
            for name in ("kind", "namespace", "accessed", "position", "entry")
        }
        return Flat(
            len(indices), taken(self.key), taken(self.values), taken(self.rest_of_key), taken(self.rest), **singles
        )


def concatenated(parts: Sequence[Flat]) -> Flat | None:
    """The rows of several; ``None`` of none.  The numbers of entries go on from one to the next."""
    if not parts:
        return None
    pa = arrow()
    shifted, entries = [], 0
    for part in parts:
        if part.entry is not None:
            import pyarrow.compute as compute

            numbers = compute.add(part.entry, pa.scalar(entries, pa.int64()))
            entries = (compute.max(numbers).as_py() if part.rows else entries - 1) + 1
            part = replace(part, entry=numbers)
        shifted.append(part)

    def joined(columns: Iterable[Sequence[Array]]) -> tuple[Array, ...]:
        return tuple(pa.concat_arrays(list(each)) for each in zip(*columns, strict=True))

    first = shifted[0]
    singles = {
        name: None if getattr(first, name) is None else pa.concat_arrays([getattr(part, name) for part in shifted])
        for name in ("kind", "namespace", "accessed", "position", "entry")
    }
    return Flat(
        sum(part.rows for part in shifted),
        joined(part.key for part in shifted),
        joined(part.values for part in shifted),
        joined(part.rest_of_key for part in shifted),
        joined(part.rest for part in shifted),
        **singles,
    )


@dataclass(frozen=True)
class Shape:
    """Where the values of a state's layout stand in its table: paths by the number of the value."""

    table: StateTable
    in_key: dict[Path, int] = field(default_factory=dict)
    in_value: dict[Path, int] = field(default_factory=dict)

    @property
    def nested(self) -> int | None:
        """The column of the value that is a list of rows; ``None`` where there is none."""
        columns = (path[0] for path in self.in_value if len(path) > 1)
        return next((i for i in columns if parse_type(self.table.value[i].type).root == "ARRAY"), None)


def shape(table: StateTable, state: KeptState) -> Shape:
    """Where a state's values are.  Raises :class:`StateError` where the table does not have them."""
    if state.form.startswith(_SORTED):
        return Shape(table)
    within, value = _within_key(table, state), _within_value(table, state)
    width = len(state.values)
    has_own_key = not state.form.startswith(_KEYED_OTHERWISE)
    if has_own_key and len(within) <= width and _begins(state, [*within, *value]):
        in_key = {path: i for i, (path, _) in enumerate(within)}
        in_value = {path: len(within) + i for i, (path, _) in enumerate(value[: width - len(within)])}
        return Shape(table, in_key, in_value)
    if _begins(state, value):
        return Shape(table, {}, {path: i for i, (path, _) in enumerate(value[:width])})
    raise StateError(f"the state {table.name} does not have the values of the plan")


def _within_key(table: StateTable, state: KeptState) -> list[tuple[Path, LogicalType]]:
    """The values within a map key; where it is a join key and a row, those of the row."""
    if not state.form.endswith(BY_JOIN_KEY) or state.form.startswith(_KEYED_OTHERWISE):
        return values_within(table.map_key)
    row = parse_type(table.map_key[_BEHIND_JOIN_KEY].type)
    return [((_BEHIND_JOIN_KEY, i), t) for i, t in enumerate(row.field_types)]


def _within_value(table: StateTable, state: KeptState) -> list[tuple[Path, LogicalType]]:
    """The values within a value; where it is a list of pairs, those of the rows in them."""
    if state.form != ROWS_AND_WHETHER_JOINED:
        return values_within(table.value)
    row = parse_type(table.value[0].type).element.field_types[0]
    return [((0, 0, i), field.type) for i, field in enumerate(row.fields) if field.name != ROW_KIND]


def _begins(state: KeptState, columns: Sequence[tuple[Path, Any]]) -> bool:
    pairs = zip(state.values, columns, strict=False)
    return len(columns) >= len(state.values) and all(has_type(value, t) for value, (_, t) in pairs)


def flat(shape: Shape, batch: RecordBatch) -> Flat:
    """The rows of a batch of a table."""
    pa = arrow()
    table = shape.table
    columns = dict(zip(batch.schema.names, batch.columns, strict=True))
    values: dict[int, Array] = {}
    rest_of_key, _, _ = _parted(columns.get("map_key"), table.map_key, shape.in_key, values)
    rest, kinds, beside = _parted(columns["value"], table.value, shape.in_value, values)
    key = columns["key"].flatten() if table.key else []
    single = Flat(
        batch.num_rows,
        tuple(key),
        (),
        tuple(rest_of_key),
        tuple(rest),
        None,
        columns.get("namespace"),
        columns.get("accessed"),
        columns.get("position"),
    )
    if shape.nested is not None:
        lists = columns["value"].field(shape.nested)
        import pyarrow.compute as compute

        parents = compute.list_parent_indices(lists).cast(pa.int64())
        outer = set(shape.in_key.values())
        single = single.take(parents)
        single = replace(single, entry=parents, rest=(*single.rest, *beside))
        values = {i: array.take(parents) if i in outer else array for i, array in values.items()}
    ordered = tuple(values[i] for i in range(len(values)))
    return replace(single, values=ordered, kind=kinds[-1] if kinds else None)


def _parted(
    part: Array | None, columns: Sequence[Column], places: dict[Path, int], values: dict[int, Array]
) -> tuple[list[Array], list[Array], list[Array]]:
    """The columns that are not the layout's, the row kinds, and what stands beside rows in a list.

    ``values`` gets the columns of the layout.
    """
    rest: list[Array] = []
    kinds: list[Array] = []
    beside: list[Array] = []
    if part is None:
        return rest, kinds, beside
    for i, (column, array) in enumerate(zip(columns, part.flatten(), strict=True)):
        inner, is_in_pairs = _inner(places, i)
        if column.name == ROW_KIND:
            kinds.append(array)
        elif (i,) in places:
            values[places[(i,)]] = array
        elif inner:
            row = array.flatten() if parse_type(column.type).root == "ARRAY" else array
            if is_in_pairs:
                row, *beside = row.flatten()
            fields = row.flatten()
            values.update({number: fields[j] for j, number in inner.items()})
            kinds += [fields[j] for j in range(len(fields)) if row.type.field(j).name == ROW_KIND]
        else:
            rest.append(array)
    return rest, kinds, beside


def _inner(places: dict[Path, int], column: int) -> tuple[dict[int, int], bool]:
    """The numbers of the values in a row within a column, by their places, and whether the row is in a pair."""
    inner = {path[-1]: number for path, number in places.items() if len(path) > 1 and path[0] == column}
    return inner, any(len(path) == _PAIR_PATH and path[0] == column for path in places)


def batch_of(shape: Shape, rows: Flat) -> RecordBatch:
    """A batch of a table with these rows."""
    pa = arrow()
    table = shape.table
    schema = table_schema(table)
    starts, offsets = None, None
    if shape.nested is not None:
        starts, offsets = _runs(rows)
    outer = rows if starts is None else rows.take(starts)
    count = outer.rows
    keys = [fit(array, t) for array, t in zip(outer.key, _types(table.key), strict=True)]
    columns: dict[str, Array] = {"key": _struct(keys, table.key, count), "namespace": outer.namespace}
    if table.map_key:
        # keys within maps are insertions, whatever the row was that came last
        as_insertions = replace(outer, kind=None)
        columns["map_key"] = _built(table.map_key, shape.in_key, as_insertions, list(outer.rest_of_key), None, outer)
    columns["value"] = _built(table.value, shape.in_value, outer, list(outer.rest), offsets, rows)
    columns["accessed"] = outer.accessed if outer.accessed is not None else now(count)
    columns["position"] = outer.position
    arrays = []
    for wanted in schema:
        array = columns.get(wanted.name)
        if array is None:
            raise StateError(f"the state {table.name} needs {wanted.name}, which the old state has not")
        arrays.append(fit(array, wanted.type))
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def _runs(rows: Flat) -> tuple[Array, Array]:
    """The indices of the first rows of entries, and the offsets at which entries begin and end."""
    pa = arrow()
    import pyarrow.compute as compute

    if not rows.rows:
        return pa.array([], pa.int64()), pa.array([0], pa.int32())
    assert rows.entry is not None
    ends = compute.run_end_encode(rows.entry, run_end_type=pa.int64()).run_ends
    offsets = pa.concat_arrays([pa.array([0], pa.int64()), ends])
    return offsets.slice(0, len(offsets) - 1), offsets.cast(pa.int32())


def _types(columns: Sequence[Column]) -> list[DataType]:
    return [field.type for field in struct_type(columns)]


def _struct(arrays: list[Array], columns: Sequence[Column], count: int) -> Array:
    pa = arrow()
    t = struct_type(columns)
    return pa.StructArray.from_arrays(arrays, fields=list(t)) if arrays else pa.array([{}] * count, t)


def _built(
    columns: Sequence[Column],
    places: dict[Path, int],
    outer: Flat,
    rest: list[Array],
    offsets: Array | None,
    rows: Flat,
) -> Array:
    pa = arrow()
    built = []
    for i, (column, t) in enumerate(zip(columns, _types(columns), strict=True)):
        inner, is_in_pairs = _inner(places, i)
        if column.name == ROW_KIND:
            built.append(_kinds(outer))
        elif (i,) in places:
            built.append(_checked(fit(outer.values[places[(i,)]], t), column))
        elif inner:
            is_list = pa.types.is_list(t)
            held = rows if is_list else outer
            whole = t.value_type if is_list else t
            fields = list(whole.field(0).type if is_in_pairs else whole)
            arrays = [
                _kinds(held) if f.name == ROW_KIND else fit(held.values[inner[j]], f.type) for j, f in enumerate(fields)
            ]
            row = pa.StructArray.from_arrays(arrays, fields=fields)
            if is_in_pairs:
                row = pa.StructArray.from_arrays([row, *rows.rest], fields=list(whole))
            built.append(pa.ListArray.from_arrays(offsets, row, type=t) if is_list else row)
        elif rest:
            built.append(fit(rest.pop(0), t))
        else:
            built.append(pa.nulls(outer.rows, t))
    return _struct(built, columns, outer.rows)


def _kinds(rows: Flat) -> Array:
    pa = arrow()
    return pa.repeat(pa.scalar(0, pa.int8()), rows.rows) if rows.kind is None else fit(rows.kind, pa.int8())


def _checked(array: Array, column: Column) -> Array:
    if array.null_count and " NOT NULL" in column.type and not parse_type(column.type).nullable:
        raise StateError(f"{column.name} is NOT NULL in the new plan, and the state has NULL")
    return array


def fit(array: Array, t: DataType) -> Array:
    """Values in another type that holds them; fields of rows by their position.  Sums wrap as Flink's do."""
    pa = arrow()
    if array.type == t:
        return array
    if pa.types.is_struct(t) and pa.types.is_timestamp(array.type):
        return _split_time(array, t)
    if pa.types.is_struct(t) and pa.types.is_struct(array.type) and array.type.num_fields == t.num_fields:
        mask = array.is_null() if array.null_count else None
        fields = [fit(array.field(i), t.field(i).type) for i in range(t.num_fields)]
        return pa.StructArray.from_arrays(fields, fields=list(t), mask=mask)
    if pa.types.is_list(t) and pa.types.is_list(array.type):
        inner = fit(array.values, t.value_type)
        mask = array.is_null() if array.null_count else None
        return pa.ListArray.from_arrays(array.offsets, inner, type=t, mask=mask)
    try:
        return array.cast(t, safe=False) if pa.types.is_integer(t) else array.cast(t)
    except (pa.ArrowException, ValueError) as e:
        raise StateError(f"values do not fit into their new type: {e}") from None


def _split_time(array: Array, t: DataType) -> Array:
    """A timestamp as milliseconds and nanoseconds within them."""
    pa = arrow()
    import pyarrow.compute as compute

    micros = array.cast(pa.timestamp("us", array.type.tz)).cast(pa.int64())
    millis = compute.floor(compute.divide(micros.cast(pa.float64()), 1000.0)).cast(pa.int64())
    nanos = compute.multiply(compute.subtract(micros, compute.multiply(millis, 1000)), 1000)
    return pa.StructArray.from_arrays([millis, nanos.cast(pa.int32())], fields=list(t), mask=array.is_null())


def now(rows: int) -> Array:
    """The time of the last access of entries that have had none: they live as long as the TTL from now on."""
    pa = arrow()
    return pa.repeat(pa.scalar(time_ns() // 1_000_000, pa.timestamp("ms", "UTC")), rows)


def is_keyed_data(table: StateTable) -> bool:
    """Whether a table holds entries by key that are no timers."""
    return table.kind in (Kind.VALUE, Kind.LIST, Kind.MAP)
