"""The function table: it is complete, and each rule gives the type that Flink gives."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from flinkplan.plan.functions import (
    Arguments,
    EmptyResult,
    Kind,
    all_functions,
    find_function,
    function_of,
    nearest_names,
)
from flinkplan.plan.functions.typing import (
    decimal_product,
    decimal_quotient,
    decimal_remainder,
    decimal_sum,
    least_restrictive,
)
from flinkplan.plan.rex import Call, InputRef, Literal, rex_from_json, walk
from flinkplan.plan.types import logical as t
from flinkplan.plan.types.parser import parse_type

PLANS = sorted((Path(__file__).parents[1] / "parity" / "cases").glob("*/plan.json"))


def test_names_and_keys_are_unique() -> None:
    functions = all_functions()
    assert len({f.key for f in functions}) == len(functions) > 250


def test_every_named_function_is_found_in_any_case() -> None:
    for function in all_functions():
        if function.named:
            assert find_function(function.name.lower()) is function
        assert function_of(*function.key) is function


def test_documented_functions_are_there() -> None:
    documented = """
        ABS ACOS ARRAY_AGG ARRAY_CONTAINS ARRAY_JOIN ASCII AVG BIN BTRIM CARDINALITY CEIL CHAR_LENGTH CHR COALESCE
        COLLECT CONCAT CONCAT_WS CONVERT_TZ COUNT CUME_DIST CURRENT_WATERMARK DATE_FORMAT DECODE DENSE_RANK ELEMENT
        ELT ENCODE ENDSWITH EXTRACT FIRST_VALUE FLOOR FROM_BASE64 FROM_UNIXTIME GREATEST GROUPING HASH_CODE HEX IF
        IFNULL INET_ATON INITCAP INSTR IS_ALPHA JSON_ARRAY JSON_OBJECT JSON_QUERY JSON_QUOTE JSON_STRING JSON_VALUE
        LAG LAST_VALUE LEAD LEAST LEFT LISTAGG LN LOCALTIMESTAMP LOCATE LOG LPAD LTRIM MAP_ENTRIES MAP_FROM_ARRAYS
        MAP_KEYS MAP_UNION MAX MD5 MIN MOD NOW NTILE OBJECT_OF OVERLAY PARSE_JSON PARSE_URL PERCENTILE PI POSITION
        POWER PRINTF PROCTIME RAND RANK REGEXP REGEXP_COUNT REGEXP_EXTRACT_ALL REPEAT REPLACE REVERSE RIGHT ROUND
        ROW_NUMBER RPAD SHA2 SIGN SPLIT SPLIT_INDEX STARTSWITH STDDEV_POP STR_TO_MAP SUBSTR SUBSTRING SUM TO_BASE64
        TO_DATE TO_TIMESTAMP TO_TIMESTAMP_LTZ TRANSLATE3 TRIM TRUNCATE TYPEOF UNHEX UNIX_TIMESTAMP UPPER URL_DECODE
        UUID VAR_SAMP VARIANCE
    """
    assert [name for name in documented.split() if find_function(name) is None] == []


def test_a_misspelt_name_finds_its_neighbours() -> None:
    assert "UPPER" in nearest_names("UPER")
    assert nearest_names("ZZZZZZ") == []


@pytest.mark.parametrize(
    ("name", "arguments", "result"),
    [
        ("UPPER", ["CHAR(5)"], "CHAR(5)"),
        ("UPPER", ["CHAR(5) NOT NULL"], "CHAR(5) NOT NULL"),
        ("SUBSTRING", ["CHAR(5) NOT NULL", "INT NOT NULL"], "VARCHAR(5)"),
        ("LTRIM", ["CHAR(5) NOT NULL"], "VARCHAR(5) NOT NULL"),
        ("CONCAT", ["CHAR(1) NOT NULL", "VARCHAR(3)"], "VARCHAR(2147483647)"),
        ("OVERLAY", ["CHAR(3)", "CHAR(1)", "INT", "INT"], "VARCHAR(4)"),
        ("MD5", ["VARCHAR(3) NOT NULL"], "CHAR(32) NOT NULL"),
        ("MOD", ["BIGINT", "INT"], "INT"),
        ("MOD", ["DECIMAL(10, 2)", "DECIMAL(9, 3)"], "DECIMAL(9, 3)"),
        ("CEIL", ["DECIMAL(8, 3)"], "DECIMAL(8, 0)"),
        ("ROUND", ["DOUBLE NOT NULL"], "DOUBLE NOT NULL"),
        ("COALESCE", ["INT", "BIGINT", "INT NOT NULL"], "BIGINT NOT NULL"),
        ("IFNULL", ["INT", "INT NOT NULL"], "INT NOT NULL"),
        ("GREATEST", ["INT", "BIGINT NOT NULL"], "BIGINT"),
        ("TO_TIMESTAMP_LTZ", ["BIGINT NOT NULL", "INT NOT NULL"], "TIMESTAMP(3) WITH LOCAL TIME ZONE"),
        ("CARDINALITY", ["ARRAY<INT> NOT NULL"], "INT NOT NULL"),
        ("ELEMENT", ["ARRAY<INT NOT NULL> NOT NULL"], "INT NOT NULL"),
        ("ELEMENT", ["ARRAY<INT NOT NULL>"], "INT"),
        ("MAP_KEYS", ["MAP<STRING, INT>"], "ARRAY<STRING>"),
        (
            "MAP_ENTRIES",
            ["MAP<CHAR(4) NOT NULL, INT> NOT NULL"],
            "ARRAY<ROW<`key` CHAR(4) NOT NULL, `value` INT>> NOT NULL",
        ),
        ("ARRAY_APPEND", ["ARRAY<BIGINT>", "INT"], "ARRAY<BIGINT>"),
        ("ARRAY_APPEND", ["ARRAY<INT NOT NULL> NOT NULL", "INT"], "ARRAY<INT>"),
        ("TRANSLATE", ["STRING NOT NULL", "STRING", "STRING"], "STRING NOT NULL"),
        ("IF", ["BOOLEAN NOT NULL", "INT NOT NULL", "BIGINT NOT NULL"], "BIGINT NOT NULL"),
        ("IF", ["BOOLEAN", "FLOAT", "DOUBLE"], "FLOAT"),
        ("IF", ["BOOLEAN", "TIMESTAMP(3)", "TIMESTAMP(6)"], "TIMESTAMP(3)"),
        ("IFNULL", ["CHAR(5) NOT NULL", "STRING"], "CHAR(5) NOT NULL"),
        ("COALESCE", ["FLOAT", "DOUBLE"], "DOUBLE"),
        ("COALESCE", ["DECIMAL(10, 2)", "FLOAT"], "FLOAT"),
        ("COALESCE", ["FLOAT", "DECIMAL(10, 2)"], "DOUBLE"),
        ("COALESCE", ["DATE", "TIMESTAMP(3)"], "DATE"),
        ("COALESCE", ["TIMESTAMP(3)", "TIMESTAMP_LTZ(6)"], "TIMESTAMP_LTZ(6)"),
        ("GREATEST", ["INT", "NULL"], "INT"),
        ("SUM", ["DECIMAL(10, 2)"], "DECIMAL(38, 2)"),
        ("SUM", ["INT NOT NULL"], "INT NOT NULL"),
        ("AVG", ["DECIMAL(10, 2)"], "DECIMAL(38, 6)"),
        ("AVG", ["INT"], "INT"),
        ("COUNT", ["INT"], "BIGINT NOT NULL"),
        ("COLLECT", ["INT"], "MULTISET<INT> NOT NULL"),
        ("LAG", ["INT NOT NULL", "INT NOT NULL", "INT NOT NULL"], "INT NOT NULL"),
        ("LAG", ["INT NOT NULL"], "INT"),
        ("STR_TO_MAP", ["STRING NOT NULL"], "MAP<STRING, STRING>"),
    ],
)
def test_result_types(name: str, arguments: list[str], result: str) -> None:
    function = find_function(name)
    assert function is not None
    types = tuple(map(parse_type, arguments))
    assert function.accept(types) is not None
    assert function.returns(Arguments(types)) == parse_type(result)


def test_rounding_to_literal_digits_narrows_a_decimal() -> None:
    function = find_function("ROUND")
    assert function is not None
    for digits, expected in ((1, "DECIMAL(7, 1)"), (0, "DECIMAL(6, 0)"), (3, "DECIMAL(8, 3)"), (-1, "DECIMAL(6, 0)")):
        call = function.call(InputRef(0, parse_type("DECIMAL(8, 3)")), Literal(digits, t.INT.not_null()))
        assert str(call.type) == expected


def test_a_global_aggregate_is_nullable() -> None:
    function = find_function("MAX")
    assert function is not None
    assert str(function.returns(Arguments((t.INT.not_null(),), grouped=False))) == "INT"


@pytest.mark.parametrize(
    ("name", "arguments"),
    [("UPPER", ["INT"]), ("POWER", ["STRING", "INT"]), ("CARDINALITY", ["INT"]), ("ABS", []), ("ABS", ["INT", "INT"])],
)
def test_wrong_arguments_are_refused(name: str, arguments: list[str]) -> None:
    function = find_function(name)
    assert function is not None
    assert function.accept([parse_type(a) for a in arguments]) is None


@pytest.mark.parametrize(
    ("types", "expected"),
    [
        (["INT", "BIGINT NOT NULL"], "BIGINT"),
        (["INT NOT NULL", "DECIMAL(2, 1) NOT NULL"], "DECIMAL(11, 1) NOT NULL"),
        (["FLOAT", "DOUBLE"], "FLOAT"),
        (["DOUBLE", "FLOAT"], "DOUBLE"),
        (["DECIMAL(10, 2)", "FLOAT"], "DOUBLE"),
        (["CHAR(1) NOT NULL", "CHAR(3) NOT NULL"], "VARCHAR(3) NOT NULL"),
        (["CHAR(3)", "CHAR(3)"], "CHAR(3)"),
        (["CHAR(3)", "STRING"], "STRING"),
        (["ARRAY<INT>", "ARRAY<BIGINT NOT NULL>"], "ARRAY<BIGINT>"),
        (["ROW<`a` INT>", "ROW<`b` BIGINT>"], "ROW<`a` BIGINT>"),
        (["NULL", "INT NOT NULL"], "INT"),
        (["INT", "STRING"], None),
        (["BOOLEAN", "INT"], None),
    ],
)
def test_least_restrictive(types: list[str], expected: str | None) -> None:
    merged = least_restrictive([parse_type(x) for x in types])
    assert merged == (None if expected is None else parse_type(expected))


@pytest.mark.parametrize(
    ("rule", "a", "b", "expected"),
    [
        (decimal_sum, "DECIMAL(10, 2)", "DECIMAL(9, 3)", "DECIMAL(12, 3)"),
        (decimal_sum, "DECIMAL(10, 2)", "INT", "DECIMAL(13, 2)"),
        (decimal_product, "DECIMAL(10, 2)", "DECIMAL(9, 3)", "DECIMAL(20, 5)"),
        (decimal_quotient, "DECIMAL(10, 2)", "DECIMAL(9, 3)", "DECIMAL(23, 12)"),
        (decimal_quotient, "DECIMAL(38, 2)", "BIGINT", "DECIMAL(38, 6)"),
        (decimal_remainder, "DECIMAL(10, 2)", "DECIMAL(9, 3)", "DECIMAL(9, 3)"),
        (decimal_sum, "DECIMAL(38, 10)", "DECIMAL(38, 2)", "DECIMAL(38, 6)"),
    ],
)
def test_decimal_arithmetic(rule: object, a: str, b: str, expected: str) -> None:
    assert callable(rule)
    assert rule(parse_type(a), parse_type(b)) == parse_type(expected)


def test_every_kind_occurs() -> None:
    assert {f.kind for f in all_functions()} == set(Kind)


@pytest.mark.skipif(not PLANS, reason="the parity corpus is not here")
def test_every_call_of_a_compiled_plan_is_declared() -> None:
    unknown: set[tuple[str, str]] = set()

    def look(value: object) -> None:
        if isinstance(value, dict):
            if value.get("kind") == "CALL" and "internalName" in value:
                calls = [r for r in walk(rex_from_json(value)) if isinstance(r, Call)]
                unknown.update(c.key for c in calls if function_of(*c.key) is None)
            for item in value.values():
                look(item)
        elif isinstance(value, list):
            for item in value:
                look(item)

    for plan in PLANS:
        look(json.loads(plan.read_text()))
    assert unknown == set()


@pytest.mark.parametrize(
    ("types", "merged"),
    [
        (("TIMESTAMP(3)", "TIMESTAMP_LTZ(3)"), "TIMESTAMP(3)"),
        (("TIMESTAMP_LTZ(3)", "TIMESTAMP(3)"), "TIMESTAMP_LTZ(3)"),
        (("TIMESTAMP_LTZ(3)", "TIMESTAMP(6)"), "TIMESTAMP(6)"),
        (("TIMESTAMP(6)", "TIMESTAMP_LTZ(3)"), "TIMESTAMP_LTZ(6)"),
        (("FLOAT", "DOUBLE"), "FLOAT"),
        (("DOUBLE", "FLOAT"), "DOUBLE"),
    ],
)
def test_the_least_restrictive_type_depends_on_the_order(types: tuple[str, str], merged: str) -> None:
    assert least_restrictive([parse_type(t) for t in types]) == parse_type(merged)


@pytest.mark.parametrize(
    ("name", "types"),
    [
        ("MOD", ["DOUBLE", "INT"]),
        ("ARRAY_CONCAT", ["INT"]),
        ("MAP_UNION", ["ARRAY<INT>"]),
        ("ARRAY_SLICE", ["ARRAY<INT>", "BIGINT"]),
        ("GREATEST", ["INT", "STRING"]),
        ("JSON_STRING", ["DATE"]),
        ("ARRAY_JOIN", ["ARRAY<INT>", "STRING"]),
        ("TO_TIMESTAMP_LTZ", ["BIGINT", "BIGINT"]),
        ("CURRENT_WATERMARK", ["TIMESTAMP(3)"]),
        ("PERCENTILE", ["INT", "DOUBLE"]),
        ("PERCENTILE", ["INT", "ARRAY<DOUBLE> NOT NULL"]),
    ],
)
def test_what_functions_do_not_take(name: str, types: list[str]) -> None:
    function = find_function(name)
    assert function is not None and function.accept([parse_type(t) for t in types]) is None


def test_what_merges_parts_of_an_aggregate_is_an_aggregate() -> None:
    named = {f.internal_name: f for f in all_functions() if f.kind is Kind.AGGREGATE}
    merging = [merge for f in named.values() for merge in f.aggregation.split(f.internal_name, 1)]
    assert merging
    assert [pair for pair in merging if not set(pair) <= named.keys()] == []
    assert not [f.name for f in named.values() if f.aggregation.is_splittable and not f.aggregation.merged_by]


def test_nothing_of_rows_is_what_flink_yields() -> None:
    zeros = {f.name for f in all_functions() if f.aggregation.empty_result is EmptyResult.ZERO}
    assert zeros == {"COUNT", "$SUM0"}


@pytest.mark.parametrize(
    ("syntax", "name", "pushable"),
    [
        ("BINARY", "$=$1", True),
        ("FUNCTION", "$UPPER$1", True),
        ("FUNCTION", "$CHAR_LENGTH$1", True),
        ("FUNCTION", "$SPLIT_INDEX$1", True),
        ("FUNCTION", "$MAP_KEYS$1", False),
        ("FUNCTION", "$JSON_VALUE$1", False),
        ("SPECIAL", "$CASE$1", False),
        ("POSTFIX", "$IS JSON VALUE$1", False),
    ],
)
def test_which_functions_can_be_pushed_into_sources(syntax: str, name: str, pushable: bool) -> None:
    function = function_of(syntax, name)
    assert function is not None
    assert function.is_pushable is pushable


def test_only_lists_without_a_separator_are_put_together_of_parts() -> None:
    listagg = find_function("LISTAGG")
    assert listagg is not None
    splits = [listagg.aggregation.split(listagg.internal_name, arguments) for arguments in (1, 2)]
    assert splits == [((listagg.internal_name, listagg.internal_name),), ()]
