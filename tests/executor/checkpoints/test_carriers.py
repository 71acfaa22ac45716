"""State that cannot be carried over is refused."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from flinkplan.executor.checkpoints.move import check_operators
from flinkplan.plan.document import Plan
from flinkplan.plan.nodes import GroupAggregate
from flinkplan.planner import compile_script
from flinkplan.state.form import JobState, Kind, Manifest, OperatorState, StateError, StateTable

SCRIPT = """
CREATE TABLE t (k INT, v INT) WITH ('connector' = 'datagen');
CREATE TABLE o (k INT, n BIGINT) WITH ('connector' = 'blackhole');
INSERT INTO o SELECT k, COUNT(DISTINCT v) FROM t GROUP BY k;
"""


class State(JobState):
    """The state of operators that have entries."""

    def __init__(self, *uids: str) -> None:
        table = StateTable(0, "accState", Kind.VALUE, entries=1)
        self._operators = tuple(OperatorState((table,), uid=uid) for uid in uids)

    @property
    def manifest(self) -> Manifest:
        return Manifest("flink", self._operators)

    def batches(self, table: StateTable) -> Iterator[Any]:
        return iter(())


def _plan() -> Plan:
    return compile_script(SCRIPT)


def test_state_of_an_operator_that_the_plan_has_not_is_refused() -> None:
    plan = _plan()
    (node,) = (node for node in plan.nodes if isinstance(node, GroupAggregate))
    check_operators(plan, State(f"{node.id}_group-aggregate"))
    with pytest.raises(StateError, match="state of the operator 99_join, which the plan has not"):
        check_operators(plan, State("99_join"))
