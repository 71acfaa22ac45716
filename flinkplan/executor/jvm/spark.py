"""PySpark's modules, imported when something in them is first used: who only asks what there is needs none of them.

``F`` are Spark's functions, ``T`` its types, ``sql`` the rest; ``fields`` are ours, which are columns of its.
"""

from __future__ import annotations

from decimal import Decimal
from importlib import import_module
from types import NoneType
from typing import TYPE_CHECKING, Any

from .java import active_jvm, java_method

if TYPE_CHECKING:
    from pyspark import sql
    from pyspark.sql import functions as F
    from pyspark.sql import types as T

    from . import fields
else:

    class _Module:
        """Stands for a module until an attribute of it is asked for."""

        def __init__(self, name: str) -> None:
            self._name = name

        def __getattr__(self, attribute: str) -> Any:
            value = getattr(import_module(self._name), attribute)
            setattr(self, attribute, value)
            return value

    class _Functions(_Module):
        """The same of functions, which may be named without being called."""

        def __getattr__(self, attribute: str) -> Any:
            def call(*arguments: Any, **options: Any) -> Any:
                return getattr(import_module(self._name), attribute)(*arguments, **options)

            return call

        def lit(self, value: Any) -> Any:
            """A literal, for which PySpark would look up the function in the JVM each time."""
            if isinstance(value, _PLAIN):
                return sql.Column(java_method(active_jvm(), "org.apache.spark.sql.functions", "lit")(value))
            return self.__getattr__("lit")(value)

    _PLAIN = (bool, int, float, str, Decimal, NoneType)
    F = _Functions("pyspark.sql.functions")
    T = _Module("pyspark.sql.types")
    sql = _Module("pyspark.sql")
    fields = _Module(f"{__package__}.fields")

__all__ = ["F", "T", "fields", "sql"]
