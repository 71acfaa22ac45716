"""Windows that are made of the slices of others."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from flinkplan.compat.migration.planning import plan_migration
from flinkplan.compat.migration.recipe import Allowed, RecipeKind
from flinkplan.compat.migration.recipe_steps import MergeSlices
from flinkplan.compat.migration.slice_steps import resliced
from flinkplan.compat.migration.slices import Slices

from .test_steps import plan

_MINUTE = 60_000


def windows(slice_: int, size: int, step: int | None = None, *, cumulative: bool = False) -> Slices:
    """Windows of so many minutes."""
    return Slices(slice_ * _MINUTE, size * _MINUTE, (step or size) * _MINUTE, 0, cumulative)


TUMBLE_1, TUMBLE_2, TUMBLE_3 = (windows(n, n) for n in (1, 2, 3))
HOP_3, CUMULATE_3 = windows(1, 3, 1), windows(1, 3, cumulative=True)


@pytest.mark.parametrize(
    ("old", "new", "minutes", "keeps_all"),
    [
        (TUMBLE_1, TUMBLE_2, 4.5, True),  # [4, 6) has fired nothing
        (TUMBLE_1, TUMBLE_2, 5.5, False),  # [5, 6) is kept, [4, 5) not
        (TUMBLE_1, TUMBLE_2, None, True),
        (TUMBLE_1, HOP_3, 4.5, False),
        (TUMBLE_1, CUMULATE_3, 3.5, True),
        (TUMBLE_1, CUMULATE_3, 4.5, False),
        (HOP_3, TUMBLE_3, 4.5, True),
        (HOP_3, TUMBLE_3, 5.9, True),
        (HOP_3, windows(1, 2, 1), 4.5, True),
        (CUMULATE_3, TUMBLE_3, 5.5, True),
    ],
)
def test_the_watermark_says_which_slices_are_kept(
    old: Slices, new: Slices, minutes: float | None, keeps_all: bool
) -> None:
    assert old.can_become(new)
    watermark = None if minutes is None else int(minutes * _MINUTE)
    assert old.keeps_all_of(new, watermark) is keeps_all
    if old.contains(new):
        assert all(old.keeps_all_of(new, at) for at in range(0, 9 * _MINUTE, 10_000))


def test_slices_are_not_divided() -> None:
    assert not TUMBLE_2.can_become(TUMBLE_1)
    assert not CUMULATE_3.can_become(windows(1, 3, 1))
    assert not TUMBLE_1.can_become(Slices(_MINUTE, _MINUTE, _MINUTE, 30_000))


def made(old: Slices, new: Slices, watermark: float, *, timers: bool = False) -> list[Any]:
    """What is made of slices of key 1 that end after 4, 5 and 6 minutes, with the sums 10, 20 and 40."""
    step = MergeSlices("window-aggs", (0,), (), ("sum",), old, new, timers)
    ends = pa.array([4 * _MINUTE, 5 * _MINUTE, 6 * _MINUTE], pa.int64())
    values = [pa.array([10, 20, 40], pa.int64())]
    found = resliced(step, [pa.array([1, 1, 1])], values, ends, int(watermark * _MINUTE))
    if found is None:
        return []
    assert found.namespace is not None
    last = found.rest[0] if timers else found.values[0]
    minutes = [end // _MINUTE for end in found.namespace.field(0).to_pylist()]
    return sorted(zip(minutes, last.to_pylist(), strict=True))


def test_accumulators_of_slices_are_merged() -> None:
    assert made(HOP_3, TUMBLE_3, 4.5) == [(6, 70)]
    assert made(HOP_3, TUMBLE_3, 4.5, timers=True) == [(6, 6 * _MINUTE - 1)]
    assert made(HOP_3, TUMBLE_2, 4.5) == [(6, 60)]  # [2, 4) has fired
    assert made(HOP_3, windows(1, 2, 1), 4.5) == [(4, 10), (5, 20), (6, 40)]
    assert made(HOP_3, windows(1, 2, 1), 4.5, timers=True) == [(5, 5 * _MINUTE - 1), (6, 6 * _MINUTE - 1)]
    assert made(TUMBLE_1, CUMULATE_3, 4.5) == [(4, 10), (5, 20), (6, 40)]  # what has fired is in the first slice
    assert made(TUMBLE_1, CUMULATE_3, 5.5) == [(4, 30), (6, 40)]


def _tumble(minutes: int, of: str = "TUMBLE(TABLE a, DESCRIPTOR(ts), {})") -> str:
    windows = of.format(f"INTERVAL '{minutes}' MINUTE")
    return f"SELECT window_start, k, SUM(v) FROM TABLE({windows}) GROUP BY window_start, window_end, k"


def test_other_windows_are_made_of_slices() -> None:
    columns = "w TIMESTAMP(3), k INT, x INT"
    hop = _tumble(1, "HOP(TABLE a, DESCRIPTOR(ts), {}, INTERVAL '2' MINUTE)")
    for old, new, is_uncertain in ((hop, _tumble(2), False), (_tumble(1), _tumble(2), True)):
        migration = plan_migration(plan(old, columns), plan(new, columns))
        assert not list(migration.refusals(Allowed()))
        (recipe,) = (each for each in migration.recipes if each.kind is RecipeKind.WINDOWS)
        assert recipe.is_uncertain is is_uncertain
    refused = plan_migration(plan(_tumble(2), columns), plan(_tumble(1), columns))
    assert any("have already emitted" in why for _, why, _ in refused.refusals(Allowed()))


def test_groups_in_windows_are_merged() -> None:
    window = "TABLE(TUMBLE(TABLE a, DESCRIPTOR(ts), INTERVAL '1' MINUTE))"
    old = plan(f"SELECT k, g, COUNT(*) FROM {window} GROUP BY window_start, window_end, k, g", "k INT, g INT, n BIGINT")
    new = plan(f"SELECT g, COUNT(*) FROM {window} GROUP BY window_start, window_end, g", "g INT, n BIGINT")
    found = plan_migration(old, new)
    assert not list(found.refusals(Allowed()))
    (recipe,) = (each for each in found.recipes if each.kind is RecipeKind.REKEYED)
    step = recipe.states[0].step
    assert isinstance(step, MergeSlices)
    assert (step.old, step.new) == (TUMBLE_1, TUMBLE_1)
    ends = pa.array([_MINUTE] * 3, pa.int64())
    merged = resliced(step, [pa.array([7, 7, 8])], [pa.array([1, 2, 4])], ends, 0)
    assert merged is not None
    assert [column.to_pylist() for column in (*merged.key, *merged.values)] == [[7, 8], [3, 4]]
