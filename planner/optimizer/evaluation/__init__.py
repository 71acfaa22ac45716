"""Evaluates calls of constants as Flink does; what it cannot tell exactly, it leaves."""

from . import casts, conditions, json, text  # noqa: F401  (registers evaluators)
from .numbers import double_text, number
from .registry import EVALUATORS, UnknownValue
from .times import moment_text, parse_moment, shift_months

__all__ = ["EVALUATORS", "UnknownValue", "double_text", "moment_text", "number", "parse_moment", "shift_months"]
