"""Texts that are no plan, or hold what a terminal, a file or Python cannot take, end in a message for people."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.support import flinkplan
from tests.parity.corpus import HERE

PLAN = HERE / "cases/join-two-cdc-tables-with-primary-keys/plan.json"
SCRIPT = """-- a pipeline
CREATE TABLE a (x INT) WITH ('connector' = 'datagen');
CREATE TABLE b (x INT) WITH ('connector' = 'print');
INSERT INTO b SELECT x FROM a;
"""


@pytest.mark.parametrize("command", ["execute", "validate", "ttl", "upgrade"])
@pytest.mark.parametrize("name", ["p.sql", "p.yaml", "p"])
def test_a_pipeline_instead_of_a_plan(tmp_path: Path, command: str, name: str) -> None:
    file = tmp_path / name
    file.write_text("version: 1\n" if name.endswith("yaml") else SCRIPT)
    outcome = flinkplan(command, str(file))
    assert outcome.code == 3
    assert "this is a pipeline, not a compiled plan" in outcome.err
    assert f"'flinkplan run {file}' runs it" in outcome.err


def test_a_pipeline_instead_of_a_plan_to_compare(tmp_path: Path) -> None:
    (tmp_path / "p.sql").write_text(SCRIPT)
    outcome = flinkplan("diff", str(tmp_path / "p.sql"), str(PLAN))
    assert outcome.code == 2
    assert "not a compiled plan" in outcome.err


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
