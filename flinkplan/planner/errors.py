"""Errors of planning: SQL that means something, but that no plan can be made of."""

from __future__ import annotations

from ..plan.errors import FlinkplanError


class PlanningError(FlinkplanError):
    """A query that Flink refuses to plan (exit code 2)."""

    exit_code = 2
