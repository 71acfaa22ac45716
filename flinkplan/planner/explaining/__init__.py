"""What Flink's EXPLAIN shows: the abstract syntax tree, and the optimized physical and execution plans."""

from .explanation import Explanation
from .refusals import check_explained

__all__ = ["Explanation", "check_explained"]
