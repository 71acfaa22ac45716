"""Relational algebra over columns of Arrow: groups, ranks, and look-ups in which NULL is a key."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...state.form import StateError
from ...state.form_arrow import arrow

if TYPE_CHECKING:
    from pyarrow import Array, Table


def compute() -> Any:
    """The module ``pyarrow.compute``."""
    arrow()
    import pyarrow.compute

    return pyarrow.compute


def counted(rows: int) -> Array:
    """The numbers from 0 to one below ``rows``."""
    pa = arrow()
    if not rows:
        return pa.array([], pa.int64())
    return compute().subtract(compute().cumulative_sum(pa.repeat(pa.scalar(1, pa.int64()), rows)), 1)


def comparable(columns: Sequence[Array]) -> list[Array]:
    """Columns that can be sorted, grouped and joined by, two for each: whether it is NULL, and the value without NULL.

    Raises :class:`StateError` for values that have no order, such as rows.
    """
    pa = arrow()
    parts = []
    for column in columns:
        if pa.types.is_struct(column.type) and [f.name for f in column.type] == ["millis", "nanos"]:
            parts += [column.is_null(), *(compute().fill_null(column.field(i), 0) for i in (0, 1))]
            continue
        if pa.types.is_nested(column.type):
            raise StateError("state by a key that is a row, an array or a map cannot be migrated")
        parts += [column.is_null(), _filled(column)]
    return parts


def _filled(column: Array) -> Array:
    pa = arrow()
    if pa.types.is_null(column.type):
        return pa.repeat(pa.scalar(0, pa.int8()), len(column))
    if not column.null_count:
        return column
    t = column.type
    empty: Any = 0
    if pa.types.is_string(t) or pa.types.is_large_string(t):
        empty = ""
    elif pa.types.is_binary(t):
        empty = b""
    elif pa.types.is_boolean(t):
        empty = False
    filler = pa.scalar(empty, t) if isinstance(empty, str | bytes | bool) else pa.scalar(empty, pa.int64()).cast(t)
    return compute().fill_null(column, filler)


def table_of(columns: Sequence[Array], prefix: str = "k") -> Table:
    """A table with columns ``k0``, ``k1`` …"""
    return arrow().table({f"{prefix}{i}": column for i, column in enumerate(columns)})


def looked_up(wanted: Sequence[Array], rows: int, known: Sequence[Array], values: Array) -> Array:
    """For each key of ``wanted`` the value of this key among ``known``, whose keys are distinct; NULL if there is none.

    There are so many ``rows`` of ``wanted``, which may have no columns.  NULL in a key is equal to NULL.
    """
    pa = arrow()
    if not wanted:
        return pa.repeat(values[0], rows) if len(values) else pa.nulls(rows, values.type)
    left, right = table_of(comparable(wanted)), table_of(comparable(known))
    names = left.column_names
    left = left.append_column("row", counted(rows))
    right = right.append_column("value", values)
    joined = left.join(right, names, join_type="left outer").sort_by("row")
    return joined["value"].combine_chunks()


def pairs(own: Sequence[Array], rows: int, other: Sequence[Array], other_rows: int) -> tuple[Array, Array]:
    """The indices of all pairs of rows with the same key, of so many rows each; NULL is equal to NULL."""
    pa = arrow()
    if not own:
        indices = [(i, j) for i in range(rows) for j in range(other_rows)]
        return pa.array([i for i, _ in indices], pa.int64()), pa.array([j for _, j in indices], pa.int64())
    left, right = table_of(comparable(own)), table_of(comparable(other))
    names = left.column_names
    left = left.append_column("own", counted(rows))
    right = right.append_column("other", counted(other_rows))
    joined = left.join(right.cast(_same_keys(right, left)), names, join_type="inner").sort_by("own")
    return joined["own"].combine_chunks(), joined["other"].combine_chunks()


def _same_keys(table: Table, wanted: Table) -> Any:
    """The schema of a table with the types of the same columns of another one."""
    names = wanted.column_names
    return arrow().schema(
        [f.with_type(wanted.schema.field(f.name).type) if f.name in names else f for f in table.schema]
    )


def grouped(keys: Sequence[Array], values: dict[str, Array], functions: dict[str, str]) -> tuple[Array, Table]:
    """Groups of rows by keys: the index of the first row of each group, and for each value its aggregate."""
    rows = len(next(iter(values.values())))
    columns = {f"k{i}": column for i, column in enumerate(comparable(keys))}
    table = arrow().table({**columns, **values, "row": counted(rows)})
    aggregates = [("row", "min"), *functions.items()]
    result = table.group_by(list(columns), use_threads=False).aggregate(aggregates)
    return result["row_min"].combine_chunks(), result


def sorted_indices(columns: Sequence[tuple[Array, bool, bool]]) -> Array:
    """The indices of rows in an order: columns, whether each is ascending, and whether NULL comes last.

    Rows that are equal stay in their order.
    """
    pa = arrow()
    arrays: dict[str, Array] = {}
    keys = []
    rows = 0
    for i, (column, ascending, null_last) in enumerate(columns):
        null, *parts = comparable([column])
        rows = len(column)
        arrays[f"n{i}"] = null.cast(pa.int8())
        keys.append((f"n{i}", "ascending" if null_last else "descending"))
        for j, part in enumerate(parts):
            arrays[f"c{i}_{j}"] = part
            keys.append((f"c{i}_{j}", "ascending" if ascending else "descending"))
    arrays["row"] = counted(rows)
    keys.append(("row", "ascending"))
    return compute().sort_indices(pa.table(arrays), sort_keys=keys)


def run_numbers(columns: Sequence[Array], rows: int) -> Array:
    """Numbers of runs of equal rows: 0 for the first run, 1 for the next …"""
    pa = arrow()
    if rows == 0:
        return pa.array([], pa.int64())
    changed = pa.repeat(pa.scalar(False), rows - 1)
    for part in comparable(columns):
        differs = compute().not_equal(part.slice(1), part.slice(0, rows - 1))
        changed = compute().or_(changed, compute().fill_null(differs, True))
    steps = pa.concat_arrays([pa.array([0], pa.int64()), changed.cast(pa.int64())])
    return compute().cumulative_sum(steps)


def places_in_runs(runs: Array) -> tuple[Array, Array]:
    """The place of each row within its run, from 0, and the length of each row's run."""
    pa = arrow()
    rows = len(runs)
    if rows == 0:
        return pa.array([], pa.int64()), pa.array([], pa.int64())
    ends = compute().run_end_encode(runs, run_end_type=pa.int64()).run_ends
    starts = pa.concat_arrays([pa.array([0], pa.int64()), ends.slice(0, len(ends) - 1)])
    lengths = compute().subtract(ends, starts)
    indices = counted(rows)
    return compute().subtract(indices, starts.take(runs)), lengths.take(runs)
