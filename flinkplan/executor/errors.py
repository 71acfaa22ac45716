"""Errors of executing a plan."""

from __future__ import annotations

from ..plan.errors import FlinkplanError


class TableError(FlinkplanError):
    """A table whose options cannot be used (exit code 3)."""

    exit_code = 3


class ExecutionError(FlinkplanError):
    """A job that failed while it ran (exit code 5)."""

    exit_code = 5


class JvmError(FlinkplanError):
    """Spark's JVM does not start (exit code 3)."""


class SparkStartError(FlinkplanError):
    """Spark does not start in its JVM, and it is known why (exit code 3)."""
