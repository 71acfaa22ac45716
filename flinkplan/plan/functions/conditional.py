"""Conditional functions."""

from __future__ import annotations

from ..types import BOOLEAN, DATETIME, INT, LogicalType, string
from .model import SPECIAL, Arguments, LocalTime, Pushing, Style
from .registry import declare
from .rules import argument, common, common_argument, if_null, signature
from .typing import least_restrictive


def _case(args: Arguments) -> LogicalType:
    """Operands are condition, value, condition, value, …, otherwise."""
    values = (*args.types[1:-1:2], args.types[-1])
    common_type = least_restrictive(values)
    return common_type if common_type is not None else values[0]


ALIAS = declare(
    "AS",
    signature("ANY", "ANY"),
    argument(0),
    syntax=SPECIAL,
    named=False,
    style=Style.ALIAS,
    local_time=LocalTime.NEVER,
)
"""The first operand, under the name of the second: the Table API leaves it in plans."""
CASE = declare(
    "CASE",
    signature("ANY", rest="ANY"),
    _case,
    syntax=SPECIAL,
    named=False,
    safe=True,
    pushing=Pushing.NEVER,
    local_time=LocalTime.NEVER,
)


def _coalesce(args: Arguments) -> LogicalType:
    return common(args).with_nullability(all(t.nullable for t in args.types))


COALESCE = declare(
    "COALESCE",
    signature(common_argument(), rest=common_argument()),
    _coalesce,
    bridged=True,
    local_time=LocalTime.NEVER,
)


def _if_null(args: Arguments) -> LogicalType:
    """The type of the first argument if that is not nullable, else the common type."""
    first, second = args.types
    return common(args).with_nullability(second.nullable) if first.nullable else first


declare(
    "IFNULL",
    signature(common_argument(), common_argument()),
    _if_null,
    bridged=True,
    sees_null=True,
    local_time=LocalTime.NEVER,
)


def _if(args: Arguments) -> LogicalType:
    """The least restrictive type, or the first type if that is a datetime."""
    first, second = args.types[1:]
    common_type = least_restrictive((first, second)) if first.root not in DATETIME else first
    return (common_type or first).with_nullability(args.any_nullable)


IF = declare(
    "IF",
    [
        signature("BOOLEAN", kind, kind)
        for kind in ("NUMERIC", "CHARACTER", "BOOLEAN", "BINARY", "DATE", "TIMESTAMP", "TIME")
    ],
    _if,
    sees_null=True,
    pushing=Pushing.NEVER,
    local_time=LocalTime.NEVER,
)
for _name in ("IS_DECIMAL", "IS_DIGIT", "IS_ALPHA"):
    declare(_name, (signature("CHARACTER"), signature("NUMERIC")), lambda args: BOOLEAN.not_null())

HASH_CODE = declare(
    "HASH_CODE",
    [signature(kind) for kind in ("BOOLEAN", "NUMERIC", "CHARACTER", "TIMESTAMP", "TIME", "DATE")],
    if_null(INT),
)
FORMER_HASH_CODE = "$HASH_CODE$0"
"""HASH_CODE before the executor gave Flink's values; checkpoints that began with it go on with it."""
TYPEOF = declare(
    "TYPEOF", (signature("ANY"), signature("ANY", "BOOLEAN")), lambda args: string(), bridged=True, sees_null=True
)
declare("PRINT", signature("CHARACTER", "ANY"), lambda args: args.types[1])
