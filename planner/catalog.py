"""Tables and views by name."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from ..plan.errors import FlinkplanError
from ..plan.specs import ResolvedTable
from .sql.ast import Query

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

    @property
    def summary(self) -> str:
        """The name without quotes, as messages and descriptions have it."""
        return f"{self.catalog}.{self.database}.{self.name}"


@dataclass(frozen=True)
class Table:
    """A table of the catalog."""

    identifier: Identifier
    resolved: ResolvedTable
    temporary: bool = False


@dataclass(frozen=True)
class View:
    """A view: the query it stands for, and the names of its columns if it renames them."""

    identifier: Identifier
    query: Query
    columns: tuple[str, ...] = ()
    temporary: bool = False
    text: str = ""


class CatalogError(FlinkplanError):
    """An object that is missing, or there already."""


class FaultyDefinition(CatalogError):
    """A name whose definition is wrong: what refers to it cannot be judged before that is mended."""


@dataclass
class Catalog:
    """All catalogs, their databases and what is in them; names are compared with their case."""

    current_catalog: str = DEFAULT_CATALOG
    current_database: str = DEFAULT_DATABASE
    databases: set[tuple[str, str]] = field(default_factory=lambda: {(DEFAULT_CATALOG, DEFAULT_DATABASE)})
    objects: dict[Identifier, Table | View] = field(default_factory=dict)
    faulty: set[Identifier] = field(default_factory=set)
    """Names whose definitions are wrong."""

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
        return self.objects.get(identifier)

    def add(self, item: Table | View, *, replace: bool = False, if_not_exists: bool = False) -> None:
        """Add a table or view.  Raises :class:`CatalogError` if the name is taken or the database is missing."""
        identifier = item.identifier
        if (identifier.catalog, identifier.database) not in self.databases:
            raise CatalogError(
                f"the database '{identifier.catalog}.{identifier.database}' does not exist",
                hint=f"create it first: CREATE DATABASE {identifier.database}",
            )
        if identifier in self.objects and not replace:
            if if_not_exists:
                return
            raise CatalogError(
                f"'{identifier.summary}' exists already", hint="DROP it first, or write CREATE … IF NOT EXISTS"
            )
        self.objects[identifier] = item

    def drop(self, names: tuple[str, ...], kind: type[Table] | type[View], *, if_exists: bool = False) -> None:
        """Remove a table or view.  Raises :class:`CatalogError` if there is none of that kind."""
        identifier = self.qualify(names)
        if isinstance(self.objects.get(identifier), kind):
            del self.objects[identifier]
        elif not if_exists:
            what = "table" if kind is Table else "view"
            raise CatalogError(f"there is no {what} '{'.'.join(names)}'", hint=did_you_mean(names[-1], self.names()))

    def names(self) -> Iterator[str]:
        """The short names of all objects."""
        return (identifier.name for identifier in self.objects)


def did_you_mean(name: str, known: Iterable[str]) -> str | None:
    """A hint that names what is most like ``name``, or what there is if that is little; ``None`` otherwise."""
    choices = list(dict.fromkeys(known))
    folded = {c.lower(): c for c in reversed(choices)}
    near = [folded[c] for c in difflib.get_close_matches(name.lower(), folded, 3, 0.6)]
    if near:
        return f"did you mean {_either(near)}?"
    if choices and len(choices) <= 12:
        return f"there is {_either(choices, 'and')}"
    return None


def _either(names: list[str], word: str = "or") -> str:
    *first, last = (f"'{n}'" for n in names)
    return f"{', '.join(first)} {word} {last}" if first else last
