"""Writes messages, in Spark's Python workers."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import repeat
from typing import TYPE_CHECKING, Any

from ...plan.record import Record
from .messages import Sender

if TYPE_CHECKING:
    from pyarrow import RecordBatch

RESULT = "written bigint"
"""The schema of what a task tells: how many messages it has written."""

_ANY = -1
"""The partition that the client chooses."""


class Writing(Record):
    """Where messages go: the topic, and to the partition of each task's own if they are ``fixed``."""

    topic: str
    client: Mapping[str, Any]
    fixed: bool = False


def writer(writing: Writing) -> Callable[[Iterator[RecordBatch]], Iterator[RecordBatch]]:
    """What writes the messages of a task: batches with the columns ``key`` and ``value``, perhaps ``timestamp`` and
    ``headers``.

    It raises :class:`KafkaError` unless each one has arrived.
    """

    def write(batches: Iterator[RecordBatch]) -> Iterator[RecordBatch]:
        import pyarrow as pa

        # this function is pickled with copies of what it names: only one of the module knows the module's clients
        yield pa.RecordBatch.from_pydict({"written": [_send(batches, writing)]})

    return write


def _send(batches: Iterator[RecordBatch], writing: Writing) -> int:
    """Write the messages of a task, and say how many there were."""
    settings = json.dumps(sorted(writing.client.items()))
    sender = _SENDERS.pop(settings, None) or Sender(writing.client)
    partition = sender.own_partition(writing.topic, _task()) if writing.fixed else _ANY
    written = 0
    for batch in batches:
        _send_all(sender, writing.topic, partition, batch)
        written += batch.num_rows
    sender.finish(writing.topic)
    _SENDERS[settings] = sender
    return written


_SENDERS: dict[str, Sender] = {}
"""The clients of this worker by their settings, which tasks that have failed do not give back."""


def _task() -> int:
    from pyspark import TaskContext

    context = TaskContext.get()
    assert context is not None
    return context.partitionId()


def _send_all(sender: Sender, topic: str, partition: int, batch: RecordBatch) -> None:
    """Have messages sent.  Raises :class:`KafkaError` where one is not, or one of before was not taken."""
    columns = {name: column.to_pylist() for name, column in zip(batch.schema.names, batch.columns, strict=True)}
    keys, values = columns.pop("key"), columns.pop("value")
    for value, key, more in zip(values, keys, _rows(columns), strict=False):
        sender.send(topic, partition, key, value, more)


def _rows(columns: Mapping[str, Sequence[Any]]) -> Iterable[Mapping[str, Any]]:
    """What each row says by the names of columns, without NULLs; rows without end where there are no columns."""
    if not columns:
        return repeat({})
    rows = zip(*columns.values(), strict=True)
    return ({name: value for name, value in zip(columns, row, strict=True) if value is not None} for row in rows)
