"""Tables of PostgreSQL as they are, then as they change."""

from __future__ import annotations

import pytest

from flinkplan.executor.cdc import stream
from flinkplan.executor.errors import ExecutionError, TableError
from flinkplan.executor.prepare.modes import Mode

from .jobs import Capturing

pytestmark = pytest.mark.spark

THEIRS = (
    "id int primary key, flag boolean, small smallint, big bigint, f4 real, f8 double precision, n numeric(12, 3), "
    "wide numeric, t text, c char(4), u uuid, j json, jb jsonb, b bytea, d date, tm time, ts timestamp, "
    "tz timestamptz, a int[], aa text[], m mood, em email, day date[]"
)
OURS = (
    "id INT PRIMARY KEY NOT ENFORCED, flag BOOLEAN, small SMALLINT, big BIGINT, f4 FLOAT, f8 DOUBLE, n DECIMAL(12, 3), "
    "wide DECIMAL(20, 4), t STRING, c CHAR(4), u STRING, j STRING, jb STRING, b BYTES, d DATE, tm TIME(3), "
    "ts TIMESTAMP(6), tz TIMESTAMP_LTZ(3), a ARRAY<INT>, aa ARRAY<ARRAY<STRING>>, m STRING, em STRING, "
    "`day` ARRAY<DATE>"
)
VALUES = (
    "true, -3, 9000000000, 0.1, 1e300, -123456789.120, 3.14159, E'a\\tb\\\\ä\\n\"😀', 'ab', "
    "'123e4567-e89b-12d3-a456-426614174000', '{ \"x\":1}', '{\"y\" : [1, null]}', '\\x00ff', '2024-02-29', "
    "'12:34:56.789', '1969-12-31 23:59:59.123456', '2024-01-01 01:00:00.1239+01', '{1,NULL,-3}', "
    "'{{\"a,\\\"b\",NULL},{\"\",\"NULL\"}}', 'happy', 'a@b', '{2024-01-01}'"
)
ROW = {
    **{"flag": True, "small": -3, "big": 9000000000, "f4": 0.1, "f8": 1e300, "n": -123456789.12, "wide": 3.1416},
    **{"t": 'a\tb\\ä\n"😀', "c": "ab  ", "u": "123e4567-e89b-12d3-a456-426614174000", "j": '{ "x":1}'},
    **{"jb": '{"y": [1, null]}', "b": "AP8=", "d": "2024-02-29", "tm": "12:34:56.789"},
    **{"ts": "1969-12-31 23:59:59.123456", "tz": "2024-01-01 00:00:00.123Z", "a": [1, None, -3]},
    **{"aa": [['a,"b', None], ["", "NULL"]], "m": "happy", "em": "a@b", "day": ["2024-01-01"]},
}


def test_values_of_all_types_in_the_snapshot_and_in_the_log(capturing: Capturing) -> None:
    server = capturing.server
    server.ask(
        "CREATE TYPE mood AS ENUM ('sad', 'happy'); CREATE DOMAIN email AS varchar(10); "
        f"CREATE TABLE types ({THEIRS}); "
        f"ALTER TABLE types REPLICA IDENTITY FULL; INSERT INTO types VALUES (1, {VALUES}); INSERT INTO types VALUES (2)"
    )
    script = (capturing.source("types", OURS), capturing.files("out", OURS), "INSERT INTO `out` SELECT * FROM types;")
    capturing.run(*script)
    server.ask(
        f"INSERT INTO types VALUES (3, {VALUES}); UPDATE types SET id = 4 WHERE id = 2; "
        "UPDATE types SET flag = false WHERE id = 1; DELETE FROM types WHERE id = 3"
    )
    capturing.run(*script)
    nothing = dict.fromkeys(ROW)
    first, second, third, *updates, last = capturing.changes()
    assert [first["after"], second["after"]] == [{"id": 1, **ROW}, {"id": 2, **nothing}]
    assert third["after"] == last["before"] == {"id": 3, **ROW}
    gone, come, old, new = ((change["op"], change["before"] or change["after"]) for change in updates)
    assert (gone, come) == (("d", {"id": 2, **nothing}), ("c", {"id": 4, **nothing}))
    assert (old, new) == (("d", {"id": 1, **ROW}), ("c", {"id": 1, **ROW, "flag": False}))


def test_upserts_need_no_old_rows_and_chunks_follow_the_key(
    capturing: Capturing, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream, "BATCH_CHUNKS", 2)
    server = capturing.server
    server.ask(
        'CREATE TABLE pairs (a text collate "C", b int, v text, PRIMARY KEY (a, b)); INSERT INTO pairs '
        "SELECT chr(97 + i % 3) || chr(9), i, repeat('x', i * 1000) FROM generate_series(0, 19) i"
    )
    columns = "a STRING, b INT, v STRING, PRIMARY KEY (a, b) NOT ENFORCED"
    chunks = {"scan_incremental_snapshot_enabled": "true", "scan_incremental_snapshot_chunk_size": "3"}
    script = (
        capturing.source("pairs", columns, changelog__mode="upsert", **chunks),
        capturing.files("out", "a STRING, b INT, n BIGINT"),
        "INSERT INTO `out` SELECT a, b, CHAR_LENGTH(v) FROM pairs;",
    )
    with capturing.running(*script) as job:
        while len(capturing.left()) < 20:
            job.wait(0.05)
        server.ask(
            "UPDATE pairs SET b = 100 WHERE b = 4; DELETE FROM pairs WHERE b < 4; UPDATE pairs SET v = '' WHERE b = 5"
        )
        while len(capturing.left()) > 16 or ("c\t", 5, 0) not in capturing.left():
            job.wait(0.05)
    rest = {(f"{'abc'[i % 3]}\t", i, i * 1000): 1 for i in range(6, 20)}
    assert capturing.left() == {**rest, ("b\t", 100, 4000): 1, ("c\t", 5, 0): 1}


def test_several_tables_have_their_names_and_kinds_in_metadata(capturing: Capturing) -> None:
    server = capturing.server
    server.ask(
        "CREATE SCHEMA shop_1; CREATE TABLE shop_1.sold (id int); INSERT INTO shop_1.sold VALUES (1); "
        "CREATE SCHEMA shop_2; CREATE TABLE shop_2.sold (id int); INSERT INTO shop_2.sold VALUES (2); "
        "ALTER TABLE shop_1.sold REPLICA IDENTITY FULL; ALTER TABLE shop_2.sold REPLICA IDENTITY FULL"
    )
    metadata = (
        "id INT, s STRING METADATA FROM 'schema_name', t STRING METADATA FROM 'table_name', d STRING METADATA FROM "
        "'database_name', k STRING METADATA FROM 'row_kind', ts TIMESTAMP_LTZ(3) METADATA FROM 'op_ts'"
    )
    options = {"schema__name": "shop_[0-9]", "scan_read__changelog__as__append__only_enabled": "true"}
    script = (
        capturing.source("sold", metadata, **options),
        capturing.files("out", "id INT, s STRING, t STRING, d STRING, k STRING, changed BOOLEAN", "json"),
        "INSERT INTO `out` SELECT id, s, t, d, k, ts > TIMESTAMP '2020-01-01 00:00:00' FROM sold;",
    )
    capturing.run(*script)
    server.ask("UPDATE shop_1.sold SET id = 3; INSERT INTO shop_2.sold VALUES (4)")
    capturing.run(*script)
    assert [tuple(row.values()) for row in capturing.lines()] == [
        (1, "shop_1", "sold", "postgres", "+I", False),
        (2, "shop_2", "sold", "postgres", "+I", False),
        (1, "shop_1", "sold", "postgres", "-U", True),
        (3, "shop_1", "sold", "postgres", "+U", True),
        (4, "shop_2", "sold", "postgres", "+I", True),
    ]


def test_rows_wait_for_the_snapshot_and_sinks_share_a_slot(
    capturing: Capturing, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream, "BATCH_CHUNKS", 1)
    server = capturing.server
    server.ask(
        "CREATE TABLE rates (cur text primary key, rate int); ALTER TABLE rates REPLICA IDENTITY FULL; "
        "INSERT INTO rates SELECT 'C' || i, i FROM generate_series(10, 19) i"
    )
    (capturing.folder / "orders").mkdir()
    orders = capturing.folder / "orders" / "1"
    orders.write_text("".join(f'{{"cur": "C{i}", "v": {i}}}\n' for i in range(10, 20)))
    chunks = {"scan_incremental_snapshot_enabled": "true", "scan_incremental_snapshot_chunk_size": "1"}
    script = (
        "SET 'table.exec.temporal-join.processing-time' = 'wait-for-snapshot';",
        capturing.source("rates", "cur STRING PRIMARY KEY NOT ENFORCED, rate INT", **chunks),
        capturing.files("orders", "cur STRING, v INT, p AS PROCTIME()", "json"),
        capturing.files("out", "v INT, rate INT", "json"),
        capturing.files("sums", "n BIGINT, total INT"),
        "EXECUTE STATEMENT SET BEGIN "
        "INSERT INTO `out` SELECT o.v, r.rate FROM orders o LEFT JOIN rates FOR SYSTEM_TIME AS OF o.p AS r "
        "ON o.cur = r.cur; INSERT INTO sums SELECT COUNT(*), SUM(rate) FROM rates; END;",
    )
    capturing.run(*script)
    assert sorted((row["v"], row["rate"]) for row in capturing.lines()) == [(i, i) for i in range(10, 20)]
    server.ask("UPDATE rates SET rate = 100 WHERE cur = 'C10'; DELETE FROM rates WHERE cur = 'C11'")
    orders.with_name("2").write_text('{"cur": "C10", "v": 1}\n{"cur": "C11", "v": 2}\n')
    capturing.run(*script)
    assert capturing.left("sums") == {(9, 145 - 10 - 11 + 100): 1}
    assert all(row["rate"] in (10, 11, 100, None) for row in capturing.lines()[10:])


def test_a_batch_reads_the_tables_as_they_are(capturing: Capturing) -> None:
    capturing.server.ask("CREATE TABLE once (id int primary key); INSERT INTO once VALUES (1), (2), (3)")
    script = (
        capturing.source("once", "id INT PRIMARY KEY NOT ENFORCED", scan_startup_mode="snapshot"),
        capturing.files("out", "n BIGINT"),
        "INSERT INTO `out` SELECT COUNT(*) FROM once;",
    )
    capturing.run(*script, mode=Mode.BOUNDED)
    assert capturing.left() == {(3,): 1}
    assert (
        capturing.server.ask(f"SELECT count(*) FROM pg_replication_slots WHERE slot_name = '{capturing.slot}'") == "0\n"
    )


def test_the_log_is_read_without_a_snapshot_and_needs_old_rows(capturing: Capturing) -> None:
    server = capturing.server
    server.ask("CREATE TABLE changing (id int primary key, v int); INSERT INTO changing VALUES (0, 0)")
    script = (
        capturing.source("changing", "id INT PRIMARY KEY NOT ENFORCED, v INT", scan_startup_mode="latest-offset"),
        capturing.files("out", "id INT, v INT"),
        "INSERT INTO `out` SELECT * FROM changing;",
    )
    with pytest.raises(TableError, match=r"the log does not have the old rows of public\.changing"):
        capturing.run(*script)
    server.ask("ALTER TABLE changing REPLICA IDENTITY FULL")
    capturing.run(*script)
    server.ask("INSERT INTO changing VALUES (1, 1); UPDATE changing SET v = 2")
    server.ask("ALTER TABLE changing ADD COLUMN more int; INSERT INTO changing VALUES (2, 2, 2)")
    capturing.run(*script)
    assert capturing.left() == {(0, 0): -1, (0, 2): 1, (1, 2): 1, (2, 2): 1}
    with capturing.running(*script) as job:
        server.ask("ALTER TABLE changing REPLICA IDENTITY DEFAULT; UPDATE changing SET v = 0 WHERE id = 1")
        with pytest.raises(
            ExecutionError, match=r"a row of public\.changing has been changed, and the log does not have"
        ):
            job.wait()
