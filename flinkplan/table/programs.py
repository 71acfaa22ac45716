"""Python programs that use the Table API as PyFlink's: compiled to the plan of their job, or run."""

from __future__ import annotations

import runpy
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

from ..plan.document import Plan
from ..plan.errors import FlinkplanError, PlanError, UnsupportedError
from ..plan.findings import Finding
from ..udf.as_pyflink import install, is_installed, uninstall
from .defaults import defaults
from .environment import TableEnvironment
from .jobs import Starter
from .settings import EnvironmentSettings


class _Compiled(BaseException):
    """Ends a program at its first job, whose plan is kept."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan


def compile_program(
    path: str,
    options: Mapping[str, str] | None = None,
    warn: Callable[[Finding], None] | None = None,
    *,
    py_files: Sequence[str] = (),
    catalog_tables: Mapping[str, str] | None = None,
    replace_pyflink: bool = False,
) -> Plan:
    """The plan of the first job that a program starts, which then ends.

    A program that starts none, but has a function ``pipeline(t_env)``, means what that gives.  Raises
    :class:`FlinkplanError` for an error of the program, with its line.
    """

    def capture(plan: Plan, *args: Any, **kwargs: Any) -> NoReturn:
        raise _Compiled(plan)

    with _environment(path, replace_pyflink), defaults(capture, options, warn, py_files, catalog_tables):
        try:
            names = _run(path, ())
            if "pipeline" not in names:
                raise PlanError("the program starts no job", where=path, hint="end it with execute_insert(…)")
            environment = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
            plan: Plan = _called(path, names["pipeline"], environment).compile_plan().plan
            return plan
        except _Compiled as compiled:
            from .storable import check_storable

            check_storable(compiled.plan)
            return compiled.plan


def run_program(
    path: str,
    arguments: Sequence[str] = (),
    options: Mapping[str, str] | None = None,
    warn: Callable[[Finding], None] | None = None,
    starter: Starter | None = None,
    *,
    py_files: Sequence[str] = (),
    catalog_tables: Mapping[str, str] | None = None,
    replace_pyflink: bool = False,
) -> None:
    """Run a program; ``starter`` starts its jobs.  Raises :class:`FlinkplanError` for an error of the program."""
    with _environment(path, replace_pyflink), defaults(starter, options, warn, py_files, catalog_tables):
        names = _run(path, arguments)
        if "pipeline" in names:
            environment = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
            _called(path, names["pipeline"], environment).execute().wait()


@contextmanager
def _environment(path: str, replace_pyflink: bool) -> Iterator[None]:
    """``pyflink`` is flinkplan's, and modules beside the program can be imported."""
    was_installed = is_installed()
    if not install(replace=replace_pyflink):
        raise PlanError(
            "the real PyFlink is installed, so the program would run on Flink itself",
            where=path,
            hint="--replace-pyflink runs it with flinkplan's modules instead",
        )
    before = list(sys.path)
    sys.path.insert(0, str(Path(path).resolve().parent))
    try:
        yield
    finally:
        sys.path[:] = before
        if not was_installed:
            uninstall()


def _run(path: str, arguments: Sequence[str]) -> dict[str, Any]:
    before = list(sys.argv)
    sys.argv[:] = [path, *arguments]
    try:
        names: dict[str, Any] = _placed(path, lambda: runpy.run_path(path, run_name="__main__"))
        return names
    finally:
        sys.argv[:] = before


def _called(path: str, function: Callable[..., Any], *args: Any) -> Any:
    return _placed(path, lambda: function(*args))


def _placed(path: str, action: Callable[[], Any]) -> Any:
    """What the action gives; its errors name the line of the program."""
    try:
        return action()
    except SystemExit as end:
        if end.code in (None, 0):
            return {}
        raise PlanError(f"the program ended with {end.code!r}", where=path) from None
    except FlinkplanError as error:
        line = _line(error, path)
        if line is None or error.where is not None:
            raise
        kind = UnsupportedError if isinstance(error, UnsupportedError) else PlanError
        raise kind(error.message, where=line, hint=error.hint) from error
    except Exception as error:
        raise PlanError(f"{type(error).__name__}: {error}", where=_line(error, path) or path) from error


def _line(error: BaseException, path: str) -> str | None:
    """The last line of the program that an exception passed."""
    trace, line = error.__traceback__, None
    name = str(Path(path))
    while trace is not None:
        if trace.tb_frame.f_code.co_filename in (name, str(Path(path).resolve())):
            line = f"{path}:{trace.tb_lineno}"
        trace = trace.tb_next
    return line
