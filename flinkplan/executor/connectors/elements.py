"""The connector ``python-input-format``: rows of Python values, within the plan."""

from __future__ import annotations

from ...plan.elements import NAME
from .base import Connector, connector
from .tables import Table


@connector
class Elements(Connector):
    """Some rows, once."""

    name = NAME
    repeats = True

    def size(self, table: Table) -> int | None:
        return 0
