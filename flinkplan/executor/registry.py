"""From exec nodes to Spark: one function per class of node, found here.

The functions live in ``operators/``, one module a family.  :func:`translate` walks a plan's nodes in
topological order and hands each function the streams of its inputs.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Generic, TypeVar

from ..plan.document import Plan
from ..plan.errors import FlinkplanError, PlanError
from ..plan.nodes import ExecNode
from ..plan.nodes.expressions import expressions
from ..plan.record import Record, replace
from .context import TranslationContext
from .event_time import union_pulse
from .execution import Execution, QueryPlan
from .refusals import refusal
from .stream import Stream

Node = TypeVar("Node", bound=ExecNode)
Translate = Callable[[Node, tuple[Stream, ...], TranslationContext], Stream]
Runs = Callable[[Node, QueryPlan], Execution]


class Translator(Record, Generic[Node]):
    """How nodes of a class are translated, and what then runs them; the latter is known without Spark."""

    translate: Translate[Node]
    runs: Runs[Node]


_TRANSLATORS: dict[type[ExecNode], Translator[Any]] = {}


def translator(node_class: type[Node], runs: Runs[Node]) -> Callable[[Translate[Node]], Translate[Node]]:
    """Register the function that translates nodes of ``node_class``; ``runs`` says what then runs them."""

    def register(function: Translate[Node]) -> Translate[Node]:
        _TRANSLATORS[node_class] = Translator(function, runs)
        return function

    return register


def translators() -> Mapping[type[ExecNode], Translator[Any]]:
    """What is registered, by the class of node."""
    from . import operators

    for module in pkgutil.iter_modules(operators.__path__):
        importlib.import_module(f"{operators.__name__}.{module.name}")
    return _TRANSLATORS


def check_nodes(plan: Plan) -> None:
    """Raise :class:`UnsupportedError` for the first node that has no translator.  Needs no PySpark."""
    known = translators()
    for index, node in enumerate(plan.nodes):
        if type(node) not in known:
            raise refusal(node, f"node {node.id} (/nodes/{index})")


def check_supported(plan: Plan) -> None:
    """Raise :class:`UnsupportedError` for the first node that has no translator, or an expression never run."""
    from .expressions.translate import check_expression

    check_nodes(plan)
    for index, node in enumerate(plan.nodes):
        try:
            for rex in expressions(node):
                check_expression(rex)
        except FlinkplanError as e:
            e.where = f"node {node.id} (/nodes/{index})"
            raise


def _place(node: ExecNode) -> str:
    return f"node {node.id} ({node.type})"


def translate(plan: Plan, nodes: Iterable[ExecNode], context: TranslationContext) -> dict[int, Stream]:
    """The streams of ``nodes`` (in topological order, with all they read from), by node id.

    Raises :class:`FlinkplanError`, naming the node, for what cannot be translated.
    """
    from pyspark.errors import AnalysisException

    known = translators()
    streams: dict[int, Stream] = {}
    for node in nodes:
        inputs = tuple(streams[source.id] for source in plan.inputs(node))
        try:
            stream = known[type(node)].translate(node, inputs, context)
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
        streams[node.id] = stream if stream.pulse else replace(stream, pulse=union_pulse(inputs))
    return streams
