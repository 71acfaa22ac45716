"""Jobs: their modes, their sinks, what they tell, and what happens when they fail."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import pytest

from flinkplan.executor.errors import ExecutionError, TableError
from flinkplan.executor.jobs.job import JobOptions, execute
from flinkplan.executor.jvm.session import PARTITIONS, TRACK_ROWS, Lifetime
from flinkplan.executor.prepare.modes import Mode
from flinkplan.plan.errors import FlinkplanError, PlanError
from flinkplan.plan.record import replace
from flinkplan.planner import compile_script
from flinkplan.state.checkpoint import CheckpointInUseError

from .jobs import Place, count, counts_by_minute, event, stream_of
from .plans import BLACKHOLE, passthrough, pipeline, scan, sink_node

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


@pytest.mark.parametrize(
    ("single", "mode", "limit", "lifetime"),
    [
        (True, None, 16, Lifetime.SECONDS),
        (True, Mode.AVAILABLE_NOW, 16, Lifetime.SECONDS),
        (True, Mode.STREAMING, 16, Lifetime.OPEN),
        (True, None, 1, Lifetime.JOB),
        (False, None, 16, Lifetime.OPEN),
    ],
)
def test_a_jvm_is_started_for_what_is_to_run(
    single: bool, mode: Mode | None, limit: int, lifetime: Lifetime, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def session(*_: object, lifetime: Lifetime, lean: bool) -> SparkSession:
        asked.append((lifetime, lean))
        return place.spark

    monkeypatch.setattr("flinkplan.executor.jobs.job.session", session)
    monkeypatch.setattr("flinkplan.executor.prepare.known.input_size.SMALL_INPUT", limit)
    place.put("rows", {"a": 1})
    checkpoint = str(place.root / "checkpoint")
    execute(
        passthrough(place.files("in")), JobOptions(checkpoint=checkpoint, mode=mode, single=single, lean=True)
    ).stop()
    assert asked == [(lifetime, True)]


@pytest.mark.parametrize("type_", ["MAP<INT, INT>", "ROW<`m` ARRAY<MULTISET<DATE>>>"])
def test_keys_of_json_objects_are_texts(type_: str, place: Place) -> None:
    fields = (("m", type_),)
    for source, sink in ((place.files("in"), BLACKHOLE), ({"connector": "datagen"}, place.files("out"))):
        with pytest.raises(TableError, match=r"the keys of JSON objects are texts, but 'm' is") as e:
            place.run(passthrough(source, sink, fields))
        assert "table " in str(e.value)


def test_a_contradiction_within_a_plan_names_the_node(place: Place) -> None:
    column = {"kind": "INPUT_REF", "inputIndex": 0, "type": "BOOLEAN"}
    calc = {"type": "stream-exec-calc_1", "projection": [column], "condition": column, "outputType": "ROW<`a` BOOLEAN>"}
    source, sink = (
        scan(BLACKHOLE | {"connector": "datagen"}, (("a", "INT"),)),
        sink_node(BLACKHOLE, (("a", "BOOLEAN"),)),
    )
    with pytest.raises(PlanError, match="Spark finds a contradiction in it") as e:
        place.run(pipeline([source, {**calc, "description": ""}, sink]))
    assert e.value.where == "node 2 (stream-exec-calc_1)"


def test_the_end_of_bounded_input_closes_all_windows(place: Place) -> None:
    place.put("1", event("10:00:01"), event("10:00:02"), event("10:05:00"))
    place.run(counts_by_minute(place))
    assert place.rows() == [count(2, "10:00:00"), count(1, "10:05:00")]


@pytest.mark.parametrize("mode", [Mode.BOUNDED, Mode.AVAILABLE_NOW])
def test_a_job_leaves_the_settings_of_its_session(mode: Mode, place: Place) -> None:
    place.put("1", event("10:00:01"))
    before = place.spark.conf.getAll
    place.run(counts_by_minute(place), mode, streams=True)
    assert place.spark.conf.getAll == before


def test_rows_behind_the_watermark_are_dropped_as_they_come(place: Place) -> None:
    place.put("1", event("10:00:01"), event("10:01:09"), event("10:00:02"), event("10:01:10.5"), event("10:00:03"))
    place.run(counts_by_minute(place))
    assert place.rows() == [count(2, "10:00:00"), count(2, "10:01:00")]


def test_windows_stay_open_for_the_next_run(place: Place) -> None:
    plan = counts_by_minute(place)
    place.put("1", event("10:00:01"), event("10:01:01"))
    place.run(plan, Mode.AVAILABLE_NOW)
    assert place.rows() == []
    place.put("2", event("10:00:02"), event("10:01:30"))
    place.run(plan, Mode.AVAILABLE_NOW)
    assert place.rows() == [count(2, "10:00:00")]
    place.put("3", event("10:00:03"), event("10:01:40"), event("10:02:30"))
    place.run(plan, Mode.AVAILABLE_NOW)
    assert place.rows() == [count(2, "10:00:00"), count(3, "10:01:00")]


def test_windows_left_open_close_at_the_end_of_the_input(place: Place) -> None:
    plan = counts_by_minute(place)
    place.put("1", event("10:00:01"))
    place.run(plan, Mode.AVAILABLE_NOW)
    place.put("2", event("10:00:02"))
    place.run(plan, Mode.BOUNDED)
    assert place.rows() == [count(2, "10:00:00")]
    with pytest.raises(FlinkplanError, match="was ending its input"):
        place.run(plan, Mode.AVAILABLE_NOW)


def test_a_second_job_on_the_checkpoint_is_refused(place: Place) -> None:
    plan = counts_by_minute(place)
    job = place.start(plan, Mode.STREAMING)
    try:
        with pytest.raises(CheckpointInUseError):
            place.start(plan, Mode.STREAMING)
    finally:
        job.stop()
    place.start(plan, Mode.STREAMING).stop()


def test_a_streaming_job_goes_on_where_it_was_stopped(place: Place) -> None:
    plan = counts_by_minute(place)
    place.put("1", event("10:00:01"))
    first = place.start(plan, Mode.STREAMING)
    stream_of(first).handle.processAllAvailable()
    first.stop()
    place.put("2", event("10:00:30"), event("10:02:00"))
    second = place.start(plan, Mode.STREAMING)
    stream_of(second).handle.processAllAvailable()
    second.stop()
    assert place.rows() == [count(2, "10:00:00")]


def test_files_are_read_in_the_order_of_their_names(place: Place) -> None:
    place.put("2", "c", "d")
    place.put("1", "a", "b")
    line = (("line", "STRING"),)
    place.run(passthrough(place.files("in", "raw"), place.files("out", "raw"), line))
    assert place.lines() == ["a", "b", "c", "d"]


@pytest.mark.parametrize("format_", ["json", "parquet"])
def test_a_batch_takes_up_as_many_files_as_it_may(format_: str, place: Place) -> None:
    for number in range(5):
        place.put(str(number), {"a": number})
        if format_ == "parquet":
            place.run(passthrough(place.files("in"), place.files("kept", format_)), Mode.AVAILABLE_NOW)
    place.progress.clear()
    how = JobOptions(checkpoint=str(place.root / "limited"), mode=Mode.AVAILABLE_NOW, listener=place)
    source = place.files("in") if format_ == "json" else place.files("kept", format_)
    execute(passthrough(source), replace(how, spark=place.spark, files_per_batch=2)).wait()
    assert [p.rows_read for p in place.progress] == [2, 2, 1]


def test_windows_close_while_files_are_still_taken_up(place: Place) -> None:
    for minute in range(4):
        place.put(str(minute), event(f"10:0{minute}:01"), event(f"10:0{minute}:50"))
    how = JobOptions(checkpoint=str(place.root / "checkpoint"), mode=Mode.AVAILABLE_NOW, listener=place)
    execute(counts_by_minute(place), replace(how, spark=place.spark, files_per_batch=1)).wait()
    assert [(p.rows_read, p.rows_written) for p in place.progress] == [(2, 0), (2, 0), (2, 1), (2, 1), (0, 1)]
    assert place.rows() == [count(2, f"10:0{minute}:00") for minute in range(3)]


def test_progress_is_told_batch_by_batch(place: Place) -> None:
    place.put("1", event("10:00:01"), event("10:05:00"))
    place.run(counts_by_minute(place), streams=True)
    assert [(p.sink, p.batch, p.watermark) for p in place.progress] == [
        ("sink", 0, None),
        ("sink", 1, "end of input"),
    ]
    assert [p.rows_read for p in place.progress] == [2, 0], "what ends the input is no row"
    assert [p.rows_written for p in place.progress] == [0, 2]
    (operator,) = place.progress[0].operators
    assert (operator.name, operator.node, operator.type) == ("window-aggregate", 3, "stream-exec-window-aggregate_1")
    assert (operator.state_rows, operator.updated_rows) == (None, 2)
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT[\d:]{8}\.\d{3}Z", p.time) for p in place.progress)


def test_rows_of_state_are_counted_on_request(place: Place) -> None:
    """State that was counted is gone on with uncounted, and the other way round."""
    plan = counts_by_minute(place)
    for number, tracks in enumerate(("true", "false", "true")):
        place.spark.conf.set(TRACK_ROWS, tracks)
        place.put(str(number), event(f"10:0{number}:01"), event(f"10:0{number}:02"))
        place.run(plan, Mode.AVAILABLE_NOW)
    place.spark.conf.set(TRACK_ROWS, "false")
    rows = [o.state_rows for p in place.progress for o in p.operators if p.rows_read]
    assert (rows[0], rows[1]) == (1, None)
    place.run(plan, Mode.BOUNDED)
    assert place.rows() == [count(2, f"10:0{number}:00") for number in range(3)]


LATE = """\
CREATE TABLE t (ts TIMESTAMP(3), k STRING, WATERMARK FOR ts AS ts - INTERVAL '10' SECOND)
  WITH ('connector' = 'filesystem', 'path' = '{root}/in', 'format' = 'json');
CREATE TABLE o (n BIGINT) WITH ('connector' = 'filesystem', 'path' = '{root}/out', 'format' = 'json');
INSERT INTO o {query};
"""
HOP = (
    "FROM TABLE(HOP(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '2' MINUTE)) "
    "GROUP BY window_start, window_end"
)


@pytest.mark.parametrize(
    ("query", "dropped", "name"),
    [
        pytest.param(f"SELECT COUNT(*) {HOP}", 1, "global-window-aggregate", id="native"),
        pytest.param(f"SELECT COUNT(DISTINCT k) {HOP}", 1, "global-window-aggregate", id="kernel"),
        pytest.param("SELECT COUNT(*) OVER (PARTITION BY k ORDER BY ts) FROM t", 3, "over-aggregate", id="rows"),
    ],
)
def test_rows_that_come_too_late_are_counted(place: Place, query: str, dropped: int, name: str) -> None:
    """Once each, and not where a later window still takes them."""
    late = [event("10:00:03"), event("10:00:04"), event("10:05:00"), event("10:00:05")]
    place.put("1", event("10:00:01"), event("10:01:10.5"), *late)
    place.run(compile_script(LATE.format(root=place.root, query=query)))
    assert sum(p.rows_dropped for p in place.progress) == dropped
    assert {o.name: o.dropped_rows for o in place.progress[0].operators} == {name: dropped}


def test_waiting_is_no_batch(place: Place) -> None:
    """Spark reports after each trigger without rows, under the number of the batch to come."""
    place.spark.conf.set("spark.sql.streaming.noDataProgressEventInterval", "0")
    watched = place.files("in") | {"source.monitor-interval": "100 ms"}
    place.put("0", {"a": 0})
    job = place.start(passthrough(watched, place.files("out")), Mode.STREAMING)
    try:
        for number in range(1, 4):
            while sum(p.rows_read for p in place.progress) < number:
                job.wait(0.1)
            while (report := stream_of(job).handle.lastProgress) is None or "addBatch" in report.durationMs:
                job.wait(0.1)
            place.put(str(number), {"a": number})
    finally:
        job.stop()
        place.spark.conf.unset("spark.sql.streaming.noDataProgressEventInterval")
    assert [(p.batch, p.rows_read) for p in place.progress[:3]] == [(0, 1), (1, 1), (2, 1)]


def test_malformed_input_fails_the_job_by_its_text(place: Place) -> None:
    place.put("1", {"a": 1}, "", {"a": "x"})
    with pytest.raises(ExecutionError) as caught:
        place.run(passthrough(place.files("in"), place.files("out")))
    assert caught.value.message.startswith(
        'Failed to deserialize JSON \'{"a": "x"}\'.: Fail to deserialize at field: a.'
    )
    assert caught.value.where == f"{place.root}/in/1:3"


def test_a_line_behind_which_reading_starts_is_numbered(place: Place) -> None:
    place.put("1", *({"a": a} for a in range(1000)), {"a": "x" * 100_000})
    place.spark.conf.set("spark.sql.files.minPartitionNum", "30")
    with pytest.raises(ExecutionError) as caught:
        place.run(passthrough(place.files("in"), place.files("out")))
    place.spark.conf.unset("spark.sql.files.minPartitionNum")
    assert caught.value.where == f"{place.root}/in/1:1001"
    assert len(caught.value.message) < 2000


@pytest.mark.parametrize("format_", ["json", "orc", "parquet"])
def test_a_missing_folder_is_named(place: Place, format_: str) -> None:
    with pytest.raises(TableError, match=r"there is nothing to read at .*/nowhere"):
        place.run(passthrough(place.files("nowhere", format_), place.files("out")))


def test_made_up_rows_end_with_their_sequence(place: Place) -> None:
    made = {"connector": "datagen", "fields.a.kind": "sequence", "fields.a.start": "3", "fields.a.end": "5"}
    place.run(passthrough(made, place.files("out")))
    assert place.rows() == [{"a": 3}, {"a": 4}, {"a": 5}]


CHANGES: Sequence[tuple[str, list[object], list[tuple[str, int]]]] = [
    (
        "debezium-json",
        [
            {"before": None, "after": {"a": 1}, "op": "c"},
            {"before": {"a": 1}, "after": {"a": 2}, "op": "u"},
            {"before": {"a": 2}, "after": None, "op": "d"},
        ],
        [("c", 1), ("d", 1), ("c", 2), ("d", 2)],
    ),
    (
        "canal-json",
        [
            {"data": [{"a": "1"}, {"a": "5"}], "type": "INSERT"},
            {"data": [{"a": "2"}], "old": [{"a": "1"}], "type": "UPDATE"},
            {"data": [{"a": "2"}], "type": "DELETE"},
            {"type": "CREATE"},
        ],
        [("c", 1), ("c", 5), ("d", 1), ("c", 2), ("d", 2)],
    ),
    (
        "maxwell-json",
        [
            {"data": {"a": 1}, "type": "insert"},
            {"data": {"a": 2}, "old": {"a": 1}, "type": "update"},
            {"data": {"a": 2}, "type": "delete"},
        ],
        [("c", 1), ("d", 1), ("c", 2), ("d", 2)],
    ),
    (
        "ogg-json",
        [
            {"after": {"a": 1}, "op_type": "I"},
            {"before": {"a": 1}, "after": {"a": 2}, "op_type": "U"},
            {"before": {"a": 2}, "op_type": "D"},
        ],
        [("c", 1), ("d", 1), ("c", 2), ("d", 2)],
    ),
]


@pytest.mark.parametrize(("format_", "messages", "changes"), CHANGES, ids=[c[0] for c in CHANGES])
def test_changes_are_read(place: Place, format_: str, messages: list[object], changes: list[tuple[str, int]]) -> None:
    place.put("1", *messages)
    place.run(passthrough(place.files("in", format_), place.files("out", "debezium-json")))
    assert [(r["op"], (r["after"] or r["before"])["a"]) for r in place.rows()] == changes


@pytest.mark.parametrize(
    ("format_", "message"),
    [
        ("debezium-json", {"op": "t"}),
        ("canal-json", {"type": "ALTER"}),
        ("maxwell-json", {"type": "bootstrap-insert", "data": {"a": 1}}),
        ("ogg-json", {"op_type": "T"}),
    ],
)
def test_changes_of_other_kinds_fail(place: Place, format_: str, message: object) -> None:
    place.put("1", message)
    with pytest.raises(FlinkplanError, match="Unknown") as caught:
        place.run(passthrough(place.files("in", format_), place.files("out", "debezium-json")))
    assert "JSON message" in str(caught.value)


WRITTEN = [
    ("debezium-json", '{"before":null,"after":{"a":1},"op":"c"}', '{"before":{"a":1},"after":null,"op":"d"}'),
    ("canal-json", '{"data":[{"a":1}],"type":"INSERT"}', '{"data":[{"a":1}],"type":"DELETE"}'),
    ("maxwell-json", '{"data":{"a":1},"type":"insert"}', '{"data":{"a":1},"type":"delete"}'),
    ("ogg-json", '{"before":null,"after":{"a":1},"op_type":"I"}', '{"before":{"a":1},"after":null,"op_type":"D"}'),
]


@pytest.mark.parametrize(("format_", "insert", "delete"), WRITTEN, ids=[w[0] for w in WRITTEN])
def test_changes_are_written(place: Place, format_: str, insert: str, delete: str) -> None:
    place.put("1", {"after": {"a": 1}, "op": "c"}, {"before": {"a": 1}, "op": "d"})
    place.run(passthrough(place.files("in", "debezium-json"), place.files("out", format_)))
    assert place.lines() == [insert, delete]


@pytest.mark.parametrize(
    ("format_", "options"),
    [
        ("parquet", {"parquet.compression": "GZIP", "parquet.enable.dictionary": "false"}),
        ("orc", {"orc.compress": "ZLIB", "orc.stripe.size": "2000000"}),
    ],
)
def test_columnar_files_are_written_and_read(place: Place, format_: str, options: dict[str, str]) -> None:
    from pyarrow import orc, parquet

    place.put("1", {"a": 1}, {"a": 2})
    fields = (("a", "INT"),)
    middle = place.files("middle", format_) | options
    execute(passthrough(place.files("in"), middle, fields), JobOptions(spark=place.spark)).wait()
    (file,) = (place.root / "middle").glob(f"*.{format_}")
    if format_ == "parquet":
        column = parquet.ParquetFile(file).metadata.row_group(0).column(0)
        assert (column.compression, column.has_dictionary_page) == ("GZIP", False)
    else:
        assert orc.ORCFile(file).compression == "ZLIB"
    place.run(passthrough(place.files("middle", format_), place.files("out"), fields))
    assert place.rows() == [{"a": 1}, {"a": 2}]


@pytest.fixture
def two_partitions(spark: SparkSession) -> Iterator[None]:
    """Shuffles in the session that all tests share are into two partitions."""
    before = spark.conf.get(PARTITIONS)
    assert before is not None
    spark.conf.set(PARTITIONS, "2")
    yield
    spark.conf.set(PARTITIONS, before)


@pytest.mark.usefixtures("two_partitions")
def test_the_changes_of_a_key_stay_together_in_a_table_that_declares_none(place: Place) -> None:
    watched = f"'connector' = 'filesystem', 'path' = '{place.root / 'in'}', 'format' = 'json'"
    out = f"'connector' = 'filesystem', 'path' = '{place.root / 'out'}', 'format' = 'debezium-json'"
    plan = compile_script(
        f"CREATE TABLE t (k INT) WITH ({watched}); CREATE TABLE o (k INT, n BIGINT) WITH ({out});"
        "INSERT INTO o SELECT k, COUNT(*) FROM t GROUP BY k;"
    )
    keys = range(10)
    place.put("1", *({"k": k} for k in keys))
    place.run(plan, Mode.AVAILABLE_NOW)
    before = {*(place.root / "out").iterdir()}
    place.put("2", *({"k": k} for k in keys))
    place.run(plan, Mode.AVAILABLE_NOW)

    changes = [
        [(change["op"], *(change["after"] or change["before"]).values()) for change in map(json.loads, lines)]
        for lines in (file.read_text().splitlines() for file in {*(place.root / "out").iterdir()} - before)
    ]
    assert len(changes) == 2
    pairs = [pair for file in changes for pair in zip(file[::2], file[1::2], strict=True)]
    assert sorted(pairs) == [(("d", k, 1), ("c", k, 2)) for k in keys]
