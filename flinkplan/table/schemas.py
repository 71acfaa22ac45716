"""Schemas of tables as they are shown."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from ..plan.record import Record
from ..plan.types import LogicalType
from ..plan.types.readable import readable
from .data_types import DataType


class ResolvedSchema(Record):
    """The names and types of a table's columns."""

    names: tuple[str, ...]
    types: tuple[LogicalType, ...]

    @staticmethod
    def of(names: Sequence[str], types: Sequence[LogicalType]) -> ResolvedSchema:
        """The schema of columns with these names and types."""
        return ResolvedSchema(tuple(names), tuple(types))

    def get_column_count(self) -> int:
        """The number of columns."""
        return len(self.names)

    def get_column_names(self) -> list[str]:
        """The names of the columns."""
        return list(self.names)

    def get_field_names(self) -> list[str]:
        """The names of the columns."""
        return list(self.names)

    def get_field_count(self) -> int:
        """The number of columns."""
        return len(self.names)

    def get_field_name(self, field_index: int) -> str | None:
        """The name of the column at a place; ``None`` if there is none."""
        return self.names[field_index] if 0 <= field_index < len(self.names) else None

    def get_field_data_types(self) -> list[DataType]:
        """The types of the columns."""
        return list(map(_data_type, self.types))

    def get_field_data_type(self, field: int | str) -> DataType | None:
        """The type of the column at a place, or of a name; ``None`` if there is none.

        Raises :class:`TypeError` for what is neither.
        """
        if not isinstance(field, (int, str)):
            raise TypeError(f"a column has a place or a name, not {field!r}")
        known: dict[int | str, LogicalType] = {**dict(enumerate(self.types))}
        known.update(zip(self.names, self.types, strict=True))
        return _data_type(known[field]) if field in known else None

    def get_column_data_types(self) -> list[str]:
        """The types of the columns, as text."""
        return [readable(str(t.regular())) for t in self.types]

    def __str__(self) -> str:
        columns = ",\n".join(f"  `{name}` {_shown(t)}" for name, t in zip(self.names, self.types, strict=True))
        return f"(\n{columns}\n)"

    def _repr_html_(self) -> str:
        pairs = zip(self.names, self.get_column_data_types(), strict=True)
        rows = "".join(f"<tr><td>{escape(name)}</td><td>{escape(t)}</td></tr>" for name, t in pairs)
        return f"<table><tr><th>column</th><th>type</th></tr>{rows}</table>"


def _data_type(t: LogicalType) -> DataType:
    return DataType(readable(str(t.regular().nullable_())), t.nullable)


def _shown(t: LogicalType) -> str:
    """A type as Flink prints it, with the kind of a time attribute."""
    nullable = readable(str(t.regular().nullable_()))
    kind = f" *{t.kind.value}*" if t.is_time_attribute else ""
    return f"{nullable}{'' if t.nullable else ' NOT NULL'}{kind}"
