"""Calls of the Java functions in ``executor/runtime`` as Spark columns."""

from __future__ import annotations

from pyspark.sql import Column, SparkSession
from pyspark.sql.types import DataType


def invoke(method: str, returns: DataType, *operands: Column) -> Column:
    """A column of the static Java method ``Class.method`` of ``flinkplan.runtime.functions``.

    Operands are cast to what the method takes; the result is NULL where one of them is NULL.
    ``method`` is a constant of this package, never text from a plan.
    """
    session = SparkSession.active()
    owner, name = method.split(".")
    functions = session._jvm.flinkplan.runtime.functions.Functions  # type: ignore[union-attr]
    # a list literal converts by py4j into the java.util.List that the method expects
    return Column(functions.invoke(owner, name, returns.json(), [o._jc for o in operands]))
