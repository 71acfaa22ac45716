"""The connector ``print``: a sink that prints rows with their kinds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ....plan.options import is_true
from ....plan.printable import printable
from ...connectors.tables import Table
from ...formats.java_types import java_row
from ..context import TranslationContext
from .base import TableBuilder, table_builder


@table_builder
class Print(TableBuilder):
    """Prints ``+I[1, a]``, behind the option ``print-identifier`` if there is one."""

    name = "print"

    def writer(self, table: Table, context: TranslationContext) -> Mapping[str, Any]:
        return {
            "connector": self.name,
            "type": java_row(table.physical),
            "identifier": printable(table.option("print-identifier", "")).replace("\n", "\\n"),
            "toErrors": is_true(table.options.get("standard-error")),
        }
