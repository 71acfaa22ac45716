"""Queries by chance: operators one above the other, with the weights that they have in collections of real SQL."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path
from random import Random
from typing import TypeVar

T = TypeVar("T")

TABLES = {
    text.split()[2]: " ".join(text.split())
    for text in (Path(__file__).with_name("tables.sql").read_text("utf-8").split(";"))
}
"""The definitions of the tables, by name."""

NUMBER, TEXT, DAY, TRUTH = "number", "text", "day", "truth"
TIME, ROWTIME, PROCTIME, WINDOW = "time", "rowtime", "proctime", "window"


@dataclass(frozen=True)
class Column:
    """A column or an expression as SQL, and the kind of its values."""

    sql: str
    kind: str


@dataclass(frozen=True)
class Rows:
    """What can stand in FROM: SQL, its columns, whether rows are only inserted, and what its windows are."""

    sql: str
    columns: tuple[Column, ...]
    inserts_only: bool = True
    window: str | None = None

    def of(self, *kinds: str) -> list[Column]:
        """The columns of these kinds."""
        return [c for c in self.columns if c.kind in kinds]


def _columns(text: str) -> tuple[Column, ...]:
    return tuple(Column(*word.rsplit(":", 1)) for word in text.split())


_SOURCES = (
    Rows(
        "orders",
        _columns(
            "order_id:number customer:number product:text quantity:number price:number note:text "
            "ordered:rowtime seen:proctime"
        ),
    ),
    Rows("payments", _columns("payment:number order_id:number paid:number means:text rate:number booked:rowtime")),
    Rows(
        "clicks",
        _columns("customer:number page:text millis:number score:number visited:day is_new:truth clicked:rowtime"),
    ),
    Rows("parts", _columns("part:number parent:number size_:number label:text weight:number")),
    Rows(
        "events",
        _columns(
            "id:number body.kind:text body.code:number body.place.city:text body.place.zip:number "
            "tags[1]:text head.source:text head.number:number"
        ),
    ),
    Rows("customers", _columns("customer:number name:text city:text tier:number since:day"), inserts_only=False),
    Rows("products", _columns("product:text category:text cost:number stock:number"), inserts_only=False),
    Rows("stock", _columns("warehouse:number product:text amount:number counted:time")),
    Rows("refunds", _columns("order_id:number refund:number why:text"), inserts_only=False),
    Rows("rates", _columns("currency:text factor:number valid:rowtime"), inserts_only=False),
)
_WEIGHTS = (8, 5, 4, 3, 3, 5, 4, 2, 2, 1)
_IN_TIME = tuple(s for s in _SOURCES if s.inserts_only and s.of(ROWTIME))


def _bare(query: str) -> str:
    """The query without its parentheses."""
    return query.removeprefix("(").removesuffix(")")


@dataclass
class Queries:
    """Makes queries; those of equal seeds are equal."""

    random: Random
    views: list[str] = field(default_factory=list)
    numbers: count[int] = field(default_factory=lambda: count(1))

    # ---------------------------------------------------------------- scripts

    def script(self) -> list[str]:
        """Settings, tables, views, and one query or statement set."""
        settings = self._settings()
        job = self._statement_set() if self._chance(0.12) else [self._query()]
        text = " ".join([*self.views, *job])
        tables = [definition for name, definition in TABLES.items() if name in text]
        return [*settings, *tables, *self.views, *job]

    def _settings(self) -> list[str]:
        chosen: dict[str, str] = {}
        if self._chance(0.25):
            chosen |= {
                "table.exec.mini-batch.enabled": "true",
                "table.exec.mini-batch.allow-latency": "1 s",
                "table.exec.mini-batch.size": "100",
            }
            if self._chance(0.4):
                chosen["table.optimizer.distinct-agg.split.enabled"] = "true"
            if self._chance(0.2):
                chosen["table.optimizer.agg-phase-strategy"] = "ONE_PHASE"
        if self._chance(0.1):
            chosen["table.exec.state.ttl"] = "1 h"
        if self._chance(0.05):
            chosen["table.exec.source.cdc-events-duplicate"] = "true"
        if self._chance(0.05):
            chosen["table.optimizer.multi-join.enabled"] = "true"
        return [f"SET '{key}' = '{value}'" for key, value in chosen.items()]

    def _query(self) -> str:
        if self._chance(0.15):
            shared = self.rows(2)
            name = self._name("v")
            view = replace(shared, sql=name, columns=tuple(Column(self._plain(c), c.kind) for c in shared.columns))
            body = self._one([self._self_join, self._united_with_itself])(view)
            return f"WITH {name} AS {self._select(shared)} {self._final(body)}"
        return self._final(self.rows(self.random.choice([1, 2, 2, 3])))

    def _final(self, rows: Rows) -> str:
        order = ""
        if self._chance(0.1):
            column = self._one([*rows.of(NUMBER, TEXT), *rows.columns])
            order = f" ORDER BY {column.sql} {self._one(['ASC', 'DESC'])} LIMIT {self.random.randint(1, 100)}"
        return _bare(self._select(rows)) + order

    def _statement_set(self) -> list[str]:
        shared = self.rows(2)
        name = self._name("v")
        self.views.append(f"CREATE VIEW {name} AS {_bare(self._select(shared))}")
        view = replace(shared, sql=name)
        inserts, sinks = [], []
        for _ in range(self.random.choice([2, 2, 3])):
            rows = self._one([self._filtered, self._grouped, self._ranked])(view)
            sink, columns = self._name("sink"), rows.columns
            kept = [c for c in columns if c.kind in (NUMBER, TEXT)][:3] or [Column("1", NUMBER)]
            types = {NUMBER: "DOUBLE", TEXT: "STRING"}
            values = [f"CAST({c.sql} AS {types[c.kind]})" for c in kept]
            names = ", ".join(f"x{i} {types[c.kind]}" for i, c in enumerate(kept))
            sinks.append(f"CREATE TABLE {sink} ({names}) WITH ('connector' = 'blackhole')")
            inserts.append(f"INSERT INTO {sink} SELECT {', '.join(values)} FROM {rows.sql};")
        self.views += sinks
        return [f"EXECUTE STATEMENT SET BEGIN {' '.join(inserts)} END"]

    # ---------------------------------------------------------------- relations

    def rows(self, depth: int) -> Rows:
        """A relation of operators up to a depth."""
        if depth <= 0:
            return self._source()
        single: dict[Callable[[Rows], Rows], int] = {
            self._filtered: 10,
            self._grouped: 14,
            self._distinct: 3,
            self._ranked: 6,
            self._latest: 4,
            self._windowed: 6,
            self._over: 4,
            self._unnested: 2,
            self._compared_with_subquery: 6,
            self._with_scalar: 3,
        }
        pairs: dict[Callable[[Rows, Rows], Rows], int] = {
            self._joined: 14,
            self._united: 5,
            self._interval_joined: 3,
            self._versioned: 2,
        }
        rows = self.rows(depth - 1)
        if self._chance(sum(pairs.values()) / sum([*pairs.values(), *single.values()])):
            join = self.random.choices(list(pairs), list(pairs.values()))[0]
            return join(rows, self.rows(self.random.randrange(depth)))
        return self.random.choices(list(single), list(single.values()))[0](rows)

    def _source(self) -> Rows:
        return self.random.choices(_SOURCES, _WEIGHTS)[0]

    def _filtered(self, rows: Rows) -> Rows:
        kept = self._some(rows.columns, 2, 5)
        columns = [c if self._chance(0.7) else self._computed(rows) for c in kept]
        return self._project(rows, columns, where=self._condition(rows))

    def _grouped(self, rows: Rows) -> Rows:
        keys = self._some(rows.of(NUMBER, TEXT, DAY, TRUTH), 0, 2)
        calls = [self._call(rows) for _ in range(self.random.randint(1, 3))]
        group = self._grouping([k.sql for k in keys])
        having = f" HAVING {self._one(calls).sql} > {self.random.randint(0, 9)}" if self._chance(0.2) else ""
        where = f" WHERE {self._condition(rows)}" if self._chance(0.3) else ""
        columns = [*keys, *calls]
        named = self._named(columns)
        text = f"(SELECT {self._list(columns, named)} FROM {rows.sql}{where}{group}{having})"
        return Rows(text, named, inserts_only=False)

    def _grouping(self, keys: Sequence[str]) -> str:
        if not keys:
            return ""
        listed = ", ".join(keys)
        if len(keys) > 1 and self._chance(0.12):
            sets = f"GROUPING SETS (({listed}), ({keys[0]}))"
            return f" GROUP BY {self._one([f'ROLLUP ({listed})', f'CUBE ({listed})', sets])}"
        return f" GROUP BY {listed}"

    def _call(self, rows: Rows) -> Column:
        numbers = rows.of(NUMBER) or [Column("1", NUMBER)]
        any_one = self._one([*rows.of(NUMBER, TEXT)] or numbers)
        number = self._one(numbers).sql
        calls = [
            "COUNT(*)",
            f"COUNT({any_one.sql})",
            f"COUNT(DISTINCT {any_one.sql})",
            f"SUM({number})",
            f"AVG({number})",
            f"MIN({number})",
            f"MAX({number})",
            f"SUM({number}) FILTER (WHERE {self._condition(rows)})",
            f"SUM(CASE WHEN {self._condition(rows)} THEN {number} ELSE 0 END)",
        ]
        return Column(self.random.choices(calls, [8, 3, 4, 6, 3, 3, 4, 2, 2])[0], NUMBER)

    def _distinct(self, rows: Rows) -> Rows:
        columns = self._some(rows.of(NUMBER, TEXT, DAY), 1, 3) or list(rows.columns[:1])
        return replace(self._project(rows, columns, keyword="DISTINCT "), inserts_only=False)

    def _ranked(self, rows: Rows) -> Rows:
        partition, order = self._some(rows.of(NUMBER, TEXT), 0, 2), self._one(rows.of(NUMBER, TEXT) or rows.columns)
        return self._numbered(rows, partition, order, self._one(["<= 3", "= 1", "<= 10", "BETWEEN 2 AND 4"]))

    def _latest(self, rows: Rows) -> Rows:
        times = rows.of(ROWTIME, PROCTIME)
        if not times or not rows.inserts_only:
            return self._ranked(rows)
        return self._numbered(rows, self._some(rows.of(NUMBER, TEXT), 1, 2), self._one(times), "= 1")

    def _numbered(self, rows: Rows, partition: Sequence[Column], order: Column, condition: str) -> Rows:
        inner = self._name("r")
        columns = self._some(rows.columns, 2, 4)
        named = self._named(columns)
        by = f"PARTITION BY {', '.join(c.sql for c in partition)} " if partition else ""
        number = f"ROW_NUMBER() OVER ({by}ORDER BY {order.sql} {self._one(['ASC', 'DESC'])}) AS {inner}"
        source = f"(SELECT {self._list(columns, named)}, {number} FROM {rows.sql})"
        shown = [*named, Column(inner, NUMBER)] if self._chance(0.4) else list(named)
        text = f"(SELECT {', '.join(c.sql for c in shown)} FROM {source} WHERE {inner} {condition})"
        return Rows(text, tuple(self._timeless(shown)), inserts_only=False)

    def _windowed(self, rows: Rows) -> Rows:
        if not (rows.inserts_only and rows.of(ROWTIME)):
            rows = self._one(_IN_TIME)
        window = self._window(rows)
        keys = self._some(window.of(NUMBER, TEXT), 0, 2)
        calls = [self._call(window) for _ in range(self.random.randint(1, 2))]
        bounds = [Column("window_start", WINDOW), Column("window_end", WINDOW)]
        shown = [*self._some(bounds, 1, 2), *keys, *calls]
        named = self._named(shown)
        where = f" WHERE {self._condition(window)}" if self._chance(0.25) else ""
        group = ", ".join(c.sql for c in [*bounds, *keys])
        text = f"(SELECT {self._list(shown, named)} FROM {window.sql}{where} GROUP BY {group})"
        return Rows(text, tuple(self._timeless(named)))

    def _window(self, rows: Rows) -> Rows:
        inner = rows
        time = self._one(inner.of(ROWTIME)).sql
        source = f"TABLE {inner.sql}" if not inner.sql.startswith("(") else inner.sql
        size = self._one(
            [
                "TUMBLE({}, DESCRIPTOR({}), INTERVAL '10' MINUTE)",
                "HOP({}, DESCRIPTOR({}), INTERVAL '5' MINUTE, INTERVAL '10' MINUTE)",
                "CUMULATE({}, DESCRIPTOR({}), INTERVAL '5' MINUTE, INTERVAL '1' HOUR)",
            ]
        ).format(source, time)
        return replace(inner, sql=f"TABLE({size})", window=size)

    def _over(self, rows: Rows) -> Rows:
        times = rows.of(ROWTIME, PROCTIME)
        if not (rows.inserts_only and times):
            rows = self._one(_IN_TIME)
            times = rows.of(ROWTIME)
        keys = self._some(rows.of(NUMBER, TEXT), 0, 1)
        by = f"PARTITION BY {keys[0].sql} " if keys else ""
        frame = self._one(["", " ROWS BETWEEN 3 PRECEDING AND CURRENT ROW"])
        window = f"OVER ({by}ORDER BY {self._one(times).sql}{frame})"
        number = self._one(rows.of(NUMBER) or [Column("1", NUMBER)]).sql
        calls = [
            Column(f"{f} {window}", NUMBER) for f in self._some(["COUNT(*)", f"SUM({number})", f"MAX({number})"], 1, 2)
        ]
        return self._project(rows, [*self._some(rows.columns, 1, 3), *calls])

    def _unnested(self, rows: Rows) -> Rows:
        kept, tag = _columns("e.id:number e.body.code:number e.head.source:text"), Column("t.tag", TEXT)
        shown = [*self._some(kept, 1, 3), tag]
        named = self._named(shown)
        join = self._one(["CROSS JOIN UNNEST(e.tags) AS t (tag)", "LEFT JOIN UNNEST(e.tags) AS t (tag) ON TRUE"])
        return Rows(f"(SELECT {self._list(shown, named)} FROM events AS e {join})", named)

    def _compared_with_subquery(self, rows: Rows) -> Rows:
        outer, inner = self._aliased(rows), self._aliased(self._source())
        pair = self._pair(outer, inner)
        if pair is None:
            return self._filtered(rows)
        left, right = pair
        more = self._one(["", "", f" AND {self._condition(inner)}"])
        numbers = outer.of(NUMBER), inner.of(NUMBER)
        if all(numbers) and self._chance(0.2):
            more = f" AND {self._one(numbers[0]).sql} <> {self._one(numbers[1]).sql}"
        test = self._one(
            [
                f"{left.sql} IN (SELECT {right.sql} FROM {inner.sql} WHERE {self._condition(inner)})",
                f"EXISTS (SELECT 1 FROM {inner.sql} WHERE {left.sql} = {right.sql}{more})",
                f"NOT EXISTS (SELECT 1 FROM {inner.sql} WHERE {left.sql} = {right.sql}{more})",
                f"{left.sql} NOT IN (SELECT {right.sql} FROM {inner.sql})",
            ]
        )
        where = f"{test} AND {self._condition(outer)}" if self._chance(0.4) else test
        made = self._project(outer, self._some(outer.columns, 2, 4), where=where)
        return replace(made, columns=tuple(self._timeless(made.columns)), inserts_only=False)

    def _with_scalar(self, rows: Rows) -> Rows:
        outer, inner = self._aliased(rows), self._aliased(self._source())
        pair = self._pair(outer, inner)
        if pair is None or not outer.of(NUMBER) or not inner.of(NUMBER):
            return self._filtered(rows)
        call = self._one(
            ["COUNT(*)", f"MAX({self._one(inner.of(NUMBER)).sql})", f"SUM({self._one(inner.of(NUMBER)).sql})"]
        )
        correlated = f" WHERE {pair[0].sql} = {pair[1].sql}" if self._chance(0.6) else ""
        query = f"(SELECT {call} FROM {inner.sql}{correlated})"
        kept = self._some(outer.columns, 1, 3)
        if self._chance(0.5):
            made = self._project(outer, kept, where=f"{self._one(outer.of(NUMBER)).sql} > {query}")
        else:
            made = self._project(outer, [*kept, Column(query, NUMBER)])
        return replace(made, columns=tuple(self._timeless(made.columns)), inserts_only=False)

    def _self_join(self, rows: Rows) -> Rows:
        return self._joined(rows, rows)

    def _united_with_itself(self, rows: Rows) -> Rows:
        return self._united(self._filtered(rows), self._grouped(rows))

    def _joined(self, left: Rows, right: Rows) -> Rows:
        left, right = self._aliased(left), self._aliased(right)
        pair = self._pair(left, right)
        if pair is None:
            return self._filtered(replace(left))
        kind = self.random.choices(["JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"], [10, 5, 1, 1])[0]
        condition = f"{pair[0].sql} = {pair[1].sql}"
        both = Rows("", (*left.columns, *right.columns))
        if self._chance(0.2):
            condition += f" AND {self._condition(self._one([left, right, both]))}"
        where = ""
        if self._chance(0.25):
            where = f" WHERE {self._condition(both)}"
        elif self._chance(0.1):
            branches = [f"({self._condition(left)} AND {self._condition(right)})" for _ in range(2)]
            where = f" WHERE {' OR '.join(branches)}"
        shown = self._some(both.columns, 2, 5)
        named = self._named(shown)
        text = f"(SELECT {self._list(shown, named)} FROM {left.sql} {kind} {right.sql} ON {condition}{where})"
        inserts = left.inserts_only and right.inserts_only and kind == "JOIN"
        return Rows(text, tuple(self._timeless(named)), inserts_only=inserts)

    def _united(self, left: Rows, right: Rows) -> Rows:
        pairs = [(a, b) for kind in (NUMBER, TEXT) for a, b in zip(left.of(kind), right.of(kind), strict=False)][:3]
        if not pairs:
            return self._filtered(left)
        one = self._project(left, [self._same(a) for a, _ in pairs], names=[a for a, _ in pairs])
        other = self._project(right, [self._same(b) for _, b in pairs], names=[b for _, b in pairs])
        kind = self.random.choices(["UNION ALL", "UNION", "INTERSECT", "EXCEPT", "INTERSECT ALL"], [8, 3, 1, 1, 1])[0]
        text = f"({_bare(one.sql)} {kind} {_bare(other.sql)})"
        return Rows(text, one.columns, kind == "UNION ALL" and left.inserts_only and right.inserts_only)

    def _interval_joined(self, left: Rows, right: Rows) -> Rows:
        left, right = (r if r.inserts_only and r.of(ROWTIME) else self._one(_IN_TIME[:2]) for r in (left, right))
        left, right = self._aliased(left), self._aliased(right)
        pair, times = self._pair(left, right), (self._one(left.of(ROWTIME)).sql, self._one(right.of(ROWTIME)).sql)
        if pair is None:
            return self._filtered(replace(left))
        kind = self._one(["JOIN", "JOIN", "LEFT JOIN"])
        near = f"{times[0]} BETWEEN {times[1]} - INTERVAL '1' HOUR AND {times[1]} + INTERVAL '5' MINUTE"
        shown = self._some([*left.columns, *right.columns], 2, 5)
        named = self._named(shown)
        condition = f"{pair[0].sql} = {pair[1].sql} AND {near}"
        text = f"(SELECT {self._list(shown, named)} FROM {left.sql} {kind} {right.sql} ON {condition})"
        return Rows(text, tuple(self._timeless(named)))

    def _versioned(self, left: Rows, right: Rows) -> Rows:
        if not (left.inserts_only and left.of(ROWTIME) and left.of(TEXT)):
            left = self._one(_IN_TIME[:2])
        left = self._aliased(left)
        time, key, other = self._one(left.of(ROWTIME)), self._one(left.of(TEXT)), self._name("t")
        shown = [*self._some(left.columns, 1, 3), Column(f"{other}.factor", NUMBER)]
        named = self._named(shown)
        kind = self._one(["JOIN", "LEFT JOIN"])
        join = f"{kind} rates FOR SYSTEM_TIME AS OF {time.sql} AS {other} ON {key.sql} = {other}.currency"
        return Rows(f"(SELECT {self._list(shown, named)} FROM {left.sql} {join})", tuple(self._timeless(named)))

    # ---------------------------------------------------------------- expressions

    def _condition(self, rows: Rows) -> str:
        simple = [self._comparison(rows) for _ in range(self.random.choices([1, 2, 3], [6, 3, 1])[0])]
        return simple[0] if len(simple) == 1 else f"({self._one([' AND ', ' AND ', ' OR ']).join(simple)})"

    def _comparison(self, rows: Rows) -> str:
        column = self._one(rows.of(NUMBER, TEXT, TRUTH, DAY) or rows.columns)
        number = self.random.randint(0, 20)
        choices = {
            NUMBER: [
                f"{column.sql} {self._one(['>', '<', '=', '>=', '<>'])} {number}",
                f"{column.sql} BETWEEN {number} AND {number + 5}",
                f"{column.sql} IN ({number}, {number + 2}, {number + 3})",
                f"{column.sql} IS NOT NULL",
            ],
            TEXT: [
                f"{column.sql} = 'a{number}'",
                f"{column.sql} IN ('a', 'b{number}')",
                f"{column.sql} LIKE 'a%'",
                f"UPPER({column.sql}) <> 'X'",
                f"{column.sql} IS NULL",
            ],
            TRUTH: [column.sql, f"NOT {column.sql}", f"{column.sql} IS TRUE"],
            DAY: [f"{column.sql} > DATE '2024-01-{number + 1:02}'"],
        }
        return self._one(choices.get(column.kind, [f"{column.sql} IS NOT NULL"]))

    def _computed(self, rows: Rows) -> Column:
        column = self._one(rows.of(NUMBER, TEXT) or [Column("1", NUMBER)])
        if column.kind == TEXT:
            return Column(
                self._one(["UPPER({0})", "COALESCE({0}, 'none')", "{0} || '!'", "SUBSTRING({0}, 1, 2)"]).format(
                    column.sql
                ),
                TEXT,
            )
        number = self._one(
            ["{0} + 1", "{0} * 2", "COALESCE({0}, 0)", "CASE WHEN {0} > 5 THEN {0} ELSE 0 END", "CAST({0} AS BIGINT)"]
        )
        return Column(number.format(column.sql), NUMBER)

    def _same(self, column: Column) -> Column:
        """The column as one type for all of its kind."""
        types = {NUMBER: "DOUBLE", TEXT: "STRING"}
        return Column(f"CAST({column.sql} AS {types[column.kind]})", column.kind)

    def _pair(self, left: Rows, right: Rows) -> tuple[Column, Column] | None:
        """A column of each side to join on, those of one name first."""
        pairs = [(a, b) for kind in (NUMBER, TEXT) for a in left.of(kind) for b in right.of(kind)]
        alike = [(a, b) for a, b in pairs if a.sql.split(".")[-1] == b.sql.split(".")[-1]]
        return self.random.choice(alike or pairs) if pairs else None

    # ---------------------------------------------------------------- texts

    def _project(
        self, rows: Rows, columns: Sequence[Column], where: str = "", keyword: str = "", names: Sequence[Column] = ()
    ) -> Rows:
        named = self._named(columns)
        condition = f" WHERE {where}" if where else ""
        text = f"(SELECT {keyword}{self._list(columns, named)} FROM {rows.sql}{condition})"
        return Rows(text, named, rows.inserts_only)

    def _aliased(self, rows: Rows) -> Rows:
        alias = self._name("t")
        columns = tuple(Column(f"{alias}.{c.sql}", c.kind) for c in rows.columns)
        return replace(rows, sql=f"{rows.sql} AS {alias}", columns=columns)

    def _select(self, rows: Rows) -> str:
        if rows.sql.startswith("(SELECT"):
            return rows.sql
        named = self._named(rows.columns)
        return f"(SELECT {self._list(rows.columns, named)} FROM {rows.sql})"

    def _list(self, columns: Sequence[Column], named: Sequence[Column]) -> str:
        return ", ".join(
            c.sql if c.sql == n.sql else f"{c.sql} AS {n.sql}" for c, n in zip(columns, named, strict=True)
        )

    def _named(self, columns: Sequence[Column]) -> tuple[Column, ...]:
        """The columns by their names behind SELECT; an expression gets a new one."""
        names: list[Column] = []
        for column in columns:
            name = self._plain(column)
            if not name.isidentifier() or name in {n.sql for n in names} or name == "window_start":
                name = self._name("c")
            names.append(Column(name, column.kind))
        return tuple(names)

    def _plain(self, column: Column) -> str:
        return column.sql.rpartition(".")[2]

    def _timeless(self, columns: Sequence[Column]) -> list[Column]:
        """The columns behind an operator that hands on no time attributes."""
        return [Column(c.sql, TIME if c.kind in (ROWTIME, PROCTIME, WINDOW) else c.kind) for c in columns]

    def _name(self, prefix: str) -> str:
        return f"{prefix}{next(self.numbers)}"

    def _chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def _one(self, items: Sequence[T]) -> T:
        return self.random.choice(items)

    def _some(self, items: Sequence[T], least: int, most: int) -> list[T]:
        """Some of the items, in their order."""
        size = min(len(items), self.random.randint(least, most))
        return [items[i] for i in sorted(self.random.sample(range(len(items)), size))]
