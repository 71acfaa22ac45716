"""Changed pipelines whose jobs go on, on Apache Flink, from the savepoints of the ones before them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Rows = Mapping[str, Sequence[Mapping[str, Any]]]


@dataclass(frozen=True)
class Succession:
    """Two scripts, and the rows by table that are there before and after the savepoint."""

    name: str
    old: str
    new: str
    before: Rows = field(default_factory=lambda: BEFORE)
    after: Rows = field(default_factory=lambda: AFTER)


def _rows(minute: int, *rows: tuple[int, int, int, int]) -> list[Mapping[str, Any]]:
    times = (f"2024-01-01 00:{minute + i:02d}:00" for i in range(len(rows)))
    return [dict(zip(("k", "g", "v", "w", "ts"), (*row, ts), strict=True)) for row, ts in zip(rows, times, strict=True)]


def _others(*rows: tuple[int, int, int]) -> list[Mapping[str, Any]]:
    return [dict(zip(("k", "x", "y"), row, strict=True)) for row in rows]


BEFORE: Rows = {
    "s": _rows(0, (1, 5, 3, 30), (2, 6, 5, 50), (1, 5, 4, 41), (5, 1, 7, 72), (1, 5, 6, 25)),
    "b": _others((1, 10, 100), (2, 20, 200)),
}
AFTER: Rows = {
    "s": _rows(20, (1, 5, 10, 99), (3, 7, 2, 20), (2, 6, 1, 11)),
    "b": _others((1, 11, 101), (5, 50, 500), (3, 30, 300)),
}

_FILES = "WITH ('connector' = 'filesystem', 'path' = '${DIR}/%s', 'format' = 'json', 'source.monitor-interval' = '1 s')"
_S = f"CREATE TABLE s (k INT, g INT, v INT, w INT, ts TIMESTAMP(3)) {_FILES % 's'};\n"
_B = f"CREATE TABLE b (k INT, x INT, y INT) {_FILES % 'b'};\n"
_TIMED = _S.replace("TIMESTAMP(3))", "TIMESTAMP(3), WATERMARK FOR ts AS ts)")


def _insert(query: str, columns: str = "k INT, x INT, n BIGINT", tables: str = _S) -> str:
    return f"{tables}CREATE TABLE o ({columns}) WITH ('connector' = 'print');\nINSERT INTO o {query};\n"


_SUMS = "SELECT k, SUM(v) AS x, COUNT(*) AS n FROM s GROUP BY k"
_OLD = _insert(_SUMS)
_TTL = "SET 'table.exec.state.ttl' = '%s';\n"
_WINDOWS = (
    "SELECT k, SUM(v) AS x, COUNT(*) AS n FROM TABLE(TUMBLE(TABLE s, DESCRIPTOR(ts), INTERVAL '10' MINUTE)) "
    "GROUP BY k, window_start, window_end"
)
_VIEW = "CREATE VIEW %s AS SELECT k, v FROM s WHERE g > 0;\n"
_SECOND_SINK = (
    "CREATE TABLE p (k INT, v INT) WITH ('connector' = 'print');\nSTATEMENT SET BEGIN\nINSERT INTO o "
    f"{_SUMS};\nINSERT INTO p SELECT k, v FROM s WHERE v > 4;\nEND;\n"
)

KEEPING = (
    Succession("filter-added", _OLD, _OLD.replace("FROM s", "FROM s WHERE g > 1")),
    Succession(
        "sink-column-added",
        _OLD,
        _insert(_SUMS.replace("AS n", "AS n, SUM(v) * 2 AS d"), "k INT, x INT, n BIGINT, d INT"),
    ),
    Succession("having-added", _OLD, _insert(f"{_SUMS} HAVING SUM(v) > 5")),
    Succession("sink-added", _OLD, _OLD.replace(f"INSERT INTO o {_SUMS};\n", _SECOND_SINK)),
    Succession("sink-exchanged", _OLD, _OLD.replace("TABLE o", "TABLE p").replace("INTO o", "INTO p")),
    Succession(
        "union-branch-added",
        _OLD,
        _insert(_SUMS.replace("FROM s", "FROM (SELECT k, v FROM s UNION ALL SELECT k, x AS v FROM b)"), tables=_S + _B),
    ),
    Succession("ttl-changed", _TTL % "1 h" + _OLD, _TTL % "2 d" + _OLD),
    Succession(
        "view-renamed",
        _insert(_SUMS.replace("FROM s", "FROM q"), tables=_S + _VIEW % "q"),
        _insert(_SUMS.replace("FROM s", "FROM r"), tables=_S + _VIEW % "r"),
    ),
    Succession("options-changed", _OLD, _OLD.replace("'1 s'", "'2 s', 'json.ignore-parse-errors' = 'true'")),
    Succession(
        "watermark-changed",
        _insert(_WINDOWS, tables=_TIMED),
        _insert(_WINDOWS, tables=_TIMED.replace("AS ts)", "AS ts - INTERVAL '1' MINUTE)")),
    ),
    Succession(
        "computed-column-added",
        _OLD,
        _insert(
            _SUMS.replace("FROM s", "FROM s WHERE u > 6"),
            tables=_S.replace("TIMESTAMP(3))", "TIMESTAMP(3), u AS v * 3)"),
        ),
    ),
)
"""Changes that keep all state, once ids are kept."""


def _reordered(name: str, columns: str, old: str, new: str, tables: str = _S) -> Succession:
    return Succession(name, _insert(old, columns, tables), _insert(new, columns, tables))


_XY = "k INT, x INT, y INT"
_JOIN, _TURNED = "FROM s AS l JOIN b ON l.k = b.k", "FROM b JOIN s AS l ON l.k = b.k"
_MIXED = "SELECT t.k, t.v, b.x, t.w FROM (SELECT k, {} FROM s) t JOIN b ON t.k = b.k"
_RANKED = (
    "SELECT k, v, w FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY g ORDER BY v DESC) AS n FROM "
    "(SELECT k, g, {} FROM s)) WHERE n <= 2"
)
_ABOVE = "SELECT t.k, t.x, t.y, b.x FROM (SELECT k, {} FROM s GROUP BY k) t JOIN b ON t.k = b.k"
_WINDOWED = _WINDOWS.replace("SUM(v) AS x, COUNT(*) AS n", "{}")
_PHASES = (
    "SET 'table.exec.mini-batch.enabled' = 'true';\nSET 'table.exec.mini-batch.allow-latency' = '1 s';\n"
    "SET 'table.exec.mini-batch.size' = '100';\n"
)
_FORWARD, _BACKWARD = "SUM(v) AS x, SUM(w) AS y", "SUM(w) AS y, SUM(v) AS x"
_PLUS = ("v + 1 AS v, w + 1 AS w", "w + 1 AS w, v + 1 AS v")

REORDERING = (
    _reordered(
        "aggregates-reordered",
        _XY,
        f"SELECT k, {_FORWARD} FROM s GROUP BY k",
        f"SELECT k, x, y FROM (SELECT k, {_BACKWARD} FROM s GROUP BY k)",
    ),
    Succession(
        "count-and-sum-exchanged",
        _insert("SELECT k, COUNT(*), SUM(CAST(v AS BIGINT)) FROM s GROUP BY k", "k INT, n BIGINT, t BIGINT"),
        _insert("SELECT k, SUM(CAST(v AS BIGINT)), COUNT(*) FROM s GROUP BY k", "k INT, t BIGINT, n BIGINT"),
    ),
    Succession(
        "aggregates-of-other-types-reordered",
        _insert("SELECT k, COUNT(*), SUM(v), MAX(w) FROM s GROUP BY k", "k INT, n BIGINT, t INT, m INT"),
        _insert("SELECT k, MAX(w), SUM(v), COUNT(*) FROM s GROUP BY k", "k INT, m INT, t INT, n BIGINT"),
    ),
    _reordered(
        "two-phases-reordered",
        _XY,
        f"SELECT k, {_FORWARD} FROM s GROUP BY k",
        f"SELECT k, x, y FROM (SELECT k, {_BACKWARD} FROM s GROUP BY k)",
        _PHASES + _S,
    ),
    _reordered(
        "window-aggregates-reordered",
        _XY,
        _WINDOWED.format(_FORWARD),
        f"SELECT k, x, y FROM ({_WINDOWED.format(_BACKWARD)})",
        _TIMED,
    ),
    _reordered(
        "keys-reordered",
        "k INT, g INT, n BIGINT",
        "SELECT k, g, COUNT(*) AS n FROM s GROUP BY k, g",
        "SELECT k, g, n FROM (SELECT g, k, COUNT(*) AS n FROM s GROUP BY g, k)",
    ),
    _reordered(
        "join-sides-exchanged",
        "k INT, v INT, x INT",
        f"SELECT l.k, l.v, b.x {_JOIN}",
        f"SELECT l.k, l.v, b.x {_TURNED}",
        _S + _B,
    ),
    _reordered(
        "outer-join-sides-exchanged",
        "k INT, v INT, x INT",
        f"SELECT l.k, l.v, b.x {_JOIN}".replace("JOIN", "LEFT JOIN"),
        f"SELECT l.k, l.v, b.x {_TURNED}".replace("JOIN", "RIGHT JOIN"),
        _S + _B,
    ),
    _reordered(
        "self-join-sides-exchanged",
        "k INT, v INT, x INT",
        "SELECT t.k, t.v, u.x FROM s t JOIN (SELECT g AS k, w AS x FROM s) u ON t.k = u.k",
        "SELECT t.k, t.v, u.x FROM (SELECT g AS k, w AS x FROM s) u JOIN s t ON t.k = u.k",
    ),
    _reordered(
        "join-columns-reordered",
        "k INT, v INT, x INT, w INT",
        _MIXED.format(_PLUS[0]),
        _MIXED.format(_PLUS[1]),
        _S + _B,
    ),
    _reordered("rank-columns-reordered", "k INT, v INT, w INT", _RANKED.format(_PLUS[0]), _RANKED.format(_PLUS[1])),
    _reordered(
        "aggregates-below-a-join-reordered",
        "k INT, a INT, d INT, x INT",
        _ABOVE.format(_FORWARD),
        _ABOVE.format(_BACKWARD),
        _S + _B,
    ),
)
"""Changes of an order alone, which Flink would misread or refuse."""

SUCCESSIONS = (*KEEPING, *REORDERING)
