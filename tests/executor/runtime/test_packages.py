"""The Java packages: each says what it holds, and no two depend on each other, directly or by way of others."""

from __future__ import annotations

import re
from collections import defaultdict
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

from flinkplan.executor.runtime.jar import SOURCES

ROOT = "flinkplan.runtime"
_NO_CODE = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', re.DOTALL)
_CLASS = re.compile(rf"\b({re.escape(ROOT)}(?:\.[a-z]\w*)*)\.(?:[A-Z]\w*|\*)")


def _package(path: Path) -> str:
    return ".".join(path.relative_to(SOURCES).parent.parts)


def _dependencies(files: list[Path]) -> dict[str, set[str]]:
    """For each package those whose classes it names: imported, statically imported, or by their full names."""
    dependencies: dict[str, set[str]] = defaultdict(set)
    for path in files:
        code = _NO_CODE.sub(" ", path.read_text("utf-8"))
        dependencies[_package(path)].update(_CLASS.findall(code))
    return {package: others - {package} for package, others in dependencies.items()}


def test_no_package_depends_on_itself_by_way_of_others() -> None:
    dependencies = _dependencies(sorted(SOURCES.rglob("*.java")))
    assert dependencies[f"{ROOT}.time"] > {f"{ROOT}.kernel", f"{ROOT}.row"}
    try:
        TopologicalSorter(dependencies).prepare()
    except CycleError as e:
        raise AssertionError(f"these packages depend on each other: {' <- '.join(e.args[1])}") from None


def test_each_class_has_a_package_of_its_kind() -> None:
    packages = {_package(path) for path in SOURCES.rglob("*.java")}
    assert packages
    assert all(package.startswith(f"{ROOT}.") for package in packages)


def test_each_file_is_in_the_folder_of_its_package() -> None:
    for path in SOURCES.rglob("*.java"):
        assert f"package {_package(path)};" in path.read_text("utf-8"), path


def test_each_package_says_what_it_holds() -> None:
    undocumented = [
        folder.name
        for folder in sorted({path.parent for path in SOURCES.rglob("*.java")})
        if not (folder / "package-info.java").is_file()
    ]
    assert undocumented == []
