"""How the operators of a plan keep their states in Flink, as Flink itself shows: a savepoint without entries."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..plan.document import Plan, dumps
from ..plan.record import Record, field
from .home import flink_jars
from .java import new_tables, run_java
from .savepoint import Savepoint, node_transformations

_IDLE = "flinkplan-idle"
"""The connector of ``IdleTables.java``: its tables give no rows and take all."""


class RunnablePlan(Record):
    """A plan with the options of its session."""

    plan: Plan
    options: Mapping[str, str] = field(default_factory=dict)


def empty_savepoints(plans: Sequence[RunnablePlan], flink: str | None = None) -> Iterator[Savepoint]:
    """Run plans in Flink on tables that give no rows, one after the other, and stop each with a savepoint.

    Each savepoint is to be closed; one of a plan that Flink does not run says so by its manifest.
    Raises :class:`StateError` where there is no Flink.
    """
    jars = flink_jars(flink)
    planner = [jar for jar in flink_jars(flink, planner=True) if jar not in jars]
    folders = [new_tables() for _ in plans]
    try:
        run_java(jars, [_request(plan, folder) for plan, folder in zip(plans, folders, strict=True)], planner)
        while folders:
            yield Savepoint("an empty run of the plan", folders.pop(0))
    finally:
        for folder in folders:
            Savepoint("", folder).close()


def _request(plan: RunnablePlan, folder: Path) -> Path:
    content = json.loads(dumps(plan.plan))
    _make_idle(content)
    (folder / "plan.json").write_text(json.dumps(content), "utf-8")
    request = {
        "plan": str(folder / "plan.json"),
        "options": dict(plan.options),
        "folder": str(folder),
        "transformations": node_transformations(),
        "uids": [],
    }
    file = folder / "request.json"
    file.write_text(json.dumps(request), "utf-8")
    return file


def _make_idle(content: Any) -> None:
    """Give all tables within a plan's JSON the connector of idle tables."""
    if isinstance(content, dict):
        if isinstance(content.get("resolvedTable"), dict):
            content["resolvedTable"]["options"] = {"connector": _IDLE}
        for value in content.values():
            _make_idle(value)
    elif isinstance(content, list):
        for item in content:
            _make_idle(item)
