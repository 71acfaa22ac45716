"""Tables of a real server, PostgreSQL's, in a job whose JVM has the driver."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from .postgres_server import IS_INSTALLED, PASSWORD, USER, Server, running_server

_DRIVER = Path("/usr/share/java/postgresql.jar")

pytestmark = [
    pytest.mark.spark,
    pytest.mark.xdist_group("processes"),
    pytest.mark.skipif(
        not (IS_INSTALLED and _DRIVER.exists()),
        reason="PostgreSQL and its driver are not installed: apt install postgresql libpostgresql-jdbc-java",
    ),
]

SAME = (
    "id INT, flag BOOLEAN, big BIGINT, amount DECIMAL(10, 2), ratio DOUBLE, name STRING, born DATE, seen TIMESTAMP(6)"
)
THEIRS = (
    "id INT, flag BOOLEAN, big BIGINT, amount NUMERIC(10, 2), ratio DOUBLE PRECISION, name TEXT, born DATE, "
    "seen TIMESTAMP(6)"
)


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with running_server() as server:
        yield server


def script(folder: Path) -> str:
    """Copy every type, change rows by key and look some up, each part of its own sink."""

    def table(name: str, columns: str) -> str:
        options = {"connector": "jdbc", "url": "${URL}", "table-name": name, "username": USER}
        given = ", ".join(f"'{key}' = '{value}'" for key, value in {**options, "password": "${PASSWORD}"}.items())
        return f"CREATE TABLE `{name}` ({columns}) WITH ({given});"

    changes = f"'connector' = 'filesystem', 'path' = '{folder / 'changes'}', 'format' = 'debezium-json'"
    orders = f"'connector' = 'filesystem', 'path' = '{folder / 'orders'}', 'format' = 'json'"
    return "".join(
        [
            table("types", SAME),
            table("copied", SAME),
            f"CREATE TABLE changes (id INT PRIMARY KEY NOT ENFORCED, v STRING) WITH ({changes});",
            table("kept", "id INT PRIMARY KEY NOT ENFORCED, v STRING"),
            f"CREATE TABLE orders (id INT, cid INT, p AS PROCTIME()) WITH ({orders});",
            table("customers", "id INT, name STRING"),
            table("found", "id INT, name STRING"),
            "EXECUTE STATEMENT SET BEGIN "
            "INSERT INTO copied SELECT * FROM types WHERE id < 3; "
            "INSERT INTO kept SELECT id, v FROM changes; "
            "INSERT INTO found SELECT o.id, c.name FROM orders AS o "
            "LEFT JOIN customers FOR SYSTEM_TIME AS OF o.p AS c ON o.cid = c.id; END;",
        ]
    )


def test_a_server_is_read_written_and_looked_up(server: Server, tmp_path: Path) -> None:
    server.ask(
        f"CREATE TABLE types ({THEIRS}); CREATE TABLE copied ({THEIRS}); "
        "INSERT INTO types VALUES (1, TRUE, 9000000000, 12.50, 0.25, 'ä', '2024-02-29', '2024-02-29 12:34:56.789012'); "
        "INSERT INTO types (id) VALUES (2), (3); "
        "CREATE TABLE kept (id INT PRIMARY KEY, v TEXT, other INT DEFAULT 7); "
        "INSERT INTO kept VALUES (1, 'old', 1), (2, 'gone', 2), (3, 'stays', 3); "
        "CREATE TABLE customers (id INT, name TEXT); CREATE TABLE found (id INT, name TEXT); "
        "INSERT INTO customers VALUES (1, 'Ann'), (1, 'Eve'), (2, 'Bob')"
    )
    changes = (
        {"op": "u", "before": {"id": 1, "v": "old"}, "after": {"id": 1, "v": "new"}},
        {"op": "d", "before": {"id": 2, "v": "gone"}, "after": None},
        {"op": "c", "before": None, "after": {"id": 4, "v": "added"}},
    )
    (tmp_path / "changes").write_text("".join(f"{json.dumps(change)}\n" for change in changes))
    (tmp_path / "orders").write_text('{"id": 7, "cid": 1}\n{"id": 8, "cid": 2}\n{"id": 9, "cid": 3}\n')
    (tmp_path / "pipeline.sql").write_text(script(tmp_path))
    variables = {"URL": server.url, "PASSWORD": PASSWORD}
    command = [
        sys.executable,
        "-c",
        "import sys; from flinkplan.cli.main import main; sys.exit(main())",
        "run",
        str(tmp_path / "pipeline.sql"),
    ]
    command += ["--conf", f"spark.jars={_DRIVER}", "--checkpoint", str(tmp_path / "checkpoint")]
    command += [part for name, value in variables.items() for part in ("--var", f"{name}={value}")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert server.ask("SELECT * FROM copied ORDER BY id") == server.ask("SELECT * FROM types WHERE id < 3 ORDER BY id")
    assert server.ask("SELECT * FROM kept ORDER BY id") == "1|new|1\n3|stays|3\n4|added|7\n"
    assert server.ask("SELECT * FROM found ORDER BY id, name") == "7|Ann\n7|Eve\n8|Bob\n9|\n"
