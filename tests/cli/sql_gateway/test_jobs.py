"""Queries and jobs of sessions."""

from __future__ import annotations

import time

import pytest

from tests.cli.sql_gateway.client import Client

pytestmark = pytest.mark.spark

VALUES = """
SELECT * FROM (VALUES
  (CAST(1 AS TINYINT), 2.50, CAST(0.1 AS FLOAT), 1E10, TRUE, DATE '2024-01-31', TIME '01:02:03',
   TIMESTAMP '2024-01-31 01:02:03.120', CAST(TIMESTAMP '2024-01-31 01:02:03' AS TIMESTAMP_LTZ(3)), x'01ff',
   ARRAY[1, 2], MAP['a', CAST(0.1 AS FLOAT)], ROW(1, 'x'), CAST(NULL AS STRING), INTERVAL '1' DAY)
) AS t (a, b, c, d, e, f, g, h, i, j, k, l, m, n, o)
"""
GROUPS = "SELECT k, SUM(v) FROM (VALUES ('a', 1), ('b', 2), ('a', 3)) AS t (k, v) GROUP BY k"
STREAM = "CREATE TABLE numbers (n INT) WITH ('connector' = 'datagen', 'rows-per-second' = '50')"


def test_values_of_all_types_in_both_row_formats(client: Client) -> None:
    client.execute("SET 'table.local-time-zone' = 'Asia/Shanghai'")
    operation = client.submit(VALUES)
    as_json = client.result(operation, "JSON")
    assert as_json["isQueryResult"]
    assert len(as_json["jobID"]) == 32
    (row,) = as_json["rows"]
    assert row == (
        "INSERT",
        [
            *(1, 2.5, 0.1, 1e10, True, "2024-01-31", "01:02:03", "2024-01-31T01:02:03.12", "2024-01-30T17:02:03Z"),
            *("Af8=", [1, 2], {"a": 0.1}, {"EXPR$0": 1, "EXPR$1": "x"}, None, 86400000),
        ],
    )
    as_text = client.rows(VALUES)
    assert as_text[0][1:5] == ["2.50", "0.1", "1.0E10", "TRUE"]
    assert as_text[0][7:12] == ["2024-01-31 01:02:03.120", "2024-01-31 01:02:03.000", "x'01ff'", "[1, 2]", "{a=0.1}"]
    types = [c["logicalType"]["type"] for c in as_json["results"]["columns"]]
    assert types[0] == "TINYINT"
    assert types[7:9] == ["TIMESTAMP_WITHOUT_TIME_ZONE", "TIMESTAMP_WITH_LOCAL_TIME_ZONE"]
    assert types[-1] == "INTERVAL_DAY_TIME"


def test_changes_of_a_stream_and_final_rows_of_a_batch(client: Client) -> None:
    kinds = {kind for kind, _ in client.execute(GROUPS)["rows"]}
    assert kinds == {"INSERT", "UPDATE_BEFORE", "UPDATE_AFTER"}
    client.execute("SET 'execution.runtime-mode' = 'batch'")
    assert sorted(client.execute(GROUPS)["rows"]) == [("INSERT", ["a", "4"]), ("INSERT", ["b", "2"])]


def test_jobs_are_listed_and_stopped_from_any_session(client: Client, url: str) -> None:
    client.execute(STREAM)
    client.execute("CREATE TABLE nowhere (n INT) WITH ('connector' = 'blackhole')")
    client.execute("BEGIN STATEMENT SET")
    client.execute("INSERT INTO nowhere SELECT n FROM numbers")
    result = client.execute("END")
    ((_, (job,)),) = result["rows"]
    assert result["jobID"] == job
    other = Client(url).open()
    assert [row[:3] for row in other.rows("SHOW JOBS")][-1][::2] == [job, "RUNNING"]
    other.execute(f"STOP JOB '{job}'")
    assert [row[2] for row in other.rows("SHOW JOBS") if row[0] == job] == ["CANCELED"]


def test_what_a_client_does_not_fetch_or_close_ends_with_its_session(url: str) -> None:
    client = Client(url).open()
    client.execute(STREAM)
    operation = client.submit("SELECT n FROM numbers")
    path = f"{operation}/result/0"
    while (answer := client.call("GET", path))["resultType"] == "NOT_READY" or not answer["results"]["data"]:
        path = answer["nextResultUri"]
        time.sleep(0.05)
    assert client.call("POST", f"{operation}/cancel")["status"] == "CANCELED"
    client.call("DELETE", f"/sessions/{client.session}")
