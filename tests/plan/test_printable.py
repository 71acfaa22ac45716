"""What a terminal would obey is shown instead."""

import pytest

from flinkplan.plan.printable import printable, shortened


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[2Jgone", "\\x1b[2Jgone"),
        ("\x9b31mred", "\\x9b31mred"),
        ("over\rwritten", "over\\x0dwritten"),
        ("\u202eturned", "\\u202eturned"),
        ("half \ud83d", "half \\ud83d"),
        ("two\nlines\tand é 日本 😀", "two\nlines\tand é 日本 😀"),
    ],
)
def test_control_characters_are_spelt_out(text: str, shown: str) -> None:
    assert printable(text) == shown


def test_long_texts_are_cut() -> None:
    assert shortened("a" * 60) == "a" * 60
    assert shortened("a" * 61) == "a" * 59 + "…"
