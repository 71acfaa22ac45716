"""Text in columns."""

from __future__ import annotations

from collections.abc import Sequence

from ..plan.printable import one_line


def aligned(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A header and rows as text, each column as wide as its longest cell."""
    lines = [head, *([one_line(cell) for cell in row] for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(head))]
    return "\n".join("  ".join(cell.ljust(w) for cell, w in zip(line, widths, strict=True)).rstrip() for line in lines)
