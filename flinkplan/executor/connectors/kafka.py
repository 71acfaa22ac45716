"""The connectors ``kafka`` and ``upsert-kafka``: topics of Kafka.

Sources: Flink's ``KafkaDynamicSource``, ``KafkaDynamicSink`` and their serialization schemas.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...plan.connectors import FORMAT, KEY_FORMAT, VALUE_FORMAT, Format
from ...plan.connectors import kafka as declared
from ...plan.connectors.formats import REGISTRY_URL
from ...plan.types import LogicalType
from ..errors import TableError
from ..formats import find_format, format_options
from ..formats.fields import check_fields, check_map_keys
from ..formats.java_types import java_row
from ..formats.protobuf import message_spec
from ..formats.registry import RegistryFormat
from .base import Connector, connector
from .tables import Table

Fields = list[tuple[str, LogicalType]]


class MessagePart:
    """The key or the value of a table's messages: its format and its columns.

    ``names`` are those of the columns in the table, ``fields`` what messages call them.
    """

    def __init__(self, table: Table, named_by: str, names: Sequence[str], prefix: str = "") -> None:
        self.where = f"table {table.identifier}"
        self.format: Format = find_format(table.options, self.where, named_by)
        self.names = list(names)
        types = dict(table.physical)
        self.fields: Fields = [(name.removeprefix(prefix), types[name]) for name in names]
        self._options = format_options(self.format, table.options, named_by)
        self._registry = self._registered(table, named_by)
        self._descriptors = table.descriptors

    def _registered(self, table: Table, named_by: str) -> RegistryFormat | None:
        if REGISTRY_URL not in (need[0] for need in self.format.needs):
            return None
        subject = f"{table.options.get('topic', '')}-{'key' if named_by == KEY_FORMAT else 'value'}"
        return RegistryFormat(self.fields, self._options, self.format.is_changelog, subject, self.where)

    def check(self) -> None:
        """Raise :class:`TableError` for columns that the format has no messages for."""
        if self.format.columnar:
            raise TableError(f"messages are not written in the format '{self.format.name}'", where=self.where)
        check_fields(self.format, self.fields, self._options, self.where)
        check_map_keys(self.format, self.fields, self.where)
        self._java_options()
        if self._registry is not None:
            self._registry.check()

    def _java_options(self) -> dict[str, str]:
        """The options of the format as Java's ``MessageFormat`` reads them."""
        if self._registry is not None:
            return self._registry.spec()
        if self.format.name == "protobuf" and self._descriptors:
            message = message_spec(self.fields, self._options, self._descriptors, self.where)
            return {**self._options, "message": message}
        return self._options

    def written_spec(self) -> dict[str, Any]:
        """The part as Java's ``MessageFormat`` reads it, to write messages; a schema is registered."""
        spec = self.spec()
        if self._registry is not None:
            spec["options"] = {**spec["options"], "id": str(self._registry.register())}
        return spec

    def spec(self, wanted: Sequence[str] | None = None) -> dict[str, Any]:
        """The part as Java's ``MessageFormat`` reads it; ``wanted``: the columns that rows have, in order."""
        spec: dict[str, Any] = {
            "format": self.format.name,
            "options": self._java_options(),
            "type": java_row(self.fields),
        }
        if wanted is None:
            return spec
        wanted_names = [name for name in self.names if name in wanted]
        return {
            **spec,
            "projection": [self.names.index(name) for name in wanted_names],
            "at": [list(wanted).index(name) for name in wanted_names],
        }


def message_parts(table: Table) -> tuple[MessagePart | None, MessagePart]:
    """The key, if messages have one, and the value."""
    options = table.options
    keys = declared.key_fields(options, table.resolved.schema) if KEY_FORMAT in options else ()
    key = MessagePart(table, KEY_FORMAT, keys, options.get("key.fields-prefix", "")) if keys else None
    apart = keys if options.get("value.fields-include", "ALL") == "EXCEPT_KEY" else ()
    values = [name for name, _ in table.physical if name not in apart]
    return key, MessagePart(table, VALUE_FORMAT if VALUE_FORMAT in options else FORMAT, values)


@connector
class Kafka(Connector):
    """Messages with keys and values in any of the line formats."""

    name = "kafka"
    upserts = False

    def check(self, table: Table, is_source: bool) -> None:
        where = f"table {table.identifier}"
        for part in filter(None, message_parts(table)):
            part.check()
        for option in (
            "record.key.include.kafka.connect.json.schema",
            "record.value.include.kafka.connect.json.schema",
        ):
            if table.options.get(option) == "true":
                raise TableError(f"'{option}' is not executed here", where=where)
        if not is_source:
            _check_sink(table, where)

    def is_bounded(self, table: Table) -> bool:
        return declared.is_bounded(table.options)

    def can_wait(self, table: Table) -> bool:
        return True

    def real_time_obstacle(self, table: Table, is_source: bool) -> str | None:
        return "a bounded topic is read in batches" if is_source and self.is_bounded(table) else None

    def may_last(self, table: Table) -> bool:
        """Offsets that are given may be of messages that are still to come."""
        return table.options.get("scan.bounded.mode") == "specific-offsets"


@connector
class UpsertKafka(Kafka):
    """The same where a key's last message is its row, and one without a value deletes it."""

    name = "upsert-kafka"
    upserts = True


def _check_sink(table: Table, where: str) -> None:
    options = table.options
    if options.get("sink.delivery-guarantee") == "exactly-once":
        raise TableError(
            "'sink.delivery-guarantee' = 'exactly-once' is not executed here",
            where=where,
            hint="at-least-once loses nothing; read by key, as 'upsert-kafka' does, nothing is doubled either",
        )
    if len(declared.parse_names(options.get("topic", ""))) != 1:
        raise TableError("messages are written to a single topic here", where=where, hint="name one: 'topic' = '…'")
    if (name := options.get("sink.partitioner", "default")) not in ("default", "fixed", "round-robin"):
        hint = "it is default, fixed or round-robin; classes are Flink's alone"
        raise TableError(f"the partitioner '{name}' is not executed here", where=where, hint=hint)
