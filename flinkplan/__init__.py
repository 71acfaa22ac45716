"""flinkplan: compile Flink SQL to a compiled plan, run the plan on Spark Structured Streaming."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .table import (
        CompiledPlan,
        EnvironmentSettings,
        ExplainDetail,
        PlanReference,
        StatementSet,
        TableConfig,
        TableEnvironment,
        TableResult,
    )

__version__ = "0.1.0"

__all__ = [
    "CompiledPlan",
    "EnvironmentSettings",
    "ExplainDetail",
    "PlanReference",
    "StatementSet",
    "TableConfig",
    "TableEnvironment",
    "TableResult",
    "__version__",
]


def __getattr__(name: str) -> Any:
    """The Table API, imported when it is first asked for."""
    if name in __all__:
        return getattr(import_module(".table", __name__), name)
    raise AttributeError(f"module 'flinkplan' has no attribute '{name}'")
