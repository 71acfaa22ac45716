"""The places of rows among those that one row has brought about."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from ..conftest import Bench

pytestmark = pytest.mark.spark


def test_rows_stand_in_the_order_of_those_that_brought_them_about(bench: Bench) -> None:
    place: Any = bench.context.runtime.row.Place
    random = Random(0)
    rows = [place.WHOLE]
    for _ in range(6):  # operators, each of which makes one to five rows of a row
        counts = [random.choice((1, 1, 2, 3, 5)) for _ in rows][:40]
        rows = [place.part(row, i, n) for row, n in zip(rows, counts, strict=False) for i in range(n)]
        assert rows == sorted(set(rows))


def test_a_row_that_brings_one_about_leaves_it_its_place(bench: Bench) -> None:
    place: Any = bench.context.runtime.row.Place
    assert place.part(place.part(place.WHOLE, 1, 3), 0, 1) == place.part(place.WHOLE, 1, 3)


def test_rows_of_one_operator_keep_their_order_where_no_bits_are_left(bench: Bench) -> None:
    place: Any = bench.context.runtime.row.Place
    last = place.WHOLE
    for _ in range(3):
        last = place.part(last, 1_000_000, 1_000_001)
        assert place.part(last, 0, 2) < place.part(last, 1, 2)
    assert 0 <= place.nth(0) < place.nth(1) < place.nth(2**31 - 1)
