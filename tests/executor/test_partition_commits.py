"""Partitions of files that are committed, files that are finished at a size, and compacted ones."""

from __future__ import annotations

from typing import Any

import pytest

from flinkplan.executor.errors import ExecutionError
from flinkplan.executor.prepare.checks import refusals
from flinkplan.executor.prepare.modes import Mode
from flinkplan.plan.document import Plan
from flinkplan.planner import compile_script

from .jobs import Place

SUCCESS = "'sink.partition-commit.policy.kind' = 'success-file'"
BY_TIME = (
    f"{SUCCESS}, 'sink.partition-commit.trigger' = 'partition-time', 'sink.partition-commit.delay' = '1 h', "
    "'partition.time-extractor.timestamp-pattern' = '$dt $h:00:00'"
)
IN_ZONE = (
    f"{SUCCESS}, 'sink.partition-commit.trigger' = 'partition-time', 'sink.partition-commit.delay' = '9 h', "
    "'sink.partition-commit.watermark-time-zone' = 'Asia/Shanghai', "
    "'partition.time-extractor.timestamp-pattern' = '$dt $h', "
    "'partition.time-extractor.timestamp-formatter' = 'yyyy-MM-dd HH'"
)
"""The same moments as ``BY_TIME``."""
SECOND = "'sink.partition-commit.success-file.name' = 'done', "


def plan(place: Place, *tables: tuple[str, str], partitions: str = "PARTITIONED BY (dt, h)") -> Plan:
    """Rows of a watched folder into tables with these options."""
    given = f"'connector' = 'filesystem', 'path' = '{place.root / 'in'}', 'format' = 'json'"
    statements = [
        "CREATE TABLE given (id INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) "
        f"WITH ({given}, 'source.monitor-interval' = '1 s');"
    ]
    for name, options in tables:
        statements.append(
            f"CREATE TABLE {name} (id INT, dt STRING, h STRING) {partitions} WITH ('connector' = 'filesystem', "
            f"'path' = '{place.root / 'out' / name}', 'format' = 'json', {options});"
        )
    statements.append("EXECUTE STATEMENT SET BEGIN")
    query = "SELECT id, DATE_FORMAT(ts, 'yyyy-MM-dd'), DATE_FORMAT(ts, 'HH') FROM given"
    statements += [f"INSERT INTO {name} {query};" for name, _ in tables]
    return compile_script("\n".join([*statements, "END;"]))


def row(number: int, time: str) -> dict[str, Any]:
    return {"id": number, "ts": f"2024-05-01 {time}:00"}


def committed(place: Place, table: str, name: str = "_SUCCESS") -> list[str]:
    """The hours that are committed."""
    return sorted(path.parent.name for path in (place.root / "out" / table).rglob(name))


@pytest.mark.spark
def test_partitions_are_committed_when_their_time_has_come(place: Place) -> None:
    job = plan(
        place,
        ("by_watermark", BY_TIME),
        ("in_zone", IN_ZONE),
        ("at_once", SECOND + SUCCESS),
        ("later", f"{SUCCESS}, 'sink.partition-commit.delay' = '1 d'"),
        ("never", "'sink.partition-commit.delay' = '1 s'"),
    )
    place.put("1", row(1, "09:10"), row(2, "10:30"), row(3, "11:00"))
    place.run(job, Mode.AVAILABLE_NOW)
    assert committed(place, "by_watermark") == committed(place, "in_zone") == ["h=09"]
    assert committed(place, "at_once", "done") == ["h=09", "h=10", "h=11"]
    assert committed(place, "later") == []
    place.put("2", row(4, "12:00"))
    place.run(job, Mode.AVAILABLE_NOW)
    assert committed(place, "by_watermark") == ["h=09", "h=10"]
    place.run(job, Mode.BOUNDED)
    every = ["h=09", "h=10", "h=11", "h=12"]
    assert [committed(place, name) for name in ("by_watermark", "later", "never")] == [every, every, []]


@pytest.mark.spark
def test_all_partitions_of_a_batch_are_committed(place: Place) -> None:
    place.put("1", row(1, "09:10"), row(2, "10:30"))
    timeless = BY_TIME.replace("$dt $h:00:00", "$dt x")
    job = plan(place, ("by_watermark", timeless), ("later", f"{SUCCESS}, 'sink.partition-commit.delay' = '1 d'"))
    place.run(job, Mode.BOUNDED)
    assert [committed(place, name) for name in ("by_watermark", "later")] == [["h=09", "h=10"]] * 2


@pytest.mark.spark
def test_a_partition_without_a_time_fails(place: Place) -> None:
    place.put("1", row(1, "09:10"))
    job = plan(place, ("o", BY_TIME.replace("$dt $h:00:00", "$dt x")))
    with pytest.raises(ExecutionError, match="the partition dt=2024-05-01/h=09 has no time"):
        place.run(job, Mode.AVAILABLE_NOW)


@pytest.mark.spark
@pytest.mark.parametrize("partitions", ["", "PARTITIONED BY (dt, h)"])
def test_files_are_finished_at_a_size_and_compacted(partitions: str, place: Place) -> None:
    for name in range(4):
        place.put(str(name), *(row(name * 100 + i, f"{9 + i % 2:02}:{i:02}") for i in range(20)))
    job = plan(
        place,
        ("rolled", "'sink.rolling-policy.file-size' = '200 b'"),
        ("compacted", "'auto-compaction' = 'true'"),
        (
            "sized",
            "'auto-compaction' = 'true', 'compaction.file-size' = '300 b', 'sink.rolling-policy.file-size' = '1 b'",
        ),
        partitions=partitions,
    )
    place.run(job, Mode.AVAILABLE_NOW)

    def files(table: str) -> list[int]:
        return sorted(p.stat().st_size for p in (place.root / "out" / table).rglob("part-*"))

    folders = 2 if partitions else 1
    line = max(len(text) + 1 for p in (place.root / "out" / "rolled").rglob("part-*") for text in p.read_text().split())
    assert len(files("compacted")) == folders
    assert max(files("rolled")) <= 200 + line
    assert len(files("rolled")) >= sum(files("rolled")) / (200 + line)
    assert 300 < max(files("sized")) <= 300 + line
    assert len(files("sized")) < len(files("rolled"))
    for table in ("rolled", "compacted", "sized"):
        texts = [p.read_text() for p in (place.root / "out" / table).rglob("part-*")]
        assert sum(text.count("\n") for text in texts) == 80


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("'sink.partition-commit.policy.kind' = 'metastore,success-file'", "there is no metastore of files"),
        ("'sink.partition-commit.policy.kind' = 'custom'", "it runs a class"),
        ("'partition.time-extractor.kind' = 'custom'", "it runs a class"),
        ("'partition.time-extractor.class' = 'a.B'", "it is the name of a class"),
        ("'sink.partition-commit.policy.class' = 'a.B'", "it is the name of a class"),
        ("'sink.partition-commit.policy.class.parameters' = 'a'", "it is the name of a class"),
        (f"{SUCCESS}, 'sink.partition-commit.success-file.name' = '../x'", "is no name of a file"),
    ],
)
def test_what_is_refused(options: str, words: str) -> None:
    table = "CREATE TABLE o (id INT, dt STRING) PARTITIONED BY (dt) WITH ('connector' = 'filesystem', 'path' = '/o', "
    (refusal,) = refusals(
        compile_script(
            f"{table}'format' = 'json', {options}); CREATE TABLE g (id INT) WITH ('connector' = 'datagen');"
            "INSERT INTO o SELECT id, 'x' FROM g;"
        )
    )
    assert words in str(refusal.error)
