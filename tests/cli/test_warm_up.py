"""``execute --warm-up`` as far as it needs no Spark: which files are read, and in which format."""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest

from flinkplan.cli.warm_up import warm_up_of
from flinkplan.planner import compile_script

_PLAN = compile_script(
    "CREATE TABLE a (k INT) WITH ('connector' = 'kafka', 'topic' = 'a', 'properties.bootstrap.servers' = 'k:9092', "
    "'value.format' = 'json', 'value.json.ignore-parse-errors' = 'true');"
    "CREATE TABLE o (k INT) WITH ('connector' = 'print'); INSERT INTO o SELECT k FROM a;"
)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "old").mkdir()
    monkeypatch.chdir(tmp_path)


def options(files: str) -> dict[str, str]:
    """The options of the table over files."""
    warm_up = warm_up_of(_PLAN, [("a", files)], False, "checkpoint")
    assert warm_up is not None
    return dict(warm_up.tables["a"])


def test_a_directory_has_the_format_of_the_table(tmp_path: Path) -> None:
    assert options("old") == {
        "connector": "filesystem",
        "path": str(tmp_path / "old"),
        "format": "json",
        "json.ignore-parse-errors": "true",
    }


def test_an_ending_says_another_format() -> None:
    assert options("old/*.parquet")["format"] == "parquet"


@pytest.mark.parametrize(
    ("pattern", "matches", "others"),
    [
        ("old/*.json", ["old/1.json"], ["old/1.csv", "old/x/1.json"]),
        ("old/**/2020-0[1-3]-??.json", ["old/a/b/2020-02-11.json"], ["old/a/2020-04-11.json"]),
        ("old/[!a]+.json", ["old/b+.json"], ["old/a+.json", "old/bb.json"]),
    ],
)
def test_a_pattern_is_one_of_paths(pattern: str, matches: list[str], others: list[str], tmp_path: Path) -> None:
    found = options(pattern)
    assert found["path"] == str(tmp_path / "old")
    expression = re.compile(found["source.path.regex-pattern"])
    assert all(expression.fullmatch(str(tmp_path / name)) for name in matches)
    assert not any(expression.fullmatch(str(tmp_path / name)) for name in others)


def test_history_needs_files_and_a_checkpoint() -> None:
    with pytest.raises(click.UsageError, match="there is no file or directory gone"):
        options("gone")
    with pytest.raises(click.UsageError, match="--warm-up needs --checkpoint"):
        warm_up_of(_PLAN, [("a", "old")], False, None)
    with pytest.raises(click.UsageError, match="--emit is for --warm-up"):
        warm_up_of(_PLAN, [], True, "checkpoint")
