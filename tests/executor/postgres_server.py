"""A server of PostgreSQL in a folder of its own, where Debian's package is installed."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_FOLDERS = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
_PATH = os.pathsep.join([*map(str, reversed(_FOLDERS)), os.environ.get("PATH", "")])
_INITDB, _SERVER, _CLIENT = (shutil.which(name, path=_PATH) for name in ("initdb", "postgres", "psql"))

IS_INSTALLED = bool(_INITDB and _SERVER and _CLIENT)
USER = "postgres"
PASSWORD = "it's secret"


class Server:
    """A server with the database ``postgres``; ``url`` is where it is."""

    def __init__(self, folder: Path, port: int) -> None:
        self._folder = folder
        self.port = port
        self.url = f"jdbc:postgresql://127.0.0.1:{port}/postgres"

    def ask(self, statements: str) -> str:
        """Run statements; the values of rows, between bars."""
        assert _CLIENT is not None
        address = ["-h", "127.0.0.1", "-p", str(self.port), "-U", USER]
        command = [_CLIENT, *address, "-v", "ON_ERROR_STOP=1", "-qAt", "-c", statements]
        done = subprocess.run(command, check=True, capture_output=True, text=True, env={"PGPASSWORD": PASSWORD})
        return done.stdout


def _unprivileged(command: list[str]) -> list[str]:
    """The server does not run as root."""
    return ["runuser", "-u", USER, "--", *command] if os.geteuid() == 0 else command


@contextmanager
def running_server(*settings: str) -> Iterator[Server]:
    """A server with these settings until the end of the block."""
    assert _INITDB is not None
    assert _SERVER is not None
    folder = Path(tempfile.mkdtemp(prefix="flinkplan-pg-"))
    (folder / "password").write_text(PASSWORD)
    if os.geteuid() == 0:
        for path in (folder, folder / "password"):
            shutil.chown(path, USER)
    secret = ["-A", "scram-sha-256", "--pwfile", str(folder / "password")]
    data = str(folder / "data")
    subprocess.run(
        _unprivileged([_INITDB, "-D", data, "-U", USER, "--no-sync", *secret]), check=True, capture_output=True
    )
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = ["-h", "127.0.0.1", "-p", str(port), "-k", str(folder), "-F"]
    options += [part for setting in settings for part in ("-c", setting)]
    command = _unprivileged([_SERVER, "-D", data, *options])
    log = folder / "log"
    with log.open("w") as out, subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        while "ready to accept connections" not in (line := process.stderr.readline()):
            assert line, "the server has ended"
        # what the server says of replication would fill the pipe
        drain = subprocess.Popen(["cat"], stdin=process.stderr, stdout=out)
        yield Server(folder, port)
        # at once: a shutdown would wait for those who read its log
        os.kill(int((folder / "data" / "postmaster.pid").read_text().split()[0]), signal.SIGQUIT)
        process.wait()
        drain.wait()
    shutil.rmtree(folder)
