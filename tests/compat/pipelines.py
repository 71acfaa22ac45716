"""Pairs of pipelines: what an edit of the SQL is judged to be."""

from __future__ import annotations

from dataclasses import dataclass

TABLES = """
CREATE TABLE orders (
  id BIGINT, product STRING, shop STRING, amount INT, price DECIMAL(10, 2), discount DECIMAL(10, 2),
  ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH ('connector' = 'filesystem', 'path' = '${DIR}/in/orders', 'format' = 'json');
CREATE TABLE shipments (
  order_id BIGINT, carrier STRING, cost DECIMAL(10, 2), shop STRING,
  ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH ('connector' = 'filesystem', 'path' = '${DIR}/in/shipments', 'format' = 'json');
CREATE TABLE products (
  product STRING, family STRING, rank_in_family INT
) WITH ('connector' = 'filesystem', 'path' = '${DIR}/in/products', 'format' = 'debezium-json');
"""

INCIDENTAL = {
    "exchange-changed",
    "sink-schema-changed",
    "source-projection-changed",
    "stateless-node-added",
    "stateless-node-changed",
}
"""Rules on what goes along with most edits of a query, and never touches state."""


@dataclass(frozen=True)
class Pair:
    """Two queries over :data:`TABLES` and what the difference is judged to be.

    A query is the SELECT of one sink, whose columns are ``columns`` (under the new plan ``new_columns``, if given);
    ``flink`` is the verdict on Flink's state, ``rules`` the ids of the rules that must apply; of the others only
    :data:`INCIDENTAL` may.
    """

    name: str
    old: str
    new: str
    columns: str
    flink: str
    rules: tuple[str, ...]
    new_columns: str | None = None
    settings: tuple[str, str] = ("", "")

    def scripts(self) -> tuple[str, str]:
        """The two scripts."""
        old = script(self.old, self.columns, self.settings[0])
        return old, script(self.new, self.new_columns or self.columns, self.settings[1])


def script(query: str, columns: str, settings: str = "") -> str:
    """A script that writes one query."""
    sink = "WITH ('connector' = 'filesystem', 'path' = '${DIR}/out/report', 'format' = 'debezium-json')"
    return f"{settings}{TABLES}CREATE TABLE report ({columns}) {sink};\nINSERT INTO report {query};\n"


SUMS = "SELECT product, SUM(amount) AS total, MAX(price) AS top FROM orders GROUP BY product"
SUMS_COLUMNS = "product STRING, total INT, top DECIMAL(10, 2)"
TWO_PHASES = (
    "SET 'table.exec.mini-batch.enabled' = 'true';SET 'table.exec.mini-batch.allow-latency' = '1 s';"
    "SET 'table.exec.mini-batch.size' = '100';"
)
"""Settings under which an aggregation is done in two phases."""

JOIN = "SELECT o.id, o.price, s.cost FROM orders o JOIN shipments s ON o.id = s.order_id"
JOIN_COLUMNS = "id BIGINT, price DECIMAL(10, 2), cost DECIMAL(10, 2)"
WINDOW = (
    "SELECT window_start, product, SUM(amount) AS total FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), "
    "INTERVAL '10' MINUTE)) GROUP BY window_start, window_end, product"
)
WINDOW_COLUMNS = "s TIMESTAMP(3), product STRING, total INT"
FIRST = (
    "SELECT id, product, price FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY id, shop ORDER BY ts) AS n FROM orders) "
    "WHERE n = 1"
)
FIRST_COLUMNS = "id BIGINT, product STRING, price DECIMAL(10, 2)"
PROC_FIRST = (
    "SELECT id, product FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY id ORDER BY p) AS n FROM "
    "(SELECT *, PROCTIME() AS p FROM orders)) WHERE n = 1"
)
TOP = (
    "SELECT shop, product, price FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY shop, product ORDER BY price DESC) "
    "AS n FROM orders) WHERE n <= 3"
)
TOP_COLUMNS = "shop STRING, product STRING, price DECIMAL(10, 2)"
INTERVAL = (
    "SELECT o.id, s.cost FROM orders o JOIN shipments s ON o.id = s.order_id "
    "AND s.ts BETWEEN o.ts AND o.ts + INTERVAL '4' HOUR"
)
OVER = (
    "SELECT id, SUM(amount) OVER (PARTITION BY shop ORDER BY ts ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) FROM orders"
)
OVER_COLUMNS = "id BIGINT, s INT"
_BRANCHES = (
    "SELECT product, amount, price FROM orders",
    "SELECT carrier AS product, 1 AS amount, cost AS price FROM shipments",
)
UNITED, SWAPPED = (
    f"SELECT product, SUM(amount) AS total, MAX(price) AS top FROM ({' UNION ALL '.join(branches)}) GROUP BY product"
    for branches in (_BRANCHES, _BRANCHES[::-1])
)
FILTERED = "SELECT id, price FROM orders WHERE amount > 10"
FILTERED_COLUMNS = "id BIGINT, price DECIMAL(10, 2)"

PAIRS = (
    # ---------------------------------------------------------------- group aggregates
    Pair("agg-alias", SUMS, SUMS.replace("total", "sum_of"), SUMS_COLUMNS, "cosmetic", ()),
    Pair(
        "agg-dropped",
        SUMS,
        "SELECT product, SUM(amount) AS total FROM orders GROUP BY product",
        SUMS_COLUMNS,
        "incompatible",
        ("aggregate-removed",),
        new_columns="product STRING, total INT",
    ),
    Pair(
        "agg-reordered",
        SUMS,
        "SELECT product, MAX(price) AS top, SUM(amount) AS total FROM orders GROUP BY product",
        SUMS_COLUMNS,
        "incompatible",
        ("aggregates-reordered",),
        new_columns="product STRING, top DECIMAL(10, 2), total INT",
    ),
    Pair(
        "agg-added",
        SUMS,
        "SELECT product, SUM(amount) AS total, MAX(price) AS top, MIN(discount) AS low FROM orders GROUP BY product",
        SUMS_COLUMNS,
        "incompatible",
        ("aggregate-added",),
        new_columns=f"{SUMS_COLUMNS}, low DECIMAL(10, 2)",
    ),
    Pair(
        "agg-changed",
        SUMS,
        SUMS.replace("MAX(price)", "MAX(discount)"),
        SUMS_COLUMNS,
        "corrupting",
        ("aggregate-changed",),
    ),
    Pair(
        "agg-function-changed", SUMS, SUMS.replace("MAX(", "MIN("), SUMS_COLUMNS, "corrupting", ("aggregate-changed",)
    ),
    Pair(
        "agg-expression-changed",
        SUMS.replace("amount)", "amount * 2)"),
        SUMS.replace("amount)", "amount * 3)"),
        SUMS_COLUMNS,
        "corrupting",
        ("aggregate-mistaken",),
    ),
    Pair(
        "agg-other-key-hidden-by-projection",
        SUMS,
        SUMS.replace("product", "shop"),
        SUMS_COLUMNS,
        "corrupting",
        ("keys-changed",),
    ),
    Pair(
        "agg-key-added",
        SUMS,
        "SELECT product, shop, SUM(amount) AS total, MAX(price) AS top FROM orders GROUP BY product, shop",
        SUMS_COLUMNS,
        "incompatible",
        ("keys-changed",),
        new_columns=f"product STRING, shop STRING, {SUMS_COLUMNS.partition(', ')[2]}",
    ),
    Pair(
        "agg-key-expression",
        SUMS,
        "SELECT p, SUM(amount) AS total, MAX(price) AS top FROM (SELECT UPPER(product) AS p, amount, price "
        "FROM orders) GROUP BY p",
        SUMS_COLUMNS,
        "corrupting",
        ("keys-changed",),
    ),
    Pair(
        "agg-distinct-added",
        SUMS,
        SUMS.replace("MAX(price) AS top", "MAX(price) AS top, COUNT(DISTINCT shop) AS shops"),
        SUMS_COLUMNS,
        "incompatible",
        ("distinct-aggregate-added",),
        new_columns=f"{SUMS_COLUMNS}, shops BIGINT",
    ),
    Pair(
        "agg-filter-below",
        SUMS,
        SUMS.replace("GROUP BY", "WHERE discount > 0 GROUP BY"),
        SUMS_COLUMNS,
        "compatible",
        (),
    ),
    Pair(
        "agg-having",
        SUMS,
        f"{SUMS} HAVING SUM(amount) > 10",
        SUMS_COLUMNS,
        "compatible",
        (),
    ),
    Pair(
        "agg-two-phase",
        SUMS,
        SUMS,
        SUMS_COLUMNS,
        "incompatible",
        ("aggregation-split",),
        settings=("", TWO_PHASES),
    ),
    Pair(
        "ttl",
        SUMS,
        SUMS,
        SUMS_COLUMNS,
        "compatible",
        ("ttl-changed",),
        settings=("SET 'table.exec.state.ttl' = '1 h';", "SET 'table.exec.state.ttl' = '3 h';"),
    ),
    # ---------------------------------------------------------------- windows
    Pair("window-size", WINDOW, WINDOW.replace("'10'", "'5'"), WINDOW_COLUMNS, "corrupting", ("window-changed",)),
    Pair(
        "window-attribute",
        WINDOW,
        WINDOW.replace("SELECT window_start", "SELECT window_end"),
        WINDOW_COLUMNS,
        "compatible",
        (),
    ),
    Pair(
        "window-agg-added",
        WINDOW,
        WINDOW.replace("AS total", "AS total, COUNT(*) AS n"),
        WINDOW_COLUMNS,
        "incompatible",
        ("window-aggregate-added",),
        new_columns=f"{WINDOW_COLUMNS}, n BIGINT",
    ),
    Pair(
        "window-key",
        WINDOW,
        WINDOW.replace("product", "shop"),
        WINDOW_COLUMNS,
        "corrupting",
        ("keys-changed",),
    ),
    Pair(
        "window-kind",
        WINDOW,
        WINDOW.replace("TUMBLE(", "HOP(").replace("INTERVAL '10' MINUTE", "INTERVAL '5' MINUTE, INTERVAL '10' MINUTE"),
        WINDOW_COLUMNS,
        "incompatible",
        ("window-changed",),
    ),
    # ---------------------------------------------------------------- deduplication and Top-N
    Pair(
        "first-key-order",
        FIRST,
        FIRST.replace("id, shop ORDER", "shop, id ORDER"),
        FIRST_COLUMNS,
        "cosmetic",
        (),
    ),
    Pair(
        "first-other-column",
        FIRST,
        FIRST.replace("id, product, price FROM", "id, product, discount FROM"),
        FIRST_COLUMNS,
        "corrupting",
        ("row-columns-changed",),
    ),
    Pair(
        "first-key",
        FIRST,
        FIRST.replace("id, shop ORDER", "id, product ORDER"),
        FIRST_COLUMNS,
        "incompatible",
        ("keys-changed", "row-schema-changed"),
    ),
    Pair(
        "first-last",
        FIRST,
        FIRST.replace("ORDER BY ts", "ORDER BY ts DESC"),
        FIRST_COLUMNS,
        "incompatible",
        ("identity-changed", "first-row-emission-changed", "output-changed"),
    ),
    Pair(
        "proc-first-column-added",
        PROC_FIRST,
        PROC_FIRST.replace("id, product FROM", "id, product, price FROM"),
        "id BIGINT, product STRING",
        "compatible",
        ("stateless-node-changed",),
        new_columns="id BIGINT, product STRING, price DECIMAL(10, 2)",
    ),
    Pair("top-n", TOP, TOP.replace("<= 3", "<= 5"), TOP_COLUMNS, "corrupting", ("rank-range-changed",)),
    Pair("top-order", TOP, TOP.replace("price DESC", "price"), TOP_COLUMNS, "corrupting", ("order-changed",)),
    Pair(
        "top-key-order",
        TOP,
        TOP.replace("BY shop, product", "BY product, shop"),
        TOP_COLUMNS,
        "cosmetic",
        (),
    ),
    Pair(
        "top-rank-shown",
        TOP,
        TOP.replace("price FROM", "price, n FROM"),
        TOP_COLUMNS,
        "compatible",
        ("output-changed",),
        new_columns=f"{TOP_COLUMNS}, n BIGINT",
    ),
    Pair(
        "top-column-added",
        TOP,
        TOP.replace("price FROM", "price, discount FROM"),
        TOP_COLUMNS,
        "incompatible",
        ("row-schema-changed",),
        new_columns=f"{TOP_COLUMNS}, discount DECIMAL(10, 2)",
    ),
    # ---------------------------------------------------------------- joins
    Pair("join-type", JOIN, JOIN.replace("JOIN", "LEFT JOIN"), JOIN_COLUMNS, "incompatible", ("join-type-changed",)),
    Pair(
        "join-key",
        JOIN,
        f"{JOIN} AND o.shop = s.shop",
        JOIN_COLUMNS,
        "incompatible",
        ("join-keys-changed", "row-schema-changed"),
    ),
    Pair(
        "join-condition",
        JOIN,
        f"{JOIN} AND o.price > s.cost",
        JOIN_COLUMNS,
        "compatible",
        ("inner-join-condition-changed",),
    ),
    Pair(
        "outer-join-condition",
        JOIN.replace("JOIN", "LEFT JOIN"),
        f"{JOIN.replace('JOIN', 'LEFT JOIN')} AND o.price > s.cost",
        JOIN_COLUMNS,
        "corrupting",
        ("join-condition-changed",),
    ),
    Pair(
        "source-read-again",
        SUMS,
        SUMS.replace("FROM orders", "FROM (SELECT * FROM orders UNION ALL SELECT * FROM orders WHERE amount > 2)"),
        SUMS_COLUMNS,
        "compatible",
        ("source-read-again",),
    ),
    Pair(
        "join-pushed-condition",
        JOIN,
        f"{JOIN} WHERE o.price > 10",
        JOIN_COLUMNS,
        "compatible",
        ("stateless-node-changed",),
    ),
    Pair(
        "join-carried-column",
        JOIN,
        JOIN.replace("o.price", "o.discount AS price"),
        JOIN_COLUMNS,
        "corrupting",
        ("row-columns-changed",),
    ),
    Pair(
        "join-column-added",
        JOIN,
        JOIN.replace("s.cost", "s.cost, s.carrier"),
        JOIN_COLUMNS,
        "incompatible",
        ("row-schema-changed",),
        new_columns=f"{JOIN_COLUMNS}, carrier STRING",
    ),
    Pair(
        "join-swapped",
        JOIN,
        "SELECT o.id, o.price, s.cost FROM shipments s JOIN orders o ON o.id = s.order_id",
        JOIN_COLUMNS,
        "corrupting",
        ("inputs-swapped", "sources-reordered"),
    ),
    Pair(
        "join-ttl-hint",
        JOIN,
        JOIN.replace("SELECT o", "SELECT /*+ STATE_TTL('o' = '3 s') */ o", 1),
        JOIN_COLUMNS,
        "compatible",
        ("ttl-enabled",),
    ),
    Pair(
        "interval-bounds",
        INTERVAL,
        INTERVAL.replace("'4'", "'6'"),
        "id BIGINT, cost DECIMAL(10, 2)",
        "compatible",
        ("join-interval-changed",),
    ),
    # ---------------------------------------------------------------- over
    Pair("over-frame", OVER, OVER.replace("2 PREC", "5 PREC"), OVER_COLUMNS, "corrupting", ("over-window-changed",)),
    Pair(
        "over-agg",
        OVER.replace("SUM(amount)", "MIN(amount)"),
        OVER.replace("SUM(amount)", "MAX(amount)"),
        OVER_COLUMNS,
        "incompatible",
        ("window-aggregate-changed",),
    ),
    Pair(
        "over-partition",
        OVER,
        OVER.replace("shop", "product"),
        OVER_COLUMNS,
        "corrupting",
        ("over-window-changed", "row-columns-changed"),
    ),
    # ---------------------------------------------------------------- without state
    Pair(
        "filter-changed",
        FILTERED,
        FILTERED.replace("10", "20"),
        FILTERED_COLUMNS,
        "compatible",
        (),
    ),
    Pair(
        "aggregation-above",
        FILTERED,
        "SELECT id, MAX(price) FROM orders WHERE amount > 10 GROUP BY id",
        FILTERED_COLUMNS,
        "partial",
        ("stateful-node-added",),
    ),
    Pair("union-swapped", UNITED, SWAPPED, SUMS_COLUMNS, "compatible", ("sources-reordered",)),
    Pair(
        "union-added",
        SUMS,
        UNITED,
        SUMS_COLUMNS,
        "compatible",
        ("source-added",),
    ),
)
