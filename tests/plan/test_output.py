"""Files that users name: devices, pipes, links, modes."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path
from threading import Thread

import pytest

from flinkplan.plan.errors import PlanError
from flinkplan.plan.output import replaces, write_text


def test_a_new_file_has_the_mode_of_new_files(tmp_path: Path) -> None:
    file = tmp_path / "a" / "b"
    assert not replaces(file)
    write_text(file, "ä")
    assert file.read_bytes() == "ä".encode()
    other = tmp_path / "other"
    other.touch()
    assert file.stat().st_mode == other.stat().st_mode
    assert [path.name for path in file.parent.iterdir()] == ["b"]


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o755])
def test_a_file_keeps_its_mode(mode: int, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    file.chmod(mode)
    assert replaces(file)
    write_text(file, "new")
    assert (file.read_text(), stat.S_IMODE(file.stat().st_mode)) == ("new", mode)


@pytest.mark.skipif(os.name != "posix" or os.getuid() != 0, reason="only root gives files away")
def test_a_file_keeps_its_owner(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    os.chown(file, 12345, 23456)
    write_text(file, "new")
    assert (file.stat().st_uid, file.stat().st_gid) == (12345, 23456)


def test_links_stay_links(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    first, second, file = tmp_path / "first", tmp_path / "second", tmp_path / "folder" / "file"
    first.symlink_to("second")
    second.symlink_to("folder/file")
    write_text(first, "1")
    assert replaces(first)
    write_text(first, "2")
    assert first.is_symlink()
    assert second.is_symlink()
    assert file.read_text() == "2"


def test_a_circle_of_links(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(PlanError):
        write_text(tmp_path / "a", "x")


def test_a_pipe_is_written_into(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    assert not replaces(pipe)
    read: list[str] = []
    reader = Thread(target=lambda: read.append(pipe.read_text()))
    reader.start()
    write_text(pipe, "text")
    reader.join()
    assert read == ["text"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_a_device_stays_a_device() -> None:
    before = Path("/dev/null").stat()
    assert not replaces("/dev/null")
    write_text("/dev/null", "text")
    after = Path("/dev/null").stat()
    assert (after.st_ino, after.st_mode) == (before.st_ino, before.st_mode)


@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
def test_a_descriptor_is_written_to_where_it_stands(name: str, tmp_path: Path) -> None:
    """As by ``> file``: what has been written to it before stays, and the file is the same."""
    code = (
        "from flinkplan.plan.output import replaces, write_text; print('first'); "
        f"assert not replaces({name!r}); write_text({name!r}, 'second\\n')"
    )
    out = tmp_path / "out"
    with out.open("w") as file:
        subprocess.run([sys.executable, "-c", code], stdout=file, check=True)
        assert os.fstat(file.fileno()).st_nlink == 1
    assert out.read_text() == "first\nsecond\n"


def test_nothing_half_written_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "file"
    file.write_text("before")

    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(PlanError, match="No space left"):
        write_text(file, "after")
    assert file.read_text() == "before"
    assert list(tmp_path.iterdir()) == [file]


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(PlanError, match=r"[Dd]irectory"):
        write_text(tmp_path, "x")
