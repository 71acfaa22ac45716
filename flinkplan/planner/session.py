"""A session: the catalog and the configuration that statements change, one after another."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import advice
from ..plan.connectors import CHANGELOG
from ..plan.document import Plan
from ..plan.errors import FlinkplanError
from ..plan.findings import Finding
from ..plan.interpreter import deep_recursion, no_garbage_collection
from ..plan.record import replace
from ..plan.settings import check_setting, check_settings
from ..plan.user_functions import bind_functions
from .algebra.logical import Scan, TableModify
from .algebra.physical import Sink
from .algebra.rel import Rel
from .algebra.tree import walk_once
from .binder import BindError, Context, bind_insert, bind_query
from .binder.context import Correlations, TableUse
from .binder.errors import each_of, placed, unsupported
from .catalog.catalog import DEFAULT_DATABASE_OPTION, Catalog, Identifier, Properties, Table, View
from .catalog.errors import CatalogError
from .catalog.external import EXTERNAL, IN_MEMORY, TYPE, UNKNOWN, CatalogDefinition
from .catalog.functions import Functions, Loader
from .catalog.options import check_catalog_options
from .catalog.restoring import restored
from .catalog.store import store_folder, stored_catalogs
from .ddl.alter import alter_table, alter_view
from .ddl.catalog_scripts import CatalogScripts
from .ddl.catalogs import alter_catalog
from .ddl.create import create_table, create_view
from .ddl.functions import alter_function, create_function, drop_function
from .ddl.table_as import split_table_as
from .options import check_use
from .placing import place_of
from .sql import ast
from .sql.source import NO_SPAN, Span

if TYPE_CHECKING:
    from .explaining import Explanation
    from .tracing.tracer import Trace


class Session:
    """Applies statements in order; INSERTs and statement sets are bound or compiled on demand.

    ``warn`` gets a finding, once, for what compiles but may not be meant.  ``executes`` says that
    what is compiled is also executed with the options of the session.  ``load`` gives the declarations of Python
    functions; without it they are refused.  ``catalog_tables`` are scripts, by their names, that define the tables of
    catalogs that are not in memory.
    """

    def __init__(
        self,
        config: Mapping[str, str] | None = None,
        warn: Callable[[Finding], None] | None = None,
        *,
        executes: bool = False,
        load: Loader | None = None,
        catalog_tables: Mapping[str, str] | None = None,
    ) -> None:
        self.config: dict[str, str] = {}
        self.catalog = Catalog() if load is None else Catalog(functions=Functions(load))
        self._correlations = Correlations()
        self._jars: list[str] = []
        self._warn = warn
        self._executes = executes
        self._reported: set[Finding] = set()
        for key, value in (config or {}).items():
            self.set_option(key, value)
        self._defaults = dict(self.config)
        self._catalog_scripts = CatalogScripts(catalog_tables or {})
        self._define_catalogs(self._catalog_scripts)
        self._catalog_store: Path | None = None
        self._open_catalog_store()

    def _define_catalogs(self, scripts: CatalogScripts) -> None:
        """Define catalogs that a pipeline may define again."""
        for statement in scripts.catalogs:
            self.apply(statement)
            self.catalog.declared.add(statement.name.name)

    def _open_catalog_store(self) -> None:
        """Define the catalogs of the store that the options name, unless they are there."""
        folder = store_folder(self.config)
        if folder is not None and folder != self._catalog_store:
            self._catalog_store = folder
            self._define_catalogs(CatalogScripts(stored_catalogs(folder)))

    def set_option(self, key: str, value: str, span: Span = NO_SPAN) -> None:
        """Set an option.  Raises :class:`FlinkplanError` for a value that it cannot have."""
        check_setting(key, value)
        self.config[key] = value
        self._report(advice.setting_findings(key, value, executes=self._executes), span)

    def _report(self, findings: Iterable[Finding], span: Span = NO_SPAN) -> None:
        """Report findings, at the span unless they have a place; they are not computed if there is no ``warn``."""
        if self._warn is None:
            return
        for finding in findings:
            here = finding.location is None and span is not NO_SPAN
            placed_ = replace(finding, location=span.location) if here else finding
            if placed_ not in self._reported:
                self._reported.add(placed_)
                self._warn(placed_)

    @deep_recursion
    def apply(self, statement: ast.Statement) -> None:
        """Run a statement that defines or sets something.

        Raises :class:`FlinkplanError` with the place if it cannot be applied.
        """
        action = _ACTIONS.get(type(statement))
        if action is None:
            raise unsupported(_verb(statement), statement.span, _ALTERNATIVES.get(type(statement)))
        try:
            action(self, statement)
        except FlinkplanError as error:
            raise placed(error, statement.span) from None
        except RecursionError:
            raise _too_deep(statement) from None

    @deep_recursion
    def bind(self, statement: ast.Insert | ast.StatementSet) -> tuple[TableModify, ...]:
        """The ``TableModify`` of an INSERT, or of each INSERT of a statement set."""
        return self._bound(self._context().apart(), statement)

    def _bound(self, context: Context, statement: ast.Insert | ast.StatementSet) -> tuple[TableModify, ...]:
        inserts = ((insert, insert.span) for insert in inserts_of(statement))
        return tuple(each_of(inserts, lambda insert: bind_insert(context, insert)))

    @deep_recursion
    @no_garbage_collection
    def compile(self, statement: ast.Insert | ast.StatementSet, *, complete: bool = False) -> Plan:
        """The compiled plan of an INSERT or a statement set.  Raises the errors of all INSERTs together.

        ``complete``: with the definitions of all tables, also of temporary ones, which are left out otherwise.
        """
        from .program import assemble, optimize

        try:
            context = self._context()
            optimized = self._optimized(context, statement, optimize)
            plan = assemble(optimized, self.config, complete=complete)
            self._advise(context.uses, plan, statement)
            return plan
        except RecursionError:
            raise _too_deep(statement) from None

    @deep_recursion
    def explain(self, statement: ast.Insert | ast.StatementSet) -> Explanation:
        """An INSERT or a statement set as Flink's EXPLAIN shows it.  Raises as :meth:`compile` does."""
        from .explaining import Explanation, check_explained
        from .program import assemble, optimize
        from .rex.printer import prefix_expressions
        from .rex.written import recorded_lists
        from .rules.joins.expressions import push_written_expressions

        try:
            bound: list[Rel] = []

            def kept(modify: TableModify, config: Mapping[str, str]) -> Sink:
                bound.append(push_written_expressions.run(modify, config))
                return optimize(modify, config)

            with recorded_lists() as lists:
                optimized = self._optimized(self._context(), statement, kept)
            plan = assemble(optimized, self.config, complete=True)
            with prefix_expressions():
                physical = assemble(optimized, self.config, complete=True)
            check_explained(plan)
            return Explanation(bound, physical, plan, config=self.config, sinks=optimized, lists=lists)
        except RecursionError:
            raise _too_deep(statement) from None

    def explain_query(self, query: ast.Query) -> Explanation:
        """A query as Flink's EXPLAIN shows it.  Raises an error with its place."""
        with self._result_table(query, (ast.Option(CHANGELOG, "I,UA,D"),)) as insert:  # who looks needs no old rows
            return replace(self.explain(insert), has_sinks=False)

    def explain_table_as(self, node: ast.CreateTable) -> Explanation:
        """A CREATE TABLE … AS as Flink's EXPLAIN shows it; the table is not created.  Raises an error."""
        catalog = self.catalog
        before = dict(catalog.objects), dict(catalog.temporary)
        try:
            return self.explain(self.create_table_as(replace(node, or_replace=True)))
        finally:
            catalog.objects, catalog.temporary = before
            catalog.expansions.clear()

    @deep_recursion
    def trace(self, statement: ast.Insert | ast.StatementSet) -> Trace:
        """What each rule changes while an INSERT or a statement set is compiled.  Raises as :meth:`compile` does."""
        from .tracing.tracer import Tracer

        try:
            tracer = Tracer()
            optimized = self._optimized(self._context(), statement, tracer.optimize)
            return tracer.trace(optimized, self.config)
        except RecursionError:
            raise _too_deep(statement) from None

    def _optimized(
        self,
        context: Context,
        statement: ast.Insert | ast.StatementSet,
        optimize: Callable[[TableModify, Mapping[str, str]], Sink],
    ) -> list[Sink]:
        """The operators of each INSERT.  Raises the errors of all INSERTs together."""
        from .physical.mini_batch import planning_options

        inserts = inserts_of(statement)
        modifies = self._bound(context, statement)
        context.uses += unbound_uses(context.uses, modifies)
        each_of(((use, use.span) for use in context.uses), check_use)
        each_of([(self.config, inserts[0].span)], check_settings)
        options = planning_options(modifies, self.config)

        def optimized(modify: TableModify, insert: ast.Insert) -> Sink:
            try:
                return optimize(modify, options)
            except FlinkplanError as error:
                raise placed(error, place_of(insert, error)) from None

        pairs = zip(modifies, inserts, strict=True)
        return each_of(((pair, pair[1].span) for pair in pairs), lambda pair: optimized(*pair))

    def _advise(self, uses: Iterable[TableUse], plan: Plan, statement: ast.Insert | ast.StatementSet) -> None:
        for use in uses:
            for key, finding in advice.table_findings(use.table.identifier.name, use.options, use.as_sink):
                self._report([finding], use.place(key))
        inserts = inserts_of(statement)
        findings = advice.plan_findings(plan, comparisons=False)  # these are reported where they are written
        self._report(findings, inserts[0].span if len(inserts) == 1 else statement.span)

    def compile_query(self, query: ast.Query) -> Plan:
        """The plan of a query; its sink is a table that accepts all changes and exists only for this."""
        with self._result_table(query) as insert:
            return self.compile(insert, complete=True)

    @contextmanager
    def _result_table(self, query: ast.Query, more: tuple[ast.Option, ...] = ()) -> Iterator[ast.Insert]:
        """The INSERT of a query into the table of its result, which then exists."""
        name = ast.Name((ast.Identifier(_RESULT, span=query.span),), span=query.span)
        table = ast.CreateTable(name, options=(ast.Option("connector", "print"), *more), query=query, temporary=True)
        insert = self.create_table_as(table)
        try:
            yield insert
        finally:
            self.catalog.drop(name.names, Table, temporary=True)

    def restore(self, plan: Plan) -> Plan:
        """A plan with the tables and functions that it leaves to the catalog.  Raises :class:`CatalogError`."""
        return bind_functions(restored(plan, self.catalog, self.config), self.catalog.functions.of_plan)

    @deep_recursion
    def bind_query(self, query: ast.Query) -> Rel:
        """The relation of a query.  Raises an error with its place."""
        return bind_query(self.context(), query)

    def define_unnamed(self, node: ast.CreateTable, name: str) -> None:
        """Create the table of a CREATE TABLE without a name in a catalog, as ``name`` of none."""
        table = create_table(self.context(), node)
        identifier = Identifier("", "", name)
        self.catalog.temporary[identifier] = replace(table, identifier=identifier, temporary=False)

    def context(self) -> Context:
        """A context for binding."""
        return self._context()

    def _context(self) -> Context:
        return Context(self.catalog, self.config, self._correlations, tell=self._report)

    def create_table_as(self, node: ast.CreateTable) -> ast.Insert:
        """Create the table of a CREATE TABLE … AS; gives the INSERT that fills it."""
        table, insert = split_table_as(self._context().apart(), node)
        self._define(table, replaces=node.or_replace)
        return insert

    def _define(self, node: ast.CreateTable, *, replaces: bool = False) -> None:
        table = create_table(self._context(), node)
        self.catalog.add(table, replace=replaces, if_not_exists=node.if_not_exists)

    def _create_view(self, node: ast.CreateView) -> None:
        view = create_view(self._context(), node)
        self.catalog.add(view, replace=node.or_replace, if_not_exists=node.if_not_exists)

    def _drop(self, node: ast.Drop) -> None:
        names = node.name.names
        if node.kind in _DROPPED:
            self.catalog.drop(names, _DROPPED[node.kind], temporary=node.temporary, if_exists=node.if_exists)
        elif node.kind == "DATABASE":
            self.catalog.drop_database(names, if_exists=node.if_exists, cascade=node.cascade)
        elif node.kind == "FUNCTION":
            drop_function(self.catalog, node)
        elif node.kind == "CATALOG":
            self.catalog.drop_catalog(names[-1], if_exists=node.if_exists)
        else:
            raise unsupported(f"DROP {node.kind}", node.span)

    @property
    def jars(self) -> Sequence[str]:
        """The jars that ADD JAR has added."""
        return self._jars

    def _add_jar(self, node: ast.AddJar) -> None:
        """Add or remove a jar, whose classes functions may be that are created from now on."""
        if node.remove and node.path not in self._jars:
            raise CatalogError(f"the jar '{node.path}' was not added")
        if node.remove:
            self._jars.remove(node.path)
        elif node.path not in self._jars:
            self._jars.append(node.path)

    def _create_catalog(self, node: ast.CreateCatalog) -> None:
        name, options = node.name.name, _values(node.options)
        properties = Properties(options, node.comment)
        kind = options.get(TYPE)
        tables: list[ast.CreateTable | ast.CreateView] = []
        if kind != IN_MEMORY and name not in self.catalog.catalogs:
            tables = list(self._catalog_scripts.tables(name))
        type_ = EXTERNAL.get(kind or "", UNKNOWN if tables else None)
        if type_ is None:
            check_catalog_options(options, node.span)
            self.catalog.create_catalog(name, properties, if_not_exists=node.if_not_exists)
            return
        if type_.default_database is None and DEFAULT_DATABASE_OPTION not in options:
            raise BindError(f"a catalog of the type '{kind}' needs the option '{DEFAULT_DATABASE_OPTION}'", node.span)
        definition = CatalogDefinition(type_, options)
        is_new = name not in self.catalog.catalogs
        self.catalog.create_catalog(name, properties, external=definition, if_not_exists=node.if_not_exists)
        if is_new and (known := type_.definitions(name, options)):
            self._define_tables(name, CatalogScripts({f"the catalog {name}": known}).tables(name))
            self.catalog.stored |= {identifier for identifier in self.catalog.objects if identifier.catalog == name}
        self._define_tables(name, tables)

    def _define_tables(self, catalog: str, tables: Iterable[ast.CreateTable | ast.CreateView]) -> None:
        """Define what scripts say a catalog has."""
        here = self.catalog.current_catalog, self.catalog.current_database
        self.catalog.use_catalog(catalog)
        try:
            for table in tables:
                identifier = self.catalog.qualify(table.name.names)
                self.catalog.databases.setdefault((identifier.catalog, identifier.database), Properties())
                self.apply(table)
        finally:
            self.catalog.current_catalog, self.catalog.current_database = here

    def _create_database(self, node: ast.CreateDatabase) -> None:
        properties = Properties(_values(node.options), node.comment)
        self.catalog.create_database(node.name.names, properties, if_not_exists=node.if_not_exists)

    def _set(self, node: ast.SetOption) -> None:
        if node.key is not None and node.value is not None:
            self.set_option(node.key, node.value, node.span)
            self._open_catalog_store()

    def _reset(self, node: ast.ResetOption) -> None:
        if node.key is None:
            self.config = dict(self._defaults)
        else:
            self.config.pop(node.key, None)


def unbound_uses(known: Iterable[TableUse], modifies: Iterable[TableModify]) -> list[TableUse]:
    """The tables that are read by relations which were bound before their statement."""
    seen = {(use.table.identifier, tuple(use.hints.items())) for use in known}
    uses = []
    for modify in modifies:
        for rel in walk_once(modify):
            if isinstance(rel, Scan) and (rel.table.identifier, rel.options) not in seen:
                seen.add((rel.table.identifier, rel.options))
                uses.append(TableUse(rel.table, dict(rel.options), NO_SPAN))
    return uses


def inserts_of(statement: ast.Insert | ast.StatementSet) -> tuple[ast.Insert, ...]:
    """The INSERTs of a job."""
    return statement.inserts if isinstance(statement, ast.StatementSet) else (statement,)


def _values(options: Iterable[ast.Option]) -> dict[str, str]:
    return {option.key: option.value for option in options}


def _nothing(session: Session, node: ast.Statement) -> None:
    """Statements that only show something."""


_RESULT = "*result*"

_DROPPED: dict[str, type[Table] | type[View]] = {"TABLE": Table, "VIEW": View}

_ACTIONS: dict[type[ast.Statement], Callable[[Session, Any], None]] = {
    ast.CreateTable: Session._define,
    ast.CreateView: Session._create_view,
    ast.CreateCatalog: Session._create_catalog,
    ast.CreateFunction: lambda session, node: create_function(session.catalog, node, session.jars),
    ast.AlterCatalog: lambda session, node: alter_catalog(session.catalog, node),
    ast.CreateDatabase: Session._create_database,
    ast.AlterFunction: lambda session, node: alter_function(session.catalog, node, session.jars),
    ast.AlterDatabase: lambda session, node: session.catalog.alter_database(node.name.names, _values(node.options)),
    ast.LoadModule: lambda session, node: session.catalog.modules.load(node.name.name, _values(node.options)),
    ast.UnloadModule: lambda session, node: session.catalog.modules.unload(node.name.name),
    ast.UseModules: lambda session, node: session.catalog.modules.use([name.name for name in node.names]),
    ast.UseCatalog: lambda session, node: session.catalog.use_catalog(node.name.name),
    ast.UseDatabase: lambda session, node: session.catalog.use_database(node.name.names),
    ast.AddJar: Session._add_jar,
    ast.Drop: Session._drop,
    ast.AlterTable: lambda session, node: alter_table(session.context(), node),
    ast.AlterView: lambda session, node: alter_view(session.context(), node),
    ast.SetOption: Session._set,
    ast.ResetOption: Session._reset,
    ast.Show: _nothing,
    ast.Describe: _nothing,
}


_ALTERNATIVES: dict[type[ast.Statement], str] = {
    ast.BeginStatementSet: "write EXECUTE STATEMENT SET BEGIN … END",
    ast.EndStatementSet: "a statement set begins with EXECUTE STATEMENT SET BEGIN",
    ast.StopJob: "the jobs of 'flinkplan sql' can be stopped there",
    ast.ExecutePlan: "flinkplan execute runs a plan, flinkplan run a script",
}


def _too_deep(statement: ast.Statement) -> BindError:
    return BindError("the statement is nested too deeply", statement.span)


def _verb(statement: ast.Statement) -> str:
    words = (word.upper() for word in statement.span.text.split())
    return " ".join([word for word in words if word not in ("TEMPORARY", "SYSTEM")][:2])
