"""Looks whether a savepoint belongs to the plan that a job was started from."""

from __future__ import annotations

from collections.abc import Iterator

from ...plan.document import Plan
from ...plan.errors import combined_error
from ...plan.uids import Uids
from ...state.form import JobState, StateError
from ...state.layouts import mismatches


class OtherPlanError(StateError):
    """A savepoint that does not belong to the plan (exit code 1)."""

    exit_code = 1


def check_savepoint(plan: Plan, state: JobState, uids: Uids) -> None:
    """Raise :class:`OtherPlanError` where the savepoint's operators are not those of the plan."""
    errors = list(_mismatches(plan, state, uids))
    if errors:
        raise combined_error(errors)


def _mismatches(plan: Plan, state: JobState, uids: Uids) -> Iterator[StateError]:
    holders = dict(uids.holders(plan))
    hint = "name the plan from which the job was started with --old"
    for operator in state.manifest.operators:
        if operator.uid in holders:
            node, _ = holders[operator.uid]
            for mismatch in mismatches(operator, node, [source.fields for source in plan.inputs(node)]):
                yield OtherPlanError(f"the savepoint is of another plan: {mismatch}", where=operator.uid, hint=hint)
        elif any(table.entries for table in operator.states if table.kind.is_keyed):
            name = operator.uid or operator.hash or "?"
            yield OtherPlanError("the plan has no such operator", where=f"operator {name}", hint=hint)
