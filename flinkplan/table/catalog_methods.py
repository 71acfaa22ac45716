"""The methods of the table environment for catalogs, tables, views and functions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..plan.errors import UnsupportedError
from ..planner.catalog.catalog import Catalog, Table, View
from ..planner.catalog.errors import CatalogError
from ..planner.catalog.functions import Registered
from ..planner.ddl.expression_text import quoted, quoted_string
from ..planner.sql.ast import Show
from .catalog_views import show
from .enumerations import ModuleEntry
from .naming import name_of
from .udf import AggregateFunction, DeclaredFunction, declared_function, udaf

if TYPE_CHECKING:
    from ..planner.session import Session
    from .catalogs import CatalogDescriptor
    from .descriptors import TableDescriptor
    from .result import TableResult


def _declared(function: Any) -> DeclaredFunction:
    if isinstance(function, AggregateFunction):
        function = udaf(function)
    declared = declared_function(function)
    if declared is None:
        raise TypeError(f"{function!r} is not declared: use @udf, @udtf, @udaf or @udptf of pyflink.table.udf")
    return declared


def _java(class_name: str) -> str:
    return f"AS {quoted_string(class_name)} LANGUAGE JAVA"


class CatalogMethods:
    """What a table environment knows by name."""

    _session: Session

    def execute_sql(self, stmt: str) -> TableResult:
        """Execute one statement."""
        raise NotImplementedError

    @property
    def catalog(self) -> Catalog:
        """The tables, views and functions."""
        return self._session.catalog

    # Catalogs and databases

    def get_current_catalog(self) -> str:
        """The name of the current catalog."""
        return self.catalog.current_catalog

    def use_catalog(self, catalog_name: str) -> None:
        """Make a catalog the current one.  Raises :class:`CatalogError` if it is missing."""
        self.catalog.use_catalog(catalog_name)

    def get_current_database(self) -> str:
        """The name of the current database."""
        return self.catalog.current_database

    def use_database(self, database_name: str) -> None:
        """Make a database the current one.  Raises :class:`CatalogError` if it is missing."""
        self.catalog.use_database((database_name,))

    def list_catalogs(self) -> list[str]:
        """The names of the catalogs."""
        return self._listed("CATALOGS")

    def list_databases(self) -> list[str]:
        """The names of the databases of the current catalog."""
        return self._listed("DATABASES")

    def list_modules(self) -> list[str]:
        """The names of the modules."""
        return self._listed("MODULES")

    def list_full_modules(self) -> list[ModuleEntry]:
        """The loaded modules, and whether they are used."""
        modules = self.catalog.modules
        unused = (name for name in modules.loaded if name not in modules.used)
        return [*(ModuleEntry(name, True) for name in modules.used), *(ModuleEntry(name, False) for name in unused)]

    def _listed(self, what: str) -> list[str]:
        return [row[0] or "" for row in show(self.catalog, Show(what))[1]]

    # Tables and views

    def list_tables(self) -> list[str]:
        """The names of the tables and views of the current database."""
        return self._listed("TABLES")

    def list_views(self) -> list[str]:
        """The names of the views of the current database."""
        return self._listed("VIEWS")

    def list_temporary_tables(self) -> list[str]:
        """The names of the temporary tables and views."""
        return sorted(i.name for i in self.catalog.temporary if i.catalog)

    def list_temporary_views(self) -> list[str]:
        """The names of the temporary views."""
        return sorted(i.name for i, item in self.catalog.temporary.items() if isinstance(item, View))

    def list_materialized_tables(self) -> list[str]:
        """None: materialized tables are not supported."""
        return []

    def list_models(self) -> list[str]:
        """None: models are not supported."""
        return []

    list_temporary_models = list_models

    # PyFlink's parameter names

    def create_table(self, path: str, descriptor: TableDescriptor, ignoreIfExists: bool = False) -> None:
        """Create a table, as CREATE TABLE does."""
        self._create(path, descriptor, ignoreIfExists, temporary=False)

    def create_temporary_table(
        self,
        path: str,
        descriptor: TableDescriptor,
        ignoreIfExists: bool = False,
    ) -> None:
        """Create a temporary table, as CREATE TEMPORARY TABLE does."""
        self._create(path, descriptor, ignoreIfExists, temporary=True)

    def _create(self, path: str, descriptor: TableDescriptor, if_not_exists: bool, *, temporary: bool) -> None:
        if if_not_exists and self.catalog.find(name_of(path).names) is not None:
            return
        self.execute_sql(descriptor.statement(path, temporary=temporary))

    def drop_temporary_table(self, table_path: str) -> bool:
        """Remove a temporary table; gives whether there was one."""
        return self._drop(table_path, Table, temporary=True, ignore=True)

    def drop_table(self, table_path: str, ignore_if_not_exists: bool = True) -> bool:
        """Remove a table; gives whether there was one."""
        return self._drop(table_path, Table, temporary=False, ignore=ignore_if_not_exists)

    def drop_temporary_view(self, view_path: str) -> bool:
        """Remove a temporary view; gives whether there was one."""
        return self._drop(view_path, View, temporary=True, ignore=True)

    def drop_view(self, view_path: str, ignore_if_not_exists: bool = True) -> bool:
        """Remove a view; gives whether there was one."""
        return self._drop(view_path, View, temporary=False, ignore=ignore_if_not_exists)

    def _drop(self, path: str, kind: type[Table] | type[View], *, temporary: bool, ignore: bool) -> bool:
        try:
            self.catalog.drop(name_of(path).names, kind, temporary=temporary)
        except CatalogError:
            if not ignore:
                raise
            return False
        return True

    # Functions

    def list_functions(self) -> list[str]:
        """The names of all functions."""
        return sorted({*self._listed("FUNCTIONS"), *self.catalog.functions.names()})

    def list_user_defined_functions(self) -> list[str]:
        """The names of the functions that are registered."""
        return sorted(set(self.catalog.functions.names()))

    def create_temporary_system_function(self, name: str, function: Any) -> None:
        """Register a function under a name that holds in all databases.

        Raises :class:`CatalogError` if there is one of the name.
        """
        declared = _declared(function)
        self.catalog.functions.add_system(name, Registered(declared.name, declared.declaration))

    def create_temporary_function(self, path: str, function: Any) -> None:
        """Register a function in a database.  Raises :class:`CatalogError` if there is one of the name."""
        declared = _declared(function)
        identifier = self.catalog.qualify(name_of(path).names)
        self.catalog.functions.add(identifier, Registered(declared.name, declared.declaration))

    def drop_temporary_system_function(self, name: str) -> bool:
        """Remove a temporary system function; gives whether there was one."""
        return self.catalog.functions.drop_system(name, if_exists=True)

    def drop_temporary_function(self, path: str) -> bool:
        """Remove a temporary function of a database; gives whether there was one."""
        return self._drop_function(path, permanent=False)

    def drop_function(self, path: str) -> bool:
        """Remove a function of a database; gives whether there was one."""
        return self._drop_function(path, permanent=True)

    def _drop_function(self, path: str, *, permanent: bool) -> bool:
        identifier = self.catalog.qualify(name_of(path).names)
        return self.catalog.functions.drop(identifier, permanent=permanent, if_exists=True)

    def create_java_temporary_system_function(self, name: str, function_class_name: str) -> None:
        """Register a function in Java under a name that holds in all databases.

        Its jar is one of the option ``pipeline.jars``, or added by ``ADD JAR``.
        """
        self.execute_sql(f"CREATE TEMPORARY SYSTEM FUNCTION {quoted(name)} {_java(function_class_name)}")

    def create_java_temporary_function(self, path: str, function_class_name: str) -> None:
        """Register a function in Java in a database, for the session."""
        self.execute_sql(f"CREATE TEMPORARY FUNCTION {path} {_java(function_class_name)}")

    def create_java_function(self, path: str, function_class_name: str, ignore_if_exists: bool | None = None) -> None:
        """Register a function in Java in a database for good."""
        exists = "IF NOT EXISTS " if ignore_if_exists else ""
        self.execute_sql(f"CREATE FUNCTION {exists}{path} {_java(function_class_name)}")

    # Modules

    def load_module(self, module_name: str, module: Any) -> None:
        """Load a module.  Raises :class:`CatalogError`: there is only the core module."""
        self.catalog.modules.load(module_name, {})

    def unload_module(self, module_name: str) -> None:
        """Unload a module.  Raises :class:`CatalogError` if it is not loaded."""
        self.catalog.modules.unload(module_name)

    def use_modules(self, *module_names: str) -> None:
        """Use some of the loaded modules, in this order."""
        self.catalog.modules.use(module_names)

    # Catalogs as objects

    def create_catalog(self, catalog_name: str, catalog_descriptor: CatalogDescriptor) -> None:
        """Create a catalog, as CREATE CATALOG does."""
        self.execute_sql(catalog_descriptor.statement(catalog_name))

    def register_catalog(self, catalog_name: str, catalog: CatalogDescriptor) -> None:
        """Create a catalog such as ``JdbcCatalog(…)``, as CREATE CATALOG does."""
        self.create_catalog(catalog_name, catalog)

    def get_catalog(self, catalog_name: str) -> Any:
        """A catalog as an object; ``None`` if there is none of the name."""
        from .catalogs import Catalog

        return Catalog(self, catalog_name) if catalog_name in self.catalog.catalogs else None

    def create_temporary_model(self, model_path: str, *arguments: Any) -> None:
        """Raises :class:`UnsupportedError`: models are not supported."""
        raise UnsupportedError(
            f"create_temporary_model('{model_path}', …) is not supported", hint="call the model in a Python function"
        )

    def create_model(self, model_path: str, *arguments: Any) -> None:
        """Raises :class:`UnsupportedError`: models are not supported."""
        raise UnsupportedError(
            f"create_model('{model_path}', …) is not supported", hint="call the model in a Python function"
        )

    def drop_temporary_model(self, model_path: str, *arguments: Any) -> None:
        """Raises :class:`UnsupportedError`: models are not supported."""
        raise UnsupportedError(
            f"drop_temporary_model('{model_path}', …) is not supported", hint="call the model in a Python function"
        )

    def drop_model(self, model_path: str, *arguments: Any) -> None:
        """Raises :class:`UnsupportedError`: models are not supported."""
        raise UnsupportedError(
            f"drop_model('{model_path}', …) is not supported", hint="call the model in a Python function"
        )
