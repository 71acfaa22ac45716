"""Checks of table options where a table is read or written; what Flink refuses is refused here."""

from __future__ import annotations

from itertools import chain

from ..plan.connectors import CONNECTORS, VALUE_FORMAT, Connector
from ..plan.connectors.checks import exposed, problems
from ..plan.findings import did_you_mean
from .binder.context import TableUse
from .binder.errors import BindError


def check_use(use: TableUse) -> None:
    """Raise :class:`BindError` for options that Flink refuses where the table is read or written."""
    schema = use.table.resolved.schema
    found_problems = problems(use.table.identifier.name, use.options, schema, use.as_sink)
    for problem in chain(found_problems, exposed(use.options)):
        raise use.wrong(problem.key, problem.message, problem.hint)
    known = CONNECTORS.get(use.options["connector"])
    if known is not None and known.options is not None:
        _check_metadata(use, known)


def _check_metadata(use: TableUse, connector: Connector) -> None:
    """Metadata columns must be offered by the connector; only connectors of messages offer those of formats."""
    for column in use.table.resolved.schema.columns:
        if column.kind != "METADATA" or (use.as_sink and column.is_virtual):
            continue
        key = column.metadata_key or column.name
        if use.as_sink:
            raise BindError(
                f"the metadata column '{column.name}' cannot be written to a table of '{connector.name}'",
                use.span,
                "declare it VIRTUAL, which leaves it out of what is written",
            )
        if key not in connector.metadata and not (VALUE_FORMAT in connector.formats and key.startswith("value.")):
            raise BindError(
                f"the connector '{connector.name}' has no metadata '{key}' for the column '{column.name}'",
                use.span,
                did_you_mean(key, connector.metadata) or f"there is {', '.join(connector.metadata) or 'none'}",
            )
