"""The sources of a streaming query in Spark's order, and writing where they go on into a new checkpoint."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from ...plan.document import Plan
from ...plan.nodes import TableSourceScan
from ...plan.record import Record
from ...state.moving import NotMovedError
from ..build.context import NODE
from ..connectors.tables import table_of
from ..kafka.positions import Broker, KafkaError, Offsets, Partition
from ..kafka.settings import reading_of
from ..kafka.stream import position
from .positions import Ended, Files, KafkaOffsets, Kept, Restarted, Start

if TYPE_CHECKING:
    from .operators import StatefulQuery

_READ_AT_ONCE = "1"
"""The offset of a source behind its one batch, as ``ControlStream.java`` and ``JdbcStream.java`` write it."""

_SPEC = "spec"
"""The option of ``FileSource.java`` that says what the table is."""

_EARLIEST, _LATEST = -2, -1


class PlacedSource(Record):
    """A place where a query reads a source: ``number`` is the source's own, which several places may read."""

    number: int
    node: int | None
    options: Mapping[str, str]


def placed_sources(query: StatefulQuery) -> list[PlacedSource]:
    """The places of a query, in the order in which Spark has their offsets."""
    places = json.loads(query.java.sources())
    return [
        PlacedSource(p["source"], int(p["options"][NODE]) if NODE in p["options"] else None, p["options"])
        for p in places
    ]


class SourceWriter:
    """Writes where the sources of queries go on; ``starts`` are by the ids of nodes."""

    def __init__(self, plan: Plan, starts: Mapping[int, Start], variables: Mapping[str, str]) -> None:
        self._plan = plan
        self._starts = starts
        self._variables = variables

    def check(self, query: StatefulQuery) -> Iterator[NotMovedError]:
        """What of a query's sources cannot be moved, as far as Spark must be asked for it."""
        for place in placed_sources(query):
            start = self._start(place)
            if isinstance(start, Files) and start.is_columnar:
                forgotten = _spark_log(query, place, start).forgotten()
                if forgotten is not None:
                    yield NotMovedError(
                        f"the file {forgotten} is still to be read, but a week older than others that were read",
                        where=f"node {place.node}",
                        hint="give it a new time: touch",
                    )
            elif isinstance(start, Files):
                outside = _moved_files(query).outside(place.options[_SPEC], _as_json(start))
                if outside is not None:
                    yield NotMovedError(
                        f"the file {outside} of the savepoint is not one of the table's",
                        where=f"node {place.node}",
                        hint="the path of the table must be the one that the job on Flink had",
                    )

    def offsets(self, query: StatefulQuery, folder: Path) -> tuple[str | None, ...]:
        """The offsets of a query's sources in Spark's order; what sources keep beside them goes into ``folder``."""
        offset_by_source: dict[int, str | None] = {}
        places = placed_sources(query)
        for place in places:
            if place.number not in offset_by_source:
                location = folder / "sources" / str(place.number)
                offset_by_source[place.number] = self._offset(query, place, location)
        return tuple(offset_by_source[place.number] for place in places)

    def _start(self, place: PlacedSource) -> Start:
        return Restarted() if place.node is None else self._starts.get(place.node, Restarted())

    def _offset(self, query: StatefulQuery, place: PlacedSource, location: Path) -> str | None:
        match self._start(place):
            case Restarted():
                return None
            case Ended():
                return _READ_AT_ONCE
            case Kept(offset, kept):
                if kept.is_dir():
                    shutil.copytree(kept, location)
                return offset
            case KafkaOffsets() as offsets:
                return self._kafka_offset(place, offsets)
            case Files(is_columnar=True) as files:
                log = _spark_log(query, place, files)
                text: str | None = log.write(query.frame.sparkSession._jsparkSession, str(location))
                return text
            case files:
                written: str = _moved_files(query).write(
                    place.options[_SPEC], str(location), _as_json(files), files.is_closed
                )
                return written

    def _kafka_offset(self, place: PlacedSource, offsets: KafkaOffsets) -> str:
        assert place.node is not None
        scan = self._plan.by_id[place.node]
        assert isinstance(scan, TableSourceScan)
        table = table_of(scan.scan_table_source.table, self._variables)
        broker = Broker(reading_of(table))
        try:
            starts = _resolved(offsets.next, broker)
            ends = None if offsets.ends is None else _resolved(offsets.ends, broker)
        except KafkaError as e:
            raise NotMovedError(str(e), where=f"table {table.identifier}") from None
        finally:
            broker.close()
        return json.dumps(position(starts, ends, is_settled=True))


def _resolved(offsets: Mapping[Partition, int], broker: Broker) -> Offsets:
    """Offsets that are numbers; partitions that begin with the earliest one are left out: so new ones do here."""
    known = {partition: offset for partition, offset in offsets.items() if offset >= 0}
    latest = broker.latest(partition for partition, offset in offsets.items() if offset == _LATEST)
    committed = broker.committed([partition for partition, offset in offsets.items() if offset < _EARLIEST])
    return {**known, **latest, **committed}


def _as_json(files: Files) -> str:
    parts: list[dict[str, Any]] = msgspec.to_builtins(files.files)
    return json.dumps([{name.removesuffix("_"): value for name, value in part.items()} for part in parts])


def _runtime(query: StatefulQuery) -> Any:
    jvm = query.frame.sparkSession._jvm
    assert jvm is not None
    return jvm.flinkplan.runtime


def _spark_log(query: StatefulQuery, place: PlacedSource, files: Files) -> Any:
    log = _runtime(query).checkpoint.SparkFileLog
    return log(place.options["path"], _as_json(files), files.is_closed)


def _moved_files(query: StatefulQuery) -> Any:
    return _runtime(query).file.MovedFiles
