"""Formats rows as a text table, as Flink's ``TableResult.print()`` does.

Source: Flink's ``TableauStyle``; in streaming mode widths depend on the types of columns.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Sequence

from ...windowing.rows import Row
from ..types import TIMESTAMPS, LogicalType

MAX_COLUMN_WIDTH = "table.display.max-column-width"
MAX_WIDTH = 30
"""The default of this option: the width of a column whose type has no maximum length."""

_NULL = "<NULL>"
_MORE = "..."
_WIDTHS = {"BOOLEAN": 5, "TINYINT": 4, "SMALLINT": 6, "INT": 11, "BIGINT": 20, "DATE": 10}

Columns = Sequence[tuple[str, LogicalType]]
"""The names and types of columns."""


def changes(columns: Columns, rows: Iterable[Row], max_width: int = MAX_WIDTH) -> Iterator[str]:
    """The lines of a table of changes, whose first column is their kind; each line is yielded when its row arrives."""
    widths = [2, *_column_widths(columns, max_width)]
    return _table(["op", *_names(columns)], widths, ([str(row.get_row_kind()), *row] for row in rows))


def final(columns: Columns, rows: Iterable[Row], max_width: int = MAX_WIDTH) -> Iterator[str]:
    """The lines of a table of final rows, as wide as what stands in it; no column is wider than ``max_width``.

    Source: ``TableauStyle.columnWidthsByContent``.
    """
    kept = [[_NULL if value is None else str(value) for value in row] for row in rows]
    names = _names(columns)
    widths = [max(map(shown_width, cells)) for cells in zip(names, *kept, strict=True)]
    return _table(names, [min(width, max_width) for width in widths], kept)


def content(columns: Columns, rows: Iterable[Row], max_width: int = MAX_WIDTH) -> Iterator[str]:
    """The lines of a table of rows, without their kinds."""
    return _table(_names(columns), _column_widths(columns, max_width), rows)


def _table(names: Sequence[str], widths: Sequence[int], rows: Iterable[Iterable[str | None]]) -> Iterator[str]:
    border = "+" + "+".join("-" * (width + 2) for width in widths) + "+"
    count = 0
    for row in rows:
        if not count:
            yield from (border, _line(names, widths), border)
        yield _line([_NULL if value is None else value for value in row], widths)
        count += 1
    if not count:
        yield "Empty set"
        return
    yield border
    yield f"{count} row{'s' * (count > 1)} in set"


def _names(columns: Columns) -> list[str]:
    return [name for name, _ in columns]


def _column_widths(columns: Columns, max_width: int) -> list[int]:
    return [max(shown_width(name), _width(t, max_width)) for name, t in columns]


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    return "| " + " | ".join(_cell(cell, width) for cell, width in zip(cells, widths, strict=True)) + " |"


def _cell(text: str, width: int) -> str:
    if shown_width(text) > width:
        while shown_width(text) > width - len(_MORE):
            text = text[:-1]
        text += _MORE
    return " " * (width - shown_width(text)) + text


def shown_width(text: str) -> int:
    """The number of terminal columns of a text; wide East Asian characters take two."""
    return sum(1 + (unicodedata.east_asian_width(c) in "WF") for c in text)


def _width(t: LogicalType, max_width: int) -> int:
    if t.root == "DECIMAL":
        width = (t.precision or 0) + 2
    elif t.root == "TIME":
        width = _with_fraction(8, t)
    elif t.root in TIMESTAMPS:
        width = _with_fraction(19, t)
    else:
        width = _WIDTHS.get(t.root, max_width)
    return max(width, len(_NULL))


def _with_fraction(width: int, t: LogicalType) -> int:
    return width + 1 + t.precision if t.precision else width
