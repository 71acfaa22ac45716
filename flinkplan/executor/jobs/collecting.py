"""The rows of a query that has no table to go to: they are brought to the process that asked."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from queue import Empty, Full, Queue
from threading import Event
from typing import TYPE_CHECKING, Any

from ...plan.functions.cast import CAST
from ...plan.rex import Call, InputRef, RexNode
from ...plan.types import BINARY_STRING, STRING, TIMESTAMPS, LogicalType
from ..build.context import TranslationContext
from ..build.stream import INSERT, KIND, Stream
from ..jvm.spark import F
from ..jvm.types import field_name, has_nanos, is_day_time

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

POLL_SECONDS = 0.1

Row = tuple[int, tuple[Any, ...]]
"""The number of the row's kind (:data:`.stream.ROW_KINDS`), and its values."""

_EPOCH = datetime(1970, 1, 1)


class Collector:
    """Takes the rows of a job, batch by batch, and hands them on in their order.

    ``as_text``: values are texts as ``CAST(… AS STRING)`` makes them, ``None`` for NULL; else they are Python's.
    ``with_values``: behind the texts of a row stand its Python values.
    ``waiting``: how many rows may wait to be fetched; then the job waits.  ``failure`` is the Java exception that
    ended the job, if one did while a batch was taken.
    """

    def __init__(self, *, as_text: bool, with_values: bool = False, waiting: int = 10_000) -> None:
        self._as_text = as_text
        self._has_values = with_values or not as_text
        self._rows: Queue[Row] = Queue(waiting)
        self._closed = Event()
        self._written: dict[int, int] = {}
        self.failure: Any = None

    def writer(self, stream: Stream, context: TranslationContext) -> Callable[[DataFrame, int], None]:
        """What takes the batches of the stream that reaches the sink."""
        shown: list[Column] = []
        convert: list[Callable[[Any], Any]] = []
        if self._as_text:
            shown += _texts(stream, context)
            convert += [_same] * len(shown)
        if self._has_values:
            shown += _portable(stream)
            convert += map(_converter, stream.type.field_types)

        def take(batch: DataFrame, number: int) -> None:
            from py4j.protocol import Py4JJavaError

            kind: Column = F.lit(INSERT)
            if stream.changelog:
                batch = context.frame(context.runtime.sink.Changes.sorted(batch.coalesce(1)._jdf))
                kind = F.col(KIND)
            count = 0
            try:
                for row in batch.select(kind, *shown).toLocalIterator():
                    values = (None if v is None else f(v) for f, v in zip(convert, row[1:], strict=True))
                    if not self._put((row[0], tuple(values))):
                        return
                    count += 1
            except Py4JJavaError as e:
                self.failure = e.java_exception
                raise
            self._written[number] = count

        return take

    def _put(self, row: Row) -> bool:
        while not self._closed.is_set():
            try:
                self._rows.put(row, timeout=POLL_SECONDS)
            except Full:
                continue
            return True
        return False

    def rows(self, ended: Callable[[], bool], patience: float = POLL_SECONDS) -> Iterator[Row]:
        """The rows as they come, until ``ended`` says that there will be no more.

        It is asked when no row has come for ``patience`` seconds, and may wait for the end itself.
        """
        is_last = False
        while True:
            try:
                yield self._rows.get(timeout=0 if is_last else patience)
            except Empty:
                if is_last:
                    return
                is_last = ended()

    def waiting_rows(self, limit: int) -> list[Row]:
        """The rows that wait to be fetched, at most ``limit``; it does not wait for others."""
        rows: list[Row] = []
        with suppress(Empty):
            while len(rows) < limit:
                rows.append(self._rows.get_nowait())
        return rows

    def written(self, batch: int) -> int:
        """How many rows of a batch were handed on; it can be asked once."""
        return self._written.pop(batch, 0)

    def close(self) -> None:
        """Take no more rows; a batch that waits for its rows to be fetched waits no longer."""
        self._closed.set()


def _same(value: Any) -> Any:
    return value


def _texts(stream: Stream, context: TranslationContext) -> list[Column]:

    def text(index: int, t: LogicalType) -> Column:
        if t.root in BINARY_STRING:
            return F.concat(F.lit("x'"), F.lower(F.hex(F.col(f"c{index}"))), F.lit("'"))
        column: RexNode = InputRef(index, t)
        cast = Call(CAST.internal_name, (column,), STRING, CAST.syntax)
        return context.expression_over(cast, [F.col(f"c{i}") for i in range(len(stream.type.fields))])

    return [text(i, t) for i, t in enumerate(stream.type.field_types)]


def _portable(stream: Stream) -> list[Column]:

    return [_micros(F.col(f"c{i}"), t) for i, t in enumerate(stream.type.field_types)]


def _micros(column: Column, t: LogicalType) -> Column:
    """A column without Spark's timestamps, which PySpark would read by the clock of this machine."""

    if has_nanos(t):
        return F.unix_micros(column["micros"])
    if t.root in TIMESTAMPS:
        return F.unix_micros(column)
    if t.root == "ARRAY":
        return F.transform(column, lambda e: _micros(e, t.element))
    if t.root == "MULTISET":
        return F.transform_keys(column, lambda k, v: _micros(k, t.element))
    if t.root == "MAP":
        key, value = t.children
        with_keys = F.transform_keys(column, lambda k, v: _micros(k, key))
        return F.transform_values(with_keys, lambda k, v: _micros(v, value))
    if t.root in ("ROW", "STRUCTURED"):
        names = [field_name(i) for i in range(len(t.fields))]
        fields = (_micros(column[n], f).alias(n) for n, f in zip(names, t.field_types, strict=True))
        return F.when(column.isNotNull(), F.struct(*fields))
    return column


def _converter(t: LogicalType) -> Callable[[Any], Any]:
    """From what :func:`_micros` leaves to the Python value that PyFlink would give."""
    if t.root in TIMESTAMPS:
        zone = UTC if t.root == "TIMESTAMP_LTZ" else None
        return lambda v: (_EPOCH + timedelta(microseconds=v)).replace(tzinfo=zone)
    if t.root == "TIME":
        return lambda v: (datetime.min + timedelta(milliseconds=v)).time()
    if is_day_time(t):
        return lambda v: timedelta(milliseconds=v)
    if t.root == "ARRAY":
        return _each(t.element)
    if t.root == "MULTISET":
        element = _optional(t.element)
        return lambda v: {element(k): count for k, count in v.items()}
    if t.root == "MAP":
        key, value = map(_optional, t.children)
        return lambda v: {key(k): value(e) for k, e in v.items()}
    if t.root in ("ROW", "STRUCTURED"):
        fields = [_optional(f) for f in t.field_types]
        return lambda v: tuple(f(e) for f, e in zip(fields, v, strict=True))
    if t.root in BINARY_STRING:
        return bytes
    return _same


def _each(t: LogicalType) -> Callable[[Any], Any]:
    element = _optional(t)
    return lambda v: [element(e) for e in v]


def _optional(t: LogicalType) -> Callable[[Any], Any]:
    convert = _converter(t)
    return lambda v: None if v is None else convert(v)
