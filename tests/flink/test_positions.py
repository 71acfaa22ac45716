"""How far sources have been read, as savepoints say."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

from flinkplan.flink.savepoint import read_savepoint
from flinkplan.flink.writing import write_savepoint
from flinkplan.state.form import JobState, Manifest, Split, StateTable
from flinkplan.state.form_arrow import table_schema

HERE = Path(__file__).parent

pytestmark = pytest.mark.flink


def test_files_that_have_been_read() -> None:
    with read_savepoint(HERE / "positions") as savepoint:
        positions = savepoint.manifest.positions
    assert [(p.uid, p.connector, p.is_known) for p in positions] == [
        ("1_source", "filesystem", True),
        ("3_source", "filesystem", True),
    ]
    (split,) = positions[0].splits
    assert split.name.endswith("/data/a/before-rows.json")
    assert split.is_done


class WithSplits(JobState):
    """State whose source readers keep other splits."""

    def __init__(self, state: JobState, splits: list[bytes]) -> None:
        self._state = state
        self._splits = splits

    @property
    def manifest(self) -> Manifest:
        return self._state.manifest

    def batches(self, table: StateTable) -> Iterator[pa.RecordBatch]:
        if table.name != "SourceReaderState":
            yield from self._state.batches(table)
            return
        rows = [{"subtask": 0, "position": i, "value": {"value": split}} for i, split in enumerate(self._splits)]
        yield pa.RecordBatch.from_pylist(rows, table_schema(table))


def kafka_split(topic: str, partition: int, offset: int, end: int = -(2**63)) -> bytes:
    """A split as Kafka's connector writes it, with its version and length."""
    name = topic.encode()
    split = struct.pack(">H", len(name)) + name + struct.pack(">iqq", partition, offset, end)
    return struct.pack(">ii", 0, len(split)) + split


def test_partitions_of_kafka_are_known_without_its_connector(tmp_path: Path) -> None:
    splits = [kafka_split("orders", 0, 17), kafka_split("orders", 1, 0), kafka_split("orders", 2, -2, 40)]
    with read_savepoint(HERE / "savepoints" / "group-aggregate-simple") as savepoint:
        write_savepoint(WithSplits(savepoint, splits), tmp_path / "kafka")
        write_savepoint(WithSplits(savepoint, [b"\0\0\0\0\0\0\0\1?"]), tmp_path / "unknown")
    with read_savepoint(tmp_path / "kafka") as savepoint:
        (position,) = savepoint.manifest.positions
    assert (position.uid, position.connector) == ("1_source", "kafka")
    assert position.splits == (Split("orders", 0, 17), Split("orders", 1, 0), Split("orders", 2, -2, 40))
    with read_savepoint(tmp_path / "unknown") as savepoint:
        (position,) = savepoint.manifest.positions
    assert (position.connector, position.splits, position.is_known) == ("", (), False)
