"""A server of MariaDB in a folder of its own, where Debian's package is installed."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_PATH = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/usr/bin"])
_INSTALL, _SERVER, _CLIENT = (shutil.which(name, path=_PATH) for name in ("mariadb-install-db", "mariadbd", "mariadb"))

IS_INSTALLED = bool(_INSTALL and _SERVER and _CLIENT)
USER, PASSWORD = "reader", "it's secret"
_LOG = (
    "--log-bin=log",
    "--server-id=1",
    "--binlog-format=ROW",
    "--binlog-row-image=FULL",
    "--binlog-row-metadata=FULL",
)


class MariaDb:
    """A server with the database ``shop``."""

    def __init__(self, folder: Path, port: int) -> None:
        self._folder = folder
        self.port = port

    def ask(self, statements: str) -> str:
        """Run statements; the values of rows, between tabs."""
        assert _CLIENT is not None
        command = [_CLIENT, f"--socket={self._folder / 'socket'}", "--user=root", "--batch", "--skip-column-names"]
        done = subprocess.run(
            [*command, "--default-character-set=utf8mb4", "shop"],
            input=statements,
            check=True,
            capture_output=True,
            text=True,
        )
        return done.stdout


@contextmanager
def running_mariadb(*settings: str) -> Iterator[MariaDb]:
    """A server with a log and these settings until the end of the block."""
    assert _INSTALL is not None
    assert _SERVER is not None
    folder = Path(tempfile.mkdtemp(prefix="flinkplan-maria-"))
    as_root = ["--user=root"] if os.geteuid() == 0 else []
    login = ["--auth-root-authentication-method=normal", "--skip-test-db"]
    subprocess.run(
        [_INSTALL, "--no-defaults", f"--datadir={folder / 'data'}", *login, *as_root], check=True, capture_output=True
    )
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = [f"--datadir={folder / 'data'}", f"--socket={folder / 'socket'}", f"--pid-file={folder / 'pid'}"]
    options.append(f"--tmpdir={folder}")
    options += ["--bind-address=127.0.0.1", f"--port={port}", "--skip-name-resolve", *_LOG, *settings, *as_root]
    with (folder / "log").open("w+") as log:
        process = subprocess.Popen([_SERVER, "--no-defaults", *options], stderr=log)
        while "ready for connections" not in (folder / "log").read_text():
            assert process.poll() is None, (folder / "log").read_text()
        server = MariaDb(folder, port)
        grants = f"CREATE DATABASE shop; CREATE USER {USER} IDENTIFIED BY 'it''s secret'; GRANT ALL ON *.* TO {USER}"
        subprocess.run([str(_CLIENT), f"--socket={folder / 'socket'}", "--user=root", "--execute", grants], check=True)
        yield server
        process.kill()
        process.wait()
    shutil.rmtree(folder)
