from __future__ import annotations

import pytest

pytest.importorskip("confluent_kafka", reason="the client of Kafka, flinkplan[kafka], is not installed")
pytest.importorskip("pyarrow", reason="messages go to Spark by Arrow")

from .brokers import Broker


@pytest.fixture(scope="session")
def broker() -> Broker:
    """A broker for all tests, each of which has topics of its own."""
    return Broker()
