"""Exceptions of the JVM: what a chain of them says, in one sentence."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from ...plan.record import Record

_RAISED = re.compile(r"\[USER_RAISED_EXCEPTION\] (.*) SQLSTATE: \w{5}", re.DOTALL)
_RELATIVE = re.compile(r"Relative path in absolute URI: (.*)")
_RENAME = "rename it; in formats of lines, such as csv and json, such files can be read"
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
_WRAPPERS = ("StreamingQueryException", "SparkException", "SparkRuntimeException$")
_WRAPPINGS = ("Job aborted due to stage failure", "[TRANSFORM_WITH_STATE_USER_FUNCTION_ERROR]")


class Failure(Record):
    """Why a query failed: what is wrong, where and how to mend it as far as that is known."""

    message: str
    where: str | None = None
    hint: str | None = None


def refused_by_system(causes: Sequence[tuple[str, str | None]]) -> Failure | None:
    """What the operating system has refused, by a chain of exceptions as :func:`failure_of` takes it."""
    for name, message in reversed(causes):
        for error, hint in _REFUSALS.items():
            if name.startswith(_OF_FILES) and message and error in message:
                match = re.search(_PATH.format(re.escape(error)), message) or _RELATED.search(message)
                return Failure(error[0].lower() + error[1:], match[1] if match else None, hint)
    return None


def causes_of(exception: Any) -> list[tuple[str, str | None]]:
    """Java's exception and those that caused it: each the name of its class and its message, if any."""
    causes: list[tuple[str, str | None]] = []
    while exception is not None:
        causes.append((exception.getClass().getName(), exception.getMessage()))
        exception = exception.getCause()
    return causes


def refused_name(message: str) -> Failure | None:
    """Which file it is whose name Hadoop cannot read, by its message."""
    match = _RELATIVE.search(message)
    return Failure("Hadoop reads no files whose names have a colon", match[1], _RENAME) if match else None


def is_end_of_jvm(error: BaseException) -> bool:
    """Whether an error says that there is no JVM to talk to any more."""
    from py4j.protocol import Py4JError, Py4JNetworkError

    if isinstance(error, Py4JNetworkError | ConnectionError):
        return True
    # the caller of a method that gets no answer is told of no error of the JVM's
    return type(error) is Py4JError and "Trace:" not in str(error)


def joined_messages(causes: Sequence[tuple[str, str | None]]) -> str:
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
