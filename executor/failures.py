"""Why a query failed, in one sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.errors import StreamingQueryException
    from pyspark.sql.streaming.query import StreamingQuery


def describe_failure(query: StreamingQuery, error: StreamingQueryException) -> str:
    """The messages of the causes, outermost first, without Spark's own wrapping."""
    failure = query._jsq.exception()
    cause: Any = failure.get() if failure.isDefined() else None
    messages: list[str] = []
    while cause is not None:
        message = cause.getMessage()
        if message and not _is_wrapping(cause.getClass().getName(), message) and message not in messages:
            messages.append(message)
        cause = cause.getCause()
    own = (m for i, m in enumerate(messages) if not any(m.endswith(inner) for inner in messages[i + 1 :]))
    return ": ".join(own) or str(error)


def _is_wrapping(name: str, message: str) -> bool:
    """Whether an exception only says that another one happened."""
    wrappers = ("StreamingQueryException", "SparkException", "SparkRuntimeException$")
    return name.endswith(wrappers) or message.startswith("Job aborted due to stage failure")
