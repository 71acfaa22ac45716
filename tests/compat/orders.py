"""Queries that changed in nothing but the order of what operators keep."""

from __future__ import annotations

from dataclasses import dataclass

from tests.compat.pipelines import TWO_PHASES, script


@dataclass(frozen=True)
class Reordered:
    """Two queries of the same rows; ``words`` are what is said of the operators that keep their old order."""

    name: str
    old: str
    new: str
    columns: str
    words: tuple[str, ...]
    settings: str = ""

    @property
    def scripts(self) -> tuple[str, str]:
        """The two scripts."""
        old, new = (script(query, self.columns, self.settings) for query in (self.old, self.new))
        return old, new


def _by_product(select: str, groups: str = "product") -> str:
    return f"SELECT {select} FROM orders GROUP BY {groups}"


_SUMS = "product STRING, total INT, number BIGINT, top INT"
_FORWARD = _by_product("product, SUM(amount) AS total, COUNT(price) AS number, SUM(id) AS top").replace(
    "SUM(id)", "MAX(amount)"
)
_TURNED = (
    "SELECT product, total, number, top FROM "
    f"({_by_product('product, MAX(amount) AS top, COUNT(price) AS number, SUM(amount) AS total')})"
)
_KEYS = "product STRING, shop STRING, n BIGINT"
_JOIN = "SELECT o.id, o.price, s.cost FROM orders o JOIN shipments s ON o.id = s.order_id"
_JOINED = "id BIGINT, price DECIMAL(10, 2), cost DECIMAL(10, 2)"
_SWAPPED = "SELECT o.id, o.price, s.cost FROM shipments s JOIN orders o ON o.id = s.order_id"
_INTERVAL = " AND s.ts BETWEEN o.ts AND o.ts + INTERVAL '4' HOUR"
_WIDE = "SELECT o.id, o.p, o.d, s.cost FROM (SELECT id, {} FROM orders) o JOIN shipments s ON o.id = s.order_id"
_P, _D = "price + 1 AS p", "discount + 1 AS d"
_WIDE_COLUMNS = "id BIGINT, p DECIMAL(11, 2), d DECIMAL(11, 2), cost DECIMAL(10, 2)"
_TOP = (
    "SELECT id, p, d FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY shop ORDER BY p DESC) AS n FROM "
    "(SELECT id, shop, {} FROM orders)) WHERE n <= 2"
)
_SELF = "SELECT a.id, a.amount, b.w FROM {} JOIN {} ON a.id = b.i"
_A, _B = "orders a", "(SELECT CAST(amount AS BIGINT) AS i, amount * 2 AS w FROM orders) b"
_ABOVE = "SELECT t.product, t.total, t.top, s.cost FROM ({}) t JOIN shipments s ON t.product = s.carrier"

REORDERED = (
    Reordered("aggregates", _FORWARD, _TURNED, _SUMS, ("computes SUM(amount), COUNT(price), MAX(amount)",)),
    Reordered("two-phases", _FORWARD, _TURNED, _SUMS, ("computes SUM(amount), COUNT(price), MAX(amount)",), TWO_PHASES),
    Reordered(
        "keys",
        _by_product("product, shop, COUNT(*) AS n", "product, shop"),
        f"SELECT product, shop, n FROM ({_by_product('shop, product, COUNT(*) AS n', 'shop, product')})",
        _KEYS,
        ("keeps its state by (product, shop)",),
    ),
    Reordered("sides", _JOIN, _SWAPPED, _JOINED, ("reads its inputs in their old order",)),
    Reordered(
        "outer-sides",
        _JOIN.replace("JOIN", "LEFT JOIN"),
        _SWAPPED.replace("JOIN", "RIGHT JOIN"),
        _JOINED,
        ("reads its inputs in their old order",),
    ),
    Reordered(
        "sides-with-condition",
        f"{_JOIN} AND o.price > s.cost",
        f"{_SWAPPED} AND o.price > s.cost",
        _JOINED,
        ("reads its inputs in their old order",),
    ),
    Reordered(
        "interval-sides", _JOIN + _INTERVAL, _SWAPPED + _INTERVAL, _JOINED, ("reads its inputs in their old order",)
    ),
    Reordered(
        "self-join", _SELF.format(_A, _B), _SELF.format(_B, _A), "id BIGINT, amount INT, w INT", ("reads its inputs",)
    ),
    Reordered(
        "columns",
        _WIDE.format(f"{_P}, {_D}"),
        _WIDE.format(f"{_D}, {_P}"),
        _WIDE_COLUMNS,
        ("keeps leftState as (id, p, d)",),
    ),
    Reordered(
        "columns-of-ranks",
        _TOP.format(f"{_P}, {_D}"),
        _TOP.format(f"{_D}, {_P}"),
        "id BIGINT, p DECIMAL(11, 2), d DECIMAL(11, 2)",
        ("keeps rankState as (id, shop, ",),
    ),
    Reordered(
        "aggregates-below-a-join",
        _ABOVE.format(_FORWARD),
        _ABOVE.format(_by_product("product, MAX(amount) AS top, COUNT(price) AS number, SUM(amount) AS total")),
        "product STRING, total INT, top INT, cost DECIMAL(10, 2)",
        ("computes SUM(amount), MAX(amount)", "keeps leftState as (product, total, top)"),
    ),
)
