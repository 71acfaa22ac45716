"""Entries of states as texts, as the files ``state.txt`` beside savepoints of Flink's restore tests have them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, date, datetime
from decimal import Decimal
from itertools import groupby
from pathlib import Path
from typing import Any

from flinkplan.plan.types.logical import LogicalType
from flinkplan.plan.types.parser import parse_type
from flinkplan.state.form import ROW_KIND, Column, JobState, Kind, StateTable

_KINDS = ("+I", "-U", "+U", "-D")
_OPERATOR = re.compile(r"operator (\w+) uid (\S+)")
_STATE = re.compile(r" +(?:operator )?state (\S+) .*: \d+ entries$")
_GROUP = re.compile(r"^group \d+ ")
_LENGTH = re.compile(r" list of \d+ ")

Texts = dict[tuple[str, str], list[str]]
"""The entries of each state, sorted, by the operator's id and the state's name."""


def expected(file: Path) -> Texts:
    """What the file says."""
    found: Texts = {}
    operator, entries = "", []
    for line in file.read_text("utf-8").splitlines():
        if match := _OPERATOR.match(line):
            operator = match[1]
        elif match := _STATE.match(line):
            entries = found[operator, match[1]] = []
        elif line.startswith("      ") and not line.strip().startswith(("key ", "keys ")):
            entries.append(_LENGTH.sub(" value ", _GROUP.sub("", line.strip())))
    return {state: sorted(entries) for state, entries in found.items()}


def actual(state: JobState) -> Texts:
    """What the tables hold; coordinators are left out."""
    return {
        (operator.hash or "", table.name): sorted(_entries(state, table))
        for operator, table in state.manifest.tables()
        if table.kind is not Kind.COORDINATOR
    }


def _entries(state: JobState, table: StateTable) -> Iterator[str]:
    rows = [row for batch in state.batches(table) for row in batch.to_pylist()]
    if not table.kind.is_keyed:
        yield from (_value(table.value, row["value"], quote="") for row in rows)
        return
    if table.kind is Kind.LIST:
        for head, group in groupby(rows, key=lambda row: _head(table, row)):
            yield f"{head} value [{', '.join(_value(table.value, row['value']) for row in group)}]"
        return
    for row in rows:
        if table.kind is Kind.TIMERS:
            within = "" if "namespace" in row else " namespace VoidNamespace"
            yield f"timer {row['value']['timestamp']} {_head(table, row)}{within}"
            continue
        key = f" map key {_value(table.map_key, row['map_key'])}" if table.map_key else ""
        accessed = row.get("accessed")
        ttl = f" @{round(accessed.timestamp() * 1000)}" if accessed else ""
        yield f"{_head(table, row)}{key} value {_value(table.value, row['value'])}{ttl}"


def _head(table: StateTable, row: dict[str, Any]) -> str:
    head = f"key +I{_row(table.key, row['key'])}"
    namespace = row.get("namespace")
    if namespace is None:
        return head
    bounds = tuple(namespace.values())
    window = f"TimeWindow{{start={bounds[0]}, end={bounds[1]}}}" if len(bounds) > 1 else str(bounds[0])
    return f"{head} namespace {window}"


def _value(columns: tuple[Column, ...], value: dict[str, Any] | None, quote: str = "'") -> str:
    if value is None:
        return "null"
    names = [c.name for c in columns]
    if ROW_KIND in names:
        return _KINDS[value[ROW_KIND]] + _row(columns, value, quote)
    if names == ["start", "end"]:
        return f"TimeWindow{{start={value['start']}, end={value['end']}}}"
    if names == ["value"]:
        return _text(columns[0], value["value"], quote)
    return f"<{' | '.join(_text(c, value[c.name], quote) for c in columns)}>"


def _row(columns: tuple[Column, ...], value: dict[str, Any], quote: str = "'") -> str:
    shown = [c for c in columns if c.name != ROW_KIND]
    return f"[{', '.join(_text(c, value[c.name], quote) for c in shown)}]"


def _text(column: Column, value: Any, quote: str) -> str:
    return _typed(parse_type(column.type), value, quote)


def _typed(t: LogicalType, value: Any, quote: str) -> str:
    match value:
        case None:
            return "RAW null" if t.root == "VARBINARY" else "null"
        case bool():
            return str(value).lower()
        case str():
            return f"{quote}{value}{quote}"
        case bytes():
            return f"x{value.hex()}"
        case datetime():
            return _time(value)
        case date():
            return str(value.toordinal() - date(1970, 1, 1).toordinal()) if quote else value.isoformat()
        case Decimal() | int() | float():
            return str(value)
        case list() if t.root in ("MAP", "MULTISET"):
            key, item = t.children if t.root == "MAP" else (t.children[0], LogicalType("INT"))
            shown = (f"{_typed(key, e['key'], quote)}={_typed(item, e['value'], quote)}" for e in value)
            return f"{{{', '.join(shown)}}}"
        case list():
            return f"[{', '.join(_typed(t.element, item, quote) for item in value)}]"
        case dict():
            fields = [f for f in t.fields if f.name != ROW_KIND]
            parts = [_typed(f.type, value[f.name], quote) for f in fields]
            if len(fields) < len(t.fields):
                return f"{_KINDS[value[ROW_KIND]]}[{', '.join(parts)}]"
            if t.field_names == ("f0", "f1") and quote and t.fields[1].type.root == "ARRAY":
                return f"<{' | '.join(parts)}>"
            return f"({', '.join(parts)})"
    raise AssertionError(f"{t} {value!r}")


def _time(value: datetime) -> str:
    text = value.astimezone(UTC).replace(tzinfo=None).isoformat() if value.tzinfo else value.isoformat()
    head, _, fraction = text.partition(".")
    head = head.removesuffix(":00") if not fraction else head
    fraction = fraction.rstrip("0")
    digits = -(-len(fraction) // 3) * 3
    return (f"{head}.{fraction.ljust(digits, '0')}" if fraction else head) + ("Z" if value.tzinfo else "")
