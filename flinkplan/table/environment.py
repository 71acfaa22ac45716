"""The table environment, a session that executes SQL statements."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ..plan.errors import Location, PlanError, UnsupportedError
from ..plan.files import Place
from ..plan.findings import Finding
from ..plan.record import replace
from ..plan.secrets import masked
from ..plan.settings import LOCAL_TIME_ZONE, is_batch_mode
from ..plan.text.tableau import MAX_COLUMN_WIDTH, MAX_WIDTH
from ..planner.binder.context import Context
from ..planner.script import check_streaming
from ..planner.session import Session
from ..planner.sql import parse_script
from ..planner.sql.ast import (
    BoundQuery,
    CompilePlan,
    CreateTable,
    CreateView,
    Describe,
    ExecutePlan,
    Explain,
    ExplicitTable,
    Identifier,
    Insert,
    Name,
    Query,
    QueryStatement,
    SetOption,
    Show,
    Statement,
)
from ..planner.sql.ast import StatementSet as StatementSetNode
from .catalog_methods import CatalogMethods
from .catalog_views import BOOLEANS, describe, show
from .catalogs import ObjectIdentifier
from .compiled_plan import CompiledPlan, ExplainDetail, PlanReference, Runner
from .data_types import RowType
from .defaults import DEFAULTS, Defaults
from .descriptors import TableDescriptor
from .elements import elements_descriptor, expression_rows
from .expression import Expression
from .function_loader import FunctionLoader
from .jobs import Starter, of_own_statements, pipeline_jars
from .naming import name_of
from .pandas_frames import frame_descriptor
from .pipeline import StatementSet, TablePipeline
from .processing import called
from .query_result import QueryResult
from .result import TableResult
from .settings import EnvironmentSettings, TableConfig
from .storable import check_storable
from .table import Table

if TYPE_CHECKING:
    from ..planner.explaining import Explanation


class TableEnvironment(CatalogMethods):
    """A catalog, options, and the statements that use them.

    ``runner`` starts plans with the environment's options; by default jobs run as described in :mod:`.jobs`.  If the
    option ``flinkplan.like`` names a plan, compiled plans keep its ids and TTLs, as by :meth:`CompiledPlan.like`.
    ``warn`` is called for each warning; by default it issues a :class:`FlinkplanWarning`.
    """

    def __init__(
        self,
        settings: EnvironmentSettings,
        runner: Starter | None = None,
        warn: Callable[[Finding], None] | None = None,
    ) -> None:
        default = DEFAULTS.get() or Defaults()
        self._python_files = list(default.py_files)
        self._table_names: dict[int, str] = {}
        self._named_tables: list[Table] = []
        self._unnamed_tables = 0
        load = FunctionLoader(self._roots, trusts_statements=True)
        options = {**settings.options, **default.options}
        self._session = Session(
            options, warn or default.warn, executes=True, load=load, catalog_tables=default.catalog_tables
        )
        self._starter: Starter = default.starter if runner is None else runner
        self._loaded: Runner = lambda plan: self._starter(plan, self._session.config)
        self._own: Runner = lambda plan: self._starter(plan, of_own_statements(self._session.config))

    def _roots(self) -> Iterable[str]:
        """The files and folders from which functions are loaded, jars among them."""
        options = self._session.config
        return (
            *self._python_files,
            *filter(None, options.get("python.files", "").split(",")),
            *pipeline_jars(options),
        )

    def add_python_file(self, file_path: str) -> None:
        """Let functions be loaded from a Python file, a folder or an archive."""
        self._python_files.append(file_path)

    def set_python_requirements(self, requirements_file_path: str, requirements_cache_dir: str | None = None) -> None:
        """Set the option ``python.requirements``; what it names is not installed here."""
        paths = [requirements_file_path, *([requirements_cache_dir] if requirements_cache_dir else [])]
        self.get_config().set("python.requirements", "#".join(paths))

    def add_python_archive(self, archive_path: str, target_dir: str | None = None) -> None:
        """Add to the option ``python.archives``; archives are not unpacked here."""
        known = self.get_config().get("python.archives", "")
        added = f"{archive_path}#{target_dir}" if target_dir else archive_path
        self.get_config().set("python.archives", f"{known},{added}" if known else added)

    @staticmethod
    def create(environment_settings: EnvironmentSettings) -> TableEnvironment:
        """A new environment."""
        return TableEnvironment(environment_settings)

    def get_config(self) -> TableConfig:
        """The environment's options."""
        return TableConfig(lambda: self._session.config, self._session.set_option)

    def execute_sql(self, stmt: str) -> TableResult:
        """Execute one statement; an INSERT starts a job and does not wait for its end.

        Raises an error with its place in an invalid statement.
        """
        return self.execute_statement(self._one(stmt))

    def execute_statement(self, statement: Statement) -> TableResult:
        """Execute a parsed statement."""
        execute = _EXECUTORS.get(type(statement))
        if execute is not None:
            return execute(self, statement)
        self._session.apply(statement)
        return TableResult()

    @contextmanager
    def options(self, options: Mapping[str, str]) -> Iterator[None]:
        """Set options until the end of the block; those that statements in it set stay set."""
        before = dict(self._session.config)
        for key, value in options.items():
            self._session.set_option(key, value)
        try:
            yield
        finally:
            for key, value in options.items():
                if self._session.config.get(key) == value:
                    self._session.config.pop(key)
                    if key in before:
                        self._session.config[key] = before[key]

    def create_table_as(self, statement: CreateTable) -> Insert:
        """Create the table of a CREATE TABLE … AS; gives the INSERT that fills it."""
        return self._session.create_table_as(statement)

    def check_insert(self, statement: Insert) -> None:
        """Check an INSERT against the catalog.  Raises an error with its place."""
        self._session.bind(statement)

    def compile_plan_sql(self, stmt: str) -> CompiledPlan:
        """Compile an INSERT or a statement set.  Raises an error with its place in an invalid statement."""
        statement = self._one(stmt)
        if not isinstance(statement, (Insert, StatementSetNode)):
            raise PlanError("only INSERT and STATEMENT SET compile to a plan", where=statement.span.location)
        return self.compile_statement(statement)

    def load_plan(self, plan_reference: PlanReference) -> CompiledPlan:
        """Load a plan.  Raises :class:`PlanError` or :class:`UnsupportedError`."""
        return CompiledPlan(plan_reference.load(), self._loaded, self._session.restore)

    def execute_plan(self, plan_reference: PlanReference) -> TableResult:
        """Load a plan and start it."""
        return self.load_plan(plan_reference).execute()

    def sql_query(self, query: str) -> Table:
        """The result of a query as a table.  Raises an error with its place in an invalid query."""
        return Table(self, self._session.bind_query(self._query_of(query)), is_of_sql=True)

    def from_path(self, path: str) -> Table:
        """A table or view of the catalog, by its name in SQL.  Raises an error if there is none."""
        return Table(self, self._session.bind_query(Query(ExplicitTable(name_of(path)))))

    def from_call(self, path: Any, *arguments: Any) -> Table:
        """The rows that a process table function gives: ``env.from_call("f", table.as_argument("input"))``.

        ``path`` is the name of a registered function, or one in Python; arguments are named, or stand in their order.
        """
        return Table(self, called(self.context(), path, None, arguments))

    def from_descriptor(self, descriptor: TableDescriptor) -> Table:
        """The table of a descriptor, without a name in the catalog."""
        return Table(self, self._session.bind_query(Query(ExplicitTable(self._unnamed(descriptor)))))

    def from_elements(
        self,
        elements: Iterable[Any],
        schema: RowType | Sequence[str] | None = None,
        verify_schema: bool = True,
    ) -> Table:
        """The table of some Python values: tuples, dicts, or single ones, or of expressions such as ``row(1, "a")``.

        ``schema`` has the names and types of the columns, or only the names; other types are inferred from the values.
        Values are of the types of a schema unless ``verify_schema`` is ``False``.  A plan holds the rows.  Raises
        :class:`PlanError` where a type cannot be inferred, or a value is of another one.
        """
        items = list(elements)
        if items and all(isinstance(item, Expression) for item in items):
            return Table(self, expression_rows(self.context(), items, schema))
        return self.from_descriptor(elements_descriptor(items, schema, verifies=verify_schema))

    def from_pandas(self, pdf: Any, schema: RowType | Sequence[Any] | None = None, splits_num: int = 1) -> Table:
        """The table of a pandas ``DataFrame``; missing values are NULL.

        ``schema`` has the names and types of the columns, or only the names, or only the types.  A plan holds the rows.
        """
        return self.from_descriptor(frame_descriptor(pdf, schema, splits_num))

    def create_temporary_view(self, view_path: str, table_or_data_stream: Table, *fields_or_schema: Any) -> None:
        """Create a temporary view of a table."""
        self._create_view(view_path, table_or_data_stream, temporary=True)

    def create_view(self, view_path: str, table: Table, ignore_if_exists: bool = False) -> None:
        """Create a view of a table."""
        if not ignore_if_exists or self.catalog.find(name_of(view_path).names) is None:
            self._create_view(view_path, table, temporary=False)

    def _create_view(self, path: str, table: Table, *, temporary: bool) -> None:
        query = Query(BoundQuery(table.rel))
        self._session.apply(CreateView(name_of(path), query, temporary=temporary))

    def context(self) -> Context:
        """What expressions are bound with."""
        return self._session.context()

    def name_of(self, table: Table) -> str:
        """A name for a table, under which SQL can use it."""
        name = self._table_names.get(id(table))
        if name is None:
            path = f"UnnamedTable${len(self._table_names)}"
            name = str(self.catalog.qualify((path,)))
            self._table_names[id(table)] = name
            self._named_tables.append(table)
            self._create_view(name, table, temporary=True)
        return name

    def _unnamed(self, descriptor: TableDescriptor) -> Name:
        """The name of a table that only one query knows.  Source: ``ContextResolvedTable.anonymous``."""
        self._unnamed_tables += 1
        name = f"*anonymous_{descriptor.options.get('connector', 'table')}${self._unnamed_tables}*"
        statement = self._one(descriptor.statement("unnamed", temporary=True))
        assert isinstance(statement, CreateTable)
        self._session.define_unnamed(statement, name)
        return Name((Identifier(""), Identifier(""), Identifier(name)))

    def insert(self, query: Query, target: str | TableDescriptor, overwrite: bool = False) -> TablePipeline:
        """The pipeline that writes a query to a table of the catalog, or of a descriptor."""
        name = name_of(target) if isinstance(target, str) else self._unnamed(target)
        return TablePipeline(self, Insert(name, query, overwrite=overwrite))

    def parse_insert(self, stmt: str) -> Insert:
        """The INSERT of a text.  Raises an error with its place for another statement."""
        statement = self._one(stmt)
        if not isinstance(statement, Insert):
            raise PlanError("a statement set takes INSERTs", where=statement.span.location)
        return statement

    def compile_statement(self, statement: Insert | StatementSetNode) -> CompiledPlan:
        """The plan of a parsed statement.

        Raises an error if it is invalid, or calls a function that a plan cannot name.
        """
        check_streaming(self._session.config, statement)
        plan = self._compile(statement)
        check_storable(plan.plan)
        return plan

    def sink_of(self, statement: Insert | StatementSetNode) -> ObjectIdentifier | None:
        """The name of the one table that a statement writes, if it has one in the catalog."""
        if isinstance(statement, StatementSetNode):
            return None
        identifier = self.catalog.qualify(statement.table.names)
        if not identifier.catalog:
            return None
        return ObjectIdentifier(identifier.catalog, identifier.database, identifier.name)

    def explain_statement(self, statement: Insert | StatementSetNode) -> str:
        """A parsed statement as Flink explains it."""
        inserts = statement.inserts if isinstance(statement, StatementSetNode) else (statement,)
        bodies = [insert.query.body for insert in inserts]
        of_table_api = all(isinstance(body, BoundQuery) and not body.of_sql for body in bodies)
        return str(replace(self._session.explain(statement), of_table_api=of_table_api))

    def explain_query(self, query: Query, details: Collection[str] = (), *, of_table_api: bool = False) -> str:
        """A query as Flink explains it; ``of_table_api``: it is not in SQL."""
        return self._shown(replace(self._session.explain_query(query), of_table_api=of_table_api), details)

    def explain_sql(self, stmt: str, *extra_details: ExplainDetail) -> str:
        """A query, an INSERT or a statement set as Flink explains it, with further details."""
        return self._explained(self._one(stmt), [detail.name for detail in extra_details])

    def create_statement_set(self) -> StatementSet:
        """A set of INSERT statements that run as one job."""
        return StatementSet(self)

    def _one(self, text: str) -> Statement:
        statements = parse_script(text).statements
        if len(statements) != 1:
            raise PlanError(
                f"expected one statement, found {len(statements)}",
                where=statements[1].span.location if statements else Location(),
                hint="execute them one by one",
            )
        return statements[0]

    def _query_of(self, text: str) -> Query:
        """The query of a text with one statement.  Raises an error for an invalid query."""
        statement = self._one(text)
        if not isinstance(statement, QueryStatement):
            raise PlanError("this is not a query", where=statement.span.location, hint="execute_sql executes it")
        return statement.query

    def _compile(self, statement: Insert | StatementSetNode, *, complete: bool = False) -> CompiledPlan:
        plan = CompiledPlan(self._session.compile(statement, complete=complete), self._own, self._session.restore)
        like = self._session.config.get("flinkplan.like")
        return plan.like(PlanReference.from_name(like)) if like else plan

    def pipeline_of(self, statement: Statement) -> TablePipeline:
        """The pipeline of a parsed INSERT or statement set."""
        if not isinstance(statement, (Insert, StatementSetNode)):
            raise PlanError("only INSERT and STATEMENT SET compile to a plan", where=statement.span.location)
        return TablePipeline(self, statement)

    # One method for each kind of statement

    def _run(self, statement: Insert | StatementSetNode) -> TableResult:
        result = self._compile(statement, complete=True).execute()
        if self._is_set("table.dml-sync"):
            result.wait()
        return result

    def _is_set(self, key: str) -> bool:
        return self._session.config.get(key, "false").lower() == "true"

    def _compile_plan(self, statement: CompilePlan) -> TableResult:
        path, exists = statement.path, Place.of(statement.path).would_be_replaced()
        if exists and not self._is_set("table.plan.force-recompile") and not statement.if_not_exists:
            raise PlanError(
                "the plan exists already",
                where=path,
                hint="write IF NOT EXISTS to leave it alone, or SET 'table.plan.force-recompile' = 'true'",
            )
        if exists and statement.if_not_exists:
            plan = self.load_plan(PlanReference.from_file(path)) if statement.execute else None
        else:
            plan = self.compile_statement(statement.statement)
            Place.of(path).write(plan.as_json_string())
        return plan.execute() if plan and statement.execute else TableResult()

    def _execute_plan(self, statement: ExecutePlan) -> TableResult:
        if statement.if_exists and not Place.of(statement.path).exists():
            return TableResult()
        return self.execute_plan(PlanReference.from_file(statement.path))

    def _explain(self, statement: Explain) -> TableResult:
        try:
            return TableResult(("result",), [(self._explained(statement.statement, statement.details),)])
        except UnsupportedError as e:
            e.where = e.where or statement.span.location
            raise

    def _explained(self, statement: Statement, details: Collection[str] = ()) -> str:
        if isinstance(statement, QueryStatement):
            explanation = self._session.explain_query(statement.query)
        elif isinstance(statement, CreateTable) and statement.query is not None:
            explanation = self._session.explain_table_as(statement)
        else:
            explanation = self._session.explain(_explainable(statement))
        return self._shown(explanation, details)

    def _shown(self, explanation: Explanation, details: Collection[str]) -> str:
        shown = replace(
            explanation,
            has_changelog_modes="CHANGELOG_MODE" in details,
            has_advice="PLAN_ADVICE" in details,
            has_job_graph="JSON_EXECUTION_PLAN" in details,
            has_costs="ESTIMATED_COST" in details,
        )
        return str(shown)

    def _show(self, statement: Show) -> TableResult:
        if statement.what == "JARS":
            return TableResult(("jars",), [(jar,) for jar in self._session.jars])
        return TableResult(*show(self._session.catalog, statement), booleans=BOOLEANS)

    def _describe(self, statement: Describe) -> TableResult:
        return TableResult(*describe(self._session.catalog, statement), booleans=BOOLEANS)

    def _create_table(self, statement: CreateTable) -> TableResult:
        if statement.query is not None:
            return self._run(self._session.create_table_as(statement))
        self._session.apply(statement)
        return TableResult()

    def _set(self, statement: SetOption) -> TableResult:
        if statement.key is None:
            shown = ((key, masked(key, value)) for key, value in self._session.config.items())
            return TableResult(("key", "value"), sorted(shown))
        self._session.apply(statement)
        return TableResult()

    def _query(self, statement: QueryStatement) -> TableResult:
        plan = self._session.compile_query(statement.query)
        config = of_own_statements(self._session.config)
        width = int(config.get(MAX_COLUMN_WIDTH, MAX_WIDTH))
        zone = config.get(LOCAL_TIME_ZONE, "default")
        return QueryResult(
            plan,
            lambda collector: self._starter(plan, config, collector=collector),
            width,
            "UTC" if zone == "default" else zone,
            is_final=is_batch_mode(config),
        )


_EXECUTORS: Mapping[type[Statement], Callable[[TableEnvironment, Any], TableResult]] = {
    CompilePlan: TableEnvironment._compile_plan,
    CreateTable: TableEnvironment._create_table,
    Describe: TableEnvironment._describe,
    ExecutePlan: TableEnvironment._execute_plan,
    Explain: TableEnvironment._explain,
    Insert: TableEnvironment._run,
    QueryStatement: TableEnvironment._query,
    SetOption: TableEnvironment._set,
    Show: TableEnvironment._show,
    StatementSetNode: TableEnvironment._run,
}


def _explainable(statement: Statement) -> Insert | StatementSetNode:
    if not isinstance(statement, (Insert, StatementSetNode)):
        raise UnsupportedError(
            "only queries, INSERT, STATEMENT SET and CREATE TABLE … AS can be explained", where=statement.span.location
        )
    return statement


def starts_job(statement: Statement) -> bool:
    """Whether :meth:`TableEnvironment.execute_statement` starts a job."""
    match statement:
        case CompilePlan(execute=executes):
            return executes
        case CreateTable(query=query):
            return query is not None
    return isinstance(statement, (ExecutePlan, Insert, QueryStatement, StatementSetNode))
