"""Small servers of a running job: a page, counts.  Nobody logs in, so they answer few, and only by their own names."""

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
"""How many are answered at once; further ones are closed."""

SECONDS = 10.0
"""How long a request may take to arrive, whatever comes of it in between, and its answer to leave."""

Answer = Callable[[Mapping[str, str]], tuple[bytes, str]]
"""Body and content type by the headers of a request."""


def is_loopback(host: str) -> bool:
    """Whether an address is one of this machine alone."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def is_own_name(header: str, host: str) -> bool:
    """Whether the header ``Host`` of a request names this server, which listens at ``host``.

    A page of somebody else's may let its own name lead to this address, and so read what is served; it cannot change
    the name that its reader's browser sends.  Where all addresses of the machine are listened at, each may be named.
    """
    try:
        name = urlsplit(f"//{header}").hostname or ""
    except ValueError:
        return False
    if name == host.lower() or is_loopback(name) or name.endswith(".localhost"):
        return True
    try:
        wanted, is_any = ip_address(name), ip_address(host).is_unspecified
    except ValueError:
        return name == socket.gethostname().lower() and not is_loopback(host)
    return is_any or wanted == ip_address(host)


class _Arriving(io.RawIOBase):
    """What is read of a connection, up to a deadline that no further byte puts off."""

    def __init__(self, connection: socket.socket, deadline: float) -> None:
        self._connection = connection
        self._deadline = deadline

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError
        self._connection.settimeout(left)
        return self._connection.recv_into(buffer)


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    server_version = "flinkplan"
    sys_version = ""

    def setup(self) -> None:
        super().setup()
        self.rfile = io.BufferedReader(_Arriving(self.connection, time.monotonic() + SECONDS))

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
        """A connection that breaks is nobody's fault here."""


@contextmanager
def serving(host: str, port: int, answers: Mapping[str, Answer], option: str) -> Iterator[str]:
    """Answer requests by their paths at a port, a free one for 0; the address of the server.

    Raises :class:`FlinkplanError`, naming the ``option`` of the port, where it is taken, or the host is none of this
    machine.
    """
    try:
        server = _Server(host, port, answers)
    except OSError as e:
        where = "" if is_loopback(host) else f" at {host}"
        hint = f"name another one with {option}"
        raise FlinkplanError(f"the port {port} cannot be used{where}: {e.strerror}", hint=hint) from None
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://{f'[{host}]' if ':' in host else host}:{server.server_port}/"
    finally:
        server.shutdown()
        server.server_close()
