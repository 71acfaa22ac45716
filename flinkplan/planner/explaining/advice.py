"""The advice of EXPLAIN PLAN_ADVICE.

Sources: Flink's ``GroupAggregationAnalyzer``, ``NonDeterministicUpdateAnalyzer`` and ``PlanAdvice``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from ...plan.accumulator_columns import accumulators
from ...plan.document import Plan
from ...plan.durations import parse_duration
from ...plan.errors import UnsupportedError
from ...plan.nodes import Exchange, GroupAggregate
from ...plan.row_kinds import kinds_text
from ...plan.settings import DETERMINISM, MINI_BATCH, MINI_BATCH_LATENCY, PHASES, value_of
from ..algebra.lookups import LookupJoin
from ..algebra.rel import Rel
from ..algebra.tree import walk
from ..errors import PlanningError
from ..lowering import lower
from ..metadata.keys import upsert_keys
from ..physical.determinism import DeterminismError, resolve_determinism
from ..physical.reuse import share
from ..rex.printer import prefix_expressions
from .trees import tree_lines

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


def advice_text(plan: Plan, config: Mapping[str, str], warnings: Sequence[str] = ()) -> str:
    """The advice about a plan and the warnings about its updates, or that there are none."""
    advice = [f"[ADVICE] {_two_phases(config)}"] if advised_nodes(plan) else []
    advice += [f"[WARNING] {warning}" for warning in warnings]
    return "\n".join(f"advice[{i}]: {text}" for i, text in enumerate(advice, 1)) or NONE


def _two_phases(config: Mapping[str, str]) -> str:
    settings = []
    if value_of(config, PHASES).upper() == "ONE_PHASE":
        settings.append(f"'{PHASES}' to 'AUTO'")
    if value_of(config, MINI_BATCH).lower() != "true":
        settings.append(f"'{MINI_BATCH}' to 'true'")
    if parse_duration(value_of(config, MINI_BATCH_LATENCY)) <= 0:
        settings.append(f"'{MINI_BATCH_LATENCY}' to a positive long value")
    if int(config.get(_SIZE, "-1")) <= 0:
        settings.append(f"'{_SIZE}' to a positive long value")
    return f"You might want to enable local-global two-phase optimization by configuring ({', '.join(settings)})."


def update_warnings(roots: Iterable[Rel], config: Mapping[str, str]) -> Iterator[str]:
    """What may go wrong with updates by columns that are not deterministic, where the session does not resolve it."""
    if value_of(config, DETERMINISM).upper() != "IGNORE":
        return
    for root in roots:
        try:
            resolved = resolve_determinism(root)
        except DeterminismError as error:
            assert error.in_flink is not None
            yield f"{error.in_flink[1]}\nrelated rel plan:\n{_related_plan(error.rel, config)}"
        except PlanningError:  # Flink's analysis does not know an operator
            continue
        else:
            if any(isinstance(rel, LookupJoin) and rel.materializes for rel in walk(resolved)):
                yield (
                    "You might want to enable upsert materialization for look up join operator by configuring "
                    f"('{DETERMINISM}' to 'TRY_RESOLVE') to resolve the correctness issue caused by "
                    "'Non-Deterministic Updates' (NDU) in a changelog pipeline."
                )


def _related_plan(rel: Rel, config: Mapping[str, str]) -> str:
    """The tree below a relation, with changes and upsert keys."""
    operators = share((rel,), subplans=False, sources=False)
    with prefix_expressions():
        nodes = lower(operators, config, complete=True).nodes

    def label(place: int) -> tuple[str, Sequence[int]]:
        each = operators[place]
        text = f"changelogMode=[{kinds_text(frozenset(each.rel.changes.row_kinds))}]"
        if keys := upsert_keys(each.rel):
            names = (f"[{', '.join(each.rel.names[i] for i in sorted(key))}]" for key in keys)
            text += f", upsertKeys=[{', '.join(names)}]"
        return with_part(nodes[place].description or "", text), each.inputs

    return "".join(f"{line}\n" for line in tree_lines(len(operators) - 1, label))


def with_part(description: str, part: str) -> str:
    """The description of an operator with one more part at its end."""
    if not description.endswith(")"):
        return f"{description}({part})"
    return f"{description[:-1]}{'' if description.endswith('()') else ', '}{part})"
