"""Keeps what the parity tests found, for the scoreboard."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.parity.results import Recorder


@pytest.fixture(scope="session")
def recorder() -> Iterator[Recorder]:
    kept = Recorder()
    yield kept
    kept.save()
