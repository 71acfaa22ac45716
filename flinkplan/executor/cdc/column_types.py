"""Which types of PostgreSQL the columns of a table can have.

Source: the data type mapping of Flink CDC's documentation for ``postgres-cdc``.
"""

from __future__ import annotations

from collections.abc import Mapping

from ...plan.record import Record
from ...plan.types import LogicalType

_ROOTS: Mapping[str, tuple[str, ...]] = {
    "bool": ("BOOLEAN",),
    "int2": ("SMALLINT", "INT", "BIGINT"),
    "int4": ("INT", "BIGINT"),
    "int8": ("BIGINT",),
    "oid": ("BIGINT",),
    "float4": ("FLOAT", "DOUBLE"),
    "float8": ("DOUBLE",),
    "numeric": ("DECIMAL", "CHAR", "VARCHAR"),
    "bytea": ("BINARY", "VARBINARY"),
    "date": ("DATE",),
    "time": ("TIME",),
    "timestamp": ("TIMESTAMP",),
    "timestamptz": ("TIMESTAMP_LTZ",),
}
"""The roots of the types that hold all values of a type."""

_TEXTS = (
    *("text", "varchar", "bpchar", "char", "name", "citext", "uuid", "json", "jsonb", "xml", "inet", "cidr"),
    *("macaddr", "macaddr8", "ltree", "tsvector"),
)
"""The types whose texts are what Debezium has of them."""

_TYPMOD_OFFSET = 4
_ENUM = "e"
_NO_LIMIT = -1


class ColumnType(Record):
    """A type of PostgreSQL by the name of its base type; ``kind`` is that of ``pg_type.typtype``.

    ``modifier`` is ``atttypmod``, ``element`` the type of an array's elements.
    """

    name: str
    kind: str = "b"
    modifier: int = _NO_LIMIT
    element: ColumnType | None = None

    def __str__(self) -> str:
        if self.element is not None:
            return f"{self.element}[]"
        if self.name == "numeric" and (digits := self.digits) is not None:
            return f"numeric({digits[0]},{digits[1]})"
        return self.name

    @property
    def digits(self) -> tuple[int, int] | None:
        """Precision and scale of a ``numeric`` that has them."""
        if self.modifier < 0:
            return None
        packed = self.modifier - _TYPMOD_OFFSET
        scale = packed & 0x7FF
        return packed >> 16 & 0xFFFF, scale - 2048 if scale >= 1024 else scale


def holds(declared: LogicalType, type_: ColumnType) -> bool:
    """Whether a declared type holds the values of a column."""
    if type_.element is not None:
        inner = declared.element if declared.root == "ARRAY" else None
        # PostgreSQL does not tell arrays of several dimensions from others
        while inner is not None and inner.root == "ARRAY":
            inner = inner.element
        return inner is not None and holds(inner, type_.element)
    if type_.kind == _ENUM or type_.name in _TEXTS:
        return declared.root in ("CHAR", "VARCHAR")
    if declared.root not in _ROOTS.get(type_.name, ()):
        return False
    if declared.root == "DECIMAL" and (digits := type_.digits) is not None:
        precision, scale = digits
        own_precision, own_scale = declared.precision or 0, declared.scale or 0
        return own_scale >= scale and own_precision - own_scale >= precision - scale
    return True
