"""A job's state in the neutral form, as a checkpoint that the job goes on from here."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from time import time_ns
from typing import TYPE_CHECKING
from uuid import uuid4

from ...plan.document import Plan
from ...plan.files import Place
from ...plan.names import node_names
from ...plan.nodes import ExecNode
from ...plan.session import session_options, time_zone
from ...state.checkpoint import CheckpointRecord
from ...state.form import VALUE, JobState, Kind, OperatorState, StateError, StateTable
from ...state.form_folder import new_folder
from ..build.time.event_time import SHIFT_MS
from ..jobs.job import JobOptions, Streams
from ..jvm.session import STATE_ENCODING, copy_of
from ..prepare.job_plan import JobSettings, prepare
from ..prepare.modes import Mode
from ..prepare.query import QueryPlan
from .copies import relocate
from .entries import write_entries
from .from_flink import carry
from .from_flink.carriers import Carried, Carrier
from .from_flink.tables import is_keyed_state, read_table
from .operators import StatefulQuery
from .query_log import QueryProgress, write_progress

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_WATERMARK = "watermark"
"""The name of the operator state in which Flink keeps a watermark."""


def write_checkpoint(plan: Plan, state: JobState, folder: str, spark: SparkSession, options: JobOptions) -> None:
    """Write what a job of Flink knows into a new checkpoint of the plan; sources begin as at first.

    ``options`` are those that the job is to run with.  The folder appears whole or not at all.
    Raises :class:`StateError` where some of the state cannot be carried over.
    """
    target = Path(folder).absolute()
    if target.exists():
        raise StateError("there is something already", where=folder, hint="name a folder that does not exist yet")
    check_operators(plan, state)
    settings = JobSettings(options.variables, options.options, streams=True)
    job = prepare(plan, Mode.AVAILABLE_NOW, settings)
    job = job.in_kernels(job.queries)
    # a query's states have one encoding; that of kernels is Avro
    session = copy_of(spark)
    session.conf.set(STATE_ENCODING, "avro")
    with new_folder(target) as work, tempfile.TemporaryDirectory(prefix="flinkplan-tables-") as tables:
        record = CheckpointRecord(work)
        record.prepare()
        ids: dict[str, str] = {}
        move = _Move(state, Streams(job, record, session, options), options, Path(tables))
        for name, query_plan in job.queries.items():
            ids[name] = str(uuid4())
            query = record.query(name).local
            assert query is not None
            query.mkdir()
            move.write(name, query_plan, query, ids[name])
        record.begin(plan, Mode.AVAILABLE_NOW.value, session_options(options.options))
        record.started(ids)
        relocate(work, target)


def kept_by(operator: OperatorState) -> list[StateTable]:
    """The states of an operator's keys that have entries."""
    own = (table for table in operator.states if is_keyed_state(table) or table.kind is Kind.HANDLE)
    return [table for table in own if table.entries]


def check_operators(plan: Plan, state: JobState) -> None:
    """Every operator that keeps something is one of the plan's.  Raises :class:`StateError`."""
    uids = {f"{node.id}_{keeper}" for node in plan.nodes for keeper in node.stateful_transformations}
    for operator in state.manifest.operators:
        if kept_by(operator) and operator.uid not in uids:
            name = operator.uid or operator.hash
            raise StateError(f"there is state of the operator {name}, which the plan has not")


class _Move:
    """Writes queries of a plan whose state stands in ``state``; ``tables`` is a folder for files on the way."""

    def __init__(self, state: JobState, streams: Streams, options: JobOptions, tables: Path) -> None:
        self._state = state
        self._streams = streams
        self._options = options
        self._tables = tables
        self._now = time_ns() // 1_000_000

    def write(self, name: str, plan: QueryPlan, folder: Path, query_id: str) -> None:
        """Write the query of a sink into its folder."""
        query = StatefulQuery(self._streams.frame(name, plan))
        entries = dict(self._entries(query, plan))
        marks = (self._watermark(operator) for node in plan.plan.nodes if (operator := self._operator(node)))
        highest = max((mark for mark in marks if mark is not None), default=None)
        watermark = 0 if highest is None else highest + SHIFT_MS
        metadata = json.loads(query.java.metadata(watermark, self._now))
        write_progress(folder, QueryProgress(0, (None,) * query.java.sources(), watermark, metadata), query_id)
        if query.operators:  # for which Spark looks how far the query is
            write_entries(query, Place.of(folder / "state"), entries, self._now)

    def _entries(self, query: StatefulQuery, plan: QueryPlan) -> Iterator[tuple[int, Carried]]:
        part = plan.plan
        names = node_names(part)
        steps = tuple(plan.operators)
        zone = time_zone(part, self._options.options)
        taken: set[int] = set()
        for operator in query.operators:
            if operator.kernel is None or operator.number >= len(steps):
                raise StateError(f"state cannot be carried over to operator {operator.number} of Spark")
            node, step = steps[operator.number]
            owner = self._operator(node)
            if owner is None:
                continue
            kept = kept_by(owner)
            if not kept:
                continue
            taken.add(node.id)
            try:
                spark = query.frame.sparkSession
                tables = {table.name: read_table(spark, self._state, table, self._tables) for table in kept}
                timers = {
                    table.name: read_table(spark, self._state, table, self._tables)
                    for table in owner.states
                    if table.kind is Kind.TIMERS and table.entries
                }
                watermark = self._watermark(owner)
                carrier = Carrier(node, step, part, operator, tables, self._now, zone, watermark, timers)
                yield operator.number, carry(carrier)
            except StateError as e:
                where = e.where or f"{names[node.id]} (node {node.id})"
                raise StateError(e.message, where=where, hint=e.hint) from None
        for node in part.nodes:
            owner = self._operator(node)
            if owner is not None and kept_by(owner) and node.id not in taken:
                raise StateError("it keeps no state here", where=f"{names[node.id]} (node {node.id})")

    def _operator(self, node: ExecNode) -> OperatorState | None:
        """Flink's operator of a node, by its UID."""
        uids = {f"{node.id}_{keeper}" for keeper in node.stateful_transformations}
        return next((operator for operator in self._state.manifest.operators if operator.uid in uids), None)

    def _watermark(self, operator: OperatorState) -> int | None:
        """The watermark that an operator has kept (epoch milliseconds), the lowest of its subtasks."""
        tables = (t for t in operator.states if t.name == _WATERMARK and not t.kind.is_keyed)
        marks = [
            row["value"][VALUE] for table in tables for batch in self._state.batches(table) for row in batch.to_pylist()
        ]
        lowest = min(marks, default=None)
        return None if lowest is None or lowest <= -SHIFT_MS else lowest
