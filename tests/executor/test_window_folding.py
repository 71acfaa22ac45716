"""Windows whose rows are folded before they go to their keys: the same rows, the same state, the same late ones."""

from __future__ import annotations

import json
from typing import Any

import pytest

from flinkplan.executor.build.windows import folding as window_folding
from flinkplan.executor.jobs.job import JobOptions, execute
from flinkplan.executor.prepare import windows
from flinkplan.executor.prepare.modes import Mode
from flinkplan.plan.record import replace
from flinkplan.planner import compile_script

from .jobs import Place

pytestmark = pytest.mark.spark

PREPARED = "flinkplan.executor.prepare.windows"
KERNELS = "flinkplan.executor.build.windows.kernels"

TABLES = """\
CREATE TABLE t (ts TIMESTAMP(3), k STRING, v INT, WATERMARK FOR ts AS ts - INTERVAL '10' SECOND)
  WITH ('connector' = 'filesystem', 'path' = '{root}/in', 'format' = 'json');
CREATE TABLE o (q STRING, k STRING, e TIMESTAMP(3), n BIGINT, m INT)
  WITH ('connector' = 'filesystem', 'path' = '{root}/{out}', 'format' = 'json');
INSERT INTO o {queries};
"""
WINDOWS = {
    "tumble": "TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE)",
    "hop": "HOP(TABLE t, DESCRIPTOR(ts), INTERVAL '30' SECOND, INTERVAL '2' MINUTE)",
    "cumulate": "CUMULATE(TABLE t, DESCRIPTOR(ts), INTERVAL '20' SECOND, INTERVAL '1' MINUTE)",
}
QUERIES = {
    name: f"SELECT '{name}', k, window_end, COUNT(*), MAX(v) FROM TABLE({window}) GROUP BY k, window_start, window_end"
    for name, window in WINDOWS.items()
}
QUERIES["group hop"] = (
    "SELECT 'group hop', k, HOP_END(ts, INTERVAL '40' SECOND, INTERVAL '1' MINUTE), "
    "COUNT(v) FILTER (WHERE v > 1), SUM(v) FROM t GROUP BY k, HOP(ts, INTERVAL '40' SECOND, INTERVAL '1' MINUTE)"
)
QUERIES["twice"] = (
    "SELECT 'twice', k, e, MAX(n), MIN(m) FROM (SELECT k, window_start s, window_end e, window_time w, COUNT(*) n, "
    f"MAX(v) m FROM TABLE({WINDOWS['tumble']}) GROUP BY k, window_start, window_end, window_time) GROUP BY k, s, e"
)
# a call that no other operator's windows of the query can be Spark's own beside
QUERIES["beside"] = (
    "SELECT 'beside', k, window_end, COUNT(DISTINCT v), 0 "
    f"FROM TABLE({WINDOWS['tumble']}) GROUP BY k, window_start, window_end"
)
FOLDED = 6
"""How many windows are folded: all but those of the call beside, and two where they are read twice."""
FILES: tuple[list[tuple[str, str, int | None]], ...] = (
    [
        *(("10:00:01", "a", 1), ("10:00:05", "a", 3), ("10:00:59", "b", None), ("10:00:02", "a", 2)),
        *(("10:00:40", "a", 2), ("10:01:30", "a", 4), ("10:00:03", "a", 5), ("10:01:05", "b", 1)),
        *(("10:00:50", "b", 9), ("10:04:00", "a", 1)),
    ],
    [("10:00:10", "a", 6), ("10:03:55", "b", 7), ("10:02:00", "a", 8), ("10:09:00", "c", 2), ("10:08:59", "c", 2)],
)


def run(place: Place, out: str) -> None:
    """All queries as one, which costs a fraction of what each costs by itself."""
    plan = compile_script(TABLES.format(root=place.root, out=out, queries=" UNION ALL ".join(QUERIES.values())))
    options = JobOptions(checkpoint=str(place.root / f"of-{out}"), mode=Mode.AVAILABLE_NOW, listener=place)
    execute(plan, replace(options, spark=place.spark)).wait()


def written(place: Place, out: str) -> list[str]:
    files = sorted(f for f in (place.root / out).rglob("*") if f.is_file() and not f.name.startswith("."))
    return sorted(line for file in files for line in file.read_text().splitlines())


def test_rows_folded_by_window_come_to_the_same(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """From the first batch on, and over a checkpoint of rows that were not folded."""
    decide, fold_rows, folded = windows._folds_rows, window_folding.fold_rows, []

    def fold(*arguments: Any) -> Any:
        folded.append(fold_rows(*arguments))
        return folded[-1]

    monkeypatch.setattr(f"{KERNELS}.fold_rows", fold)
    dropped: dict[str, int] = {}
    for number, rows in enumerate(FILES):
        place.put(str(number), *({"ts": f"2024-01-01 {ts}", "k": k, "v": v} for ts, k, v in rows))
        for out, folds in (("never", False), ("changed", number > 0), ("always", True)):
            monkeypatch.setattr(f"{PREPARED}._folds_rows", decide if folds else lambda *_: False)
            place.progress.clear()
            folded.clear()
            run(place, out)
            assert len(folded) == (FOLDED if folds else 0)
            dropped[out] = dropped.get(out, 0) + sum(p.rows_dropped for p in place.progress)
    lines = written(place, "always")
    assert lines == written(place, "changed") == written(place, "never")
    assert {json.loads(line)["q"] for line in lines} == QUERIES.keys()
    assert dropped["always"] == dropped["changed"] == dropped["never"] > 0
