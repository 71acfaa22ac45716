"""Modules that functions import in workers, which run one job after the other."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from flinkplan.udf import code
from flinkplan.udf.as_pyflink import uninstall
from flinkplan.udf.code import Imports


@pytest.fixture(autouse=True)
def worker() -> Iterator[None]:
    """The process is as it was afterwards."""
    path, modules = list(sys.path), set(sys.modules)
    yield
    sys.path[:] = path
    for name in set(sys.modules) - modules:
        del sys.modules[name]
    code._active = None
    code._MODULES.clear()
    uninstall()


def job(folder: Path, name: str, text: str) -> Imports:
    folder.mkdir()
    (folder / "helpers_of_a_job.py").write_text(text, "utf-8")
    return Imports(name, (str(folder),))


def imported() -> str:
    import helpers_of_a_job  # type: ignore[import-not-found]

    word: str = helpers_of_a_job.WORD
    return word


def test_each_job_imports_its_own_modules(tmp_path: Path) -> None:
    first = job(tmp_path / "a", "first", "WORD = 'one'")
    second = job(tmp_path / "b", "second", "WORD = 'two'")
    first.activate()
    assert imported() == "one"
    sys.modules["helpers_of_a_job"].WORD = "changed"  # type: ignore[attr-defined]
    second.activate()
    assert imported() == "two"
    first.activate()
    assert imported() == "changed"


def test_a_changed_module_is_imported_anew_for_another_job(tmp_path: Path) -> None:
    first = job(tmp_path / "a", "first", "WORD = 'one'")
    first.activate()
    assert imported() == "one"
    (tmp_path / "a" / "helpers_of_a_job.py").write_text("WORD = 'changed'", "utf-8")
    Imports("second", first.folders).activate()
    assert imported() == "changed"


def test_libraries_of_an_environment_within_a_folder_stay(tmp_path: Path) -> None:
    """As where the project's folder has a .venv: to import PyArrow again for each job takes a tenth of a second."""
    libraries = tmp_path / "a" / ".venv" / "lib" / "site-packages"
    first = job(tmp_path / "a", "first", "WORD = 'one'")
    libraries.mkdir(parents=True)
    (libraries / "library_of_a_job.py").write_text("", "utf-8")
    sys.path.append(str(libraries))
    first.activate()
    library = importlib.import_module("library_of_a_job")
    Imports("second", first.folders).activate()
    assert sys.modules["library_of_a_job"] is library
