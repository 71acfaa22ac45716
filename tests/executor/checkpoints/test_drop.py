"""What becomes of a checkpoint that entries are removed from."""

from __future__ import annotations

import json
import shutil

import pytest

from flinkplan.executor.checkpoints.copies import copy_checkpoint
from flinkplan.executor.jobs.states import State, count, find_states
from flinkplan.executor.prepare.modes import Mode
from flinkplan.plan.document import Plan
from flinkplan.planner import compile_script
from flinkplan.state.checkpoint import CheckpointRecord
from flinkplan.state.keys import KeyValues
from tests.cli.support import flinkplan

from ..jobs import Place

pytestmark = pytest.mark.spark

SCRIPT = """
SET 'table.exec.state.ttl' = '1 d';
CREATE TABLE events (k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH (
  'connector' = 'filesystem', 'path' = '{root}/in', 'format' = 'json');
CREATE TABLE sums (k STRING, n BIGINT, d BIGINT) WITH (
  'connector' = 'filesystem', 'path' = '{root}/out/sums', 'format' = 'debezium-json');
CREATE TABLE minutes (k STRING, n BIGINT, d BIGINT) WITH (
  'connector' = 'filesystem', 'path' = '{root}/out/minutes', 'format' = 'json');
CREATE TABLE counts (k STRING, n BIGINT) WITH (
  'connector' = 'filesystem', 'path' = '{root}/out/counts', 'format' = 'json');
EXECUTE STATEMENT SET BEGIN
INSERT INTO sums SELECT k, COUNT(*), COUNT(DISTINCT v) FROM events GROUP BY k;
INSERT INTO minutes SELECT k, COUNT(*), COUNT(DISTINCT v)
  FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY k, window_start, window_end;
INSERT INTO counts SELECT k, COUNT(*)
  FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY k, window_start, window_end;
END;
"""
"""A group aggregate with a TTL, windows in a kernel with timers, and windows that Spark aggregates itself."""


def _plan(place: Place) -> Plan:
    return compile_script(SCRIPT.format(root=place.root))


def _put(place: Place, name: str, second: int) -> None:
    rows = [{"k": f"k{i % 3}", "v": i, "ts": f"2024-01-01 00:00:{second + i:02}"} for i in range(9)]
    place.put(name, *rows)


def _rows(place: Place, sink: str) -> list[tuple[object, ...]]:
    """The rows that a sink holds in the end."""
    held: list[tuple[object, ...]] = []
    for file in sorted((place.root / "out" / sink).iterdir()):
        for line in file.read_text().splitlines() if not file.name.startswith(".") else ():
            row = json.loads(line)
            if "op" in row:
                if row["op"] == "d":
                    held.remove(tuple(row["before"].values()))
                    continue
                row = row["after"]
            held.append(tuple(row.values()))
    return sorted(held)


def _counts(place: Place, *key: str) -> dict[tuple[str, str], int]:
    """How many entries each state has, of one key or in all."""
    states: list[State] = find_states(place.root / "checkpoint")
    return {(s.sink, s.name): count(place.spark, s, KeyValues(key) if key else None) for s in states}


def test_a_job_goes_on_without_the_entries_of_a_key(place: Place) -> None:
    plan, checkpoint = _plan(place), str(place.root / "checkpoint")
    _put(place, "1", 0)
    place.run(plan, Mode.AVAILABLE_NOW)
    before, removed = _counts(place), _counts(place, "k1")

    refused = flinkplan("state", "drop", checkpoint, "--operator", "*", "--key", "k1")
    assert (refused.code, "add --yes" in refused.err) == (2, True)
    assert flinkplan("state", "drop", checkpoint, "--operator", "*", "--key", "none", "--yes").code == 0
    assert {p.name for p in place.root.iterdir()} == {"in", "out", "checkpoint"}

    outcome = flinkplan("state", "drop", checkpoint, "--operator", "*", "--key", "k1", "--yes")
    assert (outcome.code, outcome.err) == (
        0,
        f"removed {sum(removed.values())} entries: wrote {checkpoint}\nthe old state is {checkpoint}.backup-1\n",
    )
    assert sum(int(line.split()[-1]) for line in outcome.out.splitlines()[1:]) == sum(removed.values())
    assert {sink for (sink, _), number in removed.items() if number} == {"sums", "minutes", "counts"}
    assert _counts(place) == {state: number - removed[state] for state, number in before.items()}
    assert not list(place.root.glob(".unfinished*"))

    shutil.rmtree(place.root / "out" / "sums")
    _put(place, "2", 20)
    place.run(plan, Mode.BOUNDED)
    assert _rows(place, "minutes") == [("k0", 6, 3), ("k1", 3, 3), ("k2", 6, 3)]
    assert _rows(place, "counts") == [("k0", 6), ("k1", 3), ("k2", 6)]
    changes = [json.loads(line) for file in place.output() if file.parent.name == "sums" for line in file.open()]
    assert {c["after"]["k"]: (c["after"]["n"], c["after"]["d"]) for c in changes if c["op"] == "c"} == {
        "k0": (6, 3),
        "k1": (3, 3),
        "k2": (6, 3),
    }
    assert {c["before"]["k"] for c in changes if c["op"] == "d"} == {"k0", "k2"}


def test_an_operator_begins_anew_and_others_go_on(place: Place) -> None:
    plan, checkpoint = _plan(place), place.root / "checkpoint"
    _put(place, "1", 0)
    place.run(plan, Mode.AVAILABLE_NOW)
    outcome = flinkplan(
        *("state", "drop", str(checkpoint), "--sink", "minutes", "--operator", "0", "--yes"),
        *("-o", str(place.root / "less")),
    )
    assert (outcome.code, "backup" in outcome.err) == (0, False)
    dropped = find_states(place.root / "less")
    kept = {(s.sink, s.name): count(place.spark, s) for s in find_states(checkpoint)}
    assert {(s.sink, s.name): count(place.spark, s) for s in dropped} == {
        (sink, name): 0 if sink == "minutes" else number for (sink, name), number in kept.items()
    }
    shutil.rmtree(checkpoint)
    checkpoint.mkdir()
    copy_checkpoint(place.root / "less", checkpoint)
    _put(place, "2", 20)
    place.run(plan, Mode.BOUNDED)
    assert _rows(place, "minutes") == [("k0", 3, 3), ("k1", 3, 3), ("k2", 3, 3)]
    assert _rows(place, "counts") == [("k0", 6), ("k1", 6), ("k2", 6)]


def test_a_running_job_s_checkpoint_is_refused(place: Place) -> None:
    plan, checkpoint = _plan(place), str(place.root / "checkpoint")
    _put(place, "1", 0)
    place.run(plan, Mode.AVAILABLE_NOW)
    job = place.start(plan, Mode.STREAMING)
    try:
        outcome = flinkplan("state", "drop", checkpoint, "--operator", "*", "--yes")
    finally:
        job.stop()
    assert (outcome.code, "another job is running on this checkpoint" in outcome.err) == (1, True)
    assert flinkplan("state", "drop", checkpoint, "--operator", "none", "--yes").code == 3
    assert CheckpointRecord(checkpoint).exists
    assert {p.name for p in place.root.iterdir()} == {"in", "out", "checkpoint"}
