"""Aggregations and the projections below them.  Source: ``AggregateProjectMergeRule``, where Flink finds it cheaper."""

from __future__ import annotations

from ....plan.record import replace
from ....plan.rex import InputRef
from ...algebra.aggregations import Aggregation, passes_time, read_columns, reads_something, remap_aggregate
from ...algebra.logical import Aggregate, Project, Values, Watermark, is_one_sided
from ...algebra.names import uniquify
from ...algebra.physical import LegacyWindowAggregate
from ...algebra.rel import Rel
from ...metadata.estimates import Estimates
from ...rex.expressions import identity
from ..merged_projections import is_identity, merge_projects, names_calc, remove_identity
from ..projections import push_past_aggregate
from ..rule import rule


@rule(on=(Aggregate, LegacyWindowAggregate, Project))
def merge_aggregated(rel: Aggregation | Project) -> Rel:
    """An aggregation reads the input of the projection below it, unless that costs more.

    What only chooses columns costs nothing where it is computed with a filter, and pays where it makes rows smaller,
    for an aggregation's cost grows with the size of the rows that it reads.  Where the keys come in another order
    then, a projection above restores it, which may undo one that is there.
    Source: the ``computeSelfCost`` of ``FlinkLogicalAggregate`` and ``FlinkLogicalCalc``.
    """
    merged = _merged_below(rel) if isinstance(rel, Project) else _merged(rel)
    if merged is rel or (isinstance(rel, LegacyWindowAggregate) and not passes_time(rel)):
        return merged  # the projection computes the processing time too
    if _has_time_twice(rel.input if isinstance(rel, Project) else rel):
        return merged
    estimates = Estimates()
    new, old = estimates.cost(merged), estimates.cost(rel)
    stays_if_equal = isinstance(rel, Project) or _has_sets(rel) or _skips_columns(rel)
    return rel if new > old or (new == old and stays_if_equal) else merged


@rule(on=Project, over=Aggregate)
def merge_before_pruning(rel: Project, below: Aggregate) -> Rel:
    """An aggregation with unread calls is merged with the projection below it by what all its calls read.

    Of plans that cost the same, Flink keeps the one that it knew when costs below went down last: with watermarks
    below, past which projections are pushed late, that is the merged one.
    """
    if push_past_aggregate(rel) is rel or Watermark not in below.classes:
        return rel
    merged = merge_aggregated(below)
    return rel if merged is below else remove_identity(merge_projects(replace(rel, input=merged)))


def _merged(rel: Aggregation) -> Rel:
    """The aggregation merged with the projections below it.

    A projection over a semi join stays if its column order would have to be restored above: a later rule pushes the
    semi join below a projection that only prunes columns.
    """
    below = rel.input.input if isinstance(rel.input, Project) else None
    if isinstance(below, Values):
        return rel
    if isinstance(rel.input, Project) and is_identity(rel.input) and names_calc(rel.input):
        return rel
    merged = merge_columns(rel)
    stays = below is not None and is_one_sided(below) and (_has_sets(rel) or isinstance(merged, Project))
    return rel if stays else merged


def _merged_below(rel: Project) -> Rel:
    """The projection merged with the one that restores the column order of the merged aggregation below."""
    merged = _merged(rel.input) if isinstance(rel.input, (Aggregate, LegacyWindowAggregate)) else rel.input
    return rel if merged is rel.input else remove_identity(merge_projects(replace(rel, input=merged)))


def _has_sets(rel: Aggregation) -> bool:
    return isinstance(rel, Aggregate) and rel.grouping_sets is not None


def _has_time_twice(rel: Rel) -> bool:
    """Whether the time column is also a grouping column: Flink's projection below has it twice."""
    return passes_time(rel) and rel.window.time_field.field_index in rel.grouping


def _skips_columns(rel: Aggregation) -> bool:
    """Whether it reads some columns of its input and skips others."""
    return reads_something(rel) and not read_columns(rel) >= set(range(rel.input.width))


def merge_columns(rel: Aggregation) -> Rel:
    """The aggregation over the input of projections that only select the columns that it reads."""
    source = rel.input
    columns = {i: i for i in read_columns(rel)}
    while isinstance(source, Project) and all(isinstance(source.exprs[i], InputRef) for i in columns.values()):
        columns = {i: source.exprs[at].index for i, at in columns.items()}  # type: ignore[union-attr]
        source = source.input
    return rel if source is rel.input else _reading(rel, columns, source)


def merge_projection(rel: Aggregate, below: Project) -> Rel:
    """The aggregation over the input of a projection that only selects columns, whatever that costs."""
    columns = {i: e.index for i, e in enumerate(below.exprs) if isinstance(e, InputRef)}
    return _reading(rel, columns, below.input)


def _reading(rel: Aggregation, columns: dict[int, int], source: Rel) -> Rel:
    """The aggregation over another input, with its column references mapped to new positions."""
    if len({columns[g] for g in rel.grouping}) < len(rel.grouping):
        return rel if _has_sets(rel) or not isinstance(rel, Aggregate) else _grouped_once(rel, columns, source)
    return _in_order(remap_aggregate(rel, columns, source))


def _grouped_once(rel: Aggregate, columns: dict[int, int], source: Rel) -> Rel:
    """The aggregation with each grouping column once, under a projection that repeats those that it had twice."""
    merged = remap_aggregate(rel, columns, source)
    grouping = tuple(sorted(set(merged.grouping)))
    once = replace(merged, grouping=grouping)
    outputs = identity(once.types)
    indexes = [*(grouping.index(g) for g in merged.grouping), *range(len(grouping), once.width)]
    return Project(input=once, exprs=tuple(outputs[i] for i in indexes), names=uniquify(once.names[i] for i in indexes))


def _in_order(rel: Aggregation) -> Rel:
    """The aggregation with grouping columns in input order, under a projection that restores their order."""
    order = sorted(range(len(rel.grouping)), key=lambda i: rel.grouping[i])
    indexes = [*order, *range(len(order), rel.width)]
    ordered = replace(rel, grouping=tuple(rel.grouping[i] for i in order))
    if indexes == list(range(rel.width)):
        return ordered
    outputs = identity(ordered.types)
    return Project(input=ordered, exprs=tuple(outputs[indexes.index(i)] for i in range(rel.width)), names=rel.names)
