"""The functions that SHOW FUNCTIONS and DESCRIBE FUNCTION show, as Flink 2.3 does (``flink-functions.txt``).

Flink lists the definitions of its own functions, but not those that only Calcite has.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from ..record import Record


class ListedFunction(Record):
    """A function in Flink's list: ``arguments`` has a text for each signature."""

    name: str
    kind: str
    is_deterministic: bool
    arguments: tuple[str, ...]


@cache
def listed_functions() -> Mapping[str, ListedFunction]:
    """The functions in Flink's order, by their names in lower case."""
    text = (Path(__file__).parents[1] / "flink-functions.txt").read_text("utf-8")
    lines = (line.split("\t") for line in text.splitlines() if not line.startswith("#"))
    functions = (ListedFunction(name, kind, flag == "true", tuple(rest)) for name, kind, flag, *rest in lines)
    return {function.name.lower(): function for function in functions}
