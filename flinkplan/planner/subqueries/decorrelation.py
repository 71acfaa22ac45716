"""Decorrelation: a relation that reads columns of an outer row gets these columns itself.

Source: Calcite's ``RelDecorrelator``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ...plan.errors import UnsupportedError
from ...plan.functions.aggregate import COUNT
from ...plan.functions.cast import CAST
from ...plan.functions.comparison import EQ
from ...plan.functions.table import UNNEST_ROWS, UNNEST_ROWS_WITH_ORDINALITY
from ...plan.record import Record, replace
from ...plan.rex import CorrelVariable, FieldAccess, InputRef, Literal, RexNode, children
from ...plan.specs import AggregateCall, JoinType
from ...plan.types import LogicalType
from ..algebra.builders import append_columns, compare_columns, distinct, filtered, inner_join, select_columns
from ..algebra.calls import is_call_of, remap_calls
from ..algebra.logical import Aggregate, Correlate, Filter, Join, Lateral, Project, Snapshot, TemporalJoin, Values
from ..algebra.rel import Rel
from ..algebra.tree import walk
from ..rex.expressions import TRUE, and_, conjunctions, identity, is_call, remap, rewrite
from ..rex.simplify import simplify_condition


class Frame(Record):
    """A decorrelated relation: the new positions of its columns, and the positions of the outer row's columns."""

    rel: Rel
    places: Mapping[int, int]
    outer: Mapping[int, int]


def correlated_columns(rex: RexNode, correl: str | None) -> list[int]:
    """The columns of the outer row that an expression reads, with repetitions."""
    if isinstance(rex, FieldAccess) and isinstance(rex.expr, CorrelVariable) and rex.expr.correl == correl:
        return [rex.expr.type.field_names.index(rex.name)]
    return [i for child in children(rex) for i in correlated_columns(child, correl)]


def _reads_nested_field(rex: RexNode, correl: str) -> bool:
    """Whether an expression reads a field of a column of the outer row."""
    if isinstance(rex, FieldAccess) and isinstance(rex.expr, FieldAccess):
        return bool(correlated_columns(rex.expr, correl))
    return any(_reads_nested_field(child, correl) for child in children(rex))


def free_variables(rel: Rel) -> set[str]:
    """The correlation variables that a relation reads."""
    own = [getattr(rel, name, None) for name in ("condition", "call", "expr")]
    own_variables = {v for e in (*own, *getattr(rel, "exprs", ())) if e is not None for v in _variables(e)}
    return own_variables.union(*map(free_variables, rel.inputs))


def _variables(rex: RexNode) -> set[str]:
    if isinstance(rex, CorrelVariable):
        return {rex.correl}
    return set().union(*map(_variables, children(rex)))


def decorrelated(rel: Rel, correl: str, left: Rel) -> Frame:
    """The relation with the outer columns that it reads among its own; ``left`` has the outer rows.

    A column that a filter sets equal to an outer column stands for it; the distinct values of other outer columns are
    joined in.  Raises :class:`UnsupportedError` where Flink does not decorrelate either.
    """
    if correl not in free_variables(rel):
        return Frame(rel, {i: i for i in range(rel.width)}, {})
    match rel:
        case Filter():
            return _filter(rel, correl, left)
        case Project():
            return _project(rel, correl, left)
        case Aggregate(grouping_sets=None):
            return _aggregate(rel, correl, left)
        case Join(type=JoinType.INNER):
            return _join(rel, correl, left)
    raise not_decorrelated()


def reads_outer_row(rel: Rel) -> bool:
    """Whether the right side of a correlate reads the outer row in a condition or a projection."""
    match rel:
        case Correlate():
            return is_call(rel.call, UNNEST_ROWS, UNNEST_ROWS_WITH_ORDINALITY) and bool(_variables(rel.call))
        case TemporalJoin() | Join(right=Snapshot()):
            return True
    return isinstance(rel, Lateral)


def obstacle(root: Rel) -> str | None:
    """What keeps Flink from decorrelating a tree, which then stays as it is; ``None`` if nothing does.

    Source: ``RelDecorrelator.decorrelateRel`` of ``Values``, ``LogicalTableFunctionScan`` and ``LogicalSnapshot``.
    """
    for rel in walk(root):
        match rel:
            case Values():
                return "VALUES, or a SELECT without FROM"
            case Correlate():
                return "UNNEST or a table function"
            case TemporalJoin(time=time) | Snapshot(time=time) if time is not None:
                return "FOR SYSTEM_TIME AS OF"
    return None


def not_decorrelated_beside(what: str) -> UnsupportedError:
    """The error for a correlated subquery in a query with something that Flink does not decorrelate."""
    return UnsupportedError(
        f"Flink cannot plan a subquery that reads the outer row in one query with {what}",
        hint="write the subquery as a join with an aggregation, or split the query into two statements",
    )


def not_decorrelated() -> UnsupportedError:
    """The error for a subquery that Flink cannot decorrelate."""
    return UnsupportedError(
        "a subquery reads the outer row in a place from which Flink cannot take it",
        hint="compare with the outer row in the WHERE of the subquery, or write the query as a join",
    )


def _filter(rel: Filter, correl: str, left: Rel) -> Frame:
    frame = decorrelated(rel.input, correl, left)
    needed = _needed((rel.condition,), correl)
    condition = remap(rel.condition, frame.places)
    if set(needed) - frame.outer.keys():
        equal = _equivalents(condition, correl, needed, frame)
        frame = _with_values(frame, needed, left) if equal is None else equal
    own = _placed(condition, correl, frame)
    return replace(frame, rel=filtered(frame.rel, conjunctions(simplify_condition(own))))


def _needed(exprs: Iterable[RexNode], correl: str) -> list[int]:
    """The columns of the outer row that expressions read.

    Raises :class:`UnsupportedError` where one is read of which Flink replaces only the column.
    """
    columns = []
    for rex in exprs:
        if _reads_nested_field(rex, correl):
            raise not_decorrelated()
        columns += correlated_columns(rex, correl)
    return columns


def _equivalents(condition: RexNode, correl: str, needed: list[int], frame: Frame) -> Frame | None:
    """The frame with columns that equal the outer ones; ``None`` unless each outer column is in one equality."""
    equivalents = dict(frame.outer)
    width = frame.rel.width
    extra: list[RexNode] = []
    matched = 0
    for part in conjunctions(condition):
        if not is_call(part, EQ):
            continue
        for outer, own in (children(part), reversed(children(part))):
            column = _outer_column(outer, correl)
            if column is not None and column not in equivalents and not correlated_columns(own, correl):
                if not isinstance(own, InputRef):
                    extra.append(own)
                equivalents[column] = own.index if isinstance(own, InputRef) else width + len(extra) - 1
                matched += 1
                break
    if matched < len(needed):
        return None
    return Frame(append_columns(frame.rel, extra), frame.places, equivalents)


def _outer_column(rex: RexNode, correl: str) -> int | None:
    """The column of the outer row that an operand is, as it is or in a longer type of the same kind; else ``None``.

    Source: ``RelDecorrelator.references``.
    """
    if is_call(rex, CAST):
        source = rex.operands[0]
        if rex.type.root != source.type.root or _precision(rex.type) < _precision(source.type):
            return None
        return _outer_column(source, correl)
    if isinstance(rex, FieldAccess) and isinstance(rex.expr, CorrelVariable):
        columns = correlated_columns(rex, correl)
        return columns[0] if columns else None
    return None


def _precision(t: LogicalType) -> int:
    """The precision of a type as Calcite has it, which is the length of a text; 0 for types without one."""
    return t.precision or t.length or 0


def _with_values(frame: Frame, needed: Iterable[int], left: Rel) -> Frame:
    """The frame joined with the distinct values of the outer columns."""
    missing = sorted(set(needed) - frame.outer.keys())
    values = distinct(select_columns(left, missing))
    width = frame.rel.width
    return Frame(
        inner_join(frame.rel, values, TRUE),
        frame.places,
        {**frame.outer, **{column: width + i for i, column in enumerate(missing)}},
    )


def _placed(rex: RexNode, correl: str, frame: Frame) -> RexNode:
    """An expression with outer columns replaced by the columns that stand for them."""
    own = identity(frame.rel.types)

    def place(node: RexNode) -> RexNode:
        if isinstance(node, InputRef):
            return own[node.index]
        outer_columns = correlated_columns(node, correl) if isinstance(node, FieldAccess) else []
        return own[frame.outer[outer_columns[0]]] if outer_columns else node

    return rewrite(rex, place)


def _project(rel: Project, correl: str, left: Rel) -> Frame:
    frame = decorrelated(rel.input, correl, left)
    needed = _needed(rel.exprs, correl)
    if set(needed) - frame.outer.keys():
        frame = _with_values(frame, needed, left)
    exprs = [_placed(remap(e, frame.places), correl, frame) for e in rel.exprs]
    names = [*rel.names]
    outer: dict[int, int] = {}
    below = frame.rel
    for column in sorted(frame.outer):
        outer[column] = len(exprs)
        exprs.append(InputRef(frame.outer[column], below.types[frame.outer[column]]))
        name = below.names[frame.outer[column]]
        names.append(f"{name}{len(names)}" if name in names else name)
    new = Project(input=below, exprs=tuple(exprs), names=tuple(names))
    return Frame(new, {i: i for i in range(len(rel.exprs))}, outer)


def _aggregate(rel: Aggregate, correl: str, left: Rel) -> Frame:
    """Outer columns become grouping columns; constant grouping columns are removed and added again above."""
    frame = decorrelated(rel.input, correl, left)
    fixed = _constants(frame.rel) if frame.outer else {}
    keys = [(i, frame.places[g]) for i, g in enumerate(rel.grouping) if frame.places[g] not in fixed]
    outer = [frame.outer[c] for c in sorted(frame.outer)]
    read = [frame.places[a] for c in rel.calls for a in (*c.arg_list, *([c.filter_arg] if c.filter_arg >= 0 else []))]
    kept = list(dict.fromkeys([*(k for _, k in keys), *outer, *read]))
    source = select_columns(frame.rel, kept)
    place = {old: kept.index(new) for old, new in frame.places.items() if new in kept}
    grouping = tuple(kept.index(k) for k in (*(k for _, k in keys), *outer))
    calls = remap_calls(rel.calls, place)
    if grouping and not rel.grouping:
        calls = tuple(_over_groups(c, source) for c in calls)
    new: Rel = replace(rel, input=source, grouping=grouping, calls=calls)
    places = {i: n for n, (i, _) in enumerate(keys)}
    places |= {len(rel.grouping) + n: len(grouping) + n for n in range(len(calls))}
    lacking = [i for i in range(len(rel.grouping)) if i not in places]
    if lacking:
        width = new.width
        new = append_columns(new, [fixed[frame.places[rel.grouping[i]]] for i in lacking])
        places |= {i: width + n for n, i in enumerate(lacking)}
    return Frame(new, places, {c: len(keys) + n for n, c in enumerate(sorted(frame.outer))})


def _over_groups(call: AggregateCall, source: Rel) -> AggregateCall:
    """A call over groups that are never empty: nullable only where its arguments are."""
    if not call.arg_list or is_call_of(call, COUNT):
        return call
    nullable = any(source.types[a].nullable for a in call.arg_list)
    return replace(call, type=call.type.with_nullability(nullable or call.filter_arg >= 0))


def _constants(rel: Rel) -> dict[int, RexNode]:
    if not isinstance(rel, Project):
        return {}
    return {i: e for i, e in enumerate(rel.exprs) if isinstance(e, Literal)}


def _join(rel: Join, correl: str, left: Rel) -> Frame:
    frames = decorrelated(rel.left, correl, left), decorrelated(rel.right, correl, left)
    width, old_width = frames[0].rel.width, rel.left.width
    places = dict(frames[0].places) | {old_width + i: width + n for i, n in frames[1].places.items()}
    outer = {c: width + i for c, i in frames[1].outer.items()} | dict(frames[0].outer)
    both = [
        compare_columns(frames[0].rel, frames[0].outer[c], frames[1].rel, frames[1].outer[c])
        for c in sorted(frames[0].outer.keys() & frames[1].outer.keys())
    ]
    condition = remap(rel.condition, places)
    if correlated_columns(condition, correl):
        raise not_decorrelated()
    frame = Frame(inner_join(frames[0].rel, frames[1].rel, and_(both)), places, outer)
    return replace(frame, rel=filtered(frame.rel, conjunctions(_placed(condition, correl, frame))))
