"""The connector ``datagen``: a source of made-up rows.

Source: the options of Flink's ``DataGenConnectorOptions``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import TableError
from .base import Connector, connector
from .tables import Table

if TYPE_CHECKING:
    pass


@connector
class DataGen(Connector):
    """Rows of random values or sequences; bounded where a number of rows or the end of a sequence is given."""

    name = "datagen"

    def check(self, table: Table, is_source: bool) -> None:
        for name, _ in table.physical:
            field = field_options(table, name)
            if field.get("kind") == "sequence" and not {"start", "end"} <= field.keys():
                raise TableError(f"the sequence of the column '{name}' needs 'start' and 'end'")

    def is_bounded(self, table: Table) -> bool:
        kinds = (field_options(table, name).get("kind") for name, _ in table.physical)
        return "number-of-rows" in table.options or "sequence" in kinds

    def real_time_obstacle(self, table: Table, is_source: bool) -> str | None:
        return None


def field_options(table: Table, name: str) -> dict[str, str]:
    """The options of a column."""
    prefix = f"fields.{name}."
    return {k.removeprefix(prefix): v for k, v in table.options.items() if k.startswith(prefix)}
