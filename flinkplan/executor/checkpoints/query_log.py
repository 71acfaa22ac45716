"""How far a query has come, as Spark logs it: the positions of its sources and its watermark, by batch.

Sources: Spark's ``OffsetSeqLog`` and ``CommitLog``.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ...plan.files import Place
from ...plan.record import Record, replace
from ...state.form import StateError
from ..jvm.session import PARTITIONS

_VERSION = "v1"
_NOTHING = "-"
"""Stands for the position of a source that has not been read."""


class QueryProgress(Record):
    """A batch that is done: what its sources had come to, in the query's order of them, and the watermark behind it.

    ``sources`` are texts as Spark's sources write them, ``None`` for one that has not been read.  ``metadata`` is that
    of the batch, with the settings that the query goes on with.
    """

    batch: int
    sources: tuple[str | None, ...]
    watermark: int
    metadata: Mapping[str, Any]

    @property
    def partitions(self) -> int:
        """In how many partitions state is."""
        return int(self.metadata["conf"][PARTITIONS])

    def with_partitions(self, partitions: int) -> QueryProgress:
        """The same where state is in so many."""
        conf = {**self.metadata["conf"], PARTITIONS: str(partitions)}
        return replace(self, metadata={**self.metadata, "conf": conf})


def last_batch(query: Place) -> int:
    """The number of the last batch of a query that is done.  Raises :class:`StateError` where there is none."""
    batch = max((int(name) for name in (query / "commits").children() if name.isdecimal()), default=None)
    if batch is None:
        raise StateError("no batch is done", where=str(query), hint="let the job run until one is")
    return batch


def read_progress(query: Place) -> QueryProgress:
    """The last batch of a query that is done.  Raises :class:`StateError` where there is none."""
    batch = last_batch(query)
    _, metadata, *sources = (query / "offsets" / str(batch)).read().rstrip("\n").split("\n")
    commit = json.loads((query / "commits" / str(batch)).read().partition("\n")[2])
    ends = tuple(None if source == _NOTHING else source for source in sources)
    return QueryProgress(batch, ends, int(commit["nextBatchWatermarkMs"]), json.loads(metadata))


def write_progress(query: Path, progress: QueryProgress, query_id: str) -> None:
    """Have a new query begin behind a batch."""
    offsets = [_VERSION, json.dumps(progress.metadata), *(_NOTHING if s is None else s for s in progress.sources)]
    commit = [_VERSION, json.dumps({"nextBatchWatermarkMs": progress.watermark})]
    texts = {"offsets": "\n".join(offsets), "commits": "\n".join(commit)}
    for folder, text in texts.items():
        (query / folder).mkdir()
        (query / folder / str(progress.batch)).write_text(text)
    (query / "metadata").write_text(json.dumps({"id": query_id}))


@contextmanager
def batch_without_rows(query: Place) -> Iterator[int]:
    """Log another batch of a query, whose sources stay where they are; the number of the one before it.

    It is done when the context ends: until then its state is to be written.
    """
    batch = last_batch(query)
    (query / "offsets" / str(batch + 1)).write((query / "offsets" / str(batch)).read())
    yield batch
    (query / "commits" / str(batch + 1)).write((query / "commits" / str(batch)).read())


def copy_sources(source: Path, target: Path) -> None:
    """Copy what the sources of a query have on record beside their positions."""
    for name in ("sources", "watermarks"):
        if (source / name).is_dir():
            shutil.copytree(source / name, target / name)
