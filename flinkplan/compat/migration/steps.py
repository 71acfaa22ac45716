"""Applies the steps of recipes to entries."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ...state.form_arrow import arrow
from .entries import NotDerivableError, Source, Target
from .flat import Flat, fit
from .interval_steps import by_time
from .join_steps import joined
from .kept_rows import accumulated, counted_values
from .rank_steps import ranked, resorted
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
    Taken,
    ValueSource,
    ZeroIfKeyIsNull,
    ZeroIfNull,
)
from .relational import compute, counted, grouped, looked_up, places_in_runs, run_numbers, sorted_indices
from .slice_steps import resliced

if TYPE_CHECKING:
    from pyarrow import Array, RecordBatch


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
    merged = tuple(
        _same_type(result[f"v{i}_{function}"].combine_chunks(), values[f"v{i}"])
        for i, function in enumerate(step.functions)
    )
    accessed = None if rows.accessed is None else result["accessed_max"].combine_chunks()
    yield from target.batches(Flat(len(first), tuple(each.take(first) for each in key), merged, accessed=accessed))


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
    yield from target.batches(Flat(len(first), tuple(k.take(first) for k in in_frame.key), values, rest=rest))


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
    JoinRows: joined,
    IntervalRows: _timed,
    FirstRows: ranked,
    SortedKeys: resorted,
    Frame: _frame,
    Accumulate: _accumulated,
    CountedValues: _counted,
}


def applied(step: Step, source: Source, target: Target) -> Iterator[RecordBatch]:
    """The entries of a new state, by its step.

    Raises :class:`NotDerivableError` where the entries do not suffice, :class:`StateError` where they cannot be read.
    """
    return _STEPS[type(step)](step, source, target)
