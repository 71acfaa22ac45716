import pytest

from flinkplan.plan.errors import PlanError
from flinkplan.plan.types import TimeKind, timestamp
from flinkplan.plan.types.json import type_from_json, type_to_json
from flinkplan.plan.types.parser import parse_type

TEXTS = [
    "INT",
    "BIGINT NOT NULL",
    "CHAR(3) NOT NULL",
    "VARCHAR(2147483647)",
    "DECIMAL(10, 2)",
    "TIME(0)",
    "TIMESTAMP(3) NOT NULL",
    "TIMESTAMP(3) WITH LOCAL TIME ZONE",
    "TIMESTAMP(9) WITH TIME ZONE",
    "INTERVAL SECOND(6) NOT NULL",
    "INTERVAL DAY(2) TO SECOND(6)",
    "INTERVAL YEAR(2) TO MONTH",
    "INTERVAL MINUTE NOT NULL",
    "ARRAY<INT NOT NULL> NOT NULL",
    "MAP<VARCHAR(2147483647), ARRAY<DOUBLE>>",
    "MULTISET<INT>",
    "ROW<`a` INT, `b c` ROW<`d``e` DATE> NOT NULL>",
    "ROW<`a` INT 'the first, it''s one'>",
    "RAW('org.example.Point', 'AAEC')",
    "STRUCTURED<'org.example.User', `name` VARCHAR(2147483647)>",
    "VARBINARY(2147483647)",
    "NULL",
]


@pytest.mark.parametrize("text", TEXTS)
def test_text_round_trip(text: str) -> None:
    assert str(parse_type(text)) == text


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("STRING", "VARCHAR(2147483647)"),
        ("BYTES NOT NULL", "VARBINARY(2147483647) NOT NULL"),
        ("decimal", "DECIMAL(10, 0)"),
        ("TIMESTAMP", "TIMESTAMP(6)"),
        ("TIMESTAMP_LTZ(3)", "TIMESTAMP(3) WITH LOCAL TIME ZONE"),
        ("INT ARRAY", "ARRAY<INT>"),
        ("DOUBLE PRECISION", "DOUBLE"),
        ("CHAR", "CHAR(1)"),
    ],
)
def test_other_spellings(text: str, canonical: str) -> None:
    assert str(parse_type(text)) == canonical


@pytest.mark.parametrize("text", ["", "INTT", "DECIMAL(10", "ROW<a INT", "INT NOT", "VARCHAR(x)", "INT INT"])
def test_malformed(text: str) -> None:
    with pytest.raises(PlanError):
        parse_type(text)


def test_time_attributes_are_objects() -> None:
    rowtime = timestamp(3, nullable=False, kind=TimeKind.ROWTIME)
    json = {"type": "TIMESTAMP_WITHOUT_TIME_ZONE", "nullable": False, "precision": 3, "kind": "ROWTIME"}
    assert type_to_json(rowtime) == json
    assert type_from_json(json) == rowtime
    assert str(rowtime) == "TIMESTAMP(3) *ROWTIME* NOT NULL"


def test_the_type_of_the_empty_text_is_an_object() -> None:
    json = {"type": "CHAR", "nullable": False, "length": 0}
    assert type_to_json(parse_type("CHAR(0) NOT NULL")) == json
    assert type_from_json(json) == parse_type("CHAR(0) NOT NULL")


def test_a_row_around_a_time_attribute_is_an_object() -> None:
    json = {
        "type": "ROW",
        "fields": [
            {"name": "k", "fieldType": "INT"},
            {"name": "ts", "fieldType": {"type": "TIMESTAMP_WITHOUT_TIME_ZONE", "precision": 3, "kind": "ROWTIME"}},
        ],
    }
    assert type_to_json(type_from_json(json)) == json


def test_types_only_the_jvm_knows_are_kept() -> None:
    json = {"type": "RAW", "class": "org.example.View", "externalDataType": {"logicalType": "INT"}}
    assert type_to_json(type_from_json(json)) == json


@pytest.mark.parametrize("value", [None, 3, [], {"fields": []}])
def test_not_a_type(value: object) -> None:
    with pytest.raises(PlanError):
        type_from_json(value)
