"""The Table API with PyFlink's names: ``from flinkplan.table import TableEnvironment``.

Importing it starts no JVM; only executing a plan does.
"""

from .compiled_plan import CompiledPlan, ExplainDetail, PlanReference
from .data_types import DataTypes
from .data_view import ListView, MapView
from .descriptors import FormatDescriptor, Schema, TableDescriptor
from .environment import FlinkplanWarning, TableEnvironment
from .expression import Expression
from .pipeline import StatementSet, TablePipeline
from .query_result import QueryResult
from .result import JobClient, ResultKind, TableResult
from .rows import Row, RowIterator, RowKind
from .settings import EnvironmentSettings, TableConfig
from .table import GroupedTable, GroupWindowedTable, OverWindowedTable, Table, WindowGroupedTable

__all__ = [
    "CompiledPlan",
    "DataTypes",
    "EnvironmentSettings",
    "ExplainDetail",
    "Expression",
    "FlinkplanWarning",
    "FormatDescriptor",
    "GroupWindowedTable",
    "GroupedTable",
    "JobClient",
    "ListView",
    "MapView",
    "OverWindowedTable",
    "PlanReference",
    "QueryResult",
    "ResultKind",
    "Row",
    "RowIterator",
    "RowKind",
    "Schema",
    "StatementSet",
    "Table",
    "TableConfig",
    "TableDescriptor",
    "TableEnvironment",
    "TablePipeline",
    "TableResult",
    "WindowGroupedTable",
]
