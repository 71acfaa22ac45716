"""Starting without what PySpark and Spark bring along for others.

What is lean is a process of its own, as what has been imported or begun once stays so.
"""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.cli.support import ROOT

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_ARRAYS = """
import sys
from flinkplan.executor.jvm.lean import hide_arrays

hide_arrays()
print(*({"numpy", "pandas", "pyarrow"} & set(sys.modules)))
import numpy, pandas
print(pandas.Series(numpy.arange(3)).sum())
"""

_SESSION = """
from flinkplan.executor.jvm.session import session
from tests.executor.test_lean import functions_of_vectors

spark = session("local[1]", {"spark.sql.shuffle.partitions": "3", "spark.app.name": "mine"}, lean=True)
print(functions_of_vectors(spark))
print(spark.range(4).selectExpr("sum(id)").first()[0], spark.conf.get("spark.sql.shuffle.partitions"))
print(spark.sparkContext.appName, spark.sparkContext.master)
spark._jvm.java.lang.Class.forName("org.apache.spark.sql.ml.InternalFunctionRegistration$")
print(functions_of_vectors(spark) != [])
"""


def _printed(script: str) -> list[str]:
    done = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True, cwd=ROOT)
    return done.stdout.splitlines()


def test_pyspark_does_without_arrays_and_the_process_can_still_have_them() -> None:
    assert _printed(_ARRAYS) == ["", "3"]


def functions_of_vectors(spark: SparkSession) -> list[str]:
    """The functions of MLlib among those that Spark has for itself."""
    registry = getattr(getattr(spark._jvm, "org.apache.spark.sql.catalyst.analysis.FunctionRegistry$"), "MODULE$")
    return [str(f) for f in registry.internal().listFunction().mkString(" ").split() if "vector" in f]


@pytest.mark.spark
def test_a_lean_session_has_no_functions_of_mllib_until_they_are_registered_and_all_settings() -> None:
    assert _printed(_SESSION) == ["[]", "6 3", "mine local[1]", "True"]
