"""Return-type rules and argument rules, to be combined in declarations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..types import CHARACTER, STRING_LENGTH, LogicalType
from .model import Argument, Arguments, ReturnRule, Signature, family
from .typing import family_of, in_family, least_restrictive

# ---------------------------------------------------------------- results


def always(t: LogicalType) -> ReturnRule:
    """This very type."""
    return lambda args: t


def if_null(t: LogicalType) -> ReturnRule:
    """This type, nullable if any argument is."""
    return lambda args: t.with_nullability(args.any_nullable)


def nullable(rule: ReturnRule) -> ReturnRule:
    """The rule's type, always nullable."""
    return lambda args: rule(args).nullable_()


def null_in_null_out(rule: ReturnRule) -> ReturnRule:
    """The rule's type, nullable if any argument is."""
    return lambda args: rule(args).with_nullability(args.any_nullable)


def argument(position: int) -> ReturnRule:
    """The type of an argument."""
    return lambda args: args.types[position].regular()


def varying(position: int) -> ReturnRule:
    """The type of a string argument, of variable length."""

    def rule(args: Arguments) -> LogicalType:
        t = args.types[position]
        root = "VARCHAR" if t.root in (*CHARACTER, "NULL") else "VARBINARY"
        return LogicalType(root, t.nullable, length=t.length or STRING_LENGTH)

    return rule


def common(args: Arguments) -> LogicalType:
    """The common type of the arguments."""
    found = common_type(args.types)
    return found if found is not None else args.types[0]


def common_type(types: Sequence[LogicalType]) -> LogicalType | None:
    """The least restrictive type, but DOUBLE where FLOAT meets DOUBLE.

    Flink's own functions take this one, Calcite's operators take the first of the two.
    """
    if {"FLOAT", "DOUBLE"} <= {t.root for t in types}:
        types = [replace(t, root="DOUBLE") if t.root == "FLOAT" else t for t in types]
    return least_restrictive(types)


def common_of(start: int) -> ReturnRule:
    """The least restrictive type of the arguments from a position on."""
    return lambda args: common(Arguments(args.types[start:]))


# ---------------------------------------------------------------- arguments


def of_type(t: LogicalType) -> Argument:
    """A parameter of one type; an argument of the same family is cast to it."""

    def rule(types: Sequence[LogicalType], position: int) -> LogicalType | None:
        given = types[position]
        if given.root == "NULL" or family_of(given) == family_of(t):
            return t.with_nullability(given.nullable)
        return None

    return Argument(str(t), rule)


def common_argument(start: int = 0) -> Argument:
    """A parameter that takes the common type of all arguments from ``start`` on."""

    def rule(types: Sequence[LogicalType], position: int) -> LogicalType | None:
        found = common_type(types[start:])
        return None if found is None else found.with_nullability(types[position].nullable)

    return Argument("COMMON", rule)


def element_argument(array_position: int = 0) -> Argument:
    """A parameter of the element type of an array argument."""

    def rule(types: Sequence[LogicalType], position: int) -> LogicalType | None:
        array, given = types[array_position], types[position]
        if array.root != "ARRAY":
            return None
        merged = least_restrictive((array.element, given))
        if merged is None or not merged.same_as(array.element):
            return None
        return merged.with_nullability(given.nullable)

    return Argument("ELEMENT", rule)


def comparable_argument() -> Argument:
    """A parameter that must compare with the first argument."""

    def rule(types: Sequence[LogicalType], position: int) -> LogicalType | None:
        return types[position] if comparable(types[0], types[position]) else None

    return Argument("COMPARABLE", rule)


def like_first() -> Argument:
    """A parameter of the family of the first argument."""

    def rule(types: Sequence[LogicalType], position: int) -> LogicalType | None:
        return types[position] if family_of(types[position]) == family_of(types[0]) else None

    return Argument("COMPARABLE", rule)


def comparable(a: LogicalType, b: LogicalType) -> bool:
    """Whether ``a = b`` is allowed: same family, or text against a number or a time."""
    if "NULL" in (a.root, b.root) or family_of(a) == family_of(b):
        return True
    if a.root in CHARACTER or b.root in CHARACTER:
        other = b if a.root in CHARACTER else a
        return any(in_family(other, f) for f in ("NUMERIC", "DATETIME", "BOOLEAN", "INTERVAL"))
    return False


def signature(*parameters: str | Argument, rest: str | Argument | None = None) -> Signature:
    """A signature of families (``NUMERIC``, ``CHARACTER`` …) and arguments."""

    def to_argument(p: str | Argument) -> Argument:
        return family(p) if isinstance(p, str) else p

    return Signature(tuple(map(to_argument, parameters)), None if rest is None else to_argument(rest))
