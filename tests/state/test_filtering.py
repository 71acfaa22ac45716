"""State without some of its entries."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from flinkplan.state.filtering import StateWithout
from flinkplan.state.form import Column, JobState, Kind, Manifest, OperatorState, SourcePosition, StateTable
from flinkplan.state.form_arrow import table_schema
from flinkplan.state.keys import KeyValues

KEY = (Column("a", "INT"), Column("b", "STRING"))
VALUE = (Column("value", "BIGINT"),)
SUMS = StateTable(0, "sums", Kind.VALUE, key=KEY, value=VALUE, entries=3)
OFFSETS = StateTable(1, "offsets", Kind.OPERATOR_LIST, value=VALUE, entries=1)
OTHER = StateTable(2, "other", Kind.VALUE, key=KEY[:1], value=VALUE, entries=1)
OPERATORS = (
    OperatorState((SUMS, OFFSETS), uid="1_aggregate", hash="aa"),
    OperatorState((OTHER,), uid="2_join", hash="bb"),
)
ROWS: dict[int, list[dict[str, Any]]] = {
    0: [{"key": {"a": a, "b": b}, "value": {"value": 1}} for a, b in ((1, "x"), (1, None), (2, "x"))],
    1: [{"subtask": 0, "position": 0, "value": {"value": 7}}],
    2: [{"key": {"a": 1}, "value": {"value": 1}}],
}


class State(JobState):
    @property
    def manifest(self) -> Manifest:
        return Manifest(
            "flink", OPERATORS, positions=(SourcePosition(uid="1_aggregate"), SourcePosition(uid="3_source"))
        )

    def batches(self, table: StateTable) -> Iterator[pa.RecordBatch]:
        yield pa.RecordBatch.from_pylist(ROWS[table.table], table_schema(table))


def _rows(state: JobState) -> dict[str, int]:
    return {t.name: sum(batch.num_rows for batch in state.batches(t)) for _, t in state.manifest.tables()}


def test_the_entries_of_a_key_are_left_out() -> None:
    state = StateWithout(State(), OPERATORS[:1], KeyValues.parse("1"))
    assert state.dropped() == {0: 2}
    assert _rows(state) == {"sums": 1, "offsets": 1, "other": 1}
    assert StateWithout(State(), OPERATORS, KeyValues.parse("[1, null]")).dropped() == {0: 1}


def test_an_operator_is_left_out_whole() -> None:
    state = StateWithout(State(), OPERATORS[:1], None)
    assert state.dropped() == {0: 3, 1: 1}
    assert _rows(state) == {"other": 1}
    assert [position.uid for position in state.manifest.positions] == ["3_source"]
