"""Evaluates calls of constants as Flink does, where the result is known exactly."""

from . import casts, collections, conditions, json, numbers, patterns, text, times  # noqa: F401  (register evaluators)
from .registry import EVALUATORS

__all__ = ["EVALUATORS"]
