"""The Table API with PyFlink's names: ``from flinkplan.table import TableEnvironment``.

Importing it starts no JVM; only executing a plan does.
"""

from .compiled_plan import CompiledPlan, ExplainDetail, PlanReference
from .environment import FlinkplanWarning, StatementSet, TableEnvironment
from .result import JobClient, ResultKind, TableResult
from .settings import EnvironmentSettings, TableConfig

__all__ = [
    "CompiledPlan",
    "EnvironmentSettings",
    "ExplainDetail",
    "FlinkplanWarning",
    "JobClient",
    "PlanReference",
    "ResultKind",
    "StatementSet",
    "TableConfig",
    "TableEnvironment",
    "TableResult",
]
