"""Scripts of the tables that external catalogs have."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ..binder.errors import BindError
from ..sql import ast, parse_script


class CatalogScripts:
    """The CREATE CATALOG, TABLE and VIEW statements of scripts, the latter with the catalog of each."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        """Read scripts, by their names.

        Raises :class:`SqlError` and :class:`BindError` for those that are not SQL, or do more than define tables.
        """
        self.catalogs: list[ast.CreateCatalog] = []
        self._tables: dict[str, list[ast.CreateTable | ast.CreateView]] = {}
        for name, text in texts.items():
            self._read(parse_script(text, name).statements)

    def _read(self, statements: Iterable[ast.Statement]) -> None:
        catalog: str | None = None
        for statement in statements:
            match statement:
                case ast.CreateCatalog():
                    self.catalogs.append(statement)
                case ast.UseCatalog():
                    catalog = statement.name.name
                case ast.CreateTable(query=None) | ast.CreateView():
                    self._add(statement, catalog)
                case ast.CreateDatabase():
                    pass
                case _:
                    raise BindError(
                        "a script of catalog tables only defines them",
                        statement.span,
                        "it has CREATE CATALOG, DATABASE, TABLE and VIEW, and USE CATALOG",
                    )

    def _add(self, statement: ast.CreateTable | ast.CreateView, catalog: str | None) -> None:
        names = statement.name.names
        owner = names[0] if len(names) == 3 else catalog
        if owner is None:
            raise BindError(
                f"it is not said which catalog has '{statement.name}'",
                statement.name.span,
                "name it as catalog.database.table, or write USE CATALOG before it",
            )
        self._tables.setdefault(owner, []).append(statement)

    def tables(self, catalog: str) -> Iterable[ast.CreateTable | ast.CreateView]:
        """The definitions of a catalog's tables and views, in their order."""
        return self._tables.get(catalog, ())
