"""Upserts made a changelog, and a changelog made upserts."""

from __future__ import annotations

import pytest

from flinkplan.executor.build.kernels import int_array, keyed_rows, run_kernel, schema_of
from flinkplan.executor.build.stream import Stream
from flinkplan.executor.prepare.steps import Kernel
from flinkplan.plan.nodes import ChangelogNormalize
from flinkplan.plan.rex import Call, InputRef
from flinkplan.plan.types import BOOLEAN, INT, row

from ..building import build
from ..conftest import Bench

pytestmark = pytest.mark.spark

ROWS = row([("id", INT), ("v", INT)])
HAS_VALUE = Call("$IS NOT NULL$1", (InputRef(1, INT),), BOOLEAN, "POSTFIX")


def test_normalizing_adds_what_upserts_leave_out(bench: Bench) -> None:
    node = ChangelogNormalize(
        id=1, version=1, unique_keys=(0,), generate_update_before=True, filter_condition=HAS_VALUE, output_type=ROWS
    )
    normalized = build(node, (bench.source("in", ROWS, changelog=True),), bench.context)
    bench.put("in", ("+I", 1, 5), ("+U", 1, 6), ("+U", 1, 6), ("+I", 2, None))
    assert bench.step(normalized) == [("+I", 1, 5), ("-U", 1, 5), ("+U", 1, 6)]
    bench.put("in", ("+U", 1, None), ("-D", 2, None))
    assert bench.step(normalized) == [("-D", 1, 6)], "a row that no longer meets the condition is gone"


def test_materializing_shows_the_last_of_a_primary_keys_rows(bench: Bench) -> None:
    source = bench.source("in", ROWS, changelog=True)
    frame = keyed_rows(source, (0,))
    kernel = Kernel(kernel="changelog.UpsertMaterialize", why="")
    row, key = schema_of(ROWS.field_types), int_array(bench.context, (1,))
    upserts = Stream(run_kernel(bench.context, kernel, frame, 1, row=row, upsertKey=key, ttl=0), ROWS, changelog=True)
    bench.put("in", ("+I", 1, 5), ("+I", 1, 6))
    assert bench.step(upserts) == [("+I", 1, 5), ("+U", 1, 6)]
    bench.put("in", ("-D", 1, 6), ("+I", 1, 7), ("-D", 1, 5))
    assert bench.step(upserts) == [("+U", 1, 5), ("+U", 1, 7)], "of what is not shown nothing is said"
    bench.put("in", ("-D", 1, 7))
    assert bench.step(upserts) == [("-D", 1, 7)]


def compacted(bench: Bench, fails: bool) -> Stream:
    """Upserts by the first column of rows that are known by the second."""
    frame = keyed_rows(bench.source("in", ROWS, changelog=True), (0,))
    kernel = Kernel(kernel="changelog.CompactUpserts", why="")
    row, key = schema_of(ROWS.field_types), int_array(bench.context, (1,))
    shown = run_kernel(bench.context, kernel, frame, 1, row=row, upsertKey=key, fails=fails, ttl=0)
    return Stream(shown, ROWS, changelog=True)


def test_of_conflicting_rows_the_first_stays(bench: Bench) -> None:
    upserts = compacted(bench, fails=False)
    bench.put("in", ("+I", 1, 5), ("+I", 1, 6))
    assert bench.step(upserts) == [("+I", 1, 5)]
    bench.put("in", ("+I", 1, 7))
    assert bench.step(upserts) == []
    bench.put("in", ("-D", 1, 5), ("+I", 1, 8), ("+I", 2, 9))
    assert bench.step(upserts) == [("+U", 1, 8), ("+I", 2, 9)]
    bench.put("in", ("-D", 1, 8))
    assert bench.step(upserts) == [("-D", 1, 8)]


def test_a_row_may_be_replaced_without_a_conflict_but_not_have_company(bench: Bench) -> None:
    upserts = compacted(bench, fails=True)
    bench.put("in", ("+I", 1, 5), ("+I", 1, 6), ("-D", 1, 5))
    assert bench.step(upserts) == [("+I", 1, 6)]
    bench.put("in", ("+I", 1, 7))
    with pytest.raises(Exception, match=r"Primary key constraint violation.* Conflicting key: \[1\]"):
        bench.step(upserts)
