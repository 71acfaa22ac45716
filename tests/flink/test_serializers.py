"""Serializers that are made from a description, as state that does not come from Flink needs them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from flinkplan.flink.savepoint import read_savepoint, read_savepoints
from flinkplan.flink.writing import write_savepoint
from flinkplan.plan.record import replace
from flinkplan.state.form import JobState, Manifest, StateTable
from tests.flink.state_text import actual

SAVEPOINTS = Path(__file__).parent / "savepoints"

pytestmark = pytest.mark.flink

VOID, LONG, INT = {"void": None}, {"long": None}, {"int": None}
ROW_OF_TEXT = {"row": ["STRING"]}
ROW_OF_ORDER = {"row": ["ROW<`user_id_key` STRING>", "ROW<`user_id` STRING, `order_id` STRING>"]}
WINDOW_ROWS = {"list": {"row": ["STRING", "INT", "STRING", "TIMESTAMP(3) NOT NULL", "TIMESTAMP(3) NOT NULL"]}}

DESCRIPTIONS: Mapping[str, Mapping[str, Mapping[str, Any]]] = {
    "group-aggregate-simple": {
        "accState": {"key": {"row": ["BIGINT"]}, "value": {"row": ["BIGINT", "BIGINT", "BIGINT", "STRING"]}},
        "_timer_state/event_user-timers": {"key": {"row": ["BIGINT"]}, "value": {"timer": [{"row": ["BIGINT"]}, VOID]}},
    },
    "join-left-join": {
        "left-records": {
            "key": {"row": ["INT"]},
            "value": {"map": [{"row": ["INT", "STRING"]}, {"tuple": [INT, INT]}]},
        },
    },
    "three-way-inner-join-with-ttl-hints-with-restore": {
        "multi-join-input-0": {
            "key": ROW_OF_TEXT,
            "value": {"map": [{"row": ["STRING", "STRING"]}, {"ttl": INT}]},
        },
        "multi-join-input-1": {"key": ROW_OF_TEXT, "value": {"map": [ROW_OF_ORDER, INT]}},
    },
    "window-join-left-tumble-event-time": {
        "left-records": {"key": ROW_OF_TEXT, "namespace": LONG, "value": WINDOW_ROWS},
        "_timer_state/event_window-timers": {"key": ROW_OF_TEXT, "value": {"timer": [ROW_OF_TEXT, LONG]}},
    },
    "group-window-aggregate-session-event-time": {
        "window-aggs": {"key": ROW_OF_TEXT, "namespace": {"window": None}, "value": {"row": ["BIGINT"]}},
    },
    "window-aggregate-tumble-event-time": {
        "distinctAcc_0": {
            "key": ROW_OF_TEXT,
            "namespace": LONG,
            "value": {"map": [{"external": "STRING"}, {"external": "BIGINT NOT NULL"}]},
        },
    },
    "expand": {
        "distinctAcc_0": {
            "key": {"row": ["INT", "INT", "INT"]},
            "value": {"map": [{"external": "BIGINT"}, {"external": "BIGINT NOT NULL"}]},
        },
    },
}
"""Of states in savepoints: what their serializers are made of."""


class Described(JobState):
    """State of a savepoint, some of whose states have descriptions of their serializers in place of snapshots."""

    def __init__(self, state: JobState, descriptions: Mapping[str, Mapping[str, Any]]) -> None:
        self._state = state
        self._descriptions = descriptions

    @property
    def manifest(self) -> Manifest:
        manifest = self._state.manifest
        operators = (replace(o, states=tuple(map(self._described, o.states))) for o in manifest.operators)
        return replace(manifest, operators=tuple(operators))

    def _described(self, table: StateTable) -> StateTable:
        described = self._descriptions.get(table.name)
        if described is None or (not table.entries and table.name == "distinctAcc_0"):
            return table
        return replace(table, written_by={**table.written_by, **described})

    def batches(self, table: StateTable) -> Iterator[pa.RecordBatch]:
        return self._state.batches(table)


def snapshots(state: JobState) -> dict[tuple[str, str], Mapping[str, Any]]:
    return {(operator.hash or "", table.name): table.written_by for operator, table in state.manifest.tables()}


def test_they_are_those_that_flink_made(tmp_path: Path) -> None:
    before = {}
    for name, savepoint in zip(DESCRIPTIONS, read_savepoints([SAVEPOINTS / n for n in DESCRIPTIONS]), strict=True):
        with savepoint:
            before[name] = (actual(savepoint), snapshots(savepoint))
            write_savepoint(Described(savepoint, DESCRIPTIONS[name]), tmp_path / name)
    for name, again in zip(DESCRIPTIONS, read_savepoints([tmp_path / n for n in DESCRIPTIONS]), strict=True):
        with again:
            assert (actual(again), snapshots(again)) == before[name], name


def test_an_unknown_one_is_refused(tmp_path: Path) -> None:
    from flinkplan.state.form import StateError

    with read_savepoint(SAVEPOINTS / "group-aggregate-simple") as savepoint:
        state = Described(savepoint, {"accState": {"value": {"kryo": "java.lang.Object"}}})
        with pytest.raises(StateError, match="there is no serializer kryo"):
            write_savepoint(state, tmp_path / "savepoint")
