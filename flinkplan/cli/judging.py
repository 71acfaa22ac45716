"""The judgement on a change from one plan or pipeline to another."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from ..plan.record import replace

if TYPE_CHECKING:
    from ..compat.diff import Diff
    from ..compat.settings import Settings
    from ..compat.verdicts import Verdict
    from ..plan.document import Plan
    from .inputs import PlanInput

FAILED, UNJUDGED = 1, 2


def judged(old: PlanInput, new: PlanInput, settings: Settings, options: Mapping[str, str], locate: bool = True) -> Diff:
    """What a change means for state and results.

    A new pipeline is the successor of the old plan, as ``compile --like`` makes it.  Its TTLs are those that it
    declares, unless the old side is a compiled plan, whose TTLs can have been set by hand.  ``options`` are those of
    the session that runs the plans on Flink; ``locate`` says whether to look for the lines of findings.  Raises
    :class:`UnsupportedError` where the plans are too large to compare.
    """
    from ..compat.diff import Exceptions, Platforms, Side, check_read, diff_plans
    from ..compat.successor import predecessor, succeed
    from ..compat.verdicts import Verdict
    from ..plan.tables import as_defined_in

    engines = (settings.engine,) if settings.engine else ("flink", "spark")
    platforms = Platforms(engines, settings.runtime == "vvr", options)
    for given in (old, new):
        if not given.is_pipeline:
            check_read(given.plan, given.source)
    old_plan, new_plan = as_defined_in(new.plan, old.plan), as_defined_in(old.plan, new.plan)
    if new.is_pipeline:
        newest = old_plan if old.is_pipeline else predecessor(old_plan)
        if newest != new_plan:
            new_plan = succeed(newest, new_plan, keep_ttls=not old.is_pipeline).plan

    def side(given: PlanInput, plan: Plan, is_successor: bool = False) -> Side:
        return Side(plan, given.source, given.located(plan) if locate else lambda *_: None, is_successor)

    exceptions = Exceptions(settings.ignore, settings.allow, settings.allow_migrated)
    diff = diff_plans(side(old, old_plan), side(new, new_plan, new.is_pipeline), exceptions, platforms)
    return replace(diff, fail_on=Verdict(settings.fail_on or "incompatible"))


def exit_code(verdicts: Iterable[Verdict], fail_on: Verdict) -> int:
    """2 where a verdict is unknown, 1 where one is ``fail_on`` or worse, else 0."""
    from ..compat.verdicts import Verdict

    codes = [UNJUDGED if each is Verdict.UNKNOWN else FAILED if each >= fail_on else 0 for each in verdicts]
    return max(codes, default=0)
