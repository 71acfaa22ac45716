"""A statement set that Flink 2.3 compiled in batch mode, its tables, and the rows that Flink wrote."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from flinkplan.plan.document import Plan, loads
from flinkplan.plan.record import replace
from flinkplan.plan.specs import ContextResolvedTable
from flinkplan.plan.tables import with_tables

FOLDER = Path(__file__).parent
PLAN = (FOLDER / "plan.json").read_text("utf-8")
CASES: dict[str, dict[str, Any]] = json.loads((FOLDER / "cases.json").read_text("utf-8"))
"""By the name of its sink, each query with its SQL, its rows, and whether their order counts."""
TABLES: dict[str, list[dict[str, Any]]] = json.loads((FOLDER / "tables.json").read_text("utf-8"))
"""The rows of each table that is read."""


def plan_in(folder: Path) -> Plan:
    """The plan, its tables in ``folder``, where those that are read have their rows."""
    for name, rows in TABLES.items():
        (folder / name).mkdir(parents=True)
        (folder / name / "rows.json").write_text("".join(f"{json.dumps(row)}\n" for row in rows))

    def moved(table: ContextResolvedTable) -> ContextResolvedTable:
        assert table.resolved_table is not None
        options = {**table.options, "path": str(folder / table.name)}
        return replace(table, resolved_table=replace(table.resolved_table, options=options))

    return with_tables(loads(PLAN), moved)
