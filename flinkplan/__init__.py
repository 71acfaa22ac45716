"""flinkplan: compile Flink SQL to a compiled plan, run the plan on Spark Structured Streaming."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .compat.restart import RestartError
    from .executor.errors import ExecutionError, TableError
    from .plan.durations import DurationError
    from .plan.errors import ErrorGroup, FlinkplanError, Location, PlanError, UnsupportedError
    from .planner.binder.errors import BindError
    from .planner.catalog.catalog import CatalogError
    from .planner.sql.errors import SqlSyntaxError
    from .state.checkpoint import CheckpointInUseError
    from .table import (
        CompiledPlan,
        DataTypes,
        EnvironmentSettings,
        ExplainDetail,
        FlinkplanWarning,
        PlanReference,
        Row,
        RowKind,
        Schema,
        StatementSet,
        TableConfig,
        TableDescriptor,
        TableEnvironment,
        TableResult,
    )

__version__ = "0.1.0"

__all__ = [
    "BindError",
    "CatalogError",
    "CheckpointInUseError",
    "CompiledPlan",
    "DataTypes",
    "DurationError",
    "EnvironmentSettings",
    "ErrorGroup",
    "ExecutionError",
    "ExplainDetail",
    "FlinkplanError",
    "FlinkplanWarning",
    "Location",
    "PlanError",
    "PlanReference",
    "RestartError",
    "Row",
    "RowKind",
    "Schema",
    "SqlSyntaxError",
    "StatementSet",
    "TableConfig",
    "TableDescriptor",
    "TableEnvironment",
    "TableError",
    "TableResult",
    "UnsupportedError",
    "__version__",
]

_ERRORS = {
    "BindError": ".planner.binder.errors",
    "CatalogError": ".planner.catalog.catalog",
    "CheckpointInUseError": ".state.checkpoint",
    "DurationError": ".plan.durations",
    "ErrorGroup": ".plan.errors",
    "ExecutionError": ".executor.errors",
    "FlinkplanError": ".plan.errors",
    "Location": ".plan.errors",
    "PlanError": ".plan.errors",
    "RestartError": ".compat.restart",
    "SqlSyntaxError": ".planner.sql.errors",
    "TableError": ".executor.errors",
    "UnsupportedError": ".plan.errors",
}
"""Where the errors are declared; all of them are :class:`FlinkplanError`."""


def __getattr__(name: str) -> Any:
    """The Table API and the errors that it raises, imported when they are first asked for."""
    if name in __all__:
        return getattr(import_module(_ERRORS.get(name, ".table"), __name__), name)
    raise AttributeError(f"module 'flinkplan' has no attribute '{name}'")
