"""Changes of windows of the DataStream API: over orders, in global windows and in windows of event time."""

from __future__ import annotations

from typing import Any

from .model import Row, Truth, order

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
_WATERMARK = "    watermark: {column: ts, as: ts}\n"
_TIMED_ORDERS = _ORDERS.replace("amount: INT}", "amount: INT, ts: TIMESTAMP(3)}", 1).replace(
    "    with:", f"{_WATERMARK}    with:", 1
)
_TIMED = _TIMED_ORDERS.replace("assign: global", "assign: {tumbling: 1 min}").replace(
    "trigger: {count: 2}", "allowed-lateness: 1 h"
)
_SOLD = 'views:\n  sold: "SELECT product, amount FROM orders"\nwindows:'
_BY_CLASSES = (
    _ORDERS.replace("windows:", _SOLD)
    .replace("from: orders", "from: sold")
    .replace(
        "aggregate: {product: product, total: SUM(amount)}",
        """process:
      class: tests.parity.datastream.window_classes:KeyedEmit
      with: {emit: count}
      columns: {product: STRING, total: INT}""",
    )
)


def _changed(rule: str, old: str, new: str, *, expected: list[tuple[Any, ...]] | None = None, **more: Any) -> Truth:
    """An order before the restart, and one after it, which fires the window."""
    spec = more.pop("spec", _ORDERS)
    return Truth(
        more.pop("name", rule),
        (rule,),
        spec,
        spec.replace(old, new),
        more.pop("first", {"orders/a": [order(1, amount=2)]}),
        more.pop("second", {"orders/b": [order(2, amount=30)]}),
        expected or [],
        **more,
    )


def _at(time: str, amount: int, **more: Any) -> Row:
    return order(1, amount=amount, ts=f"2020-01-01 00:{time}", **more)


_PASSED: dict[str, Any] = {
    "first": {"orders/a": [_at("00:10", 2), _at("05:00", 0, product="q")]},
    "second": {"orders/b": [_at("00:20", 30)]},
}
"""A window of which the watermark has passed the end, then a late row of it."""

_OPEN: dict[str, Any] = {
    "first": {"orders/a": [_at("00:10", 2)]},
    "second": {"orders/b": [_at("00:20", 30), _at("05:00", 0, product="q")]},
}
"""A window that is open, then a row of it and the end of it."""


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
    _changed(
        "output-changed",
        "allowed-lateness: 1 h",
        "allowed-lateness: 1 min",
        name="window-lateness-shortened",
        spec=_TIMED,
        expected=[],
        **_PASSED,
    ),
    _changed(
        "output-changed",
        "    allowed-lateness: 1 h\n",
        "    allowed-lateness: 1 d\n",
        name="window-lateness-lengthened",
        spec=_TIMED,
        expected=[("c", "p", 32)],
        **_PASSED,
    ),
    _changed(
        "keys-changed",
        "key-by: product",
        "key-by: shop",
        name="window-keys-changed",
        spec=_ORDERS.replace("product: STRING, amount: INT}", "product: STRING, shop: STRING, amount: INT}", 1).replace(
            "product: product", "product: MAX(product), shop: MAX(shop)"
        ),
        uninterrupted=[("p", 32)],
    ),
    _changed(
        "window-changed",
        "tumbling: 1 min",
        "tumbling: 2 min",
        name="window-size-changed",
        spec=_TIMED,
        expected=[("c", "p", 2), ("c", "p", 30)],
        uninterrupted=[("p", 32)],
        **_OPEN,
    ),
    _changed(
        "window-time-changed",
        "SELECT product, amount FROM",
        "SELECT product, amount, ts FROM",
        spec=_TIMED_ORDERS.replace("windows:", _SOLD).replace("from: orders", "from: sold"),
        expected=[("c", "p", 32)],
        seamless=True,
    ),
    _changed(
        "element-names-changed",
        "SELECT product, amount FROM",
        "SELECT product, amount AS sold FROM",
        spec=_BY_CLASSES,
        expected=[("c", "p", 2)],
        seamless=True,
    ),
)
