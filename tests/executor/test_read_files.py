"""Which files count as read before, and can be read again."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from flinkplan.executor.checkpoints.history import NoHistoryError, ReadFiles, read_in_flink
from flinkplan.executor.checkpoints.positions import FilePart, Files, Restarted
from flinkplan.planner import compile_script


def test_files_that_were_read_are_known(tmp_path: Path) -> None:
    new = tmp_path / "new.json"
    new.write_text("{}\n" * 10)
    parts = (FilePart("file:/in/a", is_done=True), FilePart(f"file:{new}", from_=0, to=31))
    assert read_in_flink(Files(parts, is_closed=False, is_columnar=False), 1) == ["file:/in/a"]


@pytest.mark.parametrize(
    "part",
    [{"skipped": 3}, {"from_": 10}, {"from_": 0, "to": 9}],
    ids=["begun", "the end is left", "the beginning is left"],
)
def test_a_file_that_was_read_in_part_is_refused(part: dict[str, int], tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    file.write_text("{}\n" * 10)
    with pytest.raises(NoHistoryError, match="has been read in part"):
        read_in_flink(Files((FilePart(f"file:{file}", **part),), is_closed=False, is_columnar=False), 1)  # type: ignore[arg-type]


def test_what_is_not_kept_is_refused() -> None:
    for start in (Files((), is_closed=True, is_columnar=False), Restarted()):
        with pytest.raises(NoHistoryError, match="keeps what it has read only of tables"):
            read_in_flink(start, 1)


def test_tables_have_just_the_files_that_were_read(tmp_path: Path) -> None:
    root = tmp_path / "in"
    for name in ("d=1/a.json", "d=2/b.json", "d=2/c.json"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(name)
    plan = compile_script(
        f"CREATE TABLE t (k INT, d INT) PARTITIONED BY (d) WITH ('connector' = 'filesystem', 'path' = 'file://{root}', "
        "'format' = 'json', 'source.monitor-interval' = '1 s');"
        "CREATE TABLE o (k INT) WITH ('connector' = 'print'); INSERT INTO o SELECT k FROM t;"
    )
    read = [f"file:{root}/d=1/a.json", f"{root}/d=2/c.json"]
    ((scan, options),) = ReadFiles({1: read}).tables(plan, {}, tmp_path / "again")
    assert (scan, options["format"], "source.monitor-interval" in options) == (1, "json", False)
    found = sorted(Path(options["path"]).rglob("*.json"))
    assert [file.read_text() for file in found] == ["d=1/a.json", "d=2/c.json"]
    with pytest.raises(NoHistoryError, match="the order of rows matters, and they are in 2 files"):
        list(ReadFiles({1: read}, ordered=(frozenset({1}),)).tables(plan, {}, tmp_path / "ordered"))
    os.utime(root / "d=2/c.json", (2_000_000_000, 2_000_000_000))
    with pytest.raises(NoHistoryError, match="it has changed since the state was written"):
        list(ReadFiles({1: read}, as_of=1_900_000_000_000).tables(plan, {}, tmp_path / "changed"))
    (root / "d=1/a.json").unlink()
    with pytest.raises(NoHistoryError, match="it is not there any more"):
        list(ReadFiles({1: read}).tables(plan, {}, tmp_path / "gone"))
