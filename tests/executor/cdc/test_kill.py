"""Jobs over a table of PostgreSQL or MariaDB that are killed while they read its snapshot, at its end, and in its log.

What they leave is what the table comes to, and no order is joined before the snapshot has been read.  By default a job
is killed three times; ``make soak-cdc`` kills several jobs, 30 times in all, each while its snapshot is another size.
"""

from __future__ import annotations

import json
import os
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from flinkplan.plan.document import save
from flinkplan.planner import compile_script
from tests.executor import mariadb_server
from tests.executor.mariadb_server import MariaDb, running_mariadb
from tests.executor.postgres_server import PASSWORD, USER, Server
from tests.killing import SEED, Kills, Place, Work, left

pytestmark = [
    pytest.mark.spark,
    pytest.mark.xdist_group("processes"),
    pytest.mark.nightly("positions are tested without Spark, and each kill starts a JVM"),
]

KILLS_EACH = 6
JOBS = max(1, int(os.environ.get("FLINKPLAN_KILLS", "0")) // KILLS_EACH)
CHUNK, STEADY = 5, 10
"""How many rows a chunk has; how many rows of the table always stay."""


def postgres_options(name: str) -> dict[str, str]:
    """The options of a table of PostgreSQL beyond those that both databases have."""
    return {
        "connector": "postgres-cdc",
        "username": USER,
        "database-name": "postgres",
        "schema-name": "public",
        "slot.name": name,
        "decoding.plugin.name": "pgoutput",
        "scan.incremental.snapshot.enabled": "true",
    }


def maria_options(name: str) -> dict[str, str]:
    """The options of a table of MariaDB beyond those."""
    return {"connector": "mysql-cdc", "username": mariadb_server.USER, "database-name": "shop"}


def script(name: str, own: dict[str, str]) -> str:
    """Sums over a table, and orders joined with it as of processing time."""
    options = {
        "hostname": "127.0.0.1",
        "port": "${PORT}",
        "password": "${PASSWORD}",
        "table-name": name,
        "scan.incremental.snapshot.chunk.size": str(CHUNK),
        **own,
    }
    given = ", ".join(f"'{key}' = '{value}'" for key, value in options.items())
    files = "'connector' = 'filesystem', 'path' = '${DIR}/%s', 'format' = '%s'"
    orders = files % ("orders", "json") + ", 'source.monitor-interval' = '100 ms'"
    return (
        "SET 'table.exec.temporal-join.processing-time' = 'wait-for-snapshot';"
        f"CREATE TABLE accounts (id INT PRIMARY KEY NOT ENFORCED, team INT, amount INT) WITH ({given});"
        f"CREATE TABLE orders (id INT, account INT, p AS PROCTIME()) WITH ({orders});"
        f"CREATE TABLE sums (team INT, n BIGINT, amount INT) WITH ({files % ('sums', 'debezium-json')});"
        f"CREATE TABLE joined (id INT, amount INT) WITH ({files % ('joined', 'json')});"
        "EXECUTE STATEMENT SET BEGIN "
        "INSERT INTO sums SELECT team, COUNT(*), SUM(amount) FROM accounts GROUP BY team; "
        "INSERT INTO joined SELECT o.id, a.amount FROM orders o LEFT JOIN accounts FOR SYSTEM_TIME AS OF o.p AS a "
        "ON o.account = a.id; END;"
    )


class Run:
    """A job over a table of its own."""

    def __init__(self, server: Server | MariaDb, name: str, folder: Path, rows: int) -> None:
        self._server, self._name, self._folder = server, name, folder
        self._random = random.Random(SEED)
        is_maria = isinstance(server, MariaDb)
        numbers = f"seq_1_to_{rows}" if is_maria else f"generate_series(1, {rows}) AS numbers (seq)"
        server.ask(
            f"CREATE TABLE {name} (id int primary key, team int, amount int); "
            f"INSERT INTO {name} SELECT seq, seq % 7, seq FROM {numbers}"
        )
        if not is_maria:
            server.ask(f"ALTER TABLE {name} REPLICA IDENTITY FULL")
        options = maria_options(name) if is_maria else postgres_options(name)
        save(compile_script(script(name, options)), folder / "plan.json")
        (folder / "orders").mkdir()
        password = mariadb_server.PASSWORD if is_maria else PASSWORD
        variables = {"DIR": str(folder), "PORT": str(server.port), "PASSWORD": password}
        self.work = Work(folder / "plan.json", folder, variables)

    def feed(self, number: int) -> None:
        """Change rows in several transactions, and add orders."""
        ids = [self._random.randint(STEADY + 1, 400) for _ in range(6)]
        added = 1000 + 2 * number
        self._server.ask(
            f"UPDATE {self._name} SET amount = amount + 1, team = (team + 1) % 7 WHERE id IN ({ids[0]}, 3)"
        )
        self._server.ask(
            f"BEGIN; DELETE FROM {self._name} WHERE id IN ({ids[1]}, {ids[2]}); "
            f"INSERT INTO {self._name} VALUES ({added}, 1, {added}), ({added + 1}, 2, {added}); COMMIT"
        )
        self._server.ask(f"UPDATE {self._name} SET id = -id WHERE id = {ids[3]}")
        orders = [{"id": number * STEADY + i, "account": i + 1} for i in range(STEADY)]
        hidden = self._folder / "orders" / f".{number}"
        hidden.write_text("".join(f"{json.dumps(order)}\n" for order in orders))
        hidden.rename(hidden.with_name(str(number)))

    def expected(self) -> Counter[tuple[Any, ...]]:
        """What ``sums`` comes to."""
        lines = self._server.ask(f"SELECT team, count(*), sum(amount) FROM {self._name} GROUP BY team").splitlines()
        return Counter(tuple(map(int, line.replace("\t", "|").split("|"))) for line in lines)


@pytest.fixture(scope="module")
def maria() -> Iterator[MariaDb]:
    """A server of MariaDB for all jobs, each of which has a table of its own."""
    if not mariadb_server.IS_INSTALLED:
        pytest.skip("MariaDB is not installed: apt install mariadb-server-core mariadb-client-core")
    with running_mariadb() as server:
        yield server


@pytest.mark.parametrize("job", range(JOBS))
@pytest.mark.parametrize("database", ["server", "maria"])
def test_nothing_is_lost_or_doubled(
    database: str, job: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    server: Server | MariaDb = request.getfixturevalue(database)
    if "FLINKPLAN_KILLS" in os.environ:
        monkeypatch.setenv("FLINKPLAN_KILLS", str(KILLS_EACH))
    rows = (250, 60, 400, 160, 100)[job % 5]
    run = Run(server, f"accounts_{job}", tmp_path, rows)
    feeds = Kills(Place.STARTING, Place.WITHIN, Place.BETWEEN).inflict(run.work, run.feed, ("sums", "joined"))
    assert left(tmp_path / "sums") == run.expected()
    joined = [json.loads(line) for file in sorted((tmp_path / "joined").iterdir()) for line in file.open()]
    assert sorted(row["id"] for row in joined) == list(range(feeds * STEADY))
    assert [row for row in joined if row["amount"] is None] == []
    if isinstance(server, Server):
        server.ask(f"SELECT pg_drop_replication_slot('accounts_{job}')")
