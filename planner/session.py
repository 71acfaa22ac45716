"""A session: the catalog and the configuration that statements change, one after another."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from ..plan.document import Plan
from ..plan.errors import FlinkplanError
from .algebra import TableModify
from .binder import BindError, Context, bind_insert, bind_query
from .binder.errors import each_of, placed, unsupported
from .binder.query import rename
from .catalog import Catalog, CatalogError, Table, View, did_you_mean
from .ddl import create_table, create_view
from .sql import ast


class Session:
    """Applies statements in order; INSERTs and statement sets are bound or compiled on demand."""

    def __init__(self, config: Mapping[str, str] | None = None) -> None:
        self.config: dict[str, str] = dict(config or {})
        self._defaults = dict(self.config)
        self.catalog = Catalog()

    def apply(self, statement: ast.Statement) -> None:
        """Run a statement that defines or sets something.

        Raises :class:`FlinkplanError` with the place if it cannot be applied.
        """
        action = _ACTIONS.get(type(statement))
        if action is None:
            raise unsupported(f"{_verb(statement)} here", statement.span)
        try:
            action(self, statement)
        except FlinkplanError as error:
            if isinstance(statement, (ast.CreateTable, ast.CreateView)):
                self.catalog.faulty.add(self.catalog.qualify(statement.name.names))
            raise placed(error, statement.span) from None
        except RecursionError:
            raise _too_deep(statement) from None

    def bind(self, statement: ast.Insert | ast.StatementSet) -> tuple[TableModify, ...]:
        """The modifications that an INSERT, or each one of a statement set, stands for."""
        context = self._context()
        inserts = ((insert, insert.span) for insert in inserts_of(statement))
        return tuple(each_of(inserts, lambda insert: bind_insert(context, insert)))

    def compile(self, statement: ast.Insert | ast.StatementSet) -> Plan:
        """The compiled plan of an INSERT or a statement set.  Raises the errors of all INSERTs together."""
        from .optimizer import assemble, optimize

        try:
            heads = (insert.span.to(insert.table.span) for insert in inserts_of(statement))
            modifies = zip(self.bind(statement), heads, strict=True)
            return assemble(each_of(modifies, lambda modify: optimize(modify, self.config)), self.config)
        except RecursionError:
            raise _too_deep(statement) from None

    def _context(self) -> Context:
        return Context(self.catalog, self.config)

    def _create_table(self, node: ast.CreateTable) -> None:
        table = create_table(self._context(), node)
        self.catalog.add(table, replace=node.or_replace, if_not_exists=node.if_not_exists)

    def _create_view(self, node: ast.CreateView) -> None:
        rel = bind_query(self._context(), node.query)
        if node.columns:
            rename(rel, node.columns, node.name.parts[-1])
        self.catalog.add(create_view(self.catalog, node), if_not_exists=node.if_not_exists)

    def _drop(self, node: ast.Drop) -> None:
        kinds: dict[str, type[Table] | type[View]] = {"TABLE": Table, "VIEW": View}
        if node.kind not in kinds:
            raise unsupported(f"DROP {node.kind}", node.span)
        self.catalog.drop(node.name.names, kinds[node.kind], if_exists=node.if_exists)

    def _create_database(self, node: ast.CreateDatabase) -> None:
        names = node.name.names
        catalog = names[0] if len(names) > 1 else self.catalog.current_catalog
        key = (catalog, names[-1])
        if key in self.catalog.databases and not node.if_not_exists:
            raise CatalogError(f"the database '{'.'.join(key)}' exists already")
        self.catalog.databases.add(key)

    def _use_database(self, node: ast.UseDatabase) -> None:
        names = node.name.names
        catalog = names[0] if len(names) > 1 else self.catalog.current_catalog
        if (catalog, names[-1]) not in self.catalog.databases:
            known = [database for _, database in self.catalog.databases]
            raise CatalogError(f"there is no database '{node.name}'", hint=did_you_mean(names[-1], known))
        self.catalog.current_catalog, self.catalog.current_database = catalog, names[-1]

    def _set(self, node: ast.SetOption) -> None:
        if node.key is not None and node.value is not None:
            self.config[node.key] = node.value

    def _reset(self, node: ast.ResetOption) -> None:
        if node.key is None:
            self.config = dict(self._defaults)
        else:
            self.config.pop(node.key, None)

    def _alter_table(self, node: ast.AlterTable) -> None:
        found = self.catalog.find(node.name.names)
        if not isinstance(found, Table):
            if node.if_exists:
                return
            raise CatalogError(
                f"there is no table '{node.name}'", hint=did_you_mean(node.name.names[-1], self.catalog.names())
            )
        if node.rename_to is not None:
            self.catalog.drop(node.name.names, Table)
            self.catalog.add(replace(found, identifier=self.catalog.qualify(node.rename_to.names)))
            return
        options = dict(found.resolved.options or {}) | {o.key: o.value for o in node.set_options}
        options = {k: v for k, v in options.items() if k not in node.reset_keys}
        self.catalog.add(replace(found, resolved=replace(found.resolved, options=options)), replace=True)


def inserts_of(statement: ast.Insert | ast.StatementSet) -> tuple[ast.Insert, ...]:
    """The INSERTs of a job."""
    return statement.inserts if isinstance(statement, ast.StatementSet) else (statement,)


def _nothing(session: Session, node: ast.Statement) -> None:
    """Statements that only show something."""


_ACTIONS: dict[type[ast.Statement], Callable[[Session, Any], None]] = {
    ast.CreateTable: Session._create_table,
    ast.CreateView: Session._create_view,
    ast.CreateDatabase: Session._create_database,
    ast.UseDatabase: Session._use_database,
    ast.Drop: Session._drop,
    ast.AlterTable: Session._alter_table,
    ast.SetOption: Session._set,
    ast.ResetOption: Session._reset,
    ast.Show: _nothing,
    ast.Describe: _nothing,
}


def _too_deep(statement: ast.Statement) -> BindError:
    return BindError("the statement is nested too deeply", statement.span)


def _verb(statement: ast.Statement) -> str:
    return " ".join(statement.span.text.split()[:2]).upper()
