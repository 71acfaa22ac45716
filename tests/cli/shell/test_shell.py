"""Statements in a session, and the jobs that they start."""

from __future__ import annotations

import re
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import click
import pytest

from flinkplan.cli.errors import Terminated
from flinkplan.cli.shell.shell import Shell
from flinkplan.cli.shell.texts import COMMANDS
from flinkplan.executor.jobs.collecting import Collector
from flinkplan.plan.document import Plan

STREAM = "CREATE TABLE numbers (n INT) WITH ('connector' = 'datagen', 'rows-per-second' = '5');"
NOWHERE = "CREATE TABLE nowhere (n INT) WITH ('connector' = 'blackhole');"
GROUPS = "SELECT k, SUM(v) AS s FROM (VALUES ('a', 1), ('b', 2), ('a', 3)) AS t (k, v) GROUP BY k;"


@pytest.fixture
def shell() -> Iterator[Shell]:
    shell = Shell({})
    yield shell
    shell.close()


def said(capsys: pytest.CaptureFixture[str]) -> str:
    captured = capsys.readouterr()
    return captured.out + captured.err


def test_a_faulty_statement_is_told_with_its_place(shell: Shell, capsys: pytest.CaptureFixture[str]) -> None:
    assert shell.execute("SELECT 1 +;") == 3
    assert shell.execute("SELECT x FROM nowhere;") == 3
    assert shell.execute("SOURCE missing.sql") == 3
    text = said(capsys)
    assert "SELECT 1 +;\n" in text
    assert "^" in text
    assert "there is no table" in text
    assert "missing.sql" in text


def test_a_script_ends_at_its_first_error(shell: Shell, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script = tmp_path / "a script.sql"
    script.write_text(f"{STREAM}\nDROP TABLE missing;\n{NOWHERE}")
    assert shell.execute(f"SOURCE {script};") == 3
    shell.execute("SHOW TABLES;")
    text = said(capsys)
    assert f"{script}:2:" in text
    assert "numbers" in text
    assert "nowhere" not in text


def test_help_lists_the_commands(shell: Shell, capsys: pytest.CaptureFixture[str]) -> None:
    assert shell.execute("help") == 0
    text = said(capsys)
    assert all(word in text for word in (*COMMANDS, "SHOW JOBS"))


def test_quit_ends_the_shell(shell: Shell) -> None:
    with pytest.raises(EOFError):
        shell.execute("QUIT;")


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("STOP JOB '7';", "there is no job '7'"),
        ("STOP JOB 7;", "the id of a job in 'single quotes'"),
    ],
)
def test_jobs_that_cannot_be_stopped(
    shell: Shell, statement: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert shell.execute(statement) == 3
    assert words in said(capsys)


@pytest.mark.spark
def test_statements_work_after_one_that_was_stopped(
    shell: Shell, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """By Ctrl-C, as soon as a row is there."""
    shell.is_interactive = True
    print_line = click.echo

    def interrupt(line: str, **options: Any) -> None:
        print_line(line, **options)
        if line.startswith("| +I"):
            signal.raise_signal(signal.SIGINT)

    shell.execute(f"{STREAM + NOWHERE} SET 'sql-client.execution.result-mode' = 'tableau';")
    with monkeypatch.context() as patched:
        patched.setattr("flinkplan.cli.results.click.echo", interrupt)
        assert shell.execute("SELECT n FROM numbers;") == 130
    assert "stopped" in said(capsys)
    assert shell.execute(GROUPS) == 0
    assert shell.execute("INSERT INTO nowhere SELECT n FROM numbers;") == 0
    text = said(capsys)
    assert "stopped" not in text
    assert "| +U |" in text


def test_it_says_that_spark_is_starting(
    shell: Shell, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Job:
        def stop(self) -> None:
            pass

    monkeypatch.setattr("flinkplan.table.jobs.start", lambda plan, options, collector: Job())
    shell.jobs(cast(Plan, None), {}, collector=cast(Collector, object()))
    assert said(capsys) == "Starting Spark…\n"


def test_a_signal_ends_the_shell(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    def ended(statement: object) -> None:
        raise Terminated

    shell.is_interactive = True
    monkeypatch.setattr(shell.environment, "execute_statement", ended)
    with pytest.raises(Terminated):
        shell.execute("SHOW TABLES;")


@pytest.mark.spark
def test_a_select_shows_rows_in_the_mode_of_the_session(shell: Shell, capsys: pytest.CaptureFixture[str]) -> None:
    assert shell.execute(GROUPS) == 0
    assert re.findall(r"\| +(\w) \| +(\d) \|", said(capsys)) == [("b", "2"), ("a", "4")]
    shell.execute("SET 'sql-client.execution.result-mode' = 'changelog';")
    assert shell.execute(GROUPS) == 0
    assert re.findall(r"\| (..) \| +(\w) \| +(\d) \|", said(capsys)) == [
        ("+I", "a", "1"),
        ("+I", "b", "2"),
        ("-U", "a", "1"),
        ("+U", "a", "4"),
    ]


@pytest.mark.spark
def test_jobs_run_on_until_they_are_stopped(shell: Shell, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shell.execute(STREAM + NOWHERE + "INSERT INTO nowhere SELECT n FROM numbers;")
    shell.execute(f"SET 'execution.checkpointing.dir' = '{tmp_path}/c'; SET 'pipeline.name' = 'kept';")
    shell.execute("INSERT INTO nowhere SELECT n FROM numbers;")
    said(capsys)
    shell.execute("SHOW JOBS;")
    text = said(capsys)
    assert re.findall(r"\| (\d) +\| (\S+) +\| (\w+) +\|", text) == [
        ("1", "insert-into_default_catalog.default_database.nowhere", "RUNNING"),
        ("2", "kept", "RUNNING"),
    ]
    assert shell.execute("STOP JOB '1' WITH SAVEPOINT;") == 3
    assert "temporary directory" in said(capsys)
    assert shell.execute("STOP JOB '1' WITH DRAIN;") == 4
    assert shell.execute("STOP JOB '1';") == 0
    assert shell.execute("STOP JOB '1';") == 3
    said(capsys)
    assert shell.execute("STOP JOB '2' WITH SAVEPOINT;") == 0
    assert f"{tmp_path}/c" in said(capsys)


@pytest.mark.spark
def test_a_job_that_fails_is_told_of(shell: Shell, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "bad.json").write_text('{"n": "x"}\n')
    table = f"'connector' = 'filesystem', 'path' = '{tmp_path}/bad.json', 'format' = 'json'"
    shell.execute(f"CREATE TABLE bad (n INT) WITH ({table});" + NOWHERE)
    shell.execute("SET 'table.dml-sync' = 'true';")
    assert shell.execute("INSERT INTO nowhere SELECT n FROM bad;") != 0
    assert "bad.json" in said(capsys)


@pytest.mark.spark
def test_what_a_script_starts_is_waited_for(shell: Shell, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = f"'connector' = 'filesystem', 'path' = '{tmp_path}/o', 'format' = 'csv'"
    shell.execute(f"CREATE TABLE o (n INT) WITH ({out});")
    shell.execute("CREATE TABLE t (n INT) WITH ('connector' = 'datagen', 'number-of-rows' = '7');")
    assert shell.execute("INSERT INTO o SELECT n * 0 FROM t;") == 0
    assert shell.finish() == 0
    assert [line for file in (tmp_path / "o").iterdir() for line in file.read_text().splitlines()] == ["0"] * 7
    (tmp_path / "bad.csv").write_text("x\n")
    shell.execute(f"CREATE TABLE bad (n INT) WITH ({out.replace('/o', '/bad.csv')});")
    assert shell.execute("INSERT INTO o SELECT n FROM bad;") == 0
    assert shell.finish() == 5
    assert "bad.csv:1" in said(capsys)
