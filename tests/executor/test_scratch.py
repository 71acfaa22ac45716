"""The folder of temporary files, and those of processes that were killed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from flinkplan.executor import scratch
from flinkplan.executor.scratch import Scratch, remove_abandoned, remove_scratch, temporary_folder

_OWNER = """
from flinkplan.executor.scratch import scratch
print(scratch().folder, flush=True)
input()
"""


@pytest.fixture
def parent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where temporary files are while a test runs, which the JVM of other tests has nothing to do with."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr(scratch, "is_running", lambda: False)
    monkeypatch.setattr(scratch, "_current", None)
    yield tmp_path
    remove_scratch()


def test_a_folder_is_removed_when_its_owner_was_killed(parent: Path) -> None:
    owner = [sys.executable, "-c", _OWNER]
    environment = {"TMPDIR": str(parent), "PYTHONPATH": ":".join(sys.path)}
    with subprocess.Popen(owner, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout is not None
        folder = Path(process.stdout.readline().strip())
        (folder / "file").touch()
        remove_abandoned(parent)
        assert (folder / "file").exists()
        process.kill()
    remove_abandoned(parent)
    assert list(parent.iterdir()) == []


def test_a_folder_stays_as_long_as_a_process_has_inherited_it(parent: Path) -> None:
    own = Scratch()
    assert own.lock is not None
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE, pass_fds=[own.lock]) as heir:
        os.close(own.lock)
        remove_abandoned(parent)
        assert own.folder.exists()
        assert heir.stdin is not None
        heir.stdin.close()
    remove_abandoned(parent)
    assert not own.folder.exists()


def test_folders_of_others_stay(parent: Path) -> None:
    (parent / "elsewhere").mkdir()
    (parent / "flinkplan-of-mine").mkdir()
    (parent / "flinkplan-link").symlink_to(parent / "elsewhere")
    (parent / "elsewhere" / ".owned").touch()
    remove_abandoned(parent)
    assert {path.name for path in parent.iterdir()} == {"elsewhere", "flinkplan-of-mine", "flinkplan-link"}
    assert (parent / "elsewhere" / ".owned").exists()


def test_a_process_has_one_folder_until_its_jvm_takes_it_along(parent: Path) -> None:
    first, second = temporary_folder("a-"), temporary_folder("b-")
    assert first.parent == second.parent
    shutil.rmtree(first.parent)
    assert temporary_folder("c-").parent.exists()
    remove_scratch()
    assert list(parent.iterdir()) == []
