"""Each side of a join expires after its own TTL, by a clock that the test sets."""

from __future__ import annotations

import pytest

from flinkplan.executor.build.stream import Stream
from flinkplan.plan.nodes import Join
from flinkplan.plan.record import replace
from flinkplan.plan.specs import JoinSpec, JoinType, StateMetadata
from flinkplan.plan.types import INT, STRING, row

from .building import build
from .conftest import Bench

pytestmark = pytest.mark.spark

ORDERS = row([("order_id", INT), ("buyer", STRING)])
LINE_ORDERS = row([("line_order_id", INT), ("order_id", INT)])

ORDERS_JOIN_LINE_ORDERS = Join(
    id=1,
    version=1,
    join_spec=JoinSpec(JoinType.INNER, (0,), (1,), (True,), None),
    output_type=row([(f.name, f.type) for f in ORDERS.fields + LINE_ORDERS.fields]),
    state=(StateMetadata(0, "3000 ms", "leftState"), StateMetadata(1, "9000 ms", "rightState")),
)


def test_each_side_expires_after_its_own_ttl(bench: Bench) -> None:
    orders, lines = bench.source("orders", ORDERS), bench.source("lines", LINE_ORDERS)
    joined = build(ORDERS_JOIN_LINE_ORDERS, (orders, lines), bench.context)

    bench.put("orders", (1, "Ada"))
    bench.put("lines", (20, 2))
    assert bench.step(joined, at=0) == []

    bench.put("lines", (11, 1))
    assert bench.step(joined, at=2_999) == [("+I", 1, "Ada", 11, 1)], "the order is still there"

    bench.put("lines", (12, 1))
    assert bench.step(joined, at=3_001) == [], "the order has expired; a read has not kept it"

    bench.put("orders", (2, "Bob"))
    assert bench.step(joined, at=8_999) == [("+I", 2, "Bob", 20, 2)], "the line order outlives the order"

    bench.put("orders", (2, "Cy"), (1, "Ada"))
    assert bench.step(joined, at=9_500) == [
        ("+I", 1, "Ada", 11, 1),
        ("+I", 1, "Ada", 12, 1),
    ], "of the line orders the first has expired, those written later have not"


def test_a_changed_ttl_holds_for_what_is_written_from_then_on(bench: Bench) -> None:
    orders, lines = bench.source("orders", ORDERS), bench.source("lines", LINE_ORDERS)
    bench.put("orders", (1, "Ada"))
    bench.step(build(ORDERS_JOIN_LINE_ORDERS, (orders, lines), bench.context), at=0)

    longer = replace(
        ORDERS_JOIN_LINE_ORDERS,
        state=(StateMetadata(0, "1 h", "leftState"), StateMetadata(1, "9000 ms", "rightState")),
    )
    joined = build(longer, (orders, lines), bench.context)
    bench.put("orders", (2, "Bob"))
    bench.step(joined, at=1_000)
    bench.put("lines", (10, 1), (20, 2))
    assert bench.step(joined, at=60_000) == [("+I", 2, "Bob", 20, 2)]


@pytest.mark.parametrize("changelog", [False, True])
def test_a_ttl_comes_and_goes_over_a_checkpoint(bench: Bench, changelog: bool) -> None:
    orders = bench.source("orders", ORDERS, changelog=changelog)
    lines = bench.source("lines", LINE_ORDERS, changelog=changelog)
    insert = ("+I",) if changelog else ()

    def joined(ttl: str) -> Stream:
        state = (StateMetadata(0, ttl, "leftState"), StateMetadata(1, ttl, "rightState"))
        return build(replace(ORDERS_JOIN_LINE_ORDERS, state=state), (orders, lines), bench.context)

    bench.put("orders", (*insert, 1, "Ada"), (*insert, 1, "Ann"))
    bench.step(joined("0 ms"), at=0)
    bench.put("orders", (*insert, 2, "Bob"), (*insert, 1, "Amy"))
    bench.step(joined("1 s"), at=1_000)
    bench.put("lines", (*insert, 10, 1), (*insert, 20, 2))
    assert bench.step(joined("1 s"), at=60_000) == [
        ("+I", 1, "Ada", 10, 1),
        ("+I", 1, "Ann", 10, 1),
    ], "those of before have no expiry"

    bench.put("orders", (*insert, 3, "Cy"))
    bench.step(joined("0 ms"), at=60_500)
    bench.put("lines", (*insert, 30, 3))
    assert bench.step(joined("0 ms"), at=900_000) == [("+I", 3, "Cy", 30, 3)]
    if changelog:
        bench.put("orders", ("-D", 1, "Ann"))
        bench.step(joined("1 s"), at=900_001)
        bench.put("lines", ("+I", 11, 1))
        assert bench.step(joined("1 s"), at=900_002) == [("+I", 1, "Ada", 11, 1)], "what is taken back is gone"


def test_what_is_taken_back_and_comes_again_has_an_expiry_of_its_own(bench: Bench) -> None:
    orders = bench.source("orders", ORDERS, changelog=True)
    lines = bench.source("lines", LINE_ORDERS, changelog=True)
    state = (StateMetadata(0, "9 s", "leftState"), StateMetadata(1, "9 s", "rightState"))
    joined = build(replace(ORDERS_JOIN_LINE_ORDERS, state=state), (orders, lines), bench.context)
    for kind, at in (("+I", 0), ("-U", 1_000), ("+U", 2_000)):
        bench.put("orders", (kind, 1, "Ada"))
        bench.step(joined, at=at)
    bench.put("orders", ("+I", 2, "Bob"))
    bench.step(joined, at=9_100)
    bench.put("lines", ("+I", 10, 1))
    assert bench.step(joined, at=9_200) == [("+I", 1, "Ada", 10, 1)]
