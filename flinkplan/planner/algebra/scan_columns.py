"""What a table's source produces: its columns, before and after what was pushed into it."""

from __future__ import annotations

from ...plan.specs import ProjectPushDown
from .physical import SourceScan


def source_columns(scan: SourceScan) -> tuple[str, ...]:
    """The names of all columns that the source can produce: the physical ones, then metadata."""
    schema = scan.table.resolved.schema
    return (*schema.physical_names, *(c.name for c in schema.columns if c.kind == "METADATA"))


def physical_paths(scan: SourceScan) -> tuple[tuple[int, ...], ...]:
    """Where the physical columns that a scan produces are among those of the table."""
    for ability in scan.abilities:
        if isinstance(ability, ProjectPushDown):
            return ability.projected_fields
    return tuple([(i,) for i in range(len(scan.table.resolved.schema.physical_names))])


def scan_columns(scan: SourceScan) -> tuple[str, ...]:
    """For each produced column the name of the table's column."""
    physical, paths = scan.table.resolved.schema.physical_names, physical_paths(scan)
    produced = tuple(physical[path[0]] if len(path) == 1 else "" for path in paths)
    return produced + scan.names[len(produced) :]
