"""Positions in the snapshot and the log of a table, without Spark."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from flinkplan.executor.cdc import stream as module
from flinkplan.executor.cdc.column_types import ColumnType, holds
from flinkplan.executor.cdc.log import Part, Place
from flinkplan.executor.cdc.postgres import snapshot_shows
from flinkplan.executor.cdc.replication import SlotReader
from flinkplan.executor.cdc.settings import CaptureError, PostgresCapture, capture_of
from flinkplan.executor.connectors.tables import table_of
from flinkplan.executor.prepare.checks import check_executable
from flinkplan.plan.errors import FlinkplanError
from flinkplan.plan.record import replace
from flinkplan.plan.tables import plan_tables
from flinkplan.plan.types import BIGINT, INT, STRING
from flinkplan.plan.types.parser import parse_type
from flinkplan.planner import compile_script
from tests.executor.postgres_server import PASSWORD, USER, Server

from .reading import Reader

pytestmark = pytest.mark.programs


def capture_with(columns: str = "id INT, v STRING", **options: str) -> PostgresCapture:
    """What the options of a table say."""
    given = {"connector": "postgres-cdc", "hostname": "127.0.0.1", "username": USER, "password": "${PASSWORD}"}
    given |= {"database-name": "postgres", "schema-name": "public", "table-name": "t", "slot.name": "s", **options}
    written = ", ".join(f"'{key}' = '{value}'" for key, value in given.items())
    tables = f"CREATE TABLE t ({columns}) WITH ({written}); CREATE TABLE b (n BIGINT) WITH ('connector' = 'blackhole');"
    plan = compile_script(f"{tables} INSERT INTO b SELECT COUNT(*) FROM t;")
    capture = capture_of(next(table_of(reference, {"PASSWORD": PASSWORD}) for _, reference in plan_tables(plan)))
    assert isinstance(capture, PostgresCapture)
    return capture


@pytest.fixture
def capture(server: Server, request: pytest.FixtureRequest) -> PostgresCapture:
    """A table of the test's name, with the columns ``id`` and ``v``."""
    name = request.node.originalname.removeprefix("test_")[:40]
    return capture_with(
        **{
            "port": str(server.port),
            "table-name": name,
            "slot.name": name,
            "changelog-mode": "upsert",
            "debezium.publication.name": name,
            "debezium.publication.autocreate.mode": "filtered",
            "scan.incremental.snapshot.enabled": "true",
            "scan.incremental.snapshot.chunk.size": "2",
            "scan.lsn-commit.checkpoints-num-delay": "0",
            "connect.max-retries": "0",
        },
        columns="id INT, v STRING, PRIMARY KEY (id) NOT ENFORCED",
    )


def create(server: Server, capture: PostgresCapture, rows: int, columns: str = "id int primary key, v text") -> None:
    server.ask(f"CREATE TABLE {capture.table} ({columns})")
    if rows:
        server.ask(f"INSERT INTO {capture.table} SELECT i, 'v' || i FROM generate_series(1, {rows}) i")


def test_a_row_that_a_later_snapshot_has_changed_comes_once(
    server: Server, capture: PostgresCapture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "BATCH_CHUNKS", 1)
    create(server, capture, 6)
    reader = Reader(capture, tmp_path)
    assert b"1\tv1\t1\n2\tv2\t2\n" in reader.batch()
    server.ask(f"UPDATE {capture.table} SET v = 'other' WHERE id IN (1, 5); DELETE FROM {capture.table} WHERE id = 6")
    reader = reader.again(capture, tmp_path)
    rows = reader.until(lambda _: reader.position["snapshot"]["table"] == 1)
    assert b"3\tv3\t3\n" in rows and b"5\tother\t5\n" in rows and b"v6" not in rows
    changes = reader.until(lambda _: reader.position["snapshot"] is None)
    assert changes.count(b"other") == 1  # of the row that was read before
    server.ask(f"UPDATE {capture.table} SET v = 'again' WHERE id IN (1, 5)")
    assert reader.rest().count(b"again") == 2


def test_keys_of_texts_are_compared_by_the_server(
    server: Server, capture: PostgresCapture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "BATCH_CHUNKS", 1)
    create(server, capture, 0, 'a text collate "C", id int, v text, primary key (a, id)')
    server.ask(f"INSERT INTO {capture.table} VALUES ('B', 1, 'x'), ('a', 1, 'x'), ('a', 2, 'x'), (E'b\\t', 1, 'x')")
    reader = Reader(capture, tmp_path)
    assert b"\tB\t1\n1\tx\ta\t1\n" in reader.batch()
    server.ask(f"UPDATE {capture.table} SET v = 'B1' WHERE a = 'B'; UPDATE {capture.table} SET v = 'a2' WHERE id = 2")
    reader = reader.again(capture, tmp_path)
    assert b"a2" in reader.until(lambda _: reader.position["snapshot"]["table"] == 1)
    changes = reader.until(lambda _: reader.position["snapshot"] is None)
    assert b"B1" in changes and b"a2" not in changes


def test_what_another_stream_has_read_meanwhile_is_not_passed_by(
    server: Server, capture: PostgresCapture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    create(server, capture, 0)
    reader = Reader(capture, tmp_path)
    reader.until(lambda _: reader.position["snapshot"] is None)
    take = SlotReader.take
    written: list[int] = []

    def take_before_another(self: SlotReader, stream: object, place: Place, most: int) -> tuple[list[Part], Place, int]:
        taken = take(self, stream, place, most)
        if not written and not taken[0]:
            server.ask(f"INSERT INTO {capture.table} VALUES (1, 'meanwhile')")
            written.append(reader.positions._server.written())
            while self.reached < written[0]:
                self.wait(0.05)
                take(self, "another", place, most)
        return taken

    monkeypatch.setattr(SlotReader, "take", take_before_another)
    reader.positions._capture = replace(capture, heartbeat=0.001)  # a stream without changes moves on at once
    assert b"meanwhile" in reader.until(lambda read: b"meanwhile" in read)


def test_a_large_transaction_is_cut_and_read_on(
    server: Server, capture: PostgresCapture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "BATCH_CHANGES", 10)
    create(server, capture, 0)
    reader = Reader(capture, tmp_path)
    reader.until(lambda _: reader.position["snapshot"] is None)
    server.ask(f"INSERT INTO {capture.table} SELECT i, 'v' || i FROM generate_series(1, 25) i")
    server.ask(f"INSERT INTO {capture.table} VALUES (26, 'v26')")
    first = reader.until(lambda read: b"v10" in read)
    assert (b"v11" in first, reader.position["taken"]) == (False, 10)
    reader = reader.again(capture, tmp_path)
    rest = reader.rest()
    assert [f"v{i}".encode() in rest for i in (10, 11, 25, 26)] == [False, True, True, True]


def test_the_slot_follows_and_others_than_the_last_checkpoint_are_refused(
    server: Server, capture: PostgresCapture, tmp_path: Path
) -> None:
    create(server, capture, 1)
    capture = replace(capture, heartbeat=0.01)
    reader = Reader(capture, tmp_path)
    reader.until(lambda _: reader.position["snapshot"] is None)
    old = dict(reader.position)
    for i in range(2, 5):
        server.ask(f"INSERT INTO {capture.table} VALUES ({i}, 'v{i}')")
        reader.rest()
    (confirmed,) = server.ask(
        "SELECT pg_wal_lsn_diff(confirmed_flush_lsn, '0/0')::bigint FROM pg_replication_slots "
        f"WHERE slot_name = '{capture.slot}'"
    ).split()
    assert int(confirmed) > old["lsn"]
    server.ask("SELECT pg_switch_wal()")
    reached = reader.position["lsn"]
    reader.until(lambda _: reader.position["lsn"] > reached)  # though the table has not changed
    reader.positions.close("s")
    with pytest.raises(CaptureError, match=r"the replication slot .* has moved on to .* start with a new checkpoint"):
        Reader(capture, tmp_path, old).batch()
    server.ask(f"SELECT pg_drop_replication_slot('{capture.slot}')")
    with pytest.raises(CaptureError, match=r"the replication slot .* is gone, .* start with a new checkpoint"):
        Reader(capture, tmp_path, reader.position).batch()


def test_a_lost_connection_is_opened_again(server: Server, capture: PostgresCapture, tmp_path: Path) -> None:
    create(server, capture, 1)
    reader = Reader(capture, tmp_path)
    reader.rest()
    server.ask("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'flinkplan'")
    server.ask(f"INSERT INTO {capture.table} VALUES (2, 'v2')")
    assert b"v2" in reader.until(lambda read: b"v2" in read)


def test_what_cannot_be_read_is_named(server: Server, capture: PostgresCapture, tmp_path: Path) -> None:
    def refused(**more: Any) -> str:
        with pytest.raises(CaptureError) as error:
            Reader(replace(capture, **more), tmp_path)
        return str(error.value)

    assert "there is no table public.what_cannot" in refused()
    create(server, capture, 1)
    server.ask(
        "CREATE TABLE parts (id int, v text) PARTITION BY RANGE (id); CREATE PUBLICATION deaf FOR ALL TABLES "
        "WITH (publish = 'insert')"
    )
    assert "the table public.parts is partitioned; set 'scan.include-partitioned" in refused(table="parts")
    assert "the column 'w' of public.what" in refused(columns=(("w", INT),))
    assert "is int4, and is declared as STRING" in refused(columns=(("id", STRING),)).replace(
        "VARCHAR(2147483647)", "STRING"
    )
    assert "there is no publication 'none'; create it" in refused(publication="none", autocreate="disabled")
    assert "the publication 'deaf' does not publish all changes" in refused(publication="deaf")
    assert "there is no replication slot" in refused(startup="committed-offset")
    assert "REPLICA IDENTITY FULL; or set 'changelog-mode' = 'upsert'" in refused(needs_old_rows=True)
    assert "is not in the primary key" in refused(chunk_key="v")
    assert "no connection to PostgreSQL at 127.0.0.1:" in refused(password="wrong")
    assert "server does not support SSL" in refused(ssl_mode="require")
    server.ask(f"SELECT pg_create_logical_replication_slot('{capture.slot}', 'test_decoding')")
    assert "is of the plugin test_decoding" in refused()


def test_a_changed_column_stops_the_log(server: Server, capture: PostgresCapture, tmp_path: Path) -> None:
    create(server, capture, 1)
    reader = Reader(capture, tmp_path)
    reader.rest()
    server.ask(f"ALTER TABLE {capture.table} RENAME v TO w; INSERT INTO {capture.table} VALUES (2, 'v2')")
    with pytest.raises(CaptureError, match=r"the column 'v' of public.* is declared, and the log does not have it"):
        reader.rest()
    server.ask(f"ALTER TABLE {capture.table} RENAME w TO v; ALTER TABLE {capture.table} ALTER id TYPE bigint")
    wider = replace(capture, columns=(("id", BIGINT), ("v", STRING)))
    reader.positions.close("s")
    server.ask(f"INSERT INTO {capture.table} VALUES (3000000000, 'v3')")
    with pytest.raises(CaptureError, match="does not have it"):  # the rows between the changes have no such column
        Reader(wider, tmp_path, reader.position).rest()


def test_partitioned_tables_are_read_as_a_whole(server: Server, capture: PostgresCapture, tmp_path: Path) -> None:
    name = capture.table
    create(server, capture, 0, "id int primary key, v text) PARTITION BY RANGE (id")
    server.ask(
        f"CREATE TABLE {name}_1 PARTITION OF {name} FOR VALUES FROM (0) TO (10); CREATE TABLE {name}_2 PARTITION OF "
        f"{name} FOR VALUES FROM (10) TO (20); INSERT INTO {name} VALUES (1, 'v1'), (11, 'v11')"
    )
    reader = Reader(replace(capture, partitioned=True), tmp_path)
    rows = reader.rest()
    server.ask(f"INSERT INTO {name} VALUES (12, 'v12')")
    assert b"1\tv1\t1\n11\tv11\t11\n" in rows and b"v12" in reader.rest()


@pytest.mark.parametrize(
    ("option", "value", "field", "default", "expected"),
    [
        ("port", "5433", "port", 5432, 5433),
        ("scan.incremental.snapshot.enabled", "true", "chunk_rows", None, 8096),
        ("scan.incremental.snapshot.chunk.key-column", "id", "chunk_key", None, "id"),
        ("scan.include-partitioned-tables.enabled", "true", "partitioned", False, True),
        ("scan.lsn-commit.checkpoints-num-delay", "1", "commit_delay", 3, 1),
        ("heartbeat.interval.ms", "1 min", "heartbeat", 30.0, 60.0),
        ("connect.timeout", "5 s", "timeout", 30.0, 5.0),
        ("connect.max-retries", "1", "retries", 3, 1),
        ("debezium.publication.name", "p", "publication", "dbz_publication", "p"),
        ("debezium.publication.autocreate.mode", "disabled", "autocreate", "all_tables", "disabled"),
        ("debezium.database.sslmode", "require", "ssl_mode", "prefer", "require"),
        ("debezium.database.sslrootcert", "/ca.pem", "ssl_root", None, "/ca.pem"),
        ("scan.startup.mode", "committed-offset", "startup", "initial", "committed-offset"),
        ("scan.startup.mode", "snapshot", "needs_old_rows", True, False),
    ],
)
def test_options_say_what_is_read(option: str, value: str, field: str, default: object, expected: object) -> None:
    assert getattr(capture_with(), field) == default
    assert getattr(capture_with(**{option: value}), field) == expected


def test_tables_that_come_later_are_not_read(server: Server, capture: PostgresCapture, tmp_path: Path) -> None:
    several = replace(capture, table="later_[ab]", autocreate="all_tables", slot="later")
    create(server, replace(capture, table="later_a"), 1)
    reader = Reader(several, tmp_path)
    reader.rest()
    create(server, replace(capture, table="later_b"), 0)
    reader = reader.again(several, tmp_path)
    server.ask("INSERT INTO later_b VALUES (7, 'v7'); INSERT INTO later_a VALUES (8, 'v8')")
    read = reader.rest()
    assert b"v8" in read and b"v7" not in read


@pytest.mark.parametrize(
    ("view", "transaction", "expected"),
    [
        ("10:12:10", 9, True),
        ("10:12:10", 10, False),
        ("10:12:10", 11, True),
        ("10:12:", 12, False),
        ("4294967300:4294967302:4294967301", 5, False),  # ids of logs begin anew after 2^32
        ("4294967300:4294967302:4294967301", 4, True),
        ("4294967300:4294967302:", 0xFFFFFFFF, True),
    ],
)
def test_a_snapshot_shows_transactions(view: str, transaction: int, expected: bool) -> None:
    assert snapshot_shows(view, transaction) is expected


@pytest.mark.parametrize(
    ("declared", "column", "expected"),
    [
        ("DECIMAL(10, 2)", ColumnType("numeric", modifier=(10 << 16 | 2) + 4), True),
        ("DECIMAL(10, 3)", ColumnType("numeric", modifier=(10 << 16 | 2) + 4), False),
        ("DECIMAL(10, 2)", ColumnType("numeric", modifier=(3 << 16 | 0x7FE) + 4), True),  # of scale -2
        ("DECIMAL(10, 2)", ColumnType("numeric"), True),
        ("STRING", ColumnType("mood", kind="e"), True),
        ("STRING", ColumnType("int4"), False),
        ("STRING", ColumnType("interval"), False),
        ("ARRAY<ARRAY<BIGINT>>", ColumnType("_int4", element=ColumnType("int4")), True),
        ("BIGINT", ColumnType("_int4", element=ColumnType("int4")), False),
    ],
)
def test_declared_types_hold_those_of_columns(declared: str, column: ColumnType, expected: bool) -> None:
    assert holds(parse_type(declared), column) is expected


@pytest.mark.parametrize(
    ("option", "words"),
    [
        ("'decoding.plugin.name' = 'wal2json'", "the log is not decoded here by 'wal2json'"),
        ("'scan.newly-added-table.enabled' = 'true'", "'scan.newly-added-table.enabled' is not executed here"),
        ("'debezium.snapshot.mode' = 'never'", "'debezium.snapshot.mode' is not executed here: only properties on a"),
        ("'slot.name' = 'Mixed'", "it has up to 63 lower-case letters, digits and underscores"),
        ("'changelog-mode' = 'upsert'", "'changelog-mode' = 'upsert' needs a primary key"),
    ],
)
def test_other_options_are_refused_by_their_names(option: str, words: str) -> None:
    given = {"connector": "postgres-cdc", "hostname": "h", "username": "u", "password": "${P}", "database-name": "d"}
    given |= {"schema-name": "s", "table-name": "t", "slot.name": "s", "decoding.plugin.name": "pgoutput"}
    key, _, value = option.partition(" = ")
    given[key.strip("'")] = value.strip("'")
    written = ", ".join(f"'{key}' = '{value}'" for key, value in given.items())
    tables = f"CREATE TABLE t (id INT) WITH ({written}); CREATE TABLE b (n BIGINT) WITH ('connector' = 'blackhole');"
    with pytest.raises(FlinkplanError) as error:
        check_executable(compile_script(f"{tables} INSERT INTO b SELECT COUNT(*) FROM t;"), {"P": "swordfish"}, {})
    assert words in str(error.value)
