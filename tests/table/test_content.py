"""What changes leave."""

from __future__ import annotations

from flinkplan.plan.text.content import Content
from flinkplan.table import Row, RowKind

IN, UB, UA, D = RowKind.INSERT, RowKind.UPDATE_BEFORE, RowKind.UPDATE_AFTER, RowKind.DELETE


def left(*changes: tuple[RowKind, object], most: int | None = None) -> list[object]:
    content = Content(most)
    for kind, value in changes:
        content.change(Row.of_kind(kind, value))
    assert len(content) == len(list(content))
    return [value for (value,) in content]


def test_updates_stand_where_they_came() -> None:
    assert left((IN, 1), (IN, 2), (UB, 1), (UA, 3)) == [2, 3]


def test_the_newest_of_equal_rows_is_taken_back() -> None:
    assert left((IN, 1), (IN, 2), (IN, 1), (D, 1)) == [1, 2]


def test_values_need_not_be_hashable() -> None:
    assert left((IN, [1]), (IN, {"a": 1}), (D, [1])) == [{"a": 1}]


def test_the_oldest_go_first() -> None:
    assert left((IN, 1), (IN, 2), (IN, 3), most=2) == [2, 3]
    assert left((IN, 1), (IN, 1), (IN, 2), (D, 1), (D, 1), most=2) == [2]


def test_what_was_never_there_cannot_be_taken_back() -> None:
    assert left((IN, 1), (D, 2)) == [1]


def test_newest() -> None:
    content = Content()
    for value in range(5):
        content.change(Row(value))
    assert [tuple(row) for row in content.newest(2)] == [(3,), (4,)]
    assert len(content.newest(9)) == 5
