"""The locale that a JVM is started in: by it Java knows the names of files, which in ``C`` are ASCII alone."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

_VARIABLES = ("LC_ALL", "LC_CTYPE", "LANG")
"""The first one that is set says in which encoding the names of files are; source: setlocale(3)."""
_UTF8 = "C.UTF-8"


def utf8_variables(environment: Mapping[str, str]) -> dict[str, str]:
    """The variables that have to be set so that names of files are in UTF-8; none where they are."""
    name, value = next(((n, environment[n]) for n in _VARIABLES if environment.get(n)), ("LANG", ""))
    if sys.platform in ("win32", "darwin") or "utf8" in value.lower().replace("-", ""):
        return {}
    return {"LC_ALL" if name == "LC_ALL" else "LC_CTYPE": _UTF8}


@contextmanager
def utf8_names() -> Iterator[None]:
    """Have the processes that are started here know names of files in UTF-8."""
    variables = utf8_variables(os.environ)
    former = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in former.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
