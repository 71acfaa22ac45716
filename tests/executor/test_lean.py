"""Starting without what PySpark and Spark bring along for others.

Each test is a process of its own, as what has been imported or begun once stays so.
"""

from __future__ import annotations

import subprocess
import sys

import pytest

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

spark = session("local[1]", {"spark.sql.shuffle.partitions": "3", "spark.app.name": "mine"}, lean=LEAN)
registry = getattr(getattr(spark._jvm, "org.apache.spark.sql.catalyst.analysis.FunctionRegistry$"), "MODULE$")
print([str(f) for f in registry.internal().listFunction().mkString(" ").split() if "vector" in f])
print(spark.range(4).selectExpr("sum(id)").first()[0], spark.conf.get("spark.sql.shuffle.partitions"))
print(spark.sparkContext.appName, spark.sparkContext.master)
"""


def _printed(script: str) -> list[str]:
    done = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    return done.stdout.splitlines()


def test_pyspark_does_without_arrays_and_the_process_can_still_have_them() -> None:
    assert _printed(_ARRAYS) == ["", "3"]


@pytest.mark.spark
def test_a_lean_session_has_no_functions_of_mllib_and_all_settings() -> None:
    rest = ["6 3", "mine local[1]"]
    assert _printed(_SESSION.replace("LEAN", "True")) == ["[]", *rest]
    functions, *others = _printed(_SESSION.replace("LEAN", "False"))
    assert "vector" in functions
    assert others == rest
