"""The session that tests run on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="session")
def spark() -> SparkSession:
    """The one session of the process."""
    from flinkplan.executor.jvm.session import session

    return session("local[2]")
