"""The Table API with PyFlink's names: ``from flinkplan.table import TableEnvironment``.

Importing it starts no JVM; only executing a plan does.
"""

from .compiled_plan import CompiledPlan, ExplainDetail, PlanReference
from .data_types import DataTypes
from .data_view import ListView, MapView
from .descriptors import Schema, TableDescriptor
from .environment import FlinkplanWarning, QueryTable, StatementSet, TableEnvironment
from .query_result import QueryResult
from .result import JobClient, ResultKind, TableResult
from .rows import Row, RowIterator, RowKind
from .settings import EnvironmentSettings, TableConfig

__all__ = [
    "CompiledPlan",
    "DataTypes",
    "EnvironmentSettings",
    "ExplainDetail",
    "FlinkplanWarning",
    "JobClient",
    "ListView",
    "MapView",
    "PlanReference",
    "QueryResult",
    "QueryTable",
    "ResultKind",
    "Row",
    "RowIterator",
    "RowKind",
    "Schema",
    "StatementSet",
    "TableConfig",
    "TableDescriptor",
    "TableEnvironment",
    "TableResult",
]
