"""The state of a checkpoint, as Flink's operators keep it."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from flinkplan.executor.checkpoints.job_state import CheckpointState
from flinkplan.executor.jobs.job import JobOptions, execute
from flinkplan.executor.prepare.modes import Mode
from flinkplan.plan import document
from flinkplan.plan.record import replace
from flinkplan.state.form import ROW_KIND, Column, Kind, OperatorState, Split, StateError, StateTable

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

CASE = Path(__file__).parents[2] / "parity" / "cases" / "agg-having"
ACCUMULATORS = StateTable(
    1,
    "accState",
    Kind.VALUE,
    key=(Column("f0", "STRING"),),
    value=(Column("f0", "BIGINT"), Column("f1", "DECIMAL(38, 2)"), Column(ROW_KIND, "TINYINT")),
)
GROUPS = OperatorState((ACCUMULATORS,), uid="4_group-aggregate")
SOURCE = OperatorState((), uid="1_source")


class Stopped:
    """The checkpoint of a job that has read all files so far."""

    def __init__(self, folder: Path, spark: SparkSession) -> None:
        self.folder = folder
        self.plan = document.load(CASE / "plan.json")
        self.options = JobOptions(
            checkpoint=str(folder / "checkpoint"),
            variables={"CASE": str(folder)},
            mode=Mode.AVAILABLE_NOW,
            spark=spark,
        )
        shutil.copytree(CASE / "data", folder / "data")
        execute(self.plan, self.options).wait()

    def state(self, *operators: OperatorState) -> CheckpointState:
        """What the checkpoint has for these operators of Flink."""
        spark = self.options.spark
        assert spark is not None
        return CheckpointState(self.plan, str(self.folder / "checkpoint"), operators, spark, self.options)


@pytest.fixture(scope="module")
def stopped(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stopped]:
    yield Stopped(tmp_path_factory.mktemp("stopped"), spark)


def test_accumulators_are_those_of_flink(stopped: Stopped) -> None:
    lines = [line for file in (CASE / "data" / "orders").iterdir() for line in file.read_text("utf-8").splitlines()]
    orders = [order for order in map(json.loads, lines) if order["cust"] is not None]
    amounts: dict[str, list[Decimal]] = {order["cust"]: [] for order in orders}
    for order in orders:
        if order["amt"] is not None:
            amounts[order["cust"]].append(Decimal(order["amt"]))
    numbers = Counter(order["cust"] for order in orders)
    with stopped.state(GROUPS, SOURCE) as state:
        (groups,) = [operator for operator in state.manifest.operators if operator.uid == GROUPS.uid]
        rows = [row for batch in state.batches(groups.states[0]) for row in batch.to_pylist()]
    assert {row["key"]["f0"]: row["value"] for row in rows} == {
        customer: {"f0": number, "f1": sum(amounts[customer]) if amounts[customer] else None, ROW_KIND: 0}
        for customer, number in numbers.items()
    }


def test_files_that_come_later_are_still_to_be_read(stopped: Stopped) -> None:
    later = stopped.folder / "data" / "orders" / "later.json"
    later.write_text('{"id": 9}\n', "utf-8")
    try:
        with stopped.state(GROUPS, SOURCE) as state:
            (position,) = state.manifest.positions
    finally:
        later.unlink()
    assert (position.uid, position.connector) == ("1_source", "filesystem")
    assert position.splits == (
        Split(f"file:{stopped.folder}/data/orders/a.json", is_done=True),
        Split(f"file:{later}", offset=0, end=10),
    )


def test_a_state_that_flink_keeps_otherwise_is_refused(stopped: Stopped) -> None:
    wider = replace(ACCUMULATORS, value=(*ACCUMULATORS.value[:1], *ACCUMULATORS.value))
    with pytest.raises(StateError, match=r"accumulators have 3 parts, not 2") as refused:
        stopped.state(replace(GROUPS, states=(wider,)), SOURCE)
    assert refused.value.where == "group-aggregate (node 4)"


def test_a_state_that_is_not_known_is_refused(stopped: Stopped) -> None:
    other = replace(ACCUMULATORS, table=2, name="other")
    with pytest.raises(StateError, match="not known what of it is in Flink's state other"):
        stopped.state(replace(GROUPS, states=(ACCUMULATORS, other)), SOURCE)
