"""Types and schemas with PyFlink's names."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..plan.record import Record
from ..plan.types import LogicalType
from ..planner.ddl.expression_text import quoted
from .rows import Row, RowKind

__all__ = ["DataType", "DataTypes", "Field", "Resolution", "Row", "RowKind", "RowType", "logical_type"]


class DataType(Record):
    """A data type, as text in SQL."""

    text: str
    nullable: bool = True

    def not_null(self) -> DataType:
        """The type with NOT NULL."""
        return DataType(self.text, nullable=False)

    def null(self) -> DataType:
        """The nullable type."""
        return DataType(self.text)

    def __str__(self) -> str:
        return self.text if self.nullable else f"{self.text} NOT NULL"


def logical_type(data_type: DataType | str) -> LogicalType:
    """The type of a data type, or of its text.  Raises an error with its place for a text that is no type."""
    from ..planner.binder.datatypes import resolve_type
    from ..planner.sql import parse_data_type

    return resolve_type(parse_data_type(str(data_type)))


class Field(Record):
    """A field of a row."""

    name: str
    data_type: DataType


class RowType(DataType, kw_only=True):
    """The type of a row; its fields become the columns of a table."""

    fields: tuple[Field, ...] = ()


class Resolution(Record):
    """A unit of an interval, with its precision."""

    text: str

    def __str__(self) -> str:
        return self.text


def _simple(text: str) -> Callable[..., DataType]:
    def simple(nullable: bool = True) -> DataType:
        return DataType(text, nullable=nullable)

    return simple


def _sized(text: str, default: int) -> Callable[..., DataType]:
    def sized(size: int = default, nullable: bool = True) -> DataType:
        return DataType(f"{text}({size})", nullable=nullable)

    return sized


def _resolution(unit: str) -> Callable[..., Resolution]:
    def resolution(precision: int | None = None) -> Resolution:
        return Resolution(unit if precision is None else f"{unit}({precision})")

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
    TIME = staticmethod(_sized("TIME", 0))
    TIMESTAMP = staticmethod(_sized("TIMESTAMP", 6))
    TIMESTAMP_LTZ = staticmethod(_sized("TIMESTAMP_LTZ", 6))

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
        return DataType(f"INTERVAL {upper_resolution}{lower}")

    YEAR, MONTH, DAY, HOUR, MINUTE, SECOND = map(
        staticmethod, map(_resolution, ("YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND"))
    )

    @staticmethod
    def DECIMAL(precision: int, scale: int, nullable: bool = True) -> DataType:
        return DataType(f"DECIMAL({precision}, {scale})", nullable=nullable)

    @staticmethod
    def ARRAY(element_type: DataType, nullable: bool = True) -> DataType:
        return DataType(f"ARRAY<{element_type}>", nullable=nullable)

    @staticmethod
    def MULTISET(element_type: DataType, nullable: bool = True) -> DataType:
        return DataType(f"MULTISET<{element_type}>", nullable=nullable)

    @staticmethod
    def MAP(key_type: DataType, value_type: DataType, nullable: bool = True) -> DataType:
        return DataType(f"MAP<{key_type}, {value_type}>", nullable=nullable)

    @staticmethod
    def FIELD(name: str, data_type: DataType) -> Field:
        return Field(name, data_type)

    @staticmethod
    def ROW(row_fields: Sequence[Field] = (), nullable: bool = True) -> RowType:
        text = ", ".join(f"{quoted(field.name)} {field.data_type}" for field in row_fields)
        return RowType(f"ROW<{text}>", nullable=nullable, fields=tuple(row_fields))
