"""The base classes of functions of one's own, with PyFlink's names."""

from __future__ import annotations

import abc
from collections.abc import Iterable
from typing import Any

from .context import FunctionContext


class UserDefinedFunction(abc.ABC):  # noqa: B024 (its subclasses have the abstract methods)
    """The base of the classes of functions."""

    def open(self, function_context: FunctionContext) -> None:  # noqa: B027 (functions need not override it)
        """Called once before the first row."""

    def close(self) -> None:  # noqa: B027
        """Called once after the last row."""

    def is_deterministic(self) -> bool:
        """Whether equal arguments always give an equal result."""
        return True


class ScalarFunction(UserDefinedFunction):
    """A function from values to one value."""

    @abc.abstractmethod
    def eval(self, *args: Any) -> Any:
        """The result for a row's arguments."""


class AsyncScalarFunction(UserDefinedFunction):
    """A function from values to one value, as a coroutine."""

    @abc.abstractmethod
    async def eval(self, *args: Any) -> Any:
        """The result for a row's arguments."""


class TableFunction(UserDefinedFunction):
    """A function from values to rows."""

    @abc.abstractmethod
    def eval(self, *args: Any) -> Any:
        """The rows for a row's arguments: each a value, a tuple or a Row."""


class ImperativeAggregateFunction(UserDefinedFunction):
    """A function that is computed step by step in an accumulator."""

    @abc.abstractmethod
    def create_accumulator(self) -> Any:
        """The accumulator of no rows."""

    @abc.abstractmethod
    def accumulate(self, accumulator: Any, *args: Any) -> None:
        """Add a row."""

    def retract(self, accumulator: Any, *args: Any) -> None:
        """Take a row back; needed over inputs with updates."""
        raise RuntimeError("Method retract is not implemented")

    def merge(self, accumulator: Any, accumulators: Iterable[Any]) -> None:
        """Add other accumulators; needed in session windows."""
        raise RuntimeError("Method merge is not implemented")

    def get_result_type(self) -> Any:
        """The type of the result, unless the declaration says it."""
        raise RuntimeError("Method get_result_type is not implemented")

    def get_accumulator_type(self) -> Any:
        """The type of the accumulator, unless the declaration says it."""
        raise RuntimeError("Method get_accumulator_type is not implemented")


class AggregateFunction(ImperativeAggregateFunction):
    """A function from the rows of a group to one value."""

    @abc.abstractmethod
    def get_value(self, accumulator: Any) -> Any:
        """The result for what was accumulated."""


class TableAggregateFunction(ImperativeAggregateFunction):
    """A function from the rows of a group to rows."""

    @abc.abstractmethod
    def emit_value(self, accumulator: Any) -> Iterable[Any]:
        """The rows for what was accumulated."""
