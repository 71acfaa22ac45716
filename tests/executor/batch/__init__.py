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
    put_tables(folder)

    def moved(table: ContextResolvedTable) -> ContextResolvedTable:
        assert table.resolved_table is not None
        options = {**table.options, "path": str(folder / table.name)}
        return replace(table, resolved_table=replace(table.resolved_table, options=options))

    return with_tables(loads(PLAN), moved)


def put_tables(folder: Path) -> None:
    """Write the rows of the tables that are read into ``folder``."""
    for name, rows in TABLES.items():
        (folder / name).mkdir(parents=True)
        (folder / name / "rows.json").write_text("".join(f"{json.dumps(row)}\n" for row in rows))


def rows_of(folder: Path) -> list[Any]:
    """The rows of a table that was written."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and not path.name.startswith("."))
    return [json.loads(line) for path in files for line in path.read_text().splitlines()]


def rounded(value: Any) -> Any:
    """A value with floating-point numbers of nine digits: the order in which they are added up is open."""
    if isinstance(value, float):
        return float(f"{value:.9g}")
    if isinstance(value, dict):
        return {key: rounded(each) for key, each in value.items()}
    return [rounded(each) for each in value] if isinstance(value, list) else value


def values(rows: list[Any]) -> list[list[Any]]:
    """The values of rows, whose columns may have other names."""
    return [rounded(list(row.values()) if isinstance(row, dict) else row) for row in rows]
