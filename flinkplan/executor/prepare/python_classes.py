"""Python classes that a plan names: which of them may run, and how they are made.

A plan is untrusted: it names classes by their import paths, and importing a module runs it.  So nothing is imported but
what whoever executes the plan allows by name, or hands over as files.
"""

from __future__ import annotations

import importlib
import sys
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ...plan.document import Plan
from ...plan.errors import FlinkplanError, combined_error
from ...plan.functions.java import is_java_code
from ...plan.nodes import WindowOperator
from ...plan.record import Record
from ...plan.user_functions import FunctionId, unbound_functions
from ...windowing.keys import is_within


class PythonCode(Record):
    """What may be imported: ``modules`` by name, with all inside of them, and those in ``files``.

    Files are modules (``.py``), archives (``.zip``) and folders of modules; those of functions in Java are left out.
    """

    modules: tuple[str, ...] = ()
    files: tuple[str, ...] = ()

    @property
    def allowed(self) -> tuple[str, ...]:
        """The modules that may be imported.  Raises :class:`FlinkplanError` for files that are not there."""
        return (*self.modules, *(module for file in self._python for module in modules_in(Path(file))))

    @property
    def folders(self) -> tuple[str, ...]:
        """Where they are looked for first."""
        paths = (Path(file).resolve() for file in self._python)
        return tuple(str(path.parent if path.suffix == ".py" else path) for path in paths)

    @property
    def _python(self) -> list[str]:
        return [file for file in self.files if not is_java_code(file)]


def modules_in(file: Path) -> list[str]:
    """The modules in a file, a folder or an archive.  Raises :class:`FlinkplanError` for a file that is not there."""
    if not file.exists():
        raise FlinkplanError("there is no such file", where=str(file), hint="--py-files takes .py, .zip and folders")
    if file.suffix == ".py":
        return [file.stem]
    names = zipfile.ZipFile(file).namelist() if file.suffix == ".zip" else [each.name for each in file.iterdir()]
    return sorted({Path(name).parts[0].removesuffix(".py") for name in names if not name.startswith((".", "_"))})


class Reference(Record):
    """A class, what it is made with, and where its module is looked for first."""

    path: str
    arguments: Mapping[str, Any]
    folders: tuple[str, ...]

    @property
    def module(self) -> str:
        """The module that is imported."""
        return self.path.partition(":")[0]

    def make(self, interface: type) -> Any:
        """An instance.  Raises :class:`FlinkplanError` where there is no class of this interface, or it fails."""
        sys.path.extend(folder for folder in self.folders if folder not in sys.path)
        name = self.path.partition(":")[2]
        try:
            made = getattr(importlib.import_module(self.module), name)
        except Exception as e:
            raise FlinkplanError(f"cannot import {self.path}: {type(e).__name__}: {e}") from None
        if not isinstance(made, type) or not issubclass(made, interface):
            raise FlinkplanError(
                f"{self.path} is no {interface.__name__}",
                hint=f"a class of one's own is: class {name}({interface.__name__}), from flinkplan.datastream",
            )
        try:
            return made(**self.arguments)
        except Exception as e:
            raise FlinkplanError(f"cannot make {self.path}: {type(e).__name__}: {e}") from None


def _not_allowed(function: FunctionId, where: str) -> FlinkplanError:
    name = function.short
    if function.is_python is None and function.class_name is None:
        return FlinkplanError(
            f"the plan calls the function {name}, and nobody has said where it is",
            where=where,
            hint=f"if you trust it: --py-files with the file that declares {name}, or --jar with its jar, and "
            f"--function {name}=MODULE.NAME or {name}=CLASS if it has another name there",
        )
    if function.is_python:
        return FlinkplanError(
            f"the plan calls the Python function {name}, and nobody has said where it is",
            where=where,
            hint=f"if you trust it: --py-files with the file that declares {name}, and --function {name}=MODULE.NAME "
            "if it has another name there",
        )
    if function.class_name is not None:
        hint = f"if you trust it: --jar with the jar of the class {function.class_name}"
    else:
        hint = f"if you trust it: --jar with its jar, and --function {name}=CLASS"
    return FlinkplanError(
        f"the plan calls the function {name}, and nobody has said where it is", where=where, hint=hint
    )


def check_allowed(plan: Plan, code: PythonCode) -> None:
    """Raise :class:`FlinkplanError` for every class whose module nobody has allowed, and every function without code.

    Whoever loads a plan joins the functions that it names with those that the user has allowed, by
    :func:`~...plan.user_functions.bind_functions`; so a name that is left stands for nothing that may be imported.
    """
    allowed, errors = code.allowed, []
    for index, node in enumerate(plan.nodes):
        for function in unbound_functions(node):
            errors.append(_not_allowed(function, f"node {node.id} (/nodes/{index})"))
        if not isinstance(node, WindowOperator):
            continue
        for part in node.python_parts:
            module = part.python_class.partition(":")[0]
            if not is_within(module, allowed):
                errors.append(
                    FlinkplanError(
                        f"the plan wants to run {part.python_class}, and nobody has allowed that",
                        where=f"node {node.id} (/nodes/{index})",
                        hint=f"if you trust it: --python-module {module}, or --py-files with the file it is in",
                    )
                )
    if errors:
        raise combined_error(errors)
