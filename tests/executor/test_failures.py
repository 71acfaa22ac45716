"""What is told of a failed query."""

from __future__ import annotations

import pytest
from py4j.protocol import Py4JError, Py4JNetworkError

from flinkplan.executor.jobs.failures import failure_of
from flinkplan.executor.jvm.exceptions import is_end_of_jvm, joined_messages, refused_by_system

QUERY = ("org.apache.spark.sql.streaming.StreamingQueryException", "[STREAM_FAILED] Query terminated")
JOB = ("org.apache.spark.SparkException", "Job aborted due to stage failure: Task 0 failed")
KERNEL = (
    "org.apache.spark.sql.execution.StatefulProcessorException",
    "[TRANSFORM_WITH_STATE_USER_FUNCTION_ERROR] An error occurred. Reason: x",
)


@pytest.mark.parametrize(
    ("causes", "told"),
    [
        ([QUERY, JOB, ("java.lang.IllegalStateException", "a key occurs twice")], "a key occurs twice"),
        ([QUERY, KERNEL, ("java.lang.IllegalStateException", "a key is NULL")], "a key is NULL"),
        (
            [
                QUERY,
                ("org.apache.spark.SparkRuntimeException", "[USER_RAISED_EXCEPTION] cannot cast 'y' SQLSTATE: P0001"),
            ],
            "cannot cast 'y'",
        ),
        ([("java.io.IOException", "bad message"), ("x.JsonException", "no digit")], "bad message: no digit"),
        ([("java.io.IOException", "bad: no digit"), ("x.JsonException", "no digit")], "no digit"),
        ([QUERY, ("java.lang.NullPointerException", None)], "java.lang.NullPointerException without a message"),
        ([], ""),
    ],
)
def test_the_causes_speak_for_themselves(causes: list[tuple[str, str | None]], told: str) -> None:
    assert joined_messages(causes) == told


@pytest.mark.parametrize(
    ("error", "ended"),
    [
        (Py4JNetworkError("Answer from Java side is empty"), True),
        (ConnectionRefusedError(), True),
        (Py4JError("An error occurred while calling o7.awaitTermination"), True),
        (Py4JError("An error occurred while calling o7.stop. Trace:\npy4j.Py4JException: no such method"), False),
        (ValueError(), False),
    ],
    ids=str,
)
def test_the_end_of_the_jvm(error: Exception, ended: bool) -> None:
    assert is_end_of_jvm(error) is ended


FULL = "No space left on device"


@pytest.mark.parametrize(
    ("cause", "where"),
    [
        (("java.io.IOException", f"/ck/a b/offsets/.3.tmp: {FULL}"), "/ck/a b/offsets/.3.tmp"),
        (("java.io.FileNotFoundException", f"/ck/s/offsets/.3 ({FULL})"), "/ck/s/offsets/.3"),
        (("java.nio.file.FileSystemException", f"/tmp/blockmgr-1/0a: {FULL}"), "/tmp/blockmgr-1/0a"),
        (("org.rocksdb.RocksDBException", f"While appending to file: /tmp/x/000008.log: {FULL}"), "/tmp/x/000008.log"),
        (("org.rocksdb.RocksDBException", f"{FULL}: While appending to file: /tmp/x/8.log"), "/tmp/x/8.log"),
        (("org.apache.hadoop.fs.FSError", f"java.io.IOException: {FULL}"), None),
    ],
)
def test_a_full_disk_is_named(cause: tuple[str, str | None], where: str | None) -> None:
    failure = refused_by_system([QUERY, JOB, cause])
    assert failure is not None
    assert (failure.message, failure.where) == ("no space left on device", where)
    assert "it goes on from its checkpoint, which is not damaged" in (failure.hint or "")


def test_what_a_row_says_is_no_error_of_the_system() -> None:
    assert refused_by_system([QUERY, ("java.lang.IllegalStateException", f"cannot read 'x: {FULL}'")]) is None


def test_a_file_that_cannot_be_read_says_how_it_can() -> None:
    name = "flinkplan.runtime.file.UnreadableFileException"
    failure = failure_of([QUERY, JOB, (name, "/in/a\nb\nit is gone\nput it back")])
    assert failure is not None
    assert (failure.where, failure.message, failure.hint) == ("/in/a\nb", "it is gone", "put it back")


def test_a_name_that_hadoop_refuses_is_told() -> None:
    cause = "java.net.URISyntaxException: Relative path in absolute URI: a b:1.parquet"
    failure = failure_of([QUERY, ("java.lang.IllegalArgumentException", cause)])
    assert failure is not None
    assert (failure.message, failure.where) == ("Hadoop reads no files whose names have a colon", "a b:1.parquet")
