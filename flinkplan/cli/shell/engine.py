"""Starts Spark in the background, while the user types."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from threading import Thread


class Engine:
    """Starts a Spark session on its own thread.

    ``options`` are those of the shell's session, of which ``flinkplan.master`` and ``flinkplan.conf.*`` are used.
    """

    def __init__(self, options: Mapping[str, str]) -> None:
        self._options = dict(options)
        self._error: Exception | None = None
        self._thread = Thread(target=self._start, daemon=True)

    def start(self) -> None:
        """Start Spark and return at once; Spark is ready some seconds later."""
        self._thread.start()

    @property
    def is_ready(self) -> bool:
        """Whether Spark has started, or failed to."""
        return self._thread.ident is not None and not self._thread.is_alive()

    def wait(self) -> None:
        """Wait until Spark has started.  Raises the error of a failed start, once."""
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
    """Keep ``sys.stderr`` on the terminal while a starting JVM redirects descriptor 2; hides PySpark's warnings."""
    original = sys.stderr
    try:
        descriptor = os.dup(original.fileno())
    except OSError:  # not a file, so the JVM cannot redirect it
        yield
        return
    with os.fdopen(descriptor, "w", encoding=original.encoding, errors=original.errors, buffering=1) as own:
        sys.stderr = own
        try:
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", module=r"pyspark\.")
                yield
        finally:
            sys.stderr = original
