"""Savepoints without entries, by which Flink shows how the operators of a plan keep their states."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from flinkplan.flink.empty_savepoint import RunnablePlan, empty_savepoints
from flinkplan.flink.savepoint import read_savepoint
from flinkplan.flink.writing import write_savepoint
from flinkplan.plan import document
from flinkplan.plan.record import replace
from flinkplan.state.form import JobState, Manifest, OperatorState, SourcePosition, Split, StateError, StateTable

if TYPE_CHECKING:
    from pyarrow import RecordBatch

CASES = Path(__file__).parents[1] / "parity" / "cases"
GROUPS = "4_group-aggregate"

pytestmark = pytest.mark.flink


def plan(case: str) -> document.Plan:
    return document.load(CASES / case / "plan.json")


@pytest.fixture(scope="module")
def operators() -> tuple[OperatorState, ...]:
    """The operators of an aggregation."""
    with next(empty_savepoints([RunnablePlan(plan("agg-having"))])) as empty:
        return empty.manifest.operators


def test_an_operator_has_its_states_with_types_and_without_entries(operators: tuple[OperatorState, ...]) -> None:
    (groups,) = [operator for operator in operators if operator.uid == GROUPS]
    (state,) = [table for table in groups.states if table.name == "accState"]
    assert [column.type for column in state.key] == ["STRING"]
    assert [column.type for column in state.value] == ["BIGINT", "DECIMAL(38, 2)", "TINYINT"]
    assert (state.entries, groups.max_parallelism) == (0, 128)
    assert set(state.written_by) == {"type", "key", "namespace", "value"}


def test_a_plan_that_flink_does_not_run_is_refused() -> None:
    aggregation = plan("agg-having")
    without_sink = replace(aggregation, nodes=aggregation.nodes[:-1], edges=aggregation.edges[:-1])
    with next(empty_savepoints([RunnablePlan(without_sink)])) as empty, pytest.raises(StateError):
        empty.manifest  # noqa: B018


class Positions(JobState):
    """The positions of a source, without any entries."""

    def __init__(self, *splits: Split, connector: str = "filesystem") -> None:
        self._manifest = Manifest(
            "spark",
            (OperatorState((), uid="1_source"),),
            positions=(SourcePosition("1_source", 1, connector, splits),),
        )

    @property
    def manifest(self) -> Manifest:
        return self._manifest

    def batches(self, table: StateTable) -> Iterator[RecordBatch]:
        return iter(())


def test_positions_in_files_are_written(tmp_path: Path) -> None:
    done, begun = Split("file:/data/a", is_done=True), Split("file:/data/b", offset=0, end=7)
    write_savepoint(Positions(done, begun), tmp_path / "savepoint")
    with read_savepoint(tmp_path / "savepoint") as again:
        (source,) = again.manifest.positions
        assert source.connector == "filesystem"
        assert {split.name: split.is_done for split in source.splits} == {"file:/data/a": True, "file:/data/b": False}


def test_positions_in_topics_are_written(tmp_path: Path) -> None:
    splits = (Split("orders", partition=0, offset=42), Split("orders", partition=1, offset=7, end=9))
    write_savepoint(Positions(*splits, connector="kafka"), tmp_path / "savepoint")
    with read_savepoint(tmp_path / "savepoint") as again:
        (source,) = again.manifest.positions
    assert (source.connector, source.splits) == ("kafka", splits)


def test_values_have_ended() -> None:
    with next(empty_savepoints([RunnablePlan(plan("join-values-source-with-table"))])) as empty:
        ended = {operator.uid for operator in empty.manifest.operators if operator.is_finished}
    assert "3_values" in ended
