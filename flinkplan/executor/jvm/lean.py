"""Starting PySpark and Spark without what they bring along for others, where a process runs nothing but jobs.

Both take a quarter of the processor time of a job over a few rows.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

_ARRAYS = ("numpy", "pandas", "pyarrow")


def hide_arrays() -> None:
    """Have PySpark not look for NumPy's values in all that it hands to the JVM.

    It asks a module of its tests whether NumPy is there, which imports pandas and PyArrow as well.  ``None`` is what
    Python takes for a module that is missing; it stands only while that one module is imported.
    """
    hidden = [name for name in _ARRAYS if name not in sys.modules]
    modules: dict[str, Any] = sys.modules
    modules.update(dict.fromkeys(hidden))
    try:
        import pyspark.testing.utils  # noqa: F401
    finally:
        for name in hidden:
            del modules[name]


def begin_session(settings: Mapping[str, str]) -> None:
    """Make the default session, with Spark's ``settings`` and the functions of SQL alone, unless there is one."""
    from pyspark import SparkConf, SparkContext

    context = SparkContext.getOrCreate(SparkConf().setAll(list(settings.items())))
    jvm: Any = context._jvm
    jvm.flinkplan.runtime.pyspark.LeanSession.begin(context._jsc.sc())
