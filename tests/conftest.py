"""What all tests share."""

from __future__ import annotations

import gc
import os
import signal
from pathlib import Path

import pytest

# The tests' many short queries take half the time where the JVM does not optimise each one's generated code
os.environ.setdefault("SPARK_SUBMIT_OPTS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")


def pytest_configure() -> None:
    """What ``nohup`` and jobs in the background have ignored is not ignored by the processes that tests stop."""
    if os.name == "posix":
        signal.signal(signal.SIGHUP, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="rewrite the golden files from what is found now")


def pytest_make_parametrize_id(val: object) -> str | None:
    """Whole scripts and plans are named by how they begin; pytest numbers those that begin alike."""
    return f"{val[:40].rstrip()}…" if isinstance(val, str) and len(val) > 60 else None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Where several processes run the tests, hand out whole files, and of tests with Spark whole folders of ``tests``.

    So each process starts one session of Spark at most.  To hand out tests one by one costs more than most of them.
    """
    for item in items:
        if not item.get_closest_marker("xdist_group"):
            file = item.nodeid.partition("::")[0]
            together = f"spark-{file.split('/')[1]}" if item.get_closest_marker("spark") else file
            item.add_marker(pytest.mark.xdist_group(together))


def pytest_collection_finish() -> None:
    """The tests themselves stay to the end: the collector of garbage need not look through them again and again."""
    gc.collect()
    gc.freeze()


class Golden:
    """Compares texts with the files of the folder ``golden`` beside a test."""

    def __init__(self, folder: Path, update: bool) -> None:
        self._folder = folder
        self._update = update

    def check(self, name: str, text: str) -> None:
        """``text`` is that of the file ``name``; with ``--update-golden`` it becomes that."""
        file = self._folder / name
        if self._update:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, "utf-8")
        assert text == file.read_text("utf-8")


@pytest.fixture(scope="session")
def classes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The archive of Java's classes from which jobs start that are killed; the first one to end leaves it."""
    return tmp_path_factory.mktemp("classes") / "classes.jsa"


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Golden:
    """The golden files beside the test."""
    return Golden(request.path.parent / "golden", request.config.getoption("--update-golden"))
