"""A checkpoint's state in the neutral form, as Flink's operators of the same plan keep it."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Collection, Iterator, Mapping, Set
from pathlib import Path
from time import time_ns
from typing import TYPE_CHECKING, Any

from ...plan.document import Plan, dumps
from ...plan.errors import combined_error
from ...plan.files import Place
from ...plan.names import node_names
from ...plan.nodes import ExecNode
from ...plan.record import Record, replace
from ...plan.session import time_zone
from ...plan.types import LogicalType
from ...plan.types.parser import parse_type
from ...plan.uids import Uids
from ...state.checkpoint import CheckpointRecord
from ...state.form import (
    ROW_KIND,
    Column,
    JobState,
    Kind,
    Manifest,
    OperatorState,
    SourcePosition,
    StateError,
    StateTable,
)
from ...state.form_arrow import arrow, table_schema
from ...state.moving import NotMovedError
from ..build.time.event_time import END_MS, SHIFT_MS
from ..jobs.building import Streams
from ..jobs.first_rows import check_first_rows
from ..jobs.options import JobOptions
from ..jvm.session import STATE_ENCODING, copy_of
from ..jvm.spark import F
from ..jvm.types import spark_type
from ..prepare.job_plan import JobPlan, JobSettings, prepare
from ..prepare.modes import Mode
from ..prepare.query import QueryPlan
from .entries import Entries, read_entries
from .from_flink.tables import given, neutral_type
from .operators import Operator, StatefulQuery
from .positions import unknown_tables
from .query_log import QueryProgress, read_progress
from .read_positions import ReadPositions
from .to_flink import give
from .to_flink.givers import FlinkEntries, Given, Giver

if TYPE_CHECKING:
    from pyarrow import RecordBatch
    from pyspark.sql import Column as Expression
    from pyspark.sql import SparkSession

_ROWS_IN_BATCH = 16_384
_FIRST_MADE = 1_000_000
"""More than there are tables of an empty savepoint."""
_WATERMARK = "watermark"
"""The name of the operator state in which Flink keeps a watermark."""


class CheckpointState(JobState):
    """The state of a checkpoint; ``operators`` are those of an empty savepoint of the same plan.

    ``options`` are those with which the job ran, ``restarted`` the names of the tables whose sources are to start where
    the tables' options say.  Entries go through Parquet files in a temporary folder, which
    :meth:`close` removes.  Raises :class:`StateError` where some of the state is not known in Flink, unless
    ``is_partial``: then :attr:`refused` says so, and positions of sources are left out.
    """

    def __init__(
        self,
        plan: Plan,
        folder: str,
        operators: tuple[OperatorState, ...],
        spark: SparkSession,
        options: JobOptions,
        restarted: Collection[str] = (),
        *,
        is_partial: bool = False,
    ) -> None:
        self._plan = plan
        self.restarted = restarted
        self.refused: dict[int, NotMovedError] = {}
        """Why the state of nodes is not known in Flink, by their ids."""
        self.queries: dict[str, SavedQuery] = {}
        """The queries of the checkpoint by the names of their sinks."""
        self._is_partial = is_partial
        self._tables = Path(tempfile.mkdtemp(prefix="flinkplan-tables-"))
        self._entries: dict[int, FlinkEntries] = {}
        self._rows: dict[int, list[dict[str, Any]]] = {}
        self._made = 0
        try:
            self._manifest = self._read(CheckpointRecord(folder), operators, spark, options)
        except BaseException:
            self.close()
            raise

    @property
    def manifest(self) -> Manifest:
        return self._manifest

    @property
    def plan_text(self) -> str:
        return dumps(self._plan)

    def close(self) -> None:
        """Remove the temporary files."""
        shutil.rmtree(self._tables, ignore_errors=True)

    def __enter__(self) -> CheckpointState:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def batches(self, table: StateTable) -> Iterator[RecordBatch]:
        pa = arrow()
        schema = table_schema(table)
        if table.table in self._rows:
            yield pa.RecordBatch.from_pylist(self._rows[table.table], schema=schema)
        elif table.table in self._entries:
            folder = self._tables / str(table.table)
            if not folder.exists():
                _write(table, self._entries[table.table], folder)
            yield from _batches(folder, schema)

    def _read(
        self, record: CheckpointRecord, operators: tuple[OperatorState, ...], spark: SparkSession, options: JobOptions
    ) -> Manifest:
        mode = Mode(record.modes[-1]) if record.modes else Mode.AVAILABLE_NOW
        if record.has_ended or mode is Mode.BOUNDED:
            raise StateError("the job of this checkpoint has ended its input", where=str(record.folder))
        if Mode.REAL_TIME.value in record.modes:
            raise StateError("the job of this checkpoint runs in real-time mode", where=str(record.folder))
        job = prepare(self._plan, mode, JobSettings(options.variables, options.options, streams=True))
        in_kernels = [n for n in job.queries if record.settings(n).get(STATE_ENCODING) == "avro"]
        job = job.in_kernels(in_kernels)
        record.check(job.queries)
        given_states: dict[str, OperatorState] = {}
        positions: dict[str, SourcePosition] = {}
        templates = {operator.uid or "": operator for operator in operators if not operator.is_finished}
        ended = [operator for operator in operators if operator.is_finished]
        errors: list[StateError] = list(unknown_tables(self._plan, self.restarted))
        ended_uids = {operator.uid or "" for operator in ended}
        for name, query in job.queries.items():
            check_first_rows(record, name)
            session = copy_of(spark)
            session.conf.set(STATE_ENCODING, "avro" if name in in_kernels else "unsaferow")
            reader = _QueryReader(self, job, record, name, query, session, options)
            self.queries[name] = reader.query
            for uid, operator in reader.operators(templates):
                given_states.setdefault(uid, operator)
            if self._is_partial:
                continue
            for position in reader.positions(self.restarted, ended_uids, errors):
                known = positions.setdefault(str(position.uid), position)
                if known != position:
                    raise StateError("the sinks' queries have not read the same", where=str(record.folder))
        errors += [] if self._is_partial else self.refused.values()
        if errors:
            raise combined_error(list({(str(error.where), error.message): error for error in errors}.values()))
        kept = [*given_states.values(), *ended]
        kept += [replace(templates[uid], states=()) for uid in positions if uid in templates]
        return Manifest("spark", tuple(kept), checkpoint=1, has_plan=True, positions=tuple(positions.values()))

    def next_number(self) -> int:
        """A number for a table that the operators of the empty savepoint do not have."""
        self._made += 1
        return _FIRST_MADE + self._made

    def keep(self, table: StateTable, entries: FlinkEntries) -> None:
        """Take the entries of a table."""
        _selected(table, entries)  # says what does not fit before anything is written
        self._entries[table.table] = entries

    def keep_rows(self, table: StateTable, rows: list[dict[str, Any]]) -> None:
        """Take the rows of a small table."""
        self._rows[table.table] = rows


class SavedQuery(Record):
    """A query of a checkpoint: what it runs, how far it has come, and the entries of its kernels' states."""

    plan: QueryPlan
    folder: Place
    stateful: StatefulQuery
    progress: QueryProgress
    entries: Entries

    def operator(self, node: int) -> Operator | None:
        """The operator that runs the node with this id."""
        numbers = [number for number, (each, _) in enumerate(self.plan.operators) if each.id == node]
        return next((each for each in self.stateful.operators if each.number in numbers), None)


class _QueryReader:
    """Reads the state and the positions of one query."""

    def __init__(
        self,
        state: CheckpointState,
        job: JobPlan,
        record: CheckpointRecord,
        name: str,
        query: QueryPlan,
        session: SparkSession,
        options: JobOptions,
    ) -> None:
        self._state = state
        self._record = record
        self._folder = record.query(name)
        self._query = query
        self._options = options
        self._progress = read_progress(self._folder)
        self._stateful = StatefulQuery(Streams(job, record, session, options).frame(name, query))
        entries = read_entries(session, self._folder, self._stateful)
        self.query = SavedQuery(query, self._folder, self._stateful, self._progress, entries)
        self._uids = Uids(options.options)
        if record.is_batch_open(name):
            hint = "let the job go on once, with --mode available-now"
            raise StateError(f"the last batch of the sink {name} has not ended", where=str(record.folder), hint=hint)

    @property
    def _watermark(self) -> int | None:
        mark = self._progress.watermark
        if mark >= END_MS:
            raise StateError("the job of this checkpoint has ended its input", where=str(self._record.folder))
        return mark - SHIFT_MS if mark else None

    def operators(self, templates: Mapping[str, OperatorState]) -> Iterator[tuple[str, OperatorState]]:
        """Flink's operators with what the query keeps for them; the state gets those of which that is not known."""
        plan, stateful = self._query.plan, self._stateful
        names = node_names(plan)
        nodes = [node for node, _ in self._query.operators]
        entries = self.query.entries
        zone = time_zone(plan, self._options.options)
        now = time_ns() // 1_000_000
        read: set[int] = set()
        for operator in stateful.operators:
            if operator.number >= len(nodes):
                raise StateError(f"operator {operator.number} of Spark belongs to no node")
            node = nodes[operator.number]
            read.add(node.id)
            template = _template(node, templates, self._uids)
            where = f"{names[node.id]} (node {node.id})"
            try:
                if template is None:
                    raise NotMovedError("Flink keeps no state of it")
                keyed = {t.name: t for t in template.states if t.kind.is_keyed}
                own = entries[operator.number]
                options = self._options.options
                clock = self._progress.metadata.get("batchTimestampMs")
                giver = Giver(node, plan, stateful, operator, own, keyed, now, zone, self._watermark, clock, options)
                yield str(template.uid), self._given(template, give(giver))
            except StateError as e:
                self._state.refused[node.id] = NotMovedError(e.message, where=e.where or where, hint=e.hint)
        for node in plan.nodes:
            template = _template(node, templates, self._uids)
            if template and node.id not in read and any(t.kind in _ENTRIES for t in template.states):
                where = f"{names[node.id]} (node {node.id})"
                self._state.refused[node.id] = NotMovedError("it keeps no state here", where=where)

    def positions(
        self, restarted: Collection[str], ended: Set[str], errors: list[StateError]
    ) -> Iterator[SourcePosition]:
        """How far each source has been read; ``errors`` gets those that cannot be moved."""
        positions = ReadPositions(
            self._query.plan,
            self._folder,
            self._stateful,
            self._progress,
            self._options.variables,
            self._uids,
            restarted,
            ended,
        )
        return positions.all(errors)

    def _given(self, template: OperatorState, given_states: Given) -> OperatorState:
        made = [entries.table for entries in given_states.values() if entries.table is not None]
        known = {table.name for table in template.states}
        numbered = (replace(table, table=self._state.next_number()) for table in made if table.name not in known)
        template = replace(template, states=(*template.states, *numbered))
        for table in template.states:
            if table.name in given_states and table.kind.is_keyed:
                self._state.keep(table, given_states[table.name])
            elif table.name == _WATERMARK and self._watermark is not None:
                self._state.keep_rows(table, [{"subtask": 0, "position": 0, "value": {"value": self._watermark}}])
        return template


_ENTRIES = (Kind.VALUE, Kind.LIST, Kind.MAP)


def _template(node: ExecNode, templates: Mapping[str, OperatorState], uids: Uids) -> OperatorState | None:
    known = [templates[uid] for uid in uids.kept(node).values() if uid in templates]
    return next((t for t in known if any(s.kind.is_keyed for s in t.states)), None)


def _plain(t: LogicalType) -> LogicalType:
    """A type whose rows have no row kind."""
    fields = tuple(replace(f, type=_plain(f.type)) for f in t.fields if f.name != ROW_KIND)
    return replace(t, fields=fields, children=tuple(_plain(c) for c in t.children))


def _field(value: Expression, column: Column) -> Expression:
    if column.serializer:
        return value.cast("binary").alias(column.name)
    t = parse_type(column.type)
    held = value.cast(spark_type(_plain(t))) if t.root != "NULL" else value
    return given(held, t).cast(neutral_type(t)).alias(column.name)


def _struct(values: list[Expression], columns: tuple[Column, ...], what: str, kind: Expression | None) -> Expression:
    wanted = [c for c in columns if c.name != ROW_KIND]
    if len(values) != len(wanted):
        raise StateError(f"the {what} has {len(wanted)} columns in Flink, not {len(values)}")
    fields = [_field(value, column) for value, column in zip(values, wanted, strict=True)]
    if len(wanted) < len(columns):
        fields.append((F.lit(0) if kind is None else kind).cast("tinyint").alias(ROW_KIND))
    return F.struct(*fields)


def _selected(table: StateTable, entries: FlinkEntries) -> list[Expression]:
    """The columns of a table, but for a key without columns."""
    frame = entries.frame
    keys = entries.key
    if keys is None:
        names = frame.schema["key"].dataType.names  # type: ignore[attr-defined]
        keys = [F.col("key").getField(name) for name in names] if table.key else []
    columns = [_struct(list(keys), table.key, "key", None).alias("key")] if table.key else []
    if table.namespace:
        columns.append(_struct(list(entries.namespace), table.namespace, "namespace", None).alias("namespace"))
    if table.map_key:
        columns.append(_struct(list(entries.map_key), table.map_key, "map key", None).alias("map_key"))
    if table.kind is Kind.LIST:
        assert entries.position is not None
        columns.append(entries.position.cast("bigint").alias("position"))
    columns.append(_struct(list(entries.value), table.value, "value", entries.kind).alias("value"))
    if table.time:
        columns.append(F.timestamp_millis("accessed").alias("accessed"))
    if not table.key:
        columns.append(F.lit(0).alias("$row"))
    try:
        frame.select(*columns).schema  # noqa: B018
    except Exception as e:
        raise StateError(f"the state {table.name} does not fit Flink's: {str(e).splitlines()[0]}") from None
    return columns


def _write(table: StateTable, entries: FlinkEntries, folder: Path) -> None:
    """Write the entries into files of Parquet."""
    frame = entries.frame.select(*_selected(table, entries))
    frame.write.option("compression", "lz4").parquet(str(folder))


def _batches(folder: Path, schema: Any) -> Iterator[RecordBatch]:
    pa = arrow()
    import pyarrow.parquet as parquet

    for file in sorted(folder.glob("*.parquet")):
        with parquet.ParquetFile(file) as stored:
            for batch in stored.iter_batches(_ROWS_IN_BATCH):
                columns = []
                for wanted in schema:
                    if wanted.name in batch.schema.names:
                        columns.append(_cast(batch.column(wanted.name), wanted.type))
                    else:
                        columns.append(pa.array([{}] * batch.num_rows, wanted.type))
                yield pa.RecordBatch.from_arrays(columns, schema=schema)


def _cast(array: Any, t: Any) -> Any:
    """Values as Spark has written them in a type of Arrow, fields by their position."""
    pa = arrow()
    if pa.types.is_struct(t):
        mask = array.is_null() if array.null_count else None
        fields = [_cast(array.field(i), t.field(i).type) for i in range(t.num_fields)]
        return pa.StructArray.from_arrays(fields, fields=list(t), mask=mask)
    if pa.types.is_list(t):
        return _list(array, t)
    return array.cast(t, safe=False)


def _list(array: Any, t: Any) -> Any:
    pa = arrow()
    flat = _cast(array.flatten(), t.value_type)
    lengths = array.value_lengths().fill_null(0)
    offsets = pa.concat_arrays([pa.array([0], pa.int64()), _running(lengths)]).cast(pa.int32())
    mask = array.is_null() if array.null_count else None
    return pa.ListArray.from_arrays(offsets, flat, type=t, mask=mask)


def _running(lengths: Any) -> Any:
    import pyarrow.compute as compute

    return compute.cumulative_sum(lengths.cast(arrow().int64()))
