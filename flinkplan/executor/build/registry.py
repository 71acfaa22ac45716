"""From the steps of a query to Spark's frames: one function per kind of step, found here.

The functions live in ``operators/``, one module a family, under the names of the modules that choose the steps.
:func:`build_query` walks a query's nodes in topological order and hands each function the streams of its inputs.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, TypeVar

from ...plan.errors import FlinkplanError, PlanError
from ...plan.nodes import ExecNode
from ...plan.record import replace
from ..prepare.query import QueryPlan
from ..prepare.steps import PassedBy, Step
from .context import Built, TranslationContext
from .stream import Stream
from .time.event_time import union_of

Chosen = TypeVar("Chosen", bound=Step)
Build = Callable[[Any, Chosen, tuple[Stream, ...], TranslationContext], Stream]

_BUILDERS: dict[tuple[type[ExecNode], type[Step]], Build[Any]] = {}


def builder(step: type[Chosen], *node_classes: type[ExecNode]) -> Callable[[Build[Chosen]], Build[Chosen]]:
    """Register the function that builds nodes of some classes for which such a step was chosen."""

    def register(build: Build[Chosen]) -> Build[Chosen]:
        for node_class in node_classes:
            _BUILDERS[node_class, step] = build
        return build

    return register


@cache
def builders() -> Mapping[tuple[type[ExecNode], type[Step]], Build[Any]]:
    """What is registered, by the class of node and the kind of step; what is passed by needs no function."""
    package = importlib.import_module(f"{__package__}.operators")
    for module in pkgutil.iter_modules(package.__path__):
        importlib.import_module(f"{package.__name__}.{module.name}")
    return _BUILDERS


def _builder_of(node_class: type[ExecNode], step: type[Step]) -> Build[Any]:
    """What builds nodes of a class: the function that is registered for it, or for the class that it extends."""
    return next(build for base in node_class.__mro__ if (build := builders().get((base, step))))


def build(node: ExecNode, step: Step, inputs: tuple[Stream, ...], context: TranslationContext) -> Stream:
    """The stream of ``node`` over those of its inputs, as ``step`` says."""
    context = replace(context, node=node)
    if isinstance(step, PassedBy):
        (stream,) = inputs
    else:
        stream = _builder_of(type(node), type(step))(node, step, inputs, context)
    is_passed = len(inputs) == 1 and stream.frame is inputs[0].frame
    kernels = tuple(context.parts.kernels.get(node.id, ()))
    context.parts.built[node.id] = Built(kernels, is_passed, stream)
    return replace(
        stream,
        pulse=stream.pulse or union_of(i.pulse for i in inputs),
        ticks=stream.ticks or union_of(i.ticks for i in inputs),
    )


def build_query(query: QueryPlan, context: TranslationContext) -> dict[int, Stream]:
    """The streams of all nodes of a query, by node id.

    Raises :class:`FlinkplanError`, naming the node, for what cannot be built.
    """
    from pyspark.errors import AnalysisException

    streams: dict[int, Stream] = {}
    common, folds = context.common, query.folds
    for node in query.plan.nodes:
        if common and (shared := common.find(node, folds)):
            streams[node.id] = shared
            context.parts.late_counters.update(common.late_rows(node, folds))
            continue
        inputs = tuple(streams[source.id] for source in query.plan.inputs(node))
        try:
            stream = build(node, query.step(node), inputs, context)
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
        if common:
            stream = common.keep(node, folds, stream, context.parts.late_counters)
        if context.common_rows:
            stream = context.common_rows.keep(node, stream)
        streams[node.id] = stream
    return streams


def _place(node: ExecNode) -> str:
    return f"node {node.id} ({node.type})"
