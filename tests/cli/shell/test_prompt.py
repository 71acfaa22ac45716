"""Keys that are typed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from prompt_toolkit.input import PipeInput, create_pipe_input
from prompt_toolkit.output import DummyOutput

from flinkplan.cli.shell.prompt import prompt_session
from flinkplan.planner.catalog.catalog import Catalog

ENTER, ESCAPE, UP, CTRL_C, CTRL_D = "\r", "\x1b", "\x1b[A", "\x03", "\x04"


@pytest.fixture
def keys() -> Iterator[PipeInput]:
    with create_pipe_input() as terminal:
        yield terminal


def typed(keys: PipeInput, text: str, history: Path | None = None) -> str:
    keys.send_text(text)
    return prompt_session(Catalog, history, keys, DummyOutput()).prompt()


def test_enter_begins_a_new_line_until_a_statement_is_whole(keys: PipeInput) -> None:
    assert typed(keys, f"SELECT ';{ENTER}'{ENTER}FROM t;{ENTER}") == "SELECT ';\n'\nFROM t;"


def test_commands_of_the_shell_need_no_semicolon(keys: PipeInput) -> None:
    assert typed(keys, f"help{ENTER}") == "help"


def test_escape_and_enter_execute_what_is_not_whole(keys: PipeInput) -> None:
    assert typed(keys, f"SELECT 1{ESCAPE}{ENTER}") == "SELECT 1"


def test_the_keys_of_a_terminal(keys: PipeInput) -> None:
    with pytest.raises(KeyboardInterrupt):
        typed(keys, f"SELECT{CTRL_C}")
    with pytest.raises(EOFError):
        typed(keys, CTRL_D)


def test_what_was_typed_is_there_again_next_time(keys: PipeInput, tmp_path: Path) -> None:
    history = tmp_path / "folder/history"
    typed(keys, f"SELECT 1;{ENTER}", history)
    assert typed(keys, f"{UP}{ENTER}", history) == "SELECT 1;"


def test_a_history_that_cannot_be_kept_is_done_without(keys: PipeInput, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    assert typed(keys, f"SELECT 1;{ENTER}", file / "history") == "SELECT 1;"


def test_the_history_is_for_its_user_alone(keys: PipeInput, tmp_path: Path) -> None:
    history = tmp_path / "history"
    history.write_text("")
    history.chmod(0o644)
    typed(keys, f"SELECT 1;{ENTER}", history)
    assert history.stat().st_mode & 0o777 == 0o600
    typed(keys, f"SELECT 1;{ENTER}", tmp_path / "folder/history")
    assert (tmp_path / "folder/history").stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "folder").stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize(
    "statement",
    [
        "SET 'flinkplan.var.PW' = 'hunter2';",
        "SET 'flinkplan.conf.spark.hadoop.fs.s3a.secret.key' = 'hunter2';",
        "CREATE TABLE t (a INT) WITH ('connector' = 'jdbc', 'password' = 'hunter2');",
        "CREATE TABLE t (a INT) WITH ('url' = 'jdbc:postgresql://ann:hunter2@h/db');",
        "ALTER TABLE t SET ('properties.sasl.jaas.config' = 'X required password=\"hunter2\";');",
    ],
)
def test_the_history_holds_no_secrets(keys: PipeInput, tmp_path: Path, statement: str) -> None:
    history = tmp_path / "history"
    assert typed(keys, f"{statement}{ENTER}", history) == statement
    typed(keys, f"SELECT 1;{ENTER}", history)
    assert "SELECT 1;" in history.read_text()
    assert "hunter2" not in history.read_text()
