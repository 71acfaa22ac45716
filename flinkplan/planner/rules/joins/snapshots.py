"""Filters and projections over tables as of a processing time.  Source: ``CalcSnapshotTransposeRule``."""

from __future__ import annotations

from ....plan.record import replace
from ...algebra.logical import Filter, Project, Snapshot
from ...algebra.rel import Rel
from ..rule import rule


@rule(on=(Filter, Project), over=Snapshot)
def sink_filters(rel: Filter | Project, below: Snapshot) -> Rel:
    """CalcSnapshotTransposeRule: what a table that is looked up yields is filtered and projected there."""
    return replace(below, input=replace(rel, input=below.input))


@rule(on=Snapshot)
def drop_snapshots(rel: Snapshot) -> Rel:
    """CalcSnapshotTransposeRule: filters that waited over a snapshot go on below it, but where it is a lookup."""
    return rel.input if rel.lookup is None else rel
