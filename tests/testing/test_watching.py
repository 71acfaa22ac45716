"""Files whose change runs tests again."""

from __future__ import annotations

from pathlib import Path

from flinkplan.testing.watching import snapshot, wait_for_change, watched_folders

SUITE = "version: 1\npipeline: ../sql/p.sql\ntests:\n- {name: a, given: {t: {file: ../rows/t.csv}}, expect: {s: []}}\n"


def test_the_folders_of_tests_pipelines_and_rows_are_watched(tmp_path: Path) -> None:
    for folder in ("tests", "sql", "rows"):
        (tmp_path / folder).mkdir()
    (tmp_path / "tests/a.test.yaml").write_text(SUITE)
    (tmp_path / "tests/faulty.test.yaml").write_text("tests: [")
    folders = watched_folders([tmp_path / "tests/a.test.yaml", tmp_path / "tests/faulty.test.yaml"])
    assert {folder.resolve() for folder in folders} == {tmp_path / "tests", tmp_path / "sql", tmp_path / "rows"}


def test_changed_new_and_removed_files_are_told(tmp_path: Path) -> None:
    for name in ("same", "changed", "removed"):
        (tmp_path / name).write_text("a")
    before = snapshot([tmp_path])
    (tmp_path / "changed").write_text("ab")
    (tmp_path / "removed").unlink()
    (tmp_path / "new").write_text("a")
    assert {file.name for file in wait_for_change([tmp_path], before)} == {"changed", "removed", "new"}
