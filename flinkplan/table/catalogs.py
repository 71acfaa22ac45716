"""Catalogs as objects, with the names of ``pyflink.table.catalog``.

What a catalog does is a statement of SQL that its environment executes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NoReturn, Protocol

from ..plan.errors import UnsupportedError
from ..plan.record import Record
from ..planner.catalog.catalog import Properties, View
from ..planner.catalog.errors import CatalogError
from ..planner.catalog.identifier import Identifier
from ..planner.ddl.expression_text import quoted, quoted_string
from .descriptors import Schema, TableDescriptor
from .schemas import ResolvedSchema

if TYPE_CHECKING:
    from ..planner.catalog.catalog import Catalog as AllCatalogs
    from .result import TableResult

__all__ = [
    "Catalog",
    "CatalogBaseTable",
    "CatalogDatabase",
    "CatalogDescriptor",
    "HiveCatalog",
    "JdbcCatalog",
    "ObjectIdentifier",
    "ObjectPath",
    "ResolvedSchema",
]


def options_text(options: Mapping[str, str]) -> str:
    """Options as they stand behind ``WITH``."""
    return "(" + ", ".join(f"{quoted_string(k)} = {quoted_string(v)}" for k, v in options.items()) + ")"


def _comment_text(comment: str | None) -> str:
    return f" COMMENT {quoted_string(comment)}" if comment is not None else ""


class CatalogDescriptor:
    """A catalog that ``create_catalog`` creates: its name, its options, and a comment."""

    def __init__(self, name: str, options: Mapping[str, str], comment: str | None = None) -> None:
        self.name = name
        self.options = options
        self.comment = comment

    @staticmethod
    def of(catalog_name: str, configuration: Mapping[str, str], comment: str | None = None) -> CatalogDescriptor:
        """A catalog with these options, ``type`` among them."""
        return CatalogDescriptor(catalog_name, dict(configuration), comment)

    def statement(self, name: str) -> str:
        """The CREATE CATALOG statement."""
        return f"CREATE CATALOG {quoted(name)}{_comment_text(self.comment)} WITH {options_text(self.options)}"


class HiveCatalog(CatalogDescriptor):
    """A catalog of Hive, for ``register_catalog``."""

    def __init__(
        self,
        catalog_name: str,
        default_database: str | None = None,
        hive_conf_dir: str | None = None,
        hadoop_conf_dir: str | None = None,
        hive_version: str | None = None,
    ) -> None:
        given = {
            "default-database": default_database,
            "hive-conf-dir": hive_conf_dir,
            "hadoop-conf-dir": hadoop_conf_dir,
            "hive-version": hive_version,
        }
        options = {key: value for key, value in given.items() if value is not None}
        super().__init__(catalog_name, {"type": "hive", **options})


class JdbcCatalog(CatalogDescriptor):
    """A catalog of a database, for ``register_catalog``."""

    def __init__(self, catalog_name: str, default_database: str, username: str, pwd: str, base_url: str) -> None:
        options = {"username": username, "password": pwd, "base-url": base_url}
        super().__init__(catalog_name, {"type": "jdbc", "default-database": default_database, **options})


class ObjectPath(Record):
    """The name of a table, view or function within a catalog."""

    database_name: str
    object_name: str

    @staticmethod
    def from_string(full_name: str) -> ObjectPath:
        """The path ``database.name``.  Raises :class:`CatalogError` for another text."""
        database, dot, name = full_name.partition(".")
        if not dot or "." in name:
            raise CatalogError(f"'{full_name}' is no path", hint="write database.name")
        return ObjectPath(database, name)

    def get_database_name(self) -> str:
        """The database."""
        return self.database_name

    def get_object_name(self) -> str:
        """The name within the database."""
        return self.object_name

    def get_full_name(self) -> str:
        """Both, with a dot between them."""
        return f"{self.database_name}.{self.object_name}"

    def compare_to(self, other: ObjectPath) -> int:
        """Below, at or above 0, as the path is before the other one, equal to it, or behind it."""
        return (self.to_tuple() > other.to_tuple()) - (self.to_tuple() < other.to_tuple())

    def to_tuple(self) -> tuple[str, str]:
        """Both names."""
        return self.database_name, self.object_name

    def __str__(self) -> str:
        return self.get_full_name()


class ObjectIdentifier(Record):
    """The full name of a table, view or function."""

    catalog_name: str
    database_name: str
    object_name: str

    @staticmethod
    def of(catalog_name: str, database_name: str, object_name: str) -> ObjectIdentifier:
        """The identifier of these names."""
        return ObjectIdentifier(catalog_name, database_name, object_name)

    def get_catalog_name(self) -> str:
        """The catalog."""
        return self.catalog_name

    def get_database_name(self) -> str:
        """The database."""
        return self.database_name

    def get_object_name(self) -> str:
        """The name within the database."""
        return self.object_name

    def to_object_path(self) -> ObjectPath:
        """The name within the catalog."""
        return ObjectPath(self.database_name, self.object_name)

    def to_list(self) -> list[str]:
        """The three names."""
        return [self.catalog_name, self.database_name, self.object_name]

    def as_serializable_string(self) -> str:
        """The names in backquotes, as SQL has them."""
        return ".".join(map(quoted, self.to_list()))

    def as_summary_string(self) -> str:
        """The names with dots between them."""
        return ".".join(self.to_list())

    def __str__(self) -> str:
        return self.as_serializable_string()


class CatalogDatabase(Record):
    """The properties and the comment of a database."""

    properties: Mapping[str, str]
    comment: str | None = None

    @staticmethod
    def create_instance(properties: Mapping[str, str], comment: str | None = None) -> CatalogDatabase:
        """A database with these properties."""
        return CatalogDatabase(dict(properties), comment)

    def get_properties(self) -> dict[str, str]:
        """The properties."""
        return dict(self.properties)

    def get_comment(self) -> str | None:
        """The comment."""
        return self.comment

    get_description = get_detailed_description = get_comment

    def copy(self) -> CatalogDatabase:
        """The same database, which never changes."""
        return self


class CatalogBaseTable(Record):
    """The definition of a table or a view; of a view ``query`` is the text."""

    schema: Schema
    options: Mapping[str, str]
    partition_keys: tuple[str, ...] = ()
    comment: str | None = None
    query: str | None = None

    @staticmethod
    def create_table(
        schema: Schema,
        partition_keys: tuple[str, ...] | list[str] = (),
        properties: Mapping[str, str] | None = None,
        comment: str | None = None,
    ) -> CatalogBaseTable:
        """A table."""
        return CatalogBaseTable(schema, dict(properties or {}), tuple(partition_keys), comment)

    @staticmethod
    def create_view(
        original_query: str,
        expanded_query: str,
        schema: Schema,
        properties: Mapping[str, str],
        comment: str | None = None,
    ) -> CatalogBaseTable:
        """A view of a query."""
        return CatalogBaseTable(schema, dict(properties), (), comment, expanded_query)

    def get_options(self) -> dict[str, str]:
        """The options of the connector."""
        return dict(self.options)

    def get_unresolved_schema(self) -> Schema:
        """The columns, watermark and key."""
        return self.schema

    def get_comment(self) -> str | None:
        """The comment."""
        return self.comment

    get_description = get_detailed_description = get_comment

    def copy(self) -> CatalogBaseTable:
        """The same definition, which never changes."""
        return self

    def statement(self, path: str) -> str:
        """The CREATE statement; ``path`` is the name in SQL."""
        if self.query is not None:
            return f"CREATE VIEW {path}{_comment_text(self.comment)} AS {self.query}"
        return TableDescriptor(self.options, self.schema, self.partition_keys, self.comment).statement(
            path, temporary=False
        )


class Environment(Protocol):
    """What a catalog needs of its environment."""

    @property
    def catalog(self) -> AllCatalogs:
        """All catalogs."""

    def execute_sql(self, stmt: str) -> TableResult:
        """Execute one statement."""


class Catalog:
    """A catalog of an environment."""

    def __init__(self, environment: Environment, name: str) -> None:
        self._environment = environment
        self._name = name

    def __getattr__(self, name: str) -> Callable[..., NoReturn]:
        if name not in _NOT_SUPPORTED:
            raise AttributeError(f"a Catalog has no attribute '{name}'")

        def refuse(*arguments: Any) -> NoReturn:
            raise UnsupportedError(f"{name}() of a catalog is not supported", hint=_NOT_SUPPORTED[name])

        return refuse

    def _sql(self, statement: str) -> list[str]:
        return [row[0] for row in self._environment.execute_sql(statement).collect()]

    def _path(self, path: ObjectPath) -> str:
        return ".".join(map(quoted, (self._name, path.database_name, path.object_name)))

    def _database(self, name: str) -> str:
        return f"{quoted(self._name)}.{quoted(name)}"

    def get_default_database(self) -> str:
        """The database that is used when none is named."""
        return self._environment.catalog.default_database(self._name)

    # Databases

    def list_databases(self) -> list[str]:
        """The names of the databases."""
        return sorted(name for catalog, name in self._environment.catalog.databases if catalog == self._name)

    def database_exists(self, database_name: str) -> bool:
        """Whether there is a database."""
        return (self._name, database_name) in self._environment.catalog.databases

    def get_database(self, database_name: str) -> CatalogDatabase:
        """A database.  Raises :class:`CatalogError` if it is missing."""
        catalog = self._environment.catalog
        key = catalog.existing_database((self._name, database_name))
        properties = catalog.databases.get(key, Properties())
        return CatalogDatabase(properties.options, properties.comment)

    def create_database(self, name: str, database: CatalogDatabase, ignore_if_exists: bool) -> None:
        """Create a database."""
        options = f" WITH {options_text(database.properties)}" if database.properties else ""
        exists = "IF NOT EXISTS " if ignore_if_exists else ""
        self._sql(f"CREATE DATABASE {exists}{self._database(name)}{_comment_text(database.comment)}{options}")

    def alter_database(self, name: str, new_database: CatalogDatabase, ignore_if_not_exists: bool) -> None:
        """Set the properties of a database."""
        if not ignore_if_not_exists or self.database_exists(name):
            self._sql(f"ALTER DATABASE {self._database(name)} SET {options_text(new_database.properties)}")

    def drop_database(self, name: str, ignore_if_not_exists: bool) -> None:
        """Remove a database, which must be empty."""
        self._sql(f"DROP DATABASE {'IF EXISTS ' if ignore_if_not_exists else ''}{self._database(name)} RESTRICT")

    # Tables and views

    def list_tables(self, database_name: str) -> list[str]:
        """The names of the tables and views of a database."""
        return self._sql(f"SHOW TABLES FROM {self._database(database_name)}")

    def list_views(self, database_name: str) -> list[str]:
        """The names of the views of a database."""
        return self._sql(f"SHOW VIEWS FROM {self._database(database_name)}")

    def table_exists(self, table_path: ObjectPath) -> bool:
        """Whether there is a table or view, other than a temporary one."""
        return self._identifier(table_path) in self._environment.catalog.objects

    def _identifier(self, path: ObjectPath) -> Identifier:
        return Identifier(self._name, path.database_name, path.object_name)

    def get_table(self, table_path: ObjectPath) -> CatalogBaseTable:
        """The definition of a table or view.  Raises :class:`CatalogError` if it is missing."""
        from ..planner.ddl.text import schema_elements

        item = self._environment.catalog.objects.get(self._identifier(table_path))
        if item is None:
            raise CatalogError(f"there is no table or view '{table_path}' in the catalog '{self._name}'")
        if isinstance(item, View):
            columns = (f"{quoted(f.name)} {f.type}" for f in item.row_type.fields)
            return CatalogBaseTable(Schema(tuple(columns)), {}, (), item.comment, item.text)
        table, schema = item.resolved, Schema(tuple(schema_elements(item)))
        return CatalogBaseTable(schema, table.options or {}, tuple(table.partition_keys or ()), table.comment)

    def create_table(self, table_path: ObjectPath, table: CatalogBaseTable, ignore_if_exists: bool) -> None:
        """Create a table or view."""
        if not ignore_if_exists or not self.table_exists(table_path):
            self._sql(table.statement(self._path(table_path)))

    def drop_table(self, table_path: ObjectPath, ignore_if_not_exists: bool) -> None:
        """Remove a table or view."""
        item = self._environment.catalog.objects.get(self._identifier(table_path))
        kind = "VIEW" if isinstance(item, View) else "TABLE"
        self._sql(f"DROP {kind} {'IF EXISTS ' if ignore_if_not_exists else ''}{self._path(table_path)}")

    def rename_table(self, table_path: ObjectPath, new_table_name: str, ignore_if_not_exists: bool) -> None:
        """Rename a table or view."""
        if ignore_if_not_exists and not self.table_exists(table_path):
            return
        item = self._environment.catalog.objects.get(self._identifier(table_path))
        kind = "VIEW" if isinstance(item, View) else "TABLE"
        new = self._path(ObjectPath(table_path.database_name, new_table_name))
        self._sql(f"ALTER {kind} {self._path(table_path)} RENAME TO {new}")

    # Functions

    def list_functions(self, database_name: str) -> list[str]:
        """The names of the functions that are registered for good."""
        return sorted(
            i.name
            for i in self._environment.catalog.functions.permanent
            if (i.catalog, i.database) == (self._name, database_name)
        )

    def function_exists(self, function_path: ObjectPath) -> bool:
        """Whether a function is registered for good."""
        return function_path.object_name.lower() in self.list_functions(function_path.database_name)

    def drop_function(self, function_path: ObjectPath, ignore_if_not_exists: bool) -> None:
        """Remove a function."""
        self._sql(f"DROP FUNCTION {'IF EXISTS ' if ignore_if_not_exists else ''}{self._path(function_path)}")


_IN_SQL = "execute_sql(…) executes the statement of SQL for it"
_NO_STATISTICS = "ANALYZE TABLE and statistics are not supported"
_NO_MODELS = "call the model in a Python function"
_NOT_SUPPORTED: Mapping[str, str] = {
    **dict.fromkeys(("alter_table", "create_function", "alter_function", "get_function"), _IN_SQL),
    **dict.fromkeys(("list_materialized_tables", "list_procedures", "get_procedure"), "there are none"),
    **{f"{verb}_{noun}": _IN_SQL for verb in ("get", "create", "drop", "alter") for noun in ("partition",)},
    "list_partitions": "SHOW PARTITIONS lists them",
    "partition_exists": "SHOW PARTITIONS lists them",
    **{
        f"{prefix}_{noun}_statistics": _NO_STATISTICS
        for prefix in ("get", "bulk_get", "alter")
        for noun in ("table", "table_column", "partition", "partition_column")
    },
    **{f"{verb}_model": _NO_MODELS for verb in ("get", "drop", "rename", "create", "alter")},
    **dict.fromkeys(("list_models", "model_exists"), _NO_MODELS),
}
"""The methods of a catalog that are not there, with what to do instead."""
