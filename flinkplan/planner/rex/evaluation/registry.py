"""How constant calls are evaluated, function by function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ....plan.rex import Call, Literal

Evaluator = Callable[..., Any]

EVALUATORS: dict[str, Evaluator] = {}
"""Evaluators by function name; they take the call and its literals and return the JSON value, ``None`` for NULL."""


class UnknownValue(Exception):
    """The value is not known exactly when the plan is compiled."""


def evaluator(*names: str) -> Callable[[Evaluator], Evaluator]:
    """Register a function of the call and its literals under the names of those it evaluates."""

    def register(function: Evaluator) -> Evaluator:
        for name in names:
            EVALUATORS[name] = function
        return function

    return register


def from_values(function: Callable[..., Any]) -> Evaluator:
    """An evaluator that takes the values of the literals only."""

    def evaluate(call: Call, *literals: Literal) -> Any:
        return function(*(literal.value for literal in literals))

    return evaluate


def declare(names: dict[str, Callable[..., Any]]) -> None:
    """Register functions of values by name."""
    for name, function in names.items():
        EVALUATORS[name] = from_values(function)
