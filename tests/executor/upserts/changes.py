"""Changes of tables made by chance, and what the tables hold in the end."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from .relations import COLUMNS

Row = tuple[int, int | None, int | None]


@dataclass(frozen=True)
class Change:
    """One change of a row: no row ``before`` is an insert, none ``after`` a delete."""

    before: Row | None
    after: Row | None

    def debezium(self) -> dict[str, Any]:
        """The change as Debezium writes it."""
        op = "c" if self.before is None else "d" if self.after is None else "u"
        return {"before": _fields(self.before), "after": _fields(self.after), "op": op}

    def upsert(self) -> tuple[dict[str, int], dict[str, Any] | None]:
        """The key of the change, and its row; a deleted one has none."""
        row = self.after or self.before
        assert row is not None
        return {"id": row[0]}, _fields(self.after)


def changes(random: Random, number: int) -> list[Change]:
    """Inserts, updates and deletes; one of a key is a delete and an insert, as Debezium has it."""
    rows: dict[int, Row] = {}
    made: list[Change] = []
    ids = range(1, 8)
    while len(made) < number:
        key = random.choice(ids)
        old = rows.pop(key, None)
        what = random.random()
        if old is not None and what < 0.25:
            made.append(Change(old, None))
            continue
        if old is not None and what < 0.4 and (free := [i for i in ids if i not in rows and i != key]):
            made.append(Change(old, None))
            old, key = None, random.choice(free)
        new = (key, _value(random), _value(random))
        if old is not None and random.random() < 0.4:
            new = (key, old[1], new[2])
        rows[key] = new
        made.append(Change(old, new))
    return made


def content(made: Iterable[Change]) -> list[Row]:
    """The rows that are there after all changes."""
    rows: dict[int, Row] = {}
    for change in made:
        if change.before is not None:
            del rows[change.before[0]]
        if change.after is not None:
            rows[change.after[0]] = change.after
    return list(rows.values())


def _value(random: Random) -> int | None:
    return None if random.random() < 0.1 else random.randint(1, 6)


def _fields(row: Sequence[Any] | None) -> dict[str, Any] | None:
    return None if row is None else dict(zip(COLUMNS, row, strict=True))
