"""The Java side by its names."""

from __future__ import annotations

from functools import lru_cache
from typing import Any


def active_jvm() -> Any:
    """The JVM of the Spark that runs in this process."""
    from pyspark import SparkContext

    context = SparkContext._active_spark_context
    assert context is not None, "Spark runs before columns are made"
    return context._jvm


@lru_cache(maxsize=256)
def java_class(jvm: Any, name: str) -> Any:
    """The class, or the package, of this name in a JVM, which looks for each part of a name in all jars."""
    package, _, last = name.rpartition(".")
    return getattr(java_class(jvm, package) if package else jvm, last)


@lru_cache(maxsize=256)
def java_method(jvm: Any, owner: str, name: str) -> Any:
    """A static method of a class, for which a JVM is otherwise asked each time."""
    return getattr(java_class(jvm, owner), name)
