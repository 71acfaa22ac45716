"""What all tests of the planner share: trees are checked after each rule."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.planner.invariants import checking


@pytest.fixture(scope="session", autouse=True)
def checked_rules() -> Iterator[None]:
    """Each test fails at the rule that leaves a tree out of order, not where that is noticed."""
    with checking():
        yield
