"""The function table: every built-in function and operator of Flink SQL, declared once.

Sources:  Flink's ``BuiltInFunctionDefinitions`` and ``FlinkSqlOperatorTable``, from which the version suffixes of
internal names come as well.
"""

from . import (  # noqa: F401  (the modules declare their functions)
    aggregate,
    arithmetic,
    cast,
    changelog,
    collection,
    comparison,
    conditional,
    hash,
    json,
    patterns,
    string,
    table,
    temporal,
)
from .model import Aggregation, Arguments, Direction, EmptyResult, Function, Kind, LocalTime, Signature, Style
from .registry import (
    aggregation_of,
    all_functions,
    called,
    find_function,
    function_of,
    is_deterministic,
    nearest_names,
)

__all__ = [
    "Aggregation",
    "Arguments",
    "Direction",
    "EmptyResult",
    "Function",
    "Kind",
    "LocalTime",
    "Signature",
    "Style",
    "aggregation_of",
    "all_functions",
    "called",
    "find_function",
    "function_of",
    "is_deterministic",
    "nearest_names",
]
