"""The advice of EXPLAIN PLAN_ADVICE.

Sources: Flink's ``GroupAggregationAnalyzer``, ``NonDeterministicUpdateAnalyzer`` and ``PlanAdvice``.
"""

from __future__ import annotations

from collections.abc import Mapping

from ...plan.accumulator_columns import accumulators
from ...plan.changelog import row_kinds
from ...plan.document import Plan
from ...plan.durations import parse_duration
from ...plan.errors import UnsupportedError
from ...plan.functions import is_deterministic
from ...plan.nodes import Exchange, ExecNode, GroupAggregate, LookupJoin, TableSourceScan
from ...plan.nodes.expressions import expressions
from ...plan.row_kinds import INSERTS
from ...plan.settings import MINI_BATCH, MINI_BATCH_LATENCY, PHASES, value_of
from ...plan.specs import ReadingMetadata

_SIZE = "table.exec.mini-batch.size"
NONE = "No available advice..."


def advised_nodes(plan: Plan) -> frozenset[int]:
    """The ids of the aggregations that could have two phases with other settings."""
    return frozenset(node.id for node in plan.nodes if isinstance(node, GroupAggregate) and _is_splittable(plan, node))


def _is_splittable(plan: Plan, node: GroupAggregate) -> bool:
    (exchange,) = plan.inputs(node)
    if not isinstance(exchange, Exchange):
        return False
    types = exchange.output_type.field_types
    try:
        accumulators(node.agg_calls, node.agg_call_need_retractions, types, node.need_retraction)
    except UnsupportedError:
        return False
    return True


def advice_text(plan: Plan, config: Mapping[str, str]) -> str:
    """The advice about a plan, or that there is none.

    Raises :class:`UnsupportedError` where Flink may warn of updates that are not deterministic, which is not analysed.
    """
    _check_determinism(plan)
    if not advised_nodes(plan):
        return NONE
    settings = []
    if value_of(config, PHASES).upper() == "ONE_PHASE":
        settings.append(f"'{PHASES}' to 'AUTO'")
    if value_of(config, MINI_BATCH).lower() != "true":
        settings.append(f"'{MINI_BATCH}' to 'true'")
    if parse_duration(value_of(config, MINI_BATCH_LATENCY)) <= 0:
        settings.append(f"'{MINI_BATCH_LATENCY}' to a positive long value")
    if int(config.get(_SIZE, "-1")) <= 0:
        settings.append(f"'{_SIZE}' to a positive long value")
    return (
        "advice[1]: [ADVICE] You might want to enable local-global two-phase optimization by configuring "
        f"({', '.join(settings)})."
    )


def _check_determinism(plan: Plan) -> None:
    if all(kinds == INSERTS for kinds in row_kinds(plan).values()):
        return
    for node in plan.nodes:
        if _may_differ(node):
            raise UnsupportedError(
                "EXPLAIN PLAN_ADVICE does not analyse updates of columns that are not deterministic",
                where=f"{node.metadata.name} (node {node.id})",
                hint="Flink may warn of them; EXPLAIN and EXPLAIN CHANGELOG_MODE show the plan",
            )


def _may_differ(node: ExecNode) -> bool:
    """Whether a node may give other values for a row when the row is taken back."""
    if isinstance(node, TableSourceScan):
        abilities = node.scan_table_source.abilities or ()
        return any(isinstance(ability, ReadingMetadata) and ability.metadata_keys for ability in abilities)
    return isinstance(node, LookupJoin) or not all(map(is_deterministic, expressions(node)))
