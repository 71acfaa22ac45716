"""Changes of windows of the DataStream API: over orders, in global windows that no watermark moves."""

from __future__ import annotations

from typing import Any

from .model import Truth, order

_ORDERS = """\
version: 1
tables:
  orders:
    columns: {id: BIGINT, product: STRING, amount: INT}
    with: {connector: filesystem, path: "${DIR}/in/orders", format: json}
  report:
    columns: {product: STRING, total: INT}
    with: {connector: filesystem, path: "${DIR}/out/report", format: debezium-json}
windows:
  totals:
    from: orders
    key-by: product
    assign: global
    trigger: {count: 2}
    aggregate: {product: product, total: SUM(amount)}
inserts:
  - {into: report, query: "SELECT product, total FROM totals"}
"""


def _changed(rule: str, old: str, new: str, *, expected: list[tuple[Any, ...]], **more: Any) -> Truth:
    """An order before the restart, and one after it, which fires the window."""
    return Truth(
        rule,
        (rule,),
        _ORDERS,
        _ORDERS.replace(old, new),
        {"orders/a": [order(1, amount=2)]},
        {"orders/b": [order(2, amount=30)]},
        expected,
        **more,
    )


STREAM_WINDOWS = (
    _changed("window-setting-changed", "{count: 2}", "{count: 1}", expected=[("c", "p", 32)]),
    _changed(
        "trigger-changed",
        "{count: 2}",
        '{delta: "b.amount - a.amount", threshold: 5}',
        expected=[],
        uninterrupted=[("p", 32)],
    ),
    _changed(
        "evictor-changed",
        "trigger: {count: 2}",
        "trigger: {count: 2}\n    evict: {count: 10}",
        expected=[("c", "p", 30)],
        uninterrupted=[("p", 32)],
    ),
    _changed(
        "window-function-changed",
        "SUM(amount)",
        "MIN(amount)",
        expected=[("c", "p", 30)],
        uninterrupted=[("p", 2)],
    ),
)
