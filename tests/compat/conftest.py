"""One Spark session for the tests that run something."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="session")
def spark() -> SparkSession:
    """A local session with flinkplan's settings."""
    from flinkplan.executor.jvm.session import session

    return session("local[2]", {"spark.sql.shuffle.partitions": "1"})
