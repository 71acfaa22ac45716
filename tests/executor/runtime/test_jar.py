"""The Java half comes from the wheel, from the cache, or from the compiler."""

from __future__ import annotations

import importlib.util
import os
import zipfile
import zipimport
from collections.abc import Callable
from pathlib import Path

import pytest

from flinkplan.executor.runtime import jar


@pytest.fixture(autouse=True)
def sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of sources of our own, and a cache."""
    folder = tmp_path / "runtime" / "src"
    folder.mkdir(parents=True)
    (folder / "Something.java").write_text("class Something {}", "utf-8")
    monkeypatch.setattr(jar, "SOURCES", folder)
    monkeypatch.setattr(jar, "_name_of", jar._name_of.__wrapped__)  # sources change while these tests run
    monkeypatch.setenv("FLINKPLAN_CACHE", str(tmp_path / "cache"))
    return folder


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The jars that have been built, without a compiler."""
    made: list[Path] = []

    def build(path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("Something.class", "")
        made.append(path)

    monkeypatch.setattr(jar, "build", build)
    return made


def test_is_built_once(tmp_path: Path, built: list[Path]) -> None:
    first = jar.runtime_jar()
    assert first.parent == tmp_path / "cache/flinkplan"
    assert jar.runtime_jar() == first
    assert built == [first]


def test_is_built_anew_when_the_sources_change(sources: Path, built: list[Path]) -> None:
    first = jar.runtime_jar()
    (sources / "Something.java").write_text("final class Something {}", "utf-8")
    assert jar.runtime_jar() != first
    assert len(built) == 2


def test_is_the_shipped_one_where_there_is_one(sources: Path, built: list[Path]) -> None:
    shipped = jar.ship()
    assert jar.runtime_jar() == shipped
    assert shipped.parent == sources.parent
    assert built == [shipped]


def test_a_shipped_one_of_other_sources_is_not_taken(sources: Path, built: list[Path]) -> None:
    shipped = jar.ship()
    (sources / "Something.java").write_text("final class Something {}", "utf-8")
    assert jar.runtime_jar() != shipped


def test_says_that_there_is_no_compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(jar.RuntimeJarError, match="no Java compiler") as raised:
        jar.runtime_jar()
    assert "install a JDK" in (raised.value.hint or "")


@pytest.mark.programs
def test_says_that_the_compiler_is_too_old(sources: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old = tmp_path / "jdk" / "bin" / "javac"
    old.parent.mkdir(parents=True)
    old.write_text("#!/bin/sh\n[ $1 = -version ] && echo 'javac 1.8.0_292' >&2; exit 2\n")
    old.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(old.parent.parent))
    with pytest.raises(jar.RuntimeJarError, match="javac is of Java 8, which is too old") as raised:
        jar.runtime_jar()
    assert "dnf install java-17-openjdk-devel (Fedora)" in (raised.value.hint or "")


@pytest.mark.programs
def test_says_what_does_not_compile(sources: Path) -> None:
    (sources / "Something.java").write_text("class Something { nonsense }", "utf-8")
    with pytest.raises(jar.RuntimeJarError, match="do not compile"):
        jar.runtime_jar()


@pytest.mark.parametrize("content", [b"", b"no archive", b"PK\x05\x06"])
def test_a_broken_one_is_built_anew(built: list[Path], content: bytes) -> None:
    jar.runtime_jar().write_bytes(content)
    assert zipfile.is_zipfile(jar.runtime_jar())
    assert len(built) == 2


@pytest.mark.parametrize("of", ["jar", "folder"])
def test_one_that_others_may_have_made_is_not_run(built: list[Path], of: str) -> None:
    path = jar.runtime_jar()
    (path if of == "jar" else path.parent).chmod(0o777)
    with pytest.raises(jar.RuntimeJarError, match="others may have put something into") as raised:
        jar.runtime_jar()
    assert "FLINKPLAN_CACHE" in (raised.value.hint or "")


def test_one_of_another_user_is_not_run(built: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    jar.runtime_jar()
    monkeypatch.setattr(os, "getuid", lambda: 4711)
    monkeypatch.setattr(Path, "stat", _of_4712(Path.stat))
    with pytest.raises(jar.RuntimeJarError, match="others may have put something into"):
        jar.runtime_jar()


def _of_4712(stat: Callable[..., os.stat_result]) -> Callable[..., os.stat_result]:
    def owned(path: Path, **options: bool) -> os.stat_result:
        found = list(stat(path, **options))
        found[4] = 4712
        return os.stat_result(found)

    return owned


def test_says_that_the_cache_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("FLINKPLAN_CACHE", str(tmp_path / "file"))
    with pytest.raises(jar.RuntimeJarError, match=r"nothing can be written into .*/file/flinkplan") as raised:
        jar.runtime_jar()
    assert "FLINKPLAN_CACHE" in (raised.value.hint or "")


def test_is_the_same_below_spark_submit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """PySpark is imported from an archive there, the jars are those of the distribution, as wherever it is named."""
    spec = importlib.util.find_spec("pyspark")
    assert spec is not None and spec.origin is not None
    name = jar._name()
    archive = tmp_path / "pyspark.zip"
    with zipfile.ZipFile(archive, "w") as zipped:
        for file in ("__init__.py", "version.py"):
            zipped.write(Path(spec.origin).with_name(file), f"pyspark/{file}")
    inside = zipimport.zipimporter(str(archive)).find_spec("pyspark")
    monkeypatch.setenv("SPARK_HOME", "/opt/spark")
    assert jar.jars() == Path("/opt/spark/jars")
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: inside)
    assert jar._name() == name
    assert jar.jars() == Path("/opt/spark/jars")
