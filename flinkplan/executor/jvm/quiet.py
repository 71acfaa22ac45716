"""Keeps the chatter of a starting JVM off the terminal."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from ..errors import JvmError, TableError


@contextmanager
def quiet_jvm(file: Path | None = None) -> Iterator[int]:
    """Let a JVM that starts inside write its standard error to a file; where that fails, show what it wrote.

    Gives the descriptor of this process's own standard error.
    ``file`` is written on at its end; unless given, nobody reads it.  The JVM keeps it for good; only this process has
    its own standard error back afterwards.

    Raises :class:`TableError` for a file that cannot be written.
    """
    sys.stderr.flush()
    with _log(file) as log:
        begin = log.seek(0, os.SEEK_END) if log.seekable() else None
        kept = os.dup(2)
        os.dup2(log.fileno(), 2)
        try:
            yield kept
        except JvmError:
            if begin is not None:
                log.seek(begin)
                os.write(kept, log.read())
            raise
        finally:
            sys.stderr.flush()
            os.dup2(kept, 2)
            os.close(kept)


def quiet_accumulators() -> None:
    """Let PySpark's server of accumulators print no traceback where its connection to the JVM ends with the JVM."""
    from pyspark.accumulators import AccumulatorTCPServer

    def ignored(server: object, request: object, address: object) -> None:
        """The job says by itself why it has ended."""

    AccumulatorTCPServer.handle_error = ignored  # type: ignore[method-assign, assignment]


def _log(file: Path | None) -> IO[bytes]:
    if file is None:
        return tempfile.TemporaryFile()
    try:
        # a pipe that nobody reads yet can be opened for both ways only
        return os.fdopen(os.open(file, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o666), "r+b", buffering=0)
    except OSError as e:
        raise TableError(f"Spark's log cannot be written: {e.strerror}", where=str(file)) from None
