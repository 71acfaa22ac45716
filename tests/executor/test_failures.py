"""What is told of a failed query."""

from __future__ import annotations

import pytest
from py4j.protocol import Py4JError, Py4JNetworkError

from flinkplan.executor.failures import is_end_of_jvm, told_by

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
    assert told_by(causes) == told


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
