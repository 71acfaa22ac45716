"""Pipelines: INSERTs of SQL and of tables that are compiled, explained and executed as one job."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..plan.errors import UnsupportedError
from ..planner.sql.ast import Insert
from ..planner.sql.ast import StatementSet as StatementSetNode

if TYPE_CHECKING:
    from .catalogs import ObjectIdentifier
    from .compiled_plan import CompiledPlan, ExplainDetail
    from .descriptors import TableDescriptor
    from .host import Host, Insertable, Pipeline
    from .result import TableResult


class TablePipeline:
    """An INSERT, or several, that can be compiled, explained and executed."""

    def __init__(self, environment: Host, statement: Insert | StatementSetNode) -> None:
        self._environment = environment
        self.statement = statement

    def compile_plan(self) -> CompiledPlan:
        """The compiled plan.  Raises an error for an invalid pipeline."""
        return self._environment.compile_statement(self.statement)

    def get_sink_identifier(self) -> ObjectIdentifier | None:
        """The name of the table that is written; ``None`` where it has none in the catalog, or there are several."""
        return self._environment.sink_of(self.statement)

    def explain(self, *extra_details: ExplainDetail) -> str:
        """The pipeline as Flink explains it."""
        return self._environment.explain_statement(self.statement)

    def print_explain(self, *extra_details: ExplainDetail) -> None:
        """Print the explanation."""
        print(self.explain(*extra_details))

    def execute(self) -> TableResult:
        """Start the job."""
        return self._environment.execute_statement(self.statement)


class StatementSet:
    """INSERTs that compile to one plan, so that they share common parts."""

    def __init__(self, environment: Host) -> None:
        self._environment = environment
        self._inserts: list[Insert] = []

    def add(self, table_pipeline: Pipeline) -> StatementSet:
        """Add a pipeline of a table."""
        statement = table_pipeline.statement
        self._inserts += statement.inserts if isinstance(statement, StatementSetNode) else [statement]
        return self

    def add_insert_sql(self, stmt: str) -> StatementSet:
        """Add an INSERT statement.  Raises an error with its place for a text that is none."""
        self._inserts.append(self._environment.parse_insert(stmt))
        return self

    def add_insert(
        self, target_path_or_descriptor: str | TableDescriptor, table: Insertable, overwrite: bool = False
    ) -> StatementSet:
        """Add what writes a table to one of the catalog, or of a descriptor."""
        return self.add(table.insert_into(target_path_or_descriptor, overwrite))

    def _statement(self) -> StatementSetNode:
        return StatementSetNode(tuple(self._inserts))

    def compile_plan(self) -> CompiledPlan:
        """Compile all INSERTs to one plan; the set stays as it is."""
        return self._environment.compile_statement(self._statement())

    def explain(self, *extra_details: ExplainDetail) -> str:
        """The pipeline as Flink explains it; the set stays as it is."""
        return self._environment.explain_statement(self._statement())

    def print_explain(self, *extra_details: ExplainDetail) -> None:
        """Print the explanation."""
        print(self.explain(*extra_details))

    def attach_as_datastream(self) -> None:
        """Raises :class:`UnsupportedError`: there is no DataStream program to attach to."""
        raise UnsupportedError("attach_as_datastream is not supported", hint="execute() starts the job")

    def execute(self) -> TableResult:
        """Start all INSERTs as one job, and empty the set."""
        statement = self._statement()
        self._inserts = []
        return self._environment.execute_statement(statement)
