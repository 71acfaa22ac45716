"""What Python and Java both know of kernels."""

from __future__ import annotations

from typing import Any

import pytest

from flinkplan.executor import stream
from tests.executor.conftest import Bench

pytestmark = pytest.mark.spark


def test_hidden_columns_have_the_same_names_on_both_sides(bench: Bench) -> None:
    from py4j.java_gateway import get_java_class

    fields = get_java_class(bench.context.runtime.row.Hidden).getFields()
    in_java = {f.get(None) for f in fields if f.getType().getSimpleName() == "String"}
    in_python = {value for name, value in vars(stream).items() if name.isupper() and isinstance(value, str)}
    assert in_java
    assert in_java <= in_python


def test_whoever_has_state_turns_off_readers_that_are_composed_anew_for_each_value(bench: Bench) -> None:
    jvm: Any = bench.spark._jvm
    loader = jvm.java.lang.Thread.currentThread().getContextClassLoader()
    jvm.java.lang.Class.forName("flinkplan.runtime.state.StateVariables", True, loader)
    assert not jvm.org.apache.avro.generic.GenericData.get().isFastReaderEnabled()
