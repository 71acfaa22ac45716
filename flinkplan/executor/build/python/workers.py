"""Window operators with Python classes in Spark's Python workers: a key's rows of a batch in one call."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

from ....windowing.keys import NEVER, KeyState, load
from ....windowing.operator import END, Arrival, Emitted, KeyRun
from ...errors import ExecutionError
from ...jvm.spark import F, T
from ..stream import (
    BEHIND,
    CAUSE_ROW,
    CAUSE_TIME,
    FIRING,
    FIRST_BEHIND,
    GAP,
    KEY_FIRING,
    LATE,
    LATENESS,
    ROW,
    SEQUENCE,
    START,
    TIME,
    column_name,
)
from ..stream import END as WINDOW_END
from .windows import PythonOperator, writer

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

FOREVER_MS = 36_500 * 86_400_000
"""The TTL of what is kept for ever: so that one that is edited later is read from an old checkpoint."""


def run_python(frame: DataFrame, keys: Sequence[str], operator: PythonOperator, results: T.StructType) -> DataFrame:
    """What an operator makes of a frame's rows, in the columns of ``WindowOperator.outputSchema`` of the kernels.

    The frame has the key's columns, then the row's time, its own gap, the row as one struct, and the hidden columns.
    Raises :class:`ExecutionError` where Python lacks what Spark's workers need.
    """
    from pyspark.errors import PySparkImportError

    output = T.StructType(list(results.fields))
    for name in (START, WINDOW_END, FIRING, KEY_FIRING):
        output = output.add(name, T.LongType())
    output = output.add(LATE, frame.schema[ROW].dataType, True)
    for name in (SEQUENCE, LATENESS, CAUSE_TIME, CAUSE_ROW):
        output = output.add(name, T.LongType(), name == LATENESS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # of Spark's, about pandas, of which nothing is used here
        try:
            return (_in_stream if frame.isStreaming else _at_once)(frame, keys, operator, output)
        except PySparkImportError as e:
            message = f"windows by Python classes need more of Python: {e}"
            raise ExecutionError(message, hint="pip install 'flinkplan[python]'") from None


def _arrival(row: Mapping[str, Any]) -> Arrival:
    return Arrival(row[TIME], row[GAP], tuple(row[ROW].values()), row[SEQUENCE], row.get(LATENESS))


class _Columns:
    """Makes Spark's values of what an operator emits, in the order of the output's columns."""

    def __init__(self, operator: PythonOperator) -> None:
        self._write = [writer(*of) for of in zip(operator.result_names, operator.result_types, strict=True)]

    def of(self, emitted: Emitted) -> Iterator[Any]:
        """The values of a row.  Raises :class:`TypeError` for what the declared columns do not take."""
        values = emitted.values
        if values is None:
            yield from [None] * len(self._write)
        else:
            yield from (write(value) for write, value in zip(self._write, values, strict=True))
        yield from emitted.bounds or (None, None)
        yield from emitted.firings or (None, None)
        yield None if emitted.late is None else {column_name(i): value for i, value in enumerate(emitted.late)}
        yield from (emitted.sequence, emitted.watermark, emitted.cause_time, emitted.cause)


# ---------------------------------------------------------------- streams


def _in_stream(frame: DataFrame, keys: Sequence[str], operator: PythonOperator, output: StructType) -> DataFrame:
    mode = "EventTime" if operator.timing.in_event_time else "ProcessingTime"
    return frame.groupBy(*keys).transformWithState(_processor(operator, output.names), output, "Append", mode)


def _processor(operator: PythonOperator, output: Sequence[str]) -> Any:
    """Spark's processor; its class cannot be before Spark is."""
    # names of this module go to the workers by value, and stand-ins for modules cannot
    from pyspark.sql import Row
    from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle
    from pyspark.sql.types import BinaryType, StructType

    class Windows(StatefulProcessor):
        def init(self, handle: StatefulProcessorHandle) -> None:
            ttl = None if operator.timing.in_event_time else operator.ttls.longest() or FOREVER_MS
            self._handle = handle
            self._state = handle.getValueState("windows", StructType().add("state", BinaryType()), ttl)
            self._made = operator.made()
            self._made.function.open(None)
            self._columns = _Columns(operator)

        def handleInputRows(self, key: Any, rows: Iterator[Any], timerValues: Any) -> Iterator[Row]:
            arrivals = [_arrival(row.asDict()) for row in rows]
            run = self._run(arrivals[0].values, timerValues)
            run.take(arrivals)
            return self._end(run)

        def handleExpiredTimer(self, key: Any, timerValues: Any, expiredTimerInfo: Any) -> Iterator[Row]:
            run = self._run(None, timerValues)
            run.expire()
            return self._end(run)

        def _run(self, values: Sequence[Any] | None, timers: Any) -> KeyRun:
            saved = self._state.get()
            if saved is not None:
                own = load(bytes(saved[0]), operator.modules)
                own.key = operator.named(own.key)
            else:
                own = KeyState(None if values is None else operator.key(values), operator.lateness)
            return KeyRun(self._made, own, timers.getCurrentProcessingTimeInMs(), timers.getCurrentWatermarkInMs())

        def _end(self, run: KeyRun) -> Iterator[Row]:
            run.end()
            if run.state.scheduled != run.before:
                if run.before != NEVER:
                    self._handle.deleteTimer(run.before)
                if run.state.scheduled != NEVER:
                    self._handle.registerTimer(run.state.scheduled)
            if run.state.is_empty():
                self._state.clear()
            else:
                self._state.update((run.state.dump(),))
            return iter([Row(*output)(*self._columns.of(emitted)) for emitted in run.emitted])

        def close(self) -> None:
            pass

    return Windows()


# ---------------------------------------------------------------- batches


def _at_once(frame: DataFrame, keys: Sequence[str], operator: PythonOperator, output: StructType) -> DataFrame:
    """Key by key over all rows, as ``KeyedPass`` of the kernels: state is but that of one key, and is never written."""
    from pyspark.sql.pandas.types import to_arrow_schema

    schema = to_arrow_schema(output, timezone="UTC")
    partitions = int(str(frame.sparkSession.conf.get("spark.sql.shuffle.partitions")))
    by = [F.col(key) for key in keys]
    rows = frame.repartition(partitions, *by).sortWithinPartitions(*by, SEQUENCE)

    def worked(batches: Iterable[Any]) -> Iterator[Any]:
        from pyarrow import RecordBatch

        work = Batch(operator, list(keys))
        for emitted in work.of(row for batch in batches for row in batch.to_pylist()):
            yield RecordBatch.from_pylist(emitted, schema=schema)

    return rows.mapInArrow(worked, output)


class Batch:
    """What a task makes of the rows of its keys."""

    def __init__(self, operator: PythonOperator, keys: Sequence[str]) -> None:
        self._operator = operator
        self._keys = keys
        self._made = operator.made()
        self._made.function.open(None)
        self._columns = _Columns(operator)
        self._clock = int(time.time() * 1000)

    def of(self, rows: Iterable[Mapping[str, Any]]) -> Iterator[list[dict[str, Any]]]:
        """The output of each key of rows that are sorted by key and sequence."""
        for _, of_key in groupby(rows, key=lambda row: [row[key] for key in self._keys]):
            emitted = list(self._of_key([_arrival(row) for row in of_key]))
            if emitted:
                yield emitted

    def _of_key(self, arrivals: list[Arrival]) -> Iterator[dict[str, Any]]:
        """What a key emits before the end of input, of what comes then, and of the timers that are due at last."""
        own = KeyState(self._operator.key(arrivals[0].values), self._operator.lateness)
        behind = [each for each in arrivals if each.sequence >= FIRST_BEHIND]
        before = arrivals[: len(arrivals) - len(behind)]
        if before:
            run = KeyRun(self._made, own, self._clock, 0)
            run.take(before)
            yield from self._emitted(run, 0)
        if behind:
            run = KeyRun(self._made, own, self._clock + 1, END)
            run.take(behind)
            yield from self._emitted(run, BEHIND)
        last = END if self._operator.timing.in_event_time else self._clock + 1
        while own.scheduled <= last:
            run = KeyRun(self._made, own, self._clock + 1, END)
            run.expire()
            yield from self._emitted(run, BEHIND)

    def _emitted(self, run: KeyRun, behind: int) -> Iterator[dict[str, Any]]:
        """A run's output; of what comes at the end of input all places are behind the others."""
        run.end()
        names = [*map(column_name, range(len(self._operator.result_names))), *_HIDDEN]
        for emitted in run.emitted:
            row = dict(zip(names, self._columns.of(emitted), strict=True))
            if row[SEQUENCE] < FIRST_BEHIND:
                row[SEQUENCE] += behind
            yield row


_HIDDEN = (START, WINDOW_END, FIRING, KEY_FIRING, LATE, SEQUENCE, LATENESS, CAUSE_TIME, CAUSE_ROW)
