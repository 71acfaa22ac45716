"""The connector ``print``: a sink that prints rows with their kinds."""

from __future__ import annotations

from .base import Connector, connector
from .tables import Table


@connector
class Print(Connector):
    """Prints ``+I[1, a]``, behind the option ``print-identifier`` if there is one."""

    name = "print"

    def real_time_obstacle(self, table: Table, is_source: bool) -> str | None:
        return None
