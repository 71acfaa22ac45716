"""The functions that a plan from elsewhere may call: those in files, modules and jars that the user has named.

A plan names a function, not its code.  Code is imported only from what the user names, never because a plan says so.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import ModuleType

from ..executor.prepare.python_classes import modules_in
from ..plan.document import Plan
from ..plan.errors import PlanError
from ..plan.functions.java import is_java_code
from ..plan.functions.user import UserFunction
from ..plan.record import Json
from ..plan.user_functions import FunctionId, bind_functions
from ..planner.catalog.functions import user_function
from ..udf.as_pyflink import installed
from .function_loader import FunctionLoader
from .udf import declares


def bind_to_files(
    plan: Plan, files: Iterable[str], modules: Iterable[str] = (), named: Mapping[str, str] | None = None
) -> Plan:
    """The plan with the functions that it calls by name.

    Python functions are declared in ``files`` (modules, folders and archives) or in the installed ``modules``, under
    the names by which the plan calls them; ``named`` gives the path ``module.name`` of others by the name in the plan.
    Java functions are in those of ``files`` that are jars, by the class that the plan or ``named`` gives.  A name
    for which there is none stays as it is.  Raises :class:`PlanError` for a name that several functions have.
    """
    return bind_functions(plan, _Files(tuple(files), tuple(modules), named or {}).find)


class _Files:
    def __init__(self, files: tuple[str, ...], modules: tuple[str, ...], named: Mapping[str, str]) -> None:
        self._files = tuple(file for file in files if not is_java_code(file))
        self._has_java = len(self._files) < len(files)
        self._modules = modules
        self._named = {name.lower(): path for name, path in named.items()}
        self._loader = FunctionLoader(lambda: files)

    def find(self, function: FunctionId) -> UserFunction | None:
        name = function.short.lower()
        path = self._named.get(name)
        if function.is_python is False or function.class_name is not None:
            return self._find_java(function, path)
        paths = [path] if path is not None else list(self._paths(name))
        if function.is_python is None and not self._is_python(paths):
            return self._find_java(function, path)
        if len(paths) > 1:
            raise PlanError(
                f"several Python functions have the name {function.short}: {', '.join(paths)}",
                hint=f"--function {function.short}={paths[0]} takes the first",
            )
        if not paths:
            return None
        reference = Json(systemName=function.name) if function.is_system else Json(catalogName=function.name)
        return user_function(function.short, reference, self._loader.python(paths[0]))

    def _is_python(self, paths: list[str]) -> bool:
        """Whether the path of a function that may be in Java or Python is one of Python's."""
        modules = {module for file in self._files for module in modules_in(Path(file))} | set(self._modules)
        return any(path.partition(".")[0] in {m.partition(".")[0] for m in modules} for path in paths)

    def _find_java(self, function: FunctionId, named: str | None) -> UserFunction | None:
        class_name = named or function.class_name
        if not self._has_java or class_name is None:
            return None
        key = "systemName" if function.is_system else "catalogName"
        declaration = self._loader.java_functions(class_name).declaration(class_name)
        return user_function(function.short, Json({key: function.name}), declaration, function.class_name is not None)

    def _paths(self, name: str) -> Iterator[str]:
        """The paths of the functions that are declared under a name; one that several modules have is its own's."""
        seen: list[object] = []
        for module in self._candidates(name):
            for attribute, value in vars(module).items():
                is_known = any(value is other for other in seen)
                if declares(value) and attribute.lower() == name and not is_known:
                    seen.append(value)
                    yield f"{module.__name__}.{attribute}"

    def _candidates(self, name: str) -> Iterator[ModuleType]:
        """The modules that may declare a function of this name; files whose text lacks it are not imported."""
        for file in self._files:
            for module in modules_in(Path(file)):
                if _may_declare(Path(file), module, name):
                    yield self._loader.module(module)
        for module in self._modules:
            with installed():
                yield importlib.import_module(module)


def _may_declare(file: Path, module: str, name: str) -> bool:
    source = file if file.suffix == ".py" else file / f"{module}.py"
    try:
        return name in source.read_text("utf-8").lower()
    except (OSError, UnicodeDecodeError):
        return True  # a package, or in an archive
