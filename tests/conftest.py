"""What all tests share."""

from __future__ import annotations

import gc
import os
import signal
from pathlib import Path

import pytest

# The tests' many short queries take half the time where the JVM does not optimise each one's generated code
os.environ.setdefault(
    "SPARK_SUBMIT_OPTS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xms700m -Xmn350m -XX:MetaspaceSize=400m"
)


collect_ignore_glob = ["testing/*.test.yaml"]
"""What ``tests/testing/test_execution.py`` runs itself."""


def pytest_configure() -> None:
    """What ``nohup`` and jobs in the background have ignored is not ignored by the processes that tests stop."""
    if os.name == "posix":
        signal.signal(signal.SIGHUP, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="rewrite the golden files from what is found now")
    parser.addoption("--nightly", action="store_true", help="run the tests that are marked `nightly` as well")


def pytest_make_parametrize_id(val: object) -> str | None:
    """Whole scripts and plans are named by how they begin; pytest numbers those that begin alike."""
    return f"{val[:40].rstrip()}…" if isinstance(val, str) and len(val) > 60 else None


LONG = (
    "processes",
    "tests/parity/datastream/test_cases.py",
    "tests/compat/test_truth_spark.py",
    "tests/parity/test_rows.py",
    "tests/parity/test_releases.py",
)
"""Groups that processes begin with, so that none of them is left over at the end."""


def pytest_collection() -> None:
    """What is collected stays, so that the collector of garbage would look through more and more of it for nothing."""
    gc.disable()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Where several processes run the tests, hand out whole files: to hand out tests one by one costs more than most.

    Each process has one session of Spark at most.  What takes long is handed out first, what needs no Spark last.
    """
    for item in items:
        if "spark" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.spark)
        if not item.get_closest_marker("xdist_group"):
            item.add_marker(pytest.mark.xdist_group(item.nodeid.partition("::")[0]))
        if (nightly := item.get_closest_marker("nightly")) and not config.getoption("--nightly"):
            item.add_marker(pytest.mark.skip(reason=f"only by make nightly: {nightly.args[0]}"))
    items.sort(key=_rank)


def _rank(item: pytest.Item) -> int:
    """The place of a test's group; those of one place stay in their order."""
    marker = item.get_closest_marker("xdist_group")
    group = marker.args[0] if marker else ""
    return LONG.index(group) if group in LONG else len(LONG) + (item.get_closest_marker("spark") is None)


def pytest_collection_finish() -> None:
    """The tests themselves stay to the end: the collector of garbage need not look through them again and again."""
    import hypothesis  # noqa: F401  must be there before objects are frozen, whose referrers it would not see

    gc.enable()
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


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Golden:
    """The golden files beside the test."""
    return Golden(request.path.parent / "golden", request.config.getoption("--update-golden"))
