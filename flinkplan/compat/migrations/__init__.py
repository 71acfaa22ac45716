"""Migrations of plans from one Flink release to the next, each small and numbered.

A migration changes how something is written, never what it does.  They are applied in order, those up to the
release that is asked for.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

from ...plan.document import FLINK_VERSION, Plan, plan_to_json
from ...plan.errors import PlanError
from ...plan.record import Record
from . import defaults, empties, key_order, literals, node_versions, operands, structured_types

Release = tuple[int, int]


class Migration(Record):
    """One step: from ``since`` on, plans are written as ``apply`` makes them.

    ``tacit``: a comparison of plans takes it for granted.
    """

    number: int
    since: Release
    summary: str
    apply: Callable[[Plan], Plan]
    tacit: bool = False


MIGRATIONS = (
    Migration(1, (1, 18), "constants are spelled otherwise", literals.spelled_anew, tacit=True),
    Migration(2, (1, 18), "sinks say all of their own before their inputs", key_order.newest),
    Migration(3, (1, 18), "sinks fix whether they hand on event time", defaults.say_that_rowtime_is_set, tacit=True),
    Migration(4, (1, 19), "aggregates over windows say whether they retract", defaults.say_what_retracts, tacit=True),
    Migration(5, (2, 1), "empty lists are left out of tables and sources", empties.leave_out),
    Migration(6, (2, 1), "deduplications say whether they only insert", defaults.say_what_is_emitted, tacit=True),
    Migration(7, (2, 1), "OVER windows say which function computes them", defaults.say_which_function, tacit=True),
    Migration(8, (2, 1), "structured types are texts", structured_types.as_text, tacit=True),
    Migration(9, (2, 3), "sources have version 2", node_versions.newer_sources),
    Migration(10, (2, 3), "sinks without state have version 2", node_versions.newer_sinks),
    Migration(11, (2, 3), "calls without operands do not list them", operands.leave_out),
)


def release(text: str) -> Release:
    """``2.3`` as numbers.  Raises :class:`PlanError` for anything else."""
    major, dot, minor = text.partition(".")
    if not (dot and major.isdecimal() and minor.split(".")[0].isdecimal()):
        raise PlanError(f"'{text}' is no release of Flink", hint=f"for example {FLINK_VERSION}")
    return int(major), int(minor.split(".")[0])


def migrations(plan: Plan, to: Release) -> Iterator[tuple[Migration, Plan]]:
    """The migrations that change anything in ``plan`` on its way to a release, each with the plan it makes."""
    written = json.dumps(plan_to_json(plan))
    for migration in MIGRATIONS:
        if migration.since <= to:
            migrated = migration.apply(plan)
            before, written = written, json.dumps(plan_to_json(migrated))
            if written != before:
                plan = migrated
                yield migration, plan


def comparable(plan: Plan) -> Plan:
    """The plan with what an older release left to be understood, so that it compares with those of newer ones."""
    try:
        made_by = release(plan.flink_version)
    except PlanError:
        return plan
    for migration in MIGRATIONS:
        if migration.tacit and migration.since > made_by:
            plan = migration.apply(plan)
    return plan
