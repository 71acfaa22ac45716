"""Spark that the user has started: the kernels are added to it, and jobs have a session of their own over it.

Nothing of the user's session changes: neither its settings nor its temporary views nor its log.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from ..errors import JvmError

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

_KERNELS = "flinkplan.runtime.kernel.Kernel"
_ZONE = "-Duser.timezone=UTC"

_sessions: WeakKeyDictionary[Any, SparkSession] = WeakKeyDictionary()


def borrowed_session(context: SparkContext, jar: Path, settings: Mapping[str, str]) -> SparkSession:
    """The session for jobs on Spark that runs already, with ``settings``; ``jar`` has the kernels.

    Raises :class:`JvmError`, saying what Spark is to be started with, where that can only be said at its start.
    """
    from pyspark.sql import SparkSession

    _check_zone(context)
    spark = _sessions.get(context)
    if spark is None:
        _add(context, jar)
        spark = SparkSession(context, SparkSession(context)._jsparkSession.newSession())
        _sessions[context] = spark
    for key, value in settings.items():
        _set(spark, key, value)
    return spark


def _check_zone(context: SparkContext) -> None:
    """Timestamps go to and from databases by the clock of the JVM."""
    jvm: Any = context._jvm
    zone = jvm.java.util.TimeZone.getDefault()
    if not zone.hasSameRules(jvm.java.util.TimeZone.getTimeZone("UTC")):
        raise JvmError(
            f"the Spark that runs in this process has the time zone {zone.getID()}; jobs need UTC",
            hint=f"start it with .config('spark.driver.extraJavaOptions', '{_ZONE}') and "
            f".config('spark.executor.extraJavaOptions', '{_ZONE}'), or let flinkplan start it",
        )


def _add(context: SparkContext, jar: Path) -> None:
    """Have the driver and the executors load the kernels, unless they do.

    The class loader that ``spark-submit`` has made for the driver takes jars; that of Spark's tasks asks it first.
    """
    from py4j.protocol import Py4JError, Py4JJavaError

    jvm: Any = context._jvm
    loader = jvm.java.lang.Thread.currentThread().getContextClassLoader()
    try:
        loader.loadClass(_KERNELS)
        return
    except Py4JJavaError:
        pass
    try:
        loader.addURL(jvm.java.io.File(str(jar)).toURI().toURL())
        loader.loadClass(_KERNELS)
    except Py4JError:
        raise JvmError(
            "the Spark that runs in this process takes no more jars",
            hint=f"start it with .config('spark.jars', '{jar}'), or let flinkplan start it",
        ) from None
    context._jsc.addJar(str(jar))


def _set(spark: SparkSession, key: str, value: str) -> None:
    from pyspark.errors import PySparkException

    if spark.sparkContext.getConf().get(key) == value:
        return
    try:
        spark.conf.set(key, value)
    except PySparkException:
        raise JvmError(
            f"'{key}' can only be set when Spark is started, and one runs already",
            hint=f"start it with .config('{key}', '{value}'), or let flinkplan start it",
        ) from None
