"""State that cannot be carried over is refused."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from flinkplan.executor.checkpoints.move import check_operators
from flinkplan.plan.document import Plan
from flinkplan.plan.errors import FlinkplanError
from flinkplan.plan.nodes import GroupAggregate
from flinkplan.plan.uids import Uids
from flinkplan.planner import compile_script
from flinkplan.state.form import Column, JobState, Kind, Manifest, OperatorState, StateTable
from flinkplan.state.moving import Moved

SCRIPT = """
CREATE TABLE t (k INT, v INT) WITH ('connector' = 'datagen');
CREATE TABLE o (k INT, n BIGINT) WITH ('connector' = 'blackhole');
INSERT INTO o SELECT k, COUNT(DISTINCT v) FROM t GROUP BY k;
"""


class State(JobState):
    """The state of operators that have entries."""

    def __init__(self, *uids: str, key: str = "INT") -> None:
        value = (Column("f0", "BIGINT"), Column("f1", "VARBINARY(2147483647)"))
        table = StateTable(0, "accState", Kind.VALUE, (Column("f0", key),), value=value, entries=1)
        self._operators = tuple(OperatorState((table,), uid=uid) for uid in uids)

    @property
    def manifest(self) -> Manifest:
        return Manifest("flink", self._operators)

    def batches(self, table: StateTable) -> Iterator[Any]:
        return iter(())


def _plan() -> Plan:
    return compile_script(SCRIPT)


def test_state_that_no_operator_takes_is_refused_unless_it_may_be_left() -> None:
    plan = _plan()
    (node,) = (node for node in plan.nodes if isinstance(node, GroupAggregate))
    check_operators(plan, State(f"{node.id}_group-aggregate"), Uids())
    with pytest.raises(FlinkplanError, match="the plan has no such operator") as raised:
        check_operators(plan, State("99_join"), Uids())
    assert (raised.value.where, raised.value.exit_code) == ("operator 99_join", 1)
    left: list[Moved] = []
    check_operators(plan, State("99_join"), Uids(), left.append)
    assert [each.where for each in left] == ["operator 99_join"]


def test_state_of_other_types_is_of_another_plan() -> None:
    plan = _plan()
    (node,) = (node for node in plan.nodes if isinstance(node, GroupAggregate))
    state = State(f"{node.id}_group-aggregate", key="STRING")
    with pytest.raises(FlinkplanError, match=r"the key of accState is .*, but that of the plan .INT."):
        check_operators(plan, state, Uids())
