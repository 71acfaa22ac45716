"""Values of restore cases, read as the case has them and written as Java does."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

from flinkplan.plan.types.parser import parse_type
from tests.parity.restore_tables import row_text, text_of, value_of


@pytest.mark.parametrize(
    ("value", "of", "text"),
    [
        (None, "INT", "null"),
        (True, "BOOLEAN", "true"),
        (2.0, "DOUBLE", "2.0"),
        (1e7, "DOUBLE", "1.0E7"),
        (1.25e-5, "DOUBLE", "1.25E-5"),
        (-0.5, "DOUBLE", "-0.5"),
        (Decimal("4.00"), "DECIMAL(10, 2)", "4.00"),
        (datetime(2020, 10, 10), "TIMESTAMP(3)", "2020-10-10T00:00"),
        (datetime(2020, 10, 10, 0, 0, 5), "TIMESTAMP(3)", "2020-10-10T00:00:05"),
        (datetime(2020, 10, 10, 0, 0, 5, 120_000), "TIMESTAMP(3)", "2020-10-10T00:00:05.120"),
        (datetime(2020, 10, 10, 0, 0, 5, 120_001), "TIMESTAMP(6)", "2020-10-10T00:00:05.120001"),
        ([1, None], "ARRAY<INT>", "[1, null]"),
        ({"a": 1}, "MAP<STRING, INT>", "{a=1}"),
        (b"\x01\xff", "BYTES", "[1, -1]"),
    ],
)
def test_values_are_written_as_java_writes_them(value: Any, of: str, text: str) -> None:
    assert text_of(value, parse_type(of)) == text


def test_a_row_has_its_kind() -> None:
    assert row_text(2, [1, "a", None], [parse_type(t) for t in ("INT", "STRING", "INT")]) == "+U[1, a, null]"


@pytest.mark.parametrize(
    ("value", "of", "read"),
    [
        ({"t": "DECIMAL", "v": "4"}, "DECIMAL(10, 2)", Decimal(4)),
        ({"t": "TIMESTAMP", "v": "2020-10-10T00:00"}, "TIMESTAMP(3)", datetime(2020, 10, 10, tzinfo=UTC)),
        ({"t": "BYTES", "v": "01ff"}, "BYTES", b"\x01\xff"),
        ({"map": [["a", 1]]}, "MAP<STRING, INT>", {"a": 1}),
        ({"row": [1, {"array": [2]}]}, "ROW<a INT, b ARRAY<INT>>", (1, [2])),
        ({"t": "TIME", "v": "00:00:01.5"}, "TIME(3)", 1500),
        (3, "DOUBLE", 3.0),
        (None, "INT", None),
    ],
)
def test_values_are_read_as_spark_takes_them(value: Any, of: str, read: Any) -> None:
    assert value_of(value, parse_type(of)) == read
