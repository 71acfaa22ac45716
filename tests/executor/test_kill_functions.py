"""Jobs with functions of users that are killed again and again write what they write undisturbed.

Accumulators with views, over changes and in windows, and states and timers of process table functions are in Java, and
all of it in Python, whose processes die with the JVM or are killed with it.  The processes are killed as in
``tests/compat/test_kill.py``; what they leave is compared with a run over the same files that nothing disturbs.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from flinkplan.flink.home import HOME, PYTHON, flink_jars
from flinkplan.plan.document import save
from flinkplan.planner.script import compile_statements, parse_pipeline
from flinkplan.table.function_loader import FunctionLoader
from tests.killing import Kills, Place, Work, left
from tests.parity.java.cases import JAVA, PROCESS, PTFS, Suite

pytestmark = [
    pytest.mark.spark,
    pytest.mark.xdist_group("processes"),
    pytest.mark.nightly("streams with functions start again elsewhere; each kill starts a JVM"),
]

needs_flink = pytest.mark.skipif(
    not (os.environ.get(PYTHON) or os.environ.get(HOME)), reason=f"needs Flink: {PYTHON} or {HOME}"
)

ROWS = 20
IN_ONE_TASK = {"spark.sql.files.minPartitionNum": "1", "spark.sql.files.openCostInBytes": "0"}
"""Where several tasks read a micro-batch, it depends on them which rows are late and when timers fire."""
START = datetime(2024, 1, 1)
TABLES = {
    "a": (
        "id INT NOT NULL, k STRING, s STRING, n INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND",
        "json",
    ),
    "b": ("id INT, k STRING, s STRING, n INT", "debezium-json"),
    "f": ("k STRING, city STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts", "json"),
}  # fmt: skip
OVER = "PARTITION BY k ORDER BY ts RANGE BETWEEN INTERVAL '30' SECOND PRECEDING AND CURRENT ROW"
TIMED = "r => TABLE a PARTITION BY k, on_time => DESCRIPTOR(ts)"

Sinks = Mapping[str, tuple[str, str]]
"""Of each sink its query and its columns."""

AGGREGATES: Sinks = {
    "retracted": ("SELECT k, names(s) FROM b GROUP BY k", "k STRING, r STRING"),
    "distinct_names": (
        "SELECT k, names(DISTINCT s), COUNT(DISTINCT s) FROM b GROUP BY k",
        "k STRING, r STRING, c BIGINT",
    ),
    "collected": ("SELECT k, collected(s) FROM a GROUP BY k", "k STRING, r STRING"),
    "of_groups": (
        "SELECT c, count_distinct_text(s) FROM (SELECT s, COUNT(*) AS c FROM a GROUP BY s) GROUP BY c",
        "c BIGINT, r BIGINT",
    ),
    "sessions": (
        "SELECT k, window_start, names(s) FROM SESSION(TABLE a PARTITION BY k, DESCRIPTOR(ts), INTERVAL '15' SECOND) "
        "GROUP BY k, window_start, window_end",
        "k STRING, w TIMESTAMP(3), r STRING",
    ),
    "over_range": (
        f"SELECT id, names(s) OVER ({OVER}) FROM a",
        "id INT, r STRING",
    ),
}  # fmt: skip
TIMERS: Sinks = {
    "states": (
        "SELECT k, n, CARDINALITY(names) FROM all_states(input => (SELECT id, k, n AS v FROM a) PARTITION BY k)",
        "k STRING, n INT, m INT",
    ),
    "timeouts": (
        f"SELECT * FROM timeout({TIMED})",
        "k STRING, w STRING, n BIGINT, rt TIMESTAMP(3)",
    ),
    "throttled": (
        f"SELECT * FROM throttle({TIMED})",
        "k STRING, t STRING, rt TIMESTAMP(3)",
    ),
    "late_rows": (
        "SELECT * FROM late(r => (SELECT k, id AS v, ts FROM a) PARTITION BY k, on_time => DESCRIPTOR(ts))",
        "k STRING, v INT, late BOOLEAN, mark BIGINT, rt TIMESTAMP(3)",
    ),
    "windows": (
        f"SELECT window_start, k, COUNT(*) FROM TABLE(TUMBLE(DATA => (SELECT * FROM periodic_f({TIMED})), "
        "TIMECOL => DESCRIPTOR(rowtime), SIZE => INTERVAL '2' MINUTE)) GROUP BY window_start, window_end, k",
        "w TIMESTAMP(3), k STRING, c BIGINT",
    ),
    "pairs": (
        "SELECT * FROM matched(l => (SELECT k, s, ts FROM a WHERE n = 0) PARTITION BY k, r => TABLE f PARTITION BY k, "
        "on_time => DESCRIPTOR(ts))",
        "k STRING, k2 STRING, t STRING, l INT, r INT, rt TIMESTAMP(3)",
    ),
}  # fmt: skip

OF_OTHER_NAMES = {"all_states": "AllStates", "periodic_f": "Periodic"}
"""The functions that are not called as their classes are."""

PROGRAM = """
from pyflink.table import DataTypes, EnvironmentSettings, ListView, MapView, Row, TableEnvironment
from pyflink.table.expressions import col
from pyflink.table.udf import AggregateFunction, TableAggregateFunction, udaf, udf, udtaf, udtf


class Names(AggregateFunction):
    def create_accumulator(self):
        return Row(0, MapView(), ListView())

    def accumulate(self, accumulator, name):
        accumulator[0] += 1
        accumulator[1].put(name, (accumulator[1].get(name) or 0) + 1)

    def retract(self, accumulator, name):
        accumulator[0] -= 1
        accumulator[1].put(name, accumulator[1].get(name) - 1)
        if accumulator[1].get(name) == 0:
            accumulator[1].remove(name)
        accumulator[2].add(name)

    def get_value(self, accumulator):
        return f"{accumulator[0]} {sorted(accumulator[1].items())} {len(list(accumulator[2]))}"


class Numbers(AggregateFunction):
    def create_accumulator(self):
        return Row(0, 0)

    def accumulate(self, accumulator, number):
        accumulator[0] += number
        accumulator[1] += 1

    def retract(self, accumulator, number):
        accumulator[0] -= number
        accumulator[1] -= 1

    def merge(self, accumulator, accumulators):
        for other in accumulators:
            accumulator[0] += other[0]
            accumulator[1] += other[1]

    def get_value(self, accumulator):
        return f"{accumulator[0]}/{accumulator[1]}"


class Largest(TableAggregateFunction):
    def create_accumulator(self):
        return []

    def accumulate(self, accumulator, number):
        accumulator.append(number)

    def retract(self, accumulator, number):
        accumulator.remove(number)

    def emit_value(self, accumulator):
        for rank, number in enumerate(sorted(accumulator, reverse=True)[:2]):
            yield Row(rank, number)


@udf(result_type=DataTypes.STRING())
def loud(text):
    return text.upper()


@udtf(result_types=[DataTypes.STRING(), DataTypes.INT()])
def letters(text):
    return [(letter, i) for i, letter in enumerate(text)]


@udaf(result_type=DataTypes.BIGINT(), func_type="pandas")
def widest(numbers):
    return int(numbers.max() - numbers.min())


names = udaf(
    Names(),
    result_type=DataTypes.STRING(),
    accumulator_type=DataTypes.ROW([
        DataTypes.FIELD("n", DataTypes.BIGINT()),
        DataTypes.FIELD("counts", DataTypes.MAP_VIEW(DataTypes.STRING(), DataTypes.BIGINT())),
        DataTypes.FIELD("gone", DataTypes.LIST_VIEW(DataTypes.STRING())),
    ]),
)
numbers = udaf(
    Numbers(),
    result_type="STRING",
    accumulator_type="ROW<s BIGINT, n BIGINT>",
)
largest = udtaf(
    Largest(),
    result_type=DataTypes.ROW([DataTypes.FIELD("place", DataTypes.BIGINT()), DataTypes.FIELD("id", DataTypes.INT())]),
    accumulator_type=DataTypes.ARRAY(DataTypes.INT()),
)
env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
for name in ("names", "numbers", "largest", "loud", "letters", "widest"):
    env.create_temporary_function("py_" + name, globals()[name])
for statement in TABLES:
    env.execute_sql(statement)
job = env.create_statement_set()
for sink, query in QUERIES.items():
    job.add_insert_sql(f"INSERT INTO {sink} {query}")
first = env.from_path("b").group_by(col("k")).flat_aggregate(largest(col("id")))
job.add_insert("places", first.select(col("k"), col("place"), col("id")))
job.execute()
"""
PYTHON_SINKS: Sinks = {
    "retracted": ("SELECT k, py_names(s), COUNT(*) FROM b GROUP BY k", "k STRING, r STRING, c BIGINT"),
    "of_groups": (
        "SELECT c, py_numbers(n) FROM (SELECT s, COUNT(*) AS c, SUM(n) AS n FROM a GROUP BY s) GROUP BY c",
        "c BIGINT, r STRING",
    ),
    "sessions": (
        "SELECT k, SESSION_START(ts, INTERVAL '15' SECOND), py_numbers(id) FROM a WHERE n = 0 "
        "GROUP BY k, SESSION(ts, INTERVAL '15' SECOND)",
        "k STRING, w TIMESTAMP(3), r STRING",
    ),
    "hops": (
        "SELECT k, HOP_START(ts, INTERVAL '20' SECOND, INTERVAL '1' MINUTE), py_widest(id) FROM a "
        "GROUP BY k, HOP(ts, INTERVAL '20' SECOND, INTERVAL '1' MINUTE)",
        "k STRING, w TIMESTAMP(3), r BIGINT",
    ),
    "over_range": (
        f"SELECT id, py_widest(id) OVER ({OVER}) FROM a",
        "id INT, r BIGINT",
    ),
    "calls": (
        "SELECT id, py_loud(s), t.l, t.i FROM a, LATERAL TABLE(py_letters(k)) AS t(l, i)",
        "id INT, s STRING, l STRING, i INT",
    ),
}


@needs_flink
@pytest.mark.flink
@pytest.mark.parametrize(("suite", "sinks"), [(JAVA, AGGREGATES), (PROCESS, TIMERS)], ids=["aggregates", "timers"])
def test_java_functions_write_what_they_write_undisturbed(suite: Suite, sinks: Sinks, tmp_path: Path) -> None:
    jar = str(suite.compile_jar(tmp_path, flink_jars()))
    functions = (suite.folder / "functions.sql").read_text("utf-8").replace("${CASE}", str(tmp_path))
    permanent = functions.replace("TEMPORARY ", "").replace("SYSTEM ", "")
    plan = tmp_path / "plan.json"
    statements = parse_pipeline(script(permanent, sinks), "killed.sql")
    save(compile_statements(statements, {}, load=FunctionLoader(lambda: [jar])), plan)
    killed_as_undisturbed(plan, tmp_path, sinks, "--jar", jar)


def test_process_table_functions_in_python_write_what_they_write_undisturbed(tmp_path: Path) -> None:
    module = str(PROCESS.folder / f"{PTFS}.py")
    plan = tmp_path / "plan.json"
    statements = parse_pipeline(script(PROCESS.functions_in_python(PTFS, permanent=True), TIMERS), "killed.sql")
    save(compile_statements(statements, {}, load=FunctionLoader(lambda: [module])), plan)
    named = [f"--function={name}={PTFS}.{class_name}" for name, class_name in OF_OTHER_NAMES.items()]
    killed_as_undisturbed(plan, tmp_path, TIMERS, "--py-files", module, *named)


def test_python_functions_write_what_they_write_undisturbed(tmp_path: Path) -> None:
    sinks = {**PYTHON_SINKS, "places": ("", "k STRING, place BIGINT, id INT")}
    queries = {sink: query for sink, (query, _) in PYTHON_SINKS.items()}
    program = tmp_path / "program.py"
    program.write_text(f"TABLES = {tables(sinks)!r}\nQUERIES = {queries!r}\n{PROGRAM}")
    killed_as_undisturbed(program, tmp_path, sinks)


def killed_as_undisturbed(program: Path, folder: Path, sinks: Sinks, *options: str) -> None:
    """Kill the work of a program again and again, and compare its rows with those of a work without kills."""
    variables = {"IN": str(folder / "in")}
    works = {
        name: Work(program, folder / name, {**variables, "OUT": str(folder / name / "out")}, options, IN_ONE_TASK)
        for name in ("killed", "undisturbed")
    }
    Kills(*Place).inflict(works["killed"], lambda number: feed(folder / "in", number), sinks)
    works["undisturbed"].worker("bounded", 2).finish()
    written, expected = ({sink: left(folder / name / "out" / sink) for sink in sinks} for name in works)
    assert written == expected
    assert all(expected.values())


def script(functions: str, sinks: Sinks) -> str:
    """A statement set with these sinks."""
    inserts = [f"INSERT INTO {name} {query};\n" for name, (query, _) in sinks.items()]
    return "".join(
        [*(f"{table};\n" for table in tables(sinks)), functions, "EXECUTE STATEMENT SET BEGIN\n", *inserts, "END;"]
    )


def tables(sinks: Sinks) -> list[str]:
    """The statements for tables that are watched for new files in ``IN``, and for the sinks in ``OUT``."""
    watched = (
        "'connector' = 'filesystem', 'path' = '${IN}/NAME', 'format' = 'FORMAT', 'source.monitor-interval' = '100 ms'"
    )
    written = "'connector' = 'filesystem', 'path' = '${OUT}/NAME', 'format' = 'debezium-json'"
    options = {n: (c, watched.replace("FORMAT", form)) for n, (c, form) in TABLES.items()}
    options |= {name: (columns, written) for name, (_, columns) in sinks.items()}
    return [f"CREATE TABLE {name} ({c}) WITH ({o.replace('NAME', name)})" for name, (c, o) in options.items()]


def feed(folder: Path, number: int) -> None:
    """Add the files ``number`` of all tables, each whole at once.

    The times go on and on, with one late row in ten; of the changes, three rows are inserted, then one of each is
    updated, deleted, and left as it was.
    """
    ids = range(number * ROWS, (number + 1) * ROWS)
    rows = [_row(i) for i in ids]
    changes: list[dict[str, Any]] = []
    for i in ids:
        row = {name: rows[i - ids.start][name] for name in ("id", "k", "s", "n")}
        changes.append({"op": "c", "before": None, "after": row})
        if i % 3 == 0:
            changes.append({"op": "u", "before": row, "after": {**row, "s": f"u{i % 5}"}})
        elif i % 3 == 1:
            changes.append({"op": "d", "before": row, "after": None})
    cities = [{"k": f"k{i % 4}", "city": f"c{i}", "ts": str(START + timedelta(seconds=3 * i))} for i in ids if i % 2]
    for table, lines in {"f": cities, "a": rows, "b": changes}.items():
        hidden = folder / table / f".{number:06}"
        hidden.parent.mkdir(parents=True, exist_ok=True)
        hidden.write_text("".join(json.dumps(line) + "\n" for line in lines))
        hidden.rename(hidden.with_name(f"{number:06}"))


def _row(i: int) -> dict[str, Any]:
    is_late = i % 10 == 9
    at = START + timedelta(seconds=3 * i - (90 if is_late else i % 3 * 2))
    return {"id": i, "k": f"k{i % 4}", "s": f"s{i % 7}", "n": int(is_late), "ts": str(at)}
