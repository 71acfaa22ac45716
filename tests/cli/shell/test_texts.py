"""What is typed into the shell: whole or not, SQL or not."""

from __future__ import annotations

import pytest

from flinkplan.cli.shell.texts import command_of, is_complete


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("help", ("HELP", "")),
        ("HELP;", ("HELP", "")),
        ("?", ("HELP", "")),
        ("exit", ("QUIT", "")),
        (" Quit ; ", ("QUIT", "")),
        ("SOURCE my script.sql;", ("SOURCE", "my script.sql")),
        ("source 'a.sql'", ("SOURCE", "a.sql")),
        ("SELECT 1;", None),
        ("helpful", None),
        ("", None),
    ],
)
def test_commands_of_the_shell(text: str, command: tuple[str, str] | None) -> None:
    assert command_of(text) == command


@pytest.mark.parametrize(
    "text",
    [
        "",
        "quit",
        "SELECT 1;",
        "SELECT 1; -- done",
        "SELECT 1; /* done */",
        "SELECT ';' FROM t;",
        "SELECT CASE WHEN a THEN 1 ELSE 2 END;",
        "SELECT CASE WHEN a THEN 1 END AS `begin`;",
        "EXECUTE STATEMENT SET BEGIN INSERT INTO t SELECT 1; INSERT INTO u SELECT CASE WHEN TRUE THEN 1 END; END;",
        "SELECT 1; SELECT 2;",
        "SELECT # 1;",
    ],
)
def test_whole_texts(text: str) -> None:
    assert is_complete(text)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT 1",
        "SELECT 'a;",
        "SELECT 'it''s;",
        "SELECT `a;",
        "SELECT 1; SELECT 2",
        "SELECT 1 -- ;",
        "SELECT 1 /* ;",
        "EXECUTE STATEMENT SET BEGIN INSERT INTO t SELECT 1;",
        "SELECT CASE WHEN a THEN 1;",
    ],
)
def test_unfinished_texts(text: str) -> None:
    assert not is_complete(text)
