"""Keeps what the parity tests found, for the scoreboard."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.parity.results import Recorder

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="session")
def spark() -> SparkSession:
    """A local session with flinkplan's settings."""
    from flinkplan.executor.session import session

    return session("local[2]", {"spark.sql.shuffle.partitions": "1"})


@pytest.fixture(scope="session")
def recorder() -> Iterator[Recorder]:
    kept = Recorder()
    yield kept
    kept.save()
