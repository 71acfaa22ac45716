"""The files that Flink's sink has not finished at a savepoint."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

from flinkplan.executor.checkpoints.unfinished_files import BUCKETS, UnfinishedFile, unfinished_files
from flinkplan.executor.connectors.tables import table_of
from flinkplan.plan.errors import FlinkplanError
from flinkplan.plan.nodes import Sink
from flinkplan.planner import compile_script
from flinkplan.state.form import Column, JobState, Kind, Manifest, OperatorState, StateTable
from flinkplan.state.form_arrow import table_schema

SCRIPT = """
CREATE TABLE t (k INT) WITH ('connector' = 'datagen');
CREATE TABLE o (k INT) WITH ('connector' = 'filesystem', 'path' = '{root}', 'format' = 'json');
INSERT INTO o SELECT k FROM t;
"""
TABLE = StateTable(1, BUCKETS, Kind.OPERATOR_LIST, value=(Column("value", "VARBINARY(2147483647)"),), entries=1)


class Buckets(JobState):
    """A sink's state, an element each."""

    def __init__(self, *elements: bytes) -> None:
        self._elements = elements

    @property
    def manifest(self) -> Manifest:
        return Manifest("flink", (OperatorState((TABLE,)),))

    def batches(self, table: StateTable) -> Iterator[pa.RecordBatch]:
        rows = [{"subtask": 0, "position": i, "value": {"value": each}} for i, each in enumerate(self._elements)]
        yield pa.RecordBatch.from_pylist(rows, table_schema(table))


def versioned(version: int, content: bytes) -> bytes:
    return struct.pack(">ii", version, len(content)) + content


def text(value: str) -> bytes:
    return struct.pack(">H", len(value.encode())) + value.encode()


def local(hidden: Path, target: Path, size: int) -> bytes:
    names = [str(target).encode(), str(hidden).encode()]
    return versioned(1, struct.pack("<Iqii", 0x1E744B57, size, *map(len, names)) + b"".join(names))


def bucket(in_progress: bytes | None, *pending: bytes) -> bytes:
    content = struct.pack(">I", 0x1E764B79) + versioned(0, b"") + text("file:/data") + struct.pack(">q", 17)
    if in_progress is None:
        content += b"\0"
    else:
        content += b"\1" + versioned(2, struct.pack(">I", 0xB3A4073D) + b"\1" + text("file:/data/part") + in_progress)
    content += struct.pack(">ii", 2, 1) + struct.pack(">qi", 3, len(pending))
    for each in pending:
        file = struct.pack(">I", 0x2C853C89) + b"\0" + struct.pack(">q", 9) + each
        content += struct.pack(">i", len(file)) + file
    return versioned(2, content)


def found(root: Path, *elements: bytes) -> list[UnfinishedFile]:
    plan = compile_script(SCRIPT.format(root=root))
    (sink,) = (node for node in plan.nodes if isinstance(node, Sink))
    return unfinished_files(sink, table_of(sink.dynamic_table_sink.table, {}), Buckets(*elements), TABLE)


def test_rows_of_the_savepoint_become_visible_and_later_ones_do_not(tmp_path: Path) -> None:
    hidden, pending = tmp_path / ".part-0.inprogress.a", tmp_path / ".part-1.inprogress.b"
    hidden.write_text("1\n2\n3\n")
    pending.write_text("4\n")
    element = bucket(local(hidden, tmp_path / "part-0", 4), local(pending, tmp_path / "part-1", 2))
    for file in found(tmp_path, element):
        file.finish()
    assert {p.name: p.read_text() for p in tmp_path.iterdir() if not p.name.startswith(".")} == {
        "part-0": "1\n2\n",
        "part-1": "4\n",
    }
    assert hidden.read_text() == "1\n2\n3\n"  # Flink may still go on from its savepoint
    assert found(tmp_path, element) == []


def test_buckets_without_files_have_nothing_to_finish(tmp_path: Path) -> None:
    assert found(tmp_path, bucket(None), bucket(local(tmp_path / ".a", tmp_path / "a", 0))) == []


def test_files_that_are_gone_elsewhere_or_unknown_are_refused(tmp_path: Path) -> None:
    root, elsewhere = tmp_path / "table", tmp_path / "elsewhere"
    for folder in (root, elsewhere):
        folder.mkdir()
    with pytest.raises(FlinkplanError, match=r"\.a, which Flink has not finished, is gone"):
        found(root, bucket(local(root / ".a", root / "a", 3)))
    (elsewhere / ".a").write_text("abc")
    with pytest.raises(FlinkplanError, match="is not in the directory of the table"):
        found(root, bucket(local(elsewhere / ".a", root / "a", 3)))
    with pytest.raises(FlinkplanError, match="not on a local disk, or not known"):
        found(root, bucket(versioned(1, b"something of S3")))
