"""Why a query failed, in one sentence."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from typing import Any

from ...plan.files import Place
from ...plan.record import replace
from ...state.checkpoint import WAY_OUT
from ...udf.failures import failure_in
from ..errors import ExecutionError
from ..jvm.exceptions import (
    Failure,
    causes_of,
    is_end_of_jvm,
    joined_messages,
    refused_by_system,
    refused_name,
)

_LONGEST = 4000
_STATE = ("org.apache.spark.sql.execution.streaming.state.", "org.apache.spark.sql.execution.streaming.checkpointing.")
_SHUFFLE = tuple(f"org.apache.spark.{name}." for name in ("shuffle", "storage", "util.collection"))
_FRAMES = 12
"""How near to these classes an exception must be thrown to be one of reading what they keep."""
_MALFORMED = "mend it and start the job again; some formats leave such lines out: '….ignore-parse-errors' = 'true'"
MORE_MEMORY = "--conf spark.driver.memory=4g gives it more than 2g"


def end_of_jvm(error: BaseException) -> ExecutionError | None:
    """What to say of an error where Spark's JVM has ended; ``None`` for other errors."""
    if not is_end_of_jvm(error):
        return None
    return ExecutionError(
        "the JVM that ran the job has ended", hint=f"it was killed, perhaps for want of memory: {MORE_MEMORY}"
    )


def describe_failure(cause: Any, text: str, state: Place) -> Failure:
    """The messages of the causes, outermost first, without Spark's own wrapping.

    A line of input that cannot be read is named instead.  ``cause`` is Java's exception, or ``None`` where ``text`` is
    all that is known; ``state`` is where the query keeps its state.
    """
    causes = causes_of(cause)
    refused = refused_by_system(causes)
    trace: list[str] = []
    while cause is not None:
        trace = [*(frame.getClassName() for frame in list(cause.getStackTrace())[:_FRAMES]), *trace]
        cause = cause.getCause()
    if refused is not None:
        return refused if refused.where else replace(refused, where=_place_of(trace, state))
    failure = failure_of(causes) or Failure(text)
    if failure.where is None and is_of_state(causes[-1][0] if causes else "", trace[:_FRAMES]):
        return Failure(f"the checkpoint is damaged: {failure.message}", str(state), WAY_OUT)
    return failure


def _place_of(trace: Sequence[str], state: Place) -> str | None:
    """Where a file is that classes of a stack trace write."""
    for frame in trace:
        if frame.startswith(_STATE):
            return str(state)
        if frame.startswith(_SHUFFLE):
            return _local_folders()
    return None


def _local_folders() -> str:
    """Where Spark keeps what does not fit into memory, and the state that it works on."""
    from pyspark import SparkContext

    context: SparkContext | None = SparkContext._active_spark_context
    folder = context.getConf().get("spark.local.dir") if context is not None else None
    folder = os.environ.get("SPARK_LOCAL_DIRS") or folder or tempfile.gettempdir()
    return f"{folder} (spark.local.dir)"


def is_of_state(name: str, trace: Sequence[str]) -> bool:
    """Whether an exception, of a class and thrown in these classes, innermost first, says that state is damaged."""
    return name.startswith(("java.", "org.rocksdb.", "org.apache.hadoop.fs.")) and any(
        frame.startswith(_STATE) for frame in trace
    )


def failure_of(causes: Sequence[tuple[str, str | None]]) -> Failure | None:
    """What a chain of exceptions tells, outermost first: each the name of its class and its message, if any."""
    for name, message in causes:
        if name.endswith((".PythonException", ".PythonFailure")) and message and (function := failure_in(message)):
            return Failure(function.message, function.where)
        if name.endswith(".FunctionFailedException") and message:
            return Failure(_cut(message))
        if name.endswith(".MalformedInputException") and message:
            place, _, told = message.partition("\n")
            return Failure(told, place, _MALFORMED)
        if name.endswith(".UnreadableFileException") and message:
            place, told, hint = message.rsplit("\n", 2)
            return Failure(told, place, hint)
        if message and (colon := refused_name(message)):
            return colon
        if name.endswith(".OutOfMemoryError"):
            return Failure(f"there is not enough memory: {message}", hint=MORE_MEMORY)
    told = joined_messages(causes)
    return Failure(_cut(told)) if told else None


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
