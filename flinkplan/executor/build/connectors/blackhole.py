"""The connector ``blackhole``: a sink that swallows rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...connectors.tables import Table
from ...formats.java_types import java_row
from ..context import TranslationContext
from .base import TableBuilder, table_builder


@table_builder
class Blackhole(TableBuilder):
    """Takes every row and keeps none."""

    name = "blackhole"

    def writer(self, table: Table, context: TranslationContext) -> Mapping[str, Any]:
        return {"connector": self.name, "type": java_row(table.physical)}
