"""Classes of one's own, by their import paths, and the types of what they give."""

from __future__ import annotations

from ..plan.errors import PlanError
from ..plan.record import Json
from ..planner.sql.ast import stream_windows as w
from ..windowing.declared import Declared, arguments, import_path


def python_class(made: Declared) -> w.PythonClass:
    """The class of an instance, and what that was made with.  Raises :class:`PlanError` where a plan cannot say it."""
    try:
        return w.PythonClass(import_path(made), Json(arguments(made)))
    except ValueError as e:
        raise PlanError(str(e), hint="a plan names a class by module:Class, and its arguments in JSON") from None
