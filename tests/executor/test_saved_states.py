"""Tables over the state of an operator in a checkpoint."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from flinkplan import EnvironmentSettings, TableEnvironment
from flinkplan.executor.jobs.job import JobOptions, execute
from flinkplan.executor.prepare.modes import Mode
from flinkplan.plan.errors import FlinkplanError
from flinkplan.planner import compile_script

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

SCRIPT = """
SET 'table.exec.state.ttl' = '1 d';
CREATE TABLE t (k STRING, id INT, v INT) WITH ('connector' = 'filesystem', 'path' = '{root}/in', 'format' = 'json');
CREATE TABLE sums (k STRING, n BIGINT, d BIGINT) WITH ('connector' = 'blackhole');
CREATE TABLE joined (id INT, k STRING) WITH ('connector' = 'blackhole');
EXECUTE STATEMENT SET BEGIN
INSERT INTO sums SELECT k, COUNT(*), COUNT(DISTINCT v) FROM t GROUP BY k;
INSERT INTO joined SELECT a.id, b.k FROM t a JOIN t b ON a.id = b.v;
END;
"""


@pytest.fixture(scope="module")
def checkpoint(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The checkpoint of a job that aggregates and joins."""
    root = tmp_path_factory.mktemp("job")
    (root / "in").mkdir()
    (root / "in" / "1").write_text(
        '{"k":"a","id":1,"v":1}\n{"k":"a","id":2,"v":1}\n{"k":"b","id":3,"v":2}\n{"k":null,"id":4,"v":1}\n'
    )
    options = JobOptions(checkpoint=str(root / "checkpoint"), mode=Mode.AVAILABLE_NOW, spark=spark)
    execute(compile_script(SCRIPT.format(root=root)), options).wait()
    return str(root / "checkpoint")


@pytest.fixture(scope="module")
def env(spark: SparkSession) -> Iterator[TableEnvironment]:
    yield TableEnvironment.create(EnvironmentSettings.in_streaming_mode())


def rows(
    env: TableEnvironment, columns: str, checkpoint: str, query: str, options: Mapping[str, str] | None = None
) -> list[tuple[object, ...]]:
    """The rows of a query over the table ``s`` with these columns and options."""
    named = {"connector": "savepoint", "state.path": checkpoint, "operator.uid": "group-aggregate"}
    named |= options or {}
    properties = ", ".join(f"'{key}' = '{value}'" for key, value in named.items())
    env.execute_sql("DROP TABLE IF EXISTS s")
    env.execute_sql(f"CREATE TABLE s ({columns}) WITH ({properties})")
    with env.execute_sql(query).collect() as found:
        return sorted((tuple(row) for row in found), key=repr)


def test_a_row_has_the_states_of_a_key(env: TableEnvironment, checkpoint: str) -> None:
    columns = "k ROW<k STRING>, acc ROW<`rows` BIGINT>, seen MAP<INT, BIGINT>, PRIMARY KEY (k) NOT ENFORCED"
    states = {"fields.acc.state-name": "accumulators", "fields.seen.state-name": "count_v_distinct-distinct"}
    query = "SELECT k.k, acc.`rows`, CARDINALITY(seen), seen[1] FROM s"
    assert rows(env, columns, checkpoint, query, states) == [("a", 2, 1, 1), ("b", 1, 1, None), (None, 1, 1, 1)]


def test_any_value_is_shown_as_text(env: TableEnvironment, checkpoint: str) -> None:
    columns = "k ROW<k STRING>, accumulators STRING, PRIMARY KEY (k) NOT ENFORCED"
    found = rows(env, columns, checkpoint, "SELECT accumulators FROM s WHERE k.k = 'a'")
    assert len(found) == 1
    assert str(found[0][0]).startswith('{"rows":2,')


def test_lists_and_uids(env: TableEnvironment, checkpoint: str) -> None:
    from flinkplan.state.checkpoint import CheckpointRecord

    plan = CheckpointRecord(checkpoint).plan()
    (uid,) = (f"{node.id}_join" for node in plan.nodes if "join" in node.type)
    options = {"operator.uid": uid, "fields.left.state-name": "leftState"}
    columns = "k INT, `left` MAP<INT, STRING>, PRIMARY KEY (k) NOT ENFORCED"
    with pytest.raises(FlinkplanError, match="is of the kind map, the state of the kind list"):
        rows(env, columns, checkpoint, "SELECT * FROM s", options)
    columns = "k INT, `left` ARRAY<STRING>, PRIMARY KEY (k) NOT ENFORCED"
    found = rows(env, columns, checkpoint, "SELECT k, CARDINALITY(`left`) FROM s", options)
    assert found == [(1, 1), (2, 1), (3, 1), (4, 1)]


@pytest.mark.parametrize(
    ("columns", "options", "message"),
    [
        ("k STRING, nothing INT, PRIMARY KEY (k) NOT ENFORCED", {}, "has no state nothing"),
        ("k STRING, accumulators INT, PRIMARY KEY (k) NOT ENFORCED", {}, "and the state has struct"),
        ("k INT, accumulators STRING, PRIMARY KEY (k) NOT ENFORCED", {}, "the key of the state accumulators"),
        ("k STRING, a STRING, PRIMARY KEY (k) NOT ENFORCED", {"operator.uid": "rank"}, "no operator rank"),
        ("k STRING, a STRING, PRIMARY KEY (k) NOT ENFORCED", {"state.path": "/nowhere"}, "no checkpoint here"),
        ("k STRING, a STRING, PRIMARY KEY (k) NOT ENFORCED", {"state.path": "memory://x"}, "local directories"),
        (
            "k STRING, a STRING, PRIMARY KEY (k) NOT ENFORCED",
            {"fields.a.value-type-factory": "com.example.Evil"},
            "loads a class",
        ),
        (
            "k STRING, a STRING, PRIMARY KEY (k) NOT ENFORCED",
            {"fields.a.key-type-factory": "com.example.Evil"},
            "loads a class",
        ),
        (
            "k STRING, accumulators STRING, PRIMARY KEY (k) NOT ENFORCED",
            {"fields.accumulators.state-type": "list"},
            "is of the kind list, the state of the kind value",
        ),
        (
            "k STRING, a STRING, PRIMARY KEY (k) NOT ENFORCED",
            {"fields.a.value-class": "com.example.Evil"},
            "classes are not loaded",
        ),
        ("k STRING, a STRING", {}, "needs a primary key"),
        ("k STRING, PRIMARY KEY (k) NOT ENFORCED", {}, "needs a column for a state"),
        (
            "k STRING, a STRING, PRIMARY KEY (k) NOT ENFORCED",
            {"operator.uid.hash": "ab"},
            "either 'operator.uid' or 'operator.uid.hash'",
        ),
    ],
)
def test_what_cannot_be_read_is_refused(
    env: TableEnvironment, checkpoint: str, columns: str, options: dict[str, str], message: str
) -> None:
    with pytest.raises(FlinkplanError) as error:
        rows(env, columns, checkpoint, "SELECT * FROM s", options)
    assert message in str(error.value)


def test_state_is_joined_with_a_stream(env: TableEnvironment, checkpoint: str, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "1").write_text("a\n")
    env.execute_sql(
        f"CREATE TABLE names (k STRING) WITH ('connector' = 'filesystem', 'path' = '{tmp_path}/in', 'format' = 'csv')"
    )
    columns = "k ROW<k STRING>, accumulators ROW<`rows` BIGINT>, PRIMARY KEY (k) NOT ENFORCED"
    query = "SELECT s.k.k, accumulators.`rows` FROM s JOIN names ON s.k.k = names.k"
    assert rows(env, columns, checkpoint, query) == [("a", 2)]
