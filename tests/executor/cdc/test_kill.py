"""Jobs over a table of PostgreSQL that are killed while they read its snapshot, at its end, and in its log.

What they leave is what the table comes to, and no order is joined before the snapshot has been read.  By default a job
is killed three times; ``make soak-cdc`` kills several jobs, 30 times in all, each while its snapshot is another size.
"""

from __future__ import annotations

import json
import os
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from flinkplan.plan.document import save
from flinkplan.planner import compile_script
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


def script(name: str) -> str:
    """Sums over a table, and orders joined with it as of processing time."""
    options = {
        "connector": "postgres-cdc",
        "hostname": "127.0.0.1",
        "port": "${PORT}",
        "username": USER,
        "password": "${PASSWORD}",
        "database-name": "postgres",
        "schema-name": "public",
        "table-name": name,
        "slot.name": name,
        "decoding.plugin.name": "pgoutput",
        "scan.incremental.snapshot.enabled": "true",
        "scan.incremental.snapshot.chunk.size": str(CHUNK),
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

    def __init__(self, server: Server, name: str, folder: Path, rows: int) -> None:
        self._server, self._name, self._folder = server, name, folder
        self._random = random.Random(SEED)
        server.ask(
            f"CREATE TABLE {name} (id int primary key, team int, amount int); "
            f"ALTER TABLE {name} REPLICA IDENTITY FULL; "
            f"INSERT INTO {name} SELECT i, i % 7, i FROM generate_series(1, {rows}) i"
        )
        save(compile_script(script(name)), folder / "plan.json")
        (folder / "orders").mkdir()
        variables = {"DIR": str(folder), "PORT": str(server.port), "PASSWORD": PASSWORD}
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
        lines = self._server.ask(f"SELECT team, count(*), sum(amount) FROM {self._name} GROUP BY team").split()
        return Counter(tuple(map(int, line.split("|"))) for line in lines)


@pytest.mark.parametrize("job", range(JOBS))
def test_nothing_is_lost_or_doubled(job: int, server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if "FLINKPLAN_KILLS" in os.environ:
        monkeypatch.setenv("FLINKPLAN_KILLS", str(KILLS_EACH))
    rows = (250, 60, 400, 160, 100)[job % 5]
    run = Run(server, f"accounts_{job}", tmp_path, rows)
    feeds = Kills(Place.STARTING, Place.WITHIN, Place.BETWEEN).inflict(run.work, run.feed, ("sums", "joined"))
    assert left(tmp_path / "sums") == run.expected()
    joined = [json.loads(line) for file in sorted((tmp_path / "joined").iterdir()) for line in file.open()]
    assert sorted(row["id"] for row in joined) == list(range(feeds * STEADY))
    assert [row for row in joined if row["amount"] is None] == []
    server.ask(f"SELECT pg_drop_replication_slot('accounts_{job}')")
