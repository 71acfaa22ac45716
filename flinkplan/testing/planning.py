"""The plans of what a test looks at: of a sink of the pipeline, or of a view in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from ..compat.settings import catalog_scripts, read_settings
from ..plan.document import Plan, loads, read_text
from ..plan.errors import FlinkplanError, PlanError
from ..plan.files import is_program
from ..plan.findings import did_you_mean
from ..plan.nodes import ExecNode, Sink
from ..plan.record import replace
from ..planner.catalog.catalog import View
from ..planner.catalog.functions import Loader
from ..planner.sql import ast
from ..planner.sql.source import Span
from ..table.programs import compile_program
from .model import Expectation

NO_PUSHING = {"table.optimizer.source.predicate-pushdown-enabled": "false"}
"""Filters stay in the plan: files with the rows of a test do not apply them."""


class Pipeline:
    """A pipeline under test: a script, a spec, a program or a compiled plan."""

    def __init__(self, path: Path, options: Mapping[str, str], py_files: Sequence[str]) -> None:
        self.path = path
        self._options, self.py_files = {**NO_PUSHING, **options}, py_files
        self._plan: Plan | None = None
        self._parts: dict[str, Plan] = {}

    @property
    def plan(self) -> Plan:
        """Its plan.  Raises :class:`FlinkplanError` where it does not compile."""
        if self._plan is None:
            self._plan = self._compiled()
        return self._plan

    def _compiled(self) -> Plan:
        from ..planner import compile_script

        name = str(self.path)
        if is_program(name):
            return compile_program(
                name, self._options, _ignore, py_files=self.py_files, catalog_tables=self._catalog_tables
            )
        text = read_text(self.path)
        if self._is_plan:
            return loads(text, name)
        return compile_script(
            text,
            file=name,
            options=self._options,
            complete=True,
            warn=_ignore,
            load=self._load,
            catalog_tables=self._catalog_tables,
        )

    @property
    def _catalog_tables(self) -> Mapping[str, str]:
        return catalog_scripts(read_settings(self.path.parent))

    @property
    def _is_plan(self) -> bool:
        return self.path.suffix.lower() == ".json"

    def plan_of(self, expected: Expectation) -> Plan:
        """The plan of one sink, or of a view.

        Raises :class:`SpecError` where the pipeline has neither of this name.
        """
        if expected.name not in self._parts:
            self._parts[expected.name] = self._part(expected)
        return self._parts[expected.name]

    def _part(self, expected: Expectation) -> Plan:
        sinks = {node.dynamic_table_sink.table.name: node for node in self.plan.nodes if isinstance(node, Sink)}
        if expected.name in sinks:
            return part_of(self.plan, sinks[expected.name])
        return self._plan_of_view(expected.name, expected.span, list(sinks))

    def _plan_of_view(self, name: str, span: Span, sinks: list[str]) -> Plan:
        from ..planner.script import definitions, parse_pipeline
        from ..planner.spec.errors import SpecError

        views: list[str] = []
        if not (self._is_plan or is_program(str(self.path))):
            session = definitions(
                parse_pipeline(read_text(self.path), str(self.path)), self._options, self._load, self._catalog_tables
            )
            catalog = session.catalog
            if isinstance(catalog.find((name,)), View):
                view = ast.Name((ast.Identifier(name),))
                return session.compile_query(ast.Query(ast.ExplicitTable(view)))
            objects = catalog.objects_of(catalog.current_catalog, catalog.current_database)
            views = [each.identifier.name for each in objects if isinstance(each, View)]
        hint = did_you_mean(name, [*sinks, *views])
        raise SpecError(f"the pipeline has no sink and no view '{name}'", span, hint)

    @property
    def _load(self) -> Loader:
        from ..table.function_loader import FunctionLoader

        return FunctionLoader(lambda: self.py_files)


def _ignore(finding: object) -> None:
    """Warnings are for those who compile."""


def part_of(plan: Plan, sink: ExecNode) -> Plan:
    """The part of a plan that a sink is written by."""
    ids = {node.id for node in plan.upstream([sink])}
    nodes = tuple(node for node in plan.nodes if node.id in ids)
    return replace(plan, nodes=nodes, edges=tuple(edge for edge in plan.edges if edge.target in ids))


def primary_key(plan: Plan) -> tuple[int, ...]:
    """The positions of the primary key's columns in the rows of the one sink of a plan."""
    [sink] = [node for node in plan.nodes if isinstance(node, Sink)]
    resolved = sink.dynamic_table_sink.table.resolved_table
    key = resolved.schema.primary_key if resolved else None
    names = column_names(plan)
    return tuple(names.index(name) for name in (key.columns if key else ()) if name in names)


def column_names(plan: Plan) -> list[str]:
    """The names of the columns in the rows of the one sink of a plan."""
    [sink] = [node for node in plan.nodes if isinstance(node, Sink)]
    return sink.column_names


__all__ = ["FlinkplanError", "Pipeline", "PlanError", "column_names", "part_of", "primary_key"]
