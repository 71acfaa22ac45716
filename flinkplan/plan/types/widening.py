"""Which values fit into which types: what a column may become without another value."""

from __future__ import annotations

from ..errors import PlanError
from .logical import LogicalType
from .parser import parse_type

_DIGITS = {"TINYINT": 3, "SMALLINT": 5, "INT": 10, "BIGINT": 19}
"""The digits of the largest whole number of a type."""
_TEXTS, _BYTES = ("CHAR", "VARCHAR"), ("BINARY", "VARBINARY")
_TIMES = ("TIMESTAMP", "TIMESTAMP_LTZ", "TIME")


def widens(old: LogicalType, new: LogicalType) -> bool:
    """Whether each value of a type is one of the other, written alike or as a larger number; NULL does not count."""
    old, new = old.regular().nullable_(), new.regular().nullable_()
    if old == new:
        return True
    if old.root in _DIGITS and new.root in _DIGITS:
        return _DIGITS[old.root] <= _DIGITS[new.root]
    if new.root == "DECIMAL" and old.root in (*_DIGITS, "DECIMAL"):
        scale = old.scale or 0 if old.root == "DECIMAL" else 0
        digits = (old.precision or 10) if old.root == "DECIMAL" else _DIGITS[old.root]
        whole = (new.precision or 10) - (new.scale or 0)
        return scale <= (new.scale or 0) and digits - scale <= whole
    if (old.root, new.root) == ("FLOAT", "DOUBLE"):
        return True
    for variable in ("VARCHAR", "VARBINARY"):
        family = _TEXTS if variable == "VARCHAR" else _BYTES
        if new.root == variable and old.root in family:
            return (old.length or 1) <= (new.length or 1)
    if old.root == new.root and old.root in _TIMES:
        return (old.precision or 0) <= (new.precision or 0)
    return False


def holds(old: str, new: str, *, null: bool = False) -> bool:
    """Whether a value of a state may become one of another type; ``null``: also a NULL.

    Types that SQL cannot write are only the same.
    """
    if old == new:
        return True
    try:
        before, after = parse_type(old), parse_type(new)
    except PlanError:
        return False
    return widens(before, after) and (after.nullable or not before.nullable or null)
