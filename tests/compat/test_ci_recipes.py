"""The recipes of docs/ci.md, the action and the hooks, run as a user would: in a git repository with two commits."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from flinkplan.plan.document import dumps
from flinkplan.planner import compile_script
from tests.compat.pipelines import SUMS, SUMS_COLUMNS, script

pytestmark = pytest.mark.programs

ROOT = Path(__file__).parents[2]
SQL = script(SUMS, SUMS_COLUMNS)
OTHER_KEY = script(SUMS.replace("product", "shop"), SUMS_COLUMNS)
OTHER_TTL = SQL.replace("SELECT ", "SELECT /*+ STATE_TTL('orders' = '3 s') */ ", 1)
BROKEN = SQL.replace("INSERT", "INSRT")
PLAN = dumps(compile_script(SQL))
SETTINGS = """[tool.flinkplan]
pipelines = ["pipelines/*.sql", "plans/*.json"]
[tool.flinkplan.environments.prod]
DIR = "/srv"
"""


def recipe(number: int) -> Any:
    """A YAML block of the page."""
    blocks = re.findall(r"```yaml\n(.*?)```", (ROOT / "docs" / "ci.md").read_text("utf-8"), re.DOTALL)
    return YAML(typ="safe").load(blocks[number])


def published(name: str) -> Any:
    """A file at the top of the repository that other repositories use."""
    return YAML(typ="safe").load((ROOT / name).read_text("utf-8"))


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """An environment in which the commands ``flinkplan`` and ``python`` are those under test."""
    scripts = tmp_path / "bin"
    scripts.mkdir()
    for name, code in (("flinkplan", "from flinkplan.cli.main import main; main()"), ("python", "import flinkplan")):
        command = scripts / name
        command.write_text(f'#!/bin/sh\nexec {sys.executable} -c "{code}" "$@"\n')
        command.chmod(0o755)
    path = f"{scripts}:{os.environ['PATH']}"
    return {**os.environ, "PATH": path, "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md")}


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A clone whose branch main has pipelines and a plan; another branch is checked out."""
    origin, work = tmp_path / "origin", tmp_path / "work"
    git(tmp_path, "init", "-q", "-b", "main", str(origin))
    for name, text in (("pipelines/sums.sql", SQL), ("pipelines/the same again.sql", SQL), ("plans/sums.json", PLAN)):
        (origin / name).parent.mkdir(exist_ok=True)
        (origin / name).write_text(text)
    (origin / "pyproject.toml").write_text(SETTINGS)
    commit(origin, "Add pipelines")
    git(tmp_path, "clone", "-q", str(origin), str(work))
    git(work, "checkout", "-q", "-b", "change")
    return work


def git(folder: Path, *arguments: str) -> None:
    who = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    subprocess.run(["git", *who, *arguments], cwd=folder, check=True, capture_output=True)


def commit(folder: Path, message: str) -> None:
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", message)


def shell(command: list[str], folder: Path, environment: dict[str, str]) -> tuple[int, str]:
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def run_action(folder: Path, environment: dict[str, str], given: Mapping[str, str]) -> tuple[int, str]:
    """Run the steps of the action as GitHub does for a pull request against main, up to the first that fails."""
    action = published("action.yml")
    inputs = {name: str(each["default"]) for name, each in action["inputs"].items()} | dict(given)
    values = {
        **{f"inputs.{name}": value for name, value in inputs.items()},
        "github.action_path": str(ROOT),
        "inputs.base || (github.base_ref && format('origin/{0}', github.base_ref)) || 'HEAD^'": "origin/main",
    }

    def filled(text: str) -> str:
        return re.sub(r"\$\{\{ (.*?) \}\}", lambda match: values[match[1]], text)

    output = ""
    for step in action["runs"]["steps"]:
        assert step["shell"] == "bash"
        assert "${{" not in step["run"], "a value in a script could be code"
        variables = {name: filled(value) for name, value in step["env"].items()}
        where = folder / filled(step.get("working-directory", "."))
        command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
        code, out = shell(command, where, environment | variables)
        output += out
        if code:
            return code, output
    return 0, output


@pytest.mark.parametrize(
    ("text", "code", "words"),
    [
        pytest.param(OTHER_TTL, 0, "::warning title=flinkplan ttl-enabled,file=pipelines/", id="ttl"),
        pytest.param(OTHER_KEY, 1, "::error title=flinkplan keys-changed,file=pipelines/", id="key"),
        pytest.param(BROKEN, 2, "::error title=flinkplan pipeline-fails,file=pipelines/", id="broken"),
    ],
)
def test_the_action(repository: Path, environment: dict[str, str], text: str, code: int, words: str) -> None:
    for name in ("sums", "the same again"):
        (repository / "pipelines" / f"{name}.sql").write_text(text)
    commit(repository, "Change the pipelines")
    exit_code, out = run_action(repository, environment, {})
    assert exit_code == code, out
    assert [f"{words}{name}.sql,line=" in out for name in ("sums", "the same again")] == [True, True], out
    summary = Path(environment["GITHUB_STEP_SUMMARY"]).read_text("utf-8")
    assert "| pipelines/sums.sql | " in summary


def test_the_inputs_of_the_action(repository: Path, environment: dict[str, str]) -> None:
    (repository / "pipelines/sums.sql").write_text(OTHER_TTL)
    commit(repository, "Change a pipeline")
    inputs = recipe(0)["jobs"]["state-survives"]["steps"][2]["with"]
    assert inputs.keys() <= published("action.yml")["inputs"].keys()
    code, out = run_action(repository, environment, {**inputs, "arguments": "--fail-on compatible"})
    assert code == 1, out
    page = (repository / inputs["page"]).read_text("utf-8")
    assert "pipelines/sums.sql: compatible" in page


def test_arguments_of_the_action_are_not_code(repository: Path, environment: dict[str, str]) -> None:
    code, _ = run_action(repository, environment, {"arguments": "$(touch hacked); touch hacked"})
    assert code == 2
    assert not (repository / "hacked").exists()


def test_another_ci_system(repository: Path, environment: dict[str, str]) -> None:
    (repository / "pipelines/sums.sql").write_text(OTHER_KEY)
    commit(repository, "Change a pipeline")
    lines = [line for line in recipe(1)["script"] if not line.startswith("pip ")]
    code, out = shell(["bash", "-e", "-c", "\n".join(lines)], repository, environment)
    assert code == 1, out
    assert "<testsuites" in (repository / "report.xml").read_text("utf-8")


@pytest.mark.parametrize(
    ("hook", "text", "status"),
    [
        ("flinkplan-validate", OTHER_TTL, 0),
        ("flinkplan-validate", BROKEN, 1),
        ("flinkplan-diff", OTHER_TTL, 0),
        ("flinkplan-diff", OTHER_KEY, 1),
    ],
)
def test_pre_commit(repository: Path, environment: dict[str, str], hook: str, text: str, status: int) -> None:
    (repository / "pipelines/sums.sql").write_text(text)
    (repository / "pipelines/new.sql").write_text(SQL)
    git(repository, "add", ".")
    assert hook in [each["id"] for each in recipe(2)["repos"][0]["hooks"]]
    definition = {each["id"]: each for each in published(".pre-commit-hooks.yaml")}[hook]
    names = [name for name in ("pipelines/new.sql", "pipelines/sums.sql") if re.search(definition["files"], name)]
    assert names
    arguments = names if definition.get("pass_filenames", True) else []
    code, out = shell([*shlex.split(definition["entry"]), *arguments], repository, environment)
    assert code == status, out
