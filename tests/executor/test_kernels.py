"""What Python and Java both know of kernels."""

from __future__ import annotations

import re
from typing import Any

import pytest

from flinkplan.executor.build import stream
from tests.executor.conftest import Bench
from tests.executor.java_sources import java_source


def test_hidden_columns_have_the_same_names_on_both_sides() -> None:
    in_java = set(re.findall(r'String \w+ = "(\w+)";', java_source("row.Hidden").read_text("utf-8")))
    in_python = {value for name, value in vars(stream).items() if name.isupper() and isinstance(value, str)}
    assert len(in_java) > 10
    assert in_java <= in_python


@pytest.mark.spark
def test_whoever_has_state_turns_off_readers_that_are_composed_anew_for_each_value(bench: Bench) -> None:
    jvm: Any = bench.spark._jvm
    loader = jvm.java.lang.Thread.currentThread().getContextClassLoader()
    jvm.java.lang.Class.forName("flinkplan.runtime.state.StateVariables", True, loader)
    assert not jvm.org.apache.avro.generic.GenericData.get().isFastReaderEnabled()
