"""What tests of Flink's end need: the jars of a Flink, named by ``FLINK_PYTHON`` or ``FLINK_HOME``."""

from __future__ import annotations

import os

import pytest

from flinkplan.flink.home import HOME, PYTHON


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if os.environ.get(PYTHON) or os.environ.get(HOME):
        return
    for item in items:
        if item.get_closest_marker("flink"):
            item.add_marker(pytest.mark.skip(reason=f"needs Flink: {PYTHON} or {HOME}"))
