"""Compares what was emitted for a case with what Flink emitted.

Content: the same rows in both outputs.  Order: the main rows of each key of the last operator come in Flink's order,
where Flink has one: between the rows of one firing, between timers of one time, and after several operators between all
that one entry of ``events`` causes, any order is right.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from .pipeline import Case

Row = tuple[tuple[str, Any], ...]


def differences(case: Case, actual: Mapping[str, Any]) -> list[str]:
    """What differs, in words; nothing where all is as in Flink."""
    expected = case["expected"]
    if "error" in expected:
        return [] if "error" in actual else [f"should be refused: {expected['error']['message']}"]
    if "error" in actual:
        return [f"failed: {actual['error']}"]
    hidden = case.get("hide", ())
    found = [
        *_content(
            "main", [_row(e["row"], hidden) for e in expected["main"]], [_row(r, hidden) for r in actual["main"]]
        ),
        *_content("late", _late(expected["late"], hidden), _late(actual["late"], hidden)),
    ]
    return found or list(_order(case, actual["main"], hidden))


def _late(entries: Sequence[Mapping[str, Any]], hidden: Sequence[str]) -> list[Row]:
    return [(("operator", e["operator"]), *_row(e["row"], hidden)) for e in entries]


def _content(output: str, expected: Sequence[Row], actual: Sequence[Row]) -> Iterator[str]:
    wanted, got = Counter(expected), Counter(actual)
    yield from (f"{output}: missing: {dict(row)}" for row in (wanted - got).elements())
    yield from (f"{output}: not Flink's: {dict(row)}" for row in (got - wanted).elements())


def _row(row: Mapping[str, Any], hidden: Sequence[str]) -> Row:
    return tuple(sorted((name, _value(value)) for name, value in row.items() if name not in hidden))


def _value(value: Any) -> Any:
    """2 and 2.0 are the same, floating-point numbers to 12 digits."""
    if isinstance(value, float):
        return int(value) if value.is_integer() else float(f"{value:.12g}")
    return value


def _key(case: Case, row: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(_value(row.get(name)) for name in case["operators"][-1]["key_by"])


def _order(case: Case, actual: Sequence[Mapping[str, Any]], hidden: Sequence[str]) -> Iterator[str]:
    by_key: dict[tuple[Any, ...], list[Mapping[str, Any]]] = {}
    for entry in case["expected"]["main"]:
        by_key.setdefault(_key(case, entry["row"]), []).append(entry)
    for key, entries in by_key.items():
        rows, at = [_row(r, hidden) for r in actual if _key(case, r) == key], 0
        for _, step in groupby(entries, lambda entry: _step(case, entry)):
            wanted = [_row(e["row"], hidden) for e in step]
            if Counter(wanted) != Counter(rows[at : at + len(wanted)]):
                yield f"order: of {key}, at its row {at}: should be {dict(wanted[0])}"
                break
            at += len(wanted)


def _step(case: Case, entry: Mapping[str, Any]) -> Any:
    """What rows have in common that Flink may emit in any order."""
    if len(case["operators"]) > 1:
        return entry["after_event"]
    if entry["timer"] is not None:
        return entry["after_event"], entry["timer"]
    return entry["after_event"], entry["row"].get("window_start"), entry["row"].get("window_end"), entry["timestamp"]
