"""Starting Spark's JVM."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from flinkplan.executor.runtime.collectors import VARIABLES
from flinkplan.executor.session import JAVA_OPTIONS, Lifetime, java_options

_SCRIPT = """
import sys
from flinkplan.executor.errors import JvmError
from flinkplan.executor.quiet import quiet_jvm
from flinkplan.executor.session import session

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
    assert "Spark's JVM ended as it was to start; what it printed stands above; Java is found by" in done.stderr
