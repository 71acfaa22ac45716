"""``flinkplan move``: what it refuses before Spark starts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from flinkplan.cli.main import run
from flinkplan.plan.document import dumps
from flinkplan.plan.nodes import TableSourceScan
from flinkplan.planner import compile_script
from flinkplan.state.form import JobState, Manifest, OperatorState, SourcePosition, StateTable
from flinkplan.state.form_folder import write_folder

SCRIPT = """
CREATE TABLE a (k INT) WITH ('connector' = 'datagen');
CREATE TABLE b (k INT) WITH ('connector' = 'datagen');
CREATE TABLE o (k INT) WITH ('connector' = 'blackhole');
INSERT INTO o SELECT k FROM a UNION ALL SELECT k FROM b;
"""


class Sources(JobState):
    """The state of a job whose sources keep what nobody can read."""

    def __init__(self, *uids: str) -> None:
        self._uids = uids

    @property
    def manifest(self) -> Manifest:
        operators = tuple(OperatorState((), uid=uid) for uid in self._uids)
        positions = tuple(SourcePosition(uid, is_known=False) for uid in self._uids)
        return Manifest("flink", operators, positions=positions)

    def batches(self, table: StateTable) -> Iterator[Any]:
        return iter(())


@pytest.fixture
def job(tmp_path: Path) -> Path:
    """A folder with the plan and the state of a job."""
    plan = compile_script(SCRIPT)
    (tmp_path / "plan.json").write_text(dumps(plan))
    scans = [node.id for node in plan.nodes if isinstance(node, TableSourceScan)]
    write_folder(Sources(*(f"{number}_source" for number in scans)), tmp_path / "state")
    return tmp_path


def move(job: Path, *options: str) -> int:
    places = [str(job / "state"), str(job / "plan.json"), "--to", "spark", "-o", str(job / "checkpoint")]
    return run(["move", *places, *options])


def test_all_that_cannot_be_moved_is_listed_and_nothing_is_written(
    job: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert move(job) == 1
    text = capsys.readouterr().err
    for name in "ab":
        assert f"table {name} (node " in text
        assert f"--restart-source {name} has it start where the options of its table say" in text
    assert not (job / "checkpoint").exists()


def test_a_table_to_restart_must_be_one_of_the_plan(job: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert move(job, "--restart-source", "a", "--restart-source", "c") == 1
    text = capsys.readouterr().err
    assert "the plan reads no table 'c'" in text
    assert "it reads a, b" in text
    assert "--restart-source a has it" not in text


def test_what_is_there_is_not_replaced(job: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (job / "checkpoint").mkdir()
    assert move(job) == 3
    assert "there is something already" in capsys.readouterr().err


def test_an_option_that_the_plan_fixes_is_refused(job: Path) -> None:
    assert move(job, "--set", "table.exec.mini-batch.size=3") == 2


@pytest.mark.parametrize("option", [("--partitions", "2"), ("--tables", "x.sql"), ("-n",)])
def test_options_of_the_other_direction_are_refused(
    job: Path, option: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    places = [str(job / "state"), str(job / "plan.json"), "--to", "flink", "-o", str(job / "savepoint")]
    assert run(["move", *places, *option]) == 2
    assert "is for --to spark alone" in capsys.readouterr().err
