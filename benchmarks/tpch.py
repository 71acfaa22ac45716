"""Measures the queries of TPC-H: bounded, against Spark SQL, DuckDB, and Flink where it is given.

    benchmarks/tpch.py [--scale 0.1] [--only q1,q9] [--rounds N] [--stream | --cold] [--flink PYTHON]
                       [--data DIR]

Data and queries come from DuckDB's extension `tpch`: `pip install duckdb==1.1.3`, whose wheel has it.  All engines read
the same CSV files.  An ORDER BY without LIMIT, which no stream has an order for, is left away, for all of them.

A figure is the least of the seconds of all rounds but the first one in a session, which is shown beside it.
``--stream`` has the same as one micro-batch beside it.  ``--cold`` runs each round in a process of its own, beside
Flink alone.  ``--flink`` names the Python of a virtual environment that has apache-flink.
"""

import argparse
import re
import time
from pathlib import Path
from subprocess import CalledProcessError

import duckdb
from measuring import Report, Round, least, run, run_cold, run_flink, run_flink_cold, timed, two_or_more

from flinkplan.executor.jvm.session import session
from flinkplan.plan.errors import FlinkplanError
from flinkplan.plan.nodes import Sink
from flinkplan.planner import compile_script

BOUNDED = "'connector' = 'filesystem', 'path' = '{path}', 'format' = 'csv'"
DISCARDED = "'connector' = 'blackhole'"
TYPES = {"INTEGER": "INT", "VARCHAR": "STRING"}
"""What Flink and Spark call DuckDB's types, where it is something else."""
IN_FLINK = {r"\bvalue\b": "total", r"GROUP BY\s+supplier_no": "GROUP BY l_suppkey"}
"""What Flink does not take of the queries: a reserved word as a name, an alias to group by."""


def build(folder: Path, scale: str) -> Path:
    """The folder of the tables, a CSV file in a folder each."""
    made = folder / f"scale-{scale}"
    if not made.exists():
        hidden = folder / f".{made.name}"
        with duckdb.connect() as database:
            database.execute(f"LOAD tpch; CALL dbgen(sf={float(scale)})")
            for name in columns(database):
                (hidden / name).mkdir(parents=True, exist_ok=True)
                database.execute(f"COPY {name} TO '{hidden / name}/0.csv' (HEADER false)")
        hidden.rename(made)
    return made


def columns(database: duckdb.DuckDBPyConnection) -> dict[str, list[tuple[str, str]]]:
    """The columns of each table, and their types."""
    found: dict[str, list[tuple[str, str]]] = {}
    for table, column, type_ in database.execute(
        "SELECT table_name, column_name, data_type FROM duckdb_columns() WHERE NOT internal "
        "ORDER BY table_name, column_index"
    ).fetchall():
        found.setdefault(table, []).append((column, TYPES.get(type_, type_)))
    return found


def queries() -> tuple[dict[str, str], dict[str, list[tuple[str, str]]]]:
    """The queries by name, and the columns of the tables."""
    with duckdb.connect() as database:
        database.execute("LOAD tpch; CALL dbgen(sf=0)")
        found = database.execute("SELECT query_nr, query FROM tpch_queries()").fetchall()
        return {f"q{number}": _unordered(query) for number, query in found}, columns(database)


def _unordered(query: str) -> str:
    """A query that Flink takes, whose order is that of its LIMIT, if any."""
    text = query.strip().rstrip(";")
    for pattern, said in IN_FLINK.items():
        text = re.sub(pattern, said, text)
    return text if re.search(r"\bLIMIT\s+\d+$", text) else re.sub(r"\sORDER BY\s[^()]*$", "", text)


def script(query: str, tables: dict[str, list[tuple[str, str]]], data: Path) -> str:
    """The script of a query, whose rows go nowhere."""
    definitions = [
        f"CREATE TABLE {name} ({', '.join(f'{c} {t}' for c, t in of)}) WITH ({BOUNDED.format(path=data / name)});"
        for name, of in tables.items()
        if re.search(rf"\b{name}\b", query)
    ]
    return "\n".join([*definitions, _sink(definitions, query), f"INSERT INTO sink {query};"]) + "\n"


def _sink(definitions: list[str], query: str) -> str:
    """The definition of a table for the rows of a query."""
    text = "\n".join([*definitions, f"CREATE TABLE sink WITH ({DISCARDED}) AS {query};"])
    plan = compile_script(text)
    (rows,) = plan.inputs(next(n for n in plan.nodes if isinstance(n, Sink)))
    listed = ", ".join(f"c{i} {field.type}" for i, field in enumerate(rows.fields))
    return f"CREATE TABLE sink ({listed}) WITH ({DISCARDED});"


def run_spark(query: str, tables: dict[str, list[tuple[str, str]]], data: Path, rounds: int) -> list[Round]:
    """The same as Spark SQL by hand."""
    spark = session()
    for name, of in tables.items():
        schema = ", ".join(f"{c} {t}" for c, t in of)
        spark.read.schema(schema).csv(str(data / name)).createOrReplaceTempView(name)
    return timed(rounds, lambda: spark.sql(query).write.format("noop").mode("overwrite").save())


def run_duckdb(query: str, tables: dict[str, list[tuple[str, str]]], data: Path, rounds: int) -> list[Round]:
    """The same by DuckDB, on as many threads."""
    found = []
    with duckdb.connect(config={"threads": 2}) as database:
        for name, of in tables.items():
            types = ", ".join(f"'{c}': '{t}'" for c, t in of)
            database.execute(f"CREATE VIEW {name} AS FROM read_csv('{data / name}/0.csv', columns = {{{types}}})")
        for _ in range(rounds):
            begin, used = time.perf_counter(), time.process_time()
            database.execute(query).fetchall()
            found.append(Round(time.perf_counter() - begin, time.process_time() - used))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--scale", default="0.1")
    parser.add_argument("--only", default="")
    parser.add_argument("--rounds", type=two_or_more, default=3)
    kind = parser.add_mutually_exclusive_group()
    kind.add_argument("--stream", action="store_true")
    kind.add_argument("--cold", action="store_true")
    parser.add_argument("--flink")
    parser.add_argument("--data", type=Path, default=Path("out/tpch"))
    given = parser.parse_args()
    data = build(given.data.absolute(), given.scale)
    known, tables = queries()
    warm = [] if given.cold else ["Spark SQL", "DuckDB", *(["as a stream"] if given.stream else [])]
    others = [*warm, *(["Flink"] if given.flink else [])]
    how = "cold" if given.cold else "bounded"
    report = Report(f"TPC-H, scale {given.scale}, {how}: seconds (of processor time)", others)
    if not given.cold:
        session("local[2]")
    for name in given.only.split(",") if given.only else known:
        try:
            sql = script(known[name], tables, data)
            ours = run_cold(sql, given.rounds) if given.cold else run(sql, given.rounds)
        except (FlinkplanError, CalledProcessError) as e:
            report.fail(name, e)
            continue
        beside = {}
        if not given.cold:
            beside["Spark SQL"] = least(run_spark(known[name], tables, data, given.rounds))
            beside["DuckDB"] = least(run_duckdb(known[name], tables, data, given.rounds))
        if given.stream:
            beside["as a stream"] = least(run(sql, given.rounds, streams=True))
        if given.flink:
            flink = run_flink_cold if given.cold else run_flink
            beside["Flink"] = least(flink(sql, given.rounds, given.flink))
        report.add(name, ours, beside)
    report.print()


if __name__ == "__main__":
    main()
