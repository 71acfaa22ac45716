"""Values between Arrow and Python, as PyFlink converts them; the expected ones are those of its compiled coders."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from typing import Any

import pytest

from flinkplan.plan.errors import UnsupportedError
from flinkplan.plan.types.parser import parse_type
from flinkplan.udf.values import ResultError, arrow_type, check_type, reader, writer
from flinkplan.windowing.rows import Row


def there_and_back(t: str, values: list[Any], zone: str = "UTC") -> list[Any]:
    array = writer(parse_type(t))(values)
    array.validate(full=True)
    assert array.type == arrow_type(parse_type(t))
    assert reader(parse_type(t), zone)(array.slice(1)) == reader(parse_type(t), zone)(array)[1:]
    return reader(parse_type(t), zone)(array)


@pytest.mark.parametrize(
    ("t", "given", "taken"),
    [
        ("INT", [1, None, True, 3.7, Decimal("2.5")], [1, None, 1, 3, 2]),
        ("BIGINT", [2**62, 5], [2**62, 5]),
        ("BOOLEAN", [1, 0, 2, 1.5, None], [True, False, True, True, None]),
        ("DOUBLE", [1, True, Decimal("2.5"), None], [1.0, 1.0, 2.5, None]),
        ("FLOAT", [1.1, 1e300], [1.100000023841858, float("inf")]),
        ("STRING", ["a", None, ""], ["a", None, ""]),
        ("CHAR(3)", ["ab", "abcde"], ["ab", "abcde"]),
        ("BYTES", [b"a", bytearray(b"x"), None], [b"a", b"x", None]),
        ("DECIMAL(5, 2)", [Decimal("1.005"), Decimal("1.015"), None], [Decimal("1.00"), Decimal("1.02"), None]),
        ("DATE", [date(2024, 1, 2), datetime(2024, 1, 3, 4)], [date(2024, 1, 2), date(2024, 1, 3)]),
        ("TIME(3)", [time(1, 2, 3, 456789), None], [time(1, 2, 3, 456000), None]),
        ("TIMESTAMP(3)", [datetime(2024, 1, 2, 3, 4, 5, 678901)], [datetime(2024, 1, 2, 3, 4, 5, 678000)]),
        ("TIMESTAMP(3)", [datetime(1969, 12, 31, 23, 59, 59, 500000)], [datetime(1969, 12, 31, 23, 59, 59, 500000)]),
        ("TIMESTAMP(9)", [datetime(2024, 1, 2, 3, 4, 5, 678901)], [datetime(2024, 1, 2, 3, 4, 5, 678901)]),
        (
            "TIMESTAMP(6)",
            [datetime(2024, 1, 2, 3, tzinfo=timezone(timedelta(hours=2)))],
            [datetime(2024, 1, 2, 3)],
        ),
        ("ARRAY<INT>", [[1, None], None, []], [[1, None], None, []]),
        ("MAP<STRING, INT>", [{"a": 1, "b": None}, None, {}], [{"a": 1, "b": None}, None, {}]),
        ("MAP<STRING, ARRAY<INT>>", [{}, {"a": [1], "b": None}], [{}, {"a": [1], "b": None}]),
        ("ROW<a INT, b STRING>", [Row(1, "x"), Row(b="y", a=2), None], [Row(a=1, b="x"), Row(a=2, b="y"), None]),
        ("ROW<a ROW<b INT>>", [Row(Row(1)), Row(None)], [Row(a=Row(b=1)), Row(a=None)]),
        ("ARRAY<ROW<t TIMESTAMP(3)>>", [[], [Row(datetime(2024, 1, 1))]], [[], [Row(t=datetime(2024, 1, 1))]]),
    ],
)
def test_what_a_type_takes(t: str, given: list[Any], taken: list[Any]) -> None:
    assert there_and_back(t, given) == taken


@pytest.mark.parametrize(
    ("t", "value"),
    [
        ("INT", "5"),
        ("INT", 2**31),
        ("TINYINT", 200),
        ("BIGINT", 2**63),
        ("INT", [1]),
        ("BOOLEAN", "a"),
        ("BOOLEAN", -1),
        ("DOUBLE", "1.5"),
        ("STRING", 5),
        ("STRING", b"x"),
        ("BYTES", "s"),
        ("DECIMAL(5, 2)", 5),
        ("DECIMAL(5, 2)", 1.5),
        ("DECIMAL(5, 2)", Decimal(12345)),
        ("DATE", "2024-01-01"),
        ("TIME(3)", "x"),
        ("TIMESTAMP(3)", date(2024, 1, 1)),
        ("ARRAY<INT>", (1, 2)),
        ("MAP<STRING, INT>", {None: 1}),
        ("MAP<STRING, INT>", [("a", 1)]),
        ("ROW<a INT>", (1,)),
        ("ROW<a INT>", {"a": 1}),
        ("ROW<a INT>", Row(1, 2)),
        ("ROW<a INT>", Row(b=1)),
        ("ARRAY<ROW<a INT>>", [Row("x")]),
    ],
)
def test_what_a_type_does_not_take(t: str, value: Any) -> None:
    with pytest.raises(ResultError) as caught:
        writer(parse_type(t))([None, value])
    assert caught.value.position == 1


def test_a_local_timestamp_is_the_clock_in_utc_with_the_zone_of_the_session() -> None:
    (moment,) = there_and_back("TIMESTAMP_LTZ(3)", [datetime(2024, 7, 1, 12)], "Asia/Tokyo")
    assert moment.replace(tzinfo=UTC) == datetime(2024, 7, 1, 12, tzinfo=UTC)
    assert moment.tzname() == "JST"


@pytest.mark.parametrize("t", ["MULTISET<INT>", "INTERVAL DAY TO SECOND", "ARRAY<VARIANT>"])
def test_types_that_functions_are_not_given(t: str) -> None:
    with pytest.raises(UnsupportedError, match="cannot be given values"):
        check_type(parse_type(t))
