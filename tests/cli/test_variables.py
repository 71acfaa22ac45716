"""Variables of table options, said on the command line, in the environment or in files."""

from __future__ import annotations

from pathlib import Path

import click
import pytest

from flinkplan.cli.variables import read_variables, variable
from tests.cli.support import flinkplan

SCRIPT = """
CREATE TABLE a (x INT) WITH ('connector' = 'filesystem', 'format' = 'csv', 'path' = '${DIR}/${NAME}');
CREATE TABLE b (x INT) WITH ('connector' = 'print');
INSERT INTO b SELECT x FROM a;
"""


def test_forms(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PASSWORD", "of environment")
    (tmp_path / "secret").write_text("of file\n")
    assert variable("NAME=a=b@c") == ("NAME", "a=b@c")
    assert variable("NAME=") == ("NAME", "")
    assert variable("PASSWORD@env") == ("PASSWORD", "of environment")
    assert variable("NAME@env=PASSWORD") == ("NAME", "of environment")
    assert variable(f"NAME@file={tmp_path / 'secret'}") == ("NAME", "of file")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("NAME", "is not of the form NAME=VALUE"),
        ("NAME@env=MISSING_ONE", "the environment has no variable 'MISSING_ONE' for 'NAME'"),
        ("NAME@file", "names no file"),
        ("NAME@file=/nowhere/at/all", "cannot be read: No such file"),
        ("NAME@vault=x", "is not of the form NAME@env or NAME@file"),
    ],
)
def test_what_is_no_variable(text: str, words: str) -> None:
    with pytest.raises(click.BadParameter, match=words):
        variable(text)


def test_lines_of_a_file(tmp_path: Path) -> None:
    file = tmp_path / ".env"
    file.write_text(
        "# brokers\n\nBROKERS = h:9092,i:9092 # two\nexport PASSWORD='a # $b \"c\"'\nURL=http://h/#x\n"
        'TEXT="one\\ntwo \\"three\\" \\\\" # escaped\nEMPTY=\nEQUALS=a=b\n'
    )
    assert read_variables(str(file)) == {
        "BROKERS": "h:9092,i:9092",
        "PASSWORD": 'a # $b "c"',
        "URL": "http://h/#x",
        "TEXT": 'one\ntwo "three" \\',
        "EMPTY": "",
        "EQUALS": "a=b",
    }


@pytest.mark.parametrize("line", ["hunter2", "PASSWORD='hunter2", "PASSWORD='hunter2' hunter2", "A B=hunter2"])
def test_a_line_that_is_none_is_named_and_not_shown(tmp_path: Path, line: str) -> None:
    file = tmp_path / ".env"
    file.write_text(f"A=b\n{line}\n")
    with pytest.raises(click.UsageError, match=r"\.env:2") as e:
        read_variables(str(file))
    assert "hunter2" not in str(e.value)


def test_the_command_line_goes_before_files_and_later_files_before_earlier_ones(tmp_path: Path) -> None:
    for name, text in {"p.sql": SCRIPT, "one": "DIR=/one\nNAME=one", "two": "NAME=two"}.items():
        (tmp_path / name).write_text(text)
    plan = str(tmp_path / "plan.json")
    assert flinkplan("compile", str(tmp_path / "p.sql"), "-o", plan).code == 0
    files = ("--var-file", str(tmp_path / "one"), "--var-file", str(tmp_path / "two"))
    said = ("--var", f"DIR={tmp_path}/none")
    for command in (("validate", "--for", "spark"), ("execute",)):
        outcome = flinkplan(command[0], plan, *command[1:], *files)
        assert "nothing to read at /one/two" in outcome.out + outcome.err
        outcome = flinkplan(command[0], plan, *command[1:], *files, *said)
        assert f"nothing to read at {tmp_path}/none/two" in outcome.out + outcome.err


def test_files_that_are_not_there(tmp_path: Path) -> None:
    outcome = flinkplan("run", str(tmp_path / "p.sql"), "--var-file", str(tmp_path / "missing"))
    assert (outcome.code, "missing' of --var-file cannot be read" in outcome.err) == (2, True)
