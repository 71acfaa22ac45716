"""An import of ``pyflink…`` finds the modules of flinkplan with the same names.

``with installed():`` makes it so for a while, :func:`install` for the rest of the process.  Where the real PyFlink is
installed, it is not replaced unless that is asked for.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

from ..plan.findings import did_you_mean

ALIASES = {
    "pyflink": None,
    "pyflink.table": "flinkplan.table",
    "pyflink.table.catalog": "flinkplan.table.catalogs",
    "pyflink.table.changelog_mode": "flinkplan.table.enumerations",
    "pyflink.table.compiled_plan": "flinkplan.table.compiled_plan",
    "pyflink.table.data_view": "flinkplan.udf.data_view",
    "pyflink.table.environment_settings": "flinkplan.table.settings",
    "pyflink.table.explain_detail": "flinkplan.table.compiled_plan",
    "pyflink.table.expression": "flinkplan.table.expression",
    "pyflink.table.expressions": "flinkplan.table.expressions",
    "pyflink.table.module": "flinkplan.table.enumerations",
    "pyflink.table.plan_reference": "flinkplan.table.compiled_plan",
    "pyflink.table.result_kind": "flinkplan.table.result",
    "pyflink.table.schema": "flinkplan.table.descriptors",
    "pyflink.table.sql_dialect": "flinkplan.table.enumerations",
    "pyflink.table.statement_set": "flinkplan.table.pipeline",
    "pyflink.table.table": "flinkplan.table.table",
    "pyflink.table.table_config": "flinkplan.table.settings",
    "pyflink.table.table_descriptor": "flinkplan.table.descriptors",
    "pyflink.table.table_environment": "flinkplan.table.environment",
    "pyflink.table.table_pipeline": "flinkplan.table.pipeline",
    "pyflink.table.table_result": "flinkplan.table.result",
    "pyflink.table.types": "flinkplan.table.data_types",
    "pyflink.table.udf": "flinkplan.table.udf",
    "pyflink.table.window": "flinkplan.table.window",
    "pyflink.common": "flinkplan.table.common",
    "pyflink.common.configuration": "flinkplan.table.common",
    "pyflink.common.execution_config": "flinkplan.table.execution_environment",
    "pyflink.common.time": "flinkplan.table.common",
    "pyflink.common.types": "flinkplan.table.common",
    "pyflink.datastream": "flinkplan.datastream",
    "pyflink.datastream.checkpoint_config": "flinkplan.table.execution_environment",
    "pyflink.datastream.checkpointing_mode": "flinkplan.table.execution_environment",
    "pyflink.datastream.execution_mode": "flinkplan.table.execution_environment",
    "pyflink.datastream.stream_execution_environment": "flinkplan.table.execution_environment",
    "pyflink.datastream.window": "flinkplan.datastream",
}
"""The modules of PyFlink, each with that of flinkplan that has its names."""


class _Alias(ModuleType):
    """A module with the names of another one."""

    def __getattr__(self, name: str) -> Any:
        target = ALIASES[self.__name__]
        if target is None or (name.startswith("__") and name not in ("__all__", "__doc__")):
            if f"{self.__name__}.{name}" in ALIASES:
                return importlib.import_module(f"{self.__name__}.{name}")
            raise AttributeError(f"module '{self.__name__}' has no attribute '{name}'")
        module = importlib.import_module(target)
        if hasattr(module, name):
            return getattr(module, name)
        if name == "__all__":
            return [n for n in vars(module) if not n.startswith("_")]
        if f"{self.__name__}.{name}" in ALIASES:
            return importlib.import_module(f"{self.__name__}.{name}")
        known = getattr(module, "__all__", vars(module))
        raise _missing(f"{self.__name__}.{name}", [n for n in known if not n.startswith("_")])


def _missing(name: str, known: Sequence[str]) -> ImportError:
    hint = did_you_mean(name.rpartition(".")[2], known)
    return ImportError(f"flinkplan does not have {name}{f'; {hint}' if hint else ''}", name=name)


class _Finder(MetaPathFinder, Loader):
    """Finds the modules of PyFlink here."""

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if fullname.partition(".")[0] != "pyflink":
            return None
        if fullname not in ALIASES:
            raise ModuleNotFoundError(str(_missing(fullname, [a.rpartition(".")[2] for a in ALIASES])), name=fullname)
        is_package = any(alias.startswith(f"{fullname}.") for alias in ALIASES)
        return ModuleSpec(fullname, self, is_package=is_package)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return _Alias(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """An alias has nothing of its own."""


_FINDER = _Finder()


def is_real_installed() -> bool:
    """Whether the real PyFlink is installed."""
    return PathFinder.find_spec("pyflink") is not None


def is_installed() -> bool:
    """Whether ``pyflink`` is flinkplan's."""
    return _FINDER in sys.meta_path


def install(*, replace: bool = False) -> bool:
    """Make ``import pyflink`` find flinkplan's modules; gives whether it does.

    Where the real PyFlink is installed, it is left alone unless ``replace`` is set.
    """
    if is_installed():
        return True
    if not replace and is_real_installed():
        return False
    for name in [n for n in sys.modules if n.partition(".")[0] == "pyflink"]:
        del sys.modules[name]
    sys.meta_path.insert(0, _FINDER)
    return True


def uninstall() -> None:
    """Make ``import pyflink`` find what it found before."""
    if is_installed():
        sys.meta_path.remove(_FINDER)
        for name in [n for n in sys.modules if n.partition(".")[0] == "pyflink"]:
            del sys.modules[name]


@contextmanager
def installed() -> Iterator[bool]:
    """Inside it ``import pyflink`` finds flinkplan's modules, unless the real PyFlink is installed."""
    if is_installed():
        yield True
        return
    done = install()
    try:
        yield done
    finally:
        if done:
            uninstall()
