"""The connector ``hybrid``: sources that are read in turn.

In a stream the first micro-batch holds all of the sources that end, as far as they have ended, and what comes from the
last one follows.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...plan.connectors.hybrid import parts
from ...plan.record import replace
from ..errors import TableError
from . import find_connector
from .base import Connector, connector
from .tables import Table


def tables_in_turn(table: Table) -> Sequence[Table]:
    """The tables of the sources, in turn."""
    return [
        replace(table, identifier=f"{table.identifier}, source {name}", options=options)
        for name, options in parts(table.options).items()
    ]


@connector
class Hybrid(Connector):
    """Sources of any other connectors: all end but the last one."""

    name = "hybrid"

    def check(self, table: Table, is_source: bool) -> None:
        *before, last = tables_in_turn(table)
        for each in (*before, last):
            find_connector(each).check(each, is_source)
        for each in before:
            if not find_connector(each).is_bounded(each):
                raise TableError(
                    "reading this source does not end, and others come behind it",
                    where=f"table {each.identifier}",
                    hint="put it last, or say where it ends",
                )
        if not find_connector(last).is_bounded(last) and not find_connector(last).can_wait(last):
            raise TableError(
                f"a source of '{last.options['connector']}' does not wait here until others have been read",
                where=f"table {last.identifier}",
                hint="those of kafka and upsert-kafka do, and of filesystem with formats of lines",
            )

    def is_bounded(self, table: Table) -> bool:
        return all(find_connector(each).is_bounded(each) for each in tables_in_turn(table))

    def may_last(self, table: Table) -> bool:
        return any(find_connector(each).may_last(each) for each in tables_in_turn(table)[:-1])

    def size(self, table: Table) -> int | None:
        sizes = [find_connector(each).size(each) for each in tables_in_turn(table)]
        known = [size for size in sizes if size is not None]
        return sum(known) if len(known) == len(sizes) else None
