"""Builders of relations, for rules.  Source: Calcite's ``RelBuilder``."""

from __future__ import annotations

from collections.abc import Iterable

from ...plan.functions.comparison import AND, EQ
from ...plan.functions.user import calls_python_anywhere
from ...plan.rex import RexNode
from ...plan.specs import AggregateCall, JoinType
from ..rex.expressions import and_, are_identity, can_inline, compare, identity, inline, is_always_true, shift
from ..rex.simplify import simplify_condition
from .logical import Aggregate, Filter, Join, Project
from .names import inferred, uniquify
from .physical import Calc
from .rel import Rel


def project(rel: Rel, exprs: Iterable[RexNode], names: Iterable[str]) -> Project:
    """The projection of ``rel`` to expressions with names."""
    return Project(input=rel, exprs=tuple(exprs), names=tuple(names))


def select_columns(rel: Rel, indexes: Iterable[int]) -> Rel:
    """The projection to some columns; the relation itself if these are all its columns in order."""
    wanted = tuple(indexes)
    if wanted == tuple(range(rel.width)):
        return rel
    refs_ = identity(rel.types)
    return project(rel, (refs_[i] for i in wanted), (rel.names[i] for i in wanted))


def append_columns(rel: Rel, exprs: Iterable[RexNode], names: Iterable[str | None] | None = None) -> Rel:
    """The relation with computed columns appended; a name that is not given is inferred."""
    more = tuple(exprs)
    if not more:
        return rel
    exprs = (*identity(rel.types), *more)
    return project(rel, exprs, uniquify(inferred(rel.names, exprs) if names is None else [*rel.names, *names]))


def filtered(rel: Rel, parts: Iterable[RexNode]) -> Rel:
    """A filter by the conjunction of ``parts``; the relation itself if that is always true."""
    condition = and_(parts)
    return rel if is_always_true(condition) else Filter(input=rel, condition=condition)


def distinct(rel: Rel) -> Aggregate:
    """The aggregation to distinct rows."""
    return Aggregate(input=rel, grouping=tuple(range(rel.width)), calls=())


def aggregated(rel: Rel, calls: Iterable[AggregateCall]) -> Aggregate:
    """The aggregation without groups: one row with the results of the calls."""
    return Aggregate(input=rel, grouping=(), calls=tuple(calls))


def inner_join(left: Rel, right: Rel, condition: RexNode) -> Join:
    """The inner join of two relations."""
    return Join(left=left, right=right, type=JoinType.INNER, condition=condition)


def compare_columns(left: Rel, on_left: int, right: Rel, on_right: int) -> RexNode:
    """The join condition that two columns, one of each side, are equal."""
    a, b = identity(left.types)[on_left], identity(right.types)[on_right]
    return compare(EQ, a, shift(b, left.width))


def calc(
    rel: Rel,
    exprs: Iterable[RexNode],
    names: Iterable[str],
    condition: RexNode | None = None,
    *,
    merges_python: bool = False,
    simplifies: bool = True,
) -> Rel:
    """A calc over a relation, merged with a calc below it, and left out if it changes nothing."""
    made = Calc(input=rel, projection=tuple(exprs), condition=condition, names=tuple(names))
    return merge_calc(made, merges_python=merges_python, simplifies=simplifies)


def merge_calc(rel: Calc, *, merges_python: bool = False, simplifies: bool = True) -> Rel:
    """A calc merged with the calc below it, if there is one; its input where it changes nothing.

    Calcs that call Python functions are merged only if ``merges_python``, before they are split by what they call.
    Source: ``FlinkCalcMergeRule``, and ``FlinkFilterCalcMergeRule``, which simplifies nothing.
    """
    if isinstance(rel.input, Calc) and (merges_python or not (holds_python(rel) or holds_python(rel.input))):
        below = rel.input
        above = [*rel.projection, *([rel.condition] if rel.condition else [])]
        if can_inline(above, below.projection):
            condition = None if rel.condition is None else inline(rel.condition, below.projection)
            rel = Calc(
                input=below.input,
                projection=tuple(inline(e, below.projection) for e in rel.projection),
                condition=_conjunction(below.condition, condition, simplifies=simplifies),
                names=rel.names,
                input_names=below.input_names,
            )
    return rel.input if is_trivial(rel) else rel


def holds_python(rel: Calc) -> bool:
    """Whether a calc calls a Python function."""
    return any(map(calls_python_anywhere, (*rel.projection, *([rel.condition] if rel.condition else []))))


def is_trivial(rel: Calc) -> bool:
    """Whether a calc is the identity, apart from names."""
    return rel.condition is None and are_identity(rel.projection, rel.input.types)


def _conjunction(first: RexNode | None, second: RexNode | None, *, simplifies: bool) -> RexNode | None:
    if first is None or second is None:
        return first or second
    if not simplifies:
        return AND.call(first, second)
    condition = simplify_condition(and_([first, second]))
    return None if is_always_true(condition) else condition
