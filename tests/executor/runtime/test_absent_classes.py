"""The class loader that knows which classes there are not."""

from __future__ import annotations

from typing import Any

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from flinkplan.executor.runtime.jar import runtime_jar

pytestmark = pytest.mark.spark

NAME, FILE = "flinkplan.runtime.row.Rows", "flinkplan/runtime/row/Rows.class"


def test_threads_of_this_session_find_classes_by_it(spark: SparkSession) -> None:
    jvm: Any = spark._jvm
    loader = jvm.java.lang.Thread.currentThread().getContextClassLoader()
    assert loader.getClass().getSimpleName() == "AbsentClasses"
    assert loader.loadClass(NAME).getName() == NAME


def test_what_is_absent_is_found_once_a_jar_has_it(spark: SparkSession) -> None:
    jvm: Any = spark._jvm
    gateway: Any = spark.sparkContext._gateway
    thread = jvm.java.lang.Thread.currentThread()
    loader = thread.getContextClassLoader()
    system = jvm.java.lang.ClassLoader.getSystemClassLoader()
    added = jvm.org.apache.spark.util.MutableURLClassLoader(gateway.new_array(jvm.java.net.URL, 0), system)
    absent_classes = loader.loadClass("flinkplan.runtime.pyspark.AbsentClasses")
    remember = absent_classes.getMethod("remember", gateway.new_array(jvm.java.lang.Class, 0))
    thread.setContextClassLoader(added)
    try:
        remember.invoke(None, gateway.new_array(jvm.java.lang.Object, 0))
        found = thread.getContextClassLoader()
    finally:
        thread.setContextClassLoader(loader)
    for _ in range(2):
        with pytest.raises(Py4JJavaError, match=NAME):
            found.loadClass(NAME)
        assert found.getResource(FILE) is None
    added.addURL(jvm.java.io.File(str(runtime_jar())).toURI().toURL())
    assert found.loadClass(NAME).getName() == NAME
    assert found.getResource(FILE) is not None
