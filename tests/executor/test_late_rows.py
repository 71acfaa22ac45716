"""Which rows are late does not go by where batches begin and end, nor by where a job was started again."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from flinkplan.executor.jobs.job import ExecutionError, JobOptions, execute
from flinkplan.executor.jobs.progress import QueryProgress
from flinkplan.executor.prepare.modes import Mode
from flinkplan.executor.prepare.python_classes import PythonCode
from flinkplan.planner import compile_script

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

NO_CODE = PythonCode()
TABLE = """\
CREATE TABLE {} (ts TIMESTAMP(3), v INT, WATERMARK FOR ts AS ts - INTERVAL '10' SECOND)
  WITH ('connector' = 'filesystem', 'path' = '${{ROOT}}/{}', 'format' = 'json');
"""
SINK = """\
CREATE TABLE o (w STRING, n BIGINT) WITH ('connector' = 'filesystem', 'path' = '${ROOT}/o', 'format' = 'json');
"""
WINDOWS = {
    "tumble": "TUMBLE(TABLE {}, DESCRIPTOR(ts), INTERVAL '1' MINUTE)",
    "hop": "HOP(TABLE {}, DESCRIPTOR(ts), INTERVAL '30' SECOND, INTERVAL '1' MINUTE)",
    "cumulate": "CUMULATE(TABLE {}, DESCRIPTOR(ts), INTERVAL '20' SECOND, INTERVAL '1' MINUTE)",
}
CALLS = {"native": "COUNT(*)", "kernel": "COUNT(*) + 0 * COUNT(DISTINCT v)"}
LATE_FIRST = (("10:00:05", "10:00:50", "10:02:30"), ("10:00:40", "10:02:40", "10:01:59"), ("10:02:05", "10:00:01"))
"""Files, each of which but the first begins with rows that are late by those before."""


def windows(table: str, window: str, calls: str) -> str:
    """How many rows each window has, by its end."""
    return (
        f"SELECT CAST(window_end AS STRING), {CALLS[calls]} FROM TABLE({WINDOWS[window].format(table)}) "
        "GROUP BY window_start, window_end"
    )


class Feed:
    """A query over tables whose files come one after another, each in a batch of its own."""

    def __init__(
        self,
        query: str,
        tables: str,
        root: Path,
        spark: SparkSession,
        code: PythonCode = NO_CODE,
        views: str = "",
    ) -> None:
        self._code = code
        is_spec = query.startswith("{")
        script = f"{''.join(TABLE.format(t, t) for t in tables)}{SINK}{views}INSERT INTO o {query};"
        self._plan = (
            compile_script(query, file=str(root.parent / "windows.yaml")) if is_spec else compile_script(script)
        )
        self._spark = spark
        self.root = root
        self.dropped = 0
        self.lateness: dict[str, int] = {}
        for table in tables:
            (root / table).mkdir(parents=True)

    def batch_done(self, progress: QueryProgress) -> None:
        self.dropped += progress.rows_dropped
        for operator in progress.operators:
            if operator.lateness_ms is not None:
                self.lateness[operator.name] = operator.lateness_ms

    def put(self, table: str, *times: str, date: str = "2024-01-01") -> None:
        file = self.root / table / f"{len(list((self.root / table).iterdir())):03}"
        file.write_text("".join(json.dumps({"ts": f"{date} {t}", "v": 1}) + "\n" for t in times))

    def run(self, mode: Mode = Mode.AVAILABLE_NOW) -> None:
        options = JobOptions(
            checkpoint=str(self.root / "checkpoint"),
            mode=mode,
            variables={"ROOT": str(self.root)},
            files_per_batch=1,
            listener=self,
            spark=self._spark,
            python=self._code,
        )
        execute(self._plan, options).wait()

    def rows(self) -> list[tuple[str, int]]:
        files = (p for p in (self.root / "o").rglob("*") if p.is_file() and not p.name.startswith("."))
        rows = (json.loads(line) for file in files for line in file.read_text().splitlines())
        return sorted((row["w"][11:19], row["n"]) for row in rows)

    @property
    def progress(self) -> Path:
        """Where Spark keeps the progress of the query."""
        (commits,) = (self.root / "checkpoint").rglob("commits")
        return commits.parent


@pytest.mark.parametrize(
    "restarts",
    [
        pytest.param(False, id="in one run", marks=pytest.mark.nightly("the same rows come over restarts, one by one")),
        pytest.param(True, id="over restarts"),
    ],
)
def test_spark_drops_what_a_kernel_drops(restarts: bool, tmp_path: Path, spark: SparkSession) -> None:
    queries = {calls: " UNION ALL ".join(windows("a", window, calls) for window in WINDOWS) for calls in CALLS}
    found = {}
    for calls, query in queries.items():
        feed = Feed(query, "a", tmp_path / calls, spark)
        for times in LATE_FIRST:
            feed.put("a", *times)
            if restarts:
                feed.run()
        if not restarts:
            feed.run()
        feed.run(Mode.BOUNDED)
        found[calls] = feed.rows(), feed.dropped
        assert set(feed.lateness.values()) == {90_001}  # of 10:00:01 behind 10:02:40
    at_once = Feed(queries["kernel"], "a", tmp_path / "at once", spark)
    at_once.put("a", *(time for times in LATE_FIRST for time in times))
    at_once.run(Mode.BOUNDED)
    assert at_once.dropped > 0
    assert found == dict.fromkeys(CALLS, (at_once.rows(), at_once.dropped))


@pytest.mark.parametrize("calls", CALLS)
def test_no_row_is_late_before_1970_where_watermarks_begin(calls: str, tmp_path: Path, spark: SparkSession) -> None:
    feed = Feed(windows("a", "tumble", calls), "a", tmp_path, spark)
    feed.put("a", "10:00:05", "10:05:00", date="1969-12-31")
    feed.put("a", "10:00:50", date="1969-12-31")
    feed.run(Mode.BOUNDED)
    assert (feed.rows(), feed.dropped) == ([("10:01:00", 2), ("10:06:00", 1)], 0)


OVER = """\
CREATE TEMPORARY VIEW r AS
SELECT ts, v, COUNT(*) OVER (PARTITION BY v ORDER BY ts ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS n FROM a;
"""
LATE_BEHIND_OVER = ("10:00:05", "10:02:30", "10:01:20", "10:01:10", "10:01:50", "10:02:40", "10:03:30")
"""Three rows that are late at the same watermark, all after the last row of their key that has come out."""


@pytest.mark.parametrize(
    "per_file", [pytest.param(1, marks=pytest.mark.nightly("batches of two rows divide them as well")), 2, 7]
)
def test_windows_count_each_late_row_that_a_bounded_over_window_lets_through(
    per_file: int, tmp_path: Path, spark: SparkSession
) -> None:
    query = " UNION ALL ".join(windows("r", window, "kernel") for window in ("tumble", "hop"))
    feed = Feed(query, "a", tmp_path, spark, views=OVER)
    for start in range(0, len(LATE_BEHIND_OVER), per_file):
        feed.put("a", *LATE_BEHIND_OVER[start : start + per_file])
    if per_file < len(LATE_BEHIND_OVER):
        feed.run()
    feed.run(Mode.BOUNDED)
    tumble = [("10:01:00", 1), ("10:03:00", 2), ("10:04:00", 1)]
    hop = [("10:00:30", 1), ("10:01:00", 1), ("10:02:30", 1), ("10:03:00", 2), ("10:03:30", 2)]
    hop += [("10:04:00", 1), ("10:04:30", 1)]
    assert (feed.rows(), feed.dropped) == (sorted(tumble + hop), 3 + 2)


FILES = {"connector": "filesystem", "format": "json"}
SPEC = {
    "version": 1,
    "tables": {
        "a": {
            "columns": {"ts": "TIMESTAMP(3)", "v": "INT"},
            "watermark": {"column": "ts", "as": "ts - INTERVAL '10' SECOND"},
            "with": FILES | {"path": "${ROOT}/a"},
        },
        "o": {"columns": {"w": "STRING", "n": "BIGINT"}, "with": FILES | {"path": "${ROOT}/o"}},
    },
    "inserts": [{"into": "o", "query": "SELECT CAST(window_end AS STRING), n FROM counts"}],
}
WINDOW = {"from": "a", "key-by": ["v"], "assign": {"tumbling": "1 min"}}
CLASSES = """\
from flinkplan.datastream import ProcessWindowFunction

class Count(ProcessWindowFunction):
    def process(self, key, context, elements):
        yield (len(elements),)
"""
FUNCTIONS = {
    "kernel": {"aggregate": {"n": "COUNT(*)"}},
    "python": {"process": {"class": "functions:Count", "columns": {"n": "BIGINT"}}},
}


@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
def test_a_window_of_the_datastream_api_counts_what_it_drops(
    function: dict[str, object], tmp_path: Path, spark: SparkSession
) -> None:
    code = tmp_path / "functions.py"
    code.write_text(CLASSES)
    spec = json.dumps({**SPEC, "windows": {"counts": WINDOW | function}})
    found = []
    for name, mode in (("stream", Mode.AVAILABLE_NOW), ("at once", Mode.BOUNDED)):
        feed = Feed(spec, "a", tmp_path / name, spark, PythonCode(files=(str(code),)))
        feed.put("a", *LATE_FIRST[0], *LATE_FIRST[1])
        feed.put("a", *LATE_FIRST[2])
        feed.run(mode)
        found.append(feed.dropped)
    assert found == [3, 3]


TWO = [("10:01:00", 1), ("10:01:00", 2), ("10:06:00", 2)]
"""Of two sources: a row of the one is late by those before it, though the other is as early."""


def two_sources(calls: str, root: Path, spark: SparkSession) -> Feed:
    """One source is five minutes ahead of the other."""
    query = f"{windows('a', 'tumble', calls)} UNION ALL {windows('b', 'tumble', calls)}"
    feed = Feed(query, "ab", root, spark)
    feed.put("a", "10:00:05", "10:05:00")
    feed.put("b", "10:00:10")
    feed.run()
    feed.put("a", "10:00:30", "10:05:01")
    feed.put("b", "10:00:50")
    return feed


@pytest.mark.parametrize("calls", CALLS)
def test_each_of_two_sources_knows_its_own_watermark_after_a_restart(
    calls: str, tmp_path: Path, spark: SparkSession
) -> None:
    feed = two_sources(calls, tmp_path, spark)
    feed.run()
    feed.run(Mode.BOUNDED)
    assert (feed.rows(), feed.dropped) == (TWO, 1)


def test_a_batch_that_is_run_again_drops_the_same_rows(tmp_path: Path, spark: SparkSession) -> None:
    feed = two_sources("native", tmp_path, spark)
    feed.run()
    with_rows = sorted((feed.progress / "commits").glob("[0-9]*"), key=lambda path: int(path.name))[-2]
    for commit in (feed.progress / "commits").iterdir():
        if int(commit.name.strip(".").split(".")[0]) >= int(with_rows.name):
            commit.unlink()
    for later in (feed.progress / "offsets").iterdir():
        if int(later.name.strip(".").split(".")[0]) > int(with_rows.name):
            later.unlink()
    feed.dropped = 0
    feed.run()
    feed.run(Mode.BOUNDED)
    assert (feed.rows(), feed.dropped) == (TWO, 1)


def test_a_checkpoint_goes_on_that_has_no_watermarks_of_sources(tmp_path: Path, spark: SparkSession) -> None:
    """What Spark keeps is the lowest of all sources; of a single one that is its own."""
    feed = two_sources("native", tmp_path, spark)
    shutil.rmtree(feed.progress / "watermarks")
    feed.run()
    feed.run(Mode.BOUNDED)
    assert (feed.rows(), feed.dropped) == ([("10:01:00", 2), ("10:01:00", 2), ("10:06:00", 2)], 0)


def test_damaged_watermarks_of_sources_are_named(tmp_path: Path, spark: SparkSession) -> None:
    feed = two_sources("native", tmp_path, spark)
    for file in (feed.progress / "watermarks").iterdir():
        file.write_text("{")
    with pytest.raises(ExecutionError, match="does not tell how far the sources of the query were"):
        feed.run()


def test_the_first_row_of_a_batch_knows_the_watermark(tmp_path: Path, spark: SparkSession) -> None:
    feed = Feed("SELECT CAST(CURRENT_WATERMARK(ts) AS STRING), 0 FROM a", "a", tmp_path, spark)
    for time in ("10:00:05", "10:00:20", "10:00:12", "10:00:40"):
        feed.put("a", time)
    feed.run()
    files = sorted(p for p in (tmp_path / "o").rglob("part*"))
    known = [json.loads(line)["w"] for file in files for line in file.read_text().splitlines()]
    assert [None if w is None else w[11:19] for w in known] == [None, "09:59:55", "10:00:10", "10:00:10"]


def test_each_sink_of_a_batch_counts_the_late_rows_it_lacks(tmp_path: Path, spark: SparkSession) -> None:
    sinks = "".join(
        f"CREATE TABLE {sink} (w STRING, n BIGINT) "
        f"WITH ('connector' = 'filesystem', 'path' = '${{ROOT}}/{sink}', 'format' = 'json');\n"
        for sink in "op"
    )
    script = f"""{TABLE.format("a", "a")}{sinks}
        CREATE VIEW counts (w, n) AS {windows("a", "tumble", "kernel")};
        EXECUTE STATEMENT SET BEGIN
        INSERT INTO o SELECT * FROM counts;
        INSERT INTO p SELECT w, n + 1 FROM counts WHERE n > 0;
        END;"""
    dropped: Counter[str] = Counter()

    class Listener:
        def batch_done(self, progress: QueryProgress) -> None:
            dropped[progress.sink] += progress.rows_dropped

    (tmp_path / "a").mkdir()
    lines = [json.dumps({"ts": f"2024-01-01 {time}", "v": 1}) for time in ("10:00:05", "10:02:30", "10:00:40")]
    (tmp_path / "a" / "rows").write_text("\n".join(lines))
    options = JobOptions(
        checkpoint=str(tmp_path / "checkpoint"),
        mode=Mode.BOUNDED,
        variables={"ROOT": str(tmp_path)},
        listener=Listener(),
        spark=spark,
    )
    execute(compile_script(script), options).wait()
    assert dropped == {"o": 1, "p": 1}
