"""Spark, started while one types."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from threading import Thread


class Engine:
    """Starts a Spark session on a thread of its own.

    ``options`` are those of the session: ``flinkplan.master`` and ``flinkplan.conf.*`` say how.
    """

    def __init__(self, options: Mapping[str, str]) -> None:
        self._options = dict(options)
        self._error: Exception | None = None
        self._thread = Thread(target=self._start, daemon=True)

    def start(self) -> None:
        """Begin; it takes some seconds."""
        self._thread.start()

    @property
    def is_ready(self) -> bool:
        """Whether it is there, or has failed."""
        return self._thread.ident is not None and not self._thread.is_alive()

    def wait(self) -> None:
        """Wait until it is there.  Raises what it failed with, once."""
        if self._thread.ident is not None:
            self._thread.join()
        error, self._error = self._error, None
        if error is not None:
            raise error

    def _start(self) -> None:
        from ...executor.jvm.quiet import quiet_jvm
        from ...executor.jvm.session import session
        from ...table.jobs import spark_settings

        try:
            with quiet_jvm():
                session(*spark_settings(self._options), lean=True)
        except Exception as e:
            self._error = e


@contextmanager
def own_stderr() -> Iterator[None]:
    """Errors reach the terminal while a starting JVM has this process's standard error; PySpark's warnings do not."""
    kept = sys.stderr
    try:
        number = os.dup(kept.fileno())
    except OSError:  # no file at all, which the JVM cannot take either
        yield
        return
    with os.fdopen(number, "w", encoding=kept.encoding, errors=kept.errors, buffering=1) as own:
        sys.stderr = own
        try:
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", module=r"pyspark\.")
                yield
        finally:
            sys.stderr = kept
