"""Restarts that say something of Flink alone: of ids, of what is merely written otherwise, of positions in state."""

from __future__ import annotations

from collections.abc import Callable

from flinkplan.plan.document import Plan
from flinkplan.plan.nodes import ExecNode, GroupAggregate, TableSourceScan
from flinkplan.plan.record import Json, replace
from tests.compat.identities import with_ids
from tests.compat.pipelines import OVER, OVER_COLUMNS, SUMS, SUMS_COLUMNS, WINDOW, WINDOW_COLUMNS, script

from .model import Edit, Truth, as_compiled, each, order, sums


def renumbered(concerns: Callable[[ExecNode], bool], by: int = 100) -> Edit:
    """Give nodes other ids."""

    def edit(plan: Plan) -> Plan:
        ids = {node.id: node.id + by if concerns(node) else node.id for node in plan.nodes}
        return with_ids(plan, ids)

    return edit


_FROM_ORDERS = " WITH ('connector' = 'filesystem', 'path' = '${DIR}/in/orders'"


def exchanged(plan: Plan) -> Plan:
    """Give two aggregations each other's ids."""
    first, second = (node.id for node in plan.nodes if isinstance(node, GroupAggregate))
    ids = {node.id: node.id for node in plan.nodes} | {first: second, second: first}
    return with_ids(plan, ids)


def _written_otherwise(plan: Plan) -> Plan:
    """What edits of the document leave as it means."""
    plan = each(TableSourceScan, version=1)(plan)
    plan = each(GroupAggregate, unknown=Json(flinkplan={"note": "kept by hand"}))(plan)
    nodes = (replace(n, state=tuple(replace(s, name="sums") for s in n.states)) if n.states else n for n in plan.nodes)
    return renumbered(lambda node: not node.stateful_transformations)(
        replace(plan, flink_version="2.2", nodes=tuple(nodes))
    )


def _counted_twice() -> str:
    """Orders by product, and by shop."""
    counts = "SELECT product, COUNT(*) FROM orders GROUP BY product"
    first, insert = script(counts, "product STRING, n BIGINT").split("INSERT INTO", 1)
    shops = "SELECT CONCAT('shop ', shop), n FROM (SELECT shop, COUNT(*) AS n FROM orders GROUP BY shop)"
    created = f"{first}CREATE TABLE shops (shop STRING, n BIGINT) WITH ('connector' = 'print');\n"
    return f"{created}EXECUTE STATEMENT SET BEGIN\nINSERT INTO{insert}INSERT INTO shops {shops};\nEND;\n"


def _by_key(key: str) -> str:
    """Two figures a product, in a sink that has one of them for its key and so keeps rows."""
    query = "SELECT product, SUM(amount) AS total, MAX(amount) AS high FROM orders GROUP BY product"
    columns = f"product STRING, total INT, high INT, PRIMARY KEY ({key}) NOT ENFORCED"
    files = "'filesystem', 'path' = '${DIR}/out/report', 'format' = 'debezium-json'"
    return script(f"{query} ON CONFLICT DO DEDUPLICATE", columns).replace(files, "'blackhole'")


_BIG = "(SELECT product, id, CAST(amount AS BIGINT) AS amount FROM orders)"
_BIG_COLUMNS = "product STRING, a BIGINT, b BIGINT"
_ROWS = {"orders/a": [order(i, amount=i, ts=f"2020-01-01 00:0{i}:00") for i in range(1, 6)]}
_ONE_MORE = {"orders/b": [order(6, amount=60, ts="2020-01-01 00:10:00"), order(7, ts="2020-01-01 00:20:00")]}
_CLOSED = {
    "orders/b": [order(2, amount=3), order(3, ts="2020-01-01 01:00:00")],
    "orders/c": [order(4, ts="2020-01-01 02:00:00")],
}


def _over(name: str, rule: str, new: str, columns: str = OVER_COLUMNS) -> Truth:
    """A change of a sum over three rows, of which there were five."""
    return Truth(name, (rule,), script(OVER, OVER_COLUMNS), script(new, columns), _ROWS, _ONE_MORE)


FLINK_ONLY = (
    # ---------------------------------------------------------------- ids
    sums(
        "nodes-renumbered",
        "nodes-renumbered",
        SUMS,
        SUMS_COLUMNS,
        (),
        edits=(as_compiled, renumbered(lambda node: True)),
        own_ids=True,
    ),
    Truth(
        "id-of-another-node",
        ("id-of-another-node",),
        _counted_twice(),
        _counted_twice(),
        {"orders/a": [order(1, shop="p"), order(2, "q", shop="p")]},
        {"orders/b": [order(3, shop="p")]},
        own_ids=True,
        edits=(as_compiled, exchanged),
    ),
    Truth(
        "state-left-behind",
        ("state-left-behind", "sink-connector-changed"),
        script(SUMS, SUMS_COLUMNS),
        script(SUMS, SUMS_COLUMNS).replace(
            "'filesystem', 'path' = '${DIR}/out/report', 'format' = 'debezium-json'", "'print'"
        ),
        {"orders/a": [order(1, amount=2)]},
        {"orders/b": [order(2, amount=3)]},
        keeps_sinks=True,
    ),
    # ---------------------------------------------------------------- written otherwise
    Truth(
        "written-otherwise",
        (
            "node-version-changed",
            "flink-version-changed",
            "description-changed",
            "ignored-field-changed",
            "state-renamed",
            "stateless-nodes-renumbered",
            "table-renamed",
            "table-comment-changed",
        ),
        script(SUMS, SUMS_COLUMNS),
        script(SUMS.replace("total", "sum_of"), SUMS_COLUMNS)
        .replace("TABLE orders", "TABLE purchases")
        .replace("FROM orders", "FROM purchases")
        .replace(f"){_FROM_ORDERS}", f") COMMENT 'all of them'{_FROM_ORDERS}"),
        {"orders/a": [order(1, amount=2)]},
        {"orders/b": [order(2, amount=3)]},
        own_ids=True,
        edits=(as_compiled, _written_otherwise),
    ),
    # ---------------------------------------------------------------- positions
    sums(
        "aggregates-of-one-type-reordered",
        "aggregates-reordered",
        f"SELECT product, b, a FROM (SELECT product, SUM(amount) AS a, SUM(id) AS b FROM {_BIG} GROUP BY product)",
        _BIG_COLUMNS,
        (),
        old=f"SELECT product, SUM(id), SUM(amount) FROM {_BIG} GROUP BY product",
        old_columns=_BIG_COLUMNS,
    ),
    sums(
        "filter-clause-added",
        "aggregate-changed",
        SUMS.replace("SUM(amount)", "SUM(amount) FILTER (WHERE price > 0)"),
        SUMS_COLUMNS,
        (),
    ),
    Truth(
        "window-aggregates-of-one-type-reordered",
        ("window-aggregates-reordered",),
        script(WINDOW.replace("AS total", "AS total, SUM(CAST(id AS INT)) AS n"), f"{WINDOW_COLUMNS}, n INT"),
        script(
            "SELECT window_start, product, total, n FROM ("
            + WINDOW.replace("SUM(amount) AS total", "SUM(CAST(id AS INT)) AS n, SUM(amount) AS total")
            + ")",
            f"{WINDOW_COLUMNS}, n INT",
        ),
        {"orders/a": [order(1, amount=2)]},
        _CLOSED,
    ),
    _over("over-frame-a-row-longer", "over-window-changed", OVER.replace("2 PREC", "3 PREC")),
    _over("over-frame-two-rows-longer", "over-window-changed", OVER.replace("2 PREC", "4 PREC")),
    _over(
        "rows-counted-over-rows",
        "window-aggregate-added",
        OVER.replace(
            " FROM",
            ", COUNT(*) OVER (PARTITION BY shop ORDER BY ts ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) AS n FROM",
        ),
        f"{OVER_COLUMNS}, n BIGINT",
    ),
    Truth(
        "state-changed",
        ("state-changed", "sink-schema-changed"),
        _by_key("total"),
        _by_key("high"),
        {"orders/a": [order(1, amount=2), order(2, amount=5)]},
        {"orders/b": [order(3)]},
    ),
)
