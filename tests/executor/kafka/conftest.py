from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

    from .brokers import Broker
    from .clusters import Cluster


@pytest.fixture(scope="session")
def broker() -> Broker:
    """A broker for all tests, each of which has topics of its own."""
    from .brokers import BrokerInside

    return BrokerInside()


@pytest.fixture
def cluster(broker: Broker, spark: SparkSession, tmp_path: Path) -> Cluster:
    """What runs scripts over it, with files in a folder of the test's own."""
    from .clusters import Cluster

    return Cluster(broker, spark, tmp_path)
