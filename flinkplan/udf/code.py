"""A function on its way to Spark's Python workers, and what makes it there.

Functions go over pickled by value, as PyFlink sends them: each worker has a copy of the function as it was when the job
began, with the global variables that it uses.  What a function imports is imported in the worker, from the folders that
the user has named, anew for each job: a worker may have run another job whose modules have the same names.
"""

from __future__ import annotations

import pickle
import sys
from types import ModuleType
from typing import Any

from ..plan.functions.user import PythonKind
from ..plan.record import Record
from .as_pyflink import install


class Imports(Record):
    """Where a job's functions import modules from in the workers.

    ``job`` tells the job from others; modules in ``folders`` are imported anew for each.  ``paths`` are looked through
    after Python's own.  ``replaces_pyflink``: ``pyflink`` is flinkplan's where the real one is installed, too.
    """

    job: str
    folders: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    replaces_pyflink: bool = False

    def activate(self) -> None:
        """Have what is imported now, in a worker, be imported so."""
        global _active
        install(replace=self.replaces_pyflink)
        if _active is not None and _active.job == self.job:
            return
        if _active is not None:
            _MODULES[_active.job] = own = _active._own_modules()
            for name in own:
                del sys.modules[name]
            sys.path[:] = [path for path in sys.path if path not in (*_active.folders, *_active.paths)]
        sys.path[:0] = [path for path in self.folders if path not in sys.path]
        sys.path += [path for path in self.paths if path not in sys.path]
        self._look_again()
        sys.modules.update(_MODULES.pop(self.job, {}))
        _active = self

    def _look_again(self) -> None:
        """Have files be found that have come into the folders since modules were looked for there.

        :func:`importlib.invalidate_caches` would read the archive of PySpark again, which takes a tenth of a second.
        """
        folders = (*self.folders, *self.paths)
        roots = tuple(f"{folder.rstrip('/')}/" for folder in folders)
        for path, finder in list(sys.path_importer_cache.items()):
            if path in folders or path.startswith(roots):
                if finder is None:
                    del sys.path_importer_cache[path]
                elif hasattr(finder, "invalidate_caches"):
                    finder.invalidate_caches()

    def _own_modules(self) -> dict[str, ModuleType]:
        """The modules that were imported from the folders: not those of an environment that lies in one of them."""
        roots = tuple(f"{folder.rstrip('/')}/" for folder in (*self.folders, *self.paths))
        return {
            name: module
            for name, module in sys.modules.items()
            if (file := getattr(module, "__file__", None) or "").startswith(roots)
            and not any(f"/{installed}/" in file for installed in _INSTALLED)
            and name.partition(".")[0] not in ("__main__", "flinkplan", "pyspark")
        }


_INSTALLED = ("site-packages", "dist-packages")


_active: Imports | None = None
_MODULES: dict[str, dict[str, ModuleType]] = {}
"""The modules of jobs whose turn it is not, by the job."""


class FunctionCode(Record):
    """A function for the workers.

    ``name`` is what it is called in SQL.  ``pickled`` is the function, or an instance of a class of
    :mod:`.interfaces`, as cloudpickle writes it on the driver: never bytes of a plan.
    """

    name: str
    kind: PythonKind
    takes_row: bool
    pickled: bytes
    imports: Imports

    def made(self) -> Any:
        """A new copy of the function, or of the instance, in a worker."""
        self.imports.activate()
        return pickle.loads(self.pickled)
