"""The optimizer: from the bound relations of a job to the plan that Flink would have compiled.

An ordered tuple of stages, each an ordered tuple of phases, each a pure function of a tree.  The stages and their order
are those of ``FlinkStreamProgram``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..plan.document import Plan
from ..plan.record import Record
from ..plan.settings import is_on
from .algebra.logical import TableModify
from .algebra.physical import Sink
from .algebra.rel import Rel
from .metadata.process_tables import check_process_uids
from .physical.changelog import infer_changelog_modes
from .physical.deletes import infer_deletes
from .physical.determinism import require_determinism
from .physical.implement import Implementer
from .physical.mini_batch import assign_mini_batches, two_phase_aggregates
from .physical.normalization import normalize_changelogs
from .physical.refusals import refuse_unplannable
from .physical.reuse import Operator, merge_scans, merge_sinks, name_first_phases, share
from .rules.aggregates.below_joins import push_below_joins
from .rules.aggregates.functions import filter_by_keys, reduce_functions
from .rules.aggregates.groups import expand_grouping_sets, remove_distinct, with_constant
from .rules.aggregates.json_arguments import wrap_json_arguments
from .rules.aggregates.projections import merge_aggregated, merge_before_pruning
from .rules.aggregates.split_distinct import split_distinct
from .rules.calcs import merge_calcs, share_calls, to_calc
from .rules.empty import PRUNE_IN_TURN, prune_empty
from .rules.equal_relations import name_alike, name_filtered
from .rules.joins.expressions import push_join_expressions
from .rules.joins.multi_joins import merge_joins
from .rules.joins.predicates import (
    compare_null_safely,
    derive_join_predicates,
    reduce_join_conditions,
    shorten_coalesce,
)
from .rules.joins.removal import remove_joins, remove_joins_below_aggregates
from .rules.joins.reorder import reorder_joins
from .rules.joins.semi_joins import lift_filters, push_semi_joins
from .rules.joins.snapshots import drop_snapshots, sink_filters
from .rules.legacy_windows import legacy_windows, without_processing_time
from .rules.lists import gather_lists
from .rules.local_times import fold_local_times
from .rules.merged_projections import drop_aliases, drop_equal_projects, forget_groups
from .rules.overs import merge_projections, split_overs
from .rules.partitions import push_partitions
from .rules.predicates import PUSH_FILTERS, PUSH_FILTERS_AGAIN
from .rules.projections import (
    NAME_COLUMNS,
    PUSH_PROJECTIONS,
    PUSH_PROJECTIONS_AGAIN,
    REWRITE_PROJECTIONS,
    name_below_filters,
    narrow_joins,
    trim_one_sided,
)
from .rules.python_calls import split_python_calcs, split_python_correlates, split_python_joins
from .rules.rank_rules import TRIM_RANKS, drop_constant_ranks, drop_unused_ranks, to_rank
from .rules.reduce import pull_up_constants, reduce_expressions
from .rules.rule import Config, Phase, Walk
from .rules.scans import push_into_scans, push_limit, to_sources
from .rules.set_operations import rewrite_set_operation, rewrite_union, without_distinct_operands
from .rules.sorts import push_sorts
from .rules.table_functions import merge_aliases
from .rules.time_attributes import MATERIALIZE_TIME
from .subqueries.rewriting import rewrite_subqueries


class Stage(Record):
    """Phases that Flink runs as one program, and why they stand where they do."""

    name: str
    why: str
    phases: tuple[Phase, ...]


LOGICAL_STAGES: tuple[Stage, ...] = (
    Stage(
        "subquery_rewrite",
        "All that follows knows joins, not subqueries inside expressions.",
        (Walk(rewrite_subqueries), to_sources),
    ),
    Stage(
        "default_rewrite",
        "Constants are computed and what has no rows is cut off first, so that later rules see fewer shapes; OVER "
        "calls and legacy windows become relations before filters move past them.",
        (
            push_join_expressions,
            Walk(name_alike),
            rewrite_union,
            fold_local_times,
            shorten_coalesce,
            reduce_expressions,
            reduce_join_conditions,
            reduce_expressions,
            pull_up_constants,
            without_processing_time,
            legacy_windows,
            merge_projections,
            Walk(split_overs),
            with_constant,
            merge_aliases,
            gather_lists,
        ),
    ),
    Stage(
        "predicate_pushdown",
        "Filters go down before projections, which then need not carry what only a filter reads. What joins imply for "
        "their inputs is derived after a push, when each join knows its condition, and pushed again, five times in all "
        "as in Flink's program.",
        (
            push_join_expressions,
            PUSH_FILTERS,
            *(derive_join_predicates, PUSH_FILTERS) * 4,
            push_join_expressions,
            reduce_expressions,
            reduce_join_conditions,
            PUSH_FILTERS,
            reduce_expressions,
            PUSH_FILTERS,
            push_partitions,
            push_into_scans,
            PRUNE_IN_TURN,
            compare_null_safely,
        ),
    ),
    Stage(
        "join_reorder",
        "What joins read is filtered by now, so that it is known which joins have few rows.",
        (Walk(reorder_joins, configured=True),),
    ),
    Stage("multi_join", "Joins are merged while their conditions are whole.", (merge_joins,)),
    Stage(
        "project_rewrite",
        "Each operator reads only what is needed above it.",
        (
            drop_equal_projects,
            name_below_filters,
            Walk(name_filtered),
            trim_one_sided,
            NAME_COLUMNS,
            narrow_joins,
            REWRITE_PROJECTIONS,
            pull_up_constants,
            REWRITE_PROJECTIONS,
        ),
    ),
    Stage(
        "logical",
        "What Flink's planner weighs by cost. Set operations become joins and aggregates, and aggregates simpler ones, "
        "before joins and aggregates are pushed past each other; projections follow what has moved.",
        (
            prune_empty,
            rewrite_set_operation,
            remove_distinct,
            forget_groups,
            remove_joins,
            remove_joins_below_aggregates,
            merge_before_pruning,
            PUSH_PROJECTIONS,
            without_distinct_operands,
            wrap_json_arguments,
            merge_aggregated,
            expand_grouping_sets,
            remove_distinct,
            filter_by_keys,
            reduce_functions,
            push_semi_joins,
            push_below_joins,
            push_semi_joins,
            drop_snapshots,
            PUSH_FILTERS_AGAIN,
            prune_empty,
            PUSH_PROJECTIONS_AGAIN,
            sink_filters,
            push_partitions,
            push_into_scans,
            lift_filters,
            push_sorts,
            push_limit,
            merge_aggregated,
            drop_aliases,
        ),
    ),
    Stage(
        "logical_rewrite",
        "Filters and projections become calcs, and ranks are found in what is left of ROW_NUMBER and its filter. When "
        "all calcs are merged, calls of Python functions get calcs of their own.",
        (
            split_python_joins,
            split_python_correlates,
            to_calc,
            to_rank,
            TRIM_RANKS,
            drop_constant_ranks,
            split_distinct,
            to_calc,
            merge_calcs,
            share_calls,
            split_python_calcs,
            drop_unused_ranks,
        ),
    ),
    Stage(
        "time_indicator",
        "Last, for every rule before must still see which columns are time attributes.",
        (MATERIALIZE_TIME,),
    ),
)
"""The stages over the logical algebra."""


class Implement(Record):
    """The phase that makes the physical tree.

    The rows of a window operator of the DataStream API are planned by themselves: ``plan`` gives their physical tree.
    """

    plan: Callable[[Rel, Config], Rel]
    name: str = "implement"

    def run(self, rel: Rel, config: Config) -> Rel:
        """The physical tree of a logical one."""
        return Implementer(config, lambda rows: self.plan(rows, config)).visit(rel)


def physical(rel: Rel, config: Config) -> Rel:
    """The physical tree of a bound one, before it is rewritten."""
    return run(rel, config, (*LOGICAL_STAGES, PHYSICAL))


PHYSICAL = Stage("physical", "Operators of Flink, with exchanges where rows must meet.", (Implement(physical),))

PHYSICAL_REWRITE = Stage(
    "physical_rewrite",
    "What depends on the whole physical tree. Normalizations, mini-batches and the phases of aggregations come before "
    "changelog modes, which are inferred over all operators, from the sink down; then it is known which normalizations "
    "nobody needs, and which columns of updates must be deterministic.",
    (
        Walk(normalize_changelogs),
        Walk(assign_mini_batches, configured=True),
        Walk(two_phase_aggregates, configured=True),
        Walk(name_first_phases),
        Walk(refuse_unplannable, configured=True),
        Walk(infer_changelog_modes, configured=True),
        Walk(infer_deletes, configured=True),
        Walk(require_determinism, configured=True),
    ),
)

STAGES: tuple[Stage, ...] = (*LOGICAL_STAGES, PHYSICAL, PHYSICAL_REWRITE)
"""All stages that the tree of each sink passes on its own."""


def run(rel: Rel, config: Config, stages: Sequence[Stage] = STAGES) -> Rel:
    """The tree after the stages."""
    for stage in stages:
        for phase in stage.phases:
            rel = phase.run(rel, config)
    return rel


def optimize(modify: TableModify, config: Config) -> Sink:
    """The operators of one INSERT; ``config`` has the options to plan its job with.

    Raises :class:`FlinkplanError` for what Flink would refuse and for what flinkplan does not do.
    """
    tree = run(modify, config)
    assert isinstance(tree, Sink)
    return tree


def assemble(optimized: Sequence[Sink], config: Config, *, complete: bool = False) -> Plan:
    """The plan of one job: what its sinks have in common is shared.  ``complete``: with all tables' definitions."""
    from .lowering import lower

    operators = operators_of(optimized, config)
    check_process_uids(operator.rel for operator in operators)
    return lower(operators, config, complete=complete)


def operators_of(optimized: Sequence[Rel], config: Config) -> tuple[Operator, ...]:
    """The operators of one job, inputs first: what its sinks have in common is shared."""
    subplans = is_on(config, "table.optimizer.reuse-sub-plan-enabled")
    sources = is_on(config, "table.optimizer.reuse-source-enabled")
    sinks: Sequence[Rel] = optimized
    for phase in REUSE:
        sinks = phase(sinks, config)
    return share(sinks, subplans=subplans, sources=sources)


REUSE = (merge_scans, merge_sinks)
"""The phases that look at the trees of all sinks of a job together, as Flink's optimizer does after its programs."""
