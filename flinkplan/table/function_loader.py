"""Loading Python functions by the path that CREATE FUNCTION gives: ``module.name``.

Code is imported only from the files and folders that the command line, ``pyproject.toml`` or the API named.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from importlib.machinery import PathFinder
from pathlib import Path
from types import ModuleType

from ..plan.errors import FlinkplanError, PlanError
from ..plan.findings import did_you_mean
from ..plan.functions.user import PythonDeclaration
from ..plan.record import replace
from ..udf.as_pyflink import installed
from .udf import DeclaredFunction


class FunctionLoader:
    """Gives the declarations of functions in the modules of some files and folders.

    ``roots`` gives the files and folders when a function is loaded.
    """

    def __init__(self, roots: Callable[[], Iterable[str]]) -> None:
        self._roots = roots

    def __call__(self, path: str) -> PythonDeclaration:
        """The declaration of the function at ``module.name``.  Raises :class:`FlinkplanError` if there is none."""
        declaration = _declaration(self.function(path), path)
        return replace(declaration, folders=tuple(dict.fromkeys(map(_folder, self._roots()))))

    def function(self, path: str) -> DeclaredFunction:
        """The function at ``module.name``.  Raises :class:`FlinkplanError` if there is none."""
        name, _, attribute = path.rpartition(".")
        if not name:
            raise PlanError(f"'{path}' names no function", hint="write 'module.name'")
        module = self.module(name, path)
        function = getattr(module, attribute, None)
        if function is None:
            known = [n for n, value in vars(module).items() if isinstance(value, DeclaredFunction)]
            raise PlanError(f"the module '{name}' has no function '{attribute}'", hint=did_you_mean(attribute, known))
        if not isinstance(function, DeclaredFunction):
            raise PlanError(
                f"'{path}' is a {type(function).__name__}, not a declared function",
                hint="declare it with @udf, @udtf or @udaf of pyflink.table.udf",
            )
        return function

    def module(self, name: str, path: str = "") -> ModuleType:
        """The module of a name, for the function at ``path``.  Raises :class:`FlinkplanError` if it is in no root."""
        roots = list(dict.fromkeys(map(_folder, self._roots())))
        if name in sys.modules:
            return sys.modules[name]
        if PathFinder.find_spec(name.partition(".")[0], roots) is None:
            named = f"it is not in {' or '.join(roots)}" if roots else "no Python files are named"
            raise PlanError(
                f"the module '{name}' of the function '{path or name}' is not loaded: {named}",
                hint="name its file or folder: --py-files PATH, py-files in pyproject.toml, or the option python.files",
            )
        try:
            with _importable(roots), installed():
                return importlib.import_module(name)
        except FlinkplanError:
            raise
        except Exception as error:
            raise PlanError(
                f"the module '{name}' cannot be imported: {type(error).__name__}: {error}", where=_where(error, roots)
            ) from error


def _declaration(function: DeclaredFunction, path: str) -> PythonDeclaration:
    try:
        return function.declaration
    except (TypeError, ValueError, RuntimeError) as error:
        raise PlanError(f"the function '{path}' is not declared well: {error}") from error


def _folder(root: str) -> str:
    """The folder, or the archive, in which the modules of a file or folder are."""
    path = Path(root)
    return str((path.parent if path.suffix == ".py" else path).resolve())


@contextmanager
def _importable(roots: list[str]) -> Iterator[None]:
    """Modules of these folders can be imported."""
    before = list(sys.path)
    sys.path[:0] = roots
    importlib.invalidate_caches()
    try:
        yield
    finally:
        sys.path[:] = before


def _where(error: Exception, roots: list[str]) -> str | None:
    """The last line of the user's files that an exception passed."""
    trace, place = error.__traceback__, None
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if any(file.startswith(root) for root in roots):
            place = f"{file}:{trace.tb_lineno}"
        trace = trace.tb_next
    return place
