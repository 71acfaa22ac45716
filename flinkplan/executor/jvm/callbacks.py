"""Calls from Java into this process."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def start_callbacks(spark: SparkSession) -> None:
    """Let Java call objects of Python."""
    from pyspark.java_gateway import ensure_callback_server_started

    ensure_callback_server_started(spark.sparkContext._gateway)  # type: ignore[no-untyped-call]


class JavaMethods:
    """Methods as ``PythonMethods.java`` calls them: by their names, with arguments and results as JSON."""

    class Java:
        """What the object is for Java."""

        implements = ("java.util.function.BiFunction",)

    def __init__(self, error: type[Exception], *methods: Callable[..., Any]) -> None:
        """``error``: what the methods raise, whose text is then Java's."""
        self._error = error
        self._methods = {method.__name__: method for method in methods}

    def apply(self, method: str, arguments: str) -> str:
        """The answer, or why there is none."""
        try:
            answer = self._methods[method](*json.loads(arguments))
        except self._error as e:
            return json.dumps({"error": str(e)})
        return msgspec.json.encode({"answer": answer}).decode()
