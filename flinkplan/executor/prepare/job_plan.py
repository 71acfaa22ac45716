"""What a job will run, as a value: made once from a plan, without Spark, and obeyed by what builds and runs it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ...plan.document import Plan
from ...plan.errors import UnsupportedError
from ...plan.nodes import Sink
from ...plan.record import Record, field, replace
from ...plan.session import with_ttls
from ...plan.settings import RUNTIME_MODE, is_batch_mode
from ..connectors import is_bounded
from ..errors import TableError
from .known.folding import asks_for_changes, shows_changes
from .known.pushed_watermarks import with_assigners
from .modes import Mode
from .query import QueryPlan


class JobPlan(Record):
    """The queries of a job by the names of the sinks that they feed.

    ``plan``: that of all of them, with what its sources and the session leave to operators made explicit.
    ``is_batch``: all input is read at once, and ends.
    """

    plan: Plan
    mode: Mode
    is_batch: bool
    queries: Mapping[str, QueryPlan]

    @property
    def in_micro_batches(self) -> JobPlan:
        """The same job, its input read in micro-batches, as it is where a checkpoint has some."""
        queries = {name: replace(query, is_batch=False, whole=query.plan) for name, query in self.queries.items()}
        return replace(self, is_batch=False, queries=queries)

    def in_kernels(self, names: Iterable[str]) -> JobPlan:
        """The same job, all state of the queries of these names in kernels, as their checkpoint has it."""
        chosen = set(names)
        queries = {n: replace(query, in_kernels=n in chosen) for n, query in self.queries.items()}
        return replace(self, queries=queries)


class JobSettings(Record):
    """What besides its plan decides what a job runs.

    ``variables`` replace ``${NAME}`` in options of tables.  ``options`` are the session's, for what the plan's nodes do
    not say.  ``is_watched``: somebody looks at each change.  ``streams``: bounded input is read in micro-batches, too.
    """

    variables: Mapping[str, str] = field(default_factory=dict)
    options: Mapping[str, str] = field(default_factory=dict)
    is_watched: bool = False
    streams: bool = False


DEFAULT_SETTINGS = JobSettings()
"""Those of a job of which nothing is known but its plan."""


def prepare(plan: Plan, mode: Mode, settings: JobSettings = DEFAULT_SETTINGS) -> JobPlan:
    """What a job of a plan runs in a mode.

    Raises :class:`UnsupportedError` for a plan, or a session, of batch mode in another mode than bounded, and for
    operators that ask for each change in a session of batch mode.
    """
    if plan.is_batch and mode is not Mode.BOUNDED:
        raise UnsupportedError(
            f"a plan of Flink's batch mode does not run in the mode '{mode.value}': it reads its input to the end",
            hint="leave --mode out, or compile the pipeline in streaming mode",
        )
    is_final = is_batch_mode(settings.options)
    if is_final and mode is not Mode.BOUNDED:
        raise UnsupportedError(
            f"with '{RUNTIME_MODE}' = 'batch' a job reads its input to the end, which it has not in the mode "
            f"'{mode.value}'",
            hint=f"SET '{RUNTIME_MODE}' = 'streaming', or read tables that end",
        )
    run = with_assigners(with_ttls(plan, settings.options))
    is_batch = mode is Mode.BOUNDED and (plan.is_batch or is_final or not settings.streams)
    queries = {}
    for name, part in queries_of(run).items():
        asks = asks_for_changes(part)
        if is_final and asks:
            raise UnsupportedError(
                f"with '{RUNTIME_MODE}' = 'batch' there are no temporal joins, nor process table functions that read "
                "updates: they ask for each change, of which only what it comes to in the end is there",
                hint=f"SET '{RUNTIME_MODE}' = 'streaming'",
            )
        is_watched = settings.is_watched or mode is Mode.REAL_TIME or shows_changes(part, settings.variables)
        queries[name] = QueryPlan(
            part,
            run if is_batch else part,
            mode,
            is_batch,
            (is_final or not is_watched) and not asks,
            settings.variables,
            settings.options,
        )
    return JobPlan(run, mode, is_batch, queries)


def default_mode(plan: Plan, variables: Mapping[str, str]) -> Mode:
    """The mode of a plan for which none is asked: as in Flink, bounded where all sources are, or in batch mode.

    Raises :class:`TableError` where the plan does not define a table.
    """
    return Mode.BOUNDED if plan.is_batch or is_bounded(plan, variables) else Mode.STREAMING


def prepare_by_default(plan: Plan) -> JobPlan:
    """What a job of a plan runs of which nothing else is known; without all tables, as a stream."""
    try:
        return prepare(plan, default_mode(plan, {}))
    except TableError:
        return prepare(plan, Mode.STREAMING)


def queries_of(plan: Plan) -> dict[str, Plan]:
    """The part of a plan that each sink needs, by the name of its table; a table written again has a number behind."""
    parts: dict[str, Plan] = {}
    for node in plan.nodes:
        if isinstance(node, Sink):
            base = node.dynamic_table_sink.table.name
            count = sum(1 for name in parts if name == base or name.startswith(f"{base}-"))
            parts[f"{base}-{count + 1}" if count else base] = _part_for(plan, node)
    return parts


def _part_for(plan: Plan, sink: Sink) -> Plan:
    """The sink and all that it reads from, in the plan's order."""
    wanted = {node.id for node in plan.upstream([sink])}
    nodes = tuple(node for node in plan.nodes if node.id in wanted)
    return Plan(plan.flink_version, nodes, tuple(edge for edge in plan.edges if edge.target in wanted))
