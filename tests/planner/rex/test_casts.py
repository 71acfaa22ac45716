"""Which types go into a sink's column by themselves, and which need an explicit CAST."""

from __future__ import annotations

import pytest

from flinkplan.plan.types.parser import parse_type
from flinkplan.planner.rex.casts import avoids_cast, can_cast, can_cast_implicitly

NUMBERS = ["TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "DECIMAL(10, 2)"]


@pytest.mark.parametrize(
    ("source", "targets"),
    [
        ("TINYINT", NUMBERS),
        ("INT", ["INT", "BIGINT", "FLOAT", "DOUBLE", "DECIMAL(10, 2)"]),
        ("FLOAT", ["FLOAT", "DOUBLE", "DECIMAL(10, 2)"]),
        ("DOUBLE", ["DOUBLE", "DECIMAL(10, 2)"]),
        ("DECIMAL(10, 2)", ["FLOAT", "DOUBLE", "DECIMAL(10, 2)"]),
        ("BOOLEAN", []),
        ("STRING", []),
    ],
)
def test_numbers_widen(source: str, targets: list[str]) -> None:
    assert [t for t in NUMBERS if can_cast_implicitly(parse_type(source), parse_type(t))] == targets


@pytest.mark.parametrize(
    ("source", "target", "implicit"),
    [
        ("STRING", "VARCHAR(5)", True),
        ("CHAR(3)", "CHAR(2)", True),
        ("STRING", "CHAR(3)", False),
        ("VARCHAR(5)", "CHAR(3)", False),
        ("TIMESTAMP(3)", "DATE", True),
        ("TIMESTAMP(3)", "TIME(0)", True),
        ("TIMESTAMP(3)", "TIMESTAMP(6) WITH LOCAL TIME ZONE", True),
        ("TIMESTAMP(3) WITH LOCAL TIME ZONE", "TIMESTAMP(3)", True),
        ("TIMESTAMP(3) WITH LOCAL TIME ZONE", "DATE", False),
        ("DATE", "TIMESTAMP(3)", False),
        ("INT", "STRING", False),
        ("ARRAY<INT>", "ARRAY<BIGINT>", True),
        ("ROW<`a` INT>", "ROW<`b` BIGINT>", True),
        ("ROW<`a` INT>", "ROW<`a` INT, `b` INT>", False),
        ("INT", "INT NOT NULL", False),
        ("NULL", "INT", True),
    ],
)
def test_implicit_casts(source: str, target: str, implicit: bool) -> None:
    assert can_cast_implicitly(parse_type(source), parse_type(target)) is implicit


@pytest.mark.parametrize(
    ("source", "target", "same"),
    [
        ("INT NOT NULL", "INT", True),
        ("CHAR(3)", "VARCHAR(3)", True),
        ("VARCHAR(3)", "VARCHAR(2)", False),
        ("INT", "BIGINT", False),
        ("ARRAY<INT NOT NULL>", "ARRAY<INT>", True),
    ],
)
def test_some_types_need_no_cast(source: str, target: str, same: bool) -> None:
    assert avoids_cast(parse_type(source), parse_type(target)) is same


@pytest.mark.parametrize(
    ("source", "target", "allowed"),
    [
        ("STRING", "INT", True),
        ("INT", "STRING", True),
        ("TIME(0)", "BIGINT", False),
        ("DATE", "TIME(0)", False),
        ("ARRAY<INT>", "INT", False),
        ("ARRAY<INT>", "ARRAY<STRING>", True),
        ("BOOLEAN", "DATE", False),
        ("BIGINT", "TIMESTAMP(3)", True),
        ("BIGINT", "DATE", False),
        ("TIMESTAMP(3) WITH LOCAL TIME ZONE", "DECIMAL(10, 2)", True),
        ("TIME(0)", "INT", False),
        ("ARRAY<INT>", "ARRAY<TIMESTAMP(3)>", True),
        ("STRING", "ARRAY<INT>", True),
        ("STRING", "MAP<STRING, INT>", False),
        ("STRING", "ROW<`a` INT>", False),
        ("ARRAY<STRING>", "ARRAY<ARRAY<INT>>", False),
        ("BYTES", "DATE", True),
        ("ARRAY<BYTES>", "ARRAY<DATE>", False),
    ],
)
def test_explicit_casts(source: str, target: str, allowed: bool) -> None:
    assert can_cast(parse_type(source), parse_type(target)) is allowed
