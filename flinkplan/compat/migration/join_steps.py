"""The rows of an input of a join, for another join."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ...plan.nodes.joins import ONE_ROW
from ...state.form_arrow import arrow
from .conditions import computed
from .entries import NotDerivableError, Source, Target
from .flat import Flat, fit
from .joins import COUNTS_MATCHES
from .kept_rows import evaluated
from .recipe_steps import JoinRows
from .relational import compute, counted, grouped, looked_up, pairs

if TYPE_CHECKING:
    from pyarrow import Array, RecordBatch


def joined(step: JoinRows, source: Source, target: Target) -> Iterator[RecordBatch]:
    """The entries of a side of the new join."""
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
        row = [each.take(first) for each in row]
        kind = None if kind is None else kind.take(first)
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
    known = [fit(each.take(first), own.type) for each, own in zip(other_key, key, strict=True)]
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
