"""What is wrong with a plan's tables, found before anything runs."""

from __future__ import annotations

from collections.abc import Mapping

from ..plan.document import Plan
from ..plan.errors import FlinkplanError
from ..plan.nodes import Sink, TableSourceScan
from ..plan.specs import Overwrite
from .connectors import find_connector
from .errors import TableError
from .options import unset_variables
from .tables import plan_tables, table_of


def check_tables(plan: Plan, variables: Mapping[str, str]) -> None:
    """Raise :class:`TableError` for unset variables, options that cannot be used, and tables to be overwritten."""
    texts = (
        value
        for _, reference in plan_tables(plan)
        if reference.resolved_table
        for value in (reference.resolved_table.options or {}).values()
    )
    if unset := unset_variables(texts, variables):
        names = ", ".join(f"${{{name}}}" for name in unset)
        settings = " ".join(f"--var {name}=…" for name in unset)
        raise TableError(f"the tables' options use {names}, not set", hint=f"set them: {settings}")
    for node, reference in plan_tables(plan):
        try:
            if isinstance(node, Sink) and Overwrite(True) in (node.dynamic_table_sink.abilities or ()):
                raise TableError("a streaming job cannot overwrite a table", hint="write INSERT INTO")
            table = table_of(reference, variables)
            find_connector(table).check(table, isinstance(node, TableSourceScan))
        except FlinkplanError as e:
            e.where = e.where or f"table {reference.identifier}"
            raise
