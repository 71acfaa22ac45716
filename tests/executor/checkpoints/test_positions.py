"""Where the sources of a moved job go on."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from pathlib import Path

import pytest

from flinkplan.executor.checkpoints.positions import (
    Ended,
    FilePart,
    Files,
    KafkaOffsets,
    Restarted,
    Sources,
    Start,
)
from flinkplan.executor.checkpoints.watermarks import source_watermarks
from flinkplan.plan.document import Plan
from flinkplan.plan.errors import FlinkplanError
from flinkplan.plan.nodes import GlobalWindowAggregate, TableSourceScan, Values, WatermarkAssigner
from flinkplan.plan.record import replace
from flinkplan.plan.uids import Uids
from flinkplan.planner import compile_script
from flinkplan.state.form import Manifest, OperatorState, SourcePosition, Split

SINK = "CREATE TABLE o (k INT) WITH ('connector' = 'blackhole');\nINSERT INTO o SELECT k FROM t;"
FILES = "'connector' = 'filesystem', 'path' = '/data'"
KAFKA = "'connector' = 'kafka', 'topic' = 'orders', 'properties.bootstrap.servers' = 'b:9092'"
UPSERTS = f"{KAFKA.replace('kafka', 'upsert-kafka', 1)}, 'key.format' = 'json', 'value.format' = 'json'"
DONE, PENDING = Split("file:/data/a", is_done=True), Split("file:/data/b", offset=0, end=80)


def plan_of(options: str, column: str = "k INT") -> Plan:
    return compile_script(f"CREATE TABLE t ({column}) WITH ({options});\n{SINK}")


def start(
    plan: Plan, position: SourcePosition | None, *, restarted: Collection[str] = (), is_finished: bool = False
) -> Start:
    (scan,) = (node for node in plan.nodes if isinstance(node, TableSourceScan))
    uid = f"{scan.id}_source"
    operator = OperatorState((), uid=uid, is_finished=is_finished)
    positions = () if position is None else (replace(position, uid=uid),)
    manifest = Manifest("flink", (operator,), positions=positions)
    return Sources(plan, manifest, restarted, {}, Uids()).starts()[scan.id]


def files(*splits: Split) -> SourcePosition:
    return SourcePosition(None, None, "filesystem", splits)


def topics(*splits: Split) -> SourcePosition:
    return SourcePosition(None, None, "kafka", splits)


def test_files_that_are_watched_go_on_with_what_is_left() -> None:
    plan = plan_of(f"{FILES}, 'format' = 'json', 'source.monitor-interval' = '1 s'")
    begun = Split("file:/data/c", offset=0, end=80, records_after_offset=3)
    assert start(plan, files(DONE, begun, PENDING)) == Files(
        (
            FilePart("file:/data/a", is_done=True),
            FilePart("file:/data/c", to=81, skipped=3),
            FilePart("file:/data/b", to=81),
        ),
        is_closed=False,
        is_columnar=False,
    )


def test_a_split_has_the_lines_that_begin_behind_its_first_byte() -> None:
    plan = plan_of(f"{FILES}, 'format' = 'json', 'source.monitor-interval' = '1 s'")
    found = start(plan, files(Split("file:/data/a", offset=80, end=160)))
    assert isinstance(found, Files)
    assert found.files == (FilePart("file:/data/a", from_=81, to=161),)


def test_files_of_csv_are_never_cut() -> None:
    plan = plan_of(f"{FILES}, 'format' = 'csv'")
    found = start(plan, files(Split("file:/data/a", offset=0, end=80, records_after_offset=2)))
    assert found == Files((FilePart("file:/data/a", skipped=2),), is_closed=True, is_columnar=False)


def test_a_columnar_file_that_has_been_begun_is_refused() -> None:
    plan = plan_of(f"{FILES}, 'format' = 'parquet', 'source.monitor-interval' = '1 s'")
    assert isinstance(start(plan, files(DONE, PENDING)), Files)
    with pytest.raises(FlinkplanError, match="file:/data/c has been read in part, of the format 'parquet'"):
        start(plan, files(Split("file:/data/c", offset=4, end=80)))


@pytest.mark.parametrize("options", [f"{KAFKA}, 'format' = 'debezium-json'", UPSERTS])
def test_partitions_of_kafka_go_on_with_the_next_offset(options: str) -> None:
    plan = plan_of(options, "k INT PRIMARY KEY NOT ENFORCED" if "upsert" in options else "k INT")
    found = start(plan, topics(Split("orders", 0, 17), Split("orders", 1, -2)))
    assert found == KafkaOffsets({("orders", 0): 17, ("orders", 1): -2}, None)
    assert str(found) == "orders-0 from offset 17, orders-1 from the earliest offset"


def test_a_bounded_topic_ends_where_it_would_have_ended() -> None:
    plan = plan_of(f"{KAFKA}, 'format' = 'json', 'scan.bounded.mode' = 'latest-offset'")
    found = start(plan, topics(Split("orders", 0, 17, 40), Split("orders", 1, 3)))
    assert found == KafkaOffsets({("orders", 0): 17, ("orders", 1): 3}, {("orders", 0): 40, ("orders", 1): -1})


@pytest.mark.parametrize(
    "options,expected",
    [
        (f"{FILES}, 'format' = 'json'", Files((), is_closed=True, is_columnar=False)),
        (f"{KAFKA}, 'format' = 'json', 'scan.bounded.mode' = 'latest-offset'", KafkaOffsets({}, {})),
        ("'connector' = 'jdbc', 'url' = 'jdbc:postgresql://h/d', 'table-name' = 't'", Ended()),
        ("'connector' = 'datagen', 'number-of-rows' = '3'", Ended()),
    ],
)
def test_a_source_that_has_ended_reads_nothing(options: str, expected: Start) -> None:
    assert start(plan_of(options), None, is_finished=True) == expected


@pytest.mark.parametrize(
    "position,reason",
    [
        (None, "the positions of a source of the connector 'datagen' cannot be read"),
        (SourcePosition(is_known=False), "the positions of a source of the connector 'datagen' cannot be read"),
        (topics(Split("orders", 0, 1)), "in the savepoint it is a source of the connector 'kafka', not of 'datagen'"),
    ],
)
def test_a_source_of_unknown_position_is_refused_unless_it_is_to_restart(
    position: SourcePosition | None, reason: str
) -> None:
    plan = plan_of("'connector' = 'datagen'")
    with pytest.raises(FlinkplanError, match=reason) as raised:
        start(plan, position)
    assert raised.value.exit_code == 1
    assert raised.value.hint is not None and "--restart-source t" in raised.value.hint
    for name in ("t", "default_catalog.default_database.t"):
        assert start(plan, position, restarted=[name]) == Restarted()
    with pytest.raises(FlinkplanError, match="the plan reads no table 'u'"):
        start(plan, position, restarted=["t", "u"])


def test_values_are_emitted_once() -> None:
    plan = compile_script("CREATE TABLE o (k INT) WITH ('connector' = 'blackhole');\nINSERT INTO o VALUES (1), (2);")
    (node,) = (node for node in plan.nodes if isinstance(node, Values))
    finished = Manifest("flink", (OperatorState((), uid=f"{node.id}_values", is_finished=True),))
    assert Sources(plan, finished, (), {}, Uids()).starts() == {node.id: Ended()}
    with pytest.raises(FlinkplanError, match="it is not known which of the rows have been emitted"):
        Sources(plan, Manifest("flink", ()), (), {}, Uids()).starts()


TIMED = """
CREATE TABLE {0} (k INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector' = 'datagen');
"""
WINDOWS = """
SELECT k, window_end, COUNT(*) FROM TABLE(TUMBLE(TABLE {0}, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
GROUP BY k, window_start, window_end
"""
OUT = "CREATE TABLE o (k INT, e TIMESTAMP(3), n BIGINT) WITH ('connector' = 'blackhole');\n"


def watermarks(plan: Plan, kept: Mapping[int, int], folder: Path) -> tuple[int, dict[str, int] | None]:
    found = source_watermarks(plan, kept)
    folder.mkdir()
    found.write(folder, 0)
    file = folder / "watermarks" / "0"
    return found.of_query, json.loads(file.read_text()) if file.exists() else None


def test_a_source_has_reached_the_watermark_of_its_operators(tmp_path: Path) -> None:
    one = compile_script(TIMED.format("a") + OUT + f"INSERT INTO o {WINDOWS.format('a')}")
    (window,) = (node for node in one.nodes if isinstance(node, GlobalWindowAggregate))
    shift = watermarks(one, {window.id: 0}, tmp_path / "zero")[0]
    assert watermarks(one, {window.id: 5000}, tmp_path / "one") == (shift + 5000, None)
    assert watermarks(one, {}, tmp_path / "none") == (0, None)


def test_of_several_sources_the_query_has_the_lowest_watermark(tmp_path: Path) -> None:
    united = f"INSERT INTO o {WINDOWS.format('a')} UNION ALL {WINDOWS.format('b')}"
    two = compile_script(TIMED.format("a") + TIMED.format("b") + OUT + united)
    first, second = (node for node in two.nodes if isinstance(node, GlobalWindowAggregate))
    names = [f"`default_catalog`.`default_database`.`{name}`#1" for name in "ab"]
    assert len([node for node in two.nodes if isinstance(node, WatermarkAssigner)]) == 2
    low, own = watermarks(two, {first.id: 5000, second.id: 7000}, tmp_path / "both")
    assert own == dict(zip(names, (5000, 7000), strict=True))
    assert low == watermarks(two, {first.id: 5000, second.id: 5000}, tmp_path / "equal")[0]
    assert watermarks(two, {first.id: 5000}, tmp_path / "first") == (0, {names[0]: 5000})
