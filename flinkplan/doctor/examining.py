"""Diagnoses of a job: of one that runs in this process, and of the checkpoint of any."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from ..executor.prepare.job_plan import JobPlan, JobSettings, prepare
from ..executor.prepare.known.source_names import source_names
from ..executor.prepare.modes import Mode
from ..plan.document import Plan
from ..plan.errors import PlanError
from ..plan.names import node_names
from ..plan.nodes import ExecNode
from ..plan.record import Record
from ..state.checkpoint import CheckpointRecord
from ..state.counts import JobCounts, QueryCounts, digest, read_counts
from . import joins, sources, windows
from .model import KINDS, Diagnosis
from .query import CompareKeys, QueryCase, no_keys

if TYPE_CHECKING:
    from ..executor.jobs.job import Job

_MODULES = (sources, windows, joins)
"""The modules whose kinds of diagnoses are examined, in this order."""


def kinds() -> Sequence[type[Diagnosis]]:
    """All kinds of diagnoses, in the order of a report."""
    return [kind for module in _MODULES for kind in KINDS if kind.__module__ == module.__name__]


class Patient(Record):
    """A job that is examined: its plan as it runs, its counts, and when (epoch ms) that is looked at.

    ``is_running``: it may still get rows.  ``begun`` are the queries that have begun a batch and not ended it.
    """

    job: JobPlan
    counts: JobCounts
    now: int
    is_running: bool
    begun: frozenset[str] = frozenset()

    @classmethod
    def of_checkpoint(cls, folder: str, variables: Mapping[str, str], now: int) -> Patient:
        """The job of a checkpoint, which may be running.

        Raises :class:`PlanError` where there is no checkpoint, or no counts: the job has not begun a batch, or was run
        by a version that kept none.
        """
        record = CheckpointRecord(folder)
        if not record.exists:
            raise PlanError("there is no checkpoint here", where=folder)
        plan, counts = record.plan(), read_counts(record)
        if counts is None or counts.plan != digest(record.plan_text()):
            raise PlanError(
                "the checkpoint holds no counts of the job",
                where=folder,
                hint="let the job run once with this version of flinkplan",
            )
        is_running = record.is_in_use
        job = _prepared(plan, Mode(counts.mode), record, variables)
        return cls(job, counts, now if is_running else counts.updated, is_running, _begun(job, record))

    @classmethod
    def of_job(cls, job: Job, now: int) -> Patient:
        """A job of this process."""
        return cls(job.plan, job.counter.counts, now, job.mode.is_endless, _begun(job.plan, job.counter.record))

    def queries(self, compare_keys: CompareKeys = no_keys) -> Iterator[QueryCase]:
        """The queries of the job."""
        names = node_names(self.job.plan)
        for sink, query in self.job.queries.items():
            counts = self.counts.queries.get(sink, QueryCounts())
            reached = counts.watermarks
            assigners = source_names(query.plan).items()
            yield QueryCase(
                sink,
                query,
                names,
                counts,
                self.counts.started,
                self.now,
                self.is_running,
                sink in self.begun,
                {node: reached[name] for node, name in assigners if name in reached},
                compare_keys,
            )


def _begun(job: JobPlan, record: CheckpointRecord) -> frozenset[str]:
    return frozenset(sink for sink in job.queries if record.is_batch_open(sink))


def _prepared(plan: Plan, mode: Mode, record: CheckpointRecord, variables: Mapping[str, str]) -> JobPlan:
    streams = record.is_begun(record.queries)
    return prepare(plan, mode, JobSettings(variables, record.session_options or {}, streams=streams))


def examined(patient: Patient, compare_keys: CompareKeys = no_keys) -> list[Diagnosis]:
    """The diagnoses of a job, by query."""
    return [found for query in patient.queries(compare_keys) for found in diagnoses(query)]


def diagnoses(query: QueryCase) -> list[Diagnosis]:
    """The diagnoses of a query; what follows from another one is left out."""
    if query.has_first_batch:
        return list(sources.FirstBatch.examine(query))
    all_found = [found for kind in kinds() for found in kind.examine(query)]
    blamed = {found.node_id for found in all_found if isinstance(found, sources.SourceWithoutRows) and not found.rows}
    return [found for found in all_found if not _follows(found, query, blamed)]


def _follows(found: Diagnosis, query: QueryCase, without_rows: set[int]) -> bool:
    """Whether a join has no rows because a source before it had none."""
    if not isinstance(found, joins.Sides):
        return False
    node: ExecNode = query.plan.by_id[found.node_id]
    return any(scan.id in without_rows for scan in query.sources_of(node))
