"""All names of PyFlink's Table API are there, if only to refuse what they stand for.

``pyflink_names.txt`` has the public names of PyFlink 2.3, of each class and module.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from flinkplan import table
from flinkplan.table import expression, expressions, udf, window
from flinkplan.table.grouped import GroupedTable, GroupWindowedTable, OverWindowedTable, WindowGroupedTable
from flinkplan.table.pipeline import TablePipeline

_TEXT = Path(__file__).with_name("pyflink_names.txt").read_text("utf-8")
NAMES = {head: names.split() for head, _, names in (part.partition("\n") for part in _TEXT.split("\n\n"))}
ELSEWHERE = {
    "Expression": expression.Expression,
    "GroupedTable": GroupedTable,
    "GroupWindowedTable": GroupWindowedTable,
    "OverWindowedTable": OverWindowedTable,
    "TablePipeline": TablePipeline,
    "WindowGroupedTable": WindowGroupedTable,
    "expressions": expressions,
    "udf": udf,
    "window": window,
}


@pytest.mark.parametrize("owner", NAMES)
def test_names_of_pyflink_are_there(owner: str) -> None:
    place = ELSEWHERE.get(owner)
    if place is None:
        place = table
        for part in owner.split("."):
            place = getattr(place, part)
    assert [name for name in NAMES[owner] if not hasattr(place, name)] == []
