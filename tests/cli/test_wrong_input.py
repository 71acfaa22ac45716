"""Wrong files, directories and options: each command says what is wrong, where and how to fix it."""

from __future__ import annotations

from pathlib import Path

import pytest

from flinkplan.cli.shell.engine import Engine
from flinkplan.plan.document import dumps
from flinkplan.planner import compile_script
from tests.cli.support import flinkplan

PIPELINE = """
CREATE TABLE t (i INT) WITH ('connector' = 'datagen');
CREATE TABLE s (i INT) WITH ('connector' = 'print');
INSERT INTO s SELECT i FROM t;
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("pipeline.sql").write_text(PIPELINE)
    Path("plan.json").write_text(dumps(compile_script(PIPELINE)))
    Path("list.json").write_text("[]")
    Path("empty.json").touch()
    Path("empty.sql").touch()
    Path("directory").mkdir()


ON_PLANS = ("execute", "explain", "validate", "ttl", "upgrade")
ON_FILES = (*ON_PLANS, "compile", "run")
TAKE_CHECKPOINTS = ("explain", "validate", "ttl")
NO_FILE = "this is a directory, not a file\n --> directory\nhint: name a file in it"
NO_CHECKPOINT = (
    "this directory is not a checkpoint of 'flinkplan execute'\n --> directory\n"
    "hint: name a plan, REVISION:PATH, or a checkpoint"
)


def error(code: int, *arguments: str) -> str:
    """What a command prints that ends with ``code``."""
    outcome = flinkplan(*arguments)
    assert (outcome.code, outcome.out, "Traceback" in outcome.err) == (code, "", False), outcome
    return outcome.err


@pytest.mark.parametrize("command", ON_FILES)
@pytest.mark.parametrize(
    ("file", "message"),
    [
        ("paln.json", "no such file\n --> paln.json\nhint: did you mean 'plan.json'?"),
        ("nowhere/plan.json", "no such file\n --> nowhere/plan.json\nhint: there is no directory 'nowhere'"),
        ("plan.json/x", "no such file\n --> plan.json/x\nhint: 'plan.json' is not a directory"),
        ("", "the path is empty\nhint: name a file"),
    ],
)
def test_a_file_that_cannot_be_read(command: str, file: str, message: str) -> None:
    end = " or directory" if command in TAKE_CHECKPOINTS and not file else ""
    assert error(3, command, file) == f"error: {message}{end}\n"


@pytest.mark.parametrize("command", ON_FILES)
def test_a_directory(command: str) -> None:
    assert error(3, command, "directory") == f"error: {NO_CHECKPOINT if command in TAKE_CHECKPOINTS else NO_FILE}\n"


@pytest.mark.parametrize("file", ["", "directory/../missing.json"])
def test_a_plan_of_diff_that_cannot_be_read(file: str) -> None:
    assert ("the path is empty" if not file else "no such file") in error(2, "diff", file, "plan.json")


@pytest.mark.parametrize(
    ("file", "message"),
    [
        ("directory", "this is a directory, not a file\n --> directory\nhint: name a file in it"),
        ("plan.json/x", "the file cannot be written\n --> plan.json/x\nhint: 'plan.json' is not a directory"),
        ("", "the path is empty\nhint: name a file or directory"),
    ],
)
@pytest.mark.parametrize("command", ["compile pipeline.sql", "explain plan.json", "diff plan.json plan.json"])
def test_a_file_that_cannot_be_written(command: str, file: str, message: str) -> None:
    assert error(3, *command.split(), "-o", file) == f"error: {message}\n"


@pytest.mark.parametrize("command", ["explain", "ttl", "upgrade", "execute"])
def test_json_that_is_no_plan(command: str) -> None:
    assert "a compiled plan is a JSON object" in error(3, command, "list.json")
    assert error(3, command, "empty.json") == "error: the file is empty\n --> empty.json\n"


@pytest.mark.parametrize(
    "command", ["compile list.json", "run plan.json", "validate plan.json --tables plan.json", "compile empty.json"]
)
def test_json_in_place_of_a_pipeline(command: str) -> None:
    assert "this is JSON, as of a compiled plan, not a pipeline" in error(3, *command.split())


def test_a_script_without_statements() -> None:
    assert error(3, "run", "empty.sql", "--quiet") == (
        "error: the script has no statements\n --> empty.sql\nhint: add one, such as INSERT INTO … SELECT …\n"
    )


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("explain plan.json --set a=b", "--set is for pipelines; plan.json is a compiled plan"),
        ("explain plan.json --sql pipeline.sql", "--sql needs --format html."),
        ("upgrade plan.json --set a=b", "--set needs --spec"),
        ("validate plan.json --set a=b", "there is no option 'a'"),
        ("ttl - --all 1h -i", "--in-place writes PLAN, which must be a file."),
        ("ttl plan.json -i", "--in-place needs --set or --all."),
    ],
)
def test_options_that_would_have_no_effect(command: str, message: str) -> None:
    assert message in error(2, *command.split())


def test_the_pipeline_beside_a_plan_is_no_plan() -> None:
    assert "not a pipeline" in error(3, "explain", "plan.json", "--format", "html", "--sql", "plan.json")


def test_a_warning_to_ignore_that_does_not_exist() -> None:
    assert error(3, "compile", "pipeline.sql", "--ignore", "ttl-downsteam") == (
        "error: no warning has the rule 'ttl-downsteam'\nhint: did you mean 'ttl-downstream'?\n"
    )


def test_a_script_of_the_shell_is_named_in_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Engine, "start", lambda engine: None)
    Path("wrong.sql").write_text("SHOW TABLES;\nSELEC 1;\n")
    outcome = flinkplan("sql", "-f", "wrong.sql")
    assert (outcome.code, "--> wrong.sql:2:1" in outcome.err) == (3, True)
    assert "this is JSON, as of a compiled plan, not a pipeline" in error(3, "sql", "-f", "plan.json")


@pytest.mark.parametrize(
    "command", ["execute plan.json", "run pipeline.sql", "sql -e", "execute --mode real-time plan.json"]
)
def test_a_master_that_spark_does_not_have(command: str) -> None:
    statement = ["SELECT 1"] if command.endswith("-e") else []
    message = error(3, *command.split(), *statement, "--master", "nonsense").removeprefix("Starting Spark…\n")
    hint = "a master is local, local[N], local[*], spark://HOST:PORT, yarn, or k8s://URL"
    assert message == f"error: Spark has no master 'nonsense'\nhint: {hint}\n"


@pytest.mark.parametrize("command", ["execute", "explain", "explain --physical", "ttl", "upgrade", "validate"])
def test_a_plan_without_nodes(command: str) -> None:
    Path("nothing.json").write_text('{"flinkVersion": "2.3", "nodes": [], "edges": []}')
    outcome = flinkplan(*command.split(), "nothing.json")
    assert outcome.code == (1 if command == "validate" else 3)
    assert "the plan has no nodes\n --> nothing.json:1:25" in outcome.out + outcome.err
    assert "hint: a plan has at least a source and a sink\n" in outcome.out + outcome.err
