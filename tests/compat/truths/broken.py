"""Changes that break a checkpoint: Spark refuses it, or goes on and writes what is wrong."""

from __future__ import annotations

from typing import Any

from tests.compat.pipelines import (
    FIRST,
    FIRST_COLUMNS,
    INTERVAL,
    JOIN,
    JOIN_COLUMNS,
    OVER,
    OVER_COLUMNS,
    SUMS,
    SUMS_COLUMNS,
    SWAPPED,
    TOP_COLUMNS,
    UNITED,
    WINDOW,
    WINDOW_COLUMNS,
    script,
)

from .model import Files, Row, Truth, joined, order, shipment, sums


def _changed(name: str, old: str, new: str, columns: str, first: Files, second: Files, **more: Any) -> Truth:
    """A change of a query that has the rule ``name``, or ``rules``."""
    settings = more.pop("settings", ("", ""))
    before, after = script(old, columns, settings[0]), script(new, more.pop("new_columns", columns), settings[1])
    for replaced in more.pop("replace", ()):
        before, after = before.replace(*replaced), after.replace(*replaced)
    return Truth(name, more.pop("rules", (name,)), before, after, first, second, **more)


def _windows(name: str, old: str, new: str, **more: Any) -> Truth:
    """A change of windows of ten minutes: the first one is open at the restart, and closes after it."""
    second = {
        "orders/b": [order(2, amount=3), order(3, ts="2020-01-01 01:00:00")],
        "orders/c": [order(4, ts="2020-01-01 02:00:00")],
    }
    return _changed(name, old, new, WINDOW_COLUMNS, {"orders/a": [order(1, amount=2, price=None)]}, second, **more)


def _matches(name: str, old: tuple[str, str], new: tuple[str, str], **more: Any) -> Truth:
    """A change of a measure and a pattern: of a match the first row came before the restart, and others after it."""
    before, after = (
        f"SELECT product, x FROM orders MATCH_RECOGNIZE (PARTITION BY product ORDER BY ts MEASURES {measure} AS x "
        f"ONE ROW PER MATCH PATTERN ({pattern}) DEFINE A AS A.amount = 2)"
        for measure, pattern in (old, new)
    )
    first = {
        "orders/a": [order(1, amount=2, price=7)],
        "orders/b": [order(2, product="q", ts="2020-01-01 01:00:00")],
        "orders/c": [order(3, product="q", ts="2020-01-01 02:00:00")],
    }
    second = {
        "orders/d": [order(4, amount=3, ts="2020-01-01 03:00:00"), order(5, amount=4, ts="2020-01-01 04:00:00")],
        "orders/e": [order(6, product="q", ts="2020-01-01 05:00:00")],
        "orders/f": [order(7, product="q", ts="2020-01-01 06:00:00")],
    }
    return _changed(name, before, after, "product STRING, x INT", first, second, **more)


def _products(name: str, query: str, columns: str, **more: Any) -> Truth:
    """Products that came as inserts only, and now come as a changelog that takes the last one back."""
    rows = [{"product": f"p{i}", "family": "f", "rank_in_family": i} for i in (1, 2, 3)]
    gone = {"op": "d", "before": rows[2], "after": None}
    new = script(query, columns)
    return Truth(
        name,
        (name,),
        new.replace("'debezium-json'", "'json'", 1),
        new,
        {"products/a": rows},
        {"products/b": [gone]},
        **more,
    )


def _inserted(row: Row) -> Row:
    """A row as Debezium tells of it."""
    return {"op": "c", "before": None, "after": row}


def _at(id: int, time: str, **more: Any) -> Row:
    """An order of the first of January, or of the next day."""
    return order(id, ts=f"2020-01-{time}", **more)


_MISMATCH = "STREAMING_STATEFUL_OPERATOR_NOT_MATCH_IN_STATE_METADATA"
_KEY_SCHEMA = "STATE_STORE_KEY_SCHEMA_NOT_COMPATIBLE"
_VALUE_SCHEMA = "STATE_STORE_VALUE_SCHEMA_NOT_COMPATIBLE"
_ONE = {"orders/a": [order(1, amount=2, price=10)]}
_TWO = {"orders/b": [order(2, amount=3, price=7)]}
_LEFT = JOIN.replace("JOIN", "LEFT JOIN")
_ORDER, _SHIPMENT = {"orders/a": [order(1)], "shipments/a": []}, {"shipments/b": [shipment(1)]}
_FIRST_BY_CLOCK = (
    "SELECT a, b FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY a, b ORDER BY p) AS n FROM "
    "(SELECT {}, PROCTIME() AS p FROM orders)) WHERE n = 1"
)
_COUNTED = WINDOW.replace("SUM(amount) AS total", "COUNT(*) AS n, COUNT(price) AS m")
_COUNTED_COLUMNS = "s TIMESTAMP(3), product STRING, n BIGINT, m BIGINT"
_DISTINCT = "SELECT product, COUNT(DISTINCT x) FROM (SELECT product, {}(shop) AS x FROM orders) GROUP BY product"
_BEST = (
    "SELECT shop, product, price FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY shop ORDER BY price DESC) AS n "
    "FROM orders) WHERE n <= 1"
)
_RANKED = (
    "SELECT product, r FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY family ORDER BY r DESC) AS n FROM "
    "(SELECT family, product, rank_in_family AS r FROM products)) WHERE n <= 2"
)
_FAMILIES = "SELECT o.id, p.family FROM orders o JOIN products p ON o.product = p.product"
_PRODUCT = {"product": "p", "family": "f", "rank_in_family": 1}
_SHOPS = JOIN.replace("o.price", "o.shop AS x, s.shop AS y")
_SHOPS_COLUMNS = "id BIGINT, x STRING, y STRING, cost DECIMAL(10, 2)"
_FILES = "'connector' = 'filesystem', 'path' = '${DIR}/in/orders', 'format' = 'json'"
_WATERMARK = ", WATERMARK FOR ts AS ts - INTERVAL '5' SECOND"
_DUPLICATES = "SET 'table.exec.source.cdc-events-duplicate' = 'true';"
_LOCAL_TIME = "SET 'table.local-time-zone' = '{}';"

BROKEN = (
    # ---------------------------------------------------------------- keys
    sums("keys-changed", "keys-changed", SUMS.replace("product", "shop"), SUMS_COLUMNS, [("c", "s", 3, 7)]),
    _changed(
        "key-order-changed",
        _FIRST_BY_CLOCK.format("product AS a, shop AS b"),
        _FIRST_BY_CLOCK.format("shop AS b, product AS a"),
        "a STRING, b STRING",
        _ONE,
        _TWO,
        expected=[("c", "p", "s")],
    ),
    Truth(
        "key-type-changed",
        ("key-type-changed",),
        script("SELECT amount, COUNT(*) FROM orders GROUP BY amount", "amount INT, n BIGINT"),
        script("SELECT amount, COUNT(*) FROM orders GROUP BY amount", "amount INT, n BIGINT").replace(
            "amount INT", "amount BIGINT"
        ),
        _ONE,
        _TWO,
        refused=_KEY_SCHEMA,
    ),
    # ---------------------------------------------------------------- aggregates
    sums(
        "aggregate-mistaken",
        "aggregate-mistaken",
        SUMS.replace("amount)", "amount * 100)"),
        SUMS_COLUMNS,
        [("d", "p", 20, 10), ("c", "p", 320, 10)],
        old=SUMS.replace("amount)", "amount * 10)"),
    ),
    _changed(
        "distinct-aggregate-changed",
        _DISTINCT.format("UPPER"),
        _DISTINCT.format("LOWER"),
        "product STRING, n BIGINT",
        _ONE,
        _TWO,
        expected=[("d", "p", 1), ("c", "p", 2)],
    ),
    _products(
        "retraction-changed",
        "SELECT family, SUM(rank_in_family), MAX(rank_in_family) FROM products GROUP BY family",
        "family STRING, s INT, m INT",
        expected=[("d", "f", 6, 3), ("c", "f", 3, None)],
        uninterrupted=[("f", 3, 2)],
    ),
    # ---------------------------------------------------------------- operators and sources that come and go
    sums(
        "stateful-node-added",
        "stateful-node-added",
        f"SELECT MIN(product), MAX(total), top FROM ({SUMS}) GROUP BY top",
        SUMS_COLUMNS,
        [],
        refused=_MISMATCH,
    ),
    sums(
        "stateful-node-removed",
        "stateful-node-removed",
        "SELECT product, amount, price FROM orders",
        SUMS_COLUMNS,
        [],
        refused=_MISMATCH,
    ),
    _changed(
        "operator-replaced",
        _BEST,
        _BEST.replace("price DESC", "ts").replace("<= 1", "= 1"),
        TOP_COLUMNS,
        _ONE,
        _TWO,
        refused="STATE_STORE",
    ),
    _changed("source-added", SUMS, UNITED, SUMS_COLUMNS, _ONE, {**_TWO, "shipments/a": []}, refused="sources"),
    _changed("source-removed", UNITED, SUMS, SUMS_COLUMNS, {**_ONE, "shipments/a": []}, _TWO, refused="sources"),
    _changed(
        "sources-reordered",
        UNITED,
        SWAPPED,
        SUMS_COLUMNS,
        {"orders/a": [order(1, amount=2)], "orders/b": [order(2)], "shipments/a": [shipment(1)]},
        {"orders/c": [order(3, amount=3)], "shipments/b": [shipment(2, cost=9)]},
        expected=[("d", "c", 1, 5), ("c", "c", 3, 9), ("d", "p", 3, 10), ("c", "p", 9, 10)],
    ),
    _changed(
        "source-read-again",
        SUMS,
        SUMS.replace("FROM orders", "FROM (SELECT * FROM orders UNION ALL SELECT * FROM orders WHERE amount > 2)"),
        SUMS_COLUMNS,
        _ONE,
        _TWO,
        refused="sources",
    ),
    Truth(
        "event-time-switched",
        ("event-time-switched",),
        script(SUMS, SUMS_COLUMNS).replace(_WATERMARK, ""),
        script(SUMS, SUMS_COLUMNS),
        _ONE,
        _TWO,
        refused="sources",
    ),
    Truth(
        "source-connector-changed",
        ("source-connector-changed",),
        script(SUMS, SUMS_COLUMNS),
        script(SUMS, SUMS_COLUMNS).replace(_FILES, "'connector' = 'datagen', 'number-of-rows' = '3'"),
        _ONE,
        _TWO,
        refused='{"files":1,',
    ),
    Truth(
        "source-format-changed",
        ("source-format-changed",),
        script(SUMS, SUMS_COLUMNS),
        script(SUMS, SUMS_COLUMNS).replace("orders', 'format' = 'json'", "orders', 'format' = 'parquet'"),
        _ONE,
        {},
        refused="",
    ),
    Truth(
        "sink-renamed",
        ("sink-renamed",),
        script(SUMS, SUMS_COLUMNS),
        script(SUMS, SUMS_COLUMNS).replace("TABLE report", "TABLE summary").replace("INTO report", "INTO summary"),
        _ONE,
        _TWO,
        [("c", "p", 5, 10)],
    ),
    # ---------------------------------------------------------------- patterns
    _matches("match-changed", ("A.amount", "A B"), ("CAST(A.price AS INT)", "A B"), expected=[("c", "p", None)]),
    _matches("pattern-changed", ("A.amount", "A B"), ("A.amount", "A B C"), expected=[("c", "p", None), ("c", "p", 2)]),
    # ---------------------------------------------------------------- joins
    joined("join-type-changed", ("join-type-changed",), _LEFT, refused=""),
    _changed(
        "join-keys-changed",
        _SHOPS,
        f"{_SHOPS} AND o.shop = s.shop",
        _SHOPS_COLUMNS,
        _ORDER,
        _SHIPMENT,
        refused=_KEY_SCHEMA,
    ),
    _changed(
        "join-condition-changed",
        _LEFT,
        f"{_LEFT} AND o.price < s.cost",
        JOIN_COLUMNS,
        {"orders/a": [order(1)], "shipments/a": [shipment(1)]},
        {"shipments/b": [shipment(1, cost=50)]},
        expected=[("c", 1, 10, 50)],
    ),
    joined(
        "inputs-swapped",
        ("inputs-swapped", "sources-reordered"),
        "SELECT o.id, o.price, s.cost FROM shipments s JOIN orders o ON o.id = s.order_id",
        expected=[("c", 1, 10, 10), ("c", 1, 10, 5)],
    ),
    Truth(
        "upsert-keys-changed",
        ("upsert-keys-changed",),
        script(_FAMILIES, "id BIGINT, family STRING"),
        script(_FAMILIES, "id BIGINT, family STRING").replace(
            "rank_in_family INT\n", "rank_in_family INT, PRIMARY KEY (product) NOT ENFORCED\n"
        ),
        {"orders/a": [order(1)], "products/a": [{"op": "c", "before": None, "after": _PRODUCT}]},
        {"products/b": [{"op": "d", "before": _PRODUCT, "after": None}]},
        refused=_KEY_SCHEMA,
    ),
    _changed(
        "join-interval-changed",
        INTERVAL,
        INTERVAL.replace("'4'", "'9'"),
        "id BIGINT, cost DECIMAL(10, 2)",
        {
            "orders/a": [_at(1, "01 00:00:00"), _at(2, "01 06:00:00")],
            "shipments/a": [shipment(7, ts=_at(7, "01 06:00:00")["ts"])],
        },
        {
            "shipments/b": [shipment(1, ts="2020-01-01 08:00:00"), shipment(7, ts="2020-01-01 10:00:00")],
            "orders/b": [_at(3, "01 10:00:00")],
        },
        expected=[],
        other_history=True,
    ),
    joined(
        "row-schema-changed",
        ("row-schema-changed",),
        JOIN.replace("o.price", "o.price, o.discount"),
        columns="id BIGINT, price DECIMAL(10, 2), discount DECIMAL(10, 2), cost DECIMAL(10, 2)",
        expected=[("c", 1, 10, None, 5)],
    ),
    joined(
        "row-columns-changed",
        ("row-columns-changed",),
        JOIN.replace("o.price", "o.discount"),
        expected=[("c", 1, 10, 5)],
    ),
    # ---------------------------------------------------------------- ranks and deduplications
    _changed(
        "identity-changed",
        FIRST,
        FIRST.replace("ORDER BY ts", "ORDER BY ts DESC"),
        FIRST_COLUMNS,
        _ONE,
        {"orders/b": [order(1, price=5, ts="2020-01-01 00:00:01")]},
        rules=("identity-changed", "first-row-emission-changed"),
        refused="STATE_STORE_INVALID_CONFIG_AFTER_RESTART",
    ),
    _changed(
        "sink-materializer-changed",
        SUMS,
        f"{SUMS} ON CONFLICT DO DEDUPLICATE",
        f"{SUMS_COLUMNS}, PRIMARY KEY (product) NOT ENFORCED",
        _ONE,
        _TWO,
        new_columns=f"{SUMS_COLUMNS}, PRIMARY KEY (total) NOT ENFORCED",
        replace=[("'filesystem', 'path' = '${DIR}/out/report', 'format' = 'debezium-json'", "'blackhole'")],
        refused=_MISMATCH,
    ),
    _changed(
        "order-changed",
        _BEST.replace("<= 1", "<= 2"),
        _BEST.replace("<= 1", "<= 2").replace("DESC", "ASC"),
        TOP_COLUMNS,
        {"orders/a": [order(1, price=1), order(2, price=5), order(4, price=2)]},
        {"orders/b": [order(3, price=3)]},
        expected=[("d", "s", "p", 5), ("c", "s", "p", 3)],
    ),
    _changed(
        "rank-range-changed",
        _BEST,
        _BEST.replace("<= 1", "<= 2"),
        TOP_COLUMNS,
        {"orders/a": [order(1, price=3), order(2, price=5)]},
        {"orders/b": [order(3, price=1)]},
        expected=[("c", "s", "p", 1)],
    ),
    _products(
        "rank-strategy-changed",
        _RANKED,
        "product STRING, r INT",
        expected=[("d", "p3", 3)],
        uninterrupted=[("p2", 2), ("p1", 1)],
    ),
    # ---------------------------------------------------------------- windows
    _windows(
        "window-aggregate-added",
        WINDOW,
        WINDOW.replace("AS total", "AS total, COUNT(*) AS n"),
        new_columns=f"{WINDOW_COLUMNS}, n BIGINT",
        refused=_VALUE_SCHEMA,
    ),
    _windows("window-aggregate-changed", WINDOW, WINDOW.replace("SUM(", "MAX("), refused=_VALUE_SCHEMA),
    _changed(
        "window-aggregate-removed",
        _COUNTED,
        _COUNTED.replace(", COUNT(price) AS m", ""),
        _COUNTED_COLUMNS,
        _ONE,
        _TWO,
        new_columns=_COUNTED_COLUMNS.removesuffix(", m BIGINT"),
        refused=_VALUE_SCHEMA,
    ),
    Truth(
        "window-aggregates-reordered",
        ("window-aggregates-reordered",),
        script(_COUNTED, _COUNTED_COLUMNS),
        script(
            _COUNTED.replace("COUNT(*) AS n, COUNT(price) AS m", "COUNT(price) AS m, COUNT(*) AS n"), _COUNTED_COLUMNS
        ),
        {"orders/a": [order(1, price=None)]},
        {"orders/b": [order(2), _at(3, "01 01:00:00")], "orders/c": [_at(4, "01 02:00:00")]},
        [("c", "2020-01-01 00:00:00", "p", 2, 1), ("c", "2020-01-01 01:00:00", "p", 1, 1)],
    ),
    _windows(
        "window-changed",
        WINDOW,
        WINDOW.replace("'10' MINUTE", "'5' MINUTE"),
        expected=[
            ("c", "2020-01-01 00:00:00", "p", 2),
            ("c", "2020-01-01 00:00:00", "p", 3),
            ("c", "2020-01-01 01:00:00", "p", 1),
        ],
    ),
    _changed(
        "time-zone-changed",
        WINDOW.replace("'10' MINUTE", "'1' DAY"),
        WINDOW.replace("'10' MINUTE", "'1' DAY"),
        WINDOW_COLUMNS,
        {"orders/a": [_at(1, "01 23:30:00Z")]},
        {"orders/b": [_at(2, "02 12:00:00Z"), _at(3, "05 00:00:00Z")], "orders/c": [_at(4, "06 00:00:00Z")]},
        settings=(_LOCAL_TIME.format("UTC"), _LOCAL_TIME.format("Europe/Berlin")),
        replace=[("ts TIMESTAMP(3), WATERMARK", "ts TIMESTAMP_LTZ(3), WATERMARK")],
        expected=[
            ("c", "2020-01-01 00:00:00", "p", 1),
            ("c", "2020-01-02 00:00:00", "p", 1),
            ("c", "2020-01-05 00:00:00", "p", 1),
        ],
    ),
    _changed(
        "over-window-changed",
        OVER,
        OVER.replace("2 PREC", "5 PREC"),
        OVER_COLUMNS,
        {
            "orders/a": [_at(i, f"01 00:00:0{i}", amount=i) for i in range(1, 5)],
            "orders/b": [_at(10, "01 00:10:00", amount=10)],
        },
        {"orders/c": [_at(11, "01 00:20:00")], "orders/d": [_at(12, "01 00:30:00")]},
        expected=[("c", 10, 19), ("c", 11, 20)],
    ),
    _changed(
        "normalized-rows-changed",
        "SELECT product, family FROM products WHERE rank_in_family > 1",
        "SELECT product, family FROM products WHERE rank_in_family < 3",
        "product STRING, family STRING",
        {"products/a": [_inserted({**_PRODUCT, "product": "first"})]},
        {"products/b": [_inserted({**_PRODUCT, "product": "second"})]},
        settings=(_DUPLICATES, _DUPLICATES),
        replace=[("rank_in_family INT\n", "rank_in_family INT, PRIMARY KEY (product) NOT ENFORCED\n")],
        expected=[("c", "second", "f")],
    ),
)
