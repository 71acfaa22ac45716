"""LATERAL with ORDER BY and LIMIT as Top-N.  Source: ``CorrelateSortToRankRule``."""

from __future__ import annotations

from ...plan.functions.comparison import EQ
from ...plan.record import replace
from ...plan.rex import FieldAccess, InputRef, RexNode, children
from ...plan.specs import ConstantRankRange, JoinType, SortField
from ..algebra.logical import Aggregate, Filter, Lateral, Project, Sort
from ..algebra.physical import Rank
from ..algebra.rel import Rel
from ..rex.expressions import are_columns, conjunctions, identity, is_call
from .decorrelation import correlated_columns


def to_lateral_rank(rel: Lateral) -> Rel | None:
    """``(SELECT DISTINCT k FROM t) s, LATERAL (SELECT … FROM t WHERE t.k = s.k ORDER BY … LIMIT n)`` over ``t``.

    ``None`` for any other relation.
    """
    best = rel.right
    if rel.type is not JoinType.INNER or not isinstance(best, Sort) or best.fetch is None or best.offset:
        return None
    selected = best.input
    if not isinstance(selected, Project) or not are_columns(selected.exprs) or not isinstance(selected.input, Filter):
        return None
    source = selected.input.input
    keys = _keys(selected.input.condition, rel.correl)
    if not _is_distinct(rel.left, source) or not keys:
        return None
    rank = Rank(
        input=source,
        kind="ROW_NUMBER",
        partition=tuple(sorted(keys)),
        order=tuple(_source_field(f, selected) for f in best.order),
        range=ConstantRankRange(1, best.fetch),
        rank=None,
    )
    columns = identity(source.types)
    exprs = (*(columns[k] for k in sorted(keys)), *selected.exprs)
    return Project(input=rank, exprs=exprs, names=rel.names)


def _is_distinct(rel: Rel, source: Rel) -> bool:
    if not isinstance(rel, Aggregate) or rel.calls or rel.grouping_sets is not None:
        return False
    below = rel.input
    return isinstance(below, Project) and are_columns(below.exprs) and below.input == source


def _keys(condition: RexNode, correl: str) -> set[int]:
    """The columns that are set equal to a column of the outer row; empty where there are other conditions."""
    keys = set()
    for part in conjunctions(condition):
        own = [o for o in children(part) if isinstance(o, InputRef)]
        outer = [o for o in children(part) if isinstance(o, FieldAccess) and correlated_columns(o, correl)]
        if not is_call(part, EQ) or len(own) != 1 or len(outer) != 1:
            return set()
        keys.add(own[0].index)
    return keys


def _source_field(field: SortField, selected: Project) -> SortField:
    column = selected.exprs[field.index]
    assert isinstance(column, InputRef)
    return replace(field, index=column.index)
