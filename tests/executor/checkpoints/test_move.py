"""A job of Flink goes on here with the rows that it would have had."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from flinkplan.executor.checkpoints.move import write_checkpoint
from flinkplan.executor.checkpoints.positions import Sources
from flinkplan.executor.jobs.options import JobOptions
from flinkplan.executor.prepare.modes import Mode
from flinkplan.plan.document import Plan
from flinkplan.plan.errors import FlinkplanError
from flinkplan.plan.nodes import GroupAggregate, TableSourceScan
from flinkplan.plan.record import replace
from flinkplan.plan.uids import Uids
from flinkplan.planner import compile_script
from flinkplan.state.form import (
    Column,
    JobState,
    Kind,
    Manifest,
    OperatorState,
    SourcePosition,
    Split,
    StateTable,
)
from flinkplan.state.form_arrow import table_schema

from ..jobs import Place

pytestmark = pytest.mark.spark

SCRIPT = """
CREATE TABLE t (k STRING, v INT) WITH (
  'connector' = 'filesystem', 'path' = '{root}/in', 'format' = '{format}'{watched});
CREATE TABLE o (k STRING, n BIGINT, s INT) WITH (
  'connector' = 'filesystem', 'path' = '{root}/out', 'format' = 'debezium-json');
INSERT INTO o SELECT k, COUNT(*), SUM(v) FROM t GROUP BY k;
"""
WATCHED = ", 'source.monitor-interval' = '1 s'"


class Moved(JobState):
    """A job that groups rows, with groups as it knows them: key, count and sum."""

    def __init__(self, plan: Plan, groups: Sequence[tuple[str, int, int]], splits: Sequence[Split]) -> None:
        (scan,) = (node for node in plan.nodes if isinstance(node, TableSourceScan))
        (group,) = (node for node in plan.nodes if isinstance(node, GroupAggregate))
        value = (Column("f0", "BIGINT"), Column("f1", "INT"), Column("$kind", "TINYINT"))
        key = (Column("f0", "STRING"), Column("$kind", "TINYINT"))
        table = StateTable(1, "accState", Kind.VALUE, key[:1], value=value, entries=len(groups))
        operators = (
            OperatorState((), uid=f"{scan.id}_source", hash="1"),
            OperatorState((table,), uid=f"{group.id}_group-aggregate", hash="2"),
        )
        position = SourcePosition(f"{scan.id}_source", None, "filesystem", tuple(splits))
        self._manifest = Manifest("flink", operators, positions=(position,))
        self._groups = groups

    @property
    def manifest(self) -> Manifest:
        return self._manifest

    def batches(self, table: StateTable) -> Iterator[pa.RecordBatch]:
        rows = [{"key": {"f0": k}, "value": {"f0": n, "f1": s, "$kind": 0}} for k, n, s in self._groups]
        yield pa.RecordBatch.from_pylist(rows, table_schema(table))


def _plan(place: Place, format_: str = "json", watched: str = WATCHED) -> Plan:
    return compile_script(SCRIPT.format(root=place.root, format=format_, watched=watched))


def _put(place: Place, name: str, rows: Sequence[tuple[str, int]], format_: str = "json") -> Split:
    """Write a file; it whole as a split."""
    file = place.root / "in" / name
    file.parent.mkdir(exist_ok=True)
    lines = [f"{k},{v}" if format_ == "csv" else json.dumps({"k": k, "v": v}) for k, v in rows]
    file.write_text("".join(f"{line}\n" for line in lines))
    return Split(f"file:{file}", offset=0, end=file.stat().st_size)


def _move(place: Place, plan: Plan, state: JobState, options: JobOptions | None = None) -> None:
    how = replace(options or JobOptions(), spark=place.spark)
    starts = Sources(plan, state.manifest, (), {}, Uids()).starts()
    write_checkpoint(plan, state, str(place.root / "checkpoint"), place.spark, how, starts)


def _changes(place: Place) -> list[tuple[Any, Any]]:
    """The rows before and after each change, as lists."""
    files = [file for file in sorted((place.root / "out").iterdir()) if not file.name.startswith(".")]
    changes = [json.loads(line) for file in files for line in file.read_text().splitlines()]
    return [(_row(change["before"]), _row(change["after"])) for change in changes]


def _row(fields: dict[str, Any] | None) -> list[Any] | None:
    return None if fields is None else list(fields.values())


def _content(changes: Sequence[tuple[Any, Any]]) -> list[list[Any]]:
    held: list[list[Any]] = []
    for before, after in changes:
        if before is not None and before in held:
            held.remove(before)
        if after is not None:
            held.append(after)
    return sorted(held)


GROUPS = [("a", 3, 30), ("b", 1, 7)]


@pytest.mark.parametrize("format_", ["json", "csv"])
def test_rows_behind_a_savepoint_are_added_to_its_groups(place: Place, format_: str) -> None:
    plan = _plan(place, format_)
    done = replace(_put(place, "0", [("a", 99)] * 5, format_), is_done=True)
    begun = replace(_put(place, "1", [("b", 7), ("a", 1), ("c", 2)], format_), records_after_offset=1)
    pending = _put(place, "2", [("c", 3)], format_)
    _move(place, plan, Moved(plan, GROUPS, [begun, pending, done]))
    _put(place, "3", [("d", 4)], format_)  # which Flink has never seen
    place.run(plan, Mode.AVAILABLE_NOW)
    changes = _changes(place)
    assert ["a", 3, 30] in [before for before, _ in changes]
    assert _content(changes) == [["a", 4, 31], ["c", 2, 5], ["d", 1, 4]]
    _put(place, "4", [("b", 1)], format_)
    place.run(plan, Mode.AVAILABLE_NOW)
    assert _content(_changes(place)) == [["a", 4, 31], ["b", 2, 8], ["c", 2, 5], ["d", 1, 4]]


def test_the_splits_of_a_file_have_each_line_once(place: Place) -> None:
    plan = _plan(place)
    whole = _put(place, "0", [("x", v) for v in range(9)])
    assert whole.end is not None
    line = whole.end // 9
    # the second split begins with a line, which belongs to the first one
    splits = [replace(whole, end=3 * line), replace(whole, offset=3 * line, end=5 * line + 2)]
    _move(place, plan, Moved(plan, GROUPS, splits))
    place.run(plan, Mode.AVAILABLE_NOW)
    assert _content(_changes(place)) == [["x", 6, 15]]


def test_a_bounded_source_reads_no_other_files(place: Place) -> None:
    plan = _plan(place, watched="")
    pending = _put(place, "1", [("c", 2)])
    _put(place, "0", [("a", 99)] * 5)  # read before: it is not left
    _move(place, plan, Moved(plan, GROUPS, [pending]))
    _put(place, "2", [("d", 4)])
    place.run(plan, Mode.BOUNDED)
    assert _content(_changes(place)) == [["c", 1, 2]]


def test_what_cannot_be_moved_is_refused_and_nothing_is_written(place: Place, tmp_path: Path) -> None:
    plan = _plan(place)
    elsewhere = Split(f"file:{tmp_path}/elsewhere/0", is_done=True)
    with pytest.raises(FlinkplanError, match="elsewhere/0 of the savepoint is not one of the table's") as raised:
        _move(place, plan, Moved(plan, GROUPS, [elsewhere]))
    assert raised.value.exit_code == 1
    assert not (place.root / "checkpoint").exists()
    assert not list(place.root.glob(".unfinished*"))
