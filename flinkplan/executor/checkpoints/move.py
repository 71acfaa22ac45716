"""A job's state in the neutral form, as a checkpoint that the job goes on from here."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from time import time_ns
from typing import TYPE_CHECKING, NamedTuple
from uuid import uuid4

from ...plan.document import Plan
from ...plan.errors import FlinkplanError, combined_error
from ...plan.files import Place
from ...plan.names import node_names
from ...plan.nodes import ExecNode, Sink, TableSourceScan, Values
from ...plan.record import replace
from ...plan.session import session_options, time_zone
from ...plan.uids import Uids
from ...state.checkpoint import CheckpointRecord
from ...state.form import VALUE, JobState, Kind, OperatorState, StateError, StateTable
from ...state.form_folder import new_folder
from ...state.layouts import mismatches
from ...state.moving import Moved, NotMovedError, Progress, Report, silent
from ..build.time.event_time import SHIFT_MS
from ..connectors.tables import table_of
from ..jobs.building import Streams
from ..jobs.first_rows import keep_first_rows
from ..jobs.options import JobOptions
from ..jvm.session import STATE_CHANGELOG, STATE_ENCODING, copy_of
from ..prepare.job_plan import JobSettings, prepare
from ..prepare.modes import Mode
from ..prepare.query import QueryPlan
from ..scratch import temporary_folder
from .copies import relocate
from .entries import write_entries
from .from_flink import carry
from .from_flink.carriers import Carried, Carrier
from .from_flink.tables import is_keyed_state, read_table
from .operators import StatefulQuery
from .placed_sources import SourceWriter
from .polling import polled
from .positions import Start
from .predecessor import Predecessor
from .query_log import QueryProgress, write_progress
from .unfinished_files import BUCKETS, PART_NUMBER, UnfinishedFile, unfinished_files
from .watermarks import source_watermarks

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_ALLOW = "with --allow-non-restored-state it is left behind"
NO_STARTS: Mapping[int, Start] = {}
NO_ROWS: Mapping[str, DataFrame] = {}


def _silent(moved: Moved) -> None:
    """The report that nobody reads."""


_WATERMARK = "watermark"
"""The name of the operator state in which Flink keeps a watermark."""


def write_checkpoint(
    plan: Plan,
    state: JobState,
    folder: str,
    spark: SparkSession,
    options: JobOptions,
    starts: Mapping[int, Start] = NO_STARTS,
    report: Report = _silent,
    progress: Progress = silent,
    predecessor: Predecessor | None = None,
    first_rows: Mapping[str, DataFrame] = NO_ROWS,
    has_history: bool = False,
) -> None:
    """Write what a job knows into a new checkpoint of the plan.

    ``state`` is that of Flink's operators of this plan.  ``options`` are those that the job is to run with.  ``starts``
    says where sources go on, by the ids of their nodes; others begin as at first.  What a ``predecessor`` has is taken
    over from it as far as possible.  ``first_rows`` are what sinks are told before all else, by the names of their
    queries.  ``has_history``: the state is of rows that the sources have not read, too.  ``report`` is told of each
    operator before anything is written.  The folder appears whole or not at all.

    Raises :class:`StateError` where some of the state cannot be carried over.
    """
    target = Path(folder).absolute()
    if target.exists():
        raise StateError("there is something already", where=folder, hint="name a folder that does not exist yet")
    settings = JobSettings(options.variables, options.options, streams=True)
    job = prepare(plan, Mode.AVAILABLE_NOW, settings)
    job = job.in_kernels(job.queries)
    # a query's states have one encoding; that of kernels is Avro
    session = copy_of(spark)
    session.conf.set(STATE_ENCODING, "avro")
    session.conf.set(STATE_CHANGELOG, "false")  # all of the state is new
    with new_folder(target) as work, _temporary_tables() as tables:
        record = CheckpointRecord(work)
        record.prepare()
        ids: dict[str, str] = {}
        sources = SourceWriter(plan, starts, options.variables)
        move = _Move(state, Streams(job, record, session, options), options, sources, tables, predecessor)
        for moved in move.prepared(job.queries, progress):
            report(moved)
        for name in job.queries:
            ids[name] = str(uuid4())
            query = record.query(name).local
            assert query is not None
            query.mkdir()
            move.write(name, query, ids[name], progress)
            if name in first_rows:
                keep_first_rows(first_rows[name], query)
        record.begin(plan, Mode.AVAILABLE_NOW.value, session_options(options.options))
        record.started(ids)
        if has_history:
            record.begin_with_history()
        relocate(work, target)
        move.finish_files()


@contextmanager
def _temporary_tables() -> Iterator[Path]:
    folder = temporary_folder("tables-")
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def kept_by(operator: OperatorState) -> list[StateTable]:
    """The states of an operator's keys that have entries."""
    own = (table for table in operator.states if is_keyed_state(table) or table.kind is Kind.HANDLE)
    return [table for table in own if may_have_entries(table)]


def may_have_entries(table: StateTable) -> bool:
    """Whether a table has entries, or it is not known how many."""
    return table.entries is None or table.entries > 0


def _entries_of(operator: OperatorState) -> int:
    return sum(table.entries or 0 for table in kept_by(operator))


def check_operators(plan: Plan, state: JobState, uids: Uids, allowed: Report | None = None) -> None:
    """Look whether an operator of the plan takes what each operator of a savepoint keeps.

    ``allowed`` is told what is left behind; without it, :class:`NotMovedError` is raised for all of that.  So it is for
    states that have other types than the plan's operators keep.
    """
    errors = list(_of_another_plan(plan, state, uids))
    if errors:
        raise combined_error(errors)
    left = list(_unclaimed(plan, state, uids))
    if left and allowed is None:
        raise combined_error([NotMovedError(f"{each.what}", where=each.where, hint=_ALLOW) for each in left])
    for each in left:
        if allowed is not None:
            allowed(replace(each, what=f"is left behind: {each.what}"))


def _of_another_plan(plan: Plan, state: JobState, uids: Uids) -> Iterator[NotMovedError]:
    holders = dict(uids.holders(plan))
    for operator in state.manifest.operators:
        if operator.uid in holders:
            node, _ = holders[operator.uid]
            for mismatch in mismatches(operator, node, [source.fields for source in plan.inputs(node)]):
                hint = "name the plan from which the job was started"
                yield NotMovedError(f"the savepoint is of another plan: {mismatch}", where=operator.uid, hint=hint)


def _unclaimed(plan: Plan, state: JobState, uids: Uids) -> Iterator[Moved]:
    holders = dict(uids.holders(plan))
    for operator in state.manifest.operators:
        where = f"operator {operator.uid or operator.hash}"
        if operator.uid not in holders:
            if any(table.entries for table in operator.states):
                yield Moved(where, "the plan has no such operator")
            continue
        node, _ = holders[operator.uid]
        for table in operator.states:
            is_source = isinstance(node, TableSourceScan | Values)
            is_known = is_source or table.kind is Kind.HANDLE or table.name in (_WATERMARK, BUCKETS, PART_NUMBER)
            if table.entries and not table.kind.is_keyed and not is_known:
                yield Moved(where, f"its state {table.name} cannot be moved")


class _Prepared(NamedTuple):
    """A query with all that is moved to it: entries by the number of the operator."""

    plan: QueryPlan
    query: StatefulQuery
    entries: Mapping[int, Carried]


class _Move:
    """Writes queries of a plan whose state stands in ``state``; ``tables`` is a folder for files on the way."""

    def __init__(
        self,
        state: JobState,
        streams: Streams,
        options: JobOptions,
        sources: SourceWriter,
        tables: Path,
        predecessor: Predecessor | None,
    ) -> None:
        self._state = state
        self._streams = streams
        self._options = options
        self._sources = sources
        self._uids = Uids(options.options)
        self._tables = tables
        self._predecessor = predecessor
        self._unfinished: list[UnfinishedFile] = []
        self._now = time_ns() // 1_000_000
        self._prepared: dict[str, _Prepared] = {}

    def prepared(self, queries: Mapping[str, QueryPlan], progress: Progress) -> Iterator[Moved]:
        """Find out what is moved of all queries.  Raises :class:`StateError` for all that cannot be."""
        errors: list[FlinkplanError] = []
        for name, plan in queries.items():
            query = StatefulQuery(self._streams.frame(name, plan))
            errors += self._sources.check(query)
            self._prepared[name] = _Prepared(plan, query, dict(self._entries(name, query, plan, errors)))
            try:
                for sink, files in self._unfinished_files(plan):
                    self._unfinished += files
                    yield Moved(sink, f"{len(files)} files that Flink has not finished become visible")
            except NotMovedError as e:
                errors.append(e)
        if errors:
            raise combined_error(errors)
        for operator in self._state.manifest.operators:
            entries = _entries_of(operator)
            if entries:
                yield Moved(operator.uid or operator.hash or "?", f"{entries} entries")

    def _unfinished_files(self, plan: QueryPlan) -> Iterator[tuple[str, list[UnfinishedFile]]]:
        for node in plan.plan.nodes:
            for operator in self._operators(node):
                for states in operator.states:
                    if isinstance(node, Sink) and states.name == BUCKETS and states.entries:
                        table = table_of(node.dynamic_table_sink.table, self._options.variables)
                        if files := unfinished_files(node, table, self._state, states):
                            yield f"table {table.name} (node {node.id})", files

    def finish_files(self) -> None:
        """Finish the files that Flink has not finished, which the sinks' rows before the savepoint are in."""
        for file in self._unfinished:
            file.finish()

    def write(self, name: str, folder: Path, query_id: str, progress: Progress) -> None:
        """Write the query of a sink into its folder."""
        plan, query, entries = self._prepared[name]
        kept = {
            node.id: mark
            for node in plan.plan.nodes
            for operator in self._operators(node)
            if (mark := self._watermark(operator)) is not None
        }
        watermarks = (
            source_watermarks(plan.plan, kept)
            if self._predecessor is None
            else self._predecessor.watermarks(name, plan.plan)
        )
        watermark = watermarks.of_query
        metadata = json.loads(query.java.metadata(watermark, self._now))
        sources = self._sources.offsets(query, folder)
        write_progress(folder, QueryProgress(0, sources, watermark, metadata), query_id)
        watermarks.write(folder, 0)
        if query.operators:  # for which Spark looks how far the query is
            before = query.java.written()
            owners = {o.uid: o for node in plan.plan.nodes for o in self._operators(node)}
            total = sum(map(_entries_of, owners.values()))
            with polled(
                query.java.written, lambda done: progress(f"{name}: writing", min(done - before, total), total)
            ):
                write_entries(query, Place.of(folder / "state"), entries, self._now)

    def _entries(
        self, name: str, query: StatefulQuery, plan: QueryPlan, errors: list[FlinkplanError]
    ) -> Iterator[tuple[int, Carried]]:
        """What is carried over, by the number of the operator; ``errors`` gets what is not."""
        part = plan.plan
        names = node_names(part)
        steps = tuple(plan.operators)
        zone = time_zone(part, self._options.options)
        taken: set[str | None] = set()
        for operator in query.operators:
            if operator.kernel is None or operator.number >= len(steps):
                errors.append(NotMovedError(f"state cannot be carried over to operator {operator.number} of Spark"))
                continue
            node, step = steps[operator.number]
            owner = next((each for each in self._operators(node) if kept_by(each)), None)
            taken.add(None if owner is None else owner.uid)
            try:
                copied = None if self._predecessor is None else self._predecessor.entries(name, node, operator)
                if copied is not None:
                    yield operator.number, copied
                    continue
                if owner is None:
                    continue
                kept = kept_by(owner)
                spark = query.frame.sparkSession
                tables = {table.name: read_table(spark, self._state, table, self._tables) for table in kept}
                timers = {
                    table.name: read_table(spark, self._state, table, self._tables)
                    for table in owner.states
                    if table.kind is Kind.TIMERS and may_have_entries(table)
                }
                watermark = self._watermark(owner)
                carrier = Carrier(node, step, part, operator, tables, self._now, zone, watermark, timers)
                yield operator.number, carry(carrier)
            except StateError as e:
                errors.append(NotMovedError(e.message, where=f"{names[node.id]} (node {node.id})", hint=e.hint))
        for node in part.nodes:
            if any(kept_by(owner) and owner.uid not in taken for owner in self._operators(node)):
                errors.append(NotMovedError("it keeps no state here", where=f"{names[node.id]} (node {node.id})"))

    def _operators(self, node: ExecNode) -> list[OperatorState]:
        """Flink's operators of a node, by their UIDs."""
        uids = self._uids.kept(node).values()
        return [operator for operator in self._state.manifest.operators if operator.uid in uids]

    def _watermark(self, operator: OperatorState) -> int | None:
        """The watermark that an operator has kept (epoch milliseconds), the lowest of its subtasks."""
        tables = (t for t in operator.states if t.name == _WATERMARK and not t.kind.is_keyed)
        marks = [
            row["value"][VALUE] for table in tables for batch in self._state.batches(table) for row in batch.to_pylist()
        ]
        lowest = min(marks, default=None)
        return None if lowest is None or lowest <= -SHIFT_MS else lowest
