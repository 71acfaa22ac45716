"""Tests of Paimon tables, in an environment that has pypaimon: it takes an older PyArrow than the one of development.

The environment is made once, in ``out/paimon``: what the extra ``paimon`` asks for, in front of what is installed here.
"""

from __future__ import annotations

import os
import subprocess
import sysconfig
import tomllib
from pathlib import Path

import pytest

from tests.environments import environment

ROOT = Path(__file__).parents[3]
FOLDER = Path(__file__).parent

pytestmark = pytest.mark.xdist_group("paimon")


def requirements() -> list[str]:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    needed: list[str] = extras["paimon"]
    return needed


@pytest.fixture(scope="module")
def python() -> Path:
    """The interpreter of the environment; tests are skipped where it cannot be made."""
    made = environment("paimon", requirements())
    (own,) = (made / "lib").glob("python*/site-packages")
    (own / "installed-here.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return made / "bin" / "python"


def run(python: Path, *arguments: str) -> None:
    """Run tests in the environment; none of them may be skipped for want of pypaimon."""
    command = [str(python), "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", "-p", "no:xdist", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment, cwd=ROOT)
    assert done.returncode == 0, done.stdout[-5000:]
    assert "pypaimon takes no" not in done.stdout


@pytest.mark.programs
@pytest.mark.nightly("an environment takes a minute to make")
def test_tables(python: Path) -> None:
    run(python, "-m", "not spark", str(FOLDER / "test_paimon.py"))


@pytest.mark.spark
@pytest.mark.nightly("the same writer is tested with Delta and Iceberg tables, and the library without Spark")
def test_jobs(python: Path) -> None:
    files = [str(FOLDER / f"test_{name}.py") for name in ("paimon", "overwrite")]
    run(python, "--nightly", "-m", "spark", "-k", "paimon", *files)


@pytest.mark.spark
@pytest.mark.nightly("each kill starts a JVM")
def test_kills(python: Path) -> None:
    run(python, "--nightly", "-k", "paimon", str(FOLDER / "test_kill.py"))
