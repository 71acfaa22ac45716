"""The neutral form: its schema, its tables in Arrow, and its folder."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from flinkplan.plan.types.parser import parse_type
from flinkplan.schemas.generate import state_schema_text
from flinkplan.schemas.loader import STATE, load_schema, schema_file, validator
from flinkplan.state.form import Column, JobState, Kind, Manifest, OperatorState, StateError, StateTable
from flinkplan.state.form_arrow import arrow_type, table_schema
from flinkplan.state.form_folder import FolderState, is_state_folder, write_folder

COUNTS = StateTable(
    table=1,
    name="left-records",
    kind=Kind.MAP,
    key=(Column("id", "INT"),),
    map_key=(Column("name", "STRING"), Column("$kind", "TINYINT")),
    value=(Column("value", "INT"),),
    time="accessed",
)
ROWS: list[dict[str, Any]] = [
    {
        "key": {"id": n},
        "map_key": {"name": f"n{n}", "$kind": 0},
        "value": {"value": n},
        "accessed": datetime(2026, 1, 1, tzinfo=UTC),
    }
    for n in range(5)
]


class InMemory(JobState):
    """State whose rows are given; they may fail on the way."""

    def __init__(self, table: StateTable, rows: list[dict[str, Any]], error: Exception | None = None) -> None:
        self._manifest = Manifest("flink", (OperatorState((table,), uid="8_join"),), checkpoint=7)
        self.rows, self.error = rows, error

    @property
    def manifest(self) -> Manifest:
        return self._manifest

    @property
    def plan_text(self) -> str | None:
        return "{}"

    def batches(self, table: StateTable) -> Iterator[pa.RecordBatch]:
        yield pa.RecordBatch.from_pylist(self.rows, table_schema(table))
        if self.error is not None:
            raise self.error


def test_the_schema_on_disk_is_what_the_records_say_today() -> None:
    assert schema_file(STATE).read_text("utf-8") == state_schema_text(), "run: python -m flinkplan.schemas.generate"
    type(validator(STATE)).check_schema(load_schema(STATE))


def test_a_folder_holds_what_was_written(tmp_path: Path) -> None:
    told: list[int] = []
    write_folder(InMemory(COUNTS, ROWS), tmp_path / "state", lambda operator, table, rows: told.append(rows))
    stored = FolderState(tmp_path / "state")
    (operator,) = stored.manifest.operators
    assert (operator.uid, operator.states[0].entries, stored.manifest.checkpoint) == ("8_join", 5, 7)
    assert stored.plan_text == "{}"
    for _ in range(2):
        assert [row for batch in stored.batches(operator.states[0]) for row in batch.to_pylist()] == ROWS
    assert told == [5]
    assert is_state_folder(tmp_path / "state")


def test_the_manifest_is_as_its_schema_says(tmp_path: Path) -> None:
    import json

    write_folder(InMemory(COUNTS, ROWS), tmp_path / "state")
    validator(STATE).validate(json.loads((tmp_path / "state" / "manifest.json").read_text("utf-8")))


def test_nothing_is_left_of_a_folder_that_fails(tmp_path: Path) -> None:
    with pytest.raises(StateError, match="broken"):
        write_folder(InMemory(COUNTS, ROWS, StateError("broken")), tmp_path / "state")
    assert not list(tmp_path.iterdir())


def test_a_folder_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "state").mkdir()
    with pytest.raises(StateError, match="something already"):
        write_folder(InMemory(COUNTS, ROWS), tmp_path / "state")


@pytest.mark.parametrize(
    ("content", "message"),
    [("{", "cannot be read"), ('{"engine": 1, "operators": []}', "cannot be read"), ("", "cannot be read")],
)
def test_a_damaged_manifest_is_refused(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "manifest.json").write_text(content, "utf-8")
    with pytest.raises(StateError, match=message):
        FolderState(tmp_path)


def test_a_table_of_other_columns_is_refused(tmp_path: Path) -> None:
    write_folder(InMemory(COUNTS, ROWS), tmp_path / "state")
    file = tmp_path / "state" / "manifest.json"
    file.write_text(file.read_text("utf-8").replace('"STRING"', '"INT"'), "utf-8")
    stored = FolderState(tmp_path / "state")
    with pytest.raises(StateError, match="not those that the manifest names"):
        list(stored.batches(stored.manifest.operators[0].states[0]))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("DECIMAL(38, 2)", Decimal("-12345.67")),
        ("TIMESTAMP(3)", datetime(1, 1, 1)),
        ("TIMESTAMP_LTZ(6)", datetime(9999, 12, 31, tzinfo=UTC)),
        ("TIMESTAMP(9)", {"millis": -1, "nanos": 999_999}),
        ("MAP<STRING, INT>", [{"key": None, "value": 1}]),
        ("MULTISET<INT>", [{"key": 1, "value": 2}]),
        ("ARRAY<ROW<a INT>>", [{"a": 1}, None]),
    ],
)
def test_types_keep_their_values(text: str, value: object) -> None:
    assert pa.array([value, None], arrow_type(parse_type(text))).to_pylist() == [value, None]
