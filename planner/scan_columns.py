"""What a table's source produces: its columns, before and after what was pushed into it."""

from __future__ import annotations

from ..plan.specs import ProjectPushDown
from .physical import SourceScan


def physical_columns(scan: SourceScan) -> tuple[str, ...]:
    """The names of the table's columns that the source itself holds."""
    columns = scan.table.resolved.schema.columns
    return tuple(c.name for c in columns if c.kind is None)


def scan_columns(scan: SourceScan) -> tuple[str, ...]:
    """For each produced column the name of the table's column."""
    names = scan.row_type.field_names
    for ability in scan.abilities:
        if isinstance(ability, ProjectPushDown):
            physical = physical_columns(scan)
            produced = tuple(physical[path[0]] if len(path) == 1 else "" for path in ability.projected_fields)
            return produced + names[len(produced) :]
    return names
