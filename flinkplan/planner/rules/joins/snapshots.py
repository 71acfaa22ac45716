"""Filters and projections over tables as of a processing time.  Source: ``CalcSnapshotTransposeRule``."""

from __future__ import annotations

from ....plan.record import replace
from ...algebra.logical import Filter, Project, Snapshot
from ...algebra.rel import Rel
from ..rule import rule


@rule(on=(Filter, Project), over=Snapshot)
def sink_filters(rel: Filter | Project, below: Snapshot) -> Rel:
    """CalcSnapshotTransposeRule: filters and projections go below the snapshot, to the table of a lookup join."""
    return replace(below, input=replace(rel, input=below.input))


@rule(on=Snapshot)
def drop_snapshots(rel: Snapshot) -> Rel:
    """CalcSnapshotTransposeRule: a snapshot that is not of a lookup join is removed, so that filters go on below it."""
    return rel.input if rel.lookup is None else rel
