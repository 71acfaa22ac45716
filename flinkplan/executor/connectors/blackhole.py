"""The connector ``blackhole``: a sink that swallows rows."""

from __future__ import annotations

from .base import Connector, connector
from .tables import Table


@connector
class Blackhole(Connector):
    """Takes every row and keeps none."""

    name = "blackhole"

    def real_time_obstacle(self, table: Table, is_source: bool) -> str | None:
        return None
