"""Tables of databases, read and written by jobs."""

from __future__ import annotations

import json

import pytest

from flinkplan.executor.errors import ExecutionError, TableError

from .databases import Database

COLUMNS = (
    "id INT, flag BOOLEAN, big BIGINT, amount DECIMAL(10, 2), ratio DOUBLE, name STRING, born DATE, "
    "seen TIMESTAMP(3), b BYTES"
)
SAME = "id INT, flag BOOLEAN, big BIGINT, amount DECIMAL(10, 2), ratio DOUBLE, name VARCHAR(20), born DATE, "


@pytest.mark.spark
@pytest.mark.parametrize("streams", [False, True])
def test_every_type_is_read_and_written(database: Database, streams: bool) -> None:
    columns = SAME + "seen TIMESTAMP, b VARCHAR(3) FOR BIT DATA"
    database.execute(
        f"CREATE TABLE a ({columns})",
        f"CREATE TABLE c ({columns})",
        "INSERT INTO a VALUES (1, TRUE, 9000000000, 12.50, 0.25, 'ä', DATE('2024-02-29'), "
        "TIMESTAMP('2024-02-29 12:34:56.789'), X'0102')",
        "INSERT INTO a (id) VALUES (2)",
    )
    database.run(
        database.table("a", COLUMNS), database.table("c", COLUMNS), "INSERT INTO c SELECT * FROM a;", streams=streams
    )
    assert database.rows("SELECT * FROM c ORDER BY id") == database.rows("SELECT * FROM a ORDER BY id")
    assert len(database.rows("SELECT * FROM c")) == 2


@pytest.mark.spark
def test_parts_are_read_by_several_tasks(database: Database) -> None:
    database.execute("CREATE TABLE p (id INT, v INT)", "CREATE TABLE q (n BIGINT, s INT, lo INT, hi INT)")
    database.execute(*(f"INSERT INTO p VALUES ({i}, {i * i})" for i in range(12)))
    parts = {"scan_partition_column": "id", "scan_partition_num": "3"}
    bounds = {"scan_partition_lower__bound": "1", "scan_partition_upper__bound": "10"}
    bounds |= {"scan_fetch__size": "2", "scan_auto__commit": "false"}
    database.run(
        database.table("p", "id INT, v INT", **parts, **bounds),
        database.table("q", "n BIGINT, s INT, lo INT, hi INT"),
        "INSERT INTO q SELECT COUNT(*), SUM(v), MIN(id), MAX(id) FROM p HAVING COUNT(*) > 9;",
    )
    assert database.rows("SELECT * FROM q") == [["10", "385", "1", "10"]]


@pytest.mark.spark
def test_upserts_change_rows_in_their_place(database: Database) -> None:
    database.execute(
        "CREATE TABLE u (id INT PRIMARY KEY, v VARCHAR(9), other INT DEFAULT 7)",
        "INSERT INTO u VALUES (1, 'old', 1), (2, 'gone', 2), (3, 'stays', 3)",
    )
    none = {"before": None, "after": None}
    changes = (
        none | {"op": "u", "before": {"id": 1, "v": "old"}, "after": {"id": 1, "v": "new"}},
        none | {"op": "d", "before": {"id": 2, "v": "gone"}},
        none | {"op": "c", "after": {"id": 4, "v": "x"}},
        none | {"op": "u", "before": {"id": 4, "v": "x"}, "after": {"id": 4, "v": "y"}},
        none | {"op": "c", "after": {"id": 5, "v": "z"}},
        none | {"op": "d", "before": {"id": 5, "v": "z"}},
    )
    script = (
        database.files("changes", "id INT PRIMARY KEY NOT ENFORCED, v STRING", "debezium-json", *changes),
        database.table("u", "id INT PRIMARY KEY NOT ENFORCED, v STRING", sink_buffer__flush_max__rows="2"),
        "INSERT INTO u SELECT id, v FROM changes;",
    )
    for _ in range(2):  # a batch that is written again leaves what it has left
        database.run(*script)
        assert database.rows("SELECT * FROM u ORDER BY id") == [["1", "new", "1"], ["3", "stays", "3"], ["4", "y", "7"]]


@pytest.mark.spark
def test_a_table_of_nothing_but_its_key(database: Database) -> None:
    database.execute("CREATE TABLE k (id INT PRIMARY KEY)", "INSERT INTO k VALUES 1")
    database.run(
        database.files("ids", "id INT", "json", {"id": 1}, {"id": 2}, {"id": 2}),
        database.table("k", "id INT PRIMARY KEY NOT ENFORCED"),
        "INSERT INTO k SELECT DISTINCT id FROM ids;",
    )
    assert database.rows("SELECT * FROM k ORDER BY id") == [["1"], ["2"]]


@pytest.mark.spark
def test_names_are_no_statements(database: Database) -> None:
    database.execute('CREATE TABLE odd (id INT, "x"" FROM odd --" INT)', "INSERT INTO odd VALUES (1, 2)")
    database.run(
        database.table("odd", '`x" FROM odd --` INT'),
        database.files("got", "n INT", "json"),
        'INSERT INTO got SELECT `x" FROM odd --` FROM odd;',
    )
    (file,) = (f for f in (database.folder / "got").rglob("part-*") if f.is_file())
    assert json.loads(file.read_text()) == {"n": 2}


@pytest.mark.spark
def test_what_the_database_says_is_told(database: Database) -> None:
    with pytest.raises(ExecutionError, match=r"the table absent cannot be read: .*ABSENT.* does not exist"):
        database.run(
            database.table("absent", "id INT"),
            database.files("x", "id INT", "json"),
            "INSERT INTO x SELECT id FROM absent;",
        )
    database.execute("CREATE TABLE short (v VARCHAR(1))")
    with pytest.raises(ExecutionError, match=r"the table short cannot be written: .*truncat"):
        database.run(
            database.files("long", "v STRING", "json", {"v": "long"}),
            database.table("short", "v STRING", sink_max__retries="0"),
            "INSERT INTO short SELECT v FROM long;",
        )


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"url": "jdbc:oracle:thin:@h"}, "a database of this kind is not executed here"),
        ({"driver": "com.acme.Driver"}, "'com.acme.Driver' is not the driver of this database"),
        ({"url": "jdbc:postgresql://h/db?socketFactory=com.acme.F"}, "by 'socketFactory'"),
        ({"password": "hunter2", "username": "ann"}, "'password' is a secret"),
        ({"url": "jdbc:postgresql://h/db?user=ann&password=hunter2"}, "a password stands in 'url'"),
        ({"username": "ann"}, "'username' needs the option 'password'"),
        ({"scan.partition.num": "2"}, "'scan.partition.num' needs the option 'scan.partition.column'"),
        ({"table": "x"}, "did you mean 'table-name'?"),
    ],
)
def test_what_is_refused(options: dict[str, str], words: str) -> None:
    from flinkplan.executor.prepare.checks import check_executable

    from .plans import passthrough

    given = {"connector": "jdbc", "url": "jdbc:derby:memory:x", "table-name": "t", **options}
    with pytest.raises(TableError) as e:
        check_executable(passthrough(given), {}, {})
    assert words in str(e.value)
    assert "hunter2" not in str(e.value)
