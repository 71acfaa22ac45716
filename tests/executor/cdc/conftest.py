from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.executor.postgres_server import IS_INSTALLED, running_server

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pyspark.sql import SparkSession

    from tests.executor.postgres_server import Server

    from .jobs import Capturing


@pytest.fixture(scope="package")
def server() -> Iterator[Server]:
    """A server for all tests, each of which has tables and a slot of its own."""
    if not IS_INSTALLED:
        pytest.skip("PostgreSQL is not installed: apt install postgresql")
    with running_server("wal_level=logical", "max_replication_slots=100", "max_wal_senders=50") as server:
        yield server


@pytest.fixture
def capturing(server: Server, spark: SparkSession, tmp_path: Path) -> Capturing:
    """What runs scripts over its tables, with files in a folder of the test's own."""
    from .jobs import Capturing

    return Capturing(server, spark, tmp_path)
