"""What ``flinkplan migrate`` writes, of a checkpoint as of a savepoint."""

from __future__ import annotations

from collections.abc import Mapping

from ..compat.migration.recipe import Allowed, Migration
from ..plan.document import Plan
from ..plan.record import Record, field


class StateChange(Record):
    """The folder of the old state and of the new one, the plans of the old and the new job, and the recipes.

    ``history`` are the options of tables over history that the user has, by the names of the tables.
    """

    state: str
    plans: tuple[Plan, Plan]
    migration: Migration
    output: str
    variables: Mapping[str, str] = field(default_factory=dict)
    options: Mapping[str, str] = field(default_factory=dict)
    debug: bool = False
    allowed: Allowed = Allowed()
    history: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
