"""The class loader under which Hadoop finds no settings."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


def test_hadoops_settings_are_not_there_and_all_else_is(spark: SparkSession) -> None:
    jvm: Any = spark._jvm
    own = jvm.java.lang.Thread.currentThread().getContextClassLoader()
    loader = jvm.flinkplan.runtime.state.WithoutDefaults.over(own)
    assert own.getResource("core-default.xml") is not None
    assert loader.getResource("core-default.xml") is None
    assert not loader.getResources("core-default.xml").hasMoreElements()
    assert loader.getResource("flinkplan/runtime/kernel/Kernel.class") is not None


def test_there_is_one_over_each_class_loader(spark: SparkSession) -> None:
    jvm: Any = spark._jvm
    own = jvm.java.lang.Thread.currentThread().getContextClassLoader()
    loaders = [jvm.flinkplan.runtime.state.WithoutDefaults.over(loader) for loader in (own, own, own.getParent())]
    assert loaders[0].equals(loaders[1])
    assert not loaders[0].equals(loaders[2])
