"""``flinkplan state import``, ended while it works."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from time import monotonic, sleep

import pytest

from flinkplan.state.form import JobState, Manifest, OperatorState
from flinkplan.state.form_folder import write_folder

ROOT = Path(__file__).parents[2]
SECONDS = 60


class Nothing(JobState):
    """The state of a job without operators that keep any."""

    @property
    def manifest(self) -> Manifest:
        return Manifest("flink", (OperatorState((), uid="1_source"),))

    def batches(self, table: object) -> object:  # type: ignore[override]
        raise AssertionError


def program(path: Path, *lines: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(("#!/bin/sh", *lines, "")), "utf-8")
    path.chmod(0o755)


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_an_import_that_is_ended_leaves_nothing(tmp_path: Path) -> None:
    write_folder(Nothing(), tmp_path / "state")
    (tmp_path / "flink" / "lib").mkdir(parents=True)
    (tmp_path / "flink" / "lib" / "flink-dist-2.3.0.jar").touch()
    # a Java that never comes to an end
    program(tmp_path / "jdk" / "bin" / "javac", "exit 0")
    program(tmp_path / "jdk" / "bin" / "java", f"touch {tmp_path}/started", "exec sleep 600")
    (tmp_path / "tmp").mkdir()
    places = {"JAVA_HOME": "jdk", "FLINKPLAN_CACHE": "cache", "TMPDIR": "tmp", "FLINK_HOME": "flink"}
    environment = {**os.environ, **{name: str(tmp_path / place) for name, place in places.items()}, "FLINK_PYTHON": ""}
    command = [sys.executable, "-m", "flinkplan", "state", "import", str(tmp_path / "state"), "-o"]
    output = tmp_path / "out" / "savepoint"
    with subprocess.Popen([*command, str(output)], cwd=ROOT, env=environment) as process:
        end = monotonic() + SECONDS
        while not (tmp_path / "started").exists() and process.poll() is None and monotonic() < end:
            sleep(0.02)
        assert [path.name for path in output.parent.iterdir()] != [output.name]
        process.send_signal(signal.SIGTERM)
        assert process.wait(SECONDS) == 128 + signal.SIGTERM
    assert list(output.parent.iterdir()) == []
    assert list((tmp_path / "tmp").iterdir()) == []
