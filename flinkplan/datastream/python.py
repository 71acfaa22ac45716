"""User-defined Python classes, identified by their import paths."""

from __future__ import annotations

from ..plan.errors import PlanError
from ..plan.record import Json
from ..planner.sql.ast import stream_windows as w
from ..windowing.declared import Declared, arguments, import_path


def python_class(instance: Declared) -> w.PythonClass:
    """The class and the arguments of an instance.  Raises :class:`PlanError` where a plan cannot contain them."""
    try:
        return w.PythonClass(import_path(instance), Json(arguments(instance)))
    except ValueError as e:
        raise PlanError(str(e), hint="a plan contains a class as module:Class, and its arguments as JSON") from None
