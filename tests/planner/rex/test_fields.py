"""The types of fields of rows.  Source: ``FlinkRexBuilder.makeFieldAccess``."""

from __future__ import annotations

from flinkplan.plan.functions.cast import CAST
from flinkplan.plan.rex import FieldAccess, InputRef
from flinkplan.plan.types import INT, LogicalType, row
from flinkplan.planner.rex.builder import field_access
from flinkplan.planner.rex.expressions import is_call

INNER = row([("x", INT.not_null()), ("y", INT)], nullable=False)
OUTER = row([("inner", INNER)], nullable=True)


def _column(t: LogicalType) -> InputRef:
    return InputRef(0, t)


def test_field_of_a_nullable_row_is_cast_to_be_nullable() -> None:
    field = field_access(field_access(_column(OUTER), "inner"), "x")
    assert is_call(field, CAST) and field.type == INT
    (access,) = field.operands
    assert access == FieldAccess("x", FieldAccess("inner", _column(OUTER)))
    assert access.type == INT.not_null()


def test_nullable_field_is_not_cast() -> None:
    field = field_access(field_access(_column(OUTER), "inner"), "y")
    assert field == FieldAccess("y", FieldAccess("inner", _column(OUTER)))


def test_field_of_a_row_that_is_never_null_keeps_its_type() -> None:
    field = field_access(_column(INNER), "x")
    assert field == FieldAccess("x", _column(INNER)) and field.type == INT.not_null()
