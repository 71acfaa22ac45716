"""Tables of MariaDB as they are, then as they change."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from time import time
from typing import TYPE_CHECKING, Any

import pytest

from flinkplan.executor.cdc import stream as module
from flinkplan.executor.cdc.mysql import Mysql, MysqlSnapshot
from flinkplan.executor.cdc.settings import CaptureError, MysqlCapture, capture_of
from flinkplan.executor.connectors.tables import table_of
from flinkplan.executor.prepare.checks import check_executable
from flinkplan.plan.errors import FlinkplanError
from flinkplan.plan.record import replace
from flinkplan.plan.tables import plan_tables
from flinkplan.planner import compile_script
from tests.executor.mariadb_server import IS_INSTALLED, PASSWORD, USER, MariaDb, running_mariadb

from .jobs import Capturing
from .reading import Reader

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.programs


@pytest.fixture(scope="module")
def maria() -> Iterator[MariaDb]:
    """A server for all tests, each of which has a table of its own."""
    if not IS_INSTALLED:
        pytest.skip("MariaDB is not installed: apt install mariadb-server-core mariadb-client-core")
    with running_mariadb() as server:
        yield server


def capture_with(columns: str = "id INT PRIMARY KEY NOT ENFORCED, v STRING", **options: str) -> MysqlCapture:
    """What the options of a table say."""
    given = {"connector": "mysql-cdc", "hostname": "127.0.0.1", "username": USER, "password": "${PASSWORD}"}
    given |= {"database-name": "shop", "table-name": "t", **options}
    written = ", ".join(f"'{key}' = '{value}'" for key, value in given.items())
    tables = f"CREATE TABLE t ({columns}) WITH ({written}); CREATE TABLE b (n BIGINT) WITH ('connector' = 'blackhole');"
    plan = compile_script(f"{tables} INSERT INTO b SELECT COUNT(*) FROM t;")
    capture = capture_of(next(table_of(reference, {"PASSWORD": PASSWORD}) for _, reference in plan_tables(plan)))
    assert isinstance(capture, MysqlCapture)
    return capture


@pytest.fixture
def capture(maria: MariaDb, request: pytest.FixtureRequest) -> MysqlCapture:
    """A table of the test's name, with the columns ``id`` and ``v``."""
    chunks = {"scan.incremental.snapshot.chunk.size": "2", "connect.max-retries": "0", "heartbeat.interval": "10 ms"}
    name = request.node.originalname.removeprefix("test_")
    return capture_with(**{"port": str(maria.port), "table-name": name, **chunks})


def create(maria: MariaDb, capture: MysqlCapture, rows: int, columns: str = "id int primary key, v text") -> None:
    maria.ask(f"CREATE TABLE {capture.table} ({columns})")
    if rows:
        maria.ask(f"INSERT INTO {capture.table} SELECT seq, concat('v', seq) FROM seq_1_to_{rows}")


def test_a_row_that_a_later_snapshot_shows_comes_once(
    maria: MariaDb, capture: MysqlCapture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "BATCH_CHUNKS", 1)
    create(maria, capture, 6)
    reader = Reader(capture, tmp_path)
    assert b"v1" in reader.batch()
    maria.ask(f"UPDATE {capture.table} SET v = 'other' WHERE id IN (1, 5); DELETE FROM {capture.table} WHERE id = 6")
    reader = reader.again(capture, tmp_path)
    rows = reader.until(lambda _: reader.position["snapshot"]["table"] == 1)
    assert b"v3" in rows and b"other" in rows and b"v6" not in rows
    changes = reader.until(lambda _: reader.position["snapshot"] is None)
    assert changes.count(b"other") == 1  # of the row that was read before
    maria.ask(f"UPDATE {capture.table} SET v = 'again' WHERE id IN (1, 5)")
    assert reader.rest().count(b"again") == 2


def test_keys_are_compared_as_the_server_does(
    maria: MariaDb, capture: MysqlCapture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "BATCH_CHUNKS", 1)
    columns = "a varchar(9) collate utf8mb4_unicode_ci, n bigint unsigned, b varbinary(4), id int, v text"
    create(maria, capture, 0, f"{columns}, primary key (a, n, b)")
    table, big = capture.table, 1 << 63
    maria.ask(
        f"INSERT INTO {table} VALUES ('b', {big + 1}, X'00', 3, 'x'), ('A', {big}, X'FF', 1, 'x'), "
        f"('a', {big + 1}, X'27', 2, 'x'), ('B', {big + 1}, X'01', 4, 'x'), ('ä', 0, X'', 5, 'x')"
    )
    reader = Reader(capture, tmp_path)
    reader.batch()
    assert reader.position["snapshot"]["after"] == ["A", str(big), "\\xff"]  # ä comes before it
    maria.ask(f"UPDATE {table} SET v = 'read' WHERE id IN (1, 5); UPDATE {table} SET v = 'not' WHERE id IN (2, 3, 4)")
    reader = reader.again(capture, tmp_path)
    rows = reader.until(lambda _: reader.position["snapshot"]["table"] == 1)
    assert (rows.count(b"not"), rows.count(b"read")) == (3, 0)
    changes = reader.until(lambda _: reader.position["snapshot"] is None)
    assert (changes.count(b"not"), changes.count(b"read")) == (0, 2)


def test_a_large_transaction_is_cut_and_read_on(
    maria: MariaDb, capture: MysqlCapture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "BATCH_CHANGES", 10)
    create(maria, capture, 0)
    reader = Reader(capture, tmp_path)
    reader.until(lambda _: reader.position["snapshot"] is None)
    maria.ask(f"INSERT INTO {capture.table} SELECT seq, concat('v', seq) FROM seq_1_to_25")
    maria.ask(f"INSERT INTO {capture.table} VALUES (26, 'v26')")
    first = reader.until(lambda read: b"v10" in read)
    assert (b"v11" in first, reader.position["taken"]) == (False, 10)
    reader = reader.again(capture, tmp_path)
    rest = reader.rest()
    assert [f"v{i}".encode() in rest for i in (10, 11, 25, 26)] == [False, True, True, True]


def test_the_log_is_read_from_where_the_options_say(maria: MariaDb, capture: MysqlCapture, tmp_path: Path) -> None:
    create(maria, capture, 1)
    file, position = maria.ask("SHOW MASTER STATUS").split()[:2]
    maria.ask(f"INSERT INTO {capture.table} VALUES (2, 'second')")
    maria.ask("FLUSH BINARY LOGS")
    maria.ask(f"SET TIMESTAMP = UNIX_TIMESTAMP() + 100; INSERT INTO {capture.table} VALUES (3, 'third')")

    def read(startup: str, **more: Any) -> list[bool]:
        reader = Reader(replace(capture, startup=startup, **more), tmp_path)
        maria.ask(f"UPDATE {capture.table} SET v = concat(v, '!') WHERE id = 1")
        read = reader.rest()
        return [word in read for word in (b"v1", b"second", b"third")]

    assert read("earliest-offset") == [True, True, True]
    assert read("specific-offset", file=file, position=int(position)) == [True, True, True]
    assert read("timestamp", since_ms=int(time() + 50) * 1000) == [False, False, True]
    assert read("latest-offset") == [True, False, False]
    reader = Reader(replace(capture, startup="latest-offset"), tmp_path)
    later, gone = ({**reader.position, "lsn": lsn} for lsn in (reader.position["lsn"] + 100_000, 4))
    with pytest.raises(CaptureError, match=r"has removed the file log\.000000 of its log, .* start with a new"):
        Reader(capture, tmp_path, gone).batch()
    with pytest.raises(CaptureError, match="it is the log of another server"):
        Reader(capture, tmp_path, later).batch()


def test_a_lost_connection_is_opened_again(maria: MariaDb, capture: MysqlCapture, tmp_path: Path) -> None:
    create(maria, capture, 1)
    reader = Reader(capture, tmp_path)
    reader.rest()
    for line in maria.ask(f"SELECT id FROM information_schema.processlist WHERE user = '{USER}'").split():
        maria.ask(f"KILL {line}")
    maria.ask(f"INSERT INTO {capture.table} VALUES (2, 'v2')")
    assert b"v2" in reader.until(lambda read: b"v2" in read)


def test_changes_of_columns_are_named(maria: MariaDb, capture: MysqlCapture, tmp_path: Path) -> None:
    table = capture.table
    create(maria, capture, 1, "id int primary key, v varchar(9)")
    reader = Reader(capture, tmp_path)
    reader.rest()
    maria.ask(f"ALTER TABLE {table} ADD more int FIRST; INSERT INTO {table} VALUES (1, 2, 'second')")
    assert b"second" in reader.rest()
    maria.ask(f"ALTER TABLE {table} MODIFY id bigint; INSERT INTO {table} VALUES (1, 3, 'third')")
    with pytest.raises(CaptureError, match=r"the column 'id' of shop\.\w+ was of another type in the log than int"):
        reader.rest()
    with pytest.raises(CaptureError, match=r"the column 'id' of shop\.\w+ is bigint.* and is declared as INT"):
        reader.again(capture, tmp_path)
    maria.ask(f"ALTER TABLE {table} MODIFY id int")
    maria.ask(f"ALTER TABLE {table} RENAME COLUMN v TO w; INSERT INTO {table} VALUES (1, 4, 'fourth')")
    with pytest.raises(CaptureError, match=r"the column 'v' of shop\.\w+ is declared, and the log does not have it"):
        reader.again(capture, tmp_path)


def test_what_cannot_be_read_is_named(maria: MariaDb, capture: MysqlCapture, tmp_path: Path) -> None:
    def refused(**more: Any) -> str:
        with pytest.raises(CaptureError) as error:
            Reader(replace(capture, **more), tmp_path)
        return str(error.value)

    assert "there is no table shop.what_cannot" in refused()
    create(maria, capture, 1)
    assert "is not in the primary key" in refused(chunk_key="v")
    assert "no connection to MySQL at 127.0.0.1:" in refused(password="wrong")
    maria.ask("SET GLOBAL binlog_row_metadata = 'MINIMAL'")
    assert "binlog_row_metadata of MySQL at 127.0.0.1" in (said := refused())
    assert "is MINIMAL; SET GLOBAL binlog_row_metadata = 'FULL'" in said
    maria.ask("SET GLOBAL binlog_row_metadata = 'FULL'")
    alone = replace(capture, server_ids=(77, 77))
    Reader(alone, tmp_path).rest()
    assert "the ids 77-77 of 'server-id' are in use; give a range" in refused(server_ids=(77, 77))


def test_without_its_own_word_a_snapshot_has_a_place_in_the_log(
    maria: MariaDb, capture: MysqlCapture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    create(maria, capture, 3)
    server = Mysql(capture)
    own = MysqlSnapshot(server)
    monkeypatch.setattr("flinkplan.executor.cdc.mysql.SNAPSHOT_STATUS", "no_such_status")
    locked = MysqlSnapshot(server)  # as MySQL needs it
    assert locked.end == own.end == server.written()
    maria.ask(f"INSERT INTO {capture.table} VALUES (4, 'v4')")  # nothing is locked any more
    (table,) = server.tables()
    assert locked.read(table, ["id", "v"], None, 100, tmp_path / "f") == (3, None)


@pytest.mark.parametrize(
    ("option", "value", "field", "default", "expected"),
    [
        ("server-id", "5400", "server_ids", None, (5400, 5400)),
        ("server-id", "5400-5408", "server_ids", None, (5400, 5408)),
        ("server-time-zone", "Asia/Tokyo", "zone", None, "Asia/Tokyo"),
        ("scan.startup.specific-offset.file", "log.000002", "file", None, "log.000002"),
        ("scan.startup.specific-offset.pos", "400", "position", 4, 400),
        ("heartbeat.interval", "1 min", "heartbeat", 30.0, 60.0),
        ("scan.incremental.snapshot.enabled", "false", "chunk_rows", 8096, None),
        ("port", "3307", "port", 3306, 3307),
    ],
)
def test_options_say_what_is_read(option: str, value: str, field: str, default: object, expected: object) -> None:
    assert getattr(capture_with(), field) == default
    assert getattr(capture_with(**{option: value}), field) == expected


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"server-id": "5408-5400"}, "it is an id such as 5400, or a range"),
        ({"scan.startup.mode": "specific-offset"}, "needs the option 'scan.startup.specific-offset.file'"),
        ({"scan.startup.mode": "timestamp"}, "needs the option 'scan.startup.timestamp-millis'"),
        ({"scan.startup.mode": "committed-offset"}, "it is initial, earliest-offset, latest-offset, specific-offset"),
    ],
)
def test_other_values_are_refused(options: dict[str, str], words: str) -> None:
    with pytest.raises(FlinkplanError) as error:
        capture_with(**options)
    assert words in str(error.value)


@pytest.mark.parametrize(
    ("option", "value", "words"),
    [
        ("scan.startup.specific-offset.gtid-set", "x:1-9", "a file and a position are"),
        ("scan.startup.specific-offset.skip-events", "1", "a file and a position are"),
        ("scan.startup.specific-offset.skip-rows", "1", "a file and a position are"),
        ("scan.parse.online.schema.changes.enabled", "true", "changes of a schema are not followed"),
        ("jdbc.properties.useSSL", "false", "there is no JDBC driver"),
        ("debezium.binary.handling.mode", "hex", "there is no Debezium"),
    ],
)
def test_other_options_are_refused_by_their_names(option: str, value: str, words: str) -> None:
    given = {"connector": "mysql-cdc", "hostname": "h", "username": "u", "password": "${P}", "database-name": "d"}
    written = ", ".join(f"'{k}' = '{v}'" for k, v in {**given, "table-name": "t", option: value}.items())
    tables = f"CREATE TABLE t (id INT PRIMARY KEY NOT ENFORCED) WITH ({written});"
    tables += "CREATE TABLE b (n BIGINT) WITH ('connector' = 'blackhole');"
    with pytest.raises(FlinkplanError) as error:
        check_executable(compile_script(f"{tables} INSERT INTO b SELECT COUNT(*) FROM t;"), {"P": "swordfish"}, {})
    assert f"'{option}' is not executed here: {words}" in str(error.value)


def test_chunks_need_a_primary_key() -> None:
    with pytest.raises(FlinkplanError, match="a snapshot is read in chunks by the primary key"):
        capture_with(columns="id INT")


THEIRS = (
    "id int primary key, flag tinyint(1), tiny tinyint, usmall smallint unsigned, umed mediumint unsigned, "
    "uint int unsigned, ubig bigint unsigned, f4 float, f8 double, n decimal(12, 3), t text character set latin1, "
    "c char(4), j json, b binary(3), vb varbinary(9), bl blob, bits bit(12), bit1 bit(1), d date, tm time(3), "
    "dt datetime(6), ts timestamp(3) null, zts timestamp(6) null, y year, e enum('sad', 'it''s'), s set('b', 'a', 'c')"
)
OURS = (
    "id INT PRIMARY KEY NOT ENFORCED, flag BOOLEAN, tiny TINYINT, usmall INT, umed INT, uint BIGINT, "
    "ubig DECIMAL(20, 0), f4 FLOAT, f8 DOUBLE, n DECIMAL(12, 3), t STRING, c CHAR(4), j STRING, b BYTES, vb BYTES, "
    "bl BYTES, bits BYTES, bit1 BOOLEAN, d DATE, tm TIME(3), dt TIMESTAMP(6), ts TIMESTAMP_LTZ(3), zts TIMESTAMP(6), "
    "y INT, e STRING, s ARRAY<STRING>"
)
VALUES = (
    "1, -3, 65535, 16777215, 4294967295, 18446744073709551615, 16777217, 1e300, -123456789.120, 'ä\\\\n\"', 'ab', "
    "'{ \"x\":1}', X'00FF', X'00', X'DEADBEEF', b'101', b'1', '2024-02-29', '12:34:56.789', "
    "'1969-12-31 23:59:59.123456', '2024-01-01 00:00:00.123', '2024-01-01 00:00:00.123456', 2024, 'it''s', 'c,b'"
)
ROW = {
    **{"flag": True, "tiny": -3, "usmall": 65535, "umed": 16777215, "uint": 4294967295, "ubig": 18446744073709551615},
    **{"f4": 16777216.0, "f8": 1e300, "n": -123456789.12, "t": 'ä\\n"', "c": "ab", "j": '{ "x":1}', "b": "AP8A"},
    **{"vb": "AA==", "bl": "3q2+7w==", "bits": "BQA=", "bit1": True, "d": "2024-02-29", "tm": "12:34:56.789"},
    **{"dt": "1969-12-31 23:59:59.123456", "ts": "2024-01-01 00:00:00.123Z", "zts": "2024-01-01 09:00:00.123456"},
    **{"y": 2024, "e": "it's", "s": ["b", "c"]},
}


@pytest.mark.spark
def test_values_of_all_types_in_the_snapshot_and_in_the_log(
    maria: MariaDb, spark: SparkSession, tmp_path: Path
) -> None:
    capturing = Capturing(maria, spark, tmp_path)
    utc = "SET time_zone = '+00:00'; "
    maria.ask(f"CREATE TABLE types ({THEIRS}); {utc} INSERT INTO types VALUES (1, {VALUES})")
    maria.ask("INSERT INTO types (id) VALUES (2)")
    metadata = "k STRING METADATA FROM 'row_kind', w STRING METADATA FROM 'database_name'"
    source = (
        f"CREATE TABLE types ({OURS}, {metadata}) WITH ('connector' = 'mysql-cdc', 'hostname' = '127.0.0.1', "
        f"'port' = '${{PORT}}', 'username' = '{USER}', 'password' = '${{PASSWORD}}', 'database-name' = 'shop', "
        "'table-name' = 'types', 'server-time-zone' = 'Asia/Tokyo', 'scan.incremental.snapshot.chunk.size' = '1');"
    )
    out = capturing.files("out", f"{OURS}, w STRING")
    script = (source, out, f"INSERT INTO `out` SELECT {names_of(OURS)}, w FROM types;")
    capturing.run(*script)
    maria.ask(
        f"{utc} INSERT INTO types VALUES (3, {VALUES}); UPDATE types SET id = 4 WHERE id = 2; "
        "UPDATE types SET flag = 0 WHERE id = 1; DELETE FROM types WHERE id = 3"
    )
    capturing.run(*script)
    nothing = dict.fromkeys(ROW)
    first, second, third, *updates, last = capturing.changes()
    assert [first["after"], second["after"]] == [{"id": 1, **ROW, "w": "shop"}, {"id": 2, **nothing, "w": "shop"}]
    assert third["after"] == last["before"] == {"id": 3, **ROW, "w": "shop"}
    gone, come, old, new = ((change["op"], change["before"] or change["after"]) for change in updates)
    assert (gone, come) == (("d", {"id": 2, **nothing, "w": "shop"}), ("c", {"id": 4, **nothing, "w": "shop"}))
    assert (old[1], new[1]) == ({"id": 1, **ROW, "w": "shop"}, {"id": 1, **ROW, "flag": False, "w": "shop"})


def names_of(columns: str) -> str:
    """The names of columns, between commas."""
    return ", ".join(f"`{c.split()[0]}`" for c in columns.replace("(20, 0)", "").replace("(12, 3)", "").split(", "))
