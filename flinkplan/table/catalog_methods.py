"""The methods of the table environment for catalogs, tables, views and functions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..plan.errors import UnsupportedError
from ..planner.catalog.catalog import Catalog, Table, View
from ..planner.catalog.errors import CatalogError
from ..planner.catalog.functions import Registered
from ..planner.sql.ast import Show
from .catalog_views import show
from .naming import name_of
from .udf import AggregateFunction, DeclaredFunction, udaf

if TYPE_CHECKING:
    from ..planner.session import Session
    from .descriptors import TableDescriptor
    from .result import TableResult


def _declared(function: Any) -> DeclaredFunction:
    if isinstance(function, AggregateFunction):
        function = udaf(function)
    if not isinstance(function, DeclaredFunction):
        raise TypeError(f"{function!r} is not declared: use @udf, @udtf or @udaf of pyflink.table.udf")
    return function


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

    list_full_modules = list_modules

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
        """Raises :class:`UnsupportedError`: Java functions are not supported."""
        raise UnsupportedError(f"the Java function '{function_class_name}' is not supported", hint="write it in Python")

    create_java_temporary_function = create_java_temporary_system_function

    def create_java_function(self, path: str, function_class_name: str, ignore_if_exists: bool | None = None) -> None:
        """Raises :class:`UnsupportedError`: Java functions are not supported."""
        self.create_java_temporary_system_function(path, function_class_name)

    def load_module(self, module_name: str, module: Any) -> None:
        """Raises :class:`UnsupportedError`: only the core module is there."""
        raise UnsupportedError(f"the module '{module_name}' is not supported", hint="there is only the core module")

    def unload_module(self, module_name: str) -> None:
        """Raises :class:`UnsupportedError`: only the core module is there."""
        self.load_module(module_name, None)

    def use_modules(self, *module_names: str) -> None:
        """Use modules: only the core module is there."""
        for name in module_names:
            if name != "core":
                self.load_module(name, None)

    def create_catalog(self, catalog_name: str, catalog_descriptor: Any) -> None:
        """Raises :class:`UnsupportedError`: catalogs are created with SQL."""
        raise UnsupportedError(
            f"create_catalog('{catalog_name}', …) is not supported",
            hint="execute_sql(\"CREATE CATALOG … WITH ('type' = 'generic_in_memory')\") creates one",
        )

    def register_catalog(self, catalog_name: str, catalog: Any) -> None:
        """Raises :class:`UnsupportedError`: catalogs are created with SQL."""
        self.create_catalog(catalog_name, catalog)

    def get_catalog(self, catalog_name: str) -> None:
        """Raises :class:`UnsupportedError`: the methods of catalogs are those of the environment."""
        raise UnsupportedError(
            f"get_catalog('{catalog_name}') is not supported", hint="list_tables() and the others list what is in it"
        )

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
