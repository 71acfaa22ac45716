"""The connector ``blackhole``: a sink that swallows rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..context import TranslationContext
from ..formats.java_types import java_row
from ..options import OptionSet
from ..tables import Table
from .base import Connector, connector

_OPTIONS = OptionSet("the connector 'blackhole'", {"connector": str})


@connector
class Blackhole(Connector):
    """Takes every row and keeps none."""

    name = "blackhole"

    def check(self, table: Table, is_source: bool) -> None:
        _OPTIONS.check(table.options, f"table {table.identifier}")

    def writer(self, table: Table, context: TranslationContext) -> Mapping[str, Any]:
        return {"connector": self.name, "type": java_row(table.physical)}
