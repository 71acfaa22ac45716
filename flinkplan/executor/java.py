"""The Java side by its names."""

from __future__ import annotations

from functools import lru_cache
from typing import Any


@lru_cache(maxsize=256)
def java_class(jvm: Any, name: str) -> Any:
    """The class, or the package, of this name in a JVM, which looks for each part of a name in all jars."""
    package, _, last = name.rpartition(".")
    return getattr(java_class(jvm, package) if package else jvm, last)
