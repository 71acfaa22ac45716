"""How Flink's operators keep their states, against empty savepoints that Flink 2.3 has written of the same plans."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from flinkplan.plan.document import load
from flinkplan.plan.types.parser import parse_type
from flinkplan.plan.uids import Uids
from flinkplan.state.form import Column, OperatorState
from flinkplan.state.operators import operators_of

CASES = Path(__file__).parents[1] / "parity" / "cases"
SAVEPOINTS = json.loads(Path(__file__).with_name("operators.json").read_text("utf-8"))
"""Operators by UID, by the names of cases; each state is one text."""


def described(operator: OperatorState) -> dict[str, str]:
    """The states of an operator by their names."""
    return {
        table.name: " | ".join(
            filter(
                None,
                (
                    table.kind.value,
                    f"key {_columns(table.key)}" if table.key else "",
                    f"{table.namespace_kind} {_columns(table.namespace)}" if table.namespace else "",
                    f"map key {_columns(table.map_key)}" if table.map_key else "",
                    f"value {_columns(table.value)}",
                    table.clock,
                    table.time,
                ),
            )
        )
        for table in sorted(operator.states, key=lambda table: table.name)
    }


def _columns(columns: tuple[Column, ...]) -> str:
    return ", ".join(f"{column.name} {parse_type(column.type)}" for column in columns)


@pytest.mark.parametrize("case", SAVEPOINTS)
def test_operators_keep_their_states_as_in_savepoints(case: str) -> None:
    known = {operator.uid: described(operator) for operator in operators_of(load(CASES / case / "plan.json"), Uids())}
    assert {uid: known.get(uid) for uid in SAVEPOINTS[case]} == SAVEPOINTS[case]
