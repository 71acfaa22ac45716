"""Every case as a plan whose sinks take upserts leaves what Flink leaves."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from flinkplan.executor.jobs.job import JobOptions, execute
from flinkplan.executor.jvm.session import PARTITIONS
from flinkplan.plan.types import LogicalType
from tests.executor.databases import Database
from tests.parity.corpus import PARTITIONED, STREAMS
from tests.parity.upserts import RECORDED, UpsertCase, UpsertSink, printed, upsert_cases

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tests.executor.kafka.brokers import Broker

ALL = "FLINKPLAN_UPSERTS" in os.environ
FEW = (
    "join-two-cdc-tables-with-primary-keys",
    "rank-topn-with-rank-number",
    "changelog-upsert-vs-retract-aggregate-chain",
)
"""The cases that are run where not all are asked for."""
NOT_RECORDED: Mapping[str, str] = {}
"""Cases of which nothing that Flink has left could be read, and why."""


def _chosen(of: Iterable[UpsertCase]) -> list[Any]:
    known = (case for case in of if case.name not in NOT_RECORDED)
    return [pytest.param(case, id=case.name) for case in known if ALL or case.name in FEW]


def _for_databases() -> Iterator[UpsertCase]:
    """The cases without keys of floating-point numbers, of which databases take 0.0 and -0.0 for one."""
    for case in upsert_cases():
        if not any(sink.types[i].root in ("FLOAT", "DOUBLE") for sink in case.sinks for i in sink.key):
            yield case


@pytest.mark.spark
@pytest.mark.parametrize("case", _chosen(_for_databases()))
def test_a_database_holds_what_flink_leaves(case: UpsertCase, spark: SparkSession, tmp_path: Path) -> None:
    with closing(Database(spark, tmp_path)) as database:
        for sink in case.sinks:
            database.execute(_derby_table(sink))
        options = {s.name: {"connector": "jdbc", "url": database.url, "table-name": f"o_{s.name}"} for s in case.sinks}
        _run(case, options, spark, tmp_path)
        found = {
            sink.name: sink.content(("+I", row) for row in database.rows(f"SELECT * FROM o_{sink.name}"))
            for sink in case.sinks
        }
    assert found == case.recorded()


@pytest.fixture(scope="module")
def broker() -> Broker:
    from tests.executor.kafka.brokers import BrokerInside

    return BrokerInside()


@pytest.mark.spark
@pytest.mark.parametrize("case", _chosen(upsert_cases()))
def test_topics_hold_what_flink_leaves(case: UpsertCase, spark: SparkSession, broker: Broker, tmp_path: Path) -> None:
    topics = {sink.name: f"{case.name}-{sink.name}" for sink in case.sinks}
    formats = {"key.format": "json", "value.format": "json"}
    servers = {"properties.bootstrap.servers": broker.servers}
    options = {n: {"connector": "upsert-kafka", "topic": t, **servers, **formats} for n, t in topics.items()}
    _run(case, options, spark, tmp_path)
    found = {sink.name: sink.content(_changes(sink, broker, topics[sink.name])) for sink in case.sinks}
    assert found == case.recorded()


def test_what_flink_leaves_is_recorded() -> None:
    assert {f.stem for f in RECORDED.iterdir()} == {case.name for case in upsert_cases()} - NOT_RECORDED.keys()


def test_rows_that_flink_prints_are_read() -> None:
    assert printed("-D[1, null]", 2) == ("-D", ["1", None])
    with pytest.raises(ValueError, match="not 2 values"):
        printed("+I[1, a, b]", 2)


def _run(case: UpsertCase, options: Mapping[str, Mapping[str, str]], spark: SparkSession, work: Path) -> None:
    shutil.copytree(case.case.folder / "data", work / "data", dirs_exist_ok=True)
    job = JobOptions(
        checkpoint=str(work / "checkpoint"),
        variables={"CASE": str(work)},
        options=case.case.session_options,
        conf={PARTITIONS: "3"} if PARTITIONED else {},
        streams=STREAMS,
        spark=spark,
    )
    execute(case.compile(options), job).wait()


def _derby_table(sink: UpsertSink) -> str:
    columns = (f"c{i} {_derby_type(t)}{' NOT NULL' if i in sink.key else ''}" for i, t in enumerate(sink.types))
    key = ", ".join(f"c{i}" for i in sink.key)
    return f"CREATE TABLE o_{sink.name} ({', '.join(columns)}, PRIMARY KEY ({key}))"


def _derby_type(t: LogicalType) -> str:
    match t.root:
        case "CHAR" | "VARCHAR":
            return "VARCHAR(500)"
        case "DECIMAL":
            precision = t.precision or 10
            return (
                f"DECIMAL({precision}, {t.scale})" if precision <= 31 else "VARCHAR(60)"
            )  # more is too much for Derby
        case "FLOAT":
            return "REAL"
        case "TINYINT":
            return "SMALLINT"
    return t.root


def _changes(sink: UpsertSink, broker: Broker, topic: str) -> Iterator[tuple[str, list[str | None]]]:
    """The messages of a topic: the row of each, or its key where it deletes it."""
    for message in broker.messages(topic):
        row = _fields(message.value() or message.key() or b"")
        values = [row.get(f"c{i}") for i in range(len(sink.types))]
        yield "-D" if message.value() is None else "+U", [None if v is None else str(v) for v in values]


def _fields(text: bytes) -> Mapping[str, Any]:
    found: Mapping[str, Any] = json.loads(text, parse_float=str)
    return found
