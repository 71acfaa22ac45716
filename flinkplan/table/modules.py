"""Python modules of a pipeline that must not be mixed up with those of another version of it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType


@contextmanager
def isolated_modules() -> Iterator[None]:
    """Modules of the user's own files that are imported in the block are forgotten after it.

    So the same names can be imported from another folder next.  Installed packages stay: some cannot be imported twice.
    """
    before = set(sys.modules)
    try:
        yield
    finally:
        for name, module in list(sys.modules.items()):
            if name not in before and _is_users(module):
                del sys.modules[name]


_PACKAGE = Path(__file__).parents[1]
_STANDARD_LIBRARY = Path(os.__file__).parent


def _is_users(module: ModuleType) -> bool:
    file = getattr(module, "__file__", None) or next(iter(getattr(module, "__path__", ())), None)
    if file is None:
        return False
    path = Path(file)
    is_installed = "site-packages" in path.parts or "dist-packages" in path.parts
    return not (is_installed or path.is_relative_to(_PACKAGE) or path.is_relative_to(_STANDARD_LIBRARY))
