"""How a node of a plan is run on Spark: what translators say of it beside themselves, without Spark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..plan.changelog import row_kinds
from ..plan.document import Plan
from ..plan.durations import format_duration
from ..plan.explain import columns_of, keys
from ..plan.nodes import Exchange, ExecNode, GlobalWindowAggregate
from ..plan.record import Record, cached_property
from ..plan.row_kinds import INSERTS, Kinds
from ..plan.specs import AggregateCall, SessionWindow, TimeAttributeWindowing, WindowingStrategy
from .carried import carries_late_rows
from .context import TranslationContext
from .native_aggregates import obstacle, obstacle_of
from .native_joins import Joins
from .row_order import read_in_order, updated_in_place

_UNTIL_WATERMARK = "until the watermark passes"


class StateLayout(Record):
    """A state in the state store: its name, Spark's kind of state, what it holds for a key, and how long."""

    name: str
    kind: str
    holds: str
    kept: str

    def __str__(self) -> str:
        return f"{f'{self.name} {self.kind}'.rstrip()}: {self.holds}; {self.kept}"

    @property
    def is_timed(self) -> bool:
        """Whether the watermark cleans it."""
        return self.kept == _UNTIL_WATERMARK


class Execution(Record):
    """How a node is run.

    ``engine``: ``native``, ``kernel``, ``python`` (in Spark's Python workers), or ``passed by`` where nothing is to do;
    ``by``: Spark's operators, or the kernel's class; ``why`` these.  ``shuffle``: the columns by which rows are brought
    together before, none for one partition; ``None``: rows stay where they are.
    """

    engine: str
    by: str
    why: str
    shuffle: tuple[str, ...] | None = None
    states: tuple[StateLayout, ...] = ()


class QueryPlan(Record, dict=True):
    """The part of a plan that one sink needs, which is one query of Spark: a batch or a stream.

    ``folds``: the changes that one batch makes to a key may come to one.  ``is_real_time``: there are no batches.
    ``whole``: the plan of all sinks whose queries share streams, if they do.  ``in_kernels``: kernels keep all state.
    """

    plan: Plan
    is_batch: bool = False
    folds: bool = True
    is_real_time: bool = False
    whole: Plan | None = None
    in_kernels: bool = False

    @property
    def whole_plan(self) -> Plan:
        """The plan of all sinks where their queries share streams; else that of the query."""
        return self.whole or self.plan

    @cached_property
    def kinds(self) -> Mapping[int, Kinds | None]:
        """The kinds of rows by the id of the node that emits them."""
        return row_kinds(self.plan)

    @cached_property
    def joins(self) -> Joins:
        """The joins of a batch; of streams that are shared, as any sink needs them."""
        return Joins(self.whole_plan, row_kinds(self.whole_plan), self.folds)

    @cached_property
    def numbered(self) -> frozenset[int]:
        """The ids of the nodes whose rows' numbers show in the result: the order of rows goes by them behind.

        Of streams that are shared, in the result of any sink.
        """
        return read_in_order(self.whole_plan, row_kinds(self.whole_plan), self.folds, numbers=True)

    @cached_property
    def _updated_in_place(self) -> frozenset[int]:
        return updated_in_place(self.whole_plan)

    def folds_at(self, node: ExecNode) -> bool:
        """Whether the changes that one batch makes to a key of ``node`` may come to one."""
        return self.folds and node.id not in self._updated_in_place

    @cached_property
    def obstacle(self) -> str | None:
        """Why the query's state cannot all be Spark's own; ``None``: it can."""
        return "its checkpoint has the state of kernels" if self.in_kernels else obstacle(self.plan)

    def obstacle_of(self, node: ExecNode) -> str | None:
        """Why a window aggregation takes a kernel; ``None``: Spark's own grouping does it.

        All state of a stream is encoded alike, so that one kernel has all others be kernels; a batch has no state.
        """
        if self.is_real_time:
            return "fires as soon as the watermark has passed"
        if not self.is_batch:
            return self.obstacle
        one_phase = node
        while isinstance(one_phase, (GlobalWindowAggregate, Exchange)):
            one_phase = self.input(one_phase)
        return obstacle_of(self.plan, one_phase) or self.late_rows_obstacle(self.input(one_phase))

    def late_rows_obstacle(self, source: ExecNode) -> str | None:
        """Why windows over the rows of ``source`` take a kernel in a batch; ``None``: its rows are late or on time."""
        return "reads rows that are late only for what follows" if carries_late_rows(self.plan, source) else None

    def is_changelog(self, node: ExecNode) -> bool:
        """Whether ``node`` emits other rows than insertions."""
        return self.kinds[node.id] != INSERTS

    def input(self, node: ExecNode, index: int = 0) -> ExecNode:
        """An input of ``node``."""
        return self.plan.inputs(node)[index]

    def keys(self, node: ExecNode) -> tuple[str, ...]:
        """The columns by which a node's rows belong together."""
        return tuple(keys(self.plan, node))

    def window_keys(self, node: ExecNode) -> tuple[str, ...]:
        """The same where rows are brought together by their windows, too."""
        return (*self.keys(node), "window start", "window end")

    def columns(self, node: ExecNode, indexes: Sequence[int]) -> str:
        """The names of some columns of ``node``, for people."""
        return ", ".join(columns_of(node, indexes))


def query_of(context: TranslationContext) -> QueryPlan:
    """The query that a translation makes; one for all of its nodes."""
    if QueryPlan not in context.shared:
        whole = context.common.plan if context.common else None
        context.shared[QueryPlan] = QueryPlan(
            context.plan, context.is_batch, context.folds_changes, context.is_real_time, whole, context.in_kernels
        )
    found: QueryPlan = context.shared[QueryPlan]
    return found


def native(by: str, why: str = "each row by itself") -> Execution:
    """Operators of Spark that keep no state."""
    return Execution("native", by, why)


def passed_by(why: str) -> Execution:
    """Nothing at all."""
    return Execution("passed by", "", why)


def kernel(
    node: ExecNode, query: QueryPlan, name: str, why: str, *states: StateLayout, keys: Sequence[str] | None = None
) -> Execution:
    """A kernel of ``flinkplan.runtime`` over rows that are brought together by the node's keys, or by ``keys``."""
    return Execution("kernel", name, why, query.keys(node) if keys is None else tuple(keys), states)


def windowed_kernel(node: ExecNode, query: QueryPlan, name: str, why: str, *states: StateLayout) -> Execution:
    """A kernel that keeps rows by their windows; in a batch each window of a key is a key of its own."""
    return kernel(node, query, name, why, *states, keys=query.window_keys(node) if query.is_batch else None)


def with_ttl(kind: str, name: str, holds: str, ttl_ms: int) -> StateLayout:
    """A state whose entries expire after their last write."""
    return StateLayout(name, kind, holds, f"TTL {format_duration(ttl_ms)}" if ttl_ms else "for ever")


def until_watermark(kind: str, name: str, holds: str) -> StateLayout:
    """A state that the watermark cleans."""
    return StateLayout(name, kind, holds, _UNTIL_WATERMARK)


TIMER = until_watermark("ValueState", "timer", "when the key is due next")


def accumulators(calls: Sequence[AggregateCall]) -> str:
    """What a state of these calls' accumulators holds."""
    distinct = sum(call.distinct for call in calls)
    maps = f", a MapState for each DISTINCT ({distinct})" if distinct else ""
    return f"a struct for each call ({len(calls)}){maps}"


def window_kernel(
    node: ExecNode, windowing: WindowingStrategy, calls: Sequence[AggregateCall], query: QueryPlan, why: str
) -> Execution:
    """The kernel of an aggregation in windows."""
    if isinstance(windowing.window, SessionWindow) and isinstance(windowing, TimeAttributeWindowing):
        rows = until_watermark("ListState", "rows", "the rows of open sessions")
        return kernel(node, query, "time.SessionAggregate", why, rows, TIMER)
    few = until_watermark("ValueState", "windows-few", f"of few windows {accumulators(calls)}")
    many = until_watermark("MapState", "windows", f"of many, by window {accumulators(calls)}")
    return kernel(node, query, "time.WindowAggregate", why, few, many, TIMER)
