"""Keeps the chatter of a starting JVM off the terminal."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def quiet_jvm() -> Iterator[None]:
    """Let a JVM that starts inside write its standard error to a file; where that fails, show what it wrote.

    The JVM keeps the file for good; only this process has its own standard error back afterwards.
    """
    sys.stderr.flush()
    with tempfile.TemporaryFile() as log:
        kept = os.dup(2)
        os.dup2(log.fileno(), 2)
        try:
            yield
        except RuntimeError:
            log.seek(0)
            os.write(kept, log.read())
            raise
        finally:
            sys.stderr.flush()
            os.dup2(kept, 2)
            os.close(kept)
