"""Where a table of several sources goes on with the last one, and what waits for that (FLIP-326)."""

from __future__ import annotations

from typing import Any

from ....plan.nodes import TableSourceScan
from ..context import TranslationContext


def switch_of(scan: TableSourceScan, context: TranslationContext) -> Any:
    """The Java ``Switch`` of a scan of such a table; one a query."""
    switches = context.parts.switches
    if scan.id not in switches:
        switches[scan.id] = context.runtime.source.Switch(scan.scan_table_source.table.identifier)
    return switches[scan.id]
