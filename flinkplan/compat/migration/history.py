"""Recipes from history: states that are computed anew from the files that the sources have read.

A table of files keeps its rows, and a savepoint or checkpoint says which of the files have been read.  So the new
query can be run over just these, and its operators then keep what they would have kept from the beginning.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from ...plan.changelog import row_kinds
from ...plan.clock import is_by_clock
from ...plan.document import Plan
from ...plan.functions import aggregate
from ...plan.functions.registry import called as called_function
from ...plan.functions.temporal import PROCTIME
from ...plan.names import node_names
from ...plan.nodes import (
    Calc,
    ChangelogNormalize,
    Correlate,
    Deduplicate,
    DropUpdateBefore,
    Exchange,
    ExecNode,
    Expand,
    GlobalGroupAggregate,
    GlobalWindowAggregate,
    GroupAggregate,
    GroupWindowAggregate,
    IncrementalGroupAggregate,
    IntervalJoin,
    Join,
    Limit,
    LocalGroupAggregate,
    LocalWindowAggregate,
    Match,
    MiniBatchAssigner,
    MultiJoin,
    OverAggregate,
    Rank,
    Sink,
    SortLimit,
    TableSourceScan,
    TemporalJoin,
    TemporalSort,
    Union,
    WatermarkAssigner,
    WindowAggregate,
    WindowDeduplicate,
    WindowJoin,
    WindowRank,
    WindowTableFunction,
)
from ...plan.nodes.expressions import expressions
from ...plan.rex import RexNode, walk
from ...plan.row_kinds import INSERTS
from ...plan.specs import ContextResolvedTable, ReadingMetadata
from ...plan.tables import called
from ...plan.user_functions import unbound_functions
from ..comparing import Comparison
from ..rules.tables import LOCATIONS
from .recipe import Recipe, RecipeKind

_FILES = "filesystem"
"""The connector whose tables keep their rows."""
_FORMAT, _MONITORED = "format", "source.monitor-interval"
_REPLAYABLE: tuple[type[ExecNode], ...] = (
    *(TableSourceScan, Calc, Correlate, Exchange, Expand, Union, DropUpdateBefore, MiniBatchAssigner),
    *(WatermarkAssigner, WindowTableFunction, ChangelogNormalize, Deduplicate, Rank, SortLimit, Limit),
    *(GroupAggregate, LocalGroupAggregate, GlobalGroupAggregate, IncrementalGroupAggregate, OverAggregate),
    *(WindowAggregate, LocalWindowAggregate, GlobalWindowAggregate, GroupWindowAggregate),
    *(Join, IntervalJoin, MultiJoin, TemporalJoin, WindowJoin, WindowRank, WindowDeduplicate),
    *(Match, TemporalSort, Sink),
)
"""The operators whose state depends on nothing but their rows."""
_BY_ARRIVAL = frozenset(
    f.internal_name
    for f in (aggregate.FIRST_VALUE, aggregate.LAST_VALUE, aggregate.LISTAGG, aggregate.COLLECT, aggregate.ARRAY_AGG)
)
"""The aggregate functions whose accumulators depend on the order in which rows come."""


class History:
    """Makes recipes from history, for operators of the new plan of a comparison."""

    def __init__(self, comparison: Comparison, sources: dict[int, Recipe], given: Collection[str] = ()) -> None:
        """``sources`` are the recipes of the sources of the new plan, by their ids.

        ``given`` are the tables whose history the user has, whatever their connectors.
        """
        self._given = frozenset(given)
        self._old, self._plan = comparison.old.plan, comparison.new.plan
        self._sources = sources
        self._names = node_names(self._plan)
        self._kinds = row_kinds(self._plan)

    def recipe(self, node: ExecNode) -> Recipe | None:
        """The recipe of an operator; ``None`` where its state does not follow from files alone."""
        layout = node.layout([source.fields for source in self._plan.inputs(node)])
        part = list(self._plan.upstream([node]))
        scans = [each for each in part if isinstance(each, TableSourceScan)]
        if layout is None or not scans or not all(map(self._is_replayable, part)):
            return None
        sink = next((sink.id for sink in self._sinks(node) if self._reads_files(sink)), None)
        if sink is None:
            return None
        tables = sorted({scan.scan_table_source.table.name for scan in scans})
        in_order = not self._given and any(map(self._depends_on_order, part))
        words = f"is computed anew from the files of {_listed(tables)} that have been read, which must still be there"
        if self._given:
            words = f"is computed anew from the history of {_listed(tables)}"
        elif in_order:
            words += ", and be one, since the order of rows matters"
        if not self._given and any(_MONITORED not in scan.scan_table_source.table.options for scan in scans):
            words += f"; a savepoint names them if the table has {_MONITORED}"
        return Recipe(
            RecipeKind.HISTORY,
            node.id,
            self._names[node.id],
            operator=layout.transformation,
            words=(words,),
            untold=("what the change adds to its rows or takes back, until they change",),
            sink=sink,
            in_order=in_order,
        )

    def _sinks(self, node: ExecNode) -> Iterator[ExecNode]:
        """The sinks that a node's rows reach."""
        for sink in self._plan.sinks:
            if isinstance(sink, Sink) and any(each.id == node.id for each in self._plan.upstream([sink])):
                yield sink

    def _reads_files(self, sink: ExecNode) -> bool:
        """Whether a sink's rows come from files alone, which go on being read as before."""
        for node in self._plan.upstream([sink]):
            if self._plan.inputs(node):
                continue
            if not isinstance(node, TableSourceScan) or not self._goes_on(node):
                return False
        return True

    def _goes_on(self, scan: TableSourceScan) -> bool:
        """Whether a table is one of files, of which the old job has read the same, if it has read any."""
        table = scan.scan_table_source.table
        recipe = self._sources.get(scan.id)
        if self._is_given(scan):
            return True
        if table.connector != _FILES or recipe is None or recipe.needs or _reads_metadata(scan):
            return False
        if recipe.kind is RecipeKind.EMPTY:
            return True
        old = self._old.by_id[recipe.old or 0]
        return isinstance(old, TableSourceScan) and _place(old.scan_table_source.table) == _place(table)

    def _is_given(self, node: ExecNode) -> bool:
        return isinstance(node, TableSourceScan) and not self._given.isdisjoint(called(node.scan_table_source.table))

    def _is_replayable(self, node: ExecNode) -> bool:
        """Whether an operator makes the same of the same rows at any time; history that is given has its own times."""
        if not isinstance(node, _REPLAYABLE) or unbound_functions(node):
            return False
        if not self._given and any(not state.ttl.startswith("0 ") for state in node.states):
            return False
        return not _needs_clock(node, self._plan) and all(map(_is_replayable, expressions(node)))

    def _depends_on_order(self, node: ExecNode) -> bool:
        """Whether what an operator keeps depends on the order in which rows come."""
        match node:
            case TableSourceScan():
                return self._kinds.get(node.id) != INSERTS
            case Deduplicate(is_rowtime=is_rowtime):
                return not is_rowtime
            case Limit():
                return True
            case OverAggregate():
                return is_by_clock(node, self._plan)
        calls = getattr(node, "agg_calls", None) or ()
        return any(call.internal_name in _BY_ARRIVAL for call in calls)


def _needs_clock(node: ExecNode, plan: Plan) -> bool:
    """Whether what an operator keeps depends on when rows came."""
    match node:
        case OverAggregate():  # by processing time, a frame of rows has the rows that came last
            (group, *others) = node.over_spec.groups
            return bool(others) or (is_by_clock(node, plan) and not group.is_rows)
        case TemporalJoin():
            return node.is_processing_time
        case WindowJoin():
            return node.left_windowing.is_proctime
        case WindowRank() | WindowDeduplicate() | WindowTableFunction() | GlobalWindowAggregate():
            return node.windowing.is_proctime
    return is_by_clock(node, plan)


def _is_replayable(rex: RexNode) -> bool:
    """Whether an expression has the same value at any time; a processing-time attribute has none."""
    functions = map(called_function, walk(rex))
    return all(function is None or function is PROCTIME or function.deterministic for function in functions)


def _reads_metadata(scan: TableSourceScan) -> bool:
    abilities = scan.scan_table_source.abilities or ()
    return any(isinstance(ability, ReadingMetadata) and ability.metadata_keys for ability in abilities)


def _place(table: ContextResolvedTable) -> dict[str, str | None]:
    """Where a table's files are, and how they are read."""
    names = (*LOCATIONS, _FORMAT)
    own = {name: value for name, value in table.options.items() if name in names or name.startswith("source.path")}
    format_ = own.get(_FORMAT)
    return {**own, **{k: v for k, v in table.options.items() if format_ and k.startswith(f"{format_}.")}}


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
