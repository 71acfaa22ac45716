"""The connector ``print``: a sink that prints rows with their kinds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...plan.options import is_true
from ...plan.printable import printable
from ..context import TranslationContext
from ..formats.java_types import java_row
from ..tables import Table
from .base import Connector, connector


@connector
class Print(Connector):
    """Prints ``+I[1, a]``, behind the option ``print-identifier`` if there is one."""

    name = "print"

    def real_time_obstacle(self, table: Table, is_source: bool) -> str | None:
        return None

    def writer(self, table: Table, context: TranslationContext) -> Mapping[str, Any]:
        return {
            "connector": self.name,
            "type": java_row(table.physical),
            "identifier": printable(table.option("print-identifier", "")).replace("\n", "\\n"),
            "toErrors": is_true(table.options.get("standard-error")),
        }
