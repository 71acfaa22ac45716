"""Functions from ``open`` to ``close`` in a worker, and what they are called in."""

from __future__ import annotations

import gc
import sys
from collections.abc import Sequence
from typing import Any

from ..plan.record import Record
from .asynchronous import AsyncOptions
from .code import FunctionCode
from .context import FunctionContext, Task
from .failures import function_error, loading_error
from .interfaces import UserDefinedFunction


class Surroundings(Record):
    """What a node's functions are called in: their names are those of the options of a job.

    ``rows_per_call`` limits the rows of a call of a pandas function.  ``stream`` tells the nodes of streams apart:
    its functions stay open in a worker from one micro-batch to the next.  ``None``: they are closed at the end of each
    task.
    """

    zone: str
    job_parameters: tuple[tuple[str, str], ...]
    has_metrics: bool
    task_name: str
    rows_per_call: int
    asynchronous: AsyncOptions
    stream: str | None = None

    def context(self, partition: int, partitions: int, attempt: int) -> FunctionContext:
        """What functions see in ``open``, in one of so many tasks."""
        task = Task(self.task_name, partition, partitions, attempt)
        return FunctionContext(dict(self.job_parameters), task, self.has_metrics)


class Opened:
    """The functions of a task, from ``open`` to ``close``.

    In a stream a worker runs a task for each micro-batch; its functions are opened once, as an operator of Flink opens
    them, and keep what they have in memory.  After an error they are opened anew.
    """

    def __init__(self, codes: Sequence[FunctionCode], surroundings: Surroundings) -> None:
        self._codes = codes
        self._surroundings = surroundings
        self.functions: list[Any] = []

    def __enter__(self) -> Opened:
        for code in self._codes:
            code.imports.activate()
        kept = _KEPT.pop(self._surroundings.stream, None)
        if kept is not None:
            self.functions = kept
            return self
        context = self._surroundings.context(*task_numbers())
        for code in self._codes:
            try:
                function = code.made()
            except Exception as error:
                raise loading_error(code.name, error) from None
            try:
                if isinstance(function, UserDefinedFunction):
                    function.open(context)
            except Exception as error:
                raise function_error(f"{code.name}.open", error, None) from None
            self.functions.append(function)
        _freeze_modules()
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        stream = self._surroundings.stream
        if stream is not None and error is None:
            _KEPT[stream] = self.functions
            return
        for code, function in zip(self._codes, self.functions, strict=False):
            try:
                if isinstance(function, UserDefinedFunction):
                    function.close()
            except Exception as failed:
                if error is None:
                    raise function_error(f"{code.name}.close", failed, None) from None


_KEPT: dict[str | None, list[Any]] = {}
"""The open functions of nodes of streams, while no task of theirs runs."""


def _freeze_modules() -> None:
    """Let the garbage collector leave alone what is there once new modules have been imported.

    Spark's workers collect garbage after each task, which takes a tenth of a second where it goes through all modules
    of flinkplan.  Garbage that is there at this moment stays, so it is done for new modules only.
    """
    global _frozen
    if len(sys.modules) != _frozen:
        _frozen = len(sys.modules)
        gc.freeze()


_frozen = 0
"""How many modules there were when they were frozen."""


def task_numbers() -> tuple[int, int, int]:
    """The number of the task that runs, how many there are as far as it knows, and how often it has failed."""
    pyspark = sys.modules.get("pyspark")
    context = None if pyspark is None else pyspark.TaskContext.get()
    if context is None:
        return 0, 1, 0
    partition = context.partitionId()
    return partition, partition + 1, context.attemptNumber()
