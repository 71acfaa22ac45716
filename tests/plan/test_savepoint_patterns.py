"""The places of Flink's library of patterns, and its versions."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from flinkplan.plan.savepoint.patterns import is_compatible, place_names, variable_name
from flinkplan.plan.specs import UNLIMITED, PatternVariable

A, B, C = PatternVariable("A"), PatternVariable("B", 1, UNLIMITED), PatternVariable("C", 0, UNLIMITED)


@pytest.mark.parametrize(
    ("variables", "names"),
    [
        ([A], ["A"]),
        ([A, B], ["B", "B:0", "A"]),
        ([B, A], ["A", "B", "B:0"]),
        ([A, C, PatternVariable("D", 2, 4)], ["D", "D:0", "D:1", "D:2", "C", "C:0", "A"]),
        ([A, PatternVariable("E", 0, 1), PatternVariable("F", 2, UNLIMITED)], ["F", "F:0", "F:1", "E", "A"]),
    ],
)
def test_places_have_the_names_that_flink_gives_them(
    variables: Sequence[PatternVariable], names: Sequence[str]
) -> None:
    assert list(place_names(variables)) == ["$endState$", *names]
    assert {variable_name(name) for name in names} == {variable.name for variable in variables}


@pytest.mark.parametrize(
    ("version", "older", "expected"),
    [
        ([8, 0], [8], True),
        ([8, 0], [7], False),
        ([8, 0], [8, 0, 0], False),
        ([8, 2], [8, 1], True),
        ([8, 1], [8, 2], False),
        ([9, 1], [8, 1], False),
    ],
)
def test_versions_go_on_from_older_ones(version: Sequence[int], older: Sequence[int], expected: bool) -> None:
    assert is_compatible(version, older) is expected
