"""The Java packages: each says what it holds, and no two depend on each other, directly or by way of others."""

from __future__ import annotations

import re
from collections import defaultdict
from graphlib import CycleError, TopologicalSorter

from tests.executor.java_sources import ROOT, code, java_files, package

_CLASS = re.compile(rf"\b({re.escape(ROOT)}(?:\.[a-z]\w*)*)\.(?:[A-Z]\w*|\*)")


def _dependencies() -> dict[str, set[str]]:
    """For each package those whose classes it names: imported, statically imported, or by their full names."""
    dependencies: dict[str, set[str]] = defaultdict(set)
    for path in java_files():
        dependencies[package(path)].update(_CLASS.findall(code(path)))
    return {name: others - {name} for name, others in dependencies.items()}


def test_no_package_depends_on_itself_by_way_of_others() -> None:
    dependencies = _dependencies()
    assert dependencies[f"{ROOT}.time"] > {f"{ROOT}.kernel", f"{ROOT}.row"}
    try:
        TopologicalSorter(dependencies).prepare()
    except CycleError as e:
        raise AssertionError(f"these packages depend on each other: {' <- '.join(e.args[1])}") from None


def test_the_root_package_holds_nothing() -> None:
    packages = {package(path) for path in java_files()}
    assert packages
    assert all(name.startswith(f"{ROOT}.") for name in packages)


def test_each_file_is_in_the_folder_of_its_package() -> None:
    for path in java_files():
        assert f"package {package(path)};" in code(path), path


def test_each_package_says_what_it_holds() -> None:
    for folder in {path.parent for path in java_files()}:
        assert (folder / "package-info.java").read_text("utf-8").startswith("/**"), folder
