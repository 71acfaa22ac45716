"""The context in which a statement is bound."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

from ...plan.functions import find_function
from ...plan.functions.table_api import is_of_table_api
from ...plan.record import Record, Struct, field, replace
from ..catalog.catalog import Catalog, Table
from ..sql.source import Span
from .errors import BindError

if TYPE_CHECKING:
    from ...plan.findings import Finding
    from ...plan.functions import Function
    from ...plan.types import LogicalType
    from ..algebra.rel import Rel
    from ..sql.ast import Name


def _nobody(findings: Iterable[Finding], span: Span) -> None:
    """Ignores warnings."""


class TableUse(Record):
    """A table that a statement reads or writes, with the options of its hint, and where it is named."""

    table: Table
    hints: Mapping[str, str]
    span: Span
    as_sink: bool = False

    @property
    def options(self) -> dict[str, str]:
        """The table's options, overridden by the hint's."""
        return {**(self.table.resolved.options or {}), **self.hints}

    def wrong(self, option: str, message: str, hint: str | None = None) -> BindError:
        """The error at the option, or at the table's name where the option is written in a hint or nowhere."""
        return BindError(message, self.place(option), hint)

    def place(self, option: str) -> Span:
        """Where an option is written, or the table's name where that is in a hint or nowhere."""
        own = option not in self.hints
        return self.table.option_spans.get(option, self.span) if own else self.span


class Correlations(Struct):
    """Numbers correlation variables.

    Source: ``RelOptCluster.createCorrel``. Flink has one cluster for a session, so that CREATE VIEW counts as well.
    """

    made: int = 0

    def next(self) -> str:
        """A fresh name for a correlation variable."""
        name = f"$cor{self.made}"
        self.made += 1
        return name


class Context(Struct):
    """The catalog, the configuration, and the state of binding one statement."""

    catalog: Catalog
    config: Mapping[str, str] = field(default_factory=dict)
    correlations: Correlations = field(default_factory=Correlations)
    """The correlation variables of the session, which are numbered across queries."""

    expanding: tuple[str, ...] = ()
    """The views that are being expanded, to detect cycles."""
    ctes: tuple[Mapping[str, Callable[[Context], tuple[Rel, LogicalType]]], ...] = ()
    """The common table expressions in scope, innermost last: how each is bound where it is used."""

    uses: list[TableUse] = field(default_factory=list)
    """The tables that the statement uses."""

    tell: Callable[[Iterable[Finding], Span], None] = _nobody
    """Receives findings about what may not be meant, with their place."""

    names_scans: bool = False
    """Whether scans show their aliases, as Flink's do in a subquery of a SELECT with hints."""

    is_hinted: bool = False
    """Whether a SELECT around has hints, so that EXPLAIN shows the aliases of tables."""

    def function(self, name: Name) -> Function | None:
        """The function of a name: a temporary one of the system, a built-in one, or one of a catalog.

        A built-in one that SQL cannot call is none, and hides those of a catalog.

        Source: ``FunctionCatalog``.
        """
        names = name.names
        if len(names) > 1:
            return self.catalog.find_function(names)
        found = self.catalog.functions.find_system(names[0]) or find_function(names[0])
        return found if found is not None or is_of_table_api(names[0]) else self.catalog.find_function(names)

    def apart(self) -> Context:
        """A context for binding without using up correlation variables."""
        return replace(self, correlations=replace(self.correlations))
