"""The connector ``print``: a sink that prints rows with their kinds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..context import TranslationContext
from ..formats.java_types import java_row
from ..options import OptionSet, boolean
from ..tables import Table
from .base import Connector, connector

_OPTIONS = OptionSet(
    "the connector 'print'",
    {"connector": str, "print-identifier": str, "standard-error": boolean, "sink.parallelism": int},
)


@connector
class Print(Connector):
    """Prints ``+I[1, a]``, behind the option ``print-identifier`` if there is one."""

    name = "print"

    def check(self, table: Table, is_source: bool) -> None:
        _OPTIONS.check(table.options, f"table {table.identifier}")

    def writer(self, table: Table, context: TranslationContext) -> Mapping[str, Any]:
        return {
            "connector": self.name,
            "type": java_row(table.physical),
            "identifier": table.option("print-identifier", ""),
            "toErrors": boolean(table.option("standard-error", "false")),
        }
