"""Files that are read while they are written: rotated, truncated, deleted."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from py4j.protocol import Py4JJavaError

from flinkplan.executor.formats.java_types import java_row
from flinkplan.executor.jobs.failures import describe_failure
from flinkplan.plan.files import Place
from flinkplan.plan.types import string

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

MISSING = "spark.sql.files.ignoreMissingFiles"
LONG = "x" * 3000
"""A line that is longer than what is compared of a file."""


class Batch:
    """One batch of the source, as a task of Spark's real-time mode reads it."""

    def __init__(self, table: Table, offset: Any) -> None:
        (partition,) = table.stream.planInputPartitions(offset)
        self._table = table
        self.reader = table.stream.createReaderFactory().createReader(partition)

    def rows(self, count: int | None = None, millis: int = 30) -> list[str]:
        """So many rows, or those that come within so many milliseconds, each waited for."""
        found: list[str] = []
        while len(found) != count and self.reader.nextWithTimeout(millis).hasRecord():
            found.append(self.reader.get().getString(0))
        return found

    def end(self) -> Any:
        """The offset where the batch has ended."""
        offsets = self._table.array_of_offset(self.reader.getOffset())
        self.reader.close()
        return self._table.stream.deserializeOffset(self._table.stream.mergeOffsets(offsets).json())


class Table:
    """A table over files, and the rows of a job that reads them."""

    def __init__(self, spark: SparkSession, root: Path, **more: object) -> None:
        self.spark = spark
        self.path = root / "in"
        self.path.mkdir()
        self._checkpoint = str(root / "checkpoint")
        self._spec: dict[str, Any] = {
            "path": str(self.path),
            "pattern": None,
            "format": "raw",
            "options": {},
            "type": java_row([("line", string())]),
            "projection": [0],
            "partitions": [],
            "partitionTypes": [],
            "defaultPartition": "",
            "only": None,
            "metadata": [],
            "batch": False,
            "settles": False,
            "realTime": True,
            "ticks": False,
            "turn": "ALONE",
            "timed": False,
            "filesPerBatch": 0,
            **more,
        }
        self.restart()
        self.offset = self.stream.initialOffset()

    def restart(self) -> None:
        jvm: Any = self.spark._jvm
        source = jvm.flinkplan.runtime.file.FileSource()
        table = source.getTable(jvm.org.apache.spark.sql.types.StructType(), None, {"spec": json.dumps(self._spec)})
        scan = table.newScanBuilder(jvm.org.apache.spark.sql.util.CaseInsensitiveStringMap.empty()).build()
        self.stream = scan.toMicroBatchStream(self._checkpoint)

    def array_of_offset(self, offset: Any) -> Any:
        gateway: Any = self.spark.sparkContext._gateway
        array = gateway.new_array(gateway.jvm.org.apache.spark.sql.connector.read.streaming.PartitionOffset, 1)
        array[0] = offset
        return array

    def batch(self) -> Batch:
        return Batch(self, self.offset)

    def read(self) -> list[str]:
        """The rows of a batch that a checkpoint holds."""
        batch = self.batch()
        rows = batch.rows()
        self.offset = batch.end()
        return rows

    def write(self, name: str, *lines: str, mode: str = "a") -> None:
        with (self.path / name).open(mode) as file:
            file.writelines(f"{line}\n" for line in lines)


@pytest.fixture
def table(spark: SparkSession, tmp_path: Path) -> Table:
    return Table(spark, tmp_path)


def lost(rows: Callable[[], object]) -> str:
    """What is said where rows are lost, which is so when a file has been missed for a second."""
    with pytest.raises(Py4JJavaError) as caught:
        rows()
    failure = describe_failure(caught.value.java_exception, "", Place("checkpoint"))
    assert failure.hint is not None
    assert MISSING in failure.hint
    return f"{failure.where}: {failure.message}"


def test_a_renamed_file_continues(table: Table) -> None:
    table.write("app.log", "1", LONG)
    assert table.read() == ["1", LONG]
    (table.path / "app.log").rename(table.path / "app.log.1")
    table.write("app.log.1", "2")
    table.write("app.log", "3")
    batch = table.batch()
    assert sorted(batch.rows(2)) == ["2", "3"]
    for old, new in (("app.log.1", "app.log.2"), ("app.log", "app.log.1")):
        (table.path / old).rename(table.path / new)
        table.write(new, f"{new} goes on")
        assert batch.rows(1) == [f"{new} goes on"]
    table.offset = batch.end()
    table.restart()
    table.write("app.log", "4")
    assert table.read() == ["4"]


def test_a_renamed_file_to_which_nothing_is_added_is_not_read_again(table: Table) -> None:
    table.write("app.log", "1")
    batch = table.batch()
    assert batch.rows(1) == ["1"]
    table.write("app.log", "2")
    assert batch.rows(1) == ["2"]
    (table.path / "app.log").rename(table.path / "app.log.1")
    assert batch.rows() == []
    (table.path / "app.log.1").rename(table.path / "app.log.2")
    table.offset = batch.end()
    assert table.read() == []
    (table.path / "app.log.2").rename(table.path / "app.log.3")
    table.restart()
    assert table.read() == []


def test_an_inode_that_is_used_again_is_another_file(table: Table) -> None:
    """Here as a name that goes away and another one that comes, as an inode cannot be asked for."""
    table.write("a", "1")
    batch = table.batch()
    assert batch.rows(1) == ["1"]
    (table.path / "a").rename(table.path / ".a")
    assert batch.rows() == []
    table.write(".a", "1", mode="w")
    (table.path / ".a").rename(table.path / "b")
    assert batch.rows() == ["1"]
    table.offset = batch.end()
    later = time.time() + 10
    os.utime(table.path / "b", (later, later))
    (table.path / "b").rename(table.path / "c")
    assert table.read() == ["1"]


def test_what_is_kept_of_files_that_are_gone_is_little(table: Table) -> None:
    for number in range(3):
        table.write("app.log", f"{number}")
        assert table.read() == [f"{number}"]
        (table.path / "app.log").rename(table.path / "app.log.1")
        batch = table.batch()
        assert batch.rows() == []
        (table.path / "app.log.1").unlink()
        assert batch.rows(millis=1100) == []
        table.offset = batch.end()
    assert [place["path"] for place in json.loads(table.offset.json())["files"].values()] == [
        f"file:{table.path}/app.log.1"
    ]


def test_a_file_that_is_renamed_out_of_the_table_is_read_to_its_end(spark: SparkSession, tmp_path: Path) -> None:
    table = Table(spark, tmp_path, pattern=".*[.]log")
    table.write("app.log", "1")
    assert table.read() == ["1"]
    table.write("app.log", "2")
    (table.path / "app.log").rename(table.path / "app.log.1")
    table.write("app.log", "3")
    table.write("other", "of no table")
    assert sorted(table.read()) == ["2", "3"]


def test_a_table_over_one_file_follows_it_as_well(spark: SparkSession, tmp_path: Path) -> None:
    table = Table(spark, tmp_path, path=str(tmp_path / "in" / "app.log"))
    table.write("app.log", "1")
    table.write("beside", "of no table")
    assert table.read() == ["1"]
    batch = table.batch()
    assert batch.rows() == []
    table.write("app.log", "2")
    (table.path / "app.log").rename(table.path / "app.log.1")
    assert batch.rows(1) == ["2"]
    table.write("app.log", "3")
    assert batch.rows() == ["3"]


def test_a_truncated_file_begins_anew(table: Table) -> None:
    table.write("app.log", "1", LONG)
    assert table.read() == ["1", LONG]
    batch = table.batch()
    table.write("app.log", "2", mode="w")
    assert batch.rows(1) == ["2"]
    table.write("app.log", "3")
    assert batch.rows(1) == ["3"]
    table.offset = batch.end()
    table.write("app.log", "4", mode="w")
    table.restart()
    assert table.read() == ["4"]


@pytest.mark.parametrize("same", ["", LONG], ids=["short", "long"])
def test_a_file_that_was_truncated_is_known_by_its_content_when_it_has_grown_again(table: Table, same: str) -> None:
    table.write("app.log", same, "1", "2")
    assert table.read() == [same, "1", "2"]
    table.write("app.log", same, "3", "4", "5", mode="w")
    assert table.read() == [same, "3", "4", "5"]
    batch = table.batch()
    table.write("app.log", same, "6", "7", "8", mode="w")
    assert batch.rows(4) == [same, "6", "7", "8"]


def test_a_file_that_is_replaced_by_a_longer_copy_continues(table: Table) -> None:
    table.write("app.log", "1", "2")
    assert table.read() == ["1", "2"]
    table.write(".copy", "1", "2", "3")
    (table.path / ".copy").replace(table.path / "app.log")
    assert table.read() == ["3"]
    table.write("app.log", "4")
    assert table.read() == ["4"]


def test_a_file_that_was_read_may_be_deleted(table: Table) -> None:
    table.write("a", "1")
    table.write("b", "2", "3")
    assert table.read() == ["1", "2", "3"]
    (table.path / "a").unlink()
    assert table.read() == []
    table.restart()
    table.write(".c", "2", "3")  # while the inode of b is still taken
    (table.path / "b").unlink()
    assert table.read() == []
    (table.path / ".c").rename(table.path / "c")
    assert table.read() == ["2", "3"]


def test_half_a_line_is_no_row_that_could_be_lost(table: Table) -> None:
    (table.path / "a").write_text("1\nhalf")
    assert table.read() == ["1"]
    (table.path / "a").unlink()
    batch = table.batch()
    assert batch.rows(millis=1200) == []
    table.offset = batch.end()
    table.restart()
    table.write("b", "2")
    assert table.read() == ["2"]


def test_a_file_with_two_names_is_read_once(table: Table) -> None:
    table.write("a", "1")
    (table.path / "b").hardlink_to(table.path / "a")
    (table.path / "c").symlink_to(table.path / "a")
    assert table.read() == ["1"]
    table.write("a", "2")
    assert table.read() == ["2"]


def test_rows_that_no_checkpoint_has_are_lost_with_their_file(spark: SparkSession, table: Table) -> None:
    table.write("a", "1")
    assert table.read() == ["1"]
    batch = table.batch()
    table.write("a", "2")
    assert batch.rows(1) == ["2"]
    copy = shutil.copyfile(table.path / "a", table.path / ".copy")
    (table.path / "a").unlink()
    assert batch.rows() == []  # it is noted that it has gone, and then the job is killed
    table.restart()
    assert lost(lambda: table.batch().rows(millis=1500)) == (
        f"{table.path}/a: the file was deleted or moved away before all of it was read: bytes 2 to 4 of it are missing"
    )
    copy.rename(table.path / "a")
    table.restart()
    assert table.batch().rows() == ["2"]
    (table.path / "a").unlink()
    spark.conf.set(MISSING, "true")
    try:
        table.restart()
        table.write("b", "3")
        batch = table.batch()
        assert batch.rows(millis=1500) == ["3"]
        table.offset = batch.end()
    finally:
        spark.conf.unset(MISSING)
    assert table.read() == []
    table.restart()
    assert table.read() == []


@pytest.mark.parametrize("known", [True, False])
def test_rows_that_no_checkpoint_has_are_lost_with_what_was_truncated(table: Table, known: bool) -> None:
    if known:
        table.write("a", "0")
        assert table.read() == ["0"]
    batch = table.batch()
    table.write("a", "1", "2")
    assert batch.rows(2) == ["1", "2"]
    table.write("a", "3", mode="w")
    assert batch.rows(1) == ["3"]
    table.write("a", "4", "5", "6", "7")
    table.restart()
    assert "was truncated or replaced before all of it was read" in lost(table.batch().rows)


def test_a_batch_that_is_done_owes_nothing_of_what_was_truncated(table: Table) -> None:
    table.write("a", "1", "2")
    batch = table.batch()
    assert batch.rows(2) == ["1", "2"]
    table.write("a", "3", mode="w")
    assert batch.rows(1) == ["3"]
    table.offset = batch.end()
    table.restart()  # before the next batch has forgotten about it
    assert table.read() == []
    table.write("a", "4")
    assert table.read() == ["4"]


def test_a_file_that_goes_before_it_was_read_is_missed(table: Table) -> None:
    table.write("a", "1", "2")
    table.write("b", *map(str, range(3000)))
    batch = table.batch()
    assert batch.rows(1) == ["1"]
    table.offset = batch.end()  # in the middle of the first file, before the second one
    (table.path / "b").unlink()
    table.restart()
    batch = table.batch()
    assert batch.rows(1) == ["2"]
    assert "/b: the file was deleted" in lost(lambda: batch.rows(millis=1500))


def test_rows_of_a_message_that_has_partly_gone_come_first(spark: SparkSession, tmp_path: Path) -> None:
    table = Table(spark, tmp_path, format="debezium-json")
    change = {"before": {"line": "1"}, "after": {"line": "2"}, "op": "u"}
    table.write("b", json.dumps(change))
    batch = table.batch()
    assert batch.rows(1) == ["1"]
    table.offset = batch.end()
    table.restart()
    table.write("a", json.dumps(change))
    (table.path / "b").rename(table.path / "c")
    assert table.read() == ["2", "1", "2"]


def test_old_checkpoints_go_on(table: Table) -> None:
    table.write("a", "1", "2")
    table.write("b", "1")
    table.write("gone", "1")
    table.offset = table.stream.initialOffset()
    log = table.path.parent / "checkpoint" / "files" / "000000000000"
    log.parent.mkdir(parents=True)
    old = [{"path": f"file:{table.path}/{name}", "size": 2, "modified": 1} for name in ("a", "b", "gone")]
    log.write_text("".join(f"{json.dumps(file)}\n" for file in old))
    (table.path / "gone").unlink()
    table.restart()
    table.offset = table.stream.deserializeOffset('{"positions":[2,2,2],"current":0,"rows":0}')
    assert table.read() == ["2"]
    (table.path / "b").rename(table.path / "c")
    table.restart()
    table.write("c", "3")
    assert table.read() == ["3"]


def test_compressed_files_are_refused_with_the_option_that_leaves_them_out(table: Table) -> None:
    table.write("a.gz", "1")
    with pytest.raises(Py4JJavaError) as caught:
        table.read()
    failure = describe_failure(caught.value.java_exception, "", Place("checkpoint"))
    assert (failure.where, failure.message) == (f"{table.path}/a.gz", "real-time mode reads no compressed files")
    assert "source.path.regex-pattern" in (failure.hint or "")


def test_a_long_message_is_followed_by_others(table: Table) -> None:
    lines = ["a", "b" * 200_000, "c", "d" * 70_000, "e" * 1023, "f"]
    table.write("a", *lines)
    for line in lines:
        batch = table.batch()
        assert batch.rows(1) == [line]
        table.offset = batch.end()
        table.restart()
    batch = table.batch()
    table.write("a", *lines)
    assert batch.rows(len(lines)) == lines
    table.write("a", *lines, mode="w")
    table.write("a", "g", *lines)
    assert batch.rows(2 * len(lines) + 1) == [*lines, "g", *lines]


def test_a_name_may_have_a_colon(table: Table) -> None:
    table.write("a:1.log", "1")
    (table.path / "b:2").mkdir()
    table.write("b:2/c d%20é.log", "2")
    assert table.read() == ["1", "2"]
    table.write("a:1.log", "3")
    assert table.read() == ["3"]


def test_a_name_in_no_encoding_is_an_error(table: Table) -> None:
    Path(os.fsdecode(bytes(table.path) + b"/gr\xfcn.log")).write_text("1\n")
    with pytest.raises(Py4JJavaError) as caught:
        table.read()
    failure = describe_failure(caught.value.java_exception, "", Place("checkpoint"))
    assert failure.message.startswith("the name of the file is not in the encoding of file names")
    assert (failure.where or "").endswith("/gr\ufffdn.log")
