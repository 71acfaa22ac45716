"""Processes that end with this one."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import pytest

from flinkplan.executor import processes
from flinkplan.executor.errors import ExecutionError
from flinkplan.executor.jvm.quiet import quiet_accumulators
from flinkplan.executor.processes import child, end_needed, end_processes, is_running, run

_STUBBORN = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('up', flush=True); signal.pause()"


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Of the processes of this module alone; a session that other tests use goes on."""
    for name, nothing in (("_running", {}), ("_needed", set()), ("_is_over", False)):
        monkeypatch.setattr(processes, name, nothing)
    yield
    end_processes()


def test_what_a_command_prints() -> None:
    done = run(["sh", "-c", "echo out; echo err >&2; exit 3"])
    assert (done.returncode, done.stdout, done.stderr) == (3, "out\n", "err\n")
    assert not is_running()


def test_a_process_is_ended_where_an_interrupt_comes() -> None:
    with pytest.raises(KeyboardInterrupt), child(["cat"], stdin=subprocess.PIPE) as process:
        raise KeyboardInterrupt
    assert process.returncode is not None
    assert not is_running()


def test_a_process_that_is_left_runs_on_until_all_are_ended() -> None:
    with child(["cat"], stdin=subprocess.PIPE) as process:
        pass
    assert is_running()
    end_processes()
    assert process.returncode is not None


def test_at_the_end_those_are_ended_that_would_stay() -> None:
    with child(["cat"], stdin=subprocess.PIPE) as ready:
        pass
    with child(["cat"], stdin=subprocess.PIPE) as starting:
        end_needed()
        assert starting.returncode is not None
    assert ready.poll() is None
    with pytest.raises(ExecutionError, match="ending"):
        run(["true"])


@pytest.mark.parametrize("is_done", [True, False])
def test_one_that_does_not_end_is_killed(is_done: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "_GRACE_SECONDS", 60 if is_done else 0.1)
    command = [sys.executable, "-c", _STUBBORN]
    with child(command, lambda: is_done, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "up\n"
    end_processes()
    assert process.returncode == -9


def test_nothing_is_started_any_more_at_the_end() -> None:
    end_processes(for_good=True)
    with pytest.raises(ExecutionError, match="ending"):
        run(["true"])


def test_the_end_of_the_jvm_prints_no_traceback(capsys: pytest.CaptureFixture[str]) -> None:
    from pyspark.accumulators import AccumulatorTCPServer

    quiet_accumulators()
    AccumulatorTCPServer.handle_error(None, None, None)  # type: ignore[arg-type]
    assert capsys.readouterr() == ("", "")
