"""The exec nodes, one record each, found by name through a registry."""

from .aggregates import (
    GlobalGroupAggregate,
    GroupAggregate,
    GroupWindowAggregate,
    IncrementalGroupAggregate,
    LocalGroupAggregate,
    OverAggregate,
)
from .base import ColumnOrder, ExecNode, NodeMetadata, node_classes, node_from_json, node_to_json
from .joins import IntervalJoin, Join, LookupJoin, MultiJoin, TemporalJoin, WindowJoin
from .opaque import OpaqueNode
from .patterns import Match
from .process_table import ProcessTableFunction
from .python import (
    PythonAsyncCalc,
    PythonCalc,
    PythonCorrelate,
    PythonGroupAggregate,
    PythonGroupWindowAggregate,
    PythonNode,
    PythonOverAggregate,
)
from .ranks import ChangelogNormalize, Deduplicate, Limit, Rank, Sort, SortLimit, TemporalSort
from .relational import (
    AsyncCalc,
    Calc,
    Correlate,
    DropUpdateBefore,
    Exchange,
    Expand,
    MiniBatchAssigner,
    Union,
    WatermarkAssigner,
)
from .stream_windows import LateRows, WindowOperator
from .tables import Sink, TableSourceScan, Values
from .windows import (
    GlobalWindowAggregate,
    LocalWindowAggregate,
    WindowAggregate,
    WindowDeduplicate,
    WindowRank,
    WindowTableFunction,
)

__all__ = [
    "AsyncCalc",
    "Calc",
    "ChangelogNormalize",
    "ColumnOrder",
    "Correlate",
    "Deduplicate",
    "DropUpdateBefore",
    "Exchange",
    "ExecNode",
    "Expand",
    "GlobalGroupAggregate",
    "GlobalWindowAggregate",
    "GroupAggregate",
    "GroupWindowAggregate",
    "IncrementalGroupAggregate",
    "IntervalJoin",
    "Join",
    "LateRows",
    "Limit",
    "LocalGroupAggregate",
    "LocalWindowAggregate",
    "LookupJoin",
    "Match",
    "MiniBatchAssigner",
    "MultiJoin",
    "NodeMetadata",
    "OpaqueNode",
    "OverAggregate",
    "ProcessTableFunction",
    "PythonAsyncCalc",
    "PythonCalc",
    "PythonCorrelate",
    "PythonGroupAggregate",
    "PythonGroupWindowAggregate",
    "PythonNode",
    "PythonOverAggregate",
    "Rank",
    "Sink",
    "Sort",
    "SortLimit",
    "TableSourceScan",
    "TemporalJoin",
    "TemporalSort",
    "Union",
    "Values",
    "WatermarkAssigner",
    "WindowAggregate",
    "WindowDeduplicate",
    "WindowJoin",
    "WindowOperator",
    "WindowRank",
    "WindowTableFunction",
    "node_classes",
    "node_from_json",
    "node_to_json",
]
