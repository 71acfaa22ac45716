"""Tables of databases that are asked for the rows of keys."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

import pytest

from flinkplan.executor.errors import ExecutionError

from .databases import Database

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ORDERS = "id INT, cid INT, name STRING, total DOUBLE, p AS PROCTIME()"
CUSTOMERS = "id INT, name STRING, age INT, city STRING"
KEYED = "id INT PRIMARY KEY NOT ENFORCED, name STRING, age INT, city STRING"
SOME = (
    {"id": 1, "cid": 3, "name": "x", "total": 10.5},
    {"id": 2, "cid": 9, "name": "y", "total": 3.5},
    {"id": 3, "name": "z", "total": 30.5},
    {"id": 4, "cid": 3, "name": "Ann", "total": 40.5},
    {"id": 5, "cid": 1, "name": "Bob", "total": 50.5},
)


def with_customers(database: Database) -> Database:
    """The database with a table, which does not declare that its ids are unique."""
    database.execute(
        "CREATE TABLE c (id INT, name VARCHAR(20), age INT, city VARCHAR(20))",
        "INSERT INTO c VALUES (1, 'Bob', 28, 'Oslo'), (3, 'Ann', 37, 'Rome'), (3, 'Eve', 17, NULL), (4, 'Joe', 1, 'x')",
    )
    return database


def got(database: Database, name: str = "got") -> list[dict[str, Any]]:
    """The rows of a table of files."""
    files = [f for f in (database.folder / name).rglob("part-*") if f.is_file()]
    rows = [json.loads(line) for f in files for line in f.read_text().splitlines()]
    return sorted(rows, key=json.dumps)


def joined(database: Database, join: str, columns: str = "o.id, c.name AS n", **options: str) -> list[list[Any]]:
    """What orders find among customers by ``join``."""
    streams = options.pop("streams", "") == "yes"
    database.run(
        database.files("o", ORDERS, "json", *SOME),
        database.table("c", CUSTOMERS, **options),
        database.files("got", "id INT, n STRING", "json"),
        f"INSERT INTO got SELECT {columns} FROM o {join};",
        streams=streams,
    )
    return sorted([[row["id"], row["n"]] for row in got(database)], key=lambda row: (row[0], row[1] or ""))


NOW = "JOIN c FOR SYSTEM_TIME AS OF o.p ON"
ALL = [[1, "Ann"], [1, "Eve"], [4, "Ann"], [4, "Eve"], [5, "Bob"]]


@pytest.mark.spark
@pytest.mark.parametrize("streams", ["no", "yes"])
@pytest.mark.parametrize(
    ("join", "rows"),
    [
        (f"{NOW} o.cid = c.id", ALL),
        (f"LEFT {NOW} o.cid = c.id", [*ALL[:2], [2, None], [3, None], *ALL[2:]]),
    ],
)
def test_rows_find_those_of_their_key(database: Database, join: str, rows: list[list[Any]], streams: str) -> None:
    assert joined(with_customers(database), join, streams=streams) == rows


CONDITIONS = {
    "o.total > 20 AND c.age > 20": [[1, None], [2, None], [3, None], [4, "Ann"], [5, "Bob"]],
    "o.total < c.age": [[1, "Ann"], [1, "Eve"], [2, None], [3, None], [4, None], [5, None]],
    "c.age > 20 AND o.total < c.age": [[1, "Ann"], [2, None], [3, None], [4, None], [5, None]],
    "UPPER(c.city) = 'ROME'": [[1, "Ann"], [2, None], [3, None], [4, "Ann"], [5, None]],
    "o.name = c.name": [[1, None], [2, None], [3, None], [4, "Ann"], [5, "Bob"]],
    "(c.age < 20 OR c.city LIKE 'O%')": [[1, "Eve"], [2, None], [3, None], [4, "Eve"], [5, "Bob"]],
    "c.city IS NULL": [[1, "Eve"], [2, None], [3, None], [4, "Eve"], [5, None]],
    "c.name = 'Bob' AND c.age = 28": [[1, None], [2, None], [3, None], [4, None], [5, "Bob"]],
    "c.name LIKE 'B_b' ESCAPE '!'": [[1, None], [2, None], [3, None], [4, None], [5, "Bob"]],
}
"""What is asked beside equal keys, and what is found by it."""


@pytest.mark.spark
@pytest.mark.parametrize("policy", ["ALWAYS", "NEVER"])
def test_more_may_be_asked_than_equal_keys(database: Database, policy: str) -> None:
    """By the database, or behind it."""
    places = [f"got{i}" for i in range(len(CONDITIONS))]
    with_customers(database).run(
        database.files("o", ORDERS, "json", *SOME),
        database.table("c", CUSTOMERS, filter_handling_policy=policy),
        *(database.files(place, "id INT, n STRING", "json") for place in places),
        "EXECUTE STATEMENT SET BEGIN",
        *(
            f"INSERT INTO {place} SELECT o.id, c.name FROM o LEFT {NOW} o.cid = c.id AND {condition};"
            for place, condition in zip(places, CONDITIONS, strict=True)
        ),
        "END;",
    )
    found = [[[row["id"], row["n"]] for row in got(database, place)] for place in places]
    assert dict(zip(CONDITIONS, found, strict=True)) == CONDITIONS


@pytest.mark.spark
def test_what_is_computed_of_the_table_is_null_without_a_row(database: Database) -> None:
    """A view over the table computes its columns before rows are joined."""
    with_customers(database).run(
        database.files("o", ORDERS, "json", *SOME),
        database.table("c", CUSTOMERS),
        "CREATE VIEW v AS SELECT id, COALESCE(city, 'none') AS town FROM c WHERE age <> 28;",
        database.files("got", "id INT, n STRING", "json"),
        "INSERT INTO got SELECT o.id, v.town FROM o LEFT JOIN v FOR SYSTEM_TIME AS OF o.p ON o.cid = v.id;",
    )
    found = sorted((row["id"], row["n"] or "") for row in got(database))
    assert found == [(1, "Rome"), (1, "none"), (2, ""), (3, ""), (4, "Rome"), (4, "none"), (5, "")]


@pytest.mark.spark
def test_filters_are_the_database_s(database: Database) -> None:
    with_customers(database).run(
        database.table("c", CUSTOMERS),
        database.files("got", "id INT, n STRING", "json"),
        "INSERT INTO got SELECT id, name FROM c WHERE age BETWEEN 10 AND 30 AND (city = 'Oslo' OR city IS NULL);",
    )
    assert [row["n"] for row in got(database)] == ["Bob", "Eve"]


@pytest.mark.spark
def test_keys_of_many_types(database: Database) -> None:
    types = "a BIGINT, b VARCHAR(9), c DATE, d DECIMAL(9, 2), e TIMESTAMP, f DOUBLE, g BOOLEAN, n INT"
    values = "(1, 'k', DATE('2024-02-29'), 1.50, TIMESTAMP('2024-02-29 01:02:03.004'), 0.5, TRUE, 7)"
    database.execute(f"CREATE TABLE k ({types})", f"INSERT INTO k VALUES {values}")
    columns = "a BIGINT, b STRING, c DATE, d DECIMAL(9, 2), e TIMESTAMP(3), f DOUBLE, g BOOLEAN"
    right = {"a": 1, "b": "k", "c": "2024-02-29", "d": 1.5, "e": "2024-02-29 01:02:03.004", "f": 0.5, "g": True}
    database.run(
        database.files("o", f"{columns}, p AS PROCTIME()", "json", right, {**right, "d": 1.51}),
        database.table("k", f"{columns}, n INT"),
        database.files("got", "n INT", "json"),
        "INSERT INTO got SELECT k.n FROM o JOIN k FOR SYSTEM_TIME AS OF o.p ON "
        + " AND ".join(f"o.{c} = k.{c}" for c in "abcdefg")
        + ";",
    )
    assert got(database) == [{"n": 7}]


@pytest.mark.spark
def test_many_keys_are_asked_for_in_parts(database: Database) -> None:
    database.execute("CREATE TABLE big (id INT PRIMARY KEY, v INT)", "CREATE TABLE t (n BIGINT, s INT)")
    for start in range(0, 1500, 500):
        database.execute(f"INSERT INTO big VALUES {', '.join(f'({i}, {i * 2})' for i in range(start, start + 500))}")
    database.run(
        database.files("o", "id INT, p AS PROCTIME()", "json", *({"id": i % 2500} for i in range(5000))),
        database.table("big", "id INT PRIMARY KEY NOT ENFORCED, v INT"),
        database.table("t", "n BIGINT, s INT"),
        "INSERT INTO t SELECT COUNT(*), SUM(v) FROM o JOIN big FOR SYSTEM_TIME AS OF o.p ON o.id = big.id;",
    )
    assert database.rows("SELECT * FROM t WHERE n = 3000") == [["3000", str(2 * 2 * sum(range(1500)))]]


@pytest.mark.spark
def test_changes_find_rows_as_insertions_do(database: Database) -> None:
    none = {"before": None, "after": None}
    changes = (
        none | {"op": "c", "after": {"id": 1, "cid": 1}},
        none | {"op": "u", "before": {"id": 1, "cid": 1}, "after": {"id": 1, "cid": 4}},
        none | {"op": "c", "after": {"id": 2, "cid": 1}},
        none | {"op": "d", "before": {"id": 2, "cid": 1}},
    )
    with_customers(database).execute("CREATE TABLE t (id INT PRIMARY KEY, n VARCHAR(9))")
    keyed = "id INT PRIMARY KEY NOT ENFORCED"
    database.run(
        database.files("o", f"{keyed}, cid INT, p AS PROCTIME()", "debezium-json", *changes),
        database.table("c", KEYED),
        database.table("t", f"{keyed}, n STRING"),
        f"INSERT INTO t SELECT o.id, c.name FROM o LEFT {NOW} o.cid = c.id;",
    )
    assert database.rows("SELECT * FROM t") == [["1", "Joe"]]


@pytest.mark.spark
@pytest.mark.parametrize("streams", [False, True])
def test_windows_close_behind_a_lookup(database: Database, streams: bool) -> None:
    rows = [{"cid": cid, "ts": f"2024-01-01 00:0{i}:00"} for i, cid in enumerate((1, 3, 1, 9))]
    with_customers(database).run(
        database.files("o", "cid INT, ts TIMESTAMP(3), p AS PROCTIME(), WATERMARK FOR ts AS ts", "json", *rows),
        database.table("c", CUSTOMERS),
        database.files("got", "w TIMESTAMP(3), n BIGINT", "json"),
        "INSERT INTO got SELECT window_end, COUNT(*) FROM TABLE(TUMBLE((SELECT o.ts, c.name FROM o "
        f"{NOW} o.cid = c.id), DESCRIPTOR(ts), INTERVAL '2' MINUTES)) GROUP BY window_start, window_end;",
        streams=streams,
    )
    assert [(row["w"], row["n"]) for row in got(database)] == [("2024-01-01 00:02:00", 3), ("2024-01-01 00:04:00", 1)]


def appearing(database: Database, name: str, condition: str) -> None:
    """A view of one row, id 1, that is only there where ``condition`` holds, which may read ``now_ms()``."""
    database.execute(
        "CREATE FUNCTION now_ms() RETURNS BIGINT LANGUAGE JAVA PARAMETER STYLE JAVA NO SQL "
        "EXTERNAL NAME 'java.lang.System.currentTimeMillis'",
        f"CREATE VIEW {name} AS SELECT * FROM (VALUES (1, 'late')) AS v (id, n) WHERE {condition}",
    )


@pytest.mark.spark
def test_keys_without_rows_are_asked_for_again(database: Database) -> None:
    # compiling and starting the job take a while, before which the row must not be there
    appearing(database, "late", f"now_ms() > {int(time.time() * 1000) + 5000}")
    retry = (
        "LOOKUP('table' = 'late', 'retry-predicate' = 'lookup_miss', 'retry-strategy' = 'fixed_delay', "
        "'fixed-delay' = '100 ms', 'max-attempts' = '300')"
    )
    database.run(
        database.files("o", "id INT, p AS PROCTIME()", "json", {"id": 1}),
        database.table("late", "id INT, n STRING"),
        database.files("got", "n STRING", "json"),
        f"INSERT INTO got SELECT /*+ {retry} */ n FROM o LEFT JOIN late FOR SYSTEM_TIME AS OF o.p ON o.id = late.id;",
    )
    assert got(database) == [{"n": "late"}]


@pytest.mark.spark
def test_a_failing_table_is_asked_again_and_then_told(database: Database) -> None:
    appearing(database, "failing", "1 / (CASE WHEN now_ms() > 0 THEN 0 ELSE 1 END) = 1")
    with pytest.raises(ExecutionError, match=r"the table failing cannot be looked up: .*zero"):
        database.run(
            database.files("o", "id INT, p AS PROCTIME()", "json", {"id": 1}),
            database.table("failing", "id INT, n STRING", lookup_max__retries="1"),
            database.files("got", "n STRING", "json"),
            "INSERT INTO got SELECT n FROM o JOIN failing FOR SYSTEM_TIME AS OF o.p ON o.id = failing.id;",
        )


@pytest.mark.spark
@pytest.mark.parametrize("cache", ["PARTIAL", "NONE"])
def test_a_key_is_asked_for_once_a_batch(database: Database, cache: str) -> None:
    """Rows are joined 1,024 at a time; the table says when it was asked."""
    database.execute(
        "CREATE FUNCTION nanos() RETURNS BIGINT LANGUAGE JAVA PARAMETER STYLE JAVA NO SQL "
        "EXTERNAL NAME 'java.lang.System.nanoTime'",
        "CREATE VIEW clock AS SELECT v.id, nanos() AS asked FROM (VALUES (1)) AS v (id)",
        "CREATE TABLE t (n BIGINT)",
    )
    database.run(
        database.files("o", "id INT, p AS PROCTIME()", "json", *({"id": 1} for _ in range(3000))),
        database.table("clock", "id INT, asked BIGINT", lookup_cache=cache),
        database.table("t", "n BIGINT"),
        "INSERT INTO t SELECT COUNT(DISTINCT asked) FROM o JOIN clock FOR SYSTEM_TIME AS OF o.p ON o.id = clock.id;",
    )
    assert max(int(n or 0) for [n] in database.rows("SELECT * FROM t")) == 1


@pytest.mark.spark
@pytest.mark.parametrize(
    ("limits", "kept"),
    [
        ((0, 0, 0, True), ["a", "b", "c"]),
        ((0, 0, 0, False), ["a", "c"]),
        ((2, 0, 0, True), ["a", "c"]),
        ((0, 1000, 0, True), ["b", "c"]),
        ((0, 0, 1000, True), ["a", "c"]),
    ],
)
def test_what_a_cache_keeps(spark: SparkSession, limits: tuple[int, int, int, bool], kept: list[str]) -> None:
    """Keys are put at 0 and 600 ms and the first is read at 700; it is 1,200 then, or 1,650 for what was read."""
    jvm: Any = spark._jvm
    clock = jvm.org.apache.spark.util.ManualClock(0)
    lookups = jvm.flinkplan.runtime.lookup
    cache = lookups.LookupCache(getattr(lookups, "LookupCache$Limits")(*limits), clock)
    row = jvm.flinkplan.runtime.row.Rows.nulls(1)
    cache.put("a", [row])
    clock.setTime(600)
    cache.put("b", [])
    clock.setTime(700)
    assert cache.get("a") is not None
    clock.setTime(1650 if limits[2] else 1200)
    cache.put("c", [row])
    assert [key for key in "abc" if cache.get(key) is not None] == kept
