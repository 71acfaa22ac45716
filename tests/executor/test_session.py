"""Starting Spark's JVM."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from flinkplan.executor.errors import SparkStartError
from flinkplan.executor.jvm.masters import check_master
from flinkplan.executor.jvm.session import (
    JAVA_OPTIONS,
    PARTITIONS,
    Lifetime,
    chosen_settings,
    java_options,
    not_started,
)
from flinkplan.executor.runtime.collectors import VARIABLES
from flinkplan.executor.runtime.locale import utf8_variables

_SCRIPT = """
import sys
from flinkplan.executor.errors import JvmError
from flinkplan.executor.jvm.quiet import quiet_jvm
from flinkplan.executor.jvm.session import session

try:
    with quiet_jvm():
        session("local[1]")
except JvmError as e:
    sys.exit(f"{e.message}; {e.hint}")
"""


@pytest.mark.parametrize(
    ("conf", "variables", "defaults", "collectors"),
    [
        pytest.param({}, {}, "", ["-XX:+UseParallelGC"], id="ours"),
        pytest.param({}, {"JAVA_TOOL_OPTIONS": "-Xss1m -XX:-UseG1GC"}, "", ["-XX:+UseParallelGC"], id="none is chosen"),
        pytest.param({}, {"JAVA_TOOL_OPTIONS": "-Xss1m -XX:+UseG1GC"}, "", [], id="the environment's"),
        pytest.param({"spark.driver.defaultJavaOptions": "-XX:+UseG1GC"}, {}, "", [], id="a setting's"),
        pytest.param({}, {}, "spark.driver.defaultJavaOptions -XX:+UseSerialGC\n", [], id="a file's"),
    ],
)
def test_of_two_collectors_the_user_s_is_taken(
    conf: dict[str, str],
    variables: dict[str, str],
    defaults: str,
    collectors: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tmp_path / "spark-defaults.conf").write_text(defaults)
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    for name, value in {**variables, "SPARK_CONF_DIR": str(tmp_path)}.items():
        monkeypatch.setenv(name, value)
    options = java_options(Lifetime.JOB, None, conf)[JAVA_OPTIONS].split()
    assert [option for option in options if option.endswith("GC")] == collectors


def test_a_jvm_that_does_not_start_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    done = subprocess.run([sys.executable, "-c", _SCRIPT], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert f"{tmp_path}/bin/java" in done.stderr
    assert "there is no Java to run Spark with; install a JDK, version 17 or later" in done.stderr
    assert "apt install openjdk-17-jdk-headless (Debian, Ubuntu)" in done.stderr


@pytest.mark.parametrize(
    ("variables", "changed"),
    [
        ({"LC_ALL": "C", "LANG": "en_US.UTF-8"}, {"LC_ALL": "C.UTF-8"}),
        ({"LC_ALL": "", "LANG": "de_DE.ISO-8859-1"}, {"LC_CTYPE": "C.UTF-8"}),
        ({}, {"LC_CTYPE": "C.UTF-8"}),
        ({"LC_CTYPE": "C.utf8", "LANG": "C"}, {}),
        ({"LANG": "en_US.UTF-8"}, {}),
    ],
)
def test_a_jvm_knows_names_of_files_in_utf8(variables: dict[str, str], changed: dict[str, str]) -> None:
    assert utf8_variables(variables) == changed


def test_the_number_of_partitions_may_stand_in_spark_s_defaults(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    assert chosen_settings({"a": "b"}) == {"a": "b"}
    (tmp_path / "spark-defaults.conf").write_text(f"#{PARTITIONS} 4\nspark.x y\n {PARTITIONS}   8\n")
    assert chosen_settings({"a": "b"}) == {"a": "b", PARTITIONS: "8"}
    assert chosen_settings({PARTITIONS: "9"}) == {PARTITIONS: "9"}


def test_a_class_that_is_missing_is_named_with_its_option() -> None:
    causes = [
        ("org.apache.spark.SparkException", "Exception when registering SparkListener"),
        ("java.lang.ClassNotFoundException", "com.example.Missing"),
    ]
    error = not_started(causes, {"spark.extraListeners": "a.B, com.example.Missing", "spark.plugins": "c.D"})
    assert error.message == "there is no class com.example.Missing for Spark to start with"
    assert error.where == "spark.extraListeners"


def test_a_full_disk_does_not_let_spark_start() -> None:
    causes = [("java.io.IOException", "No space left on device")]
    error = not_started(causes, {"spark.local.dir": "/full"})
    assert (error.message, error.where) == ("no space left on device", "/full (spark.local.dir)")


def test_anything_else_that_spark_does_not_start_with_is_told() -> None:
    error = not_started([("java.lang.IllegalArgumentException", "System memory must be at least 471859200")], {})
    assert error.message == "Spark does not start: System memory must be at least 471859200"


@pytest.mark.parametrize(("given", "ours"), [("", True), ("-Xlog:gc -XX:ReservedCodeCacheSize=1g", False)])
def test_a_jvm_has_room_for_code_and_keeps_off_standard_output(
    given: str, ours: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("JAVA_TOOL_OPTIONS", given)
    options = java_options(Lifetime.SECONDS, None, {})[JAVA_OPTIONS]
    assert ("-XX:ReservedCodeCacheSize=240m" in options) is ours
    assert ("-XX:+DisplayVMOutputToStderr" in options) is ours


@pytest.mark.parametrize(
    "master",
    [
        *("local", "local[2]", "local[*]", "local[4, 3]", "local-cluster[2, 1, 1024]", "yarn"),
        *("spark://a:7077", "spark://a:7077,b.c:7077", "k8s://https://host:6443", "other://host"),
    ],
)
def test_a_master_of_spark_is_accepted(master: str) -> None:
    check_master(master)


@pytest.mark.parametrize("master", ["", "nonsense", "local[0]", "local[two]", "Local", "spark://a", "spark://", "k8s:"])
def test_another_text_is_refused_as_a_master(master: str) -> None:
    with pytest.raises(SparkStartError, match=r"Spark has no master|a host and its port") as e:
        check_master(master)
    assert e.value.exit_code == 3
    assert e.value.hint is not None and "spark://HOST:PORT" in e.value.hint
