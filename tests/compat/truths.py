"""What Spark really does with a checkpoint when the plan changes: the cases that back the rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tests.compat.pipelines import (
    JOIN,
    JOIN_COLUMNS,
    SUMS,
    SUMS_COLUMNS,
    TOP,
    TOP_COLUMNS,
    WINDOW,
    WINDOW_COLUMNS,
    script,
)

Row = Mapping[str, Any]
Files = Mapping[str, Sequence[Row]]


def order(id: int, product: str = "p", amount: int = 1, price: int = 10, **more: Any) -> Row:
    """A row of the table orders."""
    row = {"id": id, "product": product, "shop": "s", "amount": amount, "price": price, "discount": 2}
    return {**row, "ts": "2020-01-01 00:00:00", **more}


def shipment(order_id: int, cost: int = 5, **more: Any) -> Row:
    """A row of the table shipments."""
    row = {"order_id": order_id, "carrier": "c", "cost": cost, "shop": "s"}
    return {**row, "ts": "2020-01-01 00:00:00", **more}


@dataclass(frozen=True)
class Truth:
    """State made under ``old``, a restart under ``new``.

    ``first`` and ``second`` are the rows by table (and file) that are there before and after the restart.  The
    changes written after it are ``expected``: ``c`` or ``d``, then the row; or Spark refuses with an error that has
    ``refused`` in it.  ``seamless``: they are those of a run that was never stopped.  ``rules`` are those that the
    case backs.
    """

    name: str
    rules: tuple[str, ...]
    old: str
    new: str
    first: Files
    second: Files
    expected: Sequence[tuple[Any, ...]] = ()
    refused: str | None = None
    seamless: bool = False
    ttls: tuple[str | None, str | None] = (None, None)


def _sums(name: str, rule: str, new: str, columns: str, expected: Sequence[tuple[Any, ...]], **more: Any) -> Truth:
    """A change of two sums over one order before and one after the restart."""
    first = {"orders/a": [order(1, amount=2, price=10)], **more.pop("more", {})}
    second = {"orders/b": [order(2, amount=3, price=7)]}
    old = script(more.pop("old", SUMS), more.pop("old_columns", SUMS_COLUMNS))
    return Truth(name, (rule,), old, script(new, columns, more.pop("settings", "")), first, second, expected, **more)


def _joined(name: str, rules: tuple[str, ...], new: str, **more: Any) -> Truth:
    """A change of a join whose left row came before, and whose right row comes after the restart."""
    columns = more.pop("columns", JOIN_COLUMNS)
    first = {"orders/a": [order(1)], "shipments/a": []}
    second = {"shipments/b": [shipment(1)]}
    return Truth(name, rules, script(JOIN, JOIN_COLUMNS), script(new, columns), first, second, **more)


def _windows(name: str, rule: str, new: str) -> Truth:
    """A change of windows that Spark refuses."""
    columns = f"{WINDOW_COLUMNS}, n BIGINT" if "AS n" in new else WINDOW_COLUMNS
    first, second = {"orders/a": [order(1)]}, {"orders/b": [order(2)]}
    return Truth(name, (rule,), script(WINDOW, WINDOW_COLUMNS), script(new, columns), first, second, refused="")


def _two_queries(query: str, columns: str) -> str:
    """A query, and another that counts orders by shop."""
    first, insert = script(query, columns).split("INSERT INTO", 1)
    sink = "WITH ('connector' = 'filesystem', 'path' = '${DIR}/out/shops', 'format' = 'debezium-json')"
    counts = "INSERT INTO shops SELECT shop, COUNT(*) FROM orders GROUP BY shop"
    created = f"{first}CREATE TABLE shops (shop STRING, n BIGINT) {sink};\n"
    return f"{created}EXECUTE STATEMENT SET BEGIN\nINSERT INTO{insert}{counts};\nEND;\n"


_MISMATCH = "STREAMING_STATEFUL_OPERATOR_NOT_MATCH_IN_STATE_METADATA"
_MATCHED = [("c", 1, 10, 5)]
_FEWER = "SELECT product, SUM(amount) AS total FROM orders GROUP BY product"
_TWO = "product STRING, total INT"
_RANGE_COLUMNS = "product STRING, low INT, high INT"
_DISTINCT = SUMS.replace("MAX(price) AS top", "MAX(price) AS top, COUNT(DISTINCT id) AS n")
_GOES_ON = [("d", "p", 2, 10), ("c", "p", 5, 10)]
_TWICE = (
    "SELECT product, SUM(NAME) AS total, MAX(price) AS top FROM (SELECT product, amount * 2 AS NAME, price "
    "FROM orders) GROUP BY product"
)
_COMPUTED = JOIN.replace("o.price", "o.discount")
_PLUS_ONE = ("discount DECIMAL(10, 2)", "discount AS CAST(price + 1 AS DECIMAL(10, 2))")
_PLUS_TWO = ("discount DECIMAL(10, 2)", "discount AS CAST(price + 2 AS DECIMAL(10, 2))")

TRUTHS = (
    # ---------------------------------------------------------------- TTLs
    _joined("ttl-enabled", ("ttl-enabled",), JOIN, expected=_MATCHED, seamless=True, ttls=(None, "1 h")),
    _joined("ttl-disabled", ("ttl-disabled",), JOIN, expected=_MATCHED, seamless=True, ttls=("1 h", None)),
    _joined("ttl-changed", ("ttl-changed",), JOIN, expected=_MATCHED, seamless=True, ttls=("1 h", "3 h")),
    _joined("old-entries-keep-their-expiry", ("ttl-changed",), JOIN, expected=[], ttls=("1 ms", "1 h")),
    # ---------------------------------------------------------------- without state
    _sums(
        "filter-changed",
        "stateless-node-changed",
        SUMS.replace("GROUP", "WHERE price > 8 GROUP"),
        SUMS_COLUMNS,
        [],
    ),
    _sums("having-added", "stateless-node-added", f"{SUMS} HAVING SUM(amount) > 4", SUMS_COLUMNS, [("c", "p", 5, 10)]),
    _sums(
        "having-removed",
        "stateless-node-removed",
        SUMS,
        SUMS_COLUMNS,
        [("d", "p", 2, 10), ("c", "p", 5, 10)],
        old=f"{SUMS} HAVING SUM(amount) > 1",
    ),
    # ---------------------------------------------------------------- aggregates
    _sums(
        "aggregates-reordered",
        "aggregates-reordered",
        "SELECT product, MAX(price) AS top, SUM(amount) AS total FROM orders GROUP BY product",
        "product STRING, top DECIMAL(10, 2), total INT",
        [("d", "p", 10, 2), ("c", "p", 10, 5)],
        seamless=True,
    ),
    _sums(
        "columns-exchanged",
        "sink-columns-exchanged",
        "SELECT product, MAX(amount), MIN(amount) FROM orders GROUP BY product",
        _RANGE_COLUMNS,
        [("d", "p", 2, 2), ("c", "p", 3, 2)],
        old="SELECT product, MIN(amount), MAX(amount) FROM orders GROUP BY product",
        old_columns=_RANGE_COLUMNS,
    ),
    _sums("aggregate-removed", "aggregate-removed", _FEWER, _TWO, [("d", "p", 2), ("c", "p", 5)]),
    _sums(
        "aggregate-added",
        "aggregate-added",
        SUMS.replace("MAX(price) AS top", "MAX(price) AS top, COUNT(*) AS n"),
        f"{SUMS_COLUMNS}, n BIGINT",
        [("d", "p", 2, 10, 0), ("c", "p", 5, 10, 1)],
    ),
    _sums(
        "aggregate-changed",
        "aggregate-changed",
        SUMS.replace("MAX(", "MIN("),
        SUMS_COLUMNS,
        [("d", "p", 2, None), ("c", "p", 5, 7)],
    ),
    _sums(
        "aggregate-mistaken",
        "aggregate-mistaken",
        SUMS.replace("amount)", "amount * 100)"),
        SUMS_COLUMNS,
        [("d", "p", 20, 10), ("c", "p", 320, 10)],
        old=SUMS.replace("amount)", "amount * 10)"),
    ),
    _sums(
        "distinct-added",
        "distinct-aggregate-added",
        _DISTINCT,
        f"{SUMS_COLUMNS}, n BIGINT",
        [("d", "p", 2, 10, 0), ("c", "p", 5, 10, 1)],
    ),
    Truth(
        "distinct-removed",
        ("distinct-aggregate-removed",),
        script(_DISTINCT, f"{SUMS_COLUMNS}, n BIGINT"),
        script(SUMS, SUMS_COLUMNS),
        {"orders/a": [order(1, amount=2, price=10)]},
        {"orders/b": [order(2, amount=3, price=7)]},
        [("d", "p", 2, 10), ("c", "p", 5, 10)],
    ),
    _sums(
        "column-renamed",
        "aggregate-column-renamed",
        _TWICE.replace("NAME", "twice"),
        SUMS_COLUMNS,
        [("d", "p", None, 10), ("c", "p", 6, 10)],
        old=_TWICE.replace("NAME", "doubled"),
    ),
    _sums("keys-changed", "keys-changed", SUMS.replace("product", "shop"), SUMS_COLUMNS, [("c", "s", 3, 7)]),
    # ---------------------------------------------------------------- options, sources and sinks
    Truth(
        "options",
        ("source-options-changed", "source-schema-changed", "sink-options-changed", "tuning-changed"),
        script(SUMS, SUMS_COLUMNS),
        script(SUMS, SUMS_COLUMNS, "SET 'table.exec.mini-batch.size' = '7';")
        .replace("orders', 'format' = 'json'", "orders', 'format' = 'json', 'json.ignore-parse-errors' = 'true'")
        .replace("id BIGINT, product STRING,", "id BIGINT, note STRING, product STRING,")
        .replace("'debezium-json'", "'debezium-json', 'debezium-json.encode.decimal-as-plain-number' = 'true'"),
        {"orders/a": [order(1, amount=2, price=10)]},
        {"orders/b": [order(2, amount=3, price=7)]},
        _GOES_ON,
        seamless=True,
    ),
    Truth(
        "source-moved",
        ("source-location-changed",),
        script(SUMS, SUMS_COLUMNS),
        script(SUMS, SUMS_COLUMNS).replace("/in/orders", "/in/others"),
        {"orders/a": [order(1, amount=2, price=10)]},
        {"others/b": [order(2, amount=3, price=7)]},
        _GOES_ON,
    ),
    Truth(
        "sink-of-another-connector",
        ("sink-connector-changed",),
        script(SUMS, SUMS_COLUMNS).replace(
            "WITH ('connector' = 'filesystem', 'path' = '${DIR}/out/report', 'format' = 'debezium-json')",
            "WITH ('connector' = 'blackhole')",
        ),
        script(SUMS, SUMS_COLUMNS),
        {"orders/a": [order(1, amount=2, price=10)]},
        {"orders/b": [order(2, amount=3, price=7)]},
        _GOES_ON,
    ),
    Truth(
        "sink-renamed",
        ("sink-renamed",),
        script(SUMS, SUMS_COLUMNS),
        script(SUMS, SUMS_COLUMNS).replace("TABLE report", "TABLE summary").replace("INTO report", "INTO summary"),
        {"orders/a": [order(1, amount=2, price=10)]},
        {"orders/b": [order(2, amount=3, price=7)]},
        [("c", "p", 5, 10)],
    ),
    Truth(
        "queries-added",
        ("query-added", "stateful-query-added"),
        script(SUMS, SUMS_COLUMNS),
        _two_queries(SUMS, SUMS_COLUMNS),
        {"orders/a": [order(1, amount=2, price=10)]},
        {"orders/b": [order(2, amount=3, price=7)]},
        [*_GOES_ON, ("c", "s", 2)],
    ),
    Truth(
        "query-removed",
        ("query-removed",),
        _two_queries(SUMS, SUMS_COLUMNS),
        script(SUMS, SUMS_COLUMNS),
        {"orders/a": [order(1, amount=2, price=10)]},
        {"orders/b": [order(2, amount=3, price=7)]},
        _GOES_ON,
    ),
    _sums(
        "mini-batches",
        "mini-batch-switched",
        SUMS,
        SUMS_COLUMNS,
        _GOES_ON,
        settings="SET 'table.exec.mini-batch.enabled' = 'true';SET 'table.exec.mini-batch.allow-latency' = '1 s';"
        "SET 'table.exec.mini-batch.size' = '100';SET 'table.optimizer.agg-phase-strategy' = 'ONE_PHASE';",
    ),
    Truth(
        "rank-shown",
        ("output-changed", "sink-schema-changed"),
        script(TOP, TOP_COLUMNS),
        script(TOP.replace("price FROM", "price, n FROM"), f"{TOP_COLUMNS}, n BIGINT"),
        {"orders/a": [order(1, price=10)]},
        {"orders/b": [order(2, price=7)]},
        [("c", "s", "p", 7, 2)],
    ),
    # ---------------------------------------------------------------- operators that come and go
    _sums(
        "stateful-node-added",
        "stateful-node-added",
        f"SELECT MIN(product), MAX(total), top FROM ({SUMS}) GROUP BY top",
        SUMS_COLUMNS,
        [],
        refused=_MISMATCH,
    ),
    _sums(
        "stateful-node-removed",
        "stateful-node-removed",
        "SELECT product, amount, price FROM orders",
        SUMS_COLUMNS,
        [],
        refused=_MISMATCH,
    ),
    _sums(
        "source-added",
        "source-added",
        SUMS.replace(
            "FROM orders",
            "FROM (SELECT product, amount, price FROM orders UNION ALL SELECT shop, 1, cost FROM shipments)",
        ),
        SUMS_COLUMNS,
        [],
        refused="sources",
        more={"shipments/a": [shipment(1)]},
    ),
    # ---------------------------------------------------------------- joins
    _joined("join-type-changed", ("join-type-changed",), JOIN.replace("JOIN", "LEFT JOIN"), refused=""),
    _joined(
        "row-schema-changed",
        ("row-schema-changed",),
        JOIN.replace("o.price", "o.price, o.discount"),
        columns="id BIGINT, price DECIMAL(10, 2), discount DECIMAL(10, 2), cost DECIMAL(10, 2)",
        expected=[("c", 1, 10, None, 5)],
    ),
    _joined(
        "row-columns-changed",
        ("row-columns-changed",),
        JOIN.replace("o.price", "o.discount"),
        expected=_MATCHED,
    ),
    Truth(
        "row-values-changed",
        ("row-values-changed",),
        script(_COMPUTED, JOIN_COLUMNS).replace(*_PLUS_ONE),
        script(_COMPUTED, JOIN_COLUMNS).replace(*_PLUS_TWO),
        {"orders/a": [order(1)], "shipments/a": []},
        {"shipments/b": [shipment(1), shipment(2)], "orders/b": [order(2)]},
        [("c", 1, 11, 5), ("c", 2, 12, 5)],
    ),
    # ---------------------------------------------------------------- windows
    _windows("window-aggregate-added", "window-aggregate-added", WINDOW.replace("AS total", "AS total, COUNT(*) AS n")),
    Truth(
        "window-changed",
        ("window-changed",),
        script(WINDOW, WINDOW_COLUMNS),
        script(WINDOW.replace("'10' MINUTE", "'5' MINUTE"), WINDOW_COLUMNS),
        {"orders/a": [order(1, amount=2)]},
        {
            "orders/b": [order(2, amount=3), order(3, ts="2020-01-01 01:00:00")],
            "orders/c": [order(4, ts="2020-01-01 02:00:00")],
        },
        [
            ("c", "2020-01-01 00:00:00", "p", 2),
            ("c", "2020-01-01 00:00:00", "p", 3),
            ("c", "2020-01-01 01:00:00", "p", 1),
        ],
    ),
    Truth(
        "watermark-changed",
        ("watermark-changed",),
        script(WINDOW, WINDOW_COLUMNS),
        script(WINDOW, WINDOW_COLUMNS).replace("'5' SECOND", "'1' SECOND"),
        {"orders/a": [order(1, amount=2)]},
        {
            "orders/b": [order(2, amount=3), order(3, ts="2020-01-01 01:00:00")],
            "orders/c": [order(4, ts="2020-01-01 02:00:00")],
        },
        [("c", "2020-01-01 00:00:00", "p", 5), ("c", "2020-01-01 01:00:00", "p", 1)],
    ),
)

ALIKE = {
    "exchange-changed": "stateless-node-added",
    "output-option-changed": "sink-options-changed",
    "source-projection-changed": "source-schema-changed",
    "source-pushdown-changed": "stateless-node-added",
    "ttl-left-to-job": "ttl-disabled",
    "ttl-shorter-downstream": "ttl-changed",
    "ttl-switched-before-2.2": "ttl-enabled",
}
"""Rules on changes that are, to Spark, of the same kind as another's."""
