"""Where the columns of sinks come from."""

from __future__ import annotations

import typing
from collections.abc import Iterator
from typing import Any

import pytest

from flinkplan.plan import nodes
from flinkplan.plan.codec import field_codecs
from flinkplan.plan.document import loads
from flinkplan.plan.lineage import Kind, origins_of, unused_columns
from flinkplan.plan.lineage.report import is_masked, lineage_text, only
from flinkplan.plan.lineage.uses import _REASONS, uses_of
from flinkplan.plan.nodes import ExecNode
from flinkplan.plan.record import Record
from flinkplan.plan.references import Input
from flinkplan.plan.rex import RexNode
from flinkplan.plan.types import LogicalType
from flinkplan.planner import compile_script
from tests.parity.corpus import HERE

TABLES = """
CREATE TABLE orders (
  id BIGINT, product STRING, amount INT, price DECIMAL(10, 2), note STRING, tags ARRAY<STRING>,
  place ROW<city STRING, street STRING>,
  sent TIMESTAMP(3) METADATA FROM 'timestamp' VIRTUAL, twice AS amount * 2,
  ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND, proc AS PROCTIME()
) WITH ('connector' = 'kafka', 'topic' = 'orders', 'properties.bootstrap.servers' = 'b:9092', 'format' = 'json');
CREATE TABLE products (
  product STRING, family STRING, weight INT, changed TIMESTAMP(3), WATERMARK FOR changed AS changed,
  PRIMARY KEY (product) NOT ENFORCED
) WITH ('connector' = 'upsert-kafka', 'topic' = 'p', 'properties.bootstrap.servers' = 'b:9092',
        'key.format' = 'json', 'value.format' = 'json');
CREATE TABLE shops (product STRING, shop STRING, is_open BOOLEAN) WITH (
  'connector' = 'jdbc', 'url' = 'jdbc:postgresql://h/d', 'table-name' = 'shops');
"""


def lineage(query: str, *options: str) -> tuple[dict[str, set[str]], set[str]]:
    """What the columns of a query come from, and what decides about its rows: ``orders.amount sum``."""
    columns = "CREATE TABLE s WITH ('connector' = 'blackhole') AS "
    plan = compile_script(f"{''.join(options)}{TABLES}{columns}{query};")
    [sink] = origins_of(plan).sinks

    def shown(origins: Any) -> set[str]:
        return {" ".join((str(o.column), *(o.functions if o.kind.is_direct else (o.kind.value,)))) for o in origins}

    return {name: shown(found) for name, found in sink.columns}, shown(sink.rows)


@pytest.mark.parametrize(
    ("query", "columns", "rows"),
    [
        pytest.param(
            "SELECT id AS i, UPPER(product) || note AS p, 1 AS uno FROM orders",
            {"i": {"orders.id"}, "p": {"orders.product UPPER ||", "orders.note ||"}, "uno": set()},
            set(),
            id="expressions",
        ),
        pytest.param(
            "SELECT CASE WHEN amount > 3 THEN product ELSE note END AS c FROM orders",
            {"c": {"orders.amount conditional", "orders.product CASE", "orders.note CASE"}},
            set(),
            id="conditions of CASE",
        ),
        pytest.param(
            "SELECT id FROM orders WHERE amount > 3 AND UPPER(note) = 'X'",
            {"id": {"orders.id"}},
            {"orders.amount filter", "orders.note filter"},
            id="a filter",
        ),
        pytest.param(
            "SELECT product, COUNT(*) AS n, SUM(CAST(amount AS BIGINT)) FILTER (WHERE price > 1) AS t "
            "FROM orders GROUP BY product",
            {
                "product": {"orders.product"},
                "n": set(),
                "t": {"orders.amount CAST SUM", "orders.price conditional"},
            },
            {"orders.product group by"},
            id="an aggregation",
        ),
        pytest.param(
            "SELECT o.id, p.family FROM orders o JOIN products p ON o.product = p.product AND o.amount > p.weight",
            {"id": {"orders.id"}, "family": {"products.family"}},
            {"orders.product join", "products.product join", "orders.amount join", "products.weight join"},
            id="a join",
        ),
        pytest.param(
            "SELECT o.id, p.family FROM orders o JOIN products FOR SYSTEM_TIME AS OF o.ts AS p "
            "ON o.product = p.product",
            {"id": {"orders.id"}, "family": {"products.family"}},
            {"orders.product join", "products.product join", "orders.ts join", "products.changed join"},
            id="a temporal join",
        ),
        pytest.param(
            "SELECT o.id, UPPER(s.shop) AS shop FROM orders o JOIN shops FOR SYSTEM_TIME AS OF o.proc AS s "
            "ON o.product = s.product WHERE s.is_open",
            {"id": {"orders.id"}, "shop": {"shops.shop UPPER"}},
            {"orders.product join", "shops.product join", "shops.is_open filter"},
            id="a lookup join",
        ),
        pytest.param(
            "SELECT window_start, MAX(price) AS m FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' HOUR)) "
            "GROUP BY window_start, window_end",
            {"window_start": {"orders.ts WINDOW"}, "m": {"orders.price MAX"}},
            {"orders.ts window"},
            id="a window",
        ),
        pytest.param(
            "SELECT id, MAX(amount) OVER (PARTITION BY product ORDER BY ts) AS m FROM orders",
            {"id": {"orders.id"}, "m": {"orders.amount MAX", "orders.product window", "orders.ts window"}},
            set(),
            id="OVER",
        ),
        pytest.param(
            "SELECT id, r FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY product ORDER BY price DESC) AS r "
            "FROM orders) WHERE r <= 3",
            {"id": {"orders.id"}, "r": {"orders.product group by", "orders.price sort"}},
            {"orders.product group by", "orders.price sort"},
            id="Top-N",
        ),
        pytest.param(
            "SELECT product AS a FROM orders UNION ALL SELECT family FROM products",
            {"a": {"orders.product", "products.family"}},
            set(),
            id="a union",
        ),
        pytest.param(
            "SELECT id, t FROM orders CROSS JOIN UNNEST(tags) AS u (t)",
            {"id": {"orders.id"}, "t": {"orders.tags UNNEST_ROWS"}},
            {"orders.tags join"},
            id="UNNEST",
        ),
        pytest.param(
            "SELECT o.place.city AS c, sent, twice FROM orders o",
            {"c": {"orders.place .city"}, "sent": {"orders.sent CAST"}, "twice": {"orders.amount *"}},
            set(),
            id="nested, metadata and computed columns",
        ),
        pytest.param(
            "SELECT * FROM orders MATCH_RECOGNIZE (PARTITION BY product ORDER BY ts "
            "MEASURES A.id AS first_id, LAST(B.amount) AS amount AFTER MATCH SKIP PAST LAST ROW "
            "PATTERN (A B) DEFINE B AS B.price > A.price)",
            {"product": {"orders.product"}, "first_id": {"orders.id FINAL"}, "amount": {"orders.amount LAST FINAL"}},
            {"orders.product group by", "orders.ts sort", "orders.price filter"},
            id="a pattern",
        ),
    ],
)
def test_lineage(query: str, columns: dict[str, set[str]], rows: set[str]) -> None:
    assert lineage(query) == (columns, rows)


@pytest.mark.parametrize("phases", ["ONE_PHASE", "TWO_PHASE"])
@pytest.mark.parametrize("split", ["false", "true"])
def test_phases_of_an_aggregation_do_not_matter(phases: str, split: str) -> None:
    options = (
        "SET 'table.exec.mini-batch.enabled' = 'true'; SET 'table.exec.mini-batch.allow-latency' = '1 s';"
        f"SET 'table.exec.mini-batch.size' = '5'; SET 'table.optimizer.agg-phase-strategy' = '{phases}';"
        f"SET 'table.optimizer.distinct-agg.split.enabled' = '{split}';"
    )
    columns, rows = lineage(
        "SELECT product, SUM(amount) AS s, COUNT(DISTINCT id) AS n FROM orders GROUP BY product", options
    )
    assert {name: {text.split()[0] for text in found} for name, found in columns.items()} == {
        "product": {"orders.product"},
        "s": {"orders.amount"},
        "n": {"orders.id"},
    }
    assert "orders.product group by" in rows


def test_columns_that_nothing_uses() -> None:
    plan = compile_script(
        f"{TABLES}CREATE TABLE s (a BIGINT) WITH ('connector' = 'print');"
        "INSERT INTO s SELECT id FROM orders WHERE amount > 1;"
    )
    names = [str(column) for column in unused_columns(origins_of(plan))]
    assert names == [f"orders.{name}" for name in ("product", "price", "note", "tags", "place", "sent", "ts")]
    assert "not used of orders: product, price" in lineage_text(origins_of(plan))


def test_what_is_masked() -> None:
    plan = compile_script(
        f"{TABLES}CREATE TABLE s (a STRING, b STRING) WITH ('connector' = 'print');"
        "INSERT INTO s SELECT MD5(LOWER(note)), LOWER(note) FROM orders;"
    )
    [sink] = origins_of(plan).sinks
    assert [[is_masked(origin) for origin in found] for _, found in sink.columns] == [[True], [False]]


def test_the_impact_of_a_column() -> None:
    plan = loads((HERE.parents[1] / "sample_plans/long-delays/plan.json").read_text())
    text = lineage_text(only(origins_of(plan), "flights.carrier"), with_unused=False)
    table = ["column", "from", "how", "flight", "flights.carrier", "||"]
    assert text.split() == ["printed", *table, "long_delays", *table]


def test_direct_and_indirect_ways_to_one_column_are_both_told() -> None:
    columns, _ = lineage("SELECT CASE WHEN amount > 3 THEN amount END AS c FROM orders")
    assert columns == {"c": {"orders.amount conditional", "orders.amount CASE"}}


@pytest.mark.parametrize("case", sorted((HERE / "cases").glob("*/plan.json"))[::7], ids=lambda path: path.parent.name)
def test_each_plan_has_a_lineage(case: Any) -> None:
    plan = loads(case.read_text("utf-8"))
    for node in plan.nodes:
        assert len(uses_of(plan)[node.id].columns) == len(node.fields)
    for sink in origins_of(plan).sinks:
        assert all(origin.column.name for _, found in sink.columns for origin in found)


def _records(hint: Any) -> Iterator[type[Record]]:
    for argument in typing.get_args(hint):
        yield from _records(argument)
    if isinstance(hint, type) and issubclass(hint, Record):
        is_leaf = issubclass(hint, (*typing.get_args(RexNode), LogicalType))
        yield from () if is_leaf else (hint, *hint.__subclasses__())


def _names_columns(cls: type, name: str, input: Input | None, hint: Any, seen: frozenset[type] = frozenset()) -> bool:
    """Whether a field holds positions of columns or expressions over them."""
    if input not in (None, Input.NONE):
        return True
    for record in _records(hint):
        if record not in seen:
            hints = typing.get_type_hints(record)
            fields = field_codecs(record)
            inner = (_names_columns(record, f.name, f.input, hints[f.name], seen | {record}) for f in fields)
            if any(inner):
                return True
    return False


NODES = [
    each
    for each in vars(nodes).values()
    if isinstance(each, type) and issubclass(each, ExecNode) and hasattr(each, "metadata")
]


@pytest.mark.parametrize("node", NODES, ids=lambda node: node.__name__)
def test_it_is_declared_why_a_node_names_columns(node: type[ExecNode]) -> None:
    hints = typing.get_type_hints(node)
    named = [f.name for f in field_codecs(node) if _names_columns(node, f.name, f.input, hints[f.name])]
    assert [name for name in named if name not in _REASONS] == []


def test_only_three_kinds_are_direct() -> None:
    assert [kind for kind in Kind if kind.is_direct] == [Kind.IDENTITY, Kind.TRANSFORMATION, Kind.AGGREGATION]
