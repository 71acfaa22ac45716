"""The connector ``python-arrow-source``: the rows of a data frame, within the plan."""

from __future__ import annotations

from ...plan.arrow_data import DATA, NAME, arrow_type, decoded
from ...plan.errors import FlinkplanError
from ..errors import TableError
from .base import Connector, connector
from .tables import Table


@connector
class ArrowSource(Connector):
    """The rows of a data frame, once."""

    name = NAME
    repeats = True

    def check(self, table: Table, is_source: bool) -> None:
        try:
            decoded(table.options.get(DATA, ""))
            for _, t in table.physical:
                arrow_type(t)
        except FlinkplanError as e:
            raise TableError(e.message, hint=e.hint) from None

    def size(self, table: Table) -> int | None:
        return len(table.options.get(DATA, ""))
