"""A gateway in this process."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from flinkplan.cli.sql_gateway.server import serving
from flinkplan.cli.sql_gateway.service import GatewayService, Limits
from tests.cli.sql_gateway.client import Client


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """The URL of a gateway; Spark starts when a job first needs it."""
    service = GatewayService({}, Limits())
    with serving(service, "127.0.0.1", 0) as url:
        yield url
    service.close()


@pytest.fixture
def client(url: str) -> Iterator[Client]:
    """A session of its own."""
    client = Client(url).open()
    yield client
    client.call("DELETE", f"/sessions/{client.session}")
