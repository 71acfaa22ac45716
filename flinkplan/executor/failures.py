"""Why a query failed, in one sentence."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Sequence
from typing import Any

from ..plan.checkpoint import WAY_OUT
from ..plan.files import Place
from ..plan.record import Record, replace

_RAISED = re.compile(r"\[USER_RAISED_EXCEPTION\] (.*) SQLSTATE: \w{5}", re.DOTALL)
_RELATIVE = re.compile(r"Relative path in absolute URI: (.*)")
_RENAME = "rename it; in formats of lines, such as csv and json, such files can be read"
_LONGEST = 4000
_STATE = ("org.apache.spark.sql.execution.streaming.state.", "org.apache.spark.sql.execution.streaming.checkpointing.")
_SHUFFLE = tuple(f"org.apache.spark.{name}." for name in ("shuffle", "storage", "util.collection"))
_GO_ON = "start the job again: it goes on from its checkpoint, which is not damaged"
_REFUSALS = {
    "No space left on device": f"make room there, and {_GO_ON}",
    "Disk quota exceeded": f"make room there, and {_GO_ON}",
    "Read-only file system": f"have it mounted for writing, and {_GO_ON}",
    "Permission denied": f"let the user who runs the job read and write there, and {_GO_ON}",
    "Too many open files": f"raise the limit (ulimit -n), and {_GO_ON}",
    "Input/output error": f"have the disk checked, and {_GO_ON}",
    "Stale file handle": f"have the file system mounted again, and {_GO_ON}",
}
"""What the operating system says of reading and writing files, and what is to be done; nothing is damaged by it."""
_PATH = r"(/[^\n]*?)(?:: | \(){}"
_RELATED = re.compile(r"file: (/\S+)")
_OF_FILES = ("java.io.", "java.nio.", "org.rocksdb.", "org.apache.hadoop.fs.")
_FRAMES = 12
"""How near to these classes an exception must be thrown to be one of reading what they keep."""
_MALFORMED = "mend it and start the job again; some formats leave such lines out: '….ignore-parse-errors' = 'true'"
MORE_MEMORY = "--conf spark.driver.memory=4g gives it more than 2g"
_WRAPPERS = ("StreamingQueryException", "SparkException", "SparkRuntimeException$")
_WRAPPINGS = ("Job aborted due to stage failure", "[TRANSFORM_WITH_STATE_USER_FUNCTION_ERROR]")


class Failure(Record):
    """Why a query failed: what is wrong, where and how to mend it as far as that is known."""

    message: str
    where: str | None = None
    hint: str | None = None


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
    found = failure_of(causes) or Failure(text)
    if found.where is None and is_of_state(causes[-1][0] if causes else "", trace[:_FRAMES]):
        return Failure(f"the checkpoint is damaged: {found.message}", str(state), WAY_OUT)
    return found


def refused_by_system(causes: Sequence[tuple[str, str | None]]) -> Failure | None:
    """What the operating system has refused, by a chain of exceptions as :func:`failure_of` takes it."""
    for name, message in reversed(causes):
        for error, hint in _REFUSALS.items():
            if name.startswith(_OF_FILES) and message and error in message:
                found = re.search(_PATH.format(re.escape(error)), message) or _RELATED.search(message)
                return Failure(error[0].lower() + error[1:], found[1] if found else None, hint)
    return None


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


def causes_of(exception: Any) -> list[tuple[str, str | None]]:
    """Java's exception and those that caused it: each the name of its class and its message, if any."""
    causes: list[tuple[str, str | None]] = []
    while exception is not None:
        causes.append((exception.getClass().getName(), exception.getMessage()))
        exception = exception.getCause()
    return causes


def is_of_state(name: str, trace: Sequence[str]) -> bool:
    """Whether an exception, of a class and thrown in these classes, innermost first, says that state is damaged."""
    return name.startswith(("java.", "org.rocksdb.", "org.apache.hadoop.fs.")) and any(
        frame.startswith(_STATE) for frame in trace
    )


def failure_of(causes: Sequence[tuple[str, str | None]]) -> Failure | None:
    """What a chain of exceptions tells, outermost first: each the name of its class and its message, if any."""
    for name, message in causes:
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
    told = told_by(causes)
    return Failure(_cut(told)) if told else None


def refused_name(message: str) -> Failure | None:
    """Which file it is whose name Hadoop cannot read, by its message."""
    found = _RELATIVE.search(message)
    return Failure("Hadoop reads no files whose names have a colon", found[1], _RENAME) if found else None


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def is_end_of_jvm(error: BaseException) -> bool:
    """Whether an error says that there is no JVM to talk to any more."""
    from py4j.protocol import Py4JError, Py4JNetworkError

    if isinstance(error, Py4JNetworkError | ConnectionError):
        return True
    # the caller of a method that gets no answer is told of no error of the JVM's
    return type(error) is Py4JError and "Trace:" not in str(error)


def told_by(causes: Sequence[tuple[str, str | None]]) -> str:
    """What a chain of exceptions tells, outermost first: each the name of its class and its message, if any."""
    messages: list[str] = []
    for name, message in causes:
        if message and not _is_wrapping(name, message):
            raised = _RAISED.fullmatch(message)
            messages.append(raised[1] if raised else message)
    own = [m for i, m in enumerate(messages) if not any(m == n or m.endswith(n) for n in messages[i + 1 :])]
    own = [raised_by_python(m) for m in own]
    if not own and causes:
        own = [f"{causes[-1][0]} without a message"]
    return ": ".join(own)


def raised_by_python(message: str) -> str:
    """The last line of a traceback of Python; another message as it is."""
    lines = [line.strip() for line in message.splitlines() if line.strip() and not line.strip().startswith("SQLSTATE")]
    return lines[-1] if "Traceback (most recent call last):" in message and lines else message


def _is_wrapping(name: str, message: str) -> bool:
    """Whether an exception only says that another one happened."""
    return name.endswith(_WRAPPERS) or message.startswith(_WRAPPINGS)
