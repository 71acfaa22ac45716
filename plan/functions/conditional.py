"""Choices between values."""

from __future__ import annotations

from ..types import BOOLEAN, INT, LogicalType, string
from .model import SPECIAL, Arguments
from .registry import declare
from .rules import common, common_argument, common_of, if_null, nullable, signature
from .typing import least_restrictive


def _case(args: Arguments) -> LogicalType:
    """Operands are condition, value, condition, value, …, otherwise."""
    values = (*args.types[1:-1:2], args.types[-1])
    found = least_restrictive(values)
    return found if found is not None else values[0]


CASE = declare("CASE", signature("ANY", rest="ANY"), _case, syntax=SPECIAL, named=False)


def _coalesce(args: Arguments) -> LogicalType:
    return common(args).with_nullability(all(t.nullable for t in args.types))


COALESCE = declare("COALESCE", signature(common_argument(), rest=common_argument()), _coalesce)


def _if_null(args: Arguments) -> LogicalType:
    return common(args).with_nullability(args.types[0].nullable and args.types[1].nullable)


declare("IFNULL", signature(common_argument(), common_argument()), _if_null)

IF = declare(
    "IF",
    [
        signature("BOOLEAN", kind, kind)
        for kind in ("NUMERIC", "CHARACTER", "BOOLEAN", "BINARY", "DATE", "TIMESTAMP", "TIME")
    ],
    nullable(common_of(1)),
)
for _name in ("IS_DECIMAL", "IS_DIGIT", "IS_ALPHA"):
    declare(_name, (signature("CHARACTER"), signature("NUMERIC")), lambda args: BOOLEAN.not_null())

declare(
    "HASH_CODE",
    [signature(kind) for kind in ("BOOLEAN", "NUMERIC", "CHARACTER", "TIMESTAMP", "TIME", "DATE")],
    if_null(INT),
)
declare("TYPEOF", (signature("ANY"), signature("ANY", "BOOLEAN")), lambda args: string())
declare("PRINT", signature("CHARACTER", "ANY"), lambda args: args.types[1])
