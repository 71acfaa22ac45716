"""Logical types: Flink's SQL types, as a compiled plan spells them.

A type is written as text (``VARCHAR(2147483647) NOT NULL``, ``ROW<`a` INT>``) or, where text cannot say
it (time attributes, symbols, RAW and registered structured types), as a JSON object.
Source: Flink's ``LogicalTypeJsonSerializer`` and ``LogicalTypeParser``.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from functools import lru_cache
from typing import Any

from ..record import Json, Record, cached_property, replace

STRING_LENGTH = 2_147_483_647

_CACHE_SIZE = 256
"""How many types of each constructor are cached, so that equal types share one object and its cached properties."""


class TimeKind(Enum):
    """Whether a timestamp is plain data, an event-time attribute or a processing-time attribute."""

    REGULAR = "REGULAR"
    ROWTIME = "ROWTIME"
    PROCTIME = "PROCTIME"

    __hash__ = object.__hash__  # much faster than Enum's own, which is written in Python


class RowField(Record, gc=False):
    """A field of a row or structured type."""

    name: str
    type: LogicalType
    description: str | None = None


class LogicalType(Record, dict=True, cache_hash=True):
    """A logical type.

    ``root`` is the SQL name (``INT``, ``VARCHAR``, ``TIMESTAMP``, ``TIMESTAMP_LTZ``, ``ROW``, ``ARRAY`` …);
    ``length``/``precision``/``scale``, ``children`` (element, or key and value) and ``fields`` are set if
    the root has them.  ``raw`` keeps the JSON of types that only the JVM understands.
    """

    root: str
    nullable: bool = True
    length: int | None = None
    precision: int | None = None
    scale: int | None = None
    children: tuple[LogicalType, ...] = ()
    fields: tuple[RowField, ...] = ()
    kind: TimeKind = TimeKind.REGULAR
    raw: Json | None = None

    def __str__(self) -> str:
        return self.text

    @cached_property
    def text(self) -> str:
        """The type as Flink's SQL writes it (``LogicalType.asSerializableString``)."""
        return _text(self)

    @cached_property
    def is_said_by_text(self) -> bool:
        """Whether the text form expresses the whole type."""
        if self.is_time_attribute or self.root == "SYMBOL" or self.is_empty:
            return False
        if self.raw is not None and self.raw.keys() & {"type", "logicalType"}:
            return False
        return all([t.is_said_by_text for t in (*self.children, *self.field_types)])

    @property
    def is_empty(self) -> bool:
        """Whether it is a type of length 0, such as that of the literal ``''``; SQL cannot write such a type."""
        return self.root in WITH_LENGTH and self.length == 0

    def with_nullability(self, nullable: bool) -> LogicalType:
        """The same type, nullable or not."""
        return self if self.nullable == nullable else self._counterpart

    @cached_property
    def _counterpart(self) -> LogicalType:
        """The same type with the opposite nullability."""
        return replace(self, nullable=not self.nullable)

    def not_null(self) -> LogicalType:
        """The same type, NOT NULL."""
        return self.with_nullability(False)

    def nullable_(self) -> LogicalType:
        """The same type, nullable."""
        return self.with_nullability(True)

    def nullable_throughout(self) -> LogicalType:
        """The same type, nullable at the top and in all its elements and fields."""
        children = tuple(c.nullable_throughout() for c in self.children)
        fields = tuple(replace(f, type=f.type.nullable_throughout()) for f in self.fields)
        return replace(self, nullable=True, children=children, fields=fields)

    def same_as(self, other: LogicalType) -> bool:
        """Whether the types are equal except for the nullability at the top."""
        return self.with_nullability(True) == other.with_nullability(True)

    @property
    def is_rowtime(self) -> bool:
        return self.kind is TimeKind.ROWTIME

    @property
    def is_proctime(self) -> bool:
        return self.kind is TimeKind.PROCTIME

    @property
    def is_time_attribute(self) -> bool:
        return self.kind is not TimeKind.REGULAR

    def regular(self) -> LogicalType:
        """The same timestamp, no longer a time attribute."""
        return replace(self, kind=TimeKind.REGULAR) if self.is_time_attribute else self

    @cached_property
    def field_names(self) -> tuple[str, ...]:
        return tuple([f.name for f in self.fields])

    @cached_property
    def field_types(self) -> tuple[LogicalType, ...]:
        return tuple([f.type for f in self.fields])

    @cached_property
    def row_fields(self) -> tuple[RowField, ...]:
        """The fields of row types."""
        return tuple([f for f in self.fields if f.type.fields])

    @property
    def element(self) -> LogicalType:
        """The element type of an ARRAY or MULTISET."""
        return self.children[0]


def row(fields: Iterator[tuple[str, LogicalType]] | Any, nullable: bool = True) -> LogicalType:
    """A ROW type of (name, type) pairs."""
    return LogicalType("ROW", nullable, fields=tuple([RowField(n, t) for n, t in fields]))


def string(nullable: bool = True) -> LogicalType:
    return LogicalType("VARCHAR", nullable, length=STRING_LENGTH)


@lru_cache(_CACHE_SIZE)
def sized(root: str, length: int, nullable: bool = True) -> LogicalType:
    """A type with a length: CHAR, VARCHAR, BINARY or VARBINARY."""
    return LogicalType(root, nullable, length=length)


def varchar(length: int, nullable: bool = True) -> LogicalType:
    return sized("VARCHAR", length, nullable)


def char(length: int, nullable: bool = True) -> LogicalType:
    return sized("CHAR", length, nullable)


@lru_cache(_CACHE_SIZE)
def decimal(precision: int, scale: int, nullable: bool = True) -> LogicalType:
    return LogicalType("DECIMAL", nullable, precision=precision, scale=scale)


@lru_cache(_CACHE_SIZE)
def timestamp(precision: int = 6, nullable: bool = True, kind: TimeKind = TimeKind.REGULAR) -> LogicalType:
    return LogicalType("TIMESTAMP", nullable, precision=precision, kind=kind)


@lru_cache(_CACHE_SIZE)
def timestamp_ltz(precision: int = 6, nullable: bool = True, kind: TimeKind = TimeKind.REGULAR) -> LogicalType:
    return LogicalType("TIMESTAMP_LTZ", nullable, precision=precision, kind=kind)


def array(element: LogicalType, nullable: bool = True) -> LogicalType:
    return LogicalType("ARRAY", nullable, children=(element,))


def multiset(element: LogicalType, nullable: bool = True) -> LogicalType:
    return LogicalType("MULTISET", nullable, children=(element,))


def map_(key: LogicalType, value: LogicalType, nullable: bool = True) -> LogicalType:
    return LogicalType("MAP", nullable, children=(key, value))


BOOLEAN = LogicalType("BOOLEAN")
TINYINT = LogicalType("TINYINT")
SMALLINT = LogicalType("SMALLINT")
INT = LogicalType("INT")
BIGINT = LogicalType("BIGINT")
FLOAT = LogicalType("FLOAT")
DOUBLE = LogicalType("DOUBLE")
DATE = LogicalType("DATE")
STRING = string()
BYTES = LogicalType("VARBINARY", length=STRING_LENGTH)
SYMBOL = LogicalType("SYMBOL", nullable=False)
NULL = LogicalType("NULL")
DESCRIPTOR = LogicalType("DESCRIPTOR")
"""The type of a list of columns, ``DESCRIPTOR(a, b)``."""

INTEGER_BITS = {"TINYINT": 8, "SMALLINT": 16, "INT": 32, "BIGINT": 64}
INTEGERS = tuple(INTEGER_BITS)
APPROXIMATE = ("FLOAT", "DOUBLE")
NUMERIC = (*INTEGERS, "DECIMAL", *APPROXIMATE)
CHARACTER = ("CHAR", "VARCHAR")
BINARY_STRING = ("BINARY", "VARBINARY")
WITH_LENGTH = (*CHARACTER, *BINARY_STRING)
TIMESTAMPS = ("TIMESTAMP", "TIMESTAMP_LTZ")
DATETIME = ("DATE", "TIME", *TIMESTAMPS)


def _quote(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _text(t: LogicalType) -> str:
    root = t.root
    if root in WITH_LENGTH:
        body = f"{root}({t.length})"
    elif root == "DECIMAL":
        body = f"DECIMAL({t.precision}, {t.scale})"
    elif root in ("TIMESTAMP", "TIMESTAMP_LTZ"):
        body = f"TIMESTAMP({t.precision})"
        if root == "TIMESTAMP_LTZ":
            body += " WITH LOCAL TIME ZONE"
    elif root == "TIMESTAMP_TZ":
        body = f"TIMESTAMP({t.precision}) WITH TIME ZONE"
    elif root == "TIME":
        body = f"TIME({t.precision})"
    elif root.startswith("INTERVAL"):
        body = _interval_text(t)
    elif root in ("ARRAY", "MULTISET", "MAP"):
        body = f"{root}<{', '.join(map(str, t.children))}>"
    elif root == "ROW":
        body = f"ROW<{', '.join(map(_field_text, t.fields))}>"
    elif root == "STRUCTURED" and t.raw:
        body = f"STRUCTURED<{', '.join((_class_text(t.raw), *map(_field_text, t.fields)))}>"
    elif root == "RAW" and t.raw and "class" in t.raw and "snapshot" in t.raw:
        body = f"RAW('{t.raw['class']}', '{t.raw['snapshot']}')"
    else:
        body = root
    if t.is_time_attribute:
        body += f" *{t.kind.value}*"
    return body if t.nullable else body + " NOT NULL"


def _field_text(f: RowField) -> str:
    text = f"{_quote(f.name)} {f.type}"
    return text if f.description is None else text + " '" + f.description.replace("'", "''") + "'"


def _class_text(structured: Json) -> str:
    """The quoted name of the class of a structured type, which stands in a plan as text or as an object."""
    return f"'{structured.get('class') or structured.get('implementationClass')}'"


def _interval_text(t: LogicalType) -> str:
    """``INTERVAL_DAY_TO_SECOND`` with precision 2 and scale 6 is ``INTERVAL DAY(2) TO SECOND(6)``."""
    units = t.root.removeprefix("INTERVAL_").split("_TO_")
    parts = []
    for position, unit in enumerate(units):
        digits = t.precision if position == 0 and unit != "SECOND" else None
        if unit == "SECOND":
            digits = t.scale
        parts.append(unit if digits is None else f"{unit}({digits})")
    return "INTERVAL " + " TO ".join(parts)
