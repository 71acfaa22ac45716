"""Where rows enter and leave: scans, constant rows and sinks."""

from __future__ import annotations

from ...plan.nodes import TableSourceScan
from ..connectors import find_connector
from ..context import TranslationContext
from ..registry import translator
from ..stream import Stream
from ..tables import table_of


@translator(TableSourceScan)
def scan(node: TableSourceScan, inputs: tuple[Stream, ...], context: TranslationContext) -> Stream:
    """Read a table by its connector."""
    table = table_of(node.scan_table_source.table, context.variables)
    return find_connector(table).read(table, node, context)
