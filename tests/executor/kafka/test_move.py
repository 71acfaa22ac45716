"""A job of Flink over topics goes on here behind the messages that it has read."""

from __future__ import annotations

import pytest

from flinkplan.executor.checkpoints.move import write_checkpoint
from flinkplan.executor.checkpoints.positions import Sources
from flinkplan.executor.jobs.options import JobOptions
from flinkplan.executor.prepare.modes import Mode
from flinkplan.plan.document import Plan
from flinkplan.plan.nodes import TableSourceScan
from flinkplan.plan.uids import Uids
from flinkplan.planner import compile_script
from flinkplan.state.form import JobState, Manifest, OperatorState, SourcePosition, Split, StateTable

from .clusters import Cluster

pytestmark = pytest.mark.spark


class Positions(JobState):
    """The state of a job whose sources alone keep something: splits by the names of their tables."""

    def __init__(self, plan: Plan, splits: dict[str, tuple[Split, ...]]) -> None:
        scans = [node for node in plan.nodes if isinstance(node, TableSourceScan)]
        uids = {f"{scan.id}_source": splits[scan.scan_table_source.table.name] for scan in scans}
        self._manifest = Manifest(
            "flink",
            tuple(OperatorState((), uid=uid, hash=uid) for uid in uids),
            positions=tuple(SourcePosition(uid, None, "kafka", each) for uid, each in uids.items()),
        )

    @property
    def manifest(self) -> Manifest:
        return self._manifest

    def batches(self, table: StateTable) -> object:  # type: ignore[override]
        raise AssertionError


def _move(cluster: Cluster, plan: Plan, splits: dict[str, tuple[Split, ...]]) -> None:
    state, variables = Positions(plan, splits), {"BROKERS": cluster.broker.servers}
    starts = Sources(plan, state.manifest, (), variables, Uids()).starts()
    options = JobOptions(variables=variables)
    write_checkpoint(plan, state, str(cluster.folder / "checkpoint"), cluster.spark, options, starts)


def _ids(cluster: Cluster) -> list[int]:
    return sorted(row["id"] for row in cluster.rows())


def test_messages_behind_the_offsets_are_read_once(cluster: Cluster) -> None:
    for partition in range(3):
        cluster.broker.put("moved", *({"id": 10 * partition + i} for i in range(4)), partition=partition)
    script = (cluster.table("moved", "id INT", format="json"), cluster.out("id INT"))
    plan = compile_script("\n".join((*script, "INSERT INTO `out` SELECT id FROM moved;")))
    # the third partition begins with what is earliest, the fourth one is new
    _move(cluster, plan, {"moved": (Split("moved", 0, 3), Split("moved", 1, 4), Split("moved", 2, -2))})
    cluster.execute(plan, Mode.AVAILABLE_NOW)
    cluster.broker.put("moved", {"id": 14}, partition=1)
    cluster.broker.put("moved", {"id": 30}, partition=3)
    cluster.execute(plan, Mode.AVAILABLE_NOW)
    cluster.execute(plan, Mode.AVAILABLE_NOW)  # which begins with what is there of new partitions
    assert _ids(cluster) == [3, 14, 20, 21, 22, 23, 30]


def test_a_bounded_topic_ends_where_it_would_have_ended(cluster: Cluster) -> None:
    for partition in range(2):
        cluster.broker.put("ending", *({"id": 10 * partition + i} for i in range(6)), partition=partition)
    plan = compile_script(
        "\n".join(
            (
                cluster.source("ending", "id INT", format="json"),
                cluster.out("id INT"),
                "INSERT INTO `out` SELECT id FROM ending;",
            )
        )
    )
    # the second partition has been read to its end, and its split is gone
    _move(cluster, plan, {"ending": (Split("ending", 0, 2, 4),)})
    cluster.execute(plan)
    assert _ids(cluster) == [2, 3]


def test_upserts_go_on_with_what_is_known_of_keys(cluster: Cluster) -> None:
    cluster.broker.put("keyed", {"id": 1, "v": "read"}, key={"id": 1})
    cluster.broker.put("keyed", {"id": 1, "v": "new"}, key={"id": 1})
    upserts = {"connector": "upsert-kafka", "key_format": "json", "value_format": "json"}
    columns = "id INT PRIMARY KEY NOT ENFORCED, v STRING"
    script = (cluster.table("keyed", columns, **upserts), cluster.out("id INT, v STRING", "debezium-json"))
    plan = compile_script("\n".join((*script, "INSERT INTO `out` SELECT id, v FROM keyed;")))
    _move(cluster, plan, {"keyed": (Split("keyed", 0, 1),)})
    cluster.execute(plan, Mode.AVAILABLE_NOW)
    assert [row["after"] for row in cluster.rows()] == [{"id": 1, "v": "new"}]
