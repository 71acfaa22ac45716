"""Queries made by chance that Flink SQL and SQLite both understand, with a key of their rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from random import Random

TABLES = ("a", "b", "c")
COLUMNS = ("id", "k", "v")
"""The columns of each table, all INT; ``id`` is the key."""


@dataclass(frozen=True)
class Relation:
    """A query whose ``width`` columns are called c0, c1, …; those at ``key`` identify a row and are never NULL."""

    sql: str
    width: int
    key: tuple[int, ...]

    @property
    def columns(self) -> list[str]:
        return [f"c{i}" for i in range(self.width)]


def relation(random: Random, depth: int) -> Relation:
    """A query of so many operators one above the other."""
    return _Maker(random).relation(depth)


class _Maker:
    def __init__(self, random: Random) -> None:
        self._random = random
        self._aliases = (f"t{i}" for i in count())
        self._absent = count(-1, -1)
        operators: Mapping[Callable[[int], Relation], int] = {
            self._join: 5,
            self._semi_join: 5,
            self._aggregate: 4,
            self._top_n: 2,
            self._distinct: 1,
            self._union: 2,
            self._filter: 1,
        }
        self._operators = [operator for operator, weight in operators.items() for _ in range(weight)]

    def relation(self, depth: int) -> Relation:
        if depth == 0:
            table = self._random.choice(TABLES)
            named = ", ".join(f"{column} AS c{i}" for i, column in enumerate(COLUMNS))
            return Relation(f"SELECT {named} FROM {table}", len(COLUMNS), (0,))
        return self._random.choice(self._operators)(depth)

    def _below(self, depth: int) -> Relation:
        return self.relation(self._random.choice((depth - 1, depth - 1, 0)))

    def _from(self, relation: Relation) -> tuple[str, str]:
        alias = next(self._aliases)
        return f"({relation.sql}) AS {alias}", alias

    def _column(self, relation: Relation) -> str:
        return f"c{self._random.randrange(relation.width)}"

    def _or_other(self, value: str) -> str:
        """The value, or where it is NULL a number that stands nowhere else."""
        return f"COALESCE({value}, {next(self._absent)})"

    def _joined_by(self, left: Relation, right: Relation) -> tuple[str, str]:
        """Two columns that are compared, more often those of keys."""
        if self._random.random() < 0.6:
            return f"c{self._random.choice(left.key)}", f"c{self._random.choice(right.key)}"
        return self._column(left), self._column(right)

    def _join(self, depth: int) -> Relation:
        left, right = self.relation(depth - 1), self._below(depth)
        kind = self._random.choice(("JOIN", "JOIN", "LEFT JOIN", "LEFT JOIN", "FULL JOIN"))
        (one, left_name), (other, right_name) = self._from(left), self._from(right)
        ours, theirs = self._joined_by(left, right)
        condition = f"{left_name}.{ours} = {right_name}.{theirs}"
        if kind != "FULL JOIN" and self._random.random() < 0.25:
            condition += f" AND {left_name}.{self._column(left)} <= {right_name}.{self._column(right)}"
        finds_one = right.key == (int(theirs[1:]),)
        needed = {f"{left_name}.c{i}" for i in left.key} | (
            set() if finds_one else {f"{right_name}.c{i}" for i in right.key}
        )
        if kind == "FULL JOIN":
            needed |= {f"{right_name}.c{i}" for i in right.key}
        values = [f"{left_name}.{c}" for c in left.columns] + [f"{right_name}.{c}" for c in right.columns]
        self._random.shuffle(values)
        others = [value for value in values if value not in needed][: self._random.randint(1, 2)]
        chosen = [value for value in values if value in needed or value in others]
        absent = {"JOIN": (), "LEFT JOIN": (right_name,), "FULL JOIN": (left_name, right_name)}[kind]
        shown = [self._or_other(v) if v in needed and v.partition(".")[0] in absent else v for v in chosen]
        key = tuple(i for i, value in enumerate(chosen) if value in needed)
        return Relation(f"SELECT {_named(shown)} FROM {one} {kind} {other} ON {condition}", len(chosen), key)

    def _semi_join(self, depth: int) -> Relation:
        left, right = self.relation(depth - 1), self._below(depth)
        (one, left_name), (other, right_name) = self._from(left), self._from(right)
        word = self._random.choice(("NOT EXISTS", "NOT EXISTS", "EXISTS"))
        ours, theirs = self._joined_by(left, right)
        condition = f"{right_name}.{theirs} = {left_name}.{ours}"
        if self._random.random() < 0.25:
            condition += f" AND {right_name}.{self._column(right)} > {left_name}.{self._column(left)}"
        columns = _named([f"{left_name}.{c}" for c in left.columns])
        where = f"{word} (SELECT 1 FROM {other} WHERE {condition})"
        return Relation(f"SELECT {columns} FROM {one} WHERE {where}", left.width, left.key)

    def _aggregate(self, depth: int) -> Relation:
        source, t = self._from(below := self.relation(depth - 1))
        group = self._or_other(f"{t}.{self._column(below)}")
        value = f"{t}.{self._column(below)}"
        call = self._random.choice(
            ("SUM({})", "MAX({})", "MIN({})", "CAST(COUNT({}) AS INT)", "CAST(COUNT(DISTINCT {}) AS INT)")
        )
        shown = [group, call.format(value), "CAST(COUNT(*) AS INT)"][: self._random.randint(2, 3)]
        having = self._random.choice(("", "", " HAVING COUNT(*) > 1", " HAVING COUNT(*) < 3"))
        return Relation(f"SELECT {_named(shown)} FROM {source} GROUP BY {group}{having}", len(shown), (0,))

    def _top_n(self, depth: int) -> Relation:
        source, t = self._from(below := self.relation(depth - 1))
        by = self._random.choice(("", f"PARTITION BY {t}.{self._column(below)} "))
        direction = self._random.choice(("ASC", "DESC"))
        order = ", ".join([f"{t}.{self._column(below)} {direction}", *(f"{t}.c{i}" for i in below.key)])
        ranked = f"SELECT {t}.*, ROW_NUMBER() OVER ({by}ORDER BY {order}) AS rn FROM {source}"
        most = self._random.randint(1, 3)
        columns = ", ".join(below.columns)
        if not by and self._random.random() < 0.5 and most == 2:
            sql = f"SELECT {columns}, CAST(rn AS INT) AS c{below.width} FROM ({ranked}) AS {next(self._aliases)}"
            return Relation(f"{sql} WHERE rn <= {most}", below.width + 1, below.key)
        if not by and most != 2:
            sql = f"SELECT CAST(rn AS INT) AS c0, c0 AS c1 FROM ({ranked}) AS {next(self._aliases)} WHERE rn <= {most}"
            return Relation(sql, 2, (0,))
        sql = f"SELECT {columns} FROM ({ranked}) AS {next(self._aliases)} WHERE rn <= {most}"
        return Relation(sql, below.width, below.key)

    def _distinct(self, depth: int) -> Relation:
        source, t = self._from(below := self.relation(depth - 1))
        shown = [self._or_other(f"{t}.{self._column(below)}") for _ in range(2)]
        return Relation(f"SELECT DISTINCT {_named(shown)} FROM {source}", 2, (0, 1))

    def _union(self, depth: int) -> Relation:
        (one, left_name), (other, right_name) = (
            self._from(left := self.relation(depth - 1)),
            self._from(right := self._below(depth)),
        )
        parts = [
            f"SELECT {self._or_other(f'{t}.{self._column(of)}')} AS c0, {t}.{self._column(of)} AS c1 FROM {source}"
            for source, t, of in ((one, left_name, left), (other, right_name, right))
        ]
        t = next(self._aliases)
        both = f"({' UNION ALL '.join(parts)}) AS {t}"
        call = self._random.choice(("SUM", "MAX", "MIN"))
        sql = f"SELECT {t}.c0 AS c0, {call}({t}.c1) AS c1, CAST(COUNT(*) AS INT) AS c2 FROM {both} GROUP BY {t}.c0"
        return Relation(sql, 3, (0,))

    def _filter(self, depth: int) -> Relation:
        source, t = self._from(below := self.relation(depth - 1))
        test = self._random.choice(("% 3 <> 0", "> 2", "IS NOT NULL"))
        columns = _named([f"{t}.{c}" for c in below.columns])
        sql = f"SELECT {columns} FROM {source} WHERE {t}.{self._column(below)} {test}"
        return Relation(sql, below.width, below.key)


def _named(values: Sequence[str]) -> str:
    return ", ".join(f"{value} AS c{i}" for i, value in enumerate(values))
