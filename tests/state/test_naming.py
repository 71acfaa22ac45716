"""Columns of a savepoint under the names of the plan."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

from flinkplan.plan.document import loads
from flinkplan.plan.nodes import GroupAggregate
from flinkplan.state.form import Column, JobState, Kind, Manifest, OperatorState, Origin, StateTable
from flinkplan.state.form_arrow import table_schema
from flinkplan.state.naming import NamedState, named_tables
from tests.cli.support import flinkplan

SCRIPT = """
CREATE TABLE a (k INT, v INT, s STRING) WITH ('connector' = 'datagen');
CREATE TABLE b (k INT, w INT) WITH ('connector' = 'datagen');
CREATE TABLE o (k INT, n BIGINT, av DOUBLE, w INT) WITH ('connector' = 'blackhole');
INSERT INTO o SELECT x.k, n, av, w
FROM (SELECT k, COUNT(DISTINCT s) AS n, AVG(CAST(v AS DOUBLE)) AS av FROM a GROUP BY k) x LEFT JOIN b ON x.k = b.k;
"""
KIND = Column("$kind", "TINYINT")


def columns(*types: str) -> tuple[Column, ...]:
    return tuple(Column(f"f{i}", t) for i, t in enumerate(types))


def compiled(folder: Path) -> str:
    (folder / "job.sql").write_text(SCRIPT, "utf-8")
    outcome = flinkplan("compile", str(folder / "job.sql"), "-o", str(folder / "plan.json"))
    assert outcome.code == 0, outcome.err
    return (folder / "plan.json").read_text("utf-8")


def names(fields: tuple[Column, ...]) -> list[str]:
    return [field.name for field in fields]


def test_accumulators_and_distinct_values_are_named_by_their_calls(tmp_path: Path) -> None:
    plan = loads(compiled(tmp_path))
    (node,) = [n for n in plan.nodes if isinstance(n, GroupAggregate)]
    inputs = [source.fields for source in plan.inputs(node)]
    key = columns("INT")
    state = columns("BIGINT", "DOUBLE", "BIGINT", "VARBINARY(2147483647)")
    seen = StateTable(2, "distinctAcc_0", Kind.MAP, key=key, map_key=(Column("value", "STRING"),))
    accumulators, distinct = named_tables(
        [StateTable(1, "accState", Kind.VALUE, key=key, value=(*state, KIND)), seen], node, inputs
    )
    assert names(accumulators.key) == ["k"]
    assert names(accumulators.value) == [
        "count_s_distinct",
        "avg__24_f2_sum",
        "avg__24_f2_count",
        "distinct_values",
        "$kind",
    ]
    assert accumulators.value[1].origin == Origin(call=1, part=0)
    assert distinct.map_key == (Column("s", "STRING", Origin(input=0, column="s")),)


def test_values_of_other_types_are_not_named(tmp_path: Path) -> None:
    plan = loads(compiled(tmp_path))
    (node,) = [n for n in plan.nodes if isinstance(n, GroupAggregate)]
    other = StateTable(1, "accState", Kind.VALUE, key=columns("INT"), value=columns("STRING", "INT", "INT", "INT"))
    (table,) = named_tables([other], node, [source.fields for source in plan.inputs(node)])
    assert names(table.value) == ["f0", "f1", "f2", "f3"]


class Rows(JobState):
    """One state of a join with one row."""

    def __init__(self, uid: str) -> None:
        table = StateTable(
            1,
            "left-records",
            Kind.MAP,
            key=columns("INT"),
            map_key=(*columns("INT", "BIGINT", "DOUBLE"), KIND),
            value=columns("INT", "INT"),
        )
        self._manifest = Manifest("flink", (OperatorState((table,), uid=uid),))

    @property
    def manifest(self) -> Manifest:
        return self._manifest

    def batches(self, table: StateTable) -> Iterator[pa.RecordBatch]:
        row = {
            "key": {"f0": 1},
            "map_key": {"f0": 1, "f1": 2, "f2": 3.5, "$kind": 0},
            "value": {"f0": 1, "f1": 4},
        }
        yield pa.RecordBatch.from_pylist([row], table_schema(table))


def test_rows_of_a_join_have_the_columns_of_its_input(tmp_path: Path) -> None:
    text = compiled(tmp_path)
    plan = loads(text)
    (join,) = [n for n in plan.nodes if n.metadata.name == "stream-exec-join"]
    state = NamedState(Rows(f"{join.id}_join"), plan, {f"{join.id}_join": join})
    ((operator, table),) = state.manifest.tables()
    assert (operator.node, operator.name) == (join.id, "join")
    (batch,) = state.batches(table)
    columns = [f.name for f in plan.inputs(join)[0].fields]
    assert list(batch.to_pylist()[0]["map_key"]) == [*columns, "$kind"]
    assert batch.to_pylist()[0]["value"] == {"number": 1, "met": 4}
    assert json.loads(state.plan_text) == json.loads(text)
