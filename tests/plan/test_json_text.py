"""What is wrong with JSON that people edited, in words and at the place to mend."""

import pytest

from flinkplan.plan.errors import Location, PlanError
from flinkplan.plan.text.json_text import parse_json


@pytest.mark.parametrize(
    ("text", "words", "line", "column"),
    [
        ('{\n  "a" : 1,\n}', "a comma too many behind an object's last value", 2, 10),
        ("[\n  1,\n  2,\n]", "a comma too many behind a list's last element", 3, 4),
        ('{\n  "a" : 1\n  "b" : 2\n}', "a comma is missing here", 2, 10),
        ('{ "ttl" : 3 h }', "something else than a comma follows the value", 1, 13),
        ("{\n  // why\n}", "JSON has no comments", 2, 3),
        ('{ "a" : # why\n 1 }', "JSON has no comments", 1, 9),
        ("{ 'a' : 1 }", "a key in double quotes belongs here", 1, 3),
        ('{ "a" 1 }', "a colon is missing", 1, 7),
        ('{ "a" : 1 } }', "behind the end of the document", 1, 13),
        ('{ "a" : yes }', "a value belongs here", 1, 9),
        ('{ "a" : "b', "it ends too early", 1, 9),
        ('{ "a" : "\\ud83d" }', "one half of a surrogate pair", 1, 10),
        ('{ "a" : "\\ude00" }', "one half of a surrogate pair", 1, 10),
        ('{ "a" : "\\ud83d \\ude00" }', "one half of a surrogate pair", 1, 10),
    ],
)
def test_an_error_names_the_place_to_fix(text: str, words: str, line: int, column: int) -> None:
    with pytest.raises(PlanError) as caught:
        parse_json(text, "plan.json")
    assert words in caught.value.message
    assert caught.value.where == Location("plan.json", line, column)


@pytest.mark.parametrize(
    ("text", "value"), [('"\\ud83d\\ude00"', "😀"), ('"\\\\ud83d"', "\\ud83d"), ('"\\u00e9"', "é")]
)
def test_escapes_of_whole_characters(text: str, value: str) -> None:
    assert parse_json(text) == value
