"""Tables and views by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, ClassVar, TypeVar

from ...plan.errors import VALIDATION
from ...plan.findings import did_you_mean, nearest
from ...plan.functions.user import UserFunction
from ...plan.record import PartlyCompared, Record, Struct, field, replace
from ...plan.specs import ResolvedTable
from ...plan.types import NULL, LogicalType
from ..sql.ast import Query
from ..sql.source import Span
from .errors import CATALOG, NO_DATABASE, TABLE_EXISTS, CatalogError, FaultyDefinition
from .external import CatalogDefinition
from .functions import Declaration, Functions, Registered
from .identifier import Identifier
from .modules import Modules
from .partitions import Partitions

__all__ = [
    "DEFAULT_CATALOG",
    "DEFAULT_DATABASE",
    "Catalog",
    "CatalogError",
    "FaultyDefinition",
    "Identifier",
    "Table",
    "View",
]

T = TypeVar("T", "Table", "View")

DEFAULT_CATALOG = "default_catalog"
DEFAULT_DATABASE = "default_database"


class Table(PartlyCompared):
    """A table of the catalog; ``option_spans`` says where its options are written."""

    identifier: Identifier
    resolved: ResolvedTable
    temporary: bool = False
    option_spans: Mapping[str, Span] = field(default_factory=dict)

    apart: ClassVar[frozenset[str]] = frozenset({"option_spans"})


class View(PartlyCompared):
    """A view: the query it stands for, the names of its columns if it renames them, and the types they have."""

    identifier: Identifier
    query: Query
    columns: tuple[str, ...] = ()
    temporary: bool = False
    text: str = ""
    comment: str | None = None
    row_type: LogicalType = NULL
    home: tuple[str, str] = (DEFAULT_CATALOG, DEFAULT_DATABASE)
    """The catalog and database in which its query looks up short names."""

    apart: ClassVar[frozenset[str]] = frozenset({"row_type"})


class Properties(Record):
    """The options and the comment of a catalog or a database."""

    options: Mapping[str, str] = {}
    comment: str | None = None

    def with_options(self, options: Mapping[str, str]) -> Properties:
        """The properties with other options beside those that are there."""
        return replace(self, options={**self.options, **options})

    def without_options(self, keys: Iterable[str]) -> Properties:
        """The properties without some options, which need not be there."""
        without = set(keys)
        return replace(self, options={key: value for key, value in self.options.items() if key not in without})


DEFAULT_DATABASE_OPTION = "default-database"
_BUILT_IN = Properties({"type": "generic_in_memory", DEFAULT_DATABASE_OPTION: DEFAULT_DATABASE})


def _nothing_to_load(function: Registered) -> Declaration:
    if function.is_java:
        raise CatalogError(
            f"the class '{function.path}' is not loaded: no jars are named",
            hint="name its jar: --jar PATH, or jars in pyproject.toml",
        )
    raise CatalogError(
        f"the code of '{function.path}' is not loaded: no Python files are named",
        hint="name the file or folder of its module: --py-files PATH, or py-files in pyproject.toml",
    )


class Catalog(Struct):
    """All catalogs with their databases, tables and views; names are case-sensitive.

    A temporary object hides the permanent one of the same name.
    """

    current_catalog: str = DEFAULT_CATALOG
    current_database: str = DEFAULT_DATABASE
    catalogs: dict[str, Properties] = field(default_factory=lambda: {DEFAULT_CATALOG: _BUILT_IN})
    """The catalogs."""
    external: dict[str, CatalogDefinition] = field(default_factory=dict)
    """Those of the catalogs that are not in memory: their tables are known by scripts."""
    declared: set[str] = field(default_factory=set)
    """The catalogs that scripts of catalog tables create, which a pipeline may create again."""
    stored: set[Identifier] = field(default_factory=set)
    """The tables that external catalogs are known to have, which a pipeline may define again."""
    databases: dict[tuple[str, str], Properties] = field(
        default_factory=lambda: {(DEFAULT_CATALOG, DEFAULT_DATABASE): Properties()}
    )
    """The databases, by the names of their catalogs and their own."""
    objects: dict[Identifier, Table | View] = field(default_factory=dict)
    temporary: dict[Identifier, Table | View] = field(default_factory=dict)
    faulty: set[Identifier] = field(default_factory=set)
    """Names whose definitions are wrong, while the rest of a script is checked."""
    functions: Functions = field(default_factory=lambda: Functions(_nothing_to_load))
    """The functions of users."""
    modules: Modules = field(default_factory=Modules)
    """Where built-in functions come from."""
    partitions: Partitions = field(default_factory=Partitions)
    """The partitions of tables."""
    faulty_functions: set[str] = field(default_factory=set)
    """Functions whose definitions are wrong, in upper case."""
    expansions: dict[object, Any] = field(default_factory=dict)
    """The binder's cache of bound tables and views; emptied when an object changes."""

    # Tables and views

    def qualify(self, names: tuple[str, ...]) -> Identifier:
        """The full name of ``table``, ``database.table`` or ``catalog.database.table``."""
        if len(names) == 1:
            return Identifier(self.current_catalog, self.current_database, names[0])
        if len(names) == 2:
            return Identifier(self.current_catalog, names[0], names[1])
        if len(names) == 3:
            return Identifier(*names)
        raise CatalogError(f"'{'.'.join(names)}' has too many parts; a table is catalog.database.name at most")

    def find(self, names: tuple[str, ...]) -> Table | View | None:
        """The table or view of a name, looked up in the current database where the name is short.

        Raises :class:`FaultyDefinition` where what defines the name is wrong.
        """
        if len(names) > 3:
            return None
        identifier = self.qualify(names)
        if identifier in self.faulty:
            raise FaultyDefinition(f"the definition of '{identifier.summary}' is wrong")
        return self.temporary.get(identifier) or self.objects.get(identifier)

    def find_function(self, names: tuple[str, ...]) -> UserFunction | None:
        """The user's function of a name: one of the system by a short name, else one of a catalog."""
        if len(names) > 3:
            return None
        function = self.functions.find_system(names[0]) if len(names) == 1 else None
        return function or self.functions.find(self.qualify(names))

    def doubt(self, names: tuple[str, ...]) -> None:
        """Mark the definition of a name as wrong, so that statements that refer to it are not checked."""
        if len(names) <= 3:
            self.faulty.add(self.qualify(names))
            self.expansions.clear()

    def get(self, names: tuple[str, ...], kind: type[T]) -> T:
        """The table, or the view, of a name.  Raises :class:`CatalogError` if there is none of that kind."""
        entry = self.find(names)
        if not isinstance(entry, kind):
            raise self._missing(names, kind, entry)
        return entry

    def _missing(
        self,
        names: tuple[str, ...],
        kind: type[Table] | type[View],
        existing: Table | View | None,
        in_flink: str | None = None,
    ) -> CatalogError:
        wanted, other = ("table", "view") if kind is Table else ("view", "table")
        name = ".".join(names)
        if existing is not None:
            return CatalogError(f"'{name}' is a {other}, not a {wanted}", in_flink=in_flink)
        message, hint = self.absence(wanted, names)
        return CatalogError(message, hint=hint, in_flink=in_flink)

    def absence(self, wanted: str, names: tuple[str, ...], others: Iterable[str] = ()) -> tuple[str, str | None]:
        """What to say where there is nothing of a name, and a hint; ``others`` are further names."""
        absent = f"there is no {wanted} '{'.'.join(names)}'"
        identifier = self.qualify(names) if len(names) <= 3 else None
        if identifier is None or identifier.catalog not in self.external:
            return absent, did_you_mean(names[-1], [*self.names(), *others])
        home = identifier.catalog, identifier.database
        beside = [i.name for i in self.objects if (i.catalog, i.database) == home]
        script = (
            "define it in a script of CREATE TABLE statements: catalog-tables in pyproject.toml, or --catalog-tables"
        )
        unasked = f"{absent}: flinkplan does not ask the catalog '{identifier.catalog}'"
        return unasked, nearest(identifier.name, [*beside, *others]) or script

    def add(self, item: Table | View, *, replace: bool = False, if_not_exists: bool = False) -> None:
        """Add a table or view.  Raises :class:`CatalogError` if the name is taken or the database is missing."""
        identifier = item.identifier
        if (identifier.catalog, identifier.database) not in self.databases and identifier.catalog not in self.external:
            has_catalog = identifier.catalog in self.catalogs
            in_flink = f"Database {identifier.database} does not exist in Catalog {identifier.catalog}."
            raise CatalogError(
                f"the database '{identifier.catalog}.{identifier.database}' does not exist",
                hint=f"create it first: CREATE DATABASE {identifier.database}",
                in_flink=in_flink if has_catalog else f"Catalog {identifier.catalog} does not exist.",
                of_class=NO_DATABASE if has_catalog else VALIDATION,
            )
        place = self.temporary if item.temporary else self.objects
        if not item.temporary and identifier in self.stored and not if_not_exists:
            self.stored.discard(identifier)
            replace = True
        if identifier in place and not replace:
            if if_not_exists:
                return
            in_flink, of_class = (
                (f"Temporary table '{identifier}' already exists", VALIDATION)
                if item.temporary
                else (
                    f"Table (or view) {identifier.database}.{identifier.name} already exists in Catalog "
                    f"{identifier.catalog}.",
                    TABLE_EXISTS,
                )
            )
            raise CatalogError(
                f"'{identifier.summary}' exists already",
                hint="DROP it first, or write CREATE … IF NOT EXISTS",
                in_flink=in_flink,
                of_class=of_class,
            )
        if identifier in self.objects or identifier in self.temporary:
            self.expansions.clear()
        place[identifier] = item

    def drop(
        self,
        names: tuple[str, ...],
        kind: type[Table] | type[View],
        *,
        temporary: bool = False,
        if_exists: bool = False,
    ) -> None:
        """Remove a table or view.

        Raises :class:`CatalogError` if there is none of that kind, or if a temporary one hides it.
        """
        identifier = self.qualify(names)
        place = self.temporary if temporary else self.objects
        hiding = self.temporary.get(identifier)
        if not temporary and isinstance(hiding, kind):
            keyword = "TABLE" if kind is Table else "VIEW"
            raise CatalogError(
                f"a temporary {keyword.lower()} '{'.'.join(names)}' hides it",
                hint=f"first DROP TEMPORARY {keyword} {'.'.join(names)}",
                in_flink=f"Temporary {keyword.lower()} with identifier '{identifier}' exists. Drop it first before "
                f"removing the permanent {keyword.lower()}.",
            )
        if isinstance(place.get(identifier), kind):
            del place[identifier]
            self.expansions.clear()
        elif not if_exists:
            keyword = "Temporary table or view" if temporary else "Table" if kind is Table else "View"
            missing = f"{keyword} with identifier '{identifier.summary}' does not exist."
            raise self._missing(names, kind, place.get(identifier), in_flink=missing)

    def names(self) -> Iterator[str]:
        """The short names of all objects."""
        return (identifier.name for identifier in {**self.objects, **self.temporary})

    def tables(self) -> Iterator[Table]:
        """The tables of all databases that no temporary object hides."""
        return (item for item in {**self.objects, **self.temporary}.values() if isinstance(item, Table))

    def objects_of(self, catalog: str, database: str) -> list[Table | View]:
        """The visible tables and views of a database, by name."""
        visible = {**self.objects, **self.temporary}
        here = (i for i in visible if (i.catalog, i.database) == (catalog, database))
        return [visible[i] for i in sorted(here, key=lambda i: i.name)]

    # Catalogs and databases

    def qualify_database(self, names: tuple[str, ...]) -> tuple[str, str]:
        """The full name of ``database`` or ``catalog.database``."""
        if len(names) > 2:
            raise CatalogError(
                f"'{'.'.join(names)}' has too many parts; a database is catalog.name at most",
                in_flink="use database identifier format error",
            )
        return (names[0] if len(names) > 1 else self.current_catalog, names[-1])

    def existing_database(self, names: tuple[str, ...]) -> tuple[str, str]:
        """The full name of a database that is there.  Raises :class:`CatalogError`."""
        key = self.qualify_database(names)
        if key not in self.databases and key[0] in self.external:
            return key  # which databases an external catalog has is not known
        if key not in self.databases:
            raise self._no_database(
                key,
                in_flink=f"A database with name [{key[1]}] does not exist in the catalog: [{key[0]}].",
                of_class=CATALOG,
            )
        return key

    def _no_database(
        self, key: tuple[str, str], *, in_flink: str | None = None, of_class: str = NO_DATABASE
    ) -> CatalogError:
        in_flink = in_flink or f"Database {key[1]} does not exist in Catalog {key[0]}."
        known = [database for catalog, database in self.databases if catalog == key[0]]
        name = key[1] if key[0] == self.current_catalog else ".".join(key)
        hint = did_you_mean(key[1], known)
        return CatalogError(f"there is no database '{name}'", hint=hint, in_flink=in_flink, of_class=of_class)

    def create_database(
        self, names: tuple[str, ...], properties: Properties | None = None, *, if_not_exists: bool = False
    ) -> None:
        """Add a database.  Raises :class:`CatalogError` if it is there or its catalog is missing."""
        key = self.qualify_database(names)
        self.check_catalog(key[0])
        if key not in self.databases:
            self.databases[key] = properties or Properties()
        elif not if_not_exists:
            raise CatalogError(
                f"the database '{'.'.join(key)}' exists already",
                hint="or write IF NOT EXISTS",
                in_flink=f"Database {key[1]} already exists in Catalog {key[0]}.",
                of_class="org.apache.flink.table.catalog.exceptions.DatabaseAlreadyExistException",
            )

    def alter_database(self, names: tuple[str, ...], options: Mapping[str, str]) -> None:
        """Set options of a database.  Raises :class:`CatalogError` if it is missing."""
        key = self.qualify_database(names)
        self.check_catalog(key[0])
        if key not in self.databases:
            raise self._no_database(key)
        self.databases[key] = self.databases[key].with_options(options)

    def drop_database(self, names: tuple[str, ...], *, if_exists: bool = False, cascade: bool = False) -> None:
        """Remove a database.  Raises :class:`CatalogError` if it is in use, not empty or missing."""
        key = self.qualify_database(names)
        self.check_catalog(key[0])
        if key not in self.databases and (if_exists or key[0] not in self.external):
            if if_exists:
                return
            raise self._no_database(key)
        if key == (self.current_catalog, self.current_database):
            raise CatalogError(
                f"the database '{'.'.join(key)}' is in use",
                hint="USE another one first",
                in_flink="Cannot drop a database which is currently in use.",
            )
        inside = self.objects_of(*key)
        if inside and not cascade:
            raise CatalogError(
                f"the database '{'.'.join(key)}' is not empty: it holds '{inside[0].identifier.name}'",
                hint="DROP DATABASE … CASCADE drops what is in it as well",
                in_flink=f"Database {key[1]} in catalog {key[0]} is not empty.",
                of_class="org.apache.flink.table.catalog.exceptions.DatabaseNotEmptyException",
            )
        for item in inside:
            self.objects.pop(item.identifier, None)
            self.temporary.pop(item.identifier, None)
        self.databases.pop(key, None)
        self.expansions.clear()

    def use_database(self, names: tuple[str, ...]) -> None:
        """Make a database the current one.  Raises :class:`CatalogError` if it is missing."""
        if len(names) == 2:  # as in Flink, the catalog is the current one also where it has no such database
            self.use_catalog(names[0])
        self.current_catalog, self.current_database = self.existing_database(names)

    def create_catalog(
        self,
        name: str,
        properties: Properties,
        *,
        external: CatalogDefinition | None = None,
        if_not_exists: bool = False,
    ) -> None:
        """Add a catalog, which is in memory unless it is ``external``.  Raises :class:`CatalogError` if it is there."""
        if name in self.catalogs:
            if if_not_exists or name in self.declared:
                self.declared.discard(name)
                return
            raise CatalogError(
                f"the catalog '{name}' exists already",
                hint="or write IF NOT EXISTS",
                in_flink=f"Catalog {name} already exists.",
                of_class=CATALOG,
            )
        self.catalogs[name] = properties
        if external is not None:
            self.external[name] = external
        self.databases[name, self.default_database(name)] = Properties()

    def default_database(self, catalog: str) -> str:
        """The database of a catalog that is used when none is named."""
        external = self.external.get(catalog)
        default = None if external is None else external.type.default_database
        return self.catalogs[catalog].options.get(DEFAULT_DATABASE_OPTION, default or "default")

    def created_catalog(self, name: str) -> Properties:
        """The properties of a catalog that was created.  Raises :class:`CatalogError` where it was not."""
        self._check_created(name, in_flink=f"Cannot obtain metadata information from Catalog {name}.")
        return self.catalogs[name]

    def _check_created(self, name: str, in_flink: str, of_class: str = VALIDATION) -> None:
        if name not in self.catalogs:
            raise self._no_catalog(name, in_flink, of_class)
        if self.catalogs[name] is _BUILT_IN:
            message = f"the catalog '{name}' was not created by CREATE CATALOG"
            raise CatalogError(message, in_flink=in_flink, of_class=of_class)

    def alter_catalog(self, name: str, change: Callable[[Properties], Properties]) -> None:
        """Change the properties of a catalog.  Raises :class:`CatalogError` if it is missing, or was not created."""
        self._check_created(name, f"Catalog {name} does not exist in the catalog store.", CATALOG)
        self.catalogs[name] = changed = change(self.catalogs[name])
        if name in self.external:
            self.external[name] = replace(self.external[name], options=changed.options)

    def drop_catalog(self, name: str, *, if_exists: bool = False) -> None:
        """Remove a catalog and all in it.  Raises :class:`CatalogError` if it is in use or missing."""
        if name not in self.catalogs:
            if if_exists:
                return
            raise self._no_catalog(name, f"Catalog {name} does not exist.", CATALOG)
        if name == self.current_catalog:
            raise CatalogError(
                f"the catalog '{name}' is in use",
                hint="USE CATALOG another one first",
                in_flink="Cannot drop a catalog which is currently in use.",
                of_class=CATALOG,
            )
        del self.catalogs[name]
        self.external.pop(name, None)
        self.expansions.clear()
        self.databases = {key: properties for key, properties in self.databases.items() if key[0] != name}
        self.objects = {i: item for i, item in self.objects.items() if i.catalog != name}
        self.temporary = {i: item for i, item in self.temporary.items() if i.catalog != name}

    def use_catalog(self, name: str) -> None:
        """Make a catalog's default database the current one.  Raises :class:`CatalogError` if it is missing."""
        self._check_used_catalog(name)
        if name != self.current_catalog:
            self.current_catalog, self.current_database = name, self.default_database(name)

    def _check_used_catalog(self, name: str) -> None:
        if name not in self.catalogs:
            raise self._no_catalog(name, f"A catalog with name [{name}] does not exist.", CATALOG)

    def check_catalog(self, name: str) -> None:
        """Raise :class:`CatalogError` where there is no such catalog."""
        if name not in self.catalogs:
            raise self._no_catalog(name, f"Catalog {name} does not exist")

    def _no_catalog(self, name: str, in_flink: str, of_class: str = VALIDATION) -> CatalogError:
        hint = did_you_mean(name, self.catalogs)
        return CatalogError(f"there is no catalog '{name}'", hint=hint, in_flink=in_flink, of_class=of_class)
