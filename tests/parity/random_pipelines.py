"""Pipelines that hypothesis draws, with rows for their tables: what may run on one engine first and then on another."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

ENGINES = ("spark", "flink")
"""Where a pipeline begins; it goes on on the other one."""

_START = datetime(2024, 1, 1)
_DRAWN_FOR_ONE = 5
"""Of so many pipelines one is taken: those that are drawn one after the other are alike."""

_JITTER = 2
"""By how many seconds a row may come too early or too late: less than what watermarks wait for."""

_TABLES = {"t": "id INT, k INT, v INT, s STRING, ts TIMESTAMP(3)", "u": "id INT, k INT, w INT, ts TIMESTAMP(3)"}
_WATERMARK = "WATERMARK FOR ts AS ts - INTERVAL '5' SECOND"


@dataclass(frozen=True)
class Query:
    """A query over the tables ``t`` and ``u``, and the types of its columns."""

    sql: str
    types: Sequence[str]


@dataclass(frozen=True)
class Pipeline:
    """A query with options of the session, the rows of its tables, how many of them come first, and where."""

    query: Query
    options: Mapping[str, str]
    rows: Mapping[str, Sequence[Mapping[str, object]]]
    share: float
    first: str

    def script(self, source: str, sink: str) -> str:
        """The pipeline where tables have these options; ``{name}`` in them stands for the table's name."""
        sets = [f"SET '{key}' = '{value}';" for key, value in self.options.items()]
        tables = [
            f"CREATE TABLE {name} ({columns}, {_WATERMARK}) WITH ({source.format(name=name)});"
            for name, columns in _TABLES.items()
            if name in self.rows
        ]
        columns = ", ".join(f"c{i} {t}" for i, t in enumerate(self.query.types))
        return "\n".join(
            [*sets, *tables, f"CREATE TABLE o ({columns}) WITH ({sink});", f"INSERT INTO o {self.query.sql};", ""]
        )

    def lines(self, table: str) -> tuple[list[str], list[str]]:
        """The rows of a table in JSON: those that come first, and the others."""
        lines = [json.dumps(row) for row in self.rows[table]]
        place = min(max(1, round(self.share * len(lines))), len(lines))
        return lines[:place], lines[place:]


_CALLS = {
    "COUNT(*)": "BIGINT",
    "COUNT(v)": "BIGINT",
    "SUM(v)": "INT",
    "MIN(v)": "INT",
    "MAX(v)": "INT",
    "AVG(v)": "INT",
    "MAX(s)": "STRING",
    "COUNT(DISTINCT v)": "BIGINT",
    "SUM(DISTINCT v)": "INT",
    "COUNT(*) FILTER (WHERE v > 1)": "BIGINT",
    "COUNT(DISTINCT s) FILTER (WHERE v > 0)": "BIGINT",
    "SUM(CAST(v AS DECIMAL(10, 2)))": "DECIMAL(38, 2)",
    "SUM(CAST(v AS DOUBLE))": "DOUBLE",
}
_IN_ORDER = {"LISTAGG(s)": "STRING", "FIRST_VALUE(s)": "STRING", "LAST_VALUE(v)": "INT", "ARRAY_AGG(v)": "ARRAY<INT>"}
"""Calls that depend on the order of rows."""

_KEYS = {"k": "INT", "s": "STRING"}
_CONDITIONS = st.sampled_from(("", " WHERE v > 0", " WHERE v IS NOT NULL AND k <> 1", " WHERE s = 'a' OR v < 3"))
_SECONDS = st.sampled_from((2, 3, 4))


def _calls(draw: st.DrawFn, calls: Mapping[str, str]) -> tuple[str, list[str]]:
    chosen = draw(st.lists(st.sampled_from(sorted(calls)), min_size=1, max_size=4, unique=True))
    return ", ".join(chosen), [calls[call] for call in chosen]


@st.composite
def _groups(draw: st.DrawFn) -> Query:
    calls, types = _calls(draw, _CALLS | _IN_ORDER)
    key = draw(st.sampled_from((*_KEYS, "")))
    having = draw(st.sampled_from(("", " HAVING COUNT(*) > 1")))
    if not key:
        return Query(f"SELECT {calls} FROM t{draw(_CONDITIONS)}", types)
    return Query(f"SELECT {key}, {calls} FROM t{draw(_CONDITIONS)} GROUP BY {key}{having}", [_KEYS[key], *types])


@st.composite
def _groups_of_groups(draw: st.DrawFn) -> Query:
    calls, types = _calls(draw, _CALLS)
    inner = f"SELECT k, COUNT(*) AS n, MAX(v) AS v, MIN(s) AS s FROM t{draw(_CONDITIONS)} GROUP BY k"
    return Query(f"SELECT n, {calls} FROM ({inner}) GROUP BY n", ["BIGINT", *types])


@st.composite
def _joined(draw: st.DrawFn) -> Query:
    kind = draw(st.sampled_from(("", "LEFT ", "RIGHT ", "FULL ")))
    more = draw(st.sampled_from(("", " AND t.v > u.w")))
    rows = f"SELECT t.id, t.k, t.v, u.id, u.w FROM t {kind}JOIN u ON t.k = u.k{more}"
    return Query(rows, ["INT"] * 5)


@st.composite
def _matched(draw: st.DrawFn) -> Query:
    kind = draw(st.sampled_from(("EXISTS", "NOT EXISTS")))
    return Query(f"SELECT id, k, v FROM t WHERE {kind} (SELECT 1 FROM u WHERE u.k = t.k AND u.w > 0)", ["INT"] * 3)


@st.composite
def _joined_groups(draw: st.DrawFn) -> Query:
    sums = "SELECT k, SUM(v) AS x FROM t GROUP BY k", "SELECT k, COUNT(*) AS y FROM u GROUP BY k"
    kind = draw(st.sampled_from(("", "LEFT ", "FULL ")))
    rows = f"SELECT a.k, a.x, b.y FROM ({sums[0]}) a {kind}JOIN ({sums[1]}) b ON a.k = b.k"
    return Query(rows, ["INT", "INT", "BIGINT"])


@st.composite
def _ranked(draw: st.DrawFn) -> Query:
    way, most = draw(st.sampled_from(("ASC", "DESC"))), draw(st.integers(1, 3))
    if draw(st.booleans()):
        inner = f"SELECT id, k, v, ROW_NUMBER() OVER (PARTITION BY k ORDER BY v {way}, id) AS n FROM t"
        columns, types = draw(st.sampled_from((("id, k, v", 3), ("n, id, k", 3))))
        return Query(
            f"SELECT {columns} FROM ({inner}) WHERE n <= {most}",
            ["INT"] * types if "n" not in columns else ["BIGINT", "INT", "INT"],
        )
    sums = "SELECT k, s, COUNT(*) AS c FROM t GROUP BY k, s"
    inner = f"SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY c {way}, s) AS n FROM ({sums})"
    return Query(f"SELECT k, s, c FROM ({inner}) WHERE n <= {most}", ["INT", "STRING", "BIGINT"])


@st.composite
def _deduplicated(draw: st.DrawFn) -> Query:
    way = draw(st.sampled_from(("ASC", "DESC")))
    inner = f"SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts {way}) AS n FROM t"
    return Query(f"SELECT id, k, v FROM ({inner}) WHERE n = 1", ["INT"] * 3)


_WINDOWS = (
    "TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '{0}' SECOND)",
    "HOP(TABLE t, DESCRIPTOR(ts), INTERVAL '{0}' SECOND, INTERVAL '{1}' SECOND)",
    "CUMULATE(TABLE t, DESCRIPTOR(ts), INTERVAL '{0}' SECOND, INTERVAL '{1}' SECOND)",
    "SESSION(TABLE t PARTITION BY k, DESCRIPTOR(ts), INTERVAL '{0}' SECOND)",
)


@st.composite
def _windows(draw: st.DrawFn) -> Query:
    calls, types = _calls(draw, _CALLS)
    step = draw(_SECONDS)
    window = draw(st.sampled_from(_WINDOWS))
    placed = window.format(step, step * draw(st.integers(2, 3)))
    rows = f"SELECT k, window_start, window_end, {calls} FROM TABLE({placed}) GROUP BY k, window_start, window_end"
    return Query(rows, ["INT", "TIMESTAMP(3)", "TIMESTAMP(3)", *types])


@st.composite
def _older_windows(draw: st.DrawFn) -> Query:
    calls, types = _calls(draw, _CALLS)
    seconds = draw(_SECONDS)
    window = draw(
        st.sampled_from(
            (
                f"TUMBLE(ts, INTERVAL '{seconds}' SECOND)",
                f"HOP(ts, INTERVAL '{seconds}' SECOND, INTERVAL '{2 * seconds}' SECOND)",
                f"SESSION(ts, INTERVAL '{seconds}' SECOND)",
            )
        )
    )
    return Query(f"SELECT k, {calls} FROM t GROUP BY k, {window}", ["INT", *types])


@st.composite
def _ranked_in_windows(draw: st.DrawFn) -> Query:
    window = f"TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '{draw(_SECONDS)}' SECOND)"
    number = "ROW_NUMBER() OVER (PARTITION BY window_start, window_end, k ORDER BY v DESC, id)"
    inner = f"SELECT *, {number} AS n FROM TABLE({window})"
    return Query(f"SELECT window_end, id, k FROM ({inner}) WHERE n <= 2", ["TIMESTAMP(3)", "INT", "INT"])


@st.composite
def _joined_windows(draw: st.DrawFn) -> Query:
    seconds, kind = draw(_SECONDS), draw(st.sampled_from(("", "LEFT ", "FULL ")))
    sides = [f"TABLE(TUMBLE(TABLE {name}, DESCRIPTOR(ts), INTERVAL '{seconds}' SECOND))" for name in ("t", "u")]
    same = "a.k = b.k AND a.window_start = b.window_start AND a.window_end = b.window_end"
    rows = f"SELECT a.id, b.id, a.v, b.w FROM (SELECT * FROM {sides[0]}) a {kind}JOIN (SELECT * FROM {sides[1]}) b"
    return Query(f"{rows} ON {same}", ["INT"] * 4)


@st.composite
def _over(draw: st.DrawFn) -> Query:
    frame = draw(
        st.sampled_from(
            (
                "ROWS BETWEEN 2 PRECEDING AND CURRENT ROW",
                "ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW",
                "RANGE BETWEEN INTERVAL '4' SECOND PRECEDING AND CURRENT ROW",
                "RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW",
            )
        )
    )
    calls = draw(st.lists(st.sampled_from(("COUNT(*)", "SUM(v)", "AVG(v)")), min_size=1, max_size=3, unique=True))
    named = ", ".join(f"{call} OVER w" for call in calls)
    rows = f"SELECT id, k, {named} FROM t WINDOW w AS (PARTITION BY k ORDER BY ts {frame})"
    return Query(rows, ["INT", "INT", *(_CALLS[call] for call in calls)])


@st.composite
def _joined_by_time(draw: st.DrawFn) -> Query:
    kind = draw(st.sampled_from(("", "LEFT ", "FULL ")))
    time = "t.ts BETWEEN u.ts - INTERVAL '3' SECOND AND u.ts + INTERVAL '2' SECOND"
    return Query(f"SELECT t.id, u.id, t.v, u.w FROM t {kind}JOIN u ON t.k = u.k AND {time}", ["INT"] * 4)


@st.composite
def _united(draw: st.DrawFn) -> Query:
    calls, types = _calls(draw, _CALLS)
    rows = "SELECT k, v, s FROM t UNION ALL SELECT k, w, CAST(NULL AS STRING) FROM u"
    return Query(f"SELECT k, {calls} FROM ({rows}) GROUP BY k", ["INT", *types])


_QUERIES = st.one_of(
    _groups(),
    _groups_of_groups(),
    _joined(),
    _matched(),
    _joined_groups(),
    _ranked(),
    _deduplicated(),
    _windows(),
    _older_windows(),
    _ranked_in_windows(),
    _joined_windows(),
    _over(),
    _joined_by_time(),
    _united(),
)

_MINI_BATCH = {
    "table.exec.mini-batch.enabled": "true",
    "table.exec.mini-batch.allow-latency": "1 s",
    "table.exec.mini-batch.size": "5",
}
_OPTIONS = st.sampled_from(
    (
        {},
        _MINI_BATCH,
        {**_MINI_BATCH, "table.optimizer.agg-phase-strategy": "TWO_PHASE"},
        {"table.optimizer.agg-phase-strategy": "ONE_PHASE"},
        {"table.exec.state.ttl": "1 d"},
    )
)


@st.composite
def _rows(draw: st.DrawFn, table: str) -> list[dict[str, object]]:
    number = draw(st.sampled_from((10, 14, 18, 24)))
    rows: list[dict[str, object]] = []
    for i in range(number):
        time = _START + timedelta(seconds=_JITTER + i + draw(st.integers(-_JITTER, _JITTER)))
        row: dict[str, object] = {"id": i, "k": draw(st.sampled_from((0, 1, 2, None)))}
        row["w" if table == "u" else "v"] = draw(st.one_of(st.none(), st.integers(-3, 6)))
        if table == "t":
            row["s"] = draw(st.sampled_from(("a", "b", "c", None)))
        rows.append({**row, "ts": f"{time:%Y-%m-%d %H:%M:%S}"})
    return rows


@st.composite
def _pipelines(draw: st.DrawFn) -> Pipeline:
    query = draw(_QUERIES)
    rows = {name: draw(_rows(name)) for name in _TABLES if re.search(rf"\b(FROM|JOIN|TABLE) {name}\b", query.sql)}
    return Pipeline(
        query, draw(_OPTIONS), rows, draw(st.sampled_from((0.25, 0.4, 0.5, 0.6, 0.75))), draw(st.sampled_from(ENGINES))
    )


def pipelines(number: int, chosen_seed: int) -> list[Pipeline]:
    """So many pipelines, the same for the same seed."""
    drawn: list[Pipeline] = []

    @seed(chosen_seed)
    @settings(
        max_examples=_DRAWN_FOR_ONE * number,
        database=None,
        phases=[Phase.generate],
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(_pipelines())
    def collect(pipeline: Pipeline) -> None:
        drawn.append(pipeline)

    collect()
    return random.Random(chosen_seed).sample(drawn, min(number, len(drawn)))
