"""Small HTTP servers of a running job, for its page and its metrics.

There is no login, so they limit the number of connections and answer only requests for their own host name.
"""

from __future__ import annotations

import io
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

from ..plan.errors import FlinkplanError

LOOPBACK = "127.0.0.1"

CONNECTIONS = 16
"""The maximum number of open connections; further ones are closed."""

SECONDS = 10.0
"""The time limit for receiving a whole request, and the one for sending its answer."""

Answer = Callable[[Mapping[str, str]], tuple[bytes, str]]
"""Gives the body and the content type for the headers of a request."""


def is_loopback(host: str) -> bool:
    """Whether an address can be reached from this machine only."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def is_own_name(header: str, host: str) -> bool:
    """Whether the header ``Host`` of a request names this server, which listens at ``host``.

    This prevents DNS rebinding: a foreign page could have its own host name resolve to this address and read what is
    served, but it cannot change the ``Host`` that the browser sends.  A server that listens at all addresses of the
    machine accepts each of them.
    """
    try:
        name = urlsplit(f"//{header}").hostname or ""
    except ValueError:
        return False
    if name == host.lower() or is_loopback(name) or name.endswith(".localhost"):
        return True
    try:
        address, listens_at_all = ip_address(name), ip_address(host).is_unspecified
    except ValueError:
        return name == socket.gethostname().lower() and not is_loopback(host)
    return listens_at_all or address == ip_address(host)


class _DeadlineReader(io.RawIOBase):
    """Reads a connection until a fixed deadline, so that a slow client cannot keep it open byte by byte."""

    def __init__(self, connection: socket.socket, deadline: float) -> None:
        self._connection = connection
        self._deadline = deadline

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        remaining = self._deadline - time.monotonic()
        if remaining <= 0:
            raise TimeoutError
        self._connection.settimeout(remaining)
        return self._connection.recv_into(buffer)


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    server_version = "flinkplan"
    sys_version = ""

    def setup(self) -> None:
        super().setup()
        self.rfile = io.BufferedReader(_DeadlineReader(self.connection, time.monotonic() + SECONDS))

    def do_GET(self) -> None:
        host = self.headers.get("Host")
        if host is not None and not is_own_name(host, self.server.host):
            self.send_error(403, "this server has another name")
            return
        answer = self.server.answers.get(urlsplit(self.path).path)
        if answer is None:
            self.send_error(404)
            return
        body, kind = answer(dict(self.headers))
        self.connection.settimeout(SECONDS)
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        pass


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, host: str, port: int, answers: Mapping[str, Answer]) -> None:
        self.host = host
        self.answers = answers
        self.address_family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self._free = threading.BoundedSemaphore(CONNECTIONS)
        super().__init__((host, port), _Handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        if self._free.acquire(blocking=False):
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._free.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignores connections that break."""


@contextmanager
def serving(host: str, port: int, answers: Mapping[str, Answer], option: str) -> Iterator[str]:
    """Serve ``answers`` by their paths on a port, for 0 on a free one; gives the URL of the server.

    Raises :class:`FlinkplanError`, whose hint names the ``option`` of the port, where the port is in use or the host
    is not an address of this machine.
    """
    try:
        server = _Server(host, port, answers)
    except OSError as e:
        where = "" if is_loopback(host) else f" at {host}"
        hint = f"choose another one with {option}"
        raise FlinkplanError(f"the port {port} cannot be used{where}: {e.strerror}", hint=hint) from None
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://{f'[{host}]' if ':' in host else host}:{server.server_port}/"
    finally:
        server.shutdown()
        server.server_close()
