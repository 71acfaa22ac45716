"""Who is answered by the servers of a running job."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import ExitStack
from http.client import HTTPConnection
from typing import Any

import click
import pytest

from flinkplan.cli import serving
from flinkplan.cli.metrics import Metrics
from flinkplan.cli.metrics import served as serve_metrics
from flinkplan.cli.pages.report import Report
from flinkplan.cli.pages.report import served as serve_page
from flinkplan.cli.serving import is_loopback, is_own_name
from flinkplan.cli.watching import Watched
from flinkplan.plan.errors import FlinkplanError


@pytest.fixture(params=["page", "metrics"])
def port(request: pytest.FixtureRequest) -> Iterator[int]:
    server = serve_page(Report("a run"), 0) if request.param == "page" else serve_metrics(Metrics(), 0)
    with server as address:
        yield int(address.split("/")[2].rpartition(":")[2])


def status(port: int, host: str | None) -> int:
    connection = HTTPConnection("127.0.0.1", port, timeout=10)
    connection.putrequest("GET", "/", skip_host=True)
    if host is not None:
        connection.putheader("Host", host)
    connection.endheaders()
    try:
        return connection.getresponse().status
    finally:
        connection.close()


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:{}", "127.0.0.1:{}", "[::1]:{}", None])
def test_own_names_are_answered(port: int, host: str | None) -> None:
    assert status(port, host and host.format(port)) == 200


@pytest.mark.parametrize("host", ["evil.example:{}", "evil.example", "127.0.0.1.evil.example", "10.0.0.1", "[", ""])
def test_other_names_are_not(port: int, host: str) -> None:
    assert status(port, host.format(port)) == 403


@pytest.mark.parametrize(
    ("header", "host", "own"),
    [
        ("10.1.2.3:9249", "0.0.0.0", True),
        ("[fd00::1]:9249", "::", True),
        (socket.gethostname(), "0.0.0.0", True),
        ("evil.example", "0.0.0.0", False),
        ("10.1.2.3", "10.1.2.3", True),
        ("10.1.2.4", "10.1.2.3", False),
        ("pod.example", "pod.example", True),
        ("evil.example", "pod.example", False),
    ],
)
def test_names_of_other_addresses(header: str, host: str, own: bool) -> None:
    assert is_own_name(header, host) is own


def test_half_a_request_holds_no_connection_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving, "SECONDS", 0.2)
    with serve_metrics(Metrics(), 0) as address, ExitStack() as stack:
        port = int(address.split("/")[2].rpartition(":")[2])
        (slow,) = _opened(stack, port, 1)
        while slow.send(b"G") and not _is_closed(slow, 0.05):
            pass  # a byte now and then puts the end off no further
        assert status(port, "localhost") == 200


def test_only_so_many_are_answered_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving, "SECONDS", 5)
    with serve_metrics(Metrics(), 0) as address, ExitStack() as stack:
        port = int(address.split("/")[2].rpartition(":")[2])
        _opened(stack, port, serving.CONNECTIONS)
        (further,) = _opened(stack, port, 1)
        assert _is_closed(further, 4)


def _opened(stack: ExitStack, port: int, count: int) -> list[socket.socket]:
    """Connections that send nothing."""
    return [stack.enter_context(socket.create_connection(("127.0.0.1", port))) for _ in range(count)]


def _is_closed(connection: socket.socket, seconds: float) -> bool:
    connection.settimeout(seconds)
    try:
        return connection.recv(1) == b""
    except ConnectionError:
        return True
    except TimeoutError:
        return False


def test_loopback() -> None:
    addresses = ("127.0.0.1", "127.8.8.8", "::1", "localhost", "0.0.0.0", "::", "10.0.0.1", "h")
    assert [a for a in addresses if is_loopback(a)] == ["127.0.0.1", "127.8.8.8", "::1", "localhost"]


@pytest.mark.parametrize("options", [{"metrics_port": 0, "metrics_host": "0.0.0.0"}, {"ui": 0, "ui_host": "0.0.0.0"}])
def test_an_address_that_others_reach_is_warned_of(options: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    with Watched(**options).watching():
        said = capsys.readouterr().err
    assert "warning: everybody who can reach 0.0.0.0 can read this" in said
    assert "at http://0.0.0.0:" in said


@pytest.mark.parametrize("options", [{"metrics_host": "0.0.0.0"}, {"ui_host": "0.0.0.0"}])
def test_an_address_needs_a_port(options: dict[str, Any]) -> None:
    with pytest.raises(click.UsageError, match=r"-host needs --"), Watched(**options).watching():
        raise AssertionError("watched")


def test_an_address_of_another_machine() -> None:
    watched = Watched(metrics_port=0, metrics_host="192.0.2.1")
    with pytest.raises(FlinkplanError, match=r"cannot be used at 192\.0\.2\.1"), watched.watching():
        raise AssertionError("watched")
