"""Texts that are no plan, or hold what a terminal, a file or Python cannot take, end in a message for people."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from flinkplan.cli.progress import JsonLines, Summary
from flinkplan.executor.jobs.progress import QueryProgress
from tests.cli.support import flinkplan
from tests.parity.corpus import HERE

PLAN = HERE / "cases/join-two-cdc-tables-with-primary-keys/plan.json"
SCRIPT = """-- a pipeline
CREATE TABLE a (x INT) WITH ('connector' = 'datagen');
CREATE TABLE b (x INT) WITH ('connector' = 'print');
INSERT INTO b SELECT x FROM a;
"""


@pytest.mark.parametrize("command", ["execute", "upgrade"])
@pytest.mark.parametrize("name", ["p.sql", "p.yaml", "p"])
def test_a_pipeline_instead_of_a_plan(tmp_path: Path, command: str, name: str) -> None:
    file = tmp_path / name
    file.write_text("version: 1\n" if name.endswith("yaml") else SCRIPT)
    outcome = flinkplan(command, str(file))
    assert outcome.code == 3
    assert "this is a pipeline, not a compiled plan" in outcome.err
    assert f"'flinkplan run {file}' runs it" in outcome.err


@pytest.mark.parametrize("command", ["compile", "run"])
def test_a_plan_instead_of_a_pipeline(command: str) -> None:
    outcome = flinkplan(command, str(PLAN))
    assert outcome.code == 3
    assert f"'flinkplan execute {PLAN}' runs a plan" in outcome.err


def _changed(folder: Path, change: Any) -> str:
    plan = json.loads(PLAN.read_text("utf-8"))
    change(plan["nodes"])
    file = folder / "plan.json"
    file.write_text(json.dumps(plan))
    return str(file)


def test_escapes_of_a_plan_do_not_reach_the_terminal(tmp_path: Path) -> None:
    def change(nodes: Any) -> None:
        nodes[0]["description"] = "\x1b[2J\x9b31mTableSourceScan(\x1b]0;title\x07)"
        nodes[4]["state"][0]["name"] = "left\x1b[2JState"

    file = _changed(tmp_path, change)
    for arguments in (("explain", file), ("ttl", file), ("validate", file), ("diff", str(PLAN), file, "--exit-zero")):
        shown = flinkplan(*arguments).out
        assert "\\x1b[2J" in shown, arguments
        assert not set(shown) & set("\x1b\x9b\x07"), arguments


def test_escapes_of_a_script_do_not_reach_the_terminal(tmp_path: Path) -> None:
    (tmp_path / "p.sql").write_text(SCRIPT.replace("datagen", "data\x1b[2Jgen"))
    outcome = flinkplan("compile", str(tmp_path / "p.sql"))
    assert "there is no connector 'data\\x1b[2Jgen'" in outcome.err
    assert "\x1b" not in outcome.err


@pytest.mark.parametrize("command", ["validate", "ttl", "explain", "upgrade"])
def test_types_nested_without_end(tmp_path: Path, command: str) -> None:
    def change(nodes: Any) -> None:
        nodes[0]["outputType"] = f"ROW<`a` {'ARRAY<' * 3000}INT{'>' * 3000}>"

    outcome = flinkplan(command, _changed(tmp_path, change))
    assert outcome.code in (1, 3)
    assert "is nested more than 100 levels deep" in outcome.out + outcome.err


def test_types_nested_without_end_in_sql(tmp_path: Path) -> None:
    (tmp_path / "p.sql").write_text(SCRIPT.replace("x INT", f"x {'ARRAY<' * 3000}INT{'>' * 3000}", 1))
    outcome = flinkplan("compile", str(tmp_path / "p.sql"))
    assert (outcome.code, "more than 100 deep" in outcome.err) == (3, True)


@pytest.mark.parametrize("ttl", ["9" * 4_400, f"{'9' * 4_400} ms", f"P{'9' * 4_400}D"])
def test_a_ttl_of_thousands_of_digits(tmp_path: Path, ttl: str) -> None:
    def change(nodes: Any) -> None:
        nodes[4]["state"][0]["ttl"] = ttl

    outcome = flinkplan("validate", _changed(tmp_path, change), "--format", "github")
    assert (outcome.code, "too many digits for a duration" in outcome.out) == (1, True)
    assert flinkplan("ttl", str(PLAN), "--all", ttl).code == 3
    (tmp_path / "p.sql").write_text(f"SET 'table.exec.state.ttl' = '{ttl}';\n{SCRIPT}")
    refused = flinkplan("compile", str(tmp_path / "p.sql"))
    assert (refused.code, "too many digits" in refused.err) == (3, True)


def test_a_length_of_thousands_of_digits(tmp_path: Path) -> None:
    (tmp_path / "p.sql").write_text(SCRIPT.replace("x INT", f"x VARCHAR({'9' * 4_400})", 1))
    outcome = flinkplan("compile", str(tmp_path / "p.sql"))
    assert (outcome.code, "a number of 4,400 characters" in outcome.err) == (3, True)


def test_half_a_character(tmp_path: Path) -> None:
    (tmp_path / "p.sql").write_text(SCRIPT.replace("SELECT x", r"SELECT CHAR_LENGTH(U&'\D800')"))
    outcome = flinkplan("compile", str(tmp_path / "p.sql"))
    assert (outcome.code, "half of a surrogate pair" in outcome.err) == (3, True)
    (tmp_path / "p.sql").write_text(SCRIPT.replace("SELECT x", r"SELECT CHAR_LENGTH(U&'\D83D\DE00')"))
    assert flinkplan("compile", str(tmp_path / "p.sql")).code == 0
    spec = 'version: 1\ntables:\n  a: {columns: {x: STRING}, with: {connector: "\\ud800"}}\ninserts: []\n'
    (tmp_path / "p.yaml").write_text(spec)
    outcome = flinkplan("compile", str(tmp_path / "p.yaml"))
    assert (outcome.code, "half of a surrogate pair" in outcome.err) == (3, True)
    refused = flinkplan("execute", str(PLAN), "--var", "CASE=\udcff")
    assert (refused.code, "not UTF-8" in refused.err) == (2, True)


ATTACK = "a\n::error::b\r\n  ::add-mask::c\x1b[2J\u2028::d"
OURS = re.compile(r"::(error|warning|notice) title=flinkplan ")


def _attacked(folder: Path) -> str:
    """A plan with commands to whoever reads its names line by line, and with something to find."""

    def change(nodes: Any) -> None:
        for node in nodes:
            node["description"] = f"{node['description']}{ATTACK}"
        nodes[0]["scanTableSource"]["table"]["identifier"] = f"`c`.`d`.`{ATTACK}`"
        nodes[0]["scanTableSource"]["table"]["resolvedTable"]["options"][ATTACK] = ATTACK
        nodes[0]["scanTableSource"]["table"]["resolvedTable"]["options"]["connector"] = ATTACK
        nodes[4]["state"][0]["name"] = ATTACK
        nodes[4][ATTACK] = 1

    return _changed(folder, change)


def _lines(text: str) -> list[str]:
    return [line.strip() for line in re.split(r"[\n\r\u2028\x85]", text)]


@pytest.mark.parametrize("format_", ["text", "json", "github", "sarif", "junit", "markdown"])
def test_names_begin_no_line_of_a_report(tmp_path: Path, format_: str) -> None:
    file = _attacked(tmp_path)
    for command in (("validate", file), ("validate", file, "--for", "spark"), ("diff", str(PLAN), file)):
        outcome = flinkplan(*command, "--format", format_)
        commands = [line for line in _lines(outcome.out + outcome.err) if line.startswith("::")]
        assert all(map(OURS.match, commands)), (command, commands)
        assert bool(commands) is (format_ == "github")
        assert "\x1b" not in outcome.out
        if format_ == "junit":
            ElementTree.fromstring(outcome.out)
        elif format_ in ("json", "sarif"):
            json.loads(outcome.out)


def test_names_begin_no_line_of_other_commands(tmp_path: Path) -> None:
    file = _attacked(tmp_path)
    commands = [("explain", file), ("explain", file, "--format", "json"), ("ttl", file), ("execute", file)]
    for command in (*commands, ("diff", str(PLAN), file, "--detail"), ("ttl", file, "--format", "json")):
        outcome = flinkplan(*command)
        assert not [line for line in _lines(outcome.out + outcome.err) if line.startswith("::")], command


def test_names_of_sinks_begin_no_line(capsys: pytest.CaptureFixture[str]) -> None:
    for shown in (Summary(), JsonLines()):
        shown.batch_done(QueryProgress(ATTACK, 1, "2020-01-01T00:00:00.000Z", 10, 4, 1, 100.0, 250, None, ()))
        shown.ended("finished")
    captured = capsys.readouterr()
    lines = _lines(captured.out + captured.err)
    assert "10 rows read" in captured.err
    assert not [line for line in lines if line.startswith("::")]


def test_links_and_html_of_a_plan_are_text_in_markdown(tmp_path: Path) -> None:
    def change(nodes: Any) -> None:
        nodes[4]["<img src=x> [y](http://h) | z"] = 1

    shown = flinkplan("validate", _changed(tmp_path, change), "--format", "markdown").out
    assert r"&lt;img src=x> [y]\(http://h) \| z" in shown


def _with_secrets(folder: Path) -> tuple[str, str]:
    """Two plans whose tables hold secrets in plain text."""

    def secret(number: int) -> Any:
        def change(nodes: Any) -> None:
            options = nodes[0]["scanTableSource"]["table"]["resolvedTable"]["options"]
            options["password"] = options["url"] = f"jdbc:x://ann:hunter2{number}@h;password=hunter2{number}"
            options["topc"] = "t"
            hint = f"OPTIONS options:{{properties.sasl.password=hunter2{number}, topic=t}}"
            nodes[0]["description"] = f"TableSourceScan(table=[[t]], fields=[a], hints=[[[{hint}]]])"

        return change

    one = Path(_changed(folder, secret(1))).rename(folder / "one.json")
    return str(one), _changed(folder, secret(2))


@pytest.mark.parametrize("format_", ["text", "json", "github", "sarif", "junit", "markdown", "html"])
def test_secrets_of_a_plan_are_not_shown(tmp_path: Path, format_: str) -> None:
    one, two = _with_secrets(tmp_path)
    commands: list[tuple[str, ...]] = [("diff", one, two)]
    if format_ == "text":
        commands += [("execute", one), ("explain", one), ("ttl", one), ("diff", one, two, "--detail")]
        commands += [("explain", one, "--format", kind) for kind in ("json", "html")]
    if format_ != "html":
        commands += [("validate", one, "--for", "spark"), ("validate", one)]
    for command in commands:
        outcome = (
            flinkplan(*command, "--format", format_) if command[0] in ("diff", "validate") else flinkplan(*command)
        )
        assert outcome.code != 70
        assert "hunter2" not in outcome.out + outcome.err, command


def test_secrets_of_a_script_are_not_shown(tmp_path: Path) -> None:
    script = tmp_path / "p.sql"
    tables = SCRIPT.replace("'datagen')", "'jdbc', 'url' = 'jdbc:x', 'table-name' = 't', 'password' = 'hunter2')")
    script.write_text(tables)
    refused = flinkplan("compile", str(script))
    assert (refused.code, "'password' = '******'" in refused.err) == (3, True)
    assert "hunter2" not in refused.err
    shown = flinkplan(
        "run",
        "-",
        stdin=f"SET 'flinkplan.var.PASSWORD' = 'hunter2';{tables.partition('INSERT')[0]}SET; SHOW CREATE TABLE a;",
    )
    assert "hunter2" not in shown.out + shown.err
    assert shown.out.count("******") == 2
