"""The connector ``blackhole``: a sink that swallows rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..context import TranslationContext
from ..formats.java_types import java_row
from ..tables import Table
from .base import Connector, connector


@connector
class Blackhole(Connector):
    """Takes every row and keeps none."""

    name = "blackhole"

    def real_time_obstacle(self, table: Table, is_source: bool) -> str | None:
        return None

    def writer(self, table: Table, context: TranslationContext) -> Mapping[str, Any]:
        return {"connector": self.name, "type": java_row(table.physical)}
