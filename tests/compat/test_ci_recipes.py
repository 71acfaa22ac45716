"""The recipes of docs/ci.md, run as a user would: in a git repository with two commits."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from flinkplan.plan.document import dumps
from flinkplan.planner import compile_script
from tests.compat.pipelines import SUMS, SUMS_COLUMNS, script

pytestmark = pytest.mark.programs

PAGE = Path(__file__).parents[2] / "docs" / "ci.md"
PLAN = dumps(compile_script(script(SUMS, SUMS_COLUMNS)))
OTHER_KEY = dumps(compile_script(script(SUMS.replace("product", "shop"), SUMS_COLUMNS)))
OTHER_TTL = PLAN.replace('"0 ms"', '"3 s"')


def recipe(number: int) -> Any:
    """A YAML block of the page."""
    blocks = re.findall(r"```yaml\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    return YAML(typ="safe").load(blocks[number])


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """An environment in which the command ``flinkplan`` is the one under test."""
    scripts = tmp_path / "bin"
    scripts.mkdir()
    command = scripts / "flinkplan"
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -c "from flinkplan.cli.main import main; main()" "$@"\n')
    command.chmod(0o755)
    return {**os.environ, "PATH": f"{scripts}:{os.environ['PATH']}", "GITHUB_BASE_REF": "main"}


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A clone whose branch main has a plan."""
    origin, work = tmp_path / "origin", tmp_path / "work"
    git(tmp_path, "init", "-q", "-b", "main", str(origin))
    (origin / "plans").mkdir()
    (origin / "plans" / "sums.json").write_text(PLAN)
    (origin / "plans" / "the same again.json").write_text(PLAN)
    commit(origin, "Add a plan")
    git(tmp_path, "clone", "-q", str(origin), str(work))
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


@pytest.mark.parametrize(
    ("plan", "passes", "words"),
    [
        pytest.param(OTHER_TTL, True, "::warning title=flinkplan ttl-enabled,file=plans/", id="ttl"),
        pytest.param(OTHER_KEY, False, "::error title=flinkplan keys-changed,file=plans/", id="key"),
    ],
)
def test_github_actions(repository: Path, environment: dict[str, str], plan: str, passes: bool, words: str) -> None:
    git(repository, "checkout", "-q", "-b", "change")
    for name in ("sums.json", "the same again.json"):
        (repository / "plans" / name).write_text(plan)
    commit(repository, "Change the plans")
    steps = recipe(0)["jobs"]["state-survives"]["steps"]
    code, out = shell(["bash", "-e", "-c", steps[-1]["run"]], repository, environment)
    assert (code == 0) is passes, out
    assert [f"{words}{name},line=" in out for name in ("sums.json", "the same again.json")] == [True, True], out


def test_a_page_for_reviewers(repository: Path, environment: dict[str, str]) -> None:
    git(repository, "checkout", "-q", "-b", "change")
    (repository / "plans" / "sums.json").write_text(OTHER_KEY)
    commit(repository, "Change a plan")
    code, out = shell(["bash", "-e", "-c", recipe(1)[0]["run"]], repository, environment)
    assert code == 0, out
    page = (repository / "pages/plans/sums.json.html").read_text("utf-8")
    assert re.findall('"verdict": "(.*?)"', page)[-1:] == ["corrupting"]


@pytest.mark.parametrize(
    ("hook", "plan", "status"),
    [
        ("flinkplan-validate", OTHER_TTL, 0),
        ("flinkplan-validate", PLAN.replace('"0 ms"', '"1.5 h"'), 1),
        ("flinkplan-diff", OTHER_TTL, 0),
        ("flinkplan-diff", OTHER_KEY, 1),
    ],
)
def test_pre_commit(repository: Path, environment: dict[str, str], hook: str, plan: str, status: int) -> None:
    (repository / "plans" / "sums.json").write_text(plan)
    (repository / "plans" / "new.json").write_text(PLAN)
    git(repository, "add", ".")
    hooks = {h["id"]: h for h in recipe(2)["repos"][0]["hooks"]}
    command = [*shlex.split(hooks[hook]["entry"]), "plans/new.json", "plans/sums.json"]
    code, out = shell(command, repository, environment)
    assert code == status, out
