"""Catalogs outside of flinkplan: what their tables have that no CREATE TABLE says.

flinkplan asks none of them, but reads the warehouses of Paimon (:mod:`.paimon`).  Other tables are known by scripts of
CREATE TABLE statements.

Sources: the factories of the catalogs in Flink, flink-connector-jdbc, Apache Iceberg, Paimon, Hudi and Fluss, and Delta
Lake.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ...plan.record import Record
from .identifier import Identifier
from .paimon import definitions, table_path

TYPE = "type"
IN_MEMORY = "generic_in_memory"

Options = Mapping[str, str]


class CatalogType(Record):
    """A type of catalogs.

    ``default_database`` is that of a catalog which names none; ``None``: each names one.  ``table_options`` gives the
    options that its tables have by the options of the catalog and the name of the table, ``definitions`` the CREATE
    TABLE statements of the tables that the catalog is known to have, by its name and options.
    """

    default_database: str | None
    table_options: Callable[[Options, Identifier], Options] = lambda catalog, table: {}
    definitions: Callable[[str, Options], str] = lambda name, catalog: ""


class CatalogDefinition(Record):
    """A catalog as CREATE CATALOG defines it."""

    type: CatalogType
    options: Options

    def table_options(self, table: Identifier) -> Options:
        """The options that a table of this catalog has."""
        return self.type.table_options(self.options, table)


def _connector(name: str) -> Callable[[Options, Identifier], Options]:
    return lambda catalog, table: {"connector": name}


def _jdbc(catalog: Options, table: Identifier) -> Options:
    """As ``AbstractJdbcCatalog.getTable`` makes them."""
    own = {"connector": "jdbc", "table-name": table.name}
    if "base-url" in catalog:
        own["url"] = f"{catalog['base-url'].rstrip('/')}/{table.database}"
    return {**own, **{key: catalog[key] for key in ("username", "password") if key in catalog}}


def _iceberg(catalog: Options, table: Identifier) -> Options:
    """With what finds the table in its catalog, as tables of the connector have it."""
    named = {key: catalog[key] for key in _OF_ICEBERG if key in catalog}
    place = {"catalog-name": table.catalog, "catalog-database": table.database, "catalog-table": table.name}
    return {"connector": "iceberg", **place, **named}


def _paimon(catalog: Options, table: Identifier) -> Options:
    """As ``FileSystemCatalog`` finds them."""
    path = table_path(catalog, table.database, table.name)
    return {"connector": "paimon"} if path is None else {"connector": "paimon", "path": path}


_OF_ICEBERG = ("catalog-type", "uri", "warehouse", "credential", "token", "jdbc.user", "jdbc.password")

EXTERNAL = {
    "delta-catalog": CatalogType("default", _connector("delta")),
    "fluss": CatalogType("fluss", _connector("fluss")),
    "hive": CatalogType("default", _connector("hive")),
    "hudi": CatalogType("default", _connector("hudi")),
    "iceberg": CatalogType("default", _iceberg),
    "jdbc": CatalogType(None, _jdbc),
    "paimon": CatalogType("default", _paimon, definitions),
    "paimon-generic": CatalogType("default", _paimon, definitions),
}
"""The types of external catalogs, by the option ``type``."""

UNKNOWN = CatalogType("default")
"""A type of which nothing is known: the tables of such a catalog say themselves what they are."""
