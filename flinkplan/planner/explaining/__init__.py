"""What Flink's EXPLAIN shows: the abstract syntax tree, and the optimized physical and execution plans."""

from .explanation import Explanation

__all__ = ["Explanation"]
