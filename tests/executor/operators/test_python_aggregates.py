"""Aggregations with Python functions on Spark: over restarts, with TTLs, in windows and with OVER."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from flinkplan.executor.jobs.job import JobOptions, execute
from flinkplan.executor.prepare.explain import physical_lines
from flinkplan.executor.prepare.job_plan import JobSettings, prepare
from flinkplan.executor.prepare.modes import Mode
from flinkplan.plan.document import Plan
from flinkplan.plan.errors import FlinkplanError
from flinkplan.table import DataTypes, EnvironmentSettings, MapView, Row, TableEnvironment
from flinkplan.table.expressions import call, col, row_interval
from flinkplan.table.udf import AggregateFunction, udaf, udf
from flinkplan.table.window import Slide, Tumble

from ..jobs import Place


class Seen(AggregateFunction):
    """How often each value is there."""

    def create_accumulator(self) -> Any:
        return Row(MapView(), 0)

    def accumulate(self, accumulator: Any, *args: Any) -> None:
        accumulator[0].put(args[0], (accumulator[0].get(args[0]) or 0) + 1)
        accumulator[1] += 1

    def retract(self, accumulator: Any, *args: Any) -> None:
        left = accumulator[0].get(args[0]) - 1
        if left:
            accumulator[0].put(args[0], left)
        else:
            accumulator[0].remove(args[0])
        accumulator[1] -= 1

    def merge(self, accumulator: Any, accumulators: Any) -> None:
        for other in accumulators:
            for value, count in other[0].items():
                accumulator[0].put(value, (accumulator[0].get(value) or 0) + count)
            accumulator[1] += other[1]

    def get_value(self, accumulator: Any) -> str:
        counts = ",".join(f"{value}:{count}" for value, count in sorted(accumulator[0].items()))
        return f"{accumulator[1]} {counts}"


VIEW = DataTypes.ROW(
    [
        DataTypes.FIELD("m", DataTypes.MAP_VIEW(DataTypes.STRING(), DataTypes.INT())),
        DataTypes.FIELD("n", DataTypes.INT()),
    ]
)
SEEN = udaf(Seen(), result_type=DataTypes.STRING(), accumulator_type=VIEW)
SAME = udf(lambda v: v, result_type=DataTypes.STRING())
MIDDLE = udaf(lambda v: float(v.median()), result_type=DataTypes.DOUBLE(), func_type="pandas")

EVENTS = "ts TIMESTAMP(3), k STRING, v STRING, x DOUBLE, WATERMARK FOR ts AS ts - INTERVAL '1' SECOND"


def compiled(
    place: Place, query: str, sink: str, columns: str = EVENTS, out: str = "debezium-json", **options: str
) -> Plan:
    """The plan of a query over the files of a place."""
    environment = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    for key, value in options.items():
        environment.get_config().set(key.replace("__", "-").replace("_", "."), value)
    environment.create_temporary_system_function("seen", SEEN)
    environment.create_temporary_system_function("middle", MIDDLE)
    environment.create_temporary_system_function("same", SAME)
    for name, declared, folder, format_ in (("t", columns, "in", "json"), ("o", sink, "out", out)):
        values = ", ".join(f"'{k}' = '{v}'" for k, v in place.files(folder, format_).items())
        environment.execute_sql(f"CREATE TABLE {name} ({declared}) WITH ({values})")
    return environment.compile_plan_sql(f"INSERT INTO o {query}").plan


def content(place: Place) -> list[Any]:
    """What the changes in the output come to."""
    rows: list[Any] = []
    for change in place.rows():
        if change["before"] is not None:
            rows.remove(change["before"])
        if change["after"] is not None:
            rows.append(change["after"])
    return sorted(rows, key=json.dumps)


GROUPED = "SELECT k, seen(v), COUNT(*) FROM t GROUP BY k"
SINK = "k STRING, s STRING, n BIGINT"
PLAIN = "k STRING, v STRING"


def test_groups_go_on_over_restarts(place: Place) -> None:
    plan = compiled(place, GROUPED, SINK, PLAIN)
    place.put("1", *({"k": k, "v": v} for k, v in [("a", "x"), ("b", "y"), ("a", "x")]))
    place.run(plan, Mode.AVAILABLE_NOW)
    place.put("2", *({"k": k, "v": v} for k, v in [("a", "z"), ("c", "y"), ("c", "w")]))
    place.run(plan, Mode.AVAILABLE_NOW)
    place.put("3", {"k": "a", "v": "x"})
    place.run(plan)
    assert content(place) == [
        {"k": "a", "s": "4 x:3,z:1", "n": 4},
        {"k": "b", "s": "1 y:1", "n": 1},
        {"k": "c", "s": "2 w:1,y:1", "n": 2},
    ]
    assert len([c for c in place.rows() if c["after"] and c["after"]["k"] == "a"]) == 3


def test_groups_over_a_changelog_are_deleted_with_their_last_row(place: Place) -> None:
    query = "SELECT s, seen(k), COUNT(*) FROM (SELECT k, seen(v) AS s FROM t GROUP BY k) GROUP BY s"
    plan = compiled(place, query, SINK, PLAIN)
    place.put("1", *({"k": k, "v": v} for k, v in [("a", "x"), ("b", "x"), ("c", "y")]))
    place.run(plan, Mode.AVAILABLE_NOW)
    place.put("2", {"k": "c", "v": "x"})
    place.run(plan)
    assert content(place) == [{"k": "1 x:1", "s": "2 a:1,b:1", "n": 2}, {"k": "2 x:1,y:1", "s": "1 c:1", "n": 1}]


def test_many_groups(place: Place) -> None:
    place.put("1", *({"k": str(i % 500), "v": "x"} for i in range(12_000)))
    place.run(compiled(place, GROUPED, SINK, PLAIN))
    assert {row["n"] for row in content(place)} == {24}
    assert len(place.rows()) == 500


def test_each_row_comes_out_with_bundles_of_one(place: Place) -> None:
    plan = compiled(place, GROUPED, SINK, PLAIN)
    place.put("1", *({"k": "a", "v": v} for v in "xyz"))
    execute(plan, JobOptions(spark=place.spark, options={"python.fn-execution.bundle.size": "1"})).wait()
    assert [c["after"]["n"] for c in place.rows() if c["after"]] == [1, 2, 3]


def test_windows_and_frames(place: Place) -> None:
    rows = [("00:01", "a", 1.0), ("00:04", "b", 2.0), ("00:12", "a", 4.0), ("00:11", "a", 8.0), ("00:40", "a", 3.0)]
    place.put("1", *({"ts": f"2025-01-01 00:{t}", "k": k, "v": k, "x": x} for t, k, x in rows))
    sessions = "SELECT k, seen(v) FROM t GROUP BY k, SESSION(ts, INTERVAL '15' SECOND)"
    place.run(compiled(place, sessions, "k STRING, s STRING", out="json"), Mode.AVAILABLE_NOW)
    assert sorted(place.rows(), key=json.dumps) == [{"k": "a", "s": "3 a:3"}, {"k": "b", "s": "1 b:1"}]
    place.put("2", {"ts": "2025-01-01 00:02:00", "k": "b", "v": "b", "x": 1.0})
    place.run(compiled(place, sessions, "k STRING, s STRING", out="json"))
    assert sorted(place.rows()[2:], key=json.dumps) == [{"k": "a", "s": "1 a:1"}, {"k": "b", "s": "1 b:1"}]


@pytest.mark.parametrize("size, rows", [(1000, 5), (1, 4)])
def test_rows_behind_a_function_are_late_by_the_bundle_before(place: Place, size: int, rows: int) -> None:
    times = ("00:01", "00:04", "00:25", "00:11", "00:40")
    place.put("1", *({"ts": f"2025-01-01 00:{time}", "k": "a"} for time in times))
    query = "SELECT k, COUNT(*) FROM (SELECT ts, same(k) AS k FROM t) GROUP BY k, TUMBLE(ts, INTERVAL '10' SECOND)"
    options = {"python.fn-execution.bundle.size": str(size)}
    execute(
        compiled(place, query, "k STRING, n BIGINT", out="json"), JobOptions(spark=place.spark, options=options)
    ).wait()
    assert sum(row["n"] for row in place.rows()) == rows


def test_pandas_over_frames(place: Place) -> None:
    rows = [("00:01", 1.0), ("00:04", 2.0), ("00:12", 4.0), ("00:11", 8.0), ("00:40", None)]
    rows += [("00:13", 10.0), ("00:12", 100.0)]  # late: the first comes out, the second is in its frame
    place.put("1", *({"ts": f"2025-01-01 00:{t}", "k": "a", "x": x} for t, x in rows))
    query = "SELECT ts, middle(x) OVER (PARTITION BY k ORDER BY ts ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM t"
    place.run(compiled(place, query, "ts TIMESTAMP(3), m DOUBLE", out="json"), streams=True)
    assert [row["m"] for row in place.rows()] == [1.0, 1.5, 5.0, 6.0, 55.0, 10.0]


def windows_of_rows(place: Place, window: Any, call: Any, sink: str) -> Plan:
    environment = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    environment.create_temporary_system_function("seen", SEEN)
    for name, declared, folder in (("t", "k STRING, v STRING, pt AS PROCTIME()", "in"), ("o", sink, "out")):
        values = ", ".join(f"'{k}' = '{v}'" for k, v in place.files(folder).items())
        environment.execute_sql(f"CREATE TABLE {name} ({declared}) WITH ({values})")
    windowed = environment.from_path("t").window(window.on(col("pt")).alias("w")).group_by(col("w"), col("k"))
    return windowed.select(col("k"), call).insert_into("o").compile_plan().plan


@pytest.mark.parametrize(
    ("window", "expected"),
    [
        (Tumble.over(row_interval(2)), ["2 x:1,y:1"]),
        (Slide.over(row_interval(2)).every(row_interval(1)), ["2 x:1,y:1", "2 y:1,z:1"]),
    ],
)
def test_windows_that_count_rows_go_on_over_restarts(place: Place, window: Any, expected: list[str]) -> None:
    plan = windows_of_rows(place, window, call("seen", col("v")), "k STRING, s STRING")
    place.put("1", {"k": "a", "v": "x"}, {"k": "b", "v": "x"})
    place.run(plan, Mode.AVAILABLE_NOW)
    place.put("2", {"k": "a", "v": "y"}, {"k": "a", "v": "z"})
    place.run(plan)
    assert [row["s"] for row in place.rows()] == expected


def test_built_in_functions_in_windows_that_count_rows(place: Place) -> None:
    plan = windows_of_rows(place, Tumble.over(row_interval(3)), col("v").max, "k STRING, m STRING")
    place.put("1", *({"k": "a", "v": v} for v in "abcde"))
    place.run(plan)
    assert place.rows() == [{"k": "a", "m": "c"}]


def test_a_function_that_fails_ends_the_job(place: Place, tmp_path: Path) -> None:
    plan = compiled(place, GROUPED, SINK, PLAIN)
    place.put("1", {"k": "a", "v": "x"}, {"k": "a", "v": None})
    with pytest.raises(
        FlinkplanError, match=r"seen\(<Row\(MapView\({'x': 1, None: 1}\), 2\)>\) raised TypeError"
    ) as raised:
        place.run(plan)
    assert "test_python_aggregates.py:" in str(raised.value)


class _Folder:
    """A place of which only the names of its tables are asked."""

    def files(self, folder: str, format_: str = "json") -> dict[str, str]:
        return {"connector": "filesystem", "path": f"/nowhere/{folder}", "format": format_}


def physical(query: str, sink: str, out: str = "debezium-json", **options: str) -> str:
    plan = compiled(_Folder(), query, sink, out=out)  # type: ignore[arg-type]
    settings = JobSettings(options={key.replace("_", "."): value for key, value in options.items()})
    return "\n".join(map(str, physical_lines(prepare(plan, Mode.STREAMING, settings))))


def test_explain_says_what_is_in_python() -> None:
    text = physical(GROUPED, SINK, table_exec_state_ttl="1 h")
    assert "kernel python.PythonGroups" in text
    assert "in a Python process: seen, COUNT" in text
    assert "accumulators MapState: by group" in text and "TTL 1 h" in text
    sessions = "SELECT k, seen(v) FROM t GROUP BY k, SESSION(ts, INTERVAL '15' SECOND)"
    assert "in Spark's Python workers, in Arrow batches: seen" in physical(sessions, "k STRING, s STRING", "json")


def test_real_time_mode_is_refused() -> None:
    plan = compiled(_Folder(), GROUPED, SINK)  # type: ignore[arg-type]
    text = "\n".join(map(str, physical_lines(prepare(plan, Mode.REAL_TIME))))
    assert "not in real-time mode: Python functions take the rows of a batch together" in text
