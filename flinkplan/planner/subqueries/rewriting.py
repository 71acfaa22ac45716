"""Subqueries as joins.  Sources: ``FlinkSubQueryRemoveRule``, ``FlinkRewriteSubQueryRule``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from decimal import Decimal

from ...plan.functions.aggregate import COUNT
from ...plan.functions.comparison import AND, GE, GT, IS_TRUE, LE, LT, NOT, OR
from ...plan.record import Struct, field, replace
from ...plan.rex import InputRef, Literal, RexNode, children, walk
from ...plan.specs import AggregateCall, JoinType
from ...plan.types import BOOLEAN, NUMERIC
from ..algebra.builders import filtered, select_columns
from ..algebra.calls import is_call_of
from ..algebra.logical import Aggregate, Correlate, Filter, Join, Lateral, Project
from ..algebra.names import uniquify
from ..algebra.rel import Rel
from ..algebra.tree import bottom_up
from ..rex.expressions import (
    and_,
    are_columns,
    conjunctions,
    holds_subquery,
    identity,
    is_always_false,
    is_call,
    not_,
    or_,
    rewrite,
)
from ..rex.simplify import built_condition, simplify, simplify_condition
from ..rex.unplanned import SubQuery, SubQueryKind
from ..rules.merged_projections import merge_built_projects
from ..rules.table_functions import PUSH_PAST_CORRELATES
from .aggregates import called_by_place, without_check
from .decorrelation import not_decorrelated_beside, obstacle, reads_outer_row
from .filters import PUSH_PAST_JOINS_OF_SUBQUERIES
from .joins import Joins, Logic
from .lateral_ranks import to_lateral_rank
from .semi_joins import is_joinable, semi_join


def rewrite_subqueries(root: Rel) -> Rel:
    """IN and EXISTS of a filter become semi and anti joins; any other subquery is joined and becomes columns.

    Filters of a query with correlations are pushed down before those are resolved.
    """
    rewriter = _Rewriter()
    rel = bottom_up(root, rewriter.rewrite)
    if rewriter.took_apart and (what := obstacle(rel)):
        raise not_decorrelated_beside(what)
    if rewriter.met_correlation:
        rel = bottom_up(rel, lambda r: without_check(_simpler(r)))
        if rewriter.took_apart:
            rel = bottom_up(rel, called_by_place)
        # in Flink, the joins of subqueries still are correlates here, past which filters go last
        for rules in (PUSH_PAST_JOINS_OF_SUBQUERIES,) if rewriter.took_apart else PUSH_PAST_CORRELATES:
            rel = rules.run(rel)
    return merge_built_projects.run(rel) if rewriter.took_apart else rel


class _Rewriter(Struct):
    """Rewrites relations, and remembers whether a correlated subquery was decorrelated."""

    met_correlation: bool = False
    took_apart: bool = False
    """Whether a subquery was decorrelated."""
    reading_outer: dict[int, Rel] = field(default_factory=dict)
    """By their ``id``, the rewritten relations in which conditions or projections still read an outer row."""

    def rewrite(self, rel: Rel) -> Rel:
        """The relation without subqueries in its expressions."""
        new = self._rewrite(rel)
        if reads_outer_row(rel) or any(map(self._reads_outer, rel.inputs)):
            self.reading_outer[id(new)] = new
        return new

    def _reads_outer(self, rel: Rel) -> bool:
        return id(rel) in self.reading_outer

    def _rewrite(self, rel: Rel) -> Rel:
        match rel:
            case Filter() if holds_subquery(rel.condition):
                condition = rewrite(rewrite(simplify_condition(rel.condition), _simplified), _as_exists)
                return self._filter(replace(rel, condition=condition))
            case Project() if any(map(holds_subquery, rel.exprs)):
                joins = Joins(self, rel.input)
                exprs = tuple(simplify(joins.rewritten(e, Logic.THREE_VALUED)) for e in rel.exprs)
                new = replace(rel, input=joins.source, exprs=exprs)
                return _without_names(new) if _adds_values_only(new, rel.input, joins) else new
            case Join() if holds_subquery(rel.condition):
                return self._join(rel)
            case Lateral():
                return self._lateral(rel)
            case Correlate():
                self.met_correlation = True
        return rel

    def expand(self, rel: Rel) -> Rel:
        """The relation of a joined subquery; subqueries in it are joined, too, and none becomes a semi join."""

        def change(rel: Rel) -> Rel:
            return self._filter(rel, semi_joins=False) if isinstance(rel, Filter) else self.rewrite(rel)

        return bottom_up(rel, change)

    def _filter(self, rel: Filter, *, semi_joins: bool = True) -> Rel:
        if not holds_subquery(rel.condition):
            return rel
        source, rest = rel.input, list(_separated(rel.condition))
        if semi_joins and not any(map(_is_nested, rest)):
            source, rest = self._semi_joins(source, rest) or (source, rest)
        if not any(map(holds_subquery, rest)):
            return filtered(source, rest)
        width = source.width
        joins = Joins(self, source, own_conditions=[part for part in rest if not holds_subquery(part)])
        parts = [joins.rewritten(part, Logic.TRUE) for part in rest]
        if joins.outer_rows is not None:
            parts = [part for part in parts if part not in joins.own_conditions]
        condition = built_condition(and_(parts))
        new = select_columns(filtered(joins.source, conjunctions(condition)), range(width))
        if not all(map(self._is_joinable, rest)):
            self.reading_outer[id(new)] = new
        return new

    def _semi_joins(self, source: Rel, parts: Iterable[RexNode]) -> tuple[Rel, list[RexNode]] | None:
        """The source joined with all subqueries of IN and EXISTS, and the other parts of the condition.

        ``None`` where the correlation of any subquery, also a scalar one, is not one of a join's condition, or there is
        another one below.  Source: ``SubQueryDecorrelator.CorelMapBuilder``.
        """
        if self._reads_outer(source):
            return None
        rest: list[RexNode] = []
        for part in parts:
            negated = is_call(part, NOT)
            inner = children(part)[0] if negated else part
            if not isinstance(inner, SubQuery) or inner.kind not in (SubQueryKind.IN, SubQueryKind.EXISTS):
                rest.append(part)
                continue
            kind = JoinType.ANTI if negated else JoinType.SEMI
            rows = bottom_up(inner.rel, self.rewrite)
            joined = None if self._reads_outer(rows) else semi_join(source, inner, rows, kind)
            if joined is None:
                return None
            source = self._with_operands_rewritten(joined) if any(map(holds_subquery, inner.operands)) else joined
        return (source, rest) if all(map(self._is_joinable, rest)) else None

    def _is_joinable(self, rex: RexNode) -> bool:
        """Whether the correlation of each subquery of an expression could be the condition of a join."""
        subqueries = (node for node in walk(rex) if isinstance(node, SubQuery))
        return all(is_joinable(bottom_up(node.rel, self.rewrite), node.correl) for node in subqueries)

    def _with_operands_rewritten(self, rel: Rel) -> Rel:
        """The semi join with the subqueries in the operands, which its left side computes, rewritten."""
        if isinstance(rel, Project) and not any(map(holds_subquery, rel.exprs)):
            return replace(rel, input=self._with_operands_rewritten(rel.input))
        return replace(rel, left=self.rewrite(rel.left)) if isinstance(rel, Join) else rel

    def _join(self, rel: Join) -> Rel:
        """A scalar subquery of a join's condition is joined with the right input."""
        joins = Joins(self, rel.right, shift=rel.left.width)
        condition = joins.rewritten(rel.condition, Logic.TRUE)
        return select_columns(replace(rel, right=joins.source, condition=condition), range(rel.width))

    def _lateral(self, rel: Lateral) -> Rel:
        ranked = to_lateral_rank(rel)
        if ranked is not None:
            return ranked
        joins = Joins(self, rel.left)
        added = joins.attach(rel.type, rel.right, rel.correl)
        exprs = (*identity(joins.source.types)[: rel.left.width], *added)
        return Project(input=joins.source, exprs=exprs, names=rel.names)


def _adds_values_only(rel: Project, source: Rel, joins: Joins) -> bool:
    """Whether a projection is of the source's columns, followed by the values of correlated subqueries as they are."""
    added = tuple(joins.values.values())
    return joins.has_correlated and rel.exprs == (*identity(source.types), *added) and are_columns(added)


def _without_names(rel: Project) -> Project:
    """The projection with the names of its input, which ``RelBuilder`` leaves in the place of a renaming one."""
    names = rel.input.names
    return replace(rel, names=uniquify(names[e.index] for e in rel.exprs if isinstance(e, InputRef)))


def _is_nested(rex: RexNode) -> bool:
    """Whether IN or EXISTS is nested in a condition; then no subquery of the filter becomes a semi join."""
    inner = children(rex)[0] if is_call(rex, NOT) else rex
    return not isinstance(inner, SubQuery) and _holds_existence(inner)


def _holds_existence(rex: RexNode) -> bool:
    if isinstance(rex, SubQuery):
        return rex.kind is not SubQueryKind.SCALAR
    return any(map(_holds_existence, children(rex)))


def _separated(rex: RexNode) -> Iterator[RexNode]:
    """The conjunctions of a condition, with NOT pushed down to subqueries."""
    for part in conjunctions(rex):
        inner = children(part)[0] if is_call(part, NOT, IS_TRUE) else part
        if not holds_subquery(part) or isinstance(inner, SubQuery) or inner is part:
            yield part if not is_call(part, IS_TRUE) else inner
        elif is_call(part, IS_TRUE) or is_call(inner, NOT):
            yield from _separated(inner if is_call(part, IS_TRUE) else children(inner)[0])
        elif is_call(inner, OR):
            yield from _separated(and_(map(not_, children(inner))))
        elif is_call(inner, AND):
            yield or_(map(not_, children(inner)))
        else:
            yield part


def _simplified(rex: RexNode) -> RexNode:
    """A subquery with all filters in it simplified.  Source: ``SimplifyFilterConditionRule.EXTENDED``.

    What never holds stays as it is: the outer row that it names makes a join of the subquery, which is cut off later.
    """
    return replace(rex, rel=bottom_up(rex.rel, _simpler)) if isinstance(rex, SubQuery) else rex


def _simpler(rel: Rel) -> Rel:
    if not isinstance(rel, Filter):
        return rel
    condition = simplify_condition(rel.condition)
    return rel if is_always_false(condition) else replace(rel, condition=condition)


def _as_exists(rex: RexNode) -> RexNode:
    """EXISTS in place of a number of rows that is one at least.  Source: ``FlinkRewriteSubQueryRule``."""
    if not is_call(rex, GT, GE, LT, LE):
        return rex
    count, bound = children(rex) if is_call(rex, GT, GE) else reversed(children(rex))
    match count, bound:
        case SubQuery(
            kind=SubQueryKind.SCALAR, rel=Aggregate(grouping=(), grouping_sets=None, calls=(call,), input=rows)
        ), Literal(value=int() | str() as value, type=t) if t.root in NUMERIC and _counts_rows(call):
            least, strict = Decimal(value), is_call(rex, GT, LT)
            if 0 < least < 1 or least == (0 if strict else 1):
                return replace(count, kind=SubQueryKind.EXISTS, rel=rows, type=BOOLEAN.not_null())
    return rex


def _counts_rows(call: AggregateCall) -> bool:
    return is_call_of(call, COUNT) and not call.arg_list and not call.distinct and call.filter_arg < 0
