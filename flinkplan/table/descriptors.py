"""Table descriptors with PyFlink's names, which become CREATE TABLE statements."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ..plan.record import Record, replace
from ..planner.ddl.expression_text import quoted, quoted_string
from .data_types import DataType, RowType
from .expression import Expression
from .expression_sql import expression_sql
from .schemas import ResolvedSchema


class Schema(Record):
    """Columns, a watermark and a key, each as text in SQL."""

    parts: tuple[str, ...] = ()

    @staticmethod
    def new_builder() -> Builder:
        """A builder of a schema."""
        return Schema.Builder()

    class Builder:
        """Collects the parts of a schema in their order."""

        def __init__(self) -> None:
            self._parts: list[str] = []

        def column(self, column_name: str, data_type: DataType | str) -> Schema.Builder:
            """Add a stored column."""
            return self._add(f"{quoted(column_name)} {data_type}")

        def column_by_expression(self, column_name: str, expr: str | Expression) -> Schema.Builder:
            """Add a column that is computed by an expression, which may be text in SQL.

            Raises :class:`UnsupportedError` for an expression that cannot be written in SQL.
            """
            return self._add(f"{quoted(column_name)} AS {expression_sql(expr)}")

        def column_by_metadata(
            self,
            column_name: str,
            data_type: DataType | str,
            metadata_key: str | None = None,
            is_virtual: bool = False,
        ) -> Schema.Builder:
            """Add a metadata column of the connector."""
            key = f" FROM {quoted_string(metadata_key)}" if metadata_key is not None else ""
            virtual = " VIRTUAL" if is_virtual else ""
            return self._add(f"{quoted(column_name)} {data_type} METADATA{key}{virtual}")

        def watermark(self, column_name: str, watermark_expr: str | Expression) -> Schema.Builder:
            """Declare the column of event time and its watermark, as an expression, which may be text in SQL.

            Raises :class:`UnsupportedError` for an expression that cannot be written in SQL.
            """
            return self._add(f"WATERMARK FOR {quoted(column_name)} AS {expression_sql(watermark_expr)}")

        def primary_key(self, *column_names: str) -> Schema.Builder:
            """Declare the columns of the primary key."""
            return self._add(f"PRIMARY KEY ({', '.join(map(quoted, column_names))}) NOT ENFORCED")

        def primary_key_named(self, constraint_name: str, *column_names: str) -> Schema.Builder:
            """Declare the columns of the primary key, and the name of the constraint."""
            columns = ", ".join(map(quoted, column_names))
            return self._add(f"CONSTRAINT {quoted(constraint_name)} PRIMARY KEY ({columns}) NOT ENFORCED")

        def from_row_data_type(self, data_type: RowType) -> Schema.Builder:
            """Add a column for each field of a row type."""
            for field in data_type.fields:
                self.column(field.name, field.data_type)
            return self

        def from_fields(self, field_names: Sequence[str], field_data_types: Sequence[DataType | str]) -> Schema.Builder:
            """Add columns by their names and types.  Raises :class:`ValueError` if these are not as many."""
            for name, data_type in zip(field_names, field_data_types, strict=True):
                self.column(name, data_type)
            return self

        def from_schema(self, unresolved_schema: Schema) -> Schema.Builder:
            """Add all that another schema has."""
            self._parts += unresolved_schema.parts
            return self

        def from_resolved_schema(self, resolved_schema: ResolvedSchema) -> Schema.Builder:
            """Add the columns of a table."""
            for name, data_type in zip(resolved_schema.names, resolved_schema.types, strict=True):
                self.column(name, str(data_type.regular()))
            return self

        def build(self) -> Schema:
            """The schema."""
            return Schema(tuple(self._parts))

        def _add(self, part: str) -> Schema.Builder:
            self._parts.append(part)
            return self


Builder = Schema.Builder


class TableDescriptor(Record):
    """A table: its schema, options, partitions and comment."""

    options: Mapping[str, str]
    schema: Schema = Schema()
    partition_keys: tuple[str, ...] = ()
    comment: str | None = None

    @staticmethod
    def for_connector(connector: str) -> DescriptorBuilder:
        """A builder of a table of a connector."""
        return DescriptorBuilder(TableDescriptor({"connector": connector}))

    def get_schema(self) -> Schema:
        """The columns."""
        return self.schema

    def get_options(self) -> dict[str, str]:
        """The options of the connector and its format."""
        return dict(self.options)

    def get_partition_keys(self) -> list[str]:
        """The partition columns."""
        return list(self.partition_keys)

    def get_comment(self) -> str | None:
        """The comment."""
        return self.comment

    def statement(self, path: str, *, temporary: bool) -> str:
        """The CREATE TABLE statement; ``path`` is the table's name in SQL."""
        return "\n".join(self._lines(path, temporary))

    def _lines(self, path: str, temporary: bool) -> Iterator[str]:
        yield f"CREATE {'TEMPORARY ' if temporary else ''}TABLE {path} ({', '.join(self.schema.parts)})"
        if self.comment is not None:
            yield f"COMMENT {quoted_string(self.comment)}"
        if self.partition_keys:
            yield f"PARTITIONED BY ({', '.join(map(quoted, self.partition_keys))})"
        options = (f"{quoted_string(key)} = {quoted_string(value)}" for key, value in self.options.items())
        yield f"WITH ({', '.join(options)})"


class FormatDescriptor(Record):
    """A format with its options: ``FormatDescriptor.for_format("json").option("ignore-parse-errors", "true")``."""

    format: str
    options: Mapping[str, str] = {}

    @staticmethod
    def for_format(format: str) -> FormatDescriptor:
        """A format without options."""
        return FormatDescriptor(format)

    def get_format(self) -> str:
        """The name of the format."""
        return self.format

    def get_options(self) -> dict[str, str]:
        """The options, without the name of the format."""
        return dict(self.options)

    def option(self, key: str, value: str) -> FormatDescriptor:
        """Set an option; its key goes without the name of the format."""
        return replace(self, options={**self.options, key: str(value)})

    def build(self) -> FormatDescriptor:
        """The format."""
        return self


class DescriptorBuilder:
    """Builds a table descriptor: ``TableDescriptor.Builder`` of PyFlink."""

    def __init__(self, descriptor: TableDescriptor) -> None:
        self._descriptor = descriptor

    def schema(self, schema: Schema) -> DescriptorBuilder:
        """Set the columns."""
        self._descriptor = replace(self._descriptor, schema=schema)
        return self

    def option(self, key: str, value: str) -> DescriptorBuilder:
        """Set an option of the connector or of its format."""
        self._descriptor = replace(self._descriptor, options={**self._descriptor.options, key: str(value)})
        return self

    def format(self, format: str | FormatDescriptor) -> DescriptorBuilder:
        """Set the format, with its options."""
        if isinstance(format, str):
            return self.option("format", format)
        builder = self.option("format", format.format)
        for key, value in format.options.items():
            builder = builder.option(f"{format.format}.{key}", value)
        return builder

    def partitioned_by(self, *partition_keys: str) -> DescriptorBuilder:
        """Set the partition columns."""
        self._descriptor = replace(self._descriptor, partition_keys=partition_keys)
        return self

    def comment(self, comment: str) -> DescriptorBuilder:
        """Set the comment."""
        self._descriptor = replace(self._descriptor, comment=comment)
        return self

    def build(self) -> TableDescriptor:
        """The table."""
        return self._descriptor


TableDescriptor.Builder = DescriptorBuilder  # type: ignore[attr-defined]
FormatDescriptor.Builder = FormatDescriptor  # type: ignore[attr-defined]
