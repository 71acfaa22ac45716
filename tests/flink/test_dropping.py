"""Entries removed from a savepoint."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from flinkplan.flink.savepoint import read_savepoint
from tests.cli.support import flinkplan
from tests.flink.state_text import actual
from tests.flink.test_writing import AGGREGATE

pytestmark = pytest.mark.flink


def _entries(savepoint: Path) -> dict[str, list[str]]:
    """The entries of each state, by the operator's UID and the state's name."""
    with read_savepoint(savepoint) as state:
        uids = {operator.hash: operator.uid for operator in state.manifest.operators}
        return {f"{uids[hash_]} {name}": entries for (hash_, name), entries in actual(state).items()}


def test_a_key_is_removed_in_place(tmp_path: Path) -> None:
    savepoint = tmp_path / "savepoint-1"
    shutil.copytree(AGGREGATE, savepoint)
    before = _entries(savepoint)
    outcome = flinkplan("state", "drop", str(savepoint), "--operator", "group-aggregate", "--key", "2", "--yes")
    assert (outcome.code, outcome.err) == (
        0,
        f"removed 1 entry: wrote {savepoint}\nthe old state is {savepoint}.backup-1\n",
    )
    assert outcome.out.split()[-3:] == ["4_group-aggregate", "accState", "1"]
    state = "4_group-aggregate accState"
    assert _entries(savepoint) == {**before, state: [e for e in before[state] if "[2]" not in e]}
    assert _entries(tmp_path / "savepoint-1.backup-1") == before
    assert {p.name for p in tmp_path.iterdir()} == {"savepoint-1", "savepoint-1.backup-1"}


def test_an_operator_is_left_out_of_another_savepoint(tmp_path: Path) -> None:
    before = _entries(AGGREGATE)
    outcome = flinkplan(
        "state", "drop", str(AGGREGATE), "--operator", "1_source", "--yes", "-o", str(tmp_path / "less")
    )
    assert (outcome.code, "backup" in outcome.err) == (0, False)
    assert _entries(tmp_path / "less") == {n: e for n, e in before.items() if not n.startswith("1_source")}
    assert _entries(AGGREGATE) == before


def test_what_cannot_be_removed_is_refused(tmp_path: Path) -> None:
    retained = tmp_path / "chk-7"
    shutil.copytree(AGGREGATE, retained)
    outcome = flinkplan("state", "drop", str(retained), "--operator", "*", "--yes")
    assert (outcome.code, "add --output DIR" in outcome.err) == (2, True)
    assert flinkplan("state", "drop", str(retained), "--operator", "*", "-o", str(tmp_path), "--yes").code == 3
    assert [p.name for p in tmp_path.iterdir()] == ["chk-7"]
