"""The Table API with PyFlink's names: ``from flinkplan.table import TableEnvironment``.

Importing it starts no JVM; only executing a plan does.
"""

from .common import Configuration
from .compiled_plan import CompiledPlan, ExplainDetail, PlanReference
from .data_types import DataTypes
from .data_view import DataView, ListView, MapView
from .defaults import FlinkplanWarning
from .descriptors import FormatDescriptor, Schema, TableDescriptor
from .enumerations import ChangelogMode, ModuleEntry, SqlDialect
from .environment import TableEnvironment
from .execution_environment import StreamTableEnvironment
from .expression import Expression
from .pipeline import StatementSet, TablePipeline
from .processing import PartitionedTable
from .query_result import QueryResult
from .result import JobClient, ResultKind, TableResult
from .rows import Row, RowIterator, RowKind
from .settings import EnvironmentSettings, TableConfig
from .table import GroupedTable, GroupWindowedTable, OverWindowedTable, Table, WindowGroupedTable
from .udf import (
    AggregateFunction,
    AsyncScalarFunction,
    FunctionContext,
    ProcessTableFunction,
    ScalarFunction,
    TableAggregateFunction,
    TableFunction,
)

__all__ = [
    "AggregateFunction",
    "AsyncScalarFunction",
    "ChangelogMode",
    "CompiledPlan",
    "Configuration",
    "DataTypes",
    "DataView",
    "EnvironmentSettings",
    "ExplainDetail",
    "Expression",
    "FlinkplanWarning",
    "FormatDescriptor",
    "FunctionContext",
    "GroupWindowedTable",
    "GroupedTable",
    "JobClient",
    "ListView",
    "MapView",
    "ModuleEntry",
    "OverWindowedTable",
    "PartitionedTable",
    "PlanReference",
    "ProcessTableFunction",
    "QueryResult",
    "ResultKind",
    "Row",
    "RowIterator",
    "RowKind",
    "ScalarFunction",
    "Schema",
    "SqlDialect",
    "StatementSet",
    "StreamTableEnvironment",
    "Table",
    "TableAggregateFunction",
    "TableConfig",
    "TableDescriptor",
    "TableEnvironment",
    "TableFunction",
    "TablePipeline",
    "TableResult",
    "WindowGroupedTable",
]
