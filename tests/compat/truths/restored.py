"""Changes under which Spark goes on, and what it writes then."""

from __future__ import annotations

from flinkplan.plan.nodes import Exchange, Join, OverAggregate, Sink
from flinkplan.plan.record import replace
from flinkplan.plan.specs import PIPELINED_INPUT, Distribution, DistributionType, StateMetadata
from tests.compat.pipelines import (
    JOIN,
    JOIN_COLUMNS,
    OVER,
    OVER_COLUMNS,
    SUMS,
    SUMS_COLUMNS,
    TOP,
    TOP_COLUMNS,
    TWO_PHASES,
    WINDOW,
    WINDOW_COLUMNS,
    script,
)

from .model import Truth, as_compiled, each, joined, left_ttl, order, shipment, sums


def _shown_twice(query: str, columns: str) -> str:
    """A query, and another that shows orders to nobody."""
    two = _two_queries(query, columns, "'connector' = 'blackhole'")
    return two.replace("SELECT shop, COUNT(*) FROM orders GROUP BY shop", "SELECT shop, id FROM orders")


def _two_queries(query: str, columns: str, options: str = "") -> str:
    """A query, and another that counts orders by shop."""
    first, insert = script(query, columns).split("INSERT INTO", 1)
    files = "'connector' = 'filesystem', 'path' = '${DIR}/out/shops', 'format' = 'debezium-json'"
    sink = f"WITH ({options or files})"
    counts = "INSERT INTO shops SELECT shop, COUNT(*) FROM orders GROUP BY shop"
    created = f"{first}CREATE TABLE shops (shop STRING, n BIGINT) {sink};\n"
    return f"{created}EXECUTE STATEMENT SET BEGIN\nINSERT INTO{insert}{counts};\nEND;\n"


_MISMATCH = "STREAMING_STATEFUL_OPERATOR_NOT_MATCH_IN_STATE_METADATA"
_MATCHED = [("c", 1, 10, 5)]
_FEWER = "SELECT product, SUM(amount) AS total FROM orders GROUP BY product"
_TWO = "product STRING, total INT"
_RANGE = "SELECT product, MIN(amount), SUM(amount) FROM orders GROUP BY product"
_RANGE_COLUMNS = "product STRING, low INT, high INT"
_DISTINCT = SUMS.replace("MAX(price) AS top", "MAX(price) AS top, COUNT(DISTINCT id) AS n")
_GOES_ON = [("d", "p", 2, 10), ("c", "p", 5, 10)]
_TWICE = (
    "SELECT product, SUM(NAME) AS total, MAX(price) AS top FROM (SELECT product, amount * 2 AS NAME, price "
    "FROM orders) GROUP BY product"
)
_NO_NULL = SUMS_COLUMNS.replace("top DECIMAL(10, 2)", "top DECIMAL(10, 2) NOT NULL")
_NO_WATERMARK = (",\n  ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND", ", ts TIMESTAMP(3)")
_ONE_HOUR = "SET 'table.exec.state.ttl' = '1 h';"
_SHIPPED = "SELECT o.product, SUM(s.cost) FROM orders o JOIN shipments s ON o.id = s.order_id GROUP BY o.product"
_SHIPPED_COLUMNS = "product STRING, cost DECIMAL(38, 2)"
_BY_TWO_COLUMNS = replace(PIPELINED_INPUT, required_distribution=Distribution(DistributionType.HASH, (0, 1)))
_RUNNING = OVER.replace("2 PRECEDING", "UNBOUNDED PRECEDING")
_KEYED = f"{SUMS_COLUMNS}, PRIMARY KEY (product) NOT ENFORCED"
_MATERIALIZED = {
    "require_upsert_materialize": True,
    "state": (StateMetadata(0, "0 ms", "sinkMaterializeState"),),
}
_COMPUTED = JOIN.replace("o.price", "o.discount")
_PLUS_ONE = ("discount DECIMAL(10, 2)", "discount AS CAST(price + 1 AS DECIMAL(10, 2))")
_PLUS_TWO = ("discount DECIMAL(10, 2)", "discount AS CAST(price + 2 AS DECIMAL(10, 2))")

RESTORED = (
    # ---------------------------------------------------------------- TTLs
    joined(
        "ttl-enabled", ("ttl-enabled",), JOIN, expected=_MATCHED, seamless=True, edits=(as_compiled, left_ttl("1 h"))
    ),
    joined(
        "ttl-disabled", ("ttl-disabled",), JOIN, expected=_MATCHED, seamless=True, edits=(left_ttl("1 h"), as_compiled)
    ),
    joined(
        "ttl-changed",
        ("ttl-changed",),
        JOIN,
        expected=_MATCHED,
        seamless=True,
        edits=(left_ttl("1 h"), left_ttl("3 h")),
    ),
    joined(
        "old-entries-keep-their-expiry", ("ttl-changed",), JOIN, expected=[], edits=(left_ttl("1 ms"), left_ttl("1 h"))
    ),
    joined(
        "ttl-left-to-job",
        ("ttl-left-to-job",),
        JOIN,
        expected=_MATCHED,
        seamless=True,
        edits=(left_ttl("1 h"), each(Join, state=None)),
    ),
    Truth(
        "ttl-shorter-downstream",
        ("ttl-shorter-downstream",),
        script(_SHIPPED, _SHIPPED_COLUMNS, _ONE_HOUR),
        script(_SHIPPED, _SHIPPED_COLUMNS, _ONE_HOUR),
        {"orders/a": [order(1)], "shipments/a": [shipment(1)]},
        {"shipments/b": [shipment(1)]},
        [("d", "p", 5), ("c", "p", 10)],
        seamless=True,
        edits=(left_ttl("1 h"), left_ttl("1 d")),
    ),
    joined(
        "ttl-switched-before-2.2",
        ("ttl-switched-before-2.2",),
        JOIN,
        expected=_MATCHED,
        seamless=True,
        edits=(left_ttl("0 ms", "1.20"), left_ttl("1 h", "1.20")),
    ),
    # ---------------------------------------------------------------- without state
    joined(
        "exchange-changed",
        ("exchange-changed",),
        JOIN,
        expected=_MATCHED,
        seamless=True,
        edits=(as_compiled, each(Exchange, input_properties=(_BY_TWO_COLUMNS,))),
    ),
    sums(
        "filter-changed",
        "stateless-node-changed",
        SUMS.replace("GROUP", "WHERE price > 8 GROUP"),
        SUMS_COLUMNS,
        [],
    ),
    sums("having-added", "stateless-node-added", f"{SUMS} HAVING SUM(amount) > 4", SUMS_COLUMNS, [("c", "p", 5, 10)]),
    sums(
        "having-removed",
        "stateless-node-removed",
        SUMS,
        SUMS_COLUMNS,
        [("d", "p", 2, 10), ("c", "p", 5, 10)],
        old=f"{SUMS} HAVING SUM(amount) > 1",
    ),
    # ---------------------------------------------------------------- aggregates
    sums(
        "aggregates-reordered",
        "aggregates-reordered",
        "SELECT product, MAX(price) AS top, SUM(amount) AS total FROM orders GROUP BY product",
        "product STRING, top DECIMAL(10, 2), total INT",
        [("d", "p", 10, 2), ("c", "p", 10, 5)],
        seamless=True,
    ),
    sums(
        "columns-exchanged",
        "sink-columns-exchanged",
        "SELECT product, MAX(amount), MIN(amount) FROM orders GROUP BY product",
        _RANGE_COLUMNS,
        [("d", "p", 2, 2), ("c", "p", 3, 2)],
        old="SELECT product, MIN(amount), MAX(amount) FROM orders GROUP BY product",
        old_columns=_RANGE_COLUMNS,
        is_hidden=True,
    ),
    sums("aggregate-removed", "aggregate-removed", _FEWER, _TWO, [("d", "p", 2), ("c", "p", 5)]),
    sums(
        "aggregate-added",
        "aggregate-added",
        SUMS.replace("MAX(price) AS top", "MAX(price) AS top, COUNT(*) AS n"),
        f"{SUMS_COLUMNS}, n BIGINT",
        [("d", "p", 2, 10, 0), ("c", "p", 5, 10, 1)],
    ),
    sums(
        "aggregate-changed",
        "aggregate-changed",
        SUMS.replace("MAX(", "MIN("),
        SUMS_COLUMNS,
        [("d", "p", 2, None), ("c", "p", 5, 7)],
    ),
    sums(
        "distinct-added",
        "distinct-aggregate-added",
        _DISTINCT,
        f"{SUMS_COLUMNS}, n BIGINT",
        [("d", "p", 2, 10, 0), ("c", "p", 5, 10, 1)],
    ),
    Truth(
        "aggregate-widened",
        ("aggregate-widened",),
        script(_RANGE, _RANGE_COLUMNS),
        script(_RANGE, _RANGE_COLUMNS).replace(" INT,", " BIGINT,").replace("high INT)", "high BIGINT)"),
        {"orders/a": [order(1, amount=2)]},
        {"orders/b": [order(2, amount=3)]},
        [("d", "p", 2, 2), ("c", "p", 2, 5)],
        seamless=True,
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
    sums(
        "column-renamed",
        "aggregate-column-renamed",
        _TWICE.replace("NAME", "twice"),
        SUMS_COLUMNS,
        [("d", "p", None, 10), ("c", "p", 6, 10)],
        old=_TWICE.replace("NAME", "doubled"),
    ),
    # ---------------------------------------------------------------- options, sources and sinks
    Truth(
        "filter-pushed-down",
        ("source-pushdown-changed",),
        script(SUMS, SUMS_COLUMNS).replace(*_NO_WATERMARK),
        script(SUMS.replace("GROUP", "WHERE price > 8 GROUP"), SUMS_COLUMNS).replace(*_NO_WATERMARK),
        {"orders/a": [order(1, amount=2, price=10)]},
        {"orders/b": [order(2, amount=3, price=7), order(3, amount=3, price=9)]},
        _GOES_ON,
    ),
    Truth(
        "nulls-dropped",
        ("output-option-changed",),
        script(SUMS, _NO_NULL),
        script(SUMS, _NO_NULL, "SET 'table.exec.sink.not-null-enforcer' = 'DROP';"),
        {"orders/a": [order(1, amount=2, price=10)]},
        {"orders/b": [order(2, amount=3, price=7), order(3, product="q", price=None)]},
        _GOES_ON,
    ),
    Truth(
        "options",
        (
            "source-options-changed",
            "source-schema-changed",
            "source-projection-changed",
            "sink-options-changed",
            "tuning-changed",
        ),
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
        other_history=True,
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
        "queries-added",
        ("query-added", "stateful-query-added"),
        script(SUMS, SUMS_COLUMNS),
        _two_queries(SUMS, SUMS_COLUMNS),
        {"orders/a": [order(1, amount=2, price=10)]},
        {"orders/b": [order(2, amount=3, price=7)]},
        [*_GOES_ON, ("c", "s", 2)],
    ),
    Truth(
        "stateful-query-removed",
        ("stateful-query-removed",),
        _two_queries(SUMS, SUMS_COLUMNS),
        script(SUMS, SUMS_COLUMNS),
        {"orders/a": [order(1, amount=2, price=10)]},
        {"orders/b": [order(2, amount=3, price=7)]},
        _GOES_ON,
    ),
    Truth(
        "query-removed",
        ("query-removed",),
        _shown_twice(SUMS, SUMS_COLUMNS),
        script(SUMS, SUMS_COLUMNS),
        {"orders/a": [order(1, amount=2, price=10)]},
        {"orders/b": [order(2, amount=3, price=7)]},
        _GOES_ON,
    ),
    *(
        Truth(
            name,
            ("aggregation-split",),
            script(SUMS, SUMS_COLUMNS, settings[0]),
            script(SUMS, SUMS_COLUMNS, settings[1]),
            {"orders/a": [order(1, amount=2, price=10)]},
            {"orders/b": [order(2, amount=3, price=7)]},
            _GOES_ON,
            seamless=True,
        )
        for name, settings in {"two-phases": ("", TWO_PHASES), "one-phase": (TWO_PHASES, "")}.items()
    ),
    sums(
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
    # ---------------------------------------------------------------- joins
    Truth(
        "inner-join-condition-changed",
        ("inner-join-condition-changed",),
        script(JOIN, JOIN_COLUMNS),
        script(f"{JOIN} AND o.price < s.cost", JOIN_COLUMNS),
        {"orders/a": [order(1)], "shipments/a": []},
        {"shipments/b": [shipment(1, cost=50), shipment(1, cost=3)]},
        [("c", 1, 10, 50)],
        seamless=True,
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
    # ---------------------------------------------------------------- other ways of the same
    Truth(
        "over-function-changed",
        ("over-function-changed",),
        script(_RUNNING, OVER_COLUMNS),
        script(_RUNNING, OVER_COLUMNS),
        {"orders/a": [order(1, amount=2)], "orders/b": [order(2, amount=3, ts="2020-01-01 01:00:00")]},
        {"orders/c": [order(3, amount=4, ts="2020-01-01 02:00:00")]},
        [("c", 2, 5)],
        edits=(each(OverAggregate, unbounded_over_version=1), as_compiled),
    ),
    Truth(
        "stateful-node-version-changed",
        ("stateful-node-version-changed",),
        script(SUMS, _KEYED),
        script(SUMS, _KEYED),
        {"orders/a": [order(1, amount=2)]},
        {"orders/b": [order(2, amount=3)]},
        _GOES_ON,
        edits=(each(Sink, version=1, **_MATERIALIZED), each(Sink, version=2, **_MATERIALIZED)),
    ),
)
