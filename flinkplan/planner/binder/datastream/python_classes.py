"""Python classes that a pipeline names: whether they exist, without running any of their code."""

from __future__ import annotations

import ast as python
import re
import sys
from collections.abc import Iterator
from functools import lru_cache
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path

from ....plan.findings import nearest
from ....plan.record import Json
from ...sql.ast import stream_windows as w
from ...sql.source import Source
from ..errors import BindError

_PATH = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*")


def importable(node: w.PythonClass) -> tuple[str, Json]:
    """The import path of a class, and its arguments.  Raises :class:`BindError` where there is no such class.

    Modules are looked for beside the pipeline's file, in the working directory, and where Python looks for them; of
    one that is written in Python the text is read.
    """
    if not _PATH.fullmatch(node.path):
        raise BindError(f"'{node.path}' names no class", node.span, "write module:Class, such as my_windows:TopThree")
    module, _, name = node.path.partition(":")
    spec = _find(module, list(_folders(node.span.source)))
    if spec is None:
        raise BindError(
            f"there is no Python module '{module}'",
            node.span,
            "put it beside the pipeline's file, or install it where flinkplan is installed",
        )
    defined = _defined(spec)
    if defined is not None and name not in defined:
        near = nearest(name, defined)
        raise BindError(
            f"there is no class '{name}' in the Python module '{module}'",
            node.span,
            f"is it '{near}'?" if near else "it must stand at the top of the module",
        )
    return node.path, node.arguments


def _folders(source: Source) -> Iterator[str]:
    file = getattr(source, "file", None)
    if file is not None:
        yield str(Path(file).resolve().parent)
    yield str(Path.cwd())
    yield from sys.path


def _find(module: str, folders: list[str]) -> ModuleSpec | None:
    """The file of a module; its parent packages are not imported."""
    places: list[str] | None = folders
    parts = module.split(".")
    spec = None
    for i in range(len(parts)):
        if places is None:
            return None
        spec = PathFinder.find_spec(".".join(parts[: i + 1]), places)
        if spec is None:
            return None
        places = None if spec.submodule_search_locations is None else list(spec.submodule_search_locations)
    return spec


def _defined(spec: ModuleSpec) -> frozenset[str] | None:
    """The names defined at the top level of a module; ``None`` where they are not known."""
    origin = Path(spec.origin or "")
    return _names(origin.read_bytes()) if origin.suffix == ".py" and origin.is_file() else None


@lru_cache(maxsize=8)
def _names(module: bytes) -> frozenset[str] | None:
    """The same of the text of a module, which most windows of a pipeline share."""
    try:
        tree = python.parse(module)
    except (SyntaxError, ValueError):
        return None
    names: set[str] = set()
    for statement in tree.body:
        if isinstance(statement, (python.ClassDef, python.FunctionDef)):
            names.add(statement.name)
        elif isinstance(statement, (python.Import, python.ImportFrom)):
            if any(alias.name == "*" for alias in statement.names):
                return None
            names |= {alias.asname or alias.name for alias in statement.names}
        elif not isinstance(statement, (python.Expr, python.AnnAssign)):
            names |= {each.id for each in python.walk(statement) if isinstance(each, python.Name)}
    return frozenset(names)
