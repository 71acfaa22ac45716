from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from .brokers import Broker


@pytest.fixture(scope="session")
def broker() -> Broker:
    """A broker for all tests, each of which has topics of its own."""
    from .brokers import BrokerInside

    return BrokerInside()
