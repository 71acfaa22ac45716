"""Migrations of plans from one Flink release to the next, each small and numbered.

A migration changes how a plan is written, never what it does.  Migrations are applied in order up to a release.
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
    """A change of the format: releases from ``since`` on write plans as ``apply`` returns them.

    ``tacit`` says that plans are compared as if it had been applied.
    """

    number: int
    since: Release
    summary: str
    apply: Callable[[Plan], Plan]
    tacit: bool = False


MIGRATIONS = (
    Migration(1, (1, 18), "literals have a new spelling", literals.with_new_spelling, tacit=True),
    Migration(2, (1, 18), "the own keys of sinks stand before their inputs", key_order.newest),
    Migration(3, (1, 18), "sinks declare whether they emit event time", defaults.declare_rowtime_inserter, tacit=True),
    Migration(4, (1, 19), "window aggregates declare whether they retract", defaults.declare_retraction, tacit=True),
    Migration(5, (2, 1), "tables and sources have no empty lists", empties.leave_out),
    Migration(6, (2, 1), "deduplications declare whether they only insert", defaults.declare_insert_only, tacit=True),
    Migration(7, (2, 1), "OVER windows declare the version of their function", defaults.declare_function, tacit=True),
    Migration(8, (2, 1), "structured types are written as text", structured_types.as_text, tacit=True),
    Migration(9, (2, 3), "sources have version 2", node_versions.newer_sources),
    Migration(10, (2, 3), "sinks without state have version 2", node_versions.newer_sinks),
    Migration(11, (2, 3), "calls without operands have no list of them", operands.leave_out),
)


def release(text: str) -> Release:
    """``2.3`` as numbers.  Raises :class:`PlanError` for anything else."""
    major, dot, minor = text.partition(".")
    if not (dot and major.isdecimal() and minor.split(".")[0].isdecimal()):
        raise PlanError(f"'{text}' is not a release of Flink", hint=f"for example {FLINK_VERSION}")
    return int(major), int(minor.split(".")[0])


def migrations(plan: Plan, to: Release) -> Iterator[tuple[Migration, Plan]]:
    """The migrations up to a release that change ``plan``, each with the migrated plan."""
    text = json.dumps(plan_to_json(plan))
    for migration in MIGRATIONS:
        if migration.since <= to:
            migrated = migration.apply(plan)
            before, text = text, json.dumps(plan_to_json(migrated))
            if text != before:
                plan = migrated
                yield migration, plan


def comparable(plan: Plan) -> Plan:
    """The plan with all tacit migrations, so that it can be compared with plans of other releases."""
    try:
        own_release = release(plan.flink_version)
    except PlanError:
        return plan
    for migration in MIGRATIONS:
        if migration.tacit and migration.since > own_release:
            plan = migration.apply(plan)
    return plan
