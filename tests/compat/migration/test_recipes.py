"""Which recipe the states of changed queries get, and why some cannot be made."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from flinkplan.compat.migration.planning import plan_migration
from flinkplan.compat.migration.recipe import Allowed, Migration, Recipe
from flinkplan.planner import compile_script
from tests.compat.pipelines import script

_ORDERS = "id BIGINT, product STRING, shop STRING, amount INT, price DECIMAL(10, 2), discount DECIMAL(10, 2)"
_SUMS = "SELECT product, SUM(amount) AS s, COUNT(*) AS n FROM orders GROUP BY product"
_JOIN = "SELECT o.id, o.price, s.cost FROM orders o JOIN shipments s ON o.id = s.order_id"
_TOP = (
    "SELECT product, price, id FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY product ORDER BY price DESC) AS r "
    "FROM orders) WHERE r <= 3"
)
_FIRST = (
    "SELECT id, product FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY id ORDER BY ts) AS n FROM orders) WHERE n = 1"
)
_WINDOW = (
    "SELECT window_start, product, SUM(amount) AS s FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), "
    "INTERVAL '10' MINUTE)) GROUP BY window_start, window_end, product"
)
_OVER = (
    "SELECT id, SUM(amount) OVER (PARTITION BY product ORDER BY ts ROWS BETWEEN 5 PRECEDING AND CURRENT ROW) AS s "
    "FROM orders"
)
_TWO_PHASES = (
    "SET 'table.exec.mini-batch.enabled' = 'true';SET 'table.exec.mini-batch.allow-latency' = '1 s';"
    "SET 'table.exec.mini-batch.size' = '100';"
)


@dataclass(frozen=True)
class Change:
    """A changed query: the recipe of its only stateful operator, or what refuses it has in its text."""

    name: str
    old: str
    new: str
    columns: tuple[str, str]
    kind: str
    refused: str = ""
    settings: tuple[str, str] = ("", "")


_S_N = "product STRING, s INT, n BIGINT"
_COST = "id BIGINT, price DECIMAL(10, 2), cost DECIMAL(10, 2)"
_RANKED = "product STRING, price DECIMAL(10, 2), id BIGINT"

_LAST = (
    "SELECT product, shop FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY {} ORDER BY ts DESC) AS n FROM orders) "
    "WHERE n = 1"
)
_INTERVAL = (
    "SELECT o.id, s.cost FROM orders o LEFT JOIN shipments s ON o.id = s.order_id "
    "AND s.ts BETWEEN o.ts AND o.ts + INTERVAL '{}' HOUR"
)

CHANGES = [
    Change(
        "a coarser key of a deduplication",
        _LAST.format("product, shop"),
        _LAST.format("product"),
        ("product STRING, shop STRING", "product STRING, shop STRING"),
        "impossible",
        "rows of several keys would become those of one",
    ),
    Change(
        "a coarser partition of a Top-N",
        _TOP.replace("BY product", "BY product, shop"),
        _TOP,
        (_RANKED, _RANKED),
        "impossible",
        "rows of several keys would become those of one",
    ),
    Change(
        "other bounds of an outer interval join",
        _INTERVAL.format("1"),
        _INTERVAL.format("2"),
        ("id BIGINT, cost DECIMAL(10, 2)", "id BIGINT, cost DECIMAL(10, 2)"),
        "impossible",
        "intervalJoinSpec of the operator changed",
    ),
    Change(
        "a sum of FLOAT as DOUBLE",
        "SELECT product, SUM(CAST(price AS FLOAT)) FROM orders GROUP BY product",
        "SELECT product, SUM(CAST(CAST(price AS FLOAT) AS DOUBLE)) FROM orders GROUP BY product",
        ("product STRING, s FLOAT", "product STRING, s DOUBLE"),
        "extended",
        "it would start empty",
    ),
    Change("nothing", _SUMS, _SUMS, (_S_N, _S_N), "same"),
    Change(
        "aggregates swapped",
        _SUMS,
        "SELECT product, s, n FROM (SELECT product, COUNT(*) AS n, SUM(amount) AS s FROM orders GROUP BY product)",
        (_S_N, _S_N),
        "projected",
    ),
    Change(
        "sum of a wider type",
        _SUMS,
        "SELECT product, SUM(CAST(amount AS BIGINT)) AS s, COUNT(*) AS n FROM orders GROUP BY product",
        (_S_N, "product STRING, s BIGINT, n BIGINT"),
        "projected",
    ),
    Change(
        "sum of a type that does not hold the old values",
        _SUMS,
        "SELECT product, SUM(CAST(amount AS SMALLINT)) AS s, COUNT(*) AS n FROM orders GROUP BY product",
        (_S_N, "product STRING, s SMALLINT, n BIGINT"),
        "extended",
        "kept nowhere",
    ),
    Change(
        "average of what has a sum and a count",
        "SELECT product, SUM(amount) AS s, COUNT(amount) AS n FROM orders GROUP BY product",
        "SELECT product, SUM(amount) AS s, AVG(amount) AS n FROM orders GROUP BY product",
        (_S_N, "product STRING, s INT, n INT"),
        "derived",
    ),
    Change(
        "sum of what has an average",
        "SELECT product, AVG(amount) AS s FROM orders GROUP BY product",
        "SELECT product, SUM(amount) AS s FROM orders GROUP BY product",
        ("product STRING, s INT", "product STRING, s INT"),
        "derived",
    ),
    Change(
        "largest of a column that is kept nowhere",
        _SUMS,
        "SELECT product, SUM(amount) AS s, COUNT(*) AS n, MAX(price) AS p FROM orders GROUP BY product",
        (_S_N, f"{_S_N}, p DECIMAL(10, 2)"),
        "extended",
        "--allow-empty group-aggregate.max_price",
    ),
    Change(
        "largest of a column of the key",
        _SUMS,
        "SELECT product, SUM(amount) AS s, COUNT(*) AS n, MAX(product) AS p FROM orders GROUP BY product",
        (_S_N, f"{_S_N}, p STRING"),
        "derived",
    ),
    Change(
        "sum of another column",
        "SELECT product, SUM(price) AS s FROM orders GROUP BY product",
        "SELECT product, SUM(discount) AS s FROM orders GROUP BY product",
        ("product STRING, s DECIMAL(38, 2)", "product STRING, s DECIMAL(38, 2)"),
        "extended",
        "--allow-empty group-aggregate.sum_discount",
    ),
    Change(
        "a filter below",
        _SUMS,
        "SELECT product, SUM(amount) AS s, COUNT(*) AS n FROM orders WHERE amount > 3 GROUP BY product",
        (_S_N, _S_N),
        "same",
        "--allow-mixed group-aggregate",
    ),
    Change(
        "a filter above",
        _SUMS,
        f"SELECT * FROM ({_SUMS}) WHERE n > 3",
        (_S_N, _S_N),
        "same",
    ),
    Change(
        "another key",
        _SUMS,
        "SELECT shop, SUM(amount) AS s, COUNT(*) AS n FROM orders GROUP BY shop",
        (_S_N, "shop STRING, s INT, n BIGINT"),
        "impossible",
        "by which the old state is not kept",
    ),
    Change(
        "a coarser key",
        "SELECT product, shop, SUM(amount) AS s FROM orders GROUP BY product, shop",
        "SELECT product, SUM(amount) AS s FROM orders GROUP BY product",
        ("product STRING, shop STRING, s INT", "product STRING, s INT"),
        "rekeyed",
    ),
    Change(
        "a coarser key of distinct values",
        "SELECT product, shop, COUNT(DISTINCT amount) AS s FROM orders GROUP BY product, shop",
        "SELECT product, COUNT(DISTINCT amount) AS s FROM orders GROUP BY product",
        ("product STRING, shop STRING, s BIGINT", "product STRING, s BIGINT"),
        "impossible",
        "cannot be merged",
    ),
    Change(
        "two phases",
        _SUMS,
        _SUMS,
        (_S_N, _S_N),
        "same",
        settings=("", _TWO_PHASES),
    ),
    Change(
        "inner becomes left join",
        _JOIN,
        _JOIN.replace("JOIN", "LEFT JOIN"),
        (_COST, _COST),
        "derived",
    ),
    Change(
        "left becomes inner join",
        _JOIN.replace("JOIN", "LEFT JOIN"),
        _JOIN,
        (_COST, _COST),
        "projected",
    ),
    Change(
        "inner join with a condition becomes left join",
        f"{_JOIN} AND o.price > s.cost",
        f"{_JOIN.replace('JOIN', 'LEFT JOIN')} AND o.price > s.cost",
        (_COST, _COST),
        "derived",
    ),
    Change(
        "inner join with a condition that is not computed becomes left join",
        f"{_JOIN} AND SQRT(o.price) > s.cost",
        f"{_JOIN.replace('JOIN', 'LEFT JOIN')} AND SQRT(o.price) > s.cost",
        (_COST, _COST),
        "impossible",
        "which rows match is not kept",
    ),
    Change(
        "a column of a join dropped",
        _JOIN,
        "SELECT o.id, s.cost FROM orders o JOIN shipments s ON o.id = s.order_id",
        (_COST, "id BIGINT, cost DECIMAL(10, 2)"),
        "projected",
    ),
    Change(
        "a column of a join added",
        _JOIN,
        "SELECT o.id, o.price, s.cost, o.amount FROM orders o JOIN shipments s ON o.id = s.order_id",
        (_COST, f"{_COST}, amount INT"),
        "impossible",
        "lacks the column amount",
    ),
    Change(
        "a join by another column of a narrower type",
        "SELECT o.id, o.amount, s.cost FROM orders o JOIN shipments s ON o.id = s.order_id",
        "SELECT o.id, o.amount, s.cost FROM orders o JOIN shipments s ON o.amount = s.order_id",
        ("id BIGINT, amount INT, cost DECIMAL(10, 2)", "id BIGINT, amount INT, cost DECIMAL(10, 2)"),
        "rekeyed",
    ),
    Change(
        "a join by another column of the same type",
        "SELECT o.product, o.shop, s.cost FROM orders o JOIN shipments s ON o.product = s.carrier",
        "SELECT o.product, o.shop, s.cost FROM orders o JOIN shipments s ON o.shop = s.carrier",
        ("product STRING, shop STRING, cost DECIMAL(10, 2)", "product STRING, shop STRING, cost DECIMAL(10, 2)"),
        "rekeyed",
    ),
    Change(
        "a filter below a join by columns that it keeps",
        _JOIN,
        f"{_JOIN} WHERE o.price > 3 AND s.cost IS NOT NULL",
        (_COST, _COST),
        "derived",
    ),
    Change(
        "a filter below a join by a column that it does not keep",
        _JOIN,
        f"{_JOIN} WHERE o.amount > 3",
        (_COST, _COST),
        "same",
        "--allow-mixed join",
    ),
    Change(
        "a filter below a join removed",
        f"{_JOIN} WHERE o.price > 3",
        _JOIN,
        (_COST, _COST),
        "same",
        "--allow-mixed join",
    ),
    Change(
        "last rows of a Top-N",
        "SELECT id, product FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY id ORDER BY ts DESC) AS n FROM orders) "
        "WHERE n <= 3",
        "SELECT id, product FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY id ORDER BY ts DESC) AS n FROM orders) "
        "WHERE n = 1",
        ("id BIGINT, product STRING",) * 2,
        "derived",
    ),
    Change(
        "Top-N of what were last rows",
        "SELECT id, product FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY id ORDER BY ts DESC) AS n FROM orders) "
        "WHERE n = 1",
        "SELECT id, product FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY id ORDER BY ts DESC) AS n FROM orders) "
        "WHERE n <= 3",
        ("id BIGINT, product STRING",) * 2,
        "impossible",
        "a deduplication keeps one row of each key",
    ),
    Change("fewer ranks", _TOP, _TOP.replace("3", "2"), (_RANKED, _RANKED), "derived"),
    Change("more ranks", _TOP, _TOP.replace("3", "5"), (_RANKED, _RANKED), "derived"),
    Change("another direction", _TOP, _TOP.replace("DESC", "ASC"), (_RANKED, _RANKED), "derived"),
    Change(
        "ranks by another partition",
        _TOP,
        _TOP.replace("PARTITION BY product", "PARTITION BY id"),
        (_RANKED, _RANKED),
        "impossible",
        "by which the old state is not kept",
    ),
    Change(
        "first becomes last row",
        _FIRST,
        _FIRST.replace("ORDER BY ts", "ORDER BY ts DESC"),
        ("id BIGINT, product STRING", "id BIGINT, product STRING"),
        "impossible",
        "of each key the first row by event time is known",
    ),
    Change(
        "windows of a multiple of the size",
        _WINDOW,
        _WINDOW.replace("'10'", "'20'"),
        ("s TIMESTAMP(3), product STRING, n INT",) * 2,
        "windows",
    ),
    Change(
        "windows of another size",
        _WINDOW,
        _WINDOW.replace("'10'", "'15'"),
        ("s TIMESTAMP(3), product STRING, n INT",) * 2,
        "impossible",
        "have already emitted",
    ),
    Change(
        "windows with other aggregates",
        _WINDOW,
        _WINDOW.replace("SUM(amount) AS s", "COUNT(*) AS n, SUM(amount) AS s"),
        ("s TIMESTAMP(3), product STRING, n INT", "s TIMESTAMP(3), product STRING, n BIGINT, t INT"),
        "extended",
        "--allow-empty",
    ),
    Change("a shorter frame", _OVER, _OVER.replace("5", "2"), ("id BIGINT, s INT",) * 2, "derived"),
    Change(
        "a shorter frame of a largest value",
        _OVER.replace("SUM", "MAX"),
        _OVER.replace("SUM", "MAX").replace("5", "2"),
        ("id BIGINT, s INT",) * 2,
        "impossible",
        "cannot be computed from its rows",
    ),
    Change(
        "a union with another table",
        "SELECT product, COUNT(*) AS n FROM (SELECT product FROM orders) GROUP BY product",
        "SELECT product, COUNT(*) AS n FROM (SELECT product FROM orders UNION ALL SELECT product FROM products) "
        "GROUP BY product",
        ("product STRING, n BIGINT",) * 2,
        "same",
    ),
    Change(
        "a union without a table",
        "SELECT product, COUNT(*) AS n FROM (SELECT product FROM orders UNION ALL SELECT carrier FROM shipments) "
        "GROUP BY product",
        "SELECT product, COUNT(*) AS n FROM (SELECT product FROM orders) GROUP BY product",
        ("product STRING, n BIGINT",) * 2,
        "same",
        "--allow-mixed",
    ),
    Change(
        "what is counted twice",
        "SELECT product, COUNT(*) AS n FROM (SELECT product FROM orders) GROUP BY product",
        "SELECT product, COUNT(*) AS n FROM (SELECT product FROM orders UNION ALL SELECT product FROM orders) "
        "GROUP BY product",
        ("product STRING, n BIGINT",) * 2,
        "same",
        "lacks rows",
    ),
]


def migration(change: Change) -> Migration:
    """The recipes of a change."""
    queries = zip((change.old, change.new), change.columns, change.settings, strict=True)
    old, new = (compile_script(script(query, columns, settings)) for query, columns, settings in queries)
    return plan_migration(old, new)


def stateful(found: Migration) -> Recipe:
    """The recipe of the operator that is no source and no sink."""
    (recipe,) = [r for r in found.recipes if not r.name.startswith(("table-source-scan", "sink"))]
    return recipe


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.name)
def test_recipe(change: Change) -> None:
    found = migration(change)
    refused = " ".join(" ".join(each) for each in found.refusals(Allowed()))
    assert stateful(found).kind.value == change.kind, (stateful(found), refused)
    assert change.refused in refused
    assert bool(change.refused) is bool(refused)


def test_what_is_accepted_is_not_refused() -> None:
    empty = next(c for c in CHANGES if c.name == "largest of a column that is kept nowhere")
    assert not list(migration(empty).refusals(Allowed(empty=["group-aggregate.max_price"])))
    assert not list(migration(empty).refusals(Allowed(empty=["group-aggregate.*"])))
    assert list(migration(empty).refusals(Allowed(mixed=["*"])))
    mixed = next(c for c in CHANGES if c.name == "a filter below")
    assert not list(migration(mixed).refusals(Allowed(mixed=["group-aggregate"])))


def test_new_operators_start_empty_if_it_is_accepted() -> None:
    new = f"SELECT product, LAST_VALUE(s) AS s, COUNT(*) AS n FROM ({_SUMS}) GROUP BY product"
    found = migration(Change("", _SUMS, new, (_S_N, _S_N), ""))
    ((where, why, _),) = found.refusals(Allowed())
    assert why == "last_value_s is kept nowhere, and cannot start empty"
    assert not list(found.refusals(Allowed(empty=[where.split()[0]])))


def test_sources_continue_where_they_were() -> None:
    found = migration(CHANGES[0])
    scan = next(r for r in found.recipes if r.name == "table-source-scan")
    assert scan.kind.value == "same"
    assert scan.old is not None
