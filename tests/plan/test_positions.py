from __future__ import annotations

import json
from typing import Any

import pytest

from flinkplan.plan.text.positions import Positions, pointer
from tests.parity.corpus import cases

TEXT = """{
  "a" : [ [ ], { "" : 1, "x\\"y" : "}" } ],
  "b/c" : {
    "d" : -1.5e3
  }
}
"""


def values(value: Any, at: str = "") -> dict[str, Any]:
    """Every value of a document by its pointer."""
    by_pointer = {at: value}
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, inner in items:
        by_pointer |= values(inner, at + pointer(step))
    return by_pointer


@pytest.mark.parametrize("text", [TEXT, "[]", "3", '"a\\\\"', '{"a":{}}'])
def test_every_value_has_its_extent(text: str) -> None:
    extents = Positions(text).extents
    assert {p: json.loads(text[e.start : e.end]) for p, e in extents.items()} == values(json.loads(text))


def test_extents_of_a_plan() -> None:
    text = cases()[0].plan_file.read_text("utf-8")
    assert Positions(text).extents.keys() == values(json.loads(text)).keys()


@pytest.mark.parametrize(
    ("at", "place"),
    [
        ("/a/0", "plan.json:2:11"),
        ('/a/1/x"y', "plan.json:2:26"),
        ("/b~1c/d", "plan.json:4:5"),
        ("/b~1c/missing/deeper", "plan.json:3:3"),
        ("", "plan.json:1:1"),
    ],
)
def test_location(at: str, place: str) -> None:
    assert str(Positions(TEXT, "plan.json").location(at)) == place


def test_a_location_ends_where_its_value_does_on_the_same_line() -> None:
    positions = Positions(TEXT)
    assert positions.location("/b~1c/d").end_column == len('    "d" : -1.5e3') + 1
    assert positions.location("/b~1c").end_column is None


def test_replace_leaves_the_rest_alone() -> None:
    edited = Positions(TEXT).replace({"/b~1c/d": "7", "/a/0": "null"})
    assert edited == TEXT.replace("-1.5e3", "7").replace("[ ]", "null")


def test_indentation() -> None:
    assert Positions(TEXT).indentation("/b~1c/d") == "    "
