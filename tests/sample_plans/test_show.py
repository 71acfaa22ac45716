"""What `show.py` prints of a job's output."""

import subprocess
import sys
from pathlib import Path

SHOW = Path(__file__).parents[2] / "sample_plans" / "show.py"


def show(output: Path, *options: str) -> list[str]:
    command = [sys.executable, str(SHOW), str(output), *options]
    done = subprocess.run(command, check=True, capture_output=True, text=True, encoding="utf-8")
    return [line.rstrip() for line in done.stdout.splitlines()]


def write(folder: Path, *lines: str) -> None:
    folder.mkdir()
    (folder / "part-0").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def cells(printed: list[str]) -> list[list[str]]:
    return [[cell.strip() for cell in line.strip("│").split("│")] for line in printed if line.startswith("│")]


def test_rows_are_sorted_with_nulls_first_and_cut(tmp_path: Path) -> None:
    write(tmp_path / "sink", '{"n":10,"s":"a"}', '{"n":null,"s":"b"}', '{"n":9,"s":null}')
    printed = show(tmp_path, "--limit", "2")
    assert printed[0] == "sink: 3 rows, of which the first 2"
    assert cells(printed) == [["", "b"], ["9", ""]]


def test_a_changelog_shows_the_rows_it_leaves(tmp_path: Path) -> None:
    write(
        tmp_path / "sink",
        '{"before":null,"after":{"k":"a","n":1},"op":"c"}',
        '{"before":{"k":"a","n":1},"after":null,"op":"d"}',
        '{"before":null,"after":{"k":"a","n":2},"op":"c"}',
        '{"before":null,"after":{"k":"b","n":1},"op":"c"}',
    )
    printed = show(tmp_path)
    assert printed[0] == "sink: 4 changes leave 2 rows"
    assert cells(printed) == [["a", "2"], ["b", "1"]]


def test_csv_columns_are_numbered(tmp_path: Path) -> None:
    write(tmp_path / "sink", 'EWR,"2013-01-01 05:00:00",2')
    assert cells(show(tmp_path)) == [["EWR", "2013-01-01 05:00:00", "2"]]


def test_temporary_files_are_left_out(tmp_path: Path) -> None:
    write(tmp_path / "sink", '{"n":1}')
    (tmp_path / "sink" / "_metadata").write_text("{}\n", encoding="utf-8")
    assert cells(show(tmp_path)) == [["1"]]


def test_an_empty_sink_says_so(tmp_path: Path) -> None:
    write(tmp_path / "sink")
    assert show(tmp_path) == ["sink: 0 rows"]
