"""Tables and views by name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, ClassVar, TypeVar

from ...plan.findings import did_you_mean, nearest
from ...plan.functions.user import PythonDeclaration, PythonFunction
from ...plan.record import PartlyCompared, Struct, field
from ...plan.specs import ResolvedTable
from ...plan.types import NULL, LogicalType
from ..sql.ast import Query
from ..sql.source import Span
from .errors import CatalogError, FaultyDefinition
from .external import CatalogDefinition
from .functions import Functions
from .identifier import Identifier

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


def _nothing_to_load(path: str) -> PythonDeclaration:
    raise CatalogError(
        f"the code of '{path}' is not loaded: no Python files are named",
        hint="name the file or folder of its module: --py-files PATH, or py-files in pyproject.toml",
    )


class Catalog(Struct):
    """All catalogs with their databases, tables and views; names are case-sensitive.

    A temporary object hides the permanent one of the same name.
    """

    current_catalog: str = DEFAULT_CATALOG
    current_database: str = DEFAULT_DATABASE
    catalogs: dict[str, str] = field(default_factory=lambda: {DEFAULT_CATALOG: DEFAULT_DATABASE})
    """The catalogs, each with its default database."""
    external: dict[str, CatalogDefinition] = field(default_factory=dict)
    """Those of the catalogs that are not in memory: their tables are known by scripts."""
    declared: set[str] = field(default_factory=set)
    """The catalogs that scripts of catalog tables create, which a pipeline may create again."""
    databases: set[tuple[str, str]] = field(default_factory=lambda: {(DEFAULT_CATALOG, DEFAULT_DATABASE)})
    objects: dict[Identifier, Table | View] = field(default_factory=dict)
    temporary: dict[Identifier, Table | View] = field(default_factory=dict)
    faulty: set[Identifier] = field(default_factory=set)
    """Names whose definitions are wrong, while the rest of a script is checked."""
    functions: Functions = field(default_factory=lambda: Functions(_nothing_to_load))
    """The functions of users."""
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

    def find_function(self, names: tuple[str, ...]) -> PythonFunction | None:
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
        self, names: tuple[str, ...], kind: type[Table] | type[View], existing: Table | View | None
    ) -> CatalogError:
        wanted, other = ("table", "view") if kind is Table else ("view", "table")
        name = ".".join(names)
        if existing is not None:
            return CatalogError(f"'{name}' is a {other}, not a {wanted}")
        message, hint = self.absence(wanted, names)
        return CatalogError(message, hint=hint)

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
            raise CatalogError(
                f"the database '{identifier.catalog}.{identifier.database}' does not exist",
                hint=f"create it first: CREATE DATABASE {identifier.database}",
            )
        place = self.temporary if item.temporary else self.objects
        if identifier in place and not replace:
            if if_not_exists:
                return
            raise CatalogError(
                f"'{identifier.summary}' exists already", hint="DROP it first, or write CREATE … IF NOT EXISTS"
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
            )
        if isinstance(place.get(identifier), kind):
            del place[identifier]
            self.expansions.clear()
        elif not if_exists:
            raise self._missing(names, kind, place.get(identifier))

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
            raise CatalogError(f"'{'.'.join(names)}' has too many parts; a database is catalog.name at most")
        return (names[0] if len(names) > 1 else self.current_catalog, names[-1])

    def existing_database(self, names: tuple[str, ...]) -> tuple[str, str]:
        """The full name of a database that is there.  Raises :class:`CatalogError`."""
        key = self.qualify_database(names)
        if key not in self.databases and key[0] in self.external:
            return key  # which databases an external catalog has is not known
        if key not in self.databases:
            known = [database for catalog, database in self.databases if catalog == key[0]]
            raise CatalogError(f"there is no database '{'.'.join(names)}'", hint=did_you_mean(names[-1], known))
        return key

    def create_database(self, names: tuple[str, ...], *, if_not_exists: bool = False) -> None:
        """Add a database.  Raises :class:`CatalogError` if it is there or its catalog is missing."""
        key = self.qualify_database(names)
        self._check_catalog(key[0])
        if key in self.databases and not if_not_exists:
            raise CatalogError(f"the database '{'.'.join(key)}' exists already", hint="or write IF NOT EXISTS")
        self.databases.add(key)

    def drop_database(self, names: tuple[str, ...], *, if_exists: bool = False, cascade: bool = False) -> None:
        """Remove a database.  Raises :class:`CatalogError` if it is in use, not empty or missing."""
        if if_exists and self.qualify_database(names) not in self.databases:
            return
        key = self.existing_database(names)
        if key == (self.current_catalog, self.current_database):
            raise CatalogError(f"the database '{'.'.join(key)}' is in use", hint="USE another one first")
        inside = self.objects_of(*key)
        if inside and not cascade:
            raise CatalogError(
                f"the database '{'.'.join(key)}' is not empty: it holds '{inside[0].identifier.name}'",
                hint="DROP DATABASE … CASCADE drops what is in it as well",
            )
        for item in inside:
            self.objects.pop(item.identifier, None)
            self.temporary.pop(item.identifier, None)
        self.databases.discard(key)
        self.expansions.clear()

    def use_database(self, names: tuple[str, ...]) -> None:
        """Make a database the current one.  Raises :class:`CatalogError` if it is missing."""
        self.current_catalog, self.current_database = self.existing_database(names)

    def create_catalog(
        self,
        name: str,
        default_database: str,
        *,
        external: CatalogDefinition | None = None,
        if_not_exists: bool = False,
    ) -> None:
        """Add a catalog, which is in memory unless it is ``external``.  Raises :class:`CatalogError` if it is there."""
        if name in self.catalogs:
            if if_not_exists or name in self.declared:
                self.declared.discard(name)
                return
            raise CatalogError(f"the catalog '{name}' exists already", hint="or write IF NOT EXISTS")
        self.catalogs[name] = default_database
        if external is not None:
            self.external[name] = external
        self.databases.add((name, default_database))

    def drop_catalog(self, name: str, *, if_exists: bool = False) -> None:
        """Remove a catalog and all in it.  Raises :class:`CatalogError` if it is in use or missing."""
        if if_exists and name not in self.catalogs:
            return
        self._check_catalog(name)
        if name == self.current_catalog:
            raise CatalogError(f"the catalog '{name}' is in use", hint="USE CATALOG another one first")
        del self.catalogs[name]
        self.external.pop(name, None)
        self.expansions.clear()
        self.databases = {key for key in self.databases if key[0] != name}
        self.objects = {i: item for i, item in self.objects.items() if i.catalog != name}
        self.temporary = {i: item for i, item in self.temporary.items() if i.catalog != name}

    def use_catalog(self, name: str) -> None:
        """Make a catalog's default database the current one.  Raises :class:`CatalogError` if it is missing."""
        self._check_catalog(name)
        if name != self.current_catalog:
            self.current_catalog, self.current_database = name, self.catalogs[name]

    def _check_catalog(self, name: str) -> None:
        if name not in self.catalogs:
            raise CatalogError(f"there is no catalog '{name}'", hint=did_you_mean(name, self.catalogs))
