"""Changes of queries of all kinds, each asked of Flink: what a rule says of one must hold for those it never saw."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .model import Files, Truth

_TIME = "ts TIMESTAMP(3), pt AS PROCTIME(), WATERMARK FOR ts AS ts"


def _table(name: str, columns: str, options: str = "'format' = 'json'") -> str:
    where = f"'connector' = 'filesystem', 'path' = '${{DIR}}/in/{name}', {options}"
    return f"CREATE TABLE {name} ({columns}) WITH ({where});\n"


def _changelog(key: str = "") -> str:
    return _table("c", f"k INT, v INT, w INT{key}", "'format' = 'debezium-json'")


_KEY = ", PRIMARY KEY (k) NOT ENFORCED"
S = _table("s", f"k INT, g INT, v INT, w INT, b BIGINT, d STRING, e STRING, {_TIME}")
A = _table("a", f"k INT, v INT, z INT, d STRING, {_TIME}")
B = _table("b", f"k INT, x INT, y INT, d STRING, {_TIME}")
VERSIONS = _table("b", f"k INT, x INT, y INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts{_KEY}")
C, KEYED = _changelog(), _changelog(_KEY)


def _s(time: str, k: int, g: int, v: int, w: int, d: str, e: str) -> dict[str, object]:
    return {"ts": f"2024-01-01 00:{time}", "k": k, "g": g, "v": v, "w": w, "b": 10 * w, "d": d, "e": e}


def _upsert(before: tuple[int, int, int] | None, after: tuple[int, int, int] | None) -> dict[str, object]:
    rows = [None if row is None else dict(zip("kvw", row, strict=True)) for row in (before, after)]
    op = "c" if before is None else "d" if after is None else "u"
    return {"before": rows[0], "after": rows[1], "op": op}


_FIRST: Files = {
    "s/1": [
        _s("00:10", 1, 5, 3, 30, "x", "p"),
        _s("00:20", 2, 6, 5, 50, "y", "q"),
        _s("00:40", 1, 5, 4, 41, "x", "r"),
        _s("01:00", 5, 1, 7, 72, "z", "p"),
        _s("01:05", 1, 5, 6, 25, "y", "q"),
        _s("01:10", 1, 5, 2, 63, "x", "r"),
        _s("01:15", 1, 5, 9, 12, "x", "p"),
    ],
    "a/1": [
        {"ts": "2024-01-01 00:00:10", "k": 1, "v": 10, "z": 100, "d": "m"},
        {"ts": "2024-01-01 00:00:20", "k": 2, "v": 20, "z": 200, "d": "n"},
    ],
    "b/1": [
        {"ts": "2024-01-01 00:00:30", "k": 9, "x": 9, "y": 90, "d": "m"},
        {"ts": "2024-01-01 00:00:31", "k": 2, "x": 7, "y": 70, "d": "n"},
    ],
    "c/1": [
        _upsert(None, (1, 3, 30)),
        _upsert(None, (2, 5, 50)),
        _upsert(None, (3, 7, 70)),
        _upsert((1, 3, 30), (1, 4, 40)),
        _upsert(None, (4, 9, 20)),
    ],
}
_SECOND: Files = {
    "s/2": [
        _s("01:30", 1, 5, 10, 99, "x", "q"),
        _s("01:40", 3, 7, 2, 20, "y", "p"),
        _s("06:00", 4, 8, 1, 11, "z", "q"),
    ],
    "a/2": [{"ts": "2024-01-01 00:01:00", "k": 3, "v": 30, "z": 300, "d": "o"}],
    "b/2": [
        {"ts": "2024-01-01 00:00:50", "k": 1, "x": 100, "y": 1000, "d": "m"},
        {"ts": "2024-01-01 00:00:55", "k": 2, "x": 200, "y": 2000, "d": "n"},
        {"ts": "2024-01-01 00:01:10", "k": 3, "x": 300, "y": 3000, "d": "o"},
    ],
    "c/2": [
        _upsert((2, 5, 50), (2, 6, 60)),
        _upsert((3, 7, 70), None),
        _upsert(None, (5, 1, 10)),
        _upsert((1, 4, 40), (1, 8, 80)),
    ],
}


_TABLES = {
    "a": A,
    "b": B,
    "c": C,
    "keyed": KEYED,
    "s": S,
    "versions": VERSIONS,
}


def _read(change: Mapping[str, Any]) -> Truth:
    """A change: two statements over tables, or the queries of one sink.

    ``new…`` is what differs in the new one; ``replace`` is replaced in its tables.
    """
    old, new = (_script(change, side) for side in ("", "new_"))
    return Truth(
        change["name"], tuple(change.get("rules", ())), old, new, _FIRST, _SECOND, is_hidden=change.get("hidden", False)
    )


def _script(change: Mapping[str, Any], side: str) -> str:
    tables = "".join(_TABLES[name] for name in change.get(f"{side}tables", change["tables"]))
    if side and "replace" in change:
        tables = tables.replace(*change["replace"])
    start = change.get(f"{side}settings", "") + tables
    if statement := change.get(f"{side}script"):
        return f"{start}{statement}"
    columns, query = change.get(f"{side}columns", change["columns"]), change[side.rstrip("_") or "old"]
    return f"{start}CREATE TABLE o ({columns}) WITH ('connector' = 'print');\nINSERT INTO o\n{query};\n"


CHANGES = tuple(map(_read, tomllib.loads(Path(__file__).with_name("changes.toml").read_text("utf-8"))["change"]))
