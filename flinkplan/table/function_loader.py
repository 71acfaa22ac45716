"""Loading functions by what CREATE FUNCTION gives: ``module.name`` in Python, or a class in Java.

Code is loaded only from the files, folders and jars that the command line, ``pyproject.toml`` or the API named.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from importlib.machinery import PathFinder
from pathlib import Path
from types import ModuleType

from ..flink.functions import JavaFunctions
from ..plan.errors import FlinkplanError, PlanError
from ..plan.findings import did_you_mean
from ..plan.functions.java import FUNCTIONS, JAR, is_java_code
from ..plan.functions.user import PythonDeclaration
from ..plan.record import replace
from ..planner.catalog.functions import Declaration, Registered
from ..udf.as_pyflink import installed
from .udf import DeclaredFunction, declared_function, declares


class FunctionLoader:
    """Gives the declarations of functions in some files and folders of Python, and in jars.

    ``roots`` gives the files and folders when a function is loaded: also jars, and the file that
    ``flinkplan functions`` has written.  ``trusts_statements`` says that statements, too, may name jars, for
    they are the user's.  ``known`` are the functions of jars that have been described.
    """

    def __init__(
        self,
        roots: Callable[[], Iterable[str]],
        *,
        trusts_statements: bool = False,
        known: JavaFunctions | None = None,
    ) -> None:
        self._code = roots
        self._trusts_statements = trusts_statements
        self._known = known
        self._java: dict[tuple[str | None, tuple[str, ...]], JavaFunctions] = {}

    def __call__(self, registered: Registered) -> Declaration:
        """The declaration of a function.  Raises :class:`FlinkplanError` if there is none."""
        if registered.is_java:
            return self.java_functions(registered.path, registered.jars).declaration(registered.path)
        return self.python(registered.path)

    def python(self, path: str) -> PythonDeclaration:
        """The declaration of the function at ``module.name``.  Raises :class:`FlinkplanError` if there is none."""
        declaration = _declaration(self.function(path), path)
        return replace(declaration, folders=tuple(dict.fromkeys(map(_folder, self._roots()))))

    def java_functions(self, class_name: str, wanted: Iterable[str] = ()) -> JavaFunctions:
        """The functions in the jars that may be loaded, those that a statement wants for a class first.

        Raises :class:`PlanError` for a jar that the user has not named, and where none is named.
        """
        code = list(self._code())
        named = [path for path in code if path.endswith(JAR)]
        file = next((path for path in code if path.endswith(FUNCTIONS)), None)
        jars = list(dict.fromkeys((*(self._allowed(path, named, class_name, file) for path in wanted), *named)))
        if not jars and file is None:
            raise PlanError(
                f"the class '{class_name}' is not loaded: no jars are named",
                hint="name its jar: --jar PATH, or jars in pyproject.toml",
            )
        if self._known is not None:
            return self._known
        key = file, tuple(jars)
        if key not in self._java:
            self._java[key] = JavaFunctions(jars, file=file)
        return self._java[key]

    def _allowed(self, path: str, named: list[str], class_name: str, file: str | None) -> str:
        """The jar that a statement means, among those that the user has named: by its path, else by its name."""
        local = path.removeprefix("file://")
        same = [each for each in named if Path(each).resolve() == Path(local).resolve()]
        alike = [each for each in named if Path(each).name == Path(local).name]
        if same or alike:
            return (same or alike)[0]
        if self._trusts_statements or file is not None:
            return local
        raise PlanError(
            f"the jar '{path}' of the class '{class_name}' is not loaded: code is loaded only from jars that you name",
            hint=f"--jar {local}, or jars in pyproject.toml; 'flinkplan functions JAR -o FILE' writes what is needed "
            "to compile without them",
        )

    def _roots(self) -> list[str]:
        """The files and folders of Python."""
        return [path for path in self._code() if not is_java_code(path)]

    def function(self, path: str) -> DeclaredFunction:
        """The function at ``module.name``.  Raises :class:`FlinkplanError` if there is none."""
        name, _, attribute = path.rpartition(".")
        if not name:
            raise PlanError(f"'{path}' names no function", hint="write 'module.name'")
        module = self.module(name, path)
        function = getattr(module, attribute, None)
        if function is None:
            known = [n for n, value in vars(module).items() if declares(value)]
            raise PlanError(f"the module '{name}' has no function '{attribute}'", hint=did_you_mean(attribute, known))
        declared = declared_function(function)
        if declared is None:
            raise PlanError(
                f"'{path}' is a {type(function).__name__}, not a declared function",
                hint="declare it with @udf, @udtf, @udaf or @udptf of pyflink.table.udf",
            )
        return declared

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
