"""What a function can ask of the job that runs it, in ``open``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..plan.record import Record


class Counter:
    """A number that a function counts."""

    def __init__(self) -> None:
        self._count = 0

    def inc(self, n: int = 1) -> None:
        """Add to the count."""
        self._count += n

    def dec(self, n: int = 1) -> None:
        """Subtract from the count."""
        self._count -= n

    def get_count(self) -> int:
        """The count so far."""
        return self._count


class Meter:
    """A number of events."""

    def __init__(self) -> None:
        self._count = 0

    def mark_event(self, value: int = 1) -> None:
        """Count events."""
        self._count += value

    def get_count(self) -> int:
        """The number of events so far."""
        return self._count


class Distribution:
    """Values whose distribution is of interest."""

    def update(self, value: Any) -> None:
        """Take a value."""


class MetricGroup:
    """Metrics by name.  They can be used as in PyFlink, but are not reported."""

    def add_group(self, name: str, extra: str | None = None) -> MetricGroup:
        """A group inside this one."""
        return MetricGroup()

    def counter(self, name: str) -> Counter:
        """A new counter."""
        return Counter()

    def gauge(self, name: str, obj: Callable[[], int]) -> None:
        """A value that is asked for."""

    def meter(self, name: str, time_span_in_seconds: int = 60) -> Meter:
        """A new meter."""
        return Meter()

    def distribution(self, name: str) -> Distribution:
        """A new distribution."""
        return Distribution()


class Task(Record):
    """The task that calls a function: its ``name``, its number from 0, and how many there are."""

    name: str = ""
    index: int = 0
    parallelism: int = 1
    attempt: int = 0


MAX_PARALLELISM = 128
"""Flink's default of ``pipeline.max-parallelism`` for so few tasks."""


class FunctionContext:
    """What a function can ask in ``open`` of the job that runs it.

    ``job_parameters`` are those of the option ``pipeline.global-job-parameters``.  ``has_metrics`` is the option
    ``python.metric.enabled``.
    """

    def __init__(
        self, job_parameters: Mapping[str, str] | None = None, task: Task | None = None, has_metrics: bool = True
    ) -> None:
        self._job_parameters = job_parameters or {}
        self._task = task or Task()
        self._has_metrics = has_metrics

    def get_job_parameter(self, key: str, default_value: str) -> str:
        """The job parameter of a key."""
        return self._job_parameters.get(key, default_value)

    def get_metric_group(self) -> MetricGroup:
        """The metrics of the function.  Raises :class:`RuntimeError` where ``python.metric.enabled`` is ``false``."""
        if not self._has_metrics:
            raise RuntimeError("metrics are switched off: SET 'python.metric.enabled' = 'true'")
        return MetricGroup()

    def get_task_name(self) -> str:
        """The name of the task."""
        return self._task.name

    def get_task_name_with_subtasks(self) -> str:
        """The name of the task with its number, from 1, and how many there are: ``name (1/2)``."""
        return f"{self._task.name} ({self._task.index + 1}/{self._task.parallelism})"

    def get_number_of_parallel_subtasks(self) -> int:
        """How many tasks call the function."""
        return self._task.parallelism

    def get_max_number_of_parallel_subtasks(self) -> int:
        """Flink's maximum parallelism, for programs that ask for it; it limits nothing here."""
        return MAX_PARALLELISM

    def get_index_of_this_subtask(self) -> int:
        """The number of the task, from 0."""
        return self._task.index

    def get_attempt_number(self) -> int:
        """How often the task has failed before."""
        return self._task.attempt
