"""What cannot be computed is refused before a job starts; what fails, fails with words."""

from __future__ import annotations

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from flinkplan.executor.expressions import to_column
from flinkplan.plan.errors import PlanError, UnsupportedError
from flinkplan.plan.record import Json
from flinkplan.plan.rex import FUNCTION, Call, InputRef, Literal, OpaqueRex, RexNode
from flinkplan.plan.types import LogicalType
from flinkplan.plan.types.parser import parse_type

from .values import frame_of, values_of


def call(name: str, returns: str, *operands: RexNode, syntax: str = FUNCTION) -> Call:
    return Call(name, operands, parse_type(returns), syntax)


def text(value: str) -> Literal:
    return Literal(value, LogicalType("CHAR", False, length=len(value)))


def number(value: int) -> Literal:
    return Literal(value, parse_type("INT NOT NULL"))


@pytest.mark.spark
@pytest.mark.parametrize(
    ("rex", "message"),
    [
        (call("$SOURCE_WATERMARK$1", "TIMESTAMP(3)"), "the function SOURCE_WATERMARK is not supported"),
        (
            call("$CURRENT_WATERMARK$1", "TIMESTAMP(3)", InputRef(0, parse_type("TIMESTAMP(3)"))),
            "CURRENT_WATERMARK is not known here",
        ),
        (call("$NOPE$1", "INT"), "the function NOPE is not supported"),
        (
            Call("", (), parse_type("INT"), reference=Json({"catalogName": "my_udf"})),
            "the user-defined function 'my_udf'",
        ),
        (OpaqueRex("OVER", parse_type("INT"), Json()), "expressions of the kind OVER"),
        (call("$JSON_QUERY$1", "STRING", text("{}"), text("$")), "operand 3 of JSON_QUERY must be a literal"),
        (call("$CAST$1", "DATE", number(1), syntax="SPECIAL"), "CAST from INT NOT NULL to DATE"),
        (
            call("$JSON_EXISTS$1", "BOOLEAN", text("{}"), text("$.a[?(@.x in ['y'])]")),
            "this filter of a JSON path is not supported",
        ),
        (call("$JSON_OBJECT$1", "STRING", text("NULL"), InputRef(0, parse_type("STRING"))), "operand 2 of JSON_OBJECT"),
    ],
    ids=lambda p: p if isinstance(p, str) else "",
)
def test_is_refused(spark: SparkSession, rex: RexNode, message: str) -> None:
    with pytest.raises(UnsupportedError) as error:
        to_column(rex, [F.lit(None)])
    assert message in error.value.message


@pytest.mark.spark
def test_a_case_has_an_else(spark: SparkSession) -> None:
    truth = Literal(True, parse_type("BOOLEAN NOT NULL"))
    with pytest.raises(PlanError, match="and an ELSE: not 2 operands"):
        to_column(call("$CASE$1", "INT", truth, number(1), syntax="SPECIAL"), [])


@pytest.mark.spark
@pytest.mark.parametrize(
    ("value", "type_text"),
    [("tomorrow", "DATE NOT NULL"), ("25 o'clock", "TIME(0) NOT NULL"), ("many", "DECIMAL(3, 1) NOT NULL")],
)
def test_a_literal_must_suit_its_type(spark: SparkSession, value: str, type_text: str) -> None:
    with pytest.raises(PlanError, match="is no"):
        to_column(Literal(value, parse_type(type_text)), [])


@pytest.mark.spark
@pytest.mark.parametrize(
    ("rex", "message"),
    [
        (
            call("$/$1", "INT", InputRef(0, parse_type("INT")), number(0), syntax="BINARY"),
            "7 cannot be divided by zero",
        ),
        (call("$MOD$1", "INT", InputRef(0, parse_type("INT")), number(0)), "7 cannot be divided by zero"),
        (
            call("$CAST$1", "INT", InputRef(1, parse_type("STRING")), syntax="SPECIAL"),
            "cannot cast 'abc' to INT",
        ),
        (
            call("$CAST$1", "DECIMAL(3, 1)", InputRef(1, parse_type("STRING")), syntax="SPECIAL"),
            "cannot cast 'abc' to DECIMAL(3, 1)",
        ),
        (call("$SHA2$1", "STRING", InputRef(1, parse_type("STRING")), InputRef(0, parse_type("INT"))), "not 7"),
        (
            call("$ELEMENT$1", "INT", call("$ARRAY$1", "ARRAY<INT>", number(1), number(2), syntax="SPECIAL")),
            "at most one element",
        ),
    ],
    ids=lambda p: p if isinstance(p, str) else "",
)
def test_fails_at_run_time(spark: SparkSession, rex: RexNode, message: str) -> None:
    types = [parse_type("INT"), parse_type("STRING")]
    frame = frame_of(spark, types, [[7, "abc"]])
    with pytest.raises((PySparkException, Py4JJavaError)) as error:
        values_of(frame, [to_column(rex, [frame.c0, frame.c1])], [rex.type])
    assert message in str(error.value)
