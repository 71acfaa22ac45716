"""How types combine: families, least restrictive types, the types of decimal arithmetic.

Sources: Calcite's ``SqlTypeFactoryImpl.leastRestrictive`` under Flink's ``FlinkTypeSystem``, and Flink's
``LogicalTypeMerging``.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..record import replace
from ..types import (
    APPROXIMATE,
    BINARY_STRING,
    CHARACTER,
    DATETIME,
    DOUBLE,
    INTEGERS,
    NUMERIC,
    TIMESTAMPS,
    LogicalType,
    RowField,
    decimal,
)

MAX_DECIMAL = 38
"""The maximum precision of a DECIMAL."""

_INTEGER_DIGITS = {"TINYINT": 3, "SMALLINT": 5, "INT": 10, "BIGINT": 19}

_FAMILIES: dict[str, tuple[str, ...]] = {
    "NUMERIC": NUMERIC,
    "INTEGER": INTEGERS,
    "EXACT": (*INTEGERS, "DECIMAL"),
    "CHARACTER": CHARACTER,
    "BINARY": BINARY_STRING,
    "STRING": (*CHARACTER, *BINARY_STRING),
    "BOOLEAN": ("BOOLEAN",),
    "DATE": ("DATE",),
    "TIME": ("TIME",),
    "TIMESTAMP": TIMESTAMPS,
    "DATETIME": DATETIME,
    "ARRAY": ("ARRAY",),
    "MAP": ("MAP",),
    "MULTISET": ("MULTISET",),
    "COLLECTION": ("ARRAY", "MAP", "MULTISET"),
    "ROW": ("ROW", "STRUCTURED"),
    "VARIANT": ("VARIANT",),
    "BITMAP": ("BITMAP",),
    "SYMBOL": ("SYMBOL",),
}


def in_family(t: LogicalType, family: str) -> bool:
    """Whether a type belongs to a family; ANY contains every type, INTERVAL every interval."""
    if family == "ANY":
        return True
    if family == "INTERVAL":
        return is_interval(t)
    return t.root in _FAMILIES[family]


def family_of(t: LogicalType) -> str:
    """The family of types that compare and combine with this type without a cast."""
    for family in ("NUMERIC", "CHARACTER", "BINARY", "TIMESTAMP"):
        if in_family(t, family):
            return family
    if is_interval(t):
        return "INTERVAL_YEAR_MONTH" if is_year_month(t) else "INTERVAL_DAY_TIME"
    return t.root


def is_interval(t: LogicalType) -> bool:
    return t.root.startswith("INTERVAL")


def is_year_month(t: LogicalType) -> bool:
    """Whether an interval counts months."""
    return is_interval(t) and t.root.removeprefix("INTERVAL_").split("_")[0] in ("YEAR", "MONTH")


def exact_digits(t: LogicalType) -> tuple[int, int]:
    """Precision and scale of an exact numeric type; an integer type counts as the DECIMAL that can hold it."""
    if t.root == "DECIMAL":
        return t.precision or 10, t.scale or 0
    return _INTEGER_DIGITS[t.root], 0


def as_decimal(t: LogicalType) -> LogicalType:
    """An exact numeric type as DECIMAL."""
    return decimal(*exact_digits(t), nullable=t.nullable)


def least_restrictive(types: Sequence[LogicalType]) -> LogicalType | None:
    """The narrowest type that holds values of all the types; ``None`` if there is none.

    NULL types only make the result nullable.
    """
    known = [t for t in types if t.root != "NULL"]
    nullable = any(t.nullable for t in types)
    if not known:
        return types[0] if types else None
    result = known[0]
    for t in known[1:]:
        merged = _merge(result, t)
        if merged is None:
            return None
        result = merged
    return result.with_nullability(nullable)


def _merge(a: LogicalType, b: LogicalType) -> LogicalType | None:
    if a.same_as(b):
        return a
    if a.root == "ROW" and b.root == "ROW":
        return _merge_rows(a, b)
    if a.root == b.root and a.children:
        children = [least_restrictive(pair) for pair in zip(a.children, b.children, strict=True)]
        if any(c is None for c in children):
            return None
        return replace(a, children=tuple(c for c in children if c is not None))
    if family_of(a) != family_of(b):
        if a.root == "DATE" and b.root in TIMESTAMPS:
            return b
        return a if b.root == "DATE" and a.root in TIMESTAMPS else None
    if a.root in CHARACTER or a.root in BINARY_STRING:
        return _merge_strings(a, b)
    if a.root in NUMERIC:
        return _merge_numbers(a, b)
    if a.root in TIMESTAMPS or a.root == "TIME":
        digits = max(a.precision or 0, b.precision or 0)
        return a if a.precision == b.precision else replace(b.regular(), precision=digits)
    if is_interval(a):
        return merge_intervals(a, b)
    return None


def _merge_rows(a: LogicalType, b: LogicalType) -> LogicalType | None:
    if len(a.fields) != len(b.fields):
        return None
    fields = []
    for x, y in zip(a.fields, b.fields, strict=True):
        merged = least_restrictive((x.type, y.type))
        if merged is None:
            return None
        fields.append(RowField(x.name, merged))
    return replace(a, fields=tuple(fields))


def _merge_strings(a: LogicalType, b: LogicalType) -> LogicalType:
    length = max(a.length or 0, b.length or 0)
    fixed = a.root in ("CHAR", "BINARY") and b.root == a.root and a.length == b.length
    root = a.root if fixed else "VARCHAR" if a.root in CHARACTER else "VARBINARY"
    return LogicalType(root, a.nullable, length=length)


def _merge_numbers(a: LogicalType, b: LogicalType) -> LogicalType:
    """The first of two approximate types wins, since Flink gives both the same precision."""
    if a.root in APPROXIMATE or b.root in APPROXIMATE:
        if "DECIMAL" in (a.root, b.root):
            return DOUBLE
        return a if a.root in APPROXIMATE else b
    if a.root in INTEGERS and b.root in INTEGERS:
        return max(a, b, key=exact_digits)
    (p1, s1), (p2, s2) = exact_digits(a), exact_digits(b)
    digits = min(max(p1 - s1, p2 - s2), MAX_DECIMAL)
    scale = min(max(s1, s2), MAX_DECIMAL - digits)
    return decimal(digits + scale, scale)


_UNITS = ("YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND")


def merge_intervals(a: LogicalType, b: LogicalType) -> LogicalType | None:
    """The interval type that spans the units of both."""
    if is_year_month(a) != is_year_month(b):
        return None
    units = [u for t in (a, b) for u in t.root.removeprefix("INTERVAL_").split("_TO_")]
    first, last = min(units, key=_UNITS.index), max(units, key=_UNITS.index)
    root = f"INTERVAL_{first}" if first == last else f"INTERVAL_{first}_TO_{last}"
    precision = max((t.precision for t in (a, b) if t.precision is not None), default=2)
    scale = max((t.scale for t in (a, b) if t.scale is not None), default=6)
    return LogicalType(
        root,
        precision=None if first == "SECOND" else precision,
        scale=scale if last == "SECOND" else None,
    )


# ---------------------------------------------------------------- decimal arithmetic


def _adjust(precision: int, scale: int) -> LogicalType:
    """A decimal limited to 38 digits, which keeps at least six decimals (or its scale if that is smaller)."""
    if precision <= MAX_DECIMAL:
        return decimal(precision, scale)
    digits = precision - scale
    return decimal(MAX_DECIMAL, max(MAX_DECIMAL - digits, min(scale, 6)))


def _digits(a: LogicalType, b: LogicalType) -> tuple[int, int, int, int]:
    return (*exact_digits(a), *exact_digits(b))


def decimal_sum(a: LogicalType, b: LogicalType) -> LogicalType:
    """The type of ``a + b`` and ``a - b``."""
    p1, s1, p2, s2 = _digits(a, b)
    scale = max(s1, s2)
    return _adjust(max(p1 - s1, p2 - s2) + scale + 1, scale)


def decimal_product(a: LogicalType, b: LogicalType) -> LogicalType:
    """The type of ``a * b``."""
    p1, s1, p2, s2 = _digits(a, b)
    return _adjust(p1 + p2 + 1, s1 + s2)


def decimal_quotient(a: LogicalType, b: LogicalType) -> LogicalType:
    """The type of ``a / b``."""
    p1, s1, p2, s2 = _digits(a, b)
    scale = max(6, s1 + p2 + 1)
    return _adjust(p1 - s1 + s2 + scale, scale)


def decimal_remainder(a: LogicalType, b: LogicalType) -> LogicalType:
    """The type of ``MOD(a, b)``."""
    p1, s1, p2, s2 = _digits(a, b)
    scale = max(s1, s2)
    return _adjust(min(p1 - s1, p2 - s2) + scale, scale)


def is_exact_decimal_pair(a: LogicalType, b: LogicalType) -> bool:
    """Whether the decimal rules apply: both are exact numeric types, and at least one is DECIMAL."""
    return in_family(a, "EXACT") and in_family(b, "EXACT") and "DECIMAL" in (a.root, b.root)
