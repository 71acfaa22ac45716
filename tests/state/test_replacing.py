"""Folders take the place of others at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from flinkplan.state import replacing
from flinkplan.state.replacing import exchange, free_backup


@pytest.mark.parametrize("at_once", [True, False])
def test_folders_change_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at_once: bool) -> None:
    if not at_once:
        monkeypatch.setattr(replacing, "_exchanged", lambda one, other: False)
    one, other = tmp_path / "one", tmp_path / "other"
    for folder in (one, other):
        folder.mkdir()
        (folder / folder.name).touch()
    exchange(one, other)
    assert [p.name for p in one.iterdir()] == ["other"]
    assert [p.name for p in other.iterdir()] == ["one"]
    assert {p.name for p in tmp_path.iterdir()} == {"one", "other"}


def test_a_backup_has_a_name_of_its_own(tmp_path: Path) -> None:
    assert free_backup(tmp_path / "c").name == "c.backup-1"
    (tmp_path / "c.backup-1").mkdir()
    assert free_backup(tmp_path / "c").name == "c.backup-2"


def _folder(path: Path, text: str) -> Path:
    path.mkdir()
    (path / "content").write_text(text)
    return path


def _contents(folder: Path) -> dict[str, list[str]]:
    return {
        each.name: sorted(file.name + " " + file.read_text() for file in each.iterdir()) for each in folder.iterdir()
    }


def test_a_folder_is_replaced_and_kept(tmp_path: Path) -> None:
    folder = _folder(tmp_path / "c", "old")
    with replacing.replacing(folder, free_backup(folder)) as work:
        (work / "content").write_text("new")
        assert _contents(tmp_path)["c"] == ["content old"]
    assert _contents(tmp_path) == {"c": ["content new"], "c.backup-1": ["content old"]}


def test_what_a_kill_leaves_is_no_backup(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = _folder(tmp_path / "c", "old")

    def killed(one: Path, other: Path) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(replacing, "exchange", killed)
        with pytest.raises(KeyboardInterrupt), replacing.replacing(folder, free_backup(folder)) as work:
            (work / "content").write_text("new")
    assert _contents(tmp_path)["c"] == ["content old"]
    with replacing.replacing(folder, free_backup(folder)) as work:
        (work / "content").write_text("newer")
    assert _contents(tmp_path) == {"c": ["content newer"], "c.backup-1": ["content old"]}
