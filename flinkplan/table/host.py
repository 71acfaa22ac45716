"""What tables and pipelines need of their environment."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any, Protocol

from ..planner.algebra.rel import Rel
from ..planner.binder.context import Context
from ..planner.sql.ast import Insert, Query, Statement
from ..planner.sql.ast import StatementSet as StatementSetNode
from .compiled_plan import CompiledPlan
from .result import TableResult

if TYPE_CHECKING:
    from .catalogs import ObjectIdentifier
    from .descriptors import TableDescriptor


class Relational:
    """Something with a relation: a table."""

    rel: Rel


class Pipeline(Protocol):
    """INSERTs that run as one job."""

    statement: Insert | StatementSetNode

    def compile_plan(self) -> CompiledPlan:
        """The compiled plan."""

    def explain(self, *extra_details: Any) -> str:
        """The pipeline as Flink explains it."""

    def execute(self) -> TableResult:
        """Start the job."""


class Insertable(Protocol):
    """What can be written to a table."""

    def insert_into(self, table_path_or_descriptor: Any, overwrite: bool = False) -> Pipeline:
        """The pipeline that writes it."""


class Host(Protocol):
    """An environment of tables."""

    def context(self) -> Context:
        """What expressions are bound with."""

    def name_of(self, table: Any) -> str:
        """A name for a table, under which SQL can use it."""

    def insert(self, query: Query, target: str | TableDescriptor, overwrite: bool = False) -> Pipeline:
        """The pipeline that writes a query to a table of the catalog, or of a descriptor."""

    def parse_insert(self, stmt: str) -> Insert:
        """The INSERT of a text."""

    def compile_statement(self, statement: Insert | StatementSetNode) -> CompiledPlan:
        """The plan of a parsed statement."""

    def sink_of(self, statement: Insert | StatementSetNode) -> ObjectIdentifier | None:
        """The name of the one table that a statement writes, if it has one in the catalog."""

    def explain_statement(self, statement: Insert | StatementSetNode) -> str:
        """A parsed statement as Flink explains it."""

    def explain_query(self, query: Query, details: Collection[str] = (), *, of_table_api: bool = False) -> str:
        """A query as Flink explains it; ``of_table_api``: it is not in SQL."""

    def execute_statement(self, statement: Statement) -> TableResult:
        """Execute a parsed statement."""
