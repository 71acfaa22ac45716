"""What commands write to the files that are named: all of them alike."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from tests.cli.support import flinkplan
from tests.parity.corpus import HERE

CASE = HERE / "cases/ttl-one-hour-join-aggregate-dedup-topn-pipeline"
WRITING = [
    ("compile", "pipeline.sql"),
    ("explain", "plan.json"),
    ("explain", "plan.json", "--format", "json"),
    ("explain", "plan.json", "--format", "html"),
    ("diff", "plan.json", "plan.json"),
    ("diff", "plan.json", "plan.json", "--format", "html"),
    ("upgrade", "plan.json"),
]
IN_PLACE = [("ttl", "--all", "3 h", "-i"), ("upgrade", "-i")]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with a plan and its pipeline."""
    monkeypatch.chdir(tmp_path)
    for name in ("plan.json", "pipeline.sql"):
        (tmp_path / name).write_text((CASE / name).read_text("utf-8"), "utf-8")
    return tmp_path


@pytest.mark.parametrize("command", WRITING, ids=" ".join)
def test_a_file_that_exists_is_replaced_by_force_only(command: tuple[str, ...], folder: Path) -> None:
    (folder / "file").write_text("kept")
    (folder / "link").symlink_to("file")
    refused = flinkplan(*command, "-o", "link")
    assert (refused.code, refused.err.splitlines()[0]) == (3, "error: the file exists already")
    assert (folder / "file").read_text() == "kept"
    assert flinkplan(*command, "-o", "link", "--force").code == 0
    assert (folder / "link").is_symlink()
    assert (folder / "file").read_text() not in ("kept", "")


@pytest.mark.parametrize("command", WRITING, ids=" ".join)
def test_what_is_no_file_stays_what_it_is(command: tuple[str, ...]) -> None:
    assert flinkplan(*command, "-o", "/dev/null").code == 0
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)


@pytest.mark.parametrize("command", WRITING, ids=" ".join)
def test_a_dash_is_standard_output(command: tuple[str, ...], folder: Path) -> None:
    outcome = flinkplan(*command, "-o", "-")
    assert (outcome.code, outcome.out != "") == (0, True)
    assert not (folder / "-").exists()


@pytest.mark.parametrize("command", IN_PLACE, ids=" ".join)
def test_what_is_written_anew_keeps_its_place_and_mode(command: tuple[str, ...], folder: Path) -> None:
    (folder / "plan.json").chmod(0o640)
    (folder / "link.json").symlink_to("plan.json")
    name, *options = command
    assert flinkplan(name, "link.json", *options).code == 0
    assert (folder / "link.json").is_symlink()
    assert stat.S_IMODE((folder / "plan.json").stat().st_mode) == 0o640
