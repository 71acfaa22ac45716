import pytest

from flinkplan.plan.durations import (
    DurationError,
    format_duration,
    format_iso_duration,
    parse_duration,
    parse_iso_duration,
)


@pytest.mark.parametrize(
    ("text", "millis"),
    [
        ("1 h", 3_600_000),
        ("3600000 ms", 3_600_000),
        ("3600000ms", 3_600_000),
        ("3600000", 3_600_000),
        ("2 days", 172_800_000),
        ("10 min", 600_000),
        ("10 m", 600_000),
        ("1500 µs", 1),
        ("2000000 ns", 2),
        ("P1D", 86_400_000),
        ("PT1H30M", 5_400_000),
        (9_000, 9_000),
        ("0 ms", 0),
        ("  7 D ", 604_800_000),
    ],
)
def test_parse(text: str | int, millis: int) -> None:
    assert parse_duration(text) == millis


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("1.5 h", "'90 min' instead of '1.5 h'"),
        ("1h 30min", "'90 min' instead of '1h 30min'"),
        ("-3 s", "negative"),
        ("1 weeks", "use d, h, min, s"),
        ("", "0 ms"),
        ("h", "whole number and a unit"),
        ("99999999999999999999", "0 ms"),
        ("-PT1H", "negative"),
        (-5, "negative"),
        ("３ h", "the digits 0 to 9"),
        ("P３D", "ISO-8601"),
        ("1\u00a0h", "whole number and a unit"),
        ("\u20031 h", "whole number and a unit"),
        ("9" * 4_400, "too many digits"),
        (f"P{'9' * 4_400}D", "too many digits"),
    ],
)
def test_refuse_and_say_what_to_write(text: str | int, hint: str) -> None:
    with pytest.raises(DurationError) as e:
        parse_duration(text)
    assert hint in f"{e.value.message} {e.value.hint}"


@pytest.mark.parametrize("value", [None, True, 1.5, ["1 h"]])
def test_refuse_other_types(value: object) -> None:
    with pytest.raises(DurationError):
        parse_duration(value)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("millis", "text"),
    [(0, "0 ms"), (1, "1 ms"), (90_000, "90 s"), (120_000, "2 min"), (129_600_000, "36 h"), (86_400_000, "1 d")],
)
def test_format_uses_the_highest_whole_unit(millis: int, text: str) -> None:
    assert format_duration(millis) == text
    assert parse_duration(text) == millis


@pytest.mark.parametrize(
    ("millis", "text"),
    [
        (0, "PT0S"),
        (600_000, "PT10M"),
        (86_400_000, "PT24H"),
        (-360_000, "PT-6M"),
        (1_500, "PT1.5S"),
        (5_430_250, "PT1H30M30.25S"),
    ],
)
def test_iso(millis: int, text: str) -> None:
    assert format_iso_duration(millis) == text
    assert parse_iso_duration(text) == millis


@pytest.mark.parametrize(("text", "millis"), [("PT-1.5S", -1_500), ("-PT6M", -360_000), ("P1DT2H", 93_600_000)])
def test_iso_other_spellings(text: str, millis: int) -> None:
    assert parse_iso_duration(text) == millis
