"""How long a job runs."""

from __future__ import annotations

from enum import Enum


class Mode(Enum):
    """How long a job runs, and what becomes of its open windows."""

    BOUNDED = "bounded"
    """Read all that is there, then end all input: the watermark becomes infinite and every window fires."""

    AVAILABLE_NOW = "available-now"
    """Read all that is there and stop; windows stay open for the next run."""

    STREAMING = "streaming"
    """Run until stopped."""

    REAL_TIME = "real-time"
    """Run until stopped, each row as it comes, in Spark's real-time mode."""

    @property
    def is_endless(self) -> bool:
        """Whether a job runs until it is stopped."""
        return self in (Mode.STREAMING, Mode.REAL_TIME)
