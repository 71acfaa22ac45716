"""Jobs that begin with the state of history, and migrations whose states come from history."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from flinkplan.executor.checkpoints.warm_up import WarmUp, WarmUpError, execute_warm
from flinkplan.executor.jobs.job import JobOptions
from flinkplan.executor.prepare.modes import Mode
from flinkplan.planner import compile_script
from tests.compat.migrated import in_folder, migrate, put, total, written

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

_TABLE = """
CREATE TABLE {name} (k INT, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH (
  'connector' = 'filesystem', 'path' = '${{DIR}}/in/{name}', 'format' = 'json', 'source.monitor-interval' = '1 s');
"""
_SINK = "CREATE TABLE {name} ({columns}) WITH ('connector' = 'filesystem', 'path' = 'x', 'format' = 'debezium-json');\n"
Rows = Mapping[str, Sequence[Mapping[str, Any]]]


def row(k: int, v: int, minute: int, second: int = 0) -> dict[str, Any]:
    """A row of a table."""
    return {"k": k, "v": v, "ts": f"2024-01-01 {minute // 60:02}:{minute % 60:02}:{second:02}"}


def script(inserts: Mapping[str, tuple[str, str]], settings: str = "") -> str:
    """A script over two tables: for each sink its columns and its query."""
    sinks = "".join(_SINK.format(name=name, columns=columns) for name, (columns, _) in inserts.items())
    statements = "".join(f"INSERT INTO {name} {query};\n" for name, (_, query) in inserts.items())
    tables = _TABLE.format(name="s") + _TABLE.format(name="b")
    return f"{settings}{tables}{sinks}EXECUTE STATEMENT SET BEGIN\n{statements}END;\n"


def warmed(
    sql: str, history: Rows, live: Rows, folder: Path, spark: SparkSession, *, emits: bool = False
) -> dict[tuple[str, ...], int]:
    """The net rows that a job writes which begins with history."""
    plan = in_folder(compile_script(sql), folder)
    tables = {}
    for name, rows in history.items():
        file = folder / "old" / name / "rows.json"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("".join(json.dumps(each) + "\n" for each in rows))
        tables[name] = {"connector": "filesystem", "path": str(file.parent), "format": "json"}
    put(folder, {f"{name}/new": rows for name, rows in live.items()})
    options = JobOptions(str(folder / "checkpoint"), mode=Mode.AVAILABLE_NOW, spark=spark)
    messages: list[str] = []
    for _ in range(2):  # the second time it goes on
        execute_warm(plan, options, WarmUp(tables, emits), messages.append).wait()
    assert messages[-1] == "the job has begun: its history is not read again"
    return total(written(folder))


_HISTORY = [row(1, 1, 0, 10), row(2, 5, 1), row(1, 2, 0, 5), row(1, 3, 3)]
_SUMS = ("k INT, n BIGINT, x INT", "SELECT k, COUNT(*) AS n, SUM(v) AS x FROM s GROUP BY k")
_WINDOWS = (
    "w TIMESTAMP(3), k INT, n BIGINT",
    "SELECT window_start, k, COUNT(*) FROM TABLE(TUMBLE(TABLE s, DESCRIPTOR(ts), INTERVAL '2' MINUTE)) "
    "GROUP BY window_start, window_end, k",
)
_JOIN = ("k INT, v INT, x INT", "SELECT s.k, s.v, b.v FROM s JOIN b ON s.k = b.k")
_FIRST = (
    "k INT, v INT",
    "SELECT k, v FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY p) AS r "
    "FROM (SELECT *, PROCTIME() AS p FROM s)) WHERE r = 1",
)


def test_a_job_begins_with_the_state_of_history(spark: SparkSession, tmp_path: Path) -> None:
    sql = script({"windows": _WINDOWS, "joined": _JOIN, "firsts": _FIRST})
    history = {"s": _HISTORY, "b": [row(1, 100, 2)]}
    live = {"s": [row(1, 10, 4), row(3, 7, 9)], "b": [row(2, 200, 9)]}
    assert warmed(sql, history, live, tmp_path, spark) == {
        ("windows", "2024-01-01 00:02:00", "1", "1"): 1,
        ("windows", "2024-01-01 00:04:00", "1", "1"): 1,
        ("joined", "1", "10", "100"): 1,
        ("joined", "2", "5", "200"): 1,
        ("firsts", "3", "7"): 1,  # the first of key 1 by event time was not that of the file
    }


def test_what_expires_meanwhile_is_gone_and_sinks_get_the_rest(spark: SparkSession, tmp_path: Path) -> None:
    sql = script({"sums": _SUMS}, "SET 'table.exec.state.ttl' = '1 h';\n")
    history = {"s": [row(1, 1, 0), row(1, 2, 30), row(1, 4, 200), row(2, 8, 210)]}
    assert warmed(sql, history, {"s": [row(2, 1, 220)]}, tmp_path, spark, emits=True) == {
        ("sums", "1", "2", "3"): 1,
        ("sums", "1", "1", "4"): 1,
        ("sums", "2", "1", "8"): 1,
        ("sums", "2", "1", "1"): 1,  # the job has begun years later
    }


def test_history_must_be_that_of_a_table(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(WarmUpError, match="the plan reads no table 'c'"):
        warmed(script({"sums": _SUMS}), {"c": []}, {}, tmp_path, spark)
    (tmp_path / "old" / "s").mkdir(parents=True)
    (tmp_path / "old" / "s" / "broken.json").write_text("no JSON\n")
    with pytest.raises(WarmUpError) as error:
        warmed(script({"sums": _SUMS}), {"s": [row(1, 1, 0)]}, {}, tmp_path, spark)
    assert "broken.json" in str(error.value.where)
    assert not (tmp_path / "checkpoint").exists()


@pytest.mark.nightly("it runs six jobs; truths are held against both engines every night as well")
def test_a_migrated_job_has_states_from_history(spark: SparkSession, tmp_path: Path) -> None:
    changed = {
        "sums": ("k INT, n BIGINT, x INT", "SELECT k, COUNT(*), MAX(v) FROM s GROUP BY k"),
        "windows": (_WINDOWS[0], _WINDOWS[1].replace("'2' MINUTE", "'4' MINUTE")),
    }
    old = compile_script(script({"sums": _SUMS, "windows": _WINDOWS}))
    files = {"s/a": _HISTORY, "b/a": []}, {"s/b": [row(1, 10, 3, 30), row(3, 7, 9)]}
    outcome = migrate((old, compile_script(script(changed))), files, tmp_path, spark)
    assert not outcome.refused
    assert {r: n for r, n in outcome.all.items() if r[0] == "sums"} == {
        r: n for r, n in outcome.expected.items() if r[0] == "sums"
    }
    assert {r: n for r, n in outcome.after.items() if r[0] == "windows"} == {
        r: n for r, n in outcome.expected_after.items() if r[0] == "windows"
    }
