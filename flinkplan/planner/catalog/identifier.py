"""Names of objects."""

from __future__ import annotations

from ...plan.record import Record


class Identifier(Record):
    """A full object name."""

    catalog: str
    database: str
    name: str

    def __str__(self) -> str:
        return ".".join(f"`{part.replace('`', '``')}`" for part in (self.catalog, self.database, self.name))

    @property
    def summary(self) -> str:
        """The name without quotes, as messages and descriptions have it."""
        return f"{self.catalog}.{self.database}.{self.name}"
