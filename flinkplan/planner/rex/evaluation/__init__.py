"""Evaluates calls of constants as Flink does; what it cannot tell exactly, it leaves."""

from . import casts, conditions, json, limits, patterns, text  # noqa: F401  (registers evaluators)
from .collections import is_collection, of_collection
from .numbers import double_text, java_float, number
from .registry import EVALUATORS, UnknownValue
from .times import format_moment, in_zone, moment_text, months_between, of_zone, parse_moment, shift_clock, shift_months

__all__ = [
    "EVALUATORS",
    "UnknownValue",
    "double_text",
    "format_moment",
    "in_zone",
    "is_collection",
    "java_float",
    "limits",
    "moment_text",
    "months_between",
    "number",
    "of_collection",
    "of_zone",
    "parse_moment",
    "shift_clock",
    "shift_months",
]
