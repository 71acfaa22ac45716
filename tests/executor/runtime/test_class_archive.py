"""The archive of Spark's classes: who makes it, who starts from it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from flinkplan.executor.runtime import jar
from flinkplan.executor.runtime.class_archive import class_archive

STARTING = """\
from pathlib import Path
from flinkplan.executor.jvm.session import Lifetime, session
jvm = session("local[1]", lifetime=Lifetime.SECONDS).sparkContext._jvm
pid = jvm.java.lang.ProcessHandle.current().pid()
print("spark-classes" in Path(f"/proc/{pid}/maps").read_text())
"""


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FLINKPLAN_CACHE", str(tmp_path))
    return jar.cache()


def archives(cache: Path) -> list[Path]:
    return list(cache.glob("*.jsa"))


def test_the_second_small_job_is_to_make_it() -> None:
    assert class_archive(record=True) is None
    found = class_archive(record=True)
    assert found is not None
    assert found.made is not None
    assert found.made.parent.is_dir()
    assert f"ArchiveClassesAtExit={found.made}" in found.java_options


def test_other_jobs_make_none() -> None:
    assert [class_archive(record=False) for _ in range(3)] == [None] * 3


def made() -> Path:
    """An archive where the first job after it looks."""
    class_archive(record=True)
    found = class_archive(record=True)
    assert found is not None
    found.path.touch()
    return found.path


def test_all_jobs_start_from_it() -> None:
    path = made()
    for record in (False, True):
        found = class_archive(record=record)
        assert found is not None
        assert (found.path, found.made) == (path, None)
        assert f"SharedArchiveFile={path}" in found.java_options


def test_it_is_not_used_where_others_could_write() -> None:
    made().chmod(0o666)
    assert class_archive(record=True) is None


def test_each_home_of_spark_has_its_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The class path is made of it, with another one than its own the JVM passes over an archive."""
    path = made()
    home = tmp_path / "spark"
    home.mkdir()
    (home / "jars").symlink_to(jar.jars())
    monkeypatch.setenv("SPARK_HOME", str(home))
    assert class_archive(record=True) is None
    other = class_archive(record=True)
    assert other is not None
    assert other.path != path


@pytest.mark.parametrize("name", ["SPARK_CONF_DIR", "HADOOP_CONF_DIR", "CLASSPATH"])
def test_there_is_none_with_folders_on_the_class_path(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    made()
    monkeypatch.setenv(name, "/somewhere")
    assert class_archive(record=True) is None


def test_what_killed_jobs_left_is_removed_and_so_are_the_oldest_archives(cache: Path) -> None:
    class_archive(record=True)
    unfinished = class_archive(record=True)
    assert unfinished is not None
    assert unfinished.made is not None
    os.utime(unfinished.made.parent, (0, 0))
    for age in range(5):
        old = cache / f"spark-classes-{age}.jsa"
        old.touch()
        os.utime(old, (1000 - age, 1000 - age))
    class_archive(record=False)
    assert not unfinished.made.parent.exists()
    assert sorted(p.stem[-1] for p in archives(cache)) == ["0", "1", "2"]


def test_a_place_that_cannot_be_written_to_is_no_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("FLINKPLAN_CACHE", str(tmp_path / "file"))
    assert class_archive(record=True) is None


@pytest.mark.spark
@pytest.mark.nightly("three processes start, and one writes an archive of 150 MB, which takes half a minute")
@pytest.mark.skipif(sys.platform != "linux", reason="what a process has mapped is told by Linux only")
def test_spark_starts_from_the_archive_of_the_second_job(cache: Path) -> None:
    def start() -> str:
        return subprocess.run(
            [sys.executable, "-c", STARTING], check=True, capture_output=True, text=True, timeout=300
        ).stdout.strip()

    assert [(start(), len(archives(cache))) for _ in range(3)] == [("False", 0), ("False", 1), ("True", 1)]
    assert not list(cache.glob("unfinished*"))
