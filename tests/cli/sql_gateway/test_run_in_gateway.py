"""``flinkplan run --endpoint``: a script in a session of a running gateway."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

import pytest

from flinkplan.cli.sql_gateway.type_json import type_from_json, type_to_json
from flinkplan.plan.errors import FlinkplanError
from flinkplan.plan.types import TimeKind, timestamp_ltz
from flinkplan.planner.binder.datatypes import resolve_type
from flinkplan.planner.sql import parse_data_type
from tests.cli.support import flinkplan

TYPES = (
    "INT NOT NULL",
    "DECIMAL(10, 2)",
    "TIME(0)",
    "TIMESTAMP(3)",
    "TIMESTAMP_LTZ(9) NOT NULL",
    "INTERVAL DAY(3) TO SECOND(6)",
    "INTERVAL YEAR(2) TO MONTH",
    "ARRAY<VARCHAR(7) NOT NULL>",
    "MAP<CHAR(3), MULTISET<BIGINT>>",
    "ROW<a INT, b ROW<c VARBINARY(9)>> NOT NULL",
)


@pytest.fixture
def endpoint(url: str) -> str:
    return urlsplit(url).netloc


@pytest.mark.parametrize("text", TYPES)
def test_types_come_back_from_their_json(text: str) -> None:
    t = resolve_type(parse_data_type(text))
    assert type_from_json(type_to_json(t)) == t


def test_an_unknown_type_is_an_error() -> None:
    assert type_from_json(type_to_json(timestamp_ltz(3, kind=TimeKind.PROCTIME))) == timestamp_ltz(3)
    with pytest.raises(FlinkplanError, match="a type that is not known"):
        type_from_json({"nullable": True})


def test_statements_run_in_one_session(endpoint: str) -> None:
    script = "CREATE DATABASE d; USE d; CREATE VIEW v AS SELECT 1 AS a; SHOW VIEWS"
    ran = flinkplan("run", "-", "--endpoint", endpoint, stdin=script)
    assert ran.code == 0
    assert "| v " in ran.out
    assert "OK" not in ran.out
    assert "| v " not in flinkplan("run", "-", "--endpoint", endpoint, stdin="SHOW VIEWS").out


def test_errors_tell_the_place_in_the_script(endpoint: str, tmp_path: Path) -> None:
    script = tmp_path / "q.sql"
    script.write_text("SHOW TABLES;\n  SELECT nope\n  FROM (VALUES (1)) AS t (x);\n", "utf-8")
    ran = flinkplan("run", str(script), "-e", endpoint)
    assert ran.code == 3
    assert "nope" in ran.err
    assert f"{script}:2:3" in ran.err


def test_what_the_gateway_decides_is_refused(endpoint: str, tmp_path: Path) -> None:
    ran = flinkplan("run", "-", "-e", endpoint, "--mode", "bounded", stdin="SHOW TABLES")
    assert (ran.code, ran.out) == (2, "")
    assert "--mode has no meaning with --endpoint" in ran.err
    (tmp_path / "p.py").write_text("", "utf-8")
    ran = flinkplan("run", str(tmp_path / "p.py"), "-e", endpoint)
    assert ran.code == 3
    assert "SQL scripts only" in ran.err


@pytest.mark.parametrize(
    ("address", "message"), [("localhost:1", "no gateway answers at localhost:1"), ("https://a", "is no address")]
)
def test_no_gateway(address: str, message: str) -> None:
    ran = flinkplan("run", "-", "-e", address, stdin="SHOW TABLES")
    assert ran.code == 3
    assert message in ran.err
    assert "hint:" in ran.err


@pytest.mark.spark
def test_rows_are_shown_as_without_a_gateway(endpoint: str, tmp_path: Path) -> None:
    (tmp_path / "in.json").write_text('{"k": "a", "v": 1}\n{"k": "b", "v": 2}\n{"k": "a", "v": null}\n', "utf-8")
    files = f"'connector' = 'filesystem', 'format' = 'json', 'path' = '{tmp_path}/%s'"
    script = (
        f"CREATE TABLE i (k STRING, v INT) WITH ({files % 'in.json'});\n"
        f"CREATE TABLE o (k STRING, v INT) WITH ({files % 'out'});\n"
        "INSERT INTO o SELECT k, v FROM i WHERE k = 'a';\n"
        "SELECT * FROM o"
    )
    table = ("--set", "sql-client.execution.result-mode=table")
    ran = flinkplan("run", "-", "--endpoint", endpoint, *table, stdin=script)
    assert ran.code == 0, ran.err
    lines = ran.out.splitlines()
    assert [line.split() for line in lines[1:2]] == [["|", "k", "|", "v", "|"]]
    assert sorted(line.split()[1:4:2] for line in lines[3:5]) == [["a", "1"], ["a", "<NULL>"]]
    assert lines[-1] == "2 rows in set"
    limited = flinkplan("run", "-", "-e", endpoint, "--limit", "1", stdin="SELECT * FROM (VALUES (1), (2)) AS t (n)")
    assert limited.out.splitlines()[-1] == "1 row in set"
    assert "| +I |" in limited.out
