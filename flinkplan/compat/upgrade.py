"""``upgrade``: converts a plan to a newer release."""

from __future__ import annotations

from ..plan.document import FLINK_VERSION, Plan
from ..plan.errors import PlanError
from ..plan.record import Record, replace
from .migrations import Migration, migrations, release


class Upgrade(Record):
    """The converted plan, and the migrations that changed it."""

    plan: Plan
    migrations: tuple[Migration, ...] = ()


def migrate(plan: Plan, to: str) -> Upgrade:
    """The plan in the form of the release ``to``.  Raises :class:`PlanError` for an older or unknown release."""
    old, new = release(plan.flink_version), release(to)
    if new > release(FLINK_VERSION):
        raise PlanError(f"Flink {to} is not supported yet", hint=f"the newest supported release is {FLINK_VERSION}")
    if new < old:
        raise PlanError(
            f"a plan of Flink {plan.flink_version} cannot be written for the older release {to}",
            hint=f"name {plan.flink_version} or a newer release",
        )
    applied = []
    for migration, migrated in migrations(plan, new):
        plan = migrated
        applied.append(migration)
    return Upgrade(replace(plan, flink_version=to), tuple(applied))
