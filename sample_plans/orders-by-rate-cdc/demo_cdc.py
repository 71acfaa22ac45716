"""Run the sample's plan: start a broker and a PostgreSQL server, send orders, update rates, print rows as they arrive,
then stop all of it.
"""

import csv
import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
import psycopg
from rich.console import Console

sys.path.insert(0, str(Path(__file__).parents[1] / "orders-by-rate"))
from demo import DATA, Broker, Shop, serve

from flinkplan.executor.jobs.job import JobOptions, execute
from flinkplan.executor.prepare.modes import Mode
from flinkplan.plan.document import load

USER = "postgres"


def program(name: str) -> str:
    """The path of a program of PostgreSQL; ends the demonstration where it is not installed."""
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    path = shutil.which(name, path=os.pathsep.join([*map(str, folders), os.environ.get("PATH", "")]))
    if path is None:
        raise SystemExit("PostgreSQL is not installed, and this sample needs it: apt install postgresql")
    return path


def unprivileged(*command: str) -> list[str]:
    """A command that is not run by root, as the server refuses to be."""
    return ["runuser", "-u", USER, "--", *command] if os.geteuid() == 0 else list(command)


class Database:
    """A PostgreSQL server with the table ``rates``."""

    def __init__(self, port: int, password: str) -> None:
        self.port = port
        self.password = password
        self._connection = psycopg.connect(
            host="127.0.0.1", port=port, user=USER, password=password, dbname="postgres", autocommit=True
        )
        self._connection.execute("CREATE TABLE rates (day date, currency text PRIMARY KEY, rate numeric(10, 4))")

    def change(self, rates: list[dict[str, Any]]) -> None:
        """Set the rates of a day, in one transaction."""
        with self._connection.transaction(), self._connection.cursor() as cursor:
            cursor.executemany(
                "INSERT INTO rates VALUES (%(day)s, %(currency)s, %(rate)s) "
                "ON CONFLICT (currency) DO UPDATE SET day = EXCLUDED.day, rate = EXCLUDED.rate",
                rates,
            )


@contextmanager
def database() -> Iterator[Database]:
    """A server that has the rates of the file, until the end of the block."""
    folder, password = Path(tempfile.mkdtemp(prefix="flinkplan-demo-")), secrets.token_urlsafe()
    (folder / "password").write_text(password)
    for path in (folder, folder / "password") if os.geteuid() == 0 else ():
        shutil.chown(path, USER)
    data, login = str(folder / "data"), ("-A", "scram-sha-256", "--pwfile", str(folder / "password"))
    initdb = unprivileged(program("initdb"), "-D", data, "-U", USER, "--no-sync", *login)
    subprocess.run(initdb, check=True, stdout=subprocess.DEVNULL)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    settings = ("-h", "127.0.0.1", "-p", str(port), "-k", str(folder), "-F", "-c", "wal_level=logical")
    command = unprivileged(program("postgres"), "-D", data, *settings)
    log = (folder / "log").open("w")
    server = subprocess.Popen(command, stderr=log)
    try:
        while "ready to accept connections" not in (folder / "log").read_text():
            if server.poll() is not None:
                raise SystemExit("the server has ended:\n" + (folder / "log").read_text())
        made = Database(port, password)
        with (DATA / "rates.csv").open(encoding="utf-8") as file:
            made.change([dict(zip(("day", "currency", "rate"), row, strict=True)) for row in csv.reader(file)])
        yield made
    finally:
        server.send_signal(2)
        server.wait()
        log.close()
        shutil.rmtree(folder)


@click.command(help=__doc__)
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
def main(folder: Path) -> None:
    console, folder = Console(highlight=False), folder.resolve()
    with database() as rates:
        broker, shop = Broker(), Shop(folder / "output")
        variables = {"BROKERS": broker.servers, "OUT": str(folder / "output")}
        variables |= {"DB_HOST": "127.0.0.1", "DB_PORT": str(rates.port)}
        variables |= {"DB_USER": USER, "DB_PASSWORD": rates.password}
        options = JobOptions(
            checkpoint=str(folder / "checkpoint"),
            variables=variables,
            mode=Mode.STREAMING,
            trigger_interval=0.5,
            databases=(str(folder / "output"),),
        )
        job = execute(load(folder / "plan.json"), options)
        try:
            serve(job, broker, shop, console, rates.change)
        finally:
            job.stop()
        console.print("turnover, as the database has it:", shop.turnover(), sep="\n")


if __name__ == "__main__":
    main()
