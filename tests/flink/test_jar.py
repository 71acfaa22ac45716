"""The jar that reads and writes savepoints."""

from __future__ import annotations

import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest

from flinkplan.flink import jar
from flinkplan.jars import JarError
from flinkplan.state.form import StateError


@pytest.fixture
def built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The jars that have been made, in place of a compiler, in a cache of the test's own."""
    jars: list[Path] = []

    def build(path: Path, sources: jar.Sources, flink: Sequence[Path]) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("a.class", b"")
        jars.append(path)

    monkeypatch.setenv("FLINKPLAN_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(jar, "_build", build)
    return jars


def test_is_made_once_for_each_flink(built: list[Path]) -> None:
    one = jar.savepoint_jar([Path("flink-dist-2.3.0.jar")])
    assert jar.savepoint_jar([Path("flink-dist-2.3.0.jar")]) == one
    other = jar.savepoint_jar([Path("flink-dist-2.2.0.jar")])
    assert built == [one, other]


def test_is_made_again_where_it_is_damaged(built: list[Path]) -> None:
    path = jar.savepoint_jar([])
    path.write_bytes(b"half a jar")
    assert zipfile.is_zipfile(jar.savepoint_jar([]))


def test_is_not_run_where_others_can_write(built: list[Path]) -> None:
    jar.savepoint_jar([]).chmod(0o666)
    with pytest.raises(JarError, match="others may have put something into"):
        jar.savepoint_jar([])


def test_says_that_there_is_no_compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLINKPLAN_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(StateError, match="there is no javac"):
        jar.savepoint_jar([])
