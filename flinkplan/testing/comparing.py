"""Comparing the rows of a job with those that a test expects."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..plan.findings import did_you_mean
from ..plan.printable import one_line
from ..plan.record import Record, field
from ..planner.spec.errors import SpecError
from .model import ALL, KINDS, Expectation
from .reading import ReadRow, read_rows
from .values import is_equal, plain, shown

MISSING, UNEXPECTED, SAME = "-", "+", " "


class Result(Record):
    """What has come out of a sink or view so far.

    ``changes`` are its rows with the numbers of their kinds; ``key`` are the positions of the columns of its primary
    key; ``late`` is how many rows were dropped for being late, ``dropped`` how many by each operator, and ``state`` how
    many entries that have not expired each operator keeps, where that was asked for.
    """

    columns: tuple[str, ...]
    changes: tuple[tuple[int, tuple[Any, ...]], ...]
    key: tuple[int, ...] = ()
    late: int = 0
    dropped: Mapping[str, int] = field(default_factory=dict)
    state: Mapping[str, int] = field(default_factory=dict)

    def final_rows(self) -> list[tuple[Any, ...]]:
        """The rows that are left after all changes: by key if there is one, else each deletion takes an equal row."""
        if self.key:
            by_key: dict[str, tuple[Any, ...]] = {}
            for kind, row in self.changes:
                key = repr([row[position] for position in self.key])
                by_key.pop(key, None)
                if KINDS[kind] in ("+I", "+U"):
                    by_key[key] = row
            return list(by_key.values())
        rows: list[tuple[Any, ...]] = []
        for kind, row in self.changes:
            if KINDS[kind] in ("+I", "+U"):
                rows.append(row)
            elif row in rows:
                rows.remove(row)
        return rows


class Line(Record):
    """A row of the table of differences: its mark, the kind of the row in a changelog, and its values as texts."""

    mark: str
    kind: str
    values: tuple[str, ...]


class CountDifference(Record):
    """``what`` there are another number of than ``expected`` of an operator, or of all."""

    what: str
    operator: str
    expected: int
    actual: int

    def __str__(self) -> str:
        where = "" if self.operator == ALL else f" in {self.operator}"
        return f"{self.actual} {self.what}{where} instead of {self.expected}"


class Difference(Record):
    """How a sink or view differs from what is expected of it."""

    name: str
    columns: tuple[str, ...]
    lines: tuple[Line, ...]
    late: tuple[int, int] | None = None
    """How many rows were to be late, and how many were."""
    counts: tuple[CountDifference, ...] = ()
    """Numbers of rows or entries that are not as expected."""
    expected: Expectation | None = field(default=None)
    actual: tuple[tuple[str, tuple[Any, ...]], ...] = ()
    """The rows that came, with their kinds, for an update of the test."""

    @property
    def summary(self) -> str:
        """``report: 1 row missing, 2 unexpected``."""
        parts = []
        for mark, word in ((MISSING, "missing"), (UNEXPECTED, "unexpected")):
            if number := sum(line.mark == mark for line in self.lines):
                parts.append(f"{number} row{'' if number == 1 else 's'} {word}")
        if not parts and any(line.mark != SAME for line in self.lines):
            parts.append("another order")
        if self.late is not None:
            parts.append(f"{self.late[1]} late row{'' if self.late[1] == 1 else 's'} instead of {self.late[0]}")
        parts += map(str, self.counts)
        return f"{self.name}: {', '.join(parts) or 'the rows have another order'}"

    def table(self) -> str:
        """The rows with marks: - is missing, + unexpected."""
        if not self.lines:
            return ""
        has_kinds = any(line.kind for line in self.lines)
        heads = ("", *(("op",) if has_kinds else ()), *self.columns)
        rows = [(line.mark, *((line.kind,) if has_kinds else ()), *line.values) for line in self.lines]
        cells = [[one_line(cell) for cell in row] for row in (heads, *rows)]
        widths = [max(len(row[place]) for row in cells) for place in range(len(heads))]
        return "\n".join("  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)).rstrip() for row in cells)


def compare(expected: Expectation, result: Result) -> Difference | None:
    """How a result differs from what is expected; ``None`` where it does not.

    Raises :class:`SpecError` for expected rows with columns that there are not, or without columns that there are.
    """
    columns = _columns(expected, result)
    positions = [result.columns.index(name) for name in columns]
    if expected.is_changelog:
        came = [(KINDS[kind], tuple(row[p] for p in positions)) for kind, row in result.changes]
    else:
        came = [("", tuple(row[p] for p in positions)) for row in result.final_rows()]
    late = None
    if expected.late is not None and expected.late != result.late:
        late = (expected.late, result.late)
    lines: list[Line] = []
    if expected.rows is not None:
        wanted = [_expected_row(row, columns, expected) for row in read_rows(expected.rows, expected.name)]
        lines = list((_in_order if expected.is_ordered else _in_any_order)(wanted, came, expected.tolerance))
    counts = (
        *_count_differences("rows dropped", expected.dropped, result.dropped, expected),
        *_count_differences("entries of state", expected.state, result.state, expected),
    )
    if late is None and not counts and all(line.mark == SAME for line in lines):
        return None
    return Difference(expected.name, columns, tuple(lines), late, counts, expected, tuple(came))


def _count_differences(
    what: str, expected: Mapping[str, int], actual: Mapping[str, int], expectation: Expectation
) -> Iterator[CountDifference]:
    for operator, wanted in expected.items():
        if operator != ALL and operator not in actual:
            message = f"the plan of '{expectation.name}' has no operator '{operator}' that keeps state"
            raise SpecError(message, expectation.span, did_you_mean(operator, actual))
        number = sum(actual.values()) if operator == ALL else actual[operator]
        if number != wanted:
            yield CountDifference(what, operator, wanted, number)


def _columns(expected: Expectation, result: Result) -> tuple[str, ...]:
    for name in expected.columns or ():
        if name not in result.columns:
            raise SpecError(
                f"'{expected.name}' has no column '{name}'", expected.span, did_you_mean(name, result.columns)
            )
    return expected.columns or result.columns


_Row = tuple[str, tuple[Any, ...]]


def _expected_row(row: ReadRow, columns: Sequence[str], expected: Expectation) -> _Row:
    values: Mapping[str, Any] = dict(zip(row.names, row.values, strict=True))
    for name in values:
        if name not in columns:
            raise SpecError(f"'{expected.name}' has no column '{name}'", row.span, did_you_mean(name, columns))
    for name in columns:
        if name not in values:
            hint = "give each column a value, or list those to compare: 'columns: […]'"
            raise SpecError(f"this row of '{expected.name}' has no '{name}'", row.span, hint)
    return (row.kind if expected.is_changelog else "", tuple(values[name] for name in columns))


def _equal(wanted: _Row, came: _Row, tolerance: float) -> bool:
    pairs = zip(wanted[1], came[1], strict=True)
    return wanted[0] == came[0] and all(is_equal(expected, actual, tolerance) for expected, actual in pairs)


def _in_any_order(wanted: Sequence[_Row], came: Sequence[_Row], tolerance: float) -> Iterator[Line]:
    """The rows that came, with those that did not after the place where they were expected."""
    left = list(came)
    for row in wanted:
        match = next((place for place, other in enumerate(left) if _equal(row, other, tolerance)), None)
        if match is None:
            yield _wanted_line(row)
        else:
            yield _came_line(SAME, left.pop(match))
    yield from (_came_line(UNEXPECTED, row) for row in left)


def _in_order(wanted: Sequence[_Row], came: Sequence[_Row], tolerance: float) -> Iterator[Line]:
    """The longest common sequence of both, with what is only in one of them."""
    lengths = [[0] * (len(came) + 1) for _ in range(len(wanted) + 1)]
    for i in reversed(range(len(wanted))):
        for j in reversed(range(len(came))):
            is_same = _equal(wanted[i], came[j], tolerance)
            lengths[i][j] = lengths[i + 1][j + 1] + 1 if is_same else max(lengths[i + 1][j], lengths[i][j + 1])
    i = j = 0
    while i < len(wanted) or j < len(came):
        if i < len(wanted) and j < len(came) and _equal(wanted[i], came[j], tolerance):
            yield _came_line(SAME, came[j])
            i, j = i + 1, j + 1
        elif j >= len(came) or (i < len(wanted) and lengths[i + 1][j] >= lengths[i][j + 1]):
            yield _wanted_line(wanted[i])
            i += 1
        else:
            yield _came_line(UNEXPECTED, came[j])
            j += 1


def _wanted_line(row: _Row) -> Line:
    return Line(MISSING, row[0], tuple(_text(_data(value)) for value in row[1]))


def _came_line(mark: str, row: _Row) -> Line:
    return Line(mark, row[0], tuple(_text(shown(value)) for value in row[1]))


def _data(value: Any) -> Any:
    value = plain(value)
    return value.data if hasattr(value, "data") else value


def _text(value: Any) -> str:
    if value is None:
        return "NULL"
    return str(value).lower() if isinstance(value, bool) else str(value)
