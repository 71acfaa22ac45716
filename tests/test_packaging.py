"""The wheel holds what the commands need, wherever it is installed."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from email.message import Message
from email.parser import Parser
from pathlib import Path
from zipfile import ZipFile

import pytest

ROOT = Path(__file__).parents[1]
NOT_SHIPPED = (".pyc", ".jar")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ZipFile]:
    """A wheel, built from a copy of the sources."""
    copy = tmp_path_factory.mktemp("sources")
    shutil.copytree(
        ROOT / "flinkplan", copy / "flinkplan", symlinks=True, ignore=shutil.ignore_patterns("__pycache__", "*.jar")
    )
    for file in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / file, copy)
    build = "from setuptools import build_meta; build_meta.build_wheel('dist')"
    done = subprocess.run([sys.executable, "-c", build], cwd=copy, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (path,) = (copy / "dist").iterdir()
    with ZipFile(path) as opened:
        yield opened


def sources() -> Iterator[str]:
    for path in (ROOT / "flinkplan").rglob("*"):
        if path.is_file() and path.suffix not in NOT_SHIPPED:
            yield path.relative_to(ROOT).as_posix()


def metadata(wheel: ZipFile) -> Message:
    (name,) = (n for n in wheel.namelist() if n.endswith(".dist-info/METADATA"))
    return Parser().parsestr(wheel.read(name).decode("utf-8"))


@pytest.mark.programs
def test_every_file_of_the_package_is_in_it(wheel: ZipFile) -> None:
    assert sorted(set(sources()) - set(wheel.namelist())) == []


@pytest.mark.programs
@pytest.mark.parametrize(
    "name",
    [
        "flinkplan/py.typed",
        "flinkplan/table/__init__.py",
        "flinkplan/cli/starters/pipeline.yaml",
        "flinkplan/schemas/plan-v1.schema.json",
        "flinkplan/executor/runtime/src/flinkplan/runtime/kernel/Kernel.java",
    ],
)
def test_holds(wheel: ZipFile, name: str) -> None:
    assert name in wheel.namelist()


@pytest.mark.programs
def test_holds_nothing_beside_the_package(wheel: ZipFile) -> None:
    tops = {name.partition("/")[0] for name in wheel.namelist()}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"flinkplan"}


@pytest.mark.programs
def test_has_a_license(wheel: ZipFile) -> None:
    assert any(name.endswith(".dist-info/licenses/LICENSE") for name in wheel.namelist())
    assert metadata(wheel)["License-Expression"] == "Apache-2.0"


def test_every_requirement_is_bounded() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = [each for requirements in project["optional-dependencies"].values() for each in requirements]
    assert [each for each in (*project["dependencies"], *extras) if ">=" not in each] == []


@pytest.mark.programs
def test_installs_the_command(wheel: ZipFile) -> None:
    (name,) = (n for n in wheel.namelist() if n.endswith("entry_points.txt"))
    assert "flinkplan = flinkplan.cli.main:main" in wheel.read(name).decode("utf-8")
