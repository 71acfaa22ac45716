"""Evaluates calls of constants as Flink does; what it cannot tell exactly, it leaves."""

from . import json, numbers, text, times  # noqa: F401  (registers evaluators)
from .registry import EVALUATORS, UnknownValue
from .times import moment_text, parse_moment, shift_months

__all__ = ["EVALUATORS", "UnknownValue", "moment_text", "parse_moment", "shift_months"]
