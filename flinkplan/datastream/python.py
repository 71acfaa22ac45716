"""Assigners, triggers, evictors and functions of one's own: by the import paths of their classes."""

from __future__ import annotations

from ..plan.errors import PlanError
from ..plan.record import Json
from ..planner.sql import ast
from ..planner.sql.ast import stream_windows as w
from ..planner.sql.lexer import END
from ..planner.sql.source import Source
from ..planner.sql.statements import StatementParser
from ..windowing import Evictor, MergingWindowAssigner, Trigger, WindowAssigner
from ..windowing.declared import Declared, arguments, import_path
from .assigners import DeclaredWindowAssigner
from .evictors import DeclaredEvictor
from .triggers import DeclaredTrigger


def python_class(made: Declared) -> w.PythonClass:
    """The class of an instance, and what that was made with.  Raises :class:`PlanError` where a plan cannot say it."""
    try:
        return w.PythonClass(import_path(made), Json(arguments(made)))
    except ValueError as e:
        raise PlanError(str(e), hint="a plan names a class by module:Class, and its arguments in JSON") from None


def assigner_node(assigner: DeclaredWindowAssigner | WindowAssigner) -> w.WindowAssigner:
    """An assigner as a spec has it."""
    if isinstance(assigner, DeclaredWindowAssigner):
        return assigner.node
    merges = isinstance(assigner, MergingWindowAssigner)
    return w.WindowAssigner(
        "python", is_event_time=assigner.is_event_time(), python=python_class(assigner), merges=merges
    )


def trigger_node(trigger: DeclaredTrigger | Trigger, uses_clock: bool = False) -> w.Trigger:
    """A trigger as a spec has it."""
    return trigger.node if isinstance(trigger, DeclaredTrigger) else w.PythonTrigger(python_class(trigger), uses_clock)


def evictor_node(evictor: DeclaredEvictor | Evictor) -> w.Evictor:
    """An evictor as a spec has it."""
    return evictor.node if isinstance(evictor, DeclaredEvictor) else w.PythonEvictor(python_class(evictor))


def data_type(text: str) -> ast.DataType:
    """A type of SQL.  Raises an error with its place in the text where it is none."""
    parser = StatementParser(Source(text))
    found = parser.data_type(nullability=True)
    if parser.token.kind != END:
        parser.fail("the end of the type")
    return found
