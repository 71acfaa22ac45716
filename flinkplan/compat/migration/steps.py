"""Applies the steps of recipes to entries."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ...plan.nodes.joins import ONE_ROW
from ...plan.savepoint.layout import KeptState
from ...state.form import StateError, StateTable
from ...state.form_arrow import arrow
from .conditions import computed
from .flat import Flat, Shape, batch_of, concatenated, fit, flat, shape
from .interval_steps import by_time
from .joins import COUNTS_MATCHES
from .kept_rows import accumulated, counted_values, evaluated
from .recipe_steps import (
    Accumulate,
    CountedValues,
    FirstRows,
    Frame,
    Initial,
    IntervalRows,
    JoinRows,
    Merge,
    MergeSlices,
    NullIfZero,
    OfSibling,
    OfView,
    Project,
    SortedKeys,
    Step,
    Stored,
    Taken,
    ValueSource,
    ZeroIfKeyIsNull,
    ZeroIfNull,
)
from .relational import compute, counted, grouped, looked_up, pairs, places_in_runs, run_numbers, sorted_indices
from .slice_steps import resliced

if TYPE_CHECKING:
    from pyarrow import Array, RecordBatch

_ROWS_IN_BATCH = 16_384


class NotDerivableError(StateError):
    """State that turns out not to be enough for the new query (exit code 1)."""

    exit_code = 1


class Source:
    """The states of an old operator: tables by name, their layouts, and their batches."""

    def __init__(
        self,
        tables: Mapping[str, StateTable],
        layouts: Mapping[str, KeptState],
        batches: Callable[[StateTable], Iterator[RecordBatch]],
        others: Callable[[int, str], Source] | None = None,
        watermark: Callable[[], int | None] = lambda: None,
        parallelism: int = 1,
    ) -> None:
        self.tables, self.layouts = tables, layouts
        self._batches = batches
        self._others = others
        self.watermark = watermark
        self.parallelism = parallelism
        """In how many subtasks the old job ran at most."""

    def other(self, node: int, operator: str) -> Source:
        """The states of another old operator, by its node and its transformation."""
        assert self._others is not None
        return self._others(node, operator)

    def parts(self, name: str) -> Iterator[Flat]:
        """The entries of a state, some at a time."""
        table = self.tables.get(name)
        if table is None:
            return
        layout = self.layouts.get(name) or KeptState(name)
        where = shape(table, layout)
        for batch in self._batches(table):
            yield flat(where, batch)

    def stored(self, stored: Stored) -> Flat | None:
        """All entries of a state of any old operator; ``None`` if there are none."""
        return self.other(stored.node, stored.operator).whole(stored.state)

    def whole(self, name: str) -> Flat | None:
        """All entries of a state; ``None`` if there are none."""
        return concatenated([part for part in self.parts(name) if part.rows])


class Target:
    """A new state: its table and its layout."""

    def __init__(self, table: StateTable, layout: KeptState) -> None:
        self.table, self.layout = table, layout
        self.shape: Shape = shape(table, layout)

    def batches(self, rows: Flat | None) -> Iterator[RecordBatch]:
        """Batches of the table with these rows."""
        if rows is not None and rows.rows:
            yield batch_of(self.shape, rows)


def _projected(step: Project, source: Source, target: Target) -> Iterator[RecordBatch]:
    for part in source.parts(step.state):
        values = tuple(_value(each, part, source) for each in step.values)
        key = tuple(part.key[i] for i in step.key)
        rest = part.rest
        if step.number is not None:
            rest = (arrow().repeat(arrow().scalar(step.number, arrow().int64()), part.rows),)
        yield from target.batches(replace(part, key=key, values=values, rest=rest))


def _value(source: ValueSource, rows: Flat, states: Source) -> Array:
    """A value of each entry."""
    pa = arrow()
    match source:
        case Taken("", place):
            return rows.key[place]
        case Taken(_, place):
            return rows.values[place]
        case Initial(None):
            return pa.nulls(rows.rows)
        case Initial(value):
            return pa.repeat(pa.scalar(value, pa.int64()), rows.rows)
        case ZeroIfNull(value):
            array = _value(value, rows, states)
            return compute().fill_null(array, pa.scalar(0, pa.int64()).cast(array.type))
        case NullIfZero(value, count):
            array, counts = _value(value, rows, states), _value(count, rows, states)
            return compute().if_else(compute().equal(counts, 0), pa.scalar(None, array.type), array)
        case ZeroIfKeyIsNull(value, key):
            array = _value(value, rows, states)
            return compute().if_else(_value(key, rows, states).is_null(), pa.scalar(0, array.type), array)
        case OfSibling(node, operator, state, place, key, own_key):
            other = states.other(node, operator).whole(state)
            if other is None:
                return pa.nulls(rows.rows)
            known = [fit(other.key[i], rows.key[j].type) for i, j in zip(own_key, key, strict=True)]
            return looked_up([rows.key[i] for i in key], rows.rows, known, other.values[place])
        case OfView(state, function, within):
            array = _of_view(state, function, rows, states)
            if within is None:
                return array
            whole = _value(within, rows, states)
            fields = [fit(array, whole.type.field(0).type), *(whole.field(i) for i in range(1, whole.type.num_fields))]
            return pa.StructArray.from_arrays(fields, fields=list(whole.type))


def _of_view(state: str, function: str, rows: Flat, states: Source) -> Array:
    """An aggregate of what a view keeps of the key of each entry."""
    pa = arrow()
    starts_with_zero = function in ("count", "sum or zero")
    view = states.whole(state)
    if view is None:
        return pa.repeat(pa.scalar(0, pa.int64()), rows.rows) if starts_with_zero else pa.nulls(rows.rows)
    (array,) = view.values or view.rest_of_key
    if function == "count":
        array = pa.repeat(pa.scalar(1, pa.int64()), view.rows)
    elif function.startswith("sum") and pa.types.is_integer(array.type):
        array = array.cast(pa.int64())
    name = "sum" if function == "count" else function.partition(" ")[0]
    first, result = grouped(view.key, {"value": array}, {"value": name})
    found = looked_up(rows.key, rows.rows, [k.take(first) for k in view.key], result[f"value_{name}"].combine_chunks())
    return compute().fill_null(found, pa.scalar(0).cast(found.type)) if starts_with_zero else found


def _merged(step: Merge, source: Source, target: Target) -> Iterator[RecordBatch]:
    rows = source.whole(step.state)
    if rows is None:
        return
    key = [rows.key[i] for i in step.key]
    values = {f"v{i}": _value(each, rows, source) for i, each in enumerate(step.values)}
    functions = {f"v{i}": function for i, function in enumerate(step.functions)}
    if rows.accessed is not None:
        values["accessed"], functions["accessed"] = rows.accessed, "max"
    first, result = grouped(key, values, functions)
    indices = first
    merged = tuple(
        _same_type(result[f"v{i}_{function}"].combine_chunks(), values[f"v{i}"])
        for i, function in enumerate(step.functions)
    )
    accessed = None if rows.accessed is None else result["accessed_max"].combine_chunks()
    yield from target.batches(Flat(len(first), tuple(each.take(indices) for each in key), merged, accessed=accessed))


def _resliced(step: MergeSlices, source: Source, target: Target) -> Iterator[RecordBatch]:
    rows = source.whole(step.state)
    watermark = source.watermark()
    if not step.old.keeps_all_of(step.new, watermark):
        raise NotDerivableError(
            "windows that have not fired have slices that have, which are not kept any more",
            hint="keep the size, the slide and the offset of the windows",
        )
    if rows is None:
        return
    assert rows.namespace is not None
    key = [rows.key[i] for i in step.key]
    values = [_value(each, rows, source) for each in step.values]
    yield from target.batches(resliced(step, key, values, rows.namespace.field(0), watermark))


def _same_type(merged: Array, original: Array) -> Array:
    return fit(merged, original.type) if arrow().types.is_integer(original.type) else merged


def _joined(step: JoinRows, source: Source, target: Target) -> Iterator[RecordBatch]:
    needs_all = step.rows is not None or step.counts_matches or step.form != step.old_form or _may_merge(step, source)
    parts = [_whole(step, source)] if needs_all else (_filtered(step, part) for part in source.parts(step.state))
    for part in parts:
        if part is not None and part.rows:
            yield from target.batches(_joined_rows(step, part, source, needs_all))


def _whole(step: JoinRows, source: Source) -> Flat | None:
    """All rows of an input of a join."""
    if step.rows is None:
        rows = source.whole(step.state)
        return None if rows is None else _filtered(step, rows)
    found = evaluated(step.rows, source.stored)
    if found is None:
        return None
    pa = arrow()
    numbers = pa.repeat(pa.scalar(1, pa.int32()), found.rows) if found.numbers is None else found.numbers
    return Flat(found.rows, (), tuple(found.columns), rest=(numbers,), accessed=found.accessed)


def _filtered(step: JoinRows, rows: Flat) -> Flat:
    """The rows that meet the new filters."""
    for condition in step.filters:
        meets = compute().fill_null(computed(condition, rows.values, rows.rows), False)
        rows = rows.take(counted(rows.rows).filter(meets))
    return rows


def _may_merge(step: JoinRows, source: Source) -> bool:
    """Whether rows that differ in dropped columns alone become one."""
    layout = source.layouts[step.state]
    return len(set(step.values)) < len(layout.values)


def _numbers(form: str, rows: Flat) -> Array:
    """How often each row is there."""
    pa = arrow()
    return rows.rest[0] if "with a number" in form else pa.repeat(pa.scalar(1, pa.int32()), rows.rows)


def _joined_rows(step: JoinRows, part: Flat, source: Source, needs_all: bool) -> Flat:
    """The rows of a side with their new columns, keys, and numbers."""
    pa = arrow()
    row = [part.values[i] for i in step.values]
    numbers = _numbers(step.old_form, part)
    matches = part.rest[-1] if step.keeps_matches else None
    accessed = part.accessed
    kind = part.kind
    if needs_all:
        columns = {"number": numbers, **({} if matches is None else {"met": matches})}
        functions = {"number": "sum", **({} if matches is None else {"met": "max"})}
        if accessed is not None:
            columns["accessed"], functions["accessed"] = accessed, "max"
        first, result = grouped([row[i] for i in step.key] + row, columns, functions)
        indices = first
        row = [each.take(indices) for each in row]
        kind = None if kind is None else kind.take(indices)
        numbers = result["number_sum"].combine_chunks().cast(pa.int32())
        matches = None if matches is None else result["met_max"].combine_chunks()
        accessed = None if accessed is None else result["accessed_max"].combine_chunks()
    key = tuple(row[i] for i in step.key)
    if "with a number" not in step.form:
        _check_single(step, key, row, numbers)
    if step.counts_matches:
        matches = _matches(step, key, row, len(numbers), source)
    rest = [numbers] if "with a number" in step.form else []
    if COUNTS_MATCHES in step.form:
        assert matches is not None
        rest.append(matches)
    unique = [row[i] for i in step.unique]
    join_key = [row[i] for i in step.join_key]
    before = tuple(join_key)
    if join_key and not step.form.startswith(ONE_ROW):
        before = (pa.StructArray.from_arrays(join_key, names=[f"f{i}" for i in range(len(join_key))]),)
    return Flat(len(numbers), key, (*unique, *row), before, tuple(rest), kind=kind, accessed=accessed)


def _check_single(step: JoinRows, key: Sequence[Array], row: Sequence[Array], numbers: Array) -> None:
    """Look whether each key has one row, where the new plan says so."""
    keys = [*key, *(row[i] for i in (*step.join_key, *step.unique))]
    first, _ = grouped(keys, {"number": numbers}, {"number": "sum"})
    if len(first) < len(numbers) or (len(numbers) and compute().max(numbers).as_py() > 1):
        raise NotDerivableError(f"{step.state} has several rows of what is a unique key in the new plan")


def _matches(step: JoinRows, key: Sequence[Array], row: Sequence[Array], rows_of_side: int, source: Source) -> Array:
    """How many rows of the other side match each row."""
    pa = arrow()
    other = step.other
    assert other is not None
    nothing = pa.repeat(pa.scalar(0, pa.int32()), rows_of_side)
    rows = _whole(other, source)
    if rows is None or not rows.rows:
        return nothing
    other_row = [rows.values[i] for i in other.values]
    other_key = [other_row[i] for i in other.key]
    numbers = _numbers(other.old_form, rows)
    if step.condition is not None:
        found = _matching_pairs(step, key, row, rows_of_side, (other_key, other_row, numbers))
        return _without_null_keys(step, key, found)
    first, result = grouped(other_key, {"number": numbers}, {"number": "sum"})
    indices = first
    known = [fit(each.take(indices), own.type) for each, own in zip(other_key, key, strict=True)]
    found = looked_up(key, len(nothing), known, result["number_sum"].combine_chunks())
    return _without_null_keys(step, key, compute().fill_null(found, 0).cast(pa.int32()))


def _without_null_keys(step: JoinRows, key: Sequence[Array], matches: Array) -> Array:
    """Numbers of matches, 0 where the key is NULL in a column whose NULL matches nothing."""
    for i in step.never_null:
        matches = compute().if_else(key[i].is_null(), arrow().scalar(0, arrow().int32()), matches)
    return matches


def _matching_pairs(
    step: JoinRows,
    key: Sequence[Array],
    row: Sequence[Array],
    rows_of_side: int,
    other: tuple[Sequence[Array], Sequence[Array], Array],
) -> Array:
    """How many rows of the other side have the key of each row, and meet the condition together with it."""
    pa = arrow()
    assert step.condition is not None
    other_key, other_row, numbers = other
    own, others = pairs(key, rows_of_side, other_key, len(numbers))
    own_row, other_row = [each.take(own) for each in row], [each.take(others) for each in other_row]
    both = [*other_row, *own_row] if step.is_right else [*own_row, *other_row]
    meets = compute().fill_null(computed(step.condition, both, len(own)), False)
    kept, weights = own.filter(meets), numbers.take(others).filter(meets)
    nothing = pa.repeat(pa.scalar(0, pa.int64()), rows_of_side)
    if not len(kept):
        return nothing.cast(pa.int32())
    first, result = grouped([kept], {"number": weights}, {"number": "sum"})
    known = kept.take(first)
    rows = counted(rows_of_side)
    found = looked_up([rows], rows_of_side, [known], result["number_sum"].combine_chunks())
    return compute().coalesce(found, nothing).cast(pa.int32())


def _ranked(step: FirstRows, source: Source, target: Target) -> Iterator[RecordBatch]:
    rows = source.whole(step.state)
    if rows is None:
        return
    key = [rows.key[i] for i in step.key]
    row = [rows.values[i] for i in step.values]
    ordering = [(row[o.column], o.is_ascending, o.null_is_last) for o in step.order]
    if step.unique_key:
        ordering.append((rows.rest[0], True, True))
    indices = sorted_indices([*((column, True, True) for column in key), *ordering])
    key, row = ([each.take(indices) for each in columns] for columns in (key, row))
    places, lengths = places_in_runs(run_numbers(key, rows.rows))
    if step.needs_all and compute().max(lengths).as_py() >= step.had:
        full = compute().sum(compute().and_(compute().equal(places, 0), compute().greater_equal(lengths, step.had)))
        raise NotDerivableError(
            f"{full.as_py()} partitions have {step.had} rows, and those behind them have not been kept",
            hint=f"keep the order, and the last rank at most at {step.had}",
        )
    if step.may_tie and step.sort_columns:
        _check_ties(step, key, row, [rows.values[i].take(indices) for i in range(step.sort_columns)])
    if step.is_unique:
        _check_first(step, key, row, places)
    kept = compute().less(places, step.most)
    rest = tuple(column.take(indices) for column in rows.rest) if step.unique_key else ()
    sort_key = [] if step.is_single else [row[c] for c in step.unique_key or [o.column for o in step.order]]
    entry = run_numbers([*key, *sort_key], rows.rows)
    accessed = None if rows.accessed is None else rows.accessed.take(indices)
    kind = None if rows.kind is None else rows.kind.take(indices)
    ranked = Flat(rows.rows, tuple(key), (*sort_key, *row), rest=rest, kind=kind, accessed=accessed, entry=entry)
    yield from target.batches(ranked.take(counted(rows.rows).filter(kept)))


def _resorted(step: SortedKeys, source: Source, target: Target) -> Iterator[RecordBatch]:
    for part in source.parts(step.state):
        (lists,) = part.rest
        flat_entries = lists.flatten()
        keys, numbers = flat_entries.flatten()
        columns = keys.flatten()
        ordering = [(columns[o.column], o.is_ascending, o.null_is_last) for o in step.order]
        parents = compute().list_parent_indices(lists)
        indices = sorted_indices([(parents, True, True), *ordering])
        kinds = columns[len(step.order) :]
        fields = [*(columns[o.column] for o in step.order), *kinds]
        key_type = lists.type.value_type.field(0).type
        names = [key_type.field(o.column).with_name(key_type.field(i).name) for i, o in enumerate(step.order)]
        own_fields = [*names, *(key_type.field(i) for i in range(len(step.order), key_type.num_fields))]
        pa = arrow()
        sorted_keys = pa.StructArray.from_arrays(fields, fields=own_fields).take(indices)
        entries = pa.StructArray.from_arrays([sorted_keys, numbers.take(indices)], names=["key", "value"])
        lengths = compute().fill_null(compute().list_value_length(lists), 0).cast(pa.int64())
        ends = compute().cumulative_sum(lengths)
        offsets = pa.concat_arrays([pa.array([0], pa.int64()), ends]).cast(pa.int32())
        key = tuple(part.key[i] for i in step.key)
        yield from target.batches(replace(part, key=key, rest=(pa.ListArray.from_arrays(offsets, entries),)))


def _check_ties(step: FirstRows, key: Sequence[Array], row: Sequence[Array], old: Sequence[Array]) -> None:
    """Look whether rows of one new sort key have one old sort key as well, in whose order they came."""
    new = [*key, *(row[o.column] for o in step.order)]
    ones = arrow().repeat(arrow().scalar(1, arrow().int64()), len(row[0]))
    groups = [len(grouped(columns, {"n": ones}, {"n": "sum"})[0]) for columns in (new, [*new, *old])]
    if groups[0] < groups[1]:
        raise NotDerivableError("rows have equal places in the new order, and it is not known which came first")


def _check_first(step: FirstRows, key: Sequence[Array], row: Sequence[Array], places: Array) -> None:
    """Look whether the first row of each partition is the only one with its sort key."""
    columns = [row[o.column] for o in step.order]
    runs = run_numbers([*key, *columns], len(places))
    in_run, _ = places_in_runs(runs)
    repeated = compute().and_(compute().equal(places, 1), compute().equal(in_run, 1))
    if compute().any(repeated).as_py():
        raise NotDerivableError("rows share the first place of a ranking, and it is not known which came last")


def _frame(step: Frame, source: Source, target: Target) -> Iterator[RecordBatch]:
    frame = _framed(step, source)
    if frame is None:
        return
    pa = arrow()
    rows, waits = frame
    if step.part == "rows":
        yield from target.batches(rows)
        return
    in_frame = rows.take(counted(rows.rows).filter(compute().invert(waits)))
    if not in_frame.rows:
        return
    ones = pa.repeat(pa.scalar(1, pa.int64()), in_frame.rows)
    if step.part == "count":
        first, result = grouped(in_frame.key, {"number": ones}, {"number": "sum"})
        values: tuple[Array, ...] = ()
        rest: tuple[Array, ...] = (result["number_sum"].combine_chunks(),)
    else:
        columns = {f"v{i}": ones if a < 0 else in_frame.values[a] for i, a in enumerate(step.arguments)}
        functions = {f"v{i}": "count" if f == "count" else "sum" for i, f in enumerate(step.functions)}
        first, result = grouped(in_frame.key, columns, functions)
        values = tuple(_over_frame(result[f"v{i}_{functions[f'v{i}']}"], f) for i, f in enumerate(step.functions))
        rest = ()
    indices = first
    yield from target.batches(Flat(len(first), tuple(k.take(indices) for k in in_frame.key), values, rest=rest))


def _over_frame(column: Any, function: str) -> Array:
    array = column.combine_chunks()
    return compute().fill_null(array, arrow().scalar(0).cast(array.type)) if function == "sum or zero" else array


def _framed(step: Frame, source: Source) -> tuple[Flat, Array] | None:
    """The rows that are in the new frame or wait for the watermark, in the order of time, and which of them wait."""
    rows, last = source.whole("inputState"), source.whole("lastTriggeringTsState")
    if rows is None:
        return None
    pa = arrow()
    time = rows.rest_of_key[0]
    never = pa.repeat(pa.scalar(-(2**63), pa.int64()), rows.rows)
    passed = never
    if last is not None:
        passed = compute().coalesce(looked_up(rows.key, rows.rows, last.key, last.rest[0]), never)
    order = sorted_indices([*((k, True, True) for k in rows.key), (time, True, True)])
    waits = compute().greater(time, passed).take(order)
    rows, time = rows.take(order), time.take(order)
    runs = run_numbers([*rows.key, waits], rows.rows)
    places, lengths = places_in_runs(runs)
    processed = compute().invert(waits)
    if step.most > step.had + 1:
        full = compute().and_(processed, compute().greater_equal(lengths, step.had))
        if compute().any(full).as_py():
            raise NotDerivableError(
                f"keys have {step.had} rows in their frame, and those before them have not been kept",
                hint=f"keep the frame at most at {step.had} PRECEDING",
            )
    in_frame = compute().greater_equal(places, compute().subtract(lengths, step.most))
    kept = counted(rows.rows).filter(compute().or_(waits, in_frame))
    key = tuple(rows.key[i] for i in step.key)
    entry = run_numbers([*rows.key, time], rows.rows)
    framed = replace(rows, key=key, values=tuple(rows.values[i] for i in step.values), entry=entry)
    return framed.take(kept), waits.take(kept)


def _accumulated(step: Accumulate, source: Source, target: Target) -> Iterator[RecordBatch]:
    accumulators = accumulated(step, source.stored)
    if accumulators is not None:
        yield from target.batches(accumulators)


def _timed(step: IntervalRows, source: Source, target: Target) -> Iterator[RecordBatch]:
    yield from target.batches(by_time(step, source.stored, is_in_order=source.parallelism == 1))


def _counted(step: CountedValues, source: Source, target: Target) -> Iterator[RecordBatch]:
    yield from target.batches(counted_values(step, source.stored))


_STEPS: Mapping[type, Callable[[Any, Source, Target], Iterator[RecordBatch]]] = {
    Project: _projected,
    Merge: _merged,
    MergeSlices: _resliced,
    JoinRows: _joined,
    IntervalRows: _timed,
    FirstRows: _ranked,
    SortedKeys: _resorted,
    Frame: _frame,
    Accumulate: _accumulated,
    CountedValues: _counted,
}


def applied(step: Step, source: Source, target: Target) -> Iterator[RecordBatch]:
    """The entries of a new state, by its step.

    Raises :class:`NotDerivableError` where the entries do not suffice, :class:`StateError` where they cannot be read.
    """
    return _STEPS[type(step)](step, source, target)
