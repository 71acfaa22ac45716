import pytest

from flinkplan.plan.errors import PlanError
from flinkplan.plan.rex import (
    Call,
    FieldAccess,
    InputRef,
    Literal,
    Sarg,
    input_refs,
    rex_from_json,
    rex_to_json,
    transform,
    walk,
)
from flinkplan.plan.types import BIGINT, INT
from flinkplan.plan.types.parser import parse_type

MINUS = {
    "kind": "CALL",
    "syntax": "BINARY",
    "internalName": "$-$1",
    "operands": [
        {"kind": "INPUT_REF", "inputIndex": 2, "type": "INT"},
        {"kind": "LITERAL", "value": 7, "type": "INT NOT NULL"},
    ],
    "type": "INT",
}


def test_calls_are_distinguished_by_syntax_and_name() -> None:
    call = rex_from_json(MINUS)
    assert call == Call("$-$1", (InputRef(2, INT), Literal(7, INT.not_null())), INT, "BINARY")
    assert isinstance(call, Call)
    assert call.key == ("BINARY", "$-$1")
    assert rex_to_json(call) == MINUS


@pytest.mark.parametrize(("contains_null", "null_as"), [(True, "TRUE"), (False, "UNKNOWN")])
def test_a_search_may_say_whether_it_contains_null(contains_null: bool, null_as: str) -> None:
    sarg = {"ranges": [{"lower": {"value": 1, "boundType": "OPEN"}}], "containsNull": contains_null}
    json = {"kind": "LITERAL", "sarg": sarg, "type": "INT"}
    search = rex_from_json(json)
    assert isinstance(search, Sarg)
    assert search.null_as == null_as
    assert rex_to_json(search) == json
    with pytest.raises(PlanError, match="'containsNull' is true or false"):
        rex_from_json({**json, "sarg": {**sarg, "containsNull": 1}})


@pytest.mark.parametrize(
    ("type_", "written", "value"),
    [("BIGINT NOT NULL", "3", 3), ("INT", "-7", -7), ("DOUBLE", 2.0, "2.0"), ("VARCHAR(1)", "3", "3")],
)
def test_numbers_may_be_spelled_as_before_1_18(type_: str, written: object, value: object) -> None:
    json = {"kind": "LITERAL", "value": written, "type": type_}
    literal = rex_from_json(json)
    assert isinstance(literal, Literal)
    assert literal.value == value
    assert rex_to_json(literal) == json


def test_sarg_round_trip() -> None:
    json = {
        "kind": "LITERAL",
        "sarg": {
            "ranges": [{"upper": {"value": 3, "boundType": "OPEN"}}, {"lower": {"value": 5, "boundType": "CLOSED"}}],
            "nullAs": "UNKNOWN",
        },
        "type": "INT NOT NULL",
    }
    sarg = rex_from_json(json)
    assert isinstance(sarg, Sarg)
    assert (sarg.ranges[0].lower, sarg.ranges[1].lower.closed if sarg.ranges[1].lower else None) == (None, True)
    assert rex_to_json(sarg) == json


@pytest.mark.parametrize("value", [[1], {"a": 1}])
def test_a_literal_has_one_value(value: object) -> None:
    with pytest.raises(PlanError, match="a literal's value is"):
        rex_from_json({"kind": "LITERAL", "value": value, "type": "INT"})


@pytest.mark.parametrize("field", ["INT", "INT NOT NULL"])
def test_a_field_has_the_type_that_it_is_declared_with(field: str) -> None:
    access = FieldAccess("x", InputRef(0, parse_type(f"ROW<`x` {field}>")))
    assert access.type == parse_type(field)
    assert rex_from_json(rex_to_json(access)) == access


def test_kinds_flinkplan_cannot_evaluate_are_kept() -> None:
    json = {"kind": "PATTERN_INPUT_REF", "alpha": "A", "inputIndex": 0, "type": "INT"}
    assert rex_to_json(rex_from_json(json)) == json


def test_users_functions_keep_their_reference() -> None:
    json = {
        "kind": "CALL",
        "catalogName": "`default_catalog`.`default_database`.`f`",
        "operands": [{"kind": "INPUT_REF", "inputIndex": 0, "type": "INT"}],
        "type": "INT",
    }
    assert rex_to_json(rex_from_json(json)) == json


def test_walk_and_transform() -> None:
    call = rex_from_json(MINUS)
    assert len(list(walk(call))) == 3
    assert input_refs(call) == {2}
    shifted = transform(call, lambda r: InputRef(r.index + 1, BIGINT) if isinstance(r, InputRef) else r)
    assert input_refs(shifted) == {3}
    assert input_refs(call) == {2}
