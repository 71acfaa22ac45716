"""Scripts: definitions and settings in order, one job."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from flinkplan.plan.document import dumps, loads
from flinkplan.plan.errors import ErrorGroup, FlinkplanError, UnsupportedError
from flinkplan.planner import compile_script
from flinkplan.planner.script import job_of
from flinkplan.planner.session import Session
from flinkplan.planner.sql import ast, parse_script

TABLES = "CREATE TABLE t (a INT) WITH ('c'='d'); CREATE TABLE o (a INT) WITH ('c'='d');"


def session_after(sql: str) -> Session:
    session = Session({"a": "0"})
    for statement in parse_script(sql).statements:
        session.apply(statement)
    return session


def test_settings_are_set_and_reset() -> None:
    session = session_after("SET 'x' = '1'; SET 'a' = '2'; RESET 'x';")
    assert session.config == {"a": "2"}
    assert session_after("SET 'x' = '1'; RESET;").config == {"a": "0"}


def test_databases_qualify_names() -> None:
    session = session_after("CREATE DATABASE db; USE db; CREATE TABLE t (a INT) WITH ('c'='d');")
    assert session.catalog.find(("db", "t")) is session.catalog.find(("t",)) is not None


def test_drop_and_alter() -> None:
    session = session_after(TABLES + "ALTER TABLE t SET ('e' = 'f'); ALTER TABLE t RENAME TO t2; DROP TABLE o;")
    assert list(session.catalog.names()) == ["t2"]
    assert session.catalog.find(("t2",)).resolved.options == {"c": "d", "e": "f"}  # type: ignore[union-attr]


def test_the_job_is_the_one_insert() -> None:
    job = job_of(parse_script(TABLES + "EXECUTE STATEMENT SET BEGIN INSERT INTO o SELECT a FROM t; END;"))
    assert isinstance(job, ast.StatementSet)
    compiled = job_of(parse_script(TABLES + "COMPILE PLAN 'p' FOR INSERT INTO o SELECT a FROM t;"))
    assert isinstance(compiled, ast.Insert)


@pytest.mark.parametrize(
    ("sql", "message"),
    [(TABLES, "nothing to compile"), ("INSERT INTO o SELECT 1; INSERT INTO o SELECT 2;", "several INSERTs")],
)
def test_there_is_exactly_one_job(sql: str, message: str) -> None:
    with pytest.raises(FlinkplanError, match=message):
        job_of(parse_script(sql))


def test_plans_of_batch_mode_are_left_to_flink() -> None:
    with pytest.raises(FlinkplanError, match="compiled by Flink only; a streaming plan over bounded tables also ends"):
        compile_script(f"SET 'execution.runtime-mode' = 'batch';{TABLES}INSERT INTO o SELECT a FROM t;")


@pytest.mark.parametrize(
    "query", ["SELECT " + "+".join(["a"] * 5000) + " FROM t", "SELECT a FROM (" * 2000 + "SELECT a FROM t" + ")" * 2000]
)
def test_what_is_nested_too_deeply_says_so(query: str) -> None:
    for statement in (f"INSERT INTO o {query};", f"CREATE VIEW v AS {query}; INSERT INTO o SELECT * FROM v;"):
        with pytest.raises(FlinkplanError, match="nested too deeply"):
            compile_script(TABLES + statement)


def test_programs_may_nest_as_deeply_as_the_command_line() -> None:
    """In whichever thread, and what the program has set for itself stays."""
    before = sys.getrecursionlimit()
    tables = TABLES.replace("'c'='d'", "'connector'='datagen'", 1).replace("'c'='d'", "'connector'='print'")
    script = f"{tables} INSERT INTO o SELECT {'ABS(' * 300}a{')' * 300} FROM t;"
    with ThreadPoolExecutor(2) as pool:
        plans = list(pool.map(compile_script, [script] * 2))
    assert [loads(dumps(plan)) for plan in plans] == plans
    assert sys.getrecursionlimit() == before


def test_what_is_left_out_says_so() -> None:
    with pytest.raises(UnsupportedError, match="is not supported"):
        session_after("CREATE FUNCTION f AS 'x.Y' LANGUAGE SQL;")


def test_the_errors_of_all_statements_are_told_at_once() -> None:
    script = (
        "CREATE TABLE t (a INT) WITH ('connector'='datagen');\n"
        "CREATE TABLE o (a INT) WITH ('connector'='filesystem', 'path'='o', 'format'='json');\n"
        "CREATE VIEW v AS SELECT b FROM t;\n"
        "EXECUTE STATEMENT SET BEGIN\n"
        "INSERT INTO o SELECT x FROM v;\n"
        "INSERT INTO o SELECT b FROM t;\n"
        "INSERT INTO o SELECT a FROM tt;\n"
        "END;"
    )
    with pytest.raises(ErrorGroup) as caught:
        compile_script(script, file="p.sql")
    told = [f"{error.where}: {error.message}" for error in caught.value.errors]
    assert told == [
        "p.sql:3:25: there is no column 'b' in 't'",
        "p.sql:6:22: there is no column 'b' in 't'",
        "p.sql:7:29: there is no table or view 'tt'",
    ], "the INSERT from the faulty view is not judged"


def test_what_the_optimizer_refuses_is_told_at_each_insert() -> None:
    script = (
        "CREATE TABLE t (a INT) WITH ('connector'='datagen');\n"
        "CREATE TABLE o (n BIGINT) WITH ('connector'='filesystem', 'path'='o', 'format'='json');\n"
        "EXECUTE STATEMENT SET BEGIN\n"
        "INSERT INTO o SELECT COUNT(*) FROM t;\n"
        "INSERT INTO o SELECT a FROM t;\n"
        "INSERT INTO o SELECT MAX(a) FROM t;\n"
        "END;"
    )
    with pytest.raises(ErrorGroup) as caught:
        compile_script(script, file="p.sql")
    assert [str(error.where) for error in caught.value.errors] == ["p.sql:4:13", "p.sql:6:13"]
    assert (caught.value.errors[0].snippet or "").endswith("| " + " " * 12 + "^")


def test_create_table_as_is_the_table_and_an_insert() -> None:
    source = "CREATE TABLE t (a INT NOT NULL, b STRING) WITH ('connector'='datagen'); "
    options = "WITH ('connector'='blackhole')"
    made = compile_script(f"{source} CREATE TABLE o (c STRING, d AS a + 1) {options} AS SELECT b, a FROM t;")
    written = compile_script(
        f"{source} CREATE TABLE o (c STRING, d AS a + 1, b STRING, a INT NOT NULL) {options};"
        "INSERT INTO o SELECT CAST(NULL AS STRING), b, a FROM t;"
    )
    assert [node.description for node in made.nodes[:-1]] == [node.description for node in written.nodes[:-1]]
    assert "targetColumns" not in dumps(made)
    retyped = compile_script(f"{source} CREATE TABLE o (a BIGINT, c INT) {options} AS SELECT b, a FROM t;")
    assert "ROW<`c` INT, `b` VARCHAR(2147483647), `a` BIGINT" in dumps(retyped)
    named = compile_script(f"{source} CREATE TABLE o (b, a) {options} AS SELECT a, b FROM t;")
    assert "`b` VARCHAR(2147483647), `a` INT NOT NULL" in dumps(named)


def test_create_table_as_says_what_is_wrong_with_it() -> None:
    source = "CREATE TABLE t (a INT) WITH ('connector'='datagen'); "
    for rest, message in (
        ("(b) WITH ('connector'='print') AS SELECT a FROM t", "the query gives no column 'b'"),
        ("WITH ('connector'='print') AS SELECT x FROM t", "there is no column 'x' in 't'"),
    ):
        with pytest.raises(FlinkplanError, match=message):
            compile_script(f"{source} CREATE TABLE o {rest};")
