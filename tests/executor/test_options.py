"""Options of the tables that are executed here: each one is tested, or refused."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from flinkplan.plan.connectors import CONNECTORS

TESTS = Path(__file__).parents[1]


@cache
def _texts() -> str:
    """The tests that run something, and what they run."""
    folders = [TESTS / name for name in ("executor", "parity", "compat", "table")]
    files = [file for folder in folders for file in folder.rglob("*") if file.suffix in (".py", ".sql")]
    return "\n".join(file.read_text("utf-8") for file in files if file != Path(__file__))


def _spellings(key: str) -> Iterator[str]:
    """An option as scripts have it, and as tests' keyword arguments do; a column, or any name, in its place."""
    yield re.escape(key).replace(r"\#", r"\w+").replace(r"\*", r"[\w.]+")
    yield re.escape(key.replace("-", "__").replace(".", "_")).replace(r"\#", r"\w+").replace(r"\*", r"\w+")


def _is_tested(key: str) -> bool:
    return any(re.search(rf"(?<![\w.-]){spelling}(?![\w-])", _texts()) for spelling in _spellings(key))


def test_every_option_that_is_executed_is_tested() -> None:
    executed = [connector for connector in CONNECTORS.values() if connector.executed]
    untested = {f"{c.name}: {o.key}" for c in executed for o in c.options or () if o.executed and not _is_tested(o.key)}
    assert not untested
