"""Calls of the Java functions in ``executor/runtime`` as Spark columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..jvm.java import active_jvm, java_method
from ..jvm.spark import T, sql

if TYPE_CHECKING:
    from pyspark.sql import Column


def invoke(method: str, returns: T.DataType, *operands: Column) -> Column:
    """A column of the static Java method ``Class.method`` of ``flinkplan.runtime.functions``.

    Operands are cast to what the method takes; the result is NULL where one of them is NULL.
    ``method`` is a constant of this package, never text from a plan.
    """
    owner, name = method.split(".")
    call = java_method(active_jvm(), "flinkplan.runtime.functions.Functions", "invoke")
    # a list literal converts by py4j into the java.util.List that the method expects
    return sql.Column(call(owner, name, returns.json(), [o._jc for o in operands]))
