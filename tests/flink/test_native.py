"""Checkpoints and savepoints in the forms of Flink's own state backends, which also restore what is written here."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from flinkplan.flink.home import flink_jars
from flinkplan.flink.jar import program
from flinkplan.flink.savepoint import read_savepoint, read_savepoints
from flinkplan.flink.writing import write_savepoint
from tests.flink.state_text import actual, expected

HERE = Path(__file__).parent
SAVEPOINTS = HERE / "savepoints"
NAMES = (
    "rank-test-retract-strategy",
    "window-join-left-tumble-event-time",
    "three-way-inner-join-with-ttl-hints-with-restore",
    "group-window-aggregate-session-event-time",
    "temporal-sort-rowtime",
    "expand",
)
BACKENDS = {"heap": 1, "compressed": 3, "rocksdb": 2}
"""The backends, and the parallelism of each."""
WRITTEN_HERE = "window-join-left-tumble-event-time"

pytestmark = pytest.mark.flink


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of what the backends have written, by one JVM."""
    folder = tmp_path_factory.mktemp("native")
    path = os.pathsep.join(map(str, flink_jars()))
    classes = folder / "classes"
    source = HERE / "java" / "NativeSavepoint.java"
    subprocess.run([program("javac"), "-nowarn", "-cp", path, "-d", str(classes), str(source)], check=True)
    with read_savepoint(SAVEPOINTS / WRITTEN_HERE) as savepoint:
        write_savepoint(savepoint, folder / "here")
    work = [(SAVEPOINTS / name, folder / f"{backend}-{name}", backend) for backend in BACKENDS for name in NAMES]
    work += [(folder / "here", folder / f"{backend}-here", backend) for backend in BACKENDS]
    arguments = [str(part) for source, target, backend in work for part in (source, target, backend, BACKENDS[backend])]
    command = [program("java"), "-XX:+UseSerialGC", f"-Djava.io.tmpdir={folder}"]
    subprocess.run([*command, "-cp", os.pathsep.join((str(classes), path)), "NativeSavepoint", *arguments], check=True)
    return folder


@pytest.fixture(scope="module")
def entries(folder: Path) -> Mapping[str, object]:
    """All entries of what the backends have written, by the name of the folder."""
    names = [f"{backend}-{name}" for backend in BACKENDS for name in (*NAMES, "here")]
    found = {}
    for name, savepoint in zip(names, read_savepoints([folder / name for name in names]), strict=True):
        with savepoint:
            found[name] = actual(savepoint)
    return found


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("backend", BACKENDS)
def test_every_entry_is_decoded(entries: Mapping[str, object], backend: str, name: str) -> None:
    assert entries[f"{backend}-{name}"] == expected(SAVEPOINTS / name / "state.txt")


@pytest.mark.parametrize("backend", BACKENDS)
def test_backends_restore_what_is_written_here(entries: Mapping[str, object], backend: str) -> None:
    assert entries[f"{backend}-here"] == expected(SAVEPOINTS / WRITTEN_HERE / "state.txt")
