"""Types and schemas with PyFlink's names."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from ..plan.record import Record, replace
from ..plan.types import LogicalType
from ..planner.ddl.expression_text import quoted
from .rows import Row, RowKind

__all__ = ["DataType", "DataTypes", "Field", "Resolution", "Row", "RowKind", "RowType", "logical_type"]


class DataType(Record):
    """A data type, as text in SQL."""

    text: str
    is_nullable: bool = True

    def not_null(self: T) -> T:
        """The type with NOT NULL."""
        return replace(self, is_nullable=False)

    def nullable(self: T) -> T:
        """The nullable type."""
        return replace(self, is_nullable=True)

    def __str__(self) -> str:
        return self.text if self.is_nullable else f"{self.text} NOT NULL"


T = TypeVar("T", bound=DataType)


def logical_type(data_type: DataType | str) -> LogicalType:
    """The type of a data type, or of its text.  Raises an error with its place for a text that is no type."""
    from ..planner.binder.datatypes import resolve_type
    from ..planner.sql import parse_data_type

    return resolve_type(parse_data_type(str(data_type)))


class Field(Record):
    """A field of a row."""

    name: str
    data_type: DataType
    description: str | None = None


class RowType(DataType, kw_only=True):
    """The type of a row; its fields become the columns of a table."""

    fields: tuple[Field, ...] = ()

    @property
    def names(self) -> list[str]:
        """The names of the fields."""
        return [field.name for field in self.fields]

    def field_names(self) -> list[str]:
        """The names of the fields."""
        return self.names

    def field_types(self) -> list[DataType]:
        """The types of the fields."""
        return [field.data_type for field in self.fields]

    def __len__(self) -> int:
        return len(self.fields)

    def __iter__(self) -> Iterator[Field]:
        return iter(self.fields)

    def __getitem__(self, key: str | int) -> Field:
        """A field, by its name or position.  Raises :class:`KeyError` or :class:`IndexError` if there is none."""
        if isinstance(key, int):
            return self.fields[key]
        for field in self.fields:
            if field.name == key:
                return field
        raise KeyError(f"there is no field '{key}', only {', '.join(self.names)}")


class Resolution(Record):
    """A unit of an interval, with its precision."""

    unit: str
    precision: int | None = None

    def __str__(self) -> str:
        return self.unit if self.precision is None else f"{self.unit}({self.precision})"


_LONGEST = 2_147_483_647
_DIGITS = 38
_FRACTION = 9
_INTERVALS = {
    "YEAR": ("MONTH",),
    "DAY": ("HOUR", "MINUTE", "SECOND"),
    "HOUR": ("MINUTE", "SECOND"),
    "MINUTE": ("SECOND",),
}
"""The units that an interval of a unit may go down to."""


def _inner(what: str, data_type: DataType) -> DataType:
    if not isinstance(data_type, DataType):
        raise TypeError(f"{what} takes a type such as DataTypes.INT(), not {data_type!r}")
    return data_type


def _simple(text: str) -> Callable[..., DataType]:
    def simple(nullable: bool = True) -> DataType:
        return DataType(text, nullable)

    return simple


def _sized(text: str, default: int, most: int = _LONGEST) -> Callable[..., DataType]:
    def sized(size: int = default, nullable: bool = True) -> DataType:
        if not isinstance(size, int) or not 0 <= size <= most:
            raise ValueError(f"{text} takes a number from 0 to {most}, not {size!r}")
        return DataType(f"{text}({size})", nullable)

    return sized


def _resolution(unit: str) -> Callable[..., Resolution]:
    def resolution(precision: int | None = None) -> Resolution:
        return Resolution(unit, precision)

    return resolution


class DataTypes:
    """The types of SQL: ``DataTypes.INT()``, ``DataTypes.ROW([DataTypes.FIELD("a", DataTypes.STRING())])``.

    Types are nullable, except with ``nullable=False`` or :meth:`DataType.not_null`.
    """

    BOOLEAN = staticmethod(_simple("BOOLEAN"))
    TINYINT = staticmethod(_simple("TINYINT"))
    SMALLINT = staticmethod(_simple("SMALLINT"))
    INT = staticmethod(_simple("INT"))
    BIGINT = staticmethod(_simple("BIGINT"))
    FLOAT = staticmethod(_simple("FLOAT"))
    DOUBLE = staticmethod(_simple("DOUBLE"))
    STRING = staticmethod(_simple("STRING"))
    BYTES = staticmethod(_simple("BYTES"))
    DATE = staticmethod(_simple("DATE"))
    CHAR = staticmethod(_sized("CHAR", 1))
    VARCHAR = staticmethod(_sized("VARCHAR", 1))
    BINARY = staticmethod(_sized("BINARY", 1))
    VARBINARY = staticmethod(_sized("VARBINARY", 1))
    TIME = staticmethod(_sized("TIME", 0, _FRACTION))
    TIMESTAMP = staticmethod(_sized("TIMESTAMP", 6, _FRACTION))
    TIMESTAMP_LTZ = staticmethod(_sized("TIMESTAMP_LTZ", 6, _FRACTION))

    TIMESTAMP_WITH_LOCAL_TIME_ZONE = TIMESTAMP_LTZ
    NULL = staticmethod(_simple("NULL"))

    @staticmethod
    def LIST_VIEW(element_type: DataType) -> DataType:
        return DataType(f"ARRAY<{element_type}>")

    @staticmethod
    def MAP_VIEW(key_type: DataType, value_type: DataType) -> DataType:
        return DataType(f"MAP<{key_type}, {value_type}>")

    @staticmethod
    def INTERVAL(upper_resolution: Resolution, lower_resolution: Resolution | None = None) -> DataType:
        lower = "" if lower_resolution is None else f" TO {lower_resolution}"
        if lower_resolution is not None and lower_resolution.unit not in _INTERVALS.get(upper_resolution.unit, ()):
            raise ValueError(f"an interval goes from a longer unit to a shorter one, not {upper_resolution}{lower}")
        return DataType(f"INTERVAL {upper_resolution}{lower}")

    YEAR, MONTH, DAY, HOUR, MINUTE, SECOND = map(
        staticmethod, map(_resolution, ("YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND"))
    )

    @staticmethod
    def DECIMAL(precision: int, scale: int, nullable: bool = True) -> DataType:
        if not 0 <= scale <= precision <= _DIGITS or precision == 0:
            raise ValueError(
                f"DECIMAL({precision}, {scale}): it has 1 to {_DIGITS} digits, of which the scale may be any"
            )
        return DataType(f"DECIMAL({precision}, {scale})", nullable)

    @staticmethod
    def ARRAY(element_type: DataType, nullable: bool = True) -> DataType:
        return DataType(f"ARRAY<{_inner('ARRAY', element_type)}>", nullable)

    @staticmethod
    def MULTISET(element_type: DataType, nullable: bool = True) -> DataType:
        return DataType(f"MULTISET<{_inner('MULTISET', element_type)}>", nullable)

    @staticmethod
    def MAP(key_type: DataType, value_type: DataType, nullable: bool = True) -> DataType:
        return DataType(f"MAP<{_inner('MAP', key_type)}, {_inner('MAP', value_type)}>", nullable)

    @staticmethod
    def FIELD(name: str, data_type: DataType, description: str | None = None) -> Field:
        return Field(name, _inner("FIELD", data_type), description)

    @staticmethod
    def ROW(row_fields: Sequence[Field] = (), nullable: bool = True) -> RowType:
        for field in row_fields:
            if not isinstance(field, Field):
                raise TypeError(f"ROW takes fields such as DataTypes.FIELD('a', DataTypes.INT()), not {field!r}")
        text = ", ".join(f"{quoted(field.name)} {field.data_type}" for field in row_fields)
        return RowType(text=f"ROW<{text}>", is_nullable=nullable, fields=tuple(row_fields))
