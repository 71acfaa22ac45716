"""The columns that a source produces, before and after abilities were pushed into it."""

from __future__ import annotations

from ...plan.record import replace
from ...plan.specs import ProjectPushDown, ReadingMetadata
from ..connectors import connector_of
from .physical import SourceScan
from .row_types import pick


def source_columns(scan: SourceScan) -> tuple[str, ...]:
    """The names of all columns that the source can produce: the physical ones, then metadata."""
    schema = scan.table.resolved.schema
    return (*schema.physical_names, *(c.name for c in schema.columns if c.kind == "METADATA"))


def physical_paths(scan: SourceScan) -> tuple[tuple[int, ...], ...]:
    """For each physical column of a scan its path in the table."""
    for ability in scan.abilities:
        if isinstance(ability, ProjectPushDown):
            return ability.projected_fields
    return tuple([(i,) for i in range(len(scan.table.resolved.schema.physical_names))])


def scan_columns(scan: SourceScan) -> tuple[str, ...]:
    """For each produced column the name of the table's column."""
    physical, paths = scan.table.resolved.schema.physical_names, physical_paths(scan)
    produced = tuple(physical[path[0]] if len(path) == 1 else "" for path in paths)
    return produced + scan.names[len(produced) :]


def _reading_order(scan: SourceScan, needed: tuple[int, ...]) -> tuple[int, ...]:
    """The order in which a source reads columns: physical ones in order of use, then metadata as offered."""
    width = len(physical_paths(scan))
    return (*(i for i in needed if i < width), *sorted(i for i in needed if i >= width))


def project_scan(scan: SourceScan, needed: tuple[int, ...]) -> SourceScan:
    """The scan reduced to the needed columns: physical ones in that order, then metadata."""
    paths = physical_paths(scan)
    width = len(paths)
    order = _reading_order(scan, needed)
    fields = pick(scan.fields, order)
    physical = [i for i in order if i < width]
    keys = next((a.metadata_keys for a in scan.abilities if isinstance(a, ReadingMetadata)), ())
    others = [a for a in scan.abilities if not isinstance(a, (ProjectPushDown, ReadingMetadata))]
    abilities = [*others, ProjectPushDown(tuple(paths[i] for i in physical), pick(scan.fields, physical).not_null())]
    if connector_of(scan.table).has_metadata:
        read = tuple(keys[i - width] for i in order if i >= width)
        abilities.append(ReadingMetadata(read, fields.not_null()))
    return replace(scan, abilities=tuple(abilities), fields=fields)
