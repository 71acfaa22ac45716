"""The options of a session: one table that compiling, executing and the checks ask."""

from __future__ import annotations

import os
import re
import zipfile
from pathlib import Path

import pytest

from flinkplan.plan.errors import FlinkplanError
from flinkplan.plan.nodes import DeltaJoin, node_classes
from flinkplan.plan.session import DEFAULTS
from flinkplan.plan.settings import (
    PREFIXES,
    SETTINGS,
    check_setting,
    flink_keys,
    is_known,
    reason_without_effect,
    similar_key,
)
from flinkplan.plan.settings_of_flink import Effect
from tests.parity.flink import PYTHON_VARIABLE


def test_every_default_is_a_value_of_its_type() -> None:
    for key, setting in SETTINGS.items():
        if setting.option.default:
            setting.option.check(setting.option.default)
            assert setting.is_default(setting.option.default), key


def test_every_option_that_a_node_fixes_is_declared_and_has_effect() -> None:
    metadata = [cls.metadata for cls in node_classes()]
    assert {key for each in metadata for key in each.consumed_options} <= SETTINGS.keys()
    compiled = (each for each in metadata if not each.is_batch and each is not DeltaJoin.metadata)
    consumed = {key for each in compiled for key in each.consumed_options}
    assert {SETTINGS[key].effect for key in consumed} <= {Effect.COMPILING, Effect.BOTH}


def test_what_has_no_effect_says_what_to_do_instead() -> None:
    assert all((s.effect is Effect.NONE) == bool(s.instead) for s in SETTINGS.values())


def test_what_a_plan_leaves_open_has_a_default() -> None:
    assert DEFAULTS["table.exec.sink.not-null-enforcer"] == "ERROR"
    assert not [key for key in DEFAULTS if key.startswith("flinkplan.")]


def test_the_keys_of_flink_are_listed_once() -> None:
    assert "taskmanager.numberOfTaskSlots" in flink_keys()
    assert not flink_keys() & SETTINGS.keys()


OPTION_CLASSES = ("ExecutionConfigOptions", "OptimizerConfigOptions", "TableConfigOptions")
NOT_LISTED_BY_FLINK = ("table.exec.emit.", "table.exec.temporal-join.processing-time")
"""Options of Flink that stand in its planner, and one of flinkplan."""
FORMER_KEYS = {"table.exec.async-scalar.buffer-capacity"}


@pytest.mark.skipif(PYTHON_VARIABLE not in os.environ, reason=f"{PYTHON_VARIABLE} names no Python with apache-flink")
def test_every_option_of_flinks_tables_is_declared() -> None:
    (jar,) = (
        Path(os.environ[PYTHON_VARIABLE])
        .parents[1]
        .glob("lib/python*/site-packages/pyflink/lib/flink-table-api-java-uber-*.jar")
    )
    with zipfile.ZipFile(jar) as classes:
        compiled = [classes.read(f"org/apache/flink/table/api/config/{name}.class") for name in OPTION_CLASSES]
    listed = {key.decode() for each in compiled for key in re.findall(rb"\x01\x00.(table\.[a-z0-9.-]+)", each)}
    declared = {key for key in SETTINGS if key.startswith("table.") and not key.startswith(NOT_LISTED_BY_FLINK)}
    assert declared == listed - FORMER_KEYS


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("table.exec.mini-batch.enabled", "yes"),
        ("table.exec.mini-batch.size", "1.5"),
        ("table.exec.state.ttl", "1 week"),
        ("table.exec.source.idle-timeout", "soon"),
        ("table.local-time-zone", "Mars/Olympus"),
        ("execution.runtime-mode", "fast"),
        ("flinkplan.mode", "batch"),
    ],
)
def test_values_are_checked(key: str, value: str) -> None:
    with pytest.raises(FlinkplanError, match=f"is no value of {key}"):
        check_setting(key, value)


@pytest.mark.parametrize("key", ["table.exec.state.ttl", "state.backend", f"{PREFIXES[0]}spark.driver.memory"])
def test_known(key: str) -> None:
    assert is_known(key)


@pytest.mark.parametrize(
    ("key", "meant"),
    [("table.exec.state.tll", "table.exec.state.ttl"), ("state.backed.type", "state.backend.type")],
)
def test_the_nearest_name(key: str, meant: str) -> None:
    assert not is_known(key)
    assert similar_key(key) == f"did you mean '{meant}'?"


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("execution.runtime-mode", "BATCH", None),
        ("table.exec.source.idle-timeout", "1 min", None),
        ("state.backend", "rocksdb", "RocksDB below --checkpoint"),
        ("parallelism.default", "4", "--master"),
        ("taskmanager.memory.size", "1g", "Flink's clusters"),
        ("table.exec.state.ttl", "1 h", None),
        ("flinkplan.var.OUT", "/out", None),
    ],
)
def test_what_has_no_effect_here(key: str, value: str, words: str | None) -> None:
    why = reason_without_effect(key, value)
    assert (why is None) if words is None else (words in (why or ""))
