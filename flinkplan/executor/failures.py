"""Why a query failed, in one sentence."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from ..plan.checkpoint import WAY_OUT
from ..plan.files import Place
from ..plan.record import Record

_RAISED = re.compile(r"\[USER_RAISED_EXCEPTION\] (.*) SQLSTATE: \w{5}", re.DOTALL)
_LONGEST = 4000
_STATE = ("org.apache.spark.sql.execution.streaming.state.", "org.apache.spark.sql.execution.streaming.checkpointing.")
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
    causes: list[tuple[str, str | None]] = []
    trace: list[str] = []
    while cause is not None:
        causes.append((cause.getClass().getName(), cause.getMessage()))
        trace = [frame.getClassName() for frame in list(cause.getStackTrace())[:_FRAMES]]
        cause = cause.getCause()
    found = failure_of(causes) or Failure(text)
    if found.where is None and is_of_state(causes[-1][0] if causes else "", trace):
        return Failure(f"the checkpoint is damaged: {found.message}", str(state), WAY_OUT)
    return found


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
        if name.endswith(".OutOfMemoryError"):
            return Failure(f"there is not enough memory: {message}", hint=MORE_MEMORY)
    told = told_by(causes)
    return Failure(_cut(told)) if told else None


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
