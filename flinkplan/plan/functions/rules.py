"""Rules for result types and argument types, which declarations combine."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..types import CHARACTER, DOUBLE, STRING_LENGTH, TIMESTAMPS, LogicalType, timestamp_ltz
from .model import Argument, Arguments, ReturnRule, Signature, family
from .typing import family_of, in_family, least_restrictive

# ---------------------------------------------------------------- results


def always(t: LogicalType) -> ReturnRule:
    """Always this type."""
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
    """The type of a string argument, with variable length."""

    def rule(args: Arguments) -> LogicalType:
        t = args.types[position]
        root = "VARCHAR" if t.root in (*CHARACTER, "NULL") else "VARBINARY"
        return LogicalType(root, t.nullable, length=t.length or STRING_LENGTH)

    return rule


def common(args: Arguments) -> LogicalType:
    """The common type of the arguments."""
    merged = common_type(args.types)
    return merged if merged is not None else args.types[0]


def common_type(types: Sequence[LogicalType]) -> LogicalType | None:
    """The common type of arguments of Flink's own functions; ``None`` if there is none.

    It differs from Calcite's least restrictive type: FLOAT and DOUBLE give DOUBLE, DECIMAL followed by FLOAT gives
    FLOAT, a timestamp and a DATE or TIME give the latter, and TIMESTAMP and TIMESTAMP_LTZ give TIMESTAMP_LTZ.
    Source: ``LogicalTypeMerging.findCommonType``.
    """
    known = [t for t in types if t.root != "NULL"]
    if len(known) < 2:
        return least_restrictive(types)
    result = known[0]
    for t in known[1:]:
        merged = _common_of_two(result, t)
        if merged is None:
            return None
        result = merged
    return result.with_nullability(any(t.nullable for t in types))


def _common_of_two(a: LogicalType, b: LogicalType) -> LogicalType | None:
    roots = {a.root, b.root}
    if roots == {"FLOAT", "DOUBLE"}:
        return DOUBLE
    if (a.root, b.root) == ("DECIMAL", "FLOAT"):
        return b
    if roots == set(TIMESTAMPS):
        return timestamp_ltz(max(a.precision or 0, b.precision or 0))
    if roots & set(TIMESTAMPS) and roots & {"DATE", "TIME"}:
        return a if a.root in ("DATE", "TIME") else b
    return least_restrictive((a, b))


def common_of(start: int) -> ReturnRule:
    """The common type of the arguments from a position on."""
    return lambda args: common(Arguments(args.types[start:]))


# ---------------------------------------------------------------- arguments


def of_type(t: LogicalType) -> Argument:
    """A parameter of one type; an argument of the same family is cast to it."""

    def rule(types: Sequence[LogicalType], position: int) -> LogicalType | None:
        actual = types[position]
        if actual.root == "NULL" or family_of(actual) == family_of(t):
            return t.with_nullability(actual.nullable)
        return None

    return Argument(str(t), rule)


def common_argument(family_name: str = "ANY") -> Argument:
    """A parameter with the common type of all arguments, which must belong to a family."""

    def rule(types: Sequence[LogicalType], position: int) -> LogicalType | None:
        if types[position].root != "NULL" and not in_family(types[position], family_name):
            return None
        merged = common_type(types)
        return None if merged is None else merged.with_nullability(types[position].nullable)

    return Argument("COMMON" if family_name == "ANY" else family_name, rule)


def which(name: str, fits: Callable[[LogicalType], bool]) -> Argument:
    """A parameter of the types that ``fits`` accepts, or NULL."""

    def rule(types: Sequence[LogicalType], position: int) -> LogicalType | None:
        t = types[position]
        return t if t.root == "NULL" or fits(t) else None

    return Argument(name, rule)


def least_restrictive_argument() -> Argument:
    """A parameter with the least restrictive type of all arguments, as for Calcite's operators."""

    def rule(types: Sequence[LogicalType], position: int) -> LogicalType | None:
        merged = least_restrictive(types)
        return None if merged is None else merged.with_nullability(types[position].nullable)

    return Argument("COMMON", rule)


def element_argument(array_position: int = 0) -> Argument:
    """A parameter of the element type of an array argument."""

    def rule(types: Sequence[LogicalType], position: int) -> LogicalType | None:
        array, actual = types[array_position], types[position]
        if array.root != "ARRAY":
            return None
        merged = least_restrictive((array.element, actual))
        if merged is None or not merged.same_as(array.element):
            return None
        return merged.with_nullability(actual.nullable)

    return Argument("ELEMENT", rule)


def comparable_argument() -> Argument:
    """A parameter that must be comparable with the first argument."""

    def rule(types: Sequence[LogicalType], position: int) -> LogicalType | None:
        return types[position] if comparable(types[0], types[position]) else None

    return Argument("COMPARABLE", rule)


def like_others() -> Argument:
    """A parameter that has a common type with all other arguments."""

    def rule(types: Sequence[LogicalType], position: int) -> LogicalType | None:
        merged = common_type(types)
        if merged is None or merged.root == "NULL":
            return None
        return merged.nullable_() if types[position].root == "NULL" else types[position]

    return Argument("COMPARABLE", rule)


def comparable(a: LogicalType, b: LogicalType) -> bool:
    """Whether ``a = b`` is allowed: the types are of the same family, or one of them is a character type."""
    if "NULL" in (a.root, b.root) or family_of(a) == family_of(b):
        return True
    if a.root in CHARACTER or b.root in CHARACTER:
        other = b if a.root in CHARACTER else a
        return any(in_family(other, f) for f in ("NUMERIC", "DATETIME", "BOOLEAN", "INTERVAL"))
    return False


def signature(*parameters: str | Argument, rest: str | Argument | None = None) -> Signature:
    """A signature from the names of families (``NUMERIC``, ``CHARACTER`` …) and other parameters."""

    def to_argument(p: str | Argument) -> Argument:
        return family(p) if isinstance(p, str) else p

    return Signature(tuple(map(to_argument, parameters)), None if rest is None else to_argument(rest))
