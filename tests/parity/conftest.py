"""Keeps what the parity tests found, for the scoreboard."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.parity.corpus import BATCHES
from tests.parity.results import Recorder

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="session")
def spark() -> SparkSession:
    """A local session with flinkplan's settings, whose JVM optimizes late where jobs of a few rows a batch are run."""
    from flinkplan.executor.jvm.session import Lifetime, session

    lifetime = Lifetime.JOB if BATCHES else Lifetime.OPEN
    return session("local[2]", {"spark.sql.shuffle.partitions": "1"}, lifetime=lifetime)


@pytest.fixture(scope="session")
def recorder() -> Iterator[Recorder]:
    kept = Recorder()
    yield kept
    kept.save()
