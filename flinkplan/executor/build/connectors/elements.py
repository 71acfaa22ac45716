"""The connector ``python-input-format``: rows of Python values, within the plan."""

from __future__ import annotations

from ....plan.elements import NAME, elements_of
from ....plan.nodes import TableSourceScan
from ...connectors.tables import Table
from ..constant_rows import constant_rows
from ..context import TranslationContext
from ..stream import SEQUENCE, Stream
from .base import TableBuilder, table_builder
from .requests import Request


@table_builder
class Elements(TableBuilder):
    """Some rows, once."""

    name = NAME

    def read(self, table: Table, node: TableSourceScan, context: TranslationContext) -> Stream:
        types = [t for _, t in table.physical]
        frame = constant_rows(elements_of(node.own_properties, len(types)), types, context)
        request = Request.of(table, node.scan_table_source.abilities, {})
        return Stream(frame.select(*request.outputs(frame), SEQUENCE), node.output_type)
