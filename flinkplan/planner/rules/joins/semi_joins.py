"""Semi and anti joins below projections, filters and inner joins, where Flink expects that to cost less.

Sources: ``FlinkSemiAntiJoinJoinTransposeRule``, ``FlinkSemiAntiJoinProjectTransposeRule``,
``FlinkSemiAntiJoinFilterTransposeRule``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from ....plan.record import replace
from ....plan.rex import InputRef
from ....plan.specs import JoinType
from ...algebra.logical import Aggregate, Filter, Join, Project, is_one_sided
from ...algebra.rel import Rel
from ...metadata.estimates import Estimates
from ...metadata.join_kinds import is_lookup
from ...rex.expressions import are_columns, refs, remap
from ..aggregates.projections import merge_columns
from ..merged_projections import merge_projects
from ..projections import read_right_side
from ..rule import rule


@rule(on=(Aggregate, Join))
def push_semi_joins(rel: Aggregate | Join) -> Rel:
    """Push a semi or anti join below projections and into the side of an inner join that it reads, if that is cheaper.

    This includes one below an aggregation, which may then read more columns than it needs.
    """
    if isinstance(rel, Aggregate):
        return _cheapest([*_readers(rel), rel])
    return _cheapest(list(_places(rel))) if is_one_sided(rel) else rel


def _readers(rel: Aggregate) -> Iterator[Rel]:
    """The aggregation over the joins below it in all their places, without projections that only leave columns out."""
    source = rel.input
    joins = source.input if isinstance(source, Project) else source
    if not is_one_sided(joins):
        return
    for place in _places(joins):
        aggregation = replace(rel, input=place if joins is source else replace(source, input=place))
        merged = merge_columns(aggregation)
        if merged is not aggregation:
            yield merged


def _places(rel: Join) -> Iterator[Rel]:
    """The join where it stands, and wherever below it and the semi joins right below it can go.

    Where it can go below a projection, its right side is pruned in both places (``ProjectSemiAntiJoinTransposeRule``).
    """
    below = rel.left
    moved = _past_project(rel, below) if isinstance(below, Project) else None
    yield rel if moved is None else read_right_side(rel)
    if moved is not None:
        yield from (replace(moved, input=place) for place in _places(moved.input))  # type: ignore[arg-type]
    elif isinstance(below, Join) and below.type is JoinType.INNER:
        yield from _past_join(rel, below)
    elif is_one_sided(below):
        for lower in islice(_places(below), 1, None):
            yield from islice(_places(replace(rel, left=lower)), 1, None)


@rule(on=(Join, Project))
def lift_filters(rel: Join | Project) -> Rel:
    """Pull a filter above a semi or anti join, if that is cheaper.

    That is where it is expected to keep all rows, or becomes one calc with the projection there and leaves none below.
    Source: ``FlinkSemiAntiJoinFilterTransposeRule``.
    """
    join = rel.input if isinstance(rel, Project) else rel
    if not isinstance(join, Join) or not is_one_sided(join) or not isinstance(join.left, Filter):
        return rel
    below = join.left
    if isinstance(rel, Project) and isinstance(below.input, Project):
        return rel
    lifted: Rel = replace(below, input=replace(join, left=below.input))
    return _cheapest([replace(rel, input=lifted) if isinstance(rel, Project) else lifted, rel])


def _cheapest(places: Sequence[Rel]) -> Rel:
    """That of least cost; the last where several cost the same.  What a single one costs does not matter."""
    if len(places) == 1:
        return places[0]
    return min(reversed(places), key=Estimates().cost)


def _past_project(rel: Join, below: Project) -> Project | None:
    """The projection over the join with the projection's input."""
    if isinstance(below.input, Project):
        merged = merge_projects(below)
        if merged is below or not isinstance(merged, Project):
            return None
        below = merged
    if not are_columns(below.exprs):
        return None
    width, inner_width = len(below.exprs), below.input.width
    place = {i: e.index for i, e in enumerate(below.exprs) if isinstance(e, InputRef)}
    place |= {width + i: inner_width + i for i in range(rel.right.width)}
    inner = replace(rel, left=below.input, condition=remap(rel.condition, place))
    return replace(below, input=inner)


def _past_join(rel: Join, below: Join) -> Iterator[Join]:
    """The inner join with the semi join pushed into the side that it reads, at every place where it can stand."""
    width, inner_width = below.left.width, below.width
    read = refs(rel.condition)
    own = {i for i in read if i < inner_width}
    if not own or own == read:
        return
    if max(own) < width:
        place = {i: i for i in own} | {i: i - inner_width + width for i in read - own}
        yield from (replace(below, left=left) for left in _places(_semi_join(rel, below.left, place)))
    elif min(own) >= width and not is_lookup(below):
        place = {i: i - width for i in read}
        yield from (replace(below, right=right) for right in _places(_semi_join(rel, below.right, place)))


def _semi_join(rel: Join, left: Rel, place: Mapping[int, int]) -> Join:
    return replace(rel, left=left, condition=remap(rel.condition, place))
