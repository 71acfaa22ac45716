"""A session of Spark for many cases, which goes on in a new JVM when a case has ended the one before."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Timer
from typing import TYPE_CHECKING, Any

from flinkplan.executor.jvm.gateway import forget_jvm
from flinkplan.executor.jvm.session import session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class LocalSpark:
    """Starts a session when it is first asked for, and another one when the JVM of that has ended."""

    def __init__(self) -> None:
        self._session: SparkSession | None = None

    def session(self) -> SparkSession:
        """The session, a new one unless there is one that runs."""
        if self._session is not None and self.has_ended:
            with suppress(Exception):  # it cannot be asked to stop, but what Python knows of it is forgotten
                self._session.stop()
            forget_jvm()
            self._session = None
        if self._session is None:
            self._session = session("local[2]", {"spark.sql.shuffle.partitions": "2"})
        return self._session

    @property
    def has_ended(self) -> bool:
        """Whether there was a session whose JVM has ended or is ending."""
        if self._session is None:
            return False
        try:
            context: Any = self._session.sparkContext._jsc
            return bool(context.sc().isStopped())
        except Exception:  # nobody answers
            return True

    @contextmanager
    def at_most(self, seconds: float) -> Iterator[SparkSession]:
        """The session, whose JVM is killed where it is still needed after some time."""
        spark = self.session()
        gateway: Any = spark.sparkContext._gateway
        timer = Timer(seconds, gateway.proc.kill)
        timer.start()
        try:
            yield spark
        finally:
            timer.cancel()
