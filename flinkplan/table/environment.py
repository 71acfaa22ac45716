"""The table environment, a session that executes SQL statements."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ..plan.errors import Location, PlanError, UnsupportedError
from ..plan.explain import explain_text
from ..plan.files import Place
from ..plan.findings import Finding
from ..plan.secrets import masked
from ..plan.types.readable import readable
from ..planner.catalog.catalog import Catalog
from ..planner.session import Session
from ..planner.sql import parse_script
from ..planner.sql.ast import (
    CompilePlan,
    CreateTable,
    Describe,
    ExecutePlan,
    Explain,
    Insert,
    QueryStatement,
    SetOption,
    Show,
    Statement,
)
from ..planner.sql.ast import StatementSet as StatementSetNode
from ..planner.sql.source import Span
from .catalog_views import describe, show
from .compiled_plan import CompiledPlan, ExplainDetail, PlanReference, Runner
from .data_types import RowType
from .descriptors import TableDescriptor
from .elements import elements_query
from .function_loader import FunctionLoader
from .jobs import Starter, of_own_statements, start
from .query_result import QueryResult
from .result import TableResult
from .settings import EnvironmentSettings, TableConfig
from .tableau import MAX_COLUMN_WIDTH, MAX_WIDTH


class FlinkplanWarning(UserWarning):
    """A warning about a statement that compiles, but may not be intended; ``finding`` has the rule and the place."""

    def __init__(self, finding: Finding) -> None:
        hint = f" ({finding.hint})" if finding.hint else ""
        where = f"{finding.location}: " if finding.location else ""
        super().__init__(f"{where}{finding.message}{hint} [{finding.rule}]")
        self.finding = finding


def _warn(finding: Finding) -> None:
    warnings.warn(FlinkplanWarning(finding), stacklevel=2)


class TableEnvironment:
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
        self._python_files: list[str] = []
        load = FunctionLoader(self._roots)
        self._session = Session(settings.options, warn or _warn, executes=True, load=load)
        self._starter: Starter = start if runner is None else runner
        self._loaded: Runner = lambda plan: self._starter(plan, self._session.config)
        self._own: Runner = lambda plan: self._starter(plan, of_own_statements(self._session.config))

    def _roots(self) -> Iterable[str]:
        """The files and folders from which Python functions are loaded."""
        return (*self._python_files, *filter(None, self._session.config.get("python.files", "").split(",")))

    def add_python_file(self, file_path: str) -> None:
        """Let functions be loaded from a Python file, a folder or an archive."""
        self._python_files.append(file_path)

    @staticmethod
    def create(environment_settings: EnvironmentSettings) -> TableEnvironment:
        """A new environment."""
        return TableEnvironment(environment_settings)

    @property
    def catalog(self) -> Catalog:
        """The tables and views."""
        return self._session.catalog

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

    def compile_plan_sql(self, stmt: str) -> CompiledPlan:
        """Compile an INSERT or a statement set.  Raises an error with its place in an invalid statement."""
        statement = self._one(stmt)
        if not isinstance(statement, (Insert, StatementSetNode)):
            raise PlanError("only INSERT and STATEMENT SET compile to a plan", where=statement.span.location)
        return self._compile(statement)

    def load_plan(self, plan_reference: PlanReference) -> CompiledPlan:
        """Load a plan.  Raises :class:`PlanError` or :class:`UnsupportedError`."""
        return CompiledPlan(plan_reference.load(), self._loaded, self._session.restore)

    def execute_plan(self, plan_reference: PlanReference) -> TableResult:
        """Load a plan and start it."""
        return self.load_plan(plan_reference).execute()

    def sql_query(self, query: str) -> QueryTable:
        """The result of a query as a table, which can be collected, named as a view, or inserted into a table.

        Raises an error with its place in an invalid query.
        """
        return QueryTable(self, self._query_of(query).text)

    def from_path(self, path: str) -> QueryTable:
        """A table or view of the catalog, by its name in SQL."""
        return self.sql_query(f"SELECT * FROM {path}")

    def from_elements(self, elements: Iterable[Any], schema: RowType | Sequence[str] | None = None) -> QueryTable:
        """The table of some Python values: tuples, dicts, or single ones.

        ``schema`` has the names and types of the columns, or only the names; other types are inferred from the values.
        Raises :class:`PlanError` where a type cannot be inferred.
        """
        return self.sql_query(elements_query(elements, schema))

    def from_pandas(self, pdf: Any, schema: RowType | Sequence[str] | None = None) -> QueryTable:
        """The table of a pandas ``DataFrame``; missing values are NULL."""
        rows = pdf.astype(object).where(pdf.notna(), None).itertuples(index=False, name=None)
        return self.from_elements(rows, schema or [str(name) for name in pdf.columns])

    def create_table(self, path: str, descriptor: TableDescriptor) -> None:
        """Create a table, as CREATE TABLE does."""
        self.execute_sql(descriptor.statement(path, temporary=False))

    def create_temporary_table(self, path: str, descriptor: TableDescriptor) -> None:
        """Create a temporary table, as CREATE TEMPORARY TABLE does."""
        self.execute_sql(descriptor.statement(path, temporary=True))

    def create_temporary_view(self, path: str, table: QueryTable) -> None:
        """Create a temporary view of the query."""
        self.execute_sql(f"CREATE TEMPORARY VIEW {path} AS {table.query}")

    def explain_sql(self, stmt: str, *extra_details: ExplainDetail) -> str:
        """The operators that an INSERT or a statement set compiles to."""
        return self.compile_plan_sql(stmt).explain(*extra_details)

    def create_statement_set(self) -> StatementSet:
        """A set of INSERT statements that run as one job."""
        return StatementSet(self)

    def list_tables(self) -> list[str]:
        """The names of the tables and views of the current database."""
        return [row[0] for row in show(self._session.catalog, Show("TABLES"))[1]]

    def _one(self, text: str) -> Statement:
        statements = parse_script(text).statements
        if len(statements) != 1:
            raise PlanError(
                f"expected one statement, found {len(statements)}",
                where=statements[1].span.location if statements else Location(),
                hint="execute them one by one",
            )
        return statements[0]

    def _query_of(self, text: str) -> Span:
        """The place of the query in a text with one statement.  Raises an error for an invalid query."""
        statement = self._one(text)
        if not isinstance(statement, QueryStatement):
            raise PlanError("this is not a query", where=statement.span.location, hint="execute_sql executes it")
        self._session.compile_query(statement.query)
        return statement.query.span

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
            plan = self._compile(statement.statement)
            Place.of(path).write(plan.as_json_string())
        return plan.execute() if plan and statement.execute else TableResult()

    def _execute_plan(self, statement: ExecutePlan) -> TableResult:
        if statement.if_exists and not Place.of(statement.path).exists():
            return TableResult()
        return self.execute_plan(PlanReference.from_file(statement.path))

    def _explain(self, statement: Explain) -> TableResult:
        inner = statement.statement
        for detail in statement.details:
            if detail != "CHANGELOG_MODE":
                raise UnsupportedError(
                    f"EXPLAIN {detail} is not supported",
                    where=statement.span.location,
                    hint="EXPLAIN CHANGELOG_MODE is",
                )
        if isinstance(inner, QueryStatement):
            plan = self._session.compile_query(inner.query)
        elif isinstance(inner, (Insert, StatementSetNode)):
            plan = self._session.compile(inner, complete=True)
        else:
            raise UnsupportedError("only queries, INSERT and STATEMENT SET can be explained", where=inner.span.location)
        return TableResult(("result",), [(explain_text(plan),)])

    def _show(self, statement: Show) -> TableResult:
        return TableResult(*show(self._session.catalog, statement))

    def _describe(self, statement: Describe) -> TableResult:
        return TableResult(*describe(self._session.catalog, statement))

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
        return QueryResult(plan, lambda collector: self._starter(plan, config, collector=collector), width)


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


class TablePipeline:
    """An INSERT, or several, that can be compiled, explained and executed."""

    def __init__(self, environment: TableEnvironment, statement: Insert | StatementSetNode) -> None:
        self._environment = environment
        self.statement = statement

    def compile_plan(self) -> CompiledPlan:
        """The compiled plan.  Raises an error for an invalid pipeline."""
        return self._environment._compile(self.statement)

    def explain(self, *extra_details: ExplainDetail) -> str:
        """The operators as a tree."""
        return self._environment._compile(self.statement, complete=True).explain(*extra_details)

    def print_explain(self, *extra_details: ExplainDetail) -> None:
        """Print the explanation."""
        print(self.explain(*extra_details))

    def execute(self) -> TableResult:
        """Start the job."""
        return self._environment._run(self.statement)


def starts_job(statement: Statement) -> bool:
    """Whether :meth:`TableEnvironment.execute_statement` starts a job."""
    match statement:
        case CompilePlan(execute=executes):
            return executes
        case CreateTable(query=query):
            return query is not None
    return isinstance(statement, (ExecutePlan, Insert, QueryStatement, StatementSetNode))


class QueryTable:
    """A query as a table.  Nothing runs before its rows are asked for.  PyFlink calls it ``Table``."""

    def __init__(self, environment: TableEnvironment, query: str) -> None:
        self._environment = environment
        self.query = query

    def execute(self) -> TableResult:
        """The rows of the query."""
        return self._environment.execute_sql(self.query)

    def execute_insert(self, table_path: str) -> TableResult:
        """Insert the rows into a table of the catalog."""
        return self._environment.execute_sql(f"INSERT INTO {table_path} {self.query}")

    def limit(self, fetch: int, offset: int = 0) -> QueryTable:
        """The first rows, after skipping ``offset`` rows."""
        return self._environment.sql_query(f"SELECT * FROM (\n{self.query}\n) LIMIT {fetch} OFFSET {offset}")

    def fetch(self, fetch: int) -> QueryTable:
        """The first rows."""
        return self.limit(fetch)

    def offset(self, offset: int) -> QueryTable:
        """The rows after the first ``offset`` rows."""
        return self._environment.sql_query(f"SELECT * FROM (\n{self.query}\n) OFFSET {offset}")

    def explain(self) -> str:
        """The operators of the query as a tree."""
        return str(self._environment.execute_sql(f"EXPLAIN {self.query}"))

    def print_schema(self) -> None:
        """Print the columns and their types."""
        result = self.execute()
        assert isinstance(result, QueryResult)
        columns = ",\n".join(f"  `{name}` {readable(str(t))}" for name, t in result.columns)
        print(f"(\n{columns}\n)")

    def to_pandas(self) -> Any:
        """The final rows of the query as a pandas ``DataFrame``.  The query must end."""
        result = self.execute()
        assert isinstance(result, QueryResult)
        return result.to_pandas()


class StatementSet:
    """INSERT statements that compile to one plan, so that they share common parts."""

    def __init__(self, environment: TableEnvironment) -> None:
        self._environment = environment
        self._statements: list[str] = []

    def add_insert_sql(self, stmt: str) -> StatementSet:
        """Add an INSERT statement."""
        self._statements.append(stmt.strip().rstrip(";"))
        return self

    def compile_plan(self) -> CompiledPlan:
        """Compile all statements to one plan, and empty the set."""
        return self._environment.compile_plan_sql(self._statement())

    def _statement(self) -> str:
        inserts = ";\n".join(self._statements)
        self._statements.clear()
        return f"STATEMENT SET BEGIN\n{inserts};\nEND"

    def explain(self, *extra_details: ExplainDetail) -> str:
        """The operators as a tree; the set stays as it is."""
        kept = list(self._statements)
        text = self.compile_plan().explain(*extra_details)
        self._statements = kept
        return text

    def execute(self) -> TableResult:
        """Start all statements as one job, and empty the set."""
        return self._environment.execute_sql(f"EXECUTE {self._statement()}")
