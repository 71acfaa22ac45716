"""Tables and views by name."""

from __future__ import annotations

from dataclasses import dataclass

from ..plan.specs import ResolvedTable

DEFAULT_CATALOG = "default_catalog"
DEFAULT_DATABASE = "default_database"


@dataclass(frozen=True)
class Identifier:
    """A full object name."""

    catalog: str
    database: str
    name: str

    def __str__(self) -> str:
        return ".".join(f"`{part.replace('`', '``')}`" for part in (self.catalog, self.database, self.name))


@dataclass(frozen=True)
class Table:
    """A table of the catalog."""

    identifier: Identifier
    resolved: ResolvedTable
    temporary: bool = False
