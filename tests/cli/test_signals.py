"""Ctrl-C, SIGTERM and SIGHUP, above all while Spark starts."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from threading import Event, Thread

import pytest

from flinkplan.cli.errors import HungUp, Terminated
from flinkplan.cli.signals import Signals
from flinkplan.executor.runtime.jar import runtime_jar
from flinkplan.executor.scratch import remove_abandoned
from tests.cli.support import environment

SIGNALS = [(signal.SIGINT, KeyboardInterrupt), (signal.SIGTERM, Terminated), (signal.SIGHUP, HungUp)]
CODES = [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]
JOB = """
CREATE TABLE numbers (n INT) WITH ('connector' = 'datagen', 'rows-per-second' = '5');
CREATE TABLE nowhere (n INT) WITH ('connector' = 'blackhole');
INSERT INTO nowhere SELECT n FROM numbers;
"""


class Started:
    """Something that has been started."""

    def __init__(self) -> None:
        self.stopped = Event()

    def stop(self) -> None:
        self.stopped.set()


@pytest.fixture
def signals() -> Iterator[Signals]:
    with Signals() as entered:
        yield entered


@pytest.mark.parametrize(("number", "raised"), SIGNALS)
def test_a_start_is_left_at_once_and_stopped_when_it_is_there(
    number: int, raised: type[BaseException], signals: Signals
) -> None:
    started, may_go_on = Started(), Event()

    def start() -> Started:
        os.kill(os.getpid(), number)
        may_go_on.wait()
        return started

    with pytest.raises(raised):
        signals.started(start)
    assert not started.stopped.is_set()
    may_go_on.set()
    signals.settle()
    assert started.stopped.wait(10)


def test_a_start_waits_for_one_that_was_left() -> None:
    signals, may_go_on, order = Signals(), Event(), list[str]()

    def left() -> Started:
        os.kill(os.getpid(), signal.SIGINT)
        may_go_on.wait()
        order.append("left")
        return Started()

    def next_one() -> Started:
        order.append("next")
        return Started()

    with signals, pytest.raises(KeyboardInterrupt):
        signals.started(left)
    with signals:
        Thread(target=may_go_on.set).start()
        signals.started(next_one)
    assert order == ["left", "next"]


def test_a_start_that_fails(signals: Signals) -> None:
    def start() -> Started:
        raise ValueError("why")

    with pytest.raises(ValueError, match="why"):
        signals.started(start)


def test_the_first_signal_waits_to_be_obeyed_and_the_second_does_not(signals: Signals) -> None:
    signal.raise_signal(signal.SIGINT)
    assert signals.came
    with pytest.raises(Terminated):
        signal.raise_signal(signal.SIGTERM)
    with pytest.raises(Terminated):
        signals.obey()


def test_signals_of_before_are_forgotten() -> None:
    signals = Signals()
    with signals:
        signal.raise_signal(signal.SIGINT)
    with signals:
        assert not signals.came
        signals.obey()
        assert isinstance(signals.started(Started), Started)


def test_what_nohup_ignores_stays_ignored() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with Signals() as signals:
            signal.raise_signal(signal.SIGHUP)
            assert not signals.came
    finally:
        signal.signal(signal.SIGHUP, before)


def test_jobs_in_the_background_heed_interrupts() -> None:
    """A shell without job control has them ignore SIGINT."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with Signals() as signals:
            signal.raise_signal(signal.SIGINT)
            assert signals.came
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.fixture
def job(tmp_path: Path) -> Path:
    """A folder with a script, and one for temporary files."""
    (tmp_path / "script.sql").write_text(JOB)
    (tmp_path / "temporary").mkdir()
    return tmp_path


RUN = ("run", "script.sql", "--log-format", "json")


def run(folder: Path, arguments: Sequence[str] = RUN, **variables: str) -> subprocess.Popen[str]:
    """A process, in a group of its own, that runs the script, or a command with other arguments."""
    runtime_jar()
    command = [sys.executable, "-m", "flinkplan", *arguments]
    return subprocess.Popen(
        command,
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env=environment(TMPDIR=str(folder / "temporary"), **variables),
    )


def wait_for_end(process: int) -> None:
    """Of a process that is no child of this one."""
    try:
        descriptor = os.pidfd_open(process)
    except ProcessLookupError:
        return
    try:
        assert select.select([descriptor], [], [], 60)[0], "it runs on"
    finally:
        os.close(descriptor)


@pytest.fixture
def endless(job: Path) -> Path:
    """The home of a Spark whose JVM tells its number to the FIFO ``up``, and never comes up."""
    home = job / "spark"
    (home / "bin").mkdir(parents=True)
    (home / "jars").mkdir()
    submit = home / "bin" / "spark-submit"
    submit.write_text(f"#!/bin/sh\necho $$ > {job}/up\nexec sleep 600\n")
    submit.chmod(0o755)
    os.mkfifo(job / "up")
    return home


@pytest.mark.programs
@pytest.mark.parametrize(("number", "code"), CODES)
@pytest.mark.parametrize("times", [1, 3])
def test_no_process_and_no_file_stays_where_the_jvm_is_starting(
    number: int, code: int, times: int, job: Path, endless: Path
) -> None:
    """However often the signal comes."""
    with run(job, SPARK_HOME=str(endless)) as process:
        jvm = int((job / "up").read_text())
        for _ in range(times):
            process.send_signal(number)
        errors = process.communicate()[1]
    assert process.returncode == code, errors
    assert "Traceback" not in errors
    with pytest.raises(ProcessLookupError):
        os.kill(jvm, 0)
    assert list((job / "temporary").iterdir()) == []


@pytest.mark.programs
def test_a_shell_that_ends_ends_what_is_starting(job: Path, endless: Path) -> None:
    os.mkfifo(job / "statements.sql")
    with run(job, ("sql", "-f", "statements.sql"), SPARK_HOME=str(endless)) as process:
        jvm = int((job / "up").read_text())
        (job / "statements.sql").write_text("SHOW TABLES;")  # which it waits for
        errors = process.communicate()[1]
    assert process.returncode == 0, errors
    with pytest.raises(ProcessLookupError):
        os.kill(jvm, 0)
    assert list((job / "temporary").iterdir()) == []


@pytest.mark.programs
def test_no_process_stays_where_the_compiler_of_kernels_runs(job: Path) -> None:
    """A compiler that never ends stands for it."""
    (job / "bin").mkdir()
    compiler = job / "bin" / "javac"
    compiler.write_text(f"#!/bin/sh\necho $$ > {job}/up\nexec sleep 600\n")
    compiler.chmod(0o755)
    os.mkfifo(job / "up")
    cache = job / "cache"
    with run(job, JAVA_HOME=str(job), FLINKPLAN_CACHE=str(cache)) as process:
        number = int((job / "up").read_text())
        process.send_signal(signal.SIGINT)
        errors = process.communicate()[1]
    assert process.returncode == 130, errors
    with pytest.raises(ProcessLookupError):
        os.kill(number, 0)
    assert list((cache / "flinkplan").iterdir()) == []
    assert list((job / "temporary").iterdir()) == []


@pytest.mark.spark
@pytest.mark.xdist_group("processes")
def test_no_jvm_and_no_file_outlives_a_process_that_is_killed(job: Path) -> None:
    """The JVM sees that, and what both leave is removed later on."""
    with run(job) as process:
        assert process.stdout is not None
        assert "nowhere" in process.stdout.readline()
        jvm = subprocess.run(["pgrep", "-P", str(process.pid), "java"], capture_output=True, text=True, check=True)
        assert list((job / "temporary").glob("flinkplan-*/blockmgr-*"))
        process.kill()
        process.wait()
        wait_for_end(int(jvm.stdout))
        remove_abandoned(job / "temporary")
        assert list((job / "temporary").iterdir()) == []
