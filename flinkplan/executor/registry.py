"""From exec nodes to Spark: one function per class of node, found here.

The functions live in ``operators/``, one module a family.  :func:`translate` walks a plan's nodes in
topological order and hands each function the streams of its inputs.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Generic, TypeVar

from ..plan.document import Plan
from ..plan.errors import FlinkplanError, PlanError, combined_error
from ..plan.nodes import ExecNode, TableSourceScan, WatermarkAssigner, WindowOperator
from ..plan.nodes.expressions import expressions
from ..plan.record import Record, replace
from .context import PYTHON, TranslationContext
from .event_time import union_of
from .execution import TIMER, Execution, QueryPlan
from .processing_time import is_by_clock, tells_time
from .refusals import refusal
from .stream import Stream

Node = TypeVar("Node", bound=ExecNode)
Translate = Callable[[Node, tuple[Stream, ...], TranslationContext], Stream]
Runs = Callable[[Node, QueryPlan], Execution]
Obstacle = Callable[[Node, QueryPlan], str | None]
"""Why a node does not run in real-time mode; ``None``: it does."""
Check = Callable[[Node, Plan, Mapping[str, str]], None]
"""Of a node, the plan it stands in and the options of the session."""


def never(node: ExecNode, query: QueryPlan) -> str | None:
    """The obstacle of nodes that nothing is known of."""
    return "it works on batches of rows"


def row_by_row(node: ExecNode, query: QueryPlan) -> str | None:
    """That of nodes that can always see one row at a time: none."""
    return None


def by_watermark(node: ExecNode, query: QueryPlan) -> str | None:
    """That of nodes whose rows are due at times: what stands between them and their sources passes watermarks on.

    The clock is told in the place of watermarks where all of a query goes by it.
    """
    waiting = [n for n in query.plan.nodes if waits_for_watermark(n, query)]
    if len({is_by_clock(n, query.plan) for n in waiting}) > 1:
        return "some operators of the query go by the clock, others by watermarks"
    announces = _announces(query)
    for source in query.plan.upstream(query.plan.inputs(node), announces):
        if not announces(source) and translators()[type(source)].runs(source, query).states:
            return f"no watermark comes behind node {source.id}"
    return united(node, query) if len(query.plan.inputs(node)) > 1 else None


def waits_for_watermark(node: ExecNode, query: QueryPlan) -> bool:
    """Whether a node's rows are due at times."""
    return TIMER in translators()[type(node)].runs(node, query).states


def goes_by_watermark(query: QueryPlan) -> bool:
    """Whether anything in a query waits for watermarks."""
    return any(
        isinstance(node, WindowOperator)
        or any(state.is_timed for state in translators()[type(node)].runs(node, query).states)
        for node in query.plan.nodes
    )


def _announces(query: QueryPlan) -> Callable[[ExecNode], bool]:
    """Whether watermarks come from a node among its rows: from assigners, or scans that tell the time in place of them,
    or from one that has waited for them itself."""
    telling = TableSourceScan if tells_time(query.plan) else WatermarkAssigner
    return lambda node: isinstance(node, telling) or waits_for_watermark(node, query)


def announcing(node: ExecNode, query: QueryPlan) -> list[ExecNode]:
    """The nodes whose watermarks come to ``node``."""
    announces = _announces(query)
    return [source for source in query.plan.upstream(query.plan.inputs(node), announces) if announces(source)]


def united(node: ExecNode, query: QueryPlan) -> str | None:
    """That of nodes whose inputs come together in one union."""
    for source in query.plan.upstream(query.plan.inputs(node)):
        if translators()[type(source)].runs(source, query).states:
            return f"Spark brings no rows together behind an operator with state, as node {source.id} is"
    return None


class Translator(Record, Generic[Node]):
    """How nodes of a class are translated, what then runs them, and what of them is not run.

    All but the first are known without Spark: ``check`` raises :class:`FlinkplanError` for a node that is refused.
    """

    translate: Translate[Node]
    runs: Runs[Node]
    check: Check[Node] | None = None
    real_time: Obstacle[Node] = never


_TRANSLATORS: dict[type[ExecNode], Translator[Any]] = {}


def translator(
    node_class: type[Node],
    runs: Runs[Node],
    check: Check[Node] | None = None,
    real_time: Obstacle[Node] = never,
) -> Callable[[Translate[Node]], Translate[Node]]:
    """Register the function that translates nodes of ``node_class``.

    ``runs`` says what then runs them, ``check`` refuses those that are not, ``real_time`` those that are not in
    real-time mode: unless it is said, none is.
    """

    def register(function: Translate[Node]) -> Translate[Node]:
        _TRANSLATORS[node_class] = Translator(function, runs, check, real_time)
        return function

    return register


def translators() -> Mapping[type[ExecNode], Translator[Any]]:
    """What is registered, by the class of node."""
    from . import operators

    for module in pkgutil.iter_modules(operators.__path__):
        importlib.import_module(f"{operators.__name__}.{module.name}")
    return _TRANSLATORS


def refused_nodes(plan: Plan, options: Mapping[str, str] | None = None) -> Iterator[tuple[int, FlinkplanError]]:
    """Nodes that are not executed, by their place in the plan, each with the reasons.  Needs no PySpark."""
    from .expressions.translate import check_expression

    known = translators()
    for index, node in enumerate(plan.nodes):
        if type(node) not in known:
            yield index, refusal(node)
            continue
        check = known[type(node)].check
        tests = [partial(check, node, plan, options or {})] if check else []
        for test in (*tests, *(partial(check_expression, rex) for rex in expressions(node))):
            try:
                test()
            except FlinkplanError as e:
                yield index, e


def check_nodes(plan: Plan) -> None:
    """Raise the errors of all nodes that are not executed, together.  Needs no PySpark."""
    errors = []
    for index, error in refused_nodes(plan):
        error.where = f"node {plan.nodes[index].id} (/nodes/{index})"
        errors.append(error)
    if errors:
        raise combined_error(errors)


def _place(node: ExecNode) -> str:
    return f"node {node.id} ({node.type})"


def _engine(kernels: Sequence[str], inputs: tuple[Stream, ...], stream: Stream) -> tuple[str, str]:
    """What has been built of a node: the engine, and the kernels' classes."""
    if kernels:
        return ("python", "") if PYTHON in kernels else ("kernel", ", ".join(kernels))
    return ("passed by" if len(inputs) == 1 and stream.frame is inputs[0].frame else "native"), ""


def translate(plan: Plan, nodes: Iterable[ExecNode], context: TranslationContext) -> dict[int, Stream]:
    """The streams of ``nodes`` (in topological order, with all they read from), by node id.

    Raises :class:`FlinkplanError`, naming the node, for what cannot be translated.
    """
    from pyspark.errors import AnalysisException

    known = translators()
    streams: dict[int, Stream] = {}
    common, folds = context.common, context.folds_changes
    for node in nodes:
        if common and (kept := common.find(node, folds)):
            streams[node.id] = kept
            context.late_counters.update(common.late_rows(node, folds))
            continue
        inputs = tuple(streams[source.id] for source in plan.inputs(node))
        try:
            stream = known[type(node)].translate(node, inputs, replace(context, node=node))
        except FlinkplanError as e:
            if e.where is None:
                e.where = _place(node)
            raise
        except AnalysisException as e:
            raise PlanError(
                f"Spark finds a contradiction in it: {str(e).splitlines()[0]}",
                where=_place(node),
                hint="compile the plan again if it was edited by hand; if not, please report it",
            ) from e
        context.built[node.id] = _engine(context.kernels.get(node.id, []), inputs, stream)
        stream = replace(
            stream,
            pulse=stream.pulse or union_of(i.pulse for i in inputs),
            ticks=stream.ticks or union_of(i.ticks for i in inputs),
        )
        if common:
            stream = common.keep(node, folds, stream, context.late_counters)
        if context.common_rows:
            stream = context.common_rows.keep(node, stream)
        streams[node.id] = stream
    return streams
