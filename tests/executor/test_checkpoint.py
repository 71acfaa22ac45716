"""What a job leaves in its checkpoint and its sinks, and goes on from: nothing is lost, nothing comes twice."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import fsspec
import pytest
from fsspec.implementations.local import LocalFileSystem

from flinkplan.compat.diff import Exceptions
from flinkplan.compat.restart import check_restart
from flinkplan.executor.build.registry import builders
from flinkplan.executor.build.stream import Stream
from flinkplan.executor.errors import ExecutionError, TableError
from flinkplan.executor.jobs.job import JobOptions, execute
from flinkplan.executor.jobs.states import find_states
from flinkplan.executor.prepare.job_plan import queries_of
from flinkplan.executor.prepare.modes import Mode
from flinkplan.plan.document import dumps, loads
from flinkplan.plan.errors import FlinkplanError, PlanError
from flinkplan.planner import compile_script
from flinkplan.state.checkpoint import CheckpointRecord, DamagedCheckpointError

from .jobs import Place, count, counts_by_minute, event
from .plans import passthrough

pytestmark = pytest.mark.spark


def test_a_batch_that_comes_again_replaces_what_it_wrote(place: Place) -> None:
    place.put("1", {"a": 1}, {"a": 2})
    plan = passthrough(place.files("in"), place.files("out"))
    place.run(plan, streams=True)
    (commit,) = (place.root / "checkpoint" / "sink" / "commits").glob("[0-9]*")
    commit.unlink()
    place.run(plan, streams=True)
    assert place.rows() == [{"a": 1}, {"a": 2}]


PARTITIONED = """\
CREATE TABLE t (a INT, p INT) WITH ('connector' = 'filesystem', 'path' = '{root}/in', 'format' = 'parquet');
CREATE TABLE o (a INT, p INT) {partitions} WITH (
  'connector' = 'filesystem', 'path' = '{root}/out', 'format' = '{format_}');
INSERT INTO o SELECT a, p FROM t;
"""


@pytest.mark.parametrize("format_", ["json", "parquet"])
@pytest.mark.parametrize("partitions", ["", "PARTITIONED BY (p)"])
def test_a_batch_that_comes_again_in_fewer_tasks_leaves_nothing_of_the_first_time(
    place: Place, partitions: str, format_: str
) -> None:
    rows = place.spark.createDataFrame([(a, a % 3) for a in range(40)], "a INT, p INT")
    rows.repartition(4).write.mode("overwrite").parquet(str(place.root / "in"))
    plan = compile_script(PARTITIONED.format(root=place.root, partitions=partitions, format_=format_))
    place.spark.conf.set("spark.sql.files.maxPartitionBytes", "100")
    place.run(plan, Mode.AVAILABLE_NOW)
    place.spark.conf.unset("spark.sql.files.maxPartitionBytes")
    before = place.output()
    for commit in (place.root / "checkpoint" / "o" / "commits").iterdir():
        commit.unlink()
    place.run(plan, Mode.AVAILABLE_NOW)
    after = place.output()
    assert len(after) < len(before)
    assert not list((place.root / "out").glob(".staging*"))
    read = place.spark.read.format(format_).load([str(file) for file in after])
    assert sorted(row["a"] for row in read.collect()) == list(range(40))


def test_a_batch_that_fails_leaves_no_files(place: Place) -> None:
    place.put("1", {"a": 1}, {"a": "x"})
    with pytest.raises(ExecutionError):
        place.run(passthrough(place.files("in"), place.files("out")))
    assert [p for p in (place.root / "out").rglob("*") if p.is_file()] == []


def checkpoint_file(place: Place, pattern: str) -> Path:
    (found,) = (place.root / "checkpoint" / "sink").glob(pattern)
    return found


@pytest.mark.parametrize("damage", [Path.unlink, lambda file: file.write_text("")], ids=["gone", "emptied"])
def test_files_that_were_read_are_not_read_again_when_their_list_is_lost(
    place: Place, damage: Callable[[Path], Any]
) -> None:
    plan = passthrough(place.files("in"), place.files("out"))
    place.put("1", {"a": 1})
    place.run(plan, Mode.AVAILABLE_NOW)
    damage(checkpoint_file(place, "sources/0/files/[0-9]*"))
    place.put("2", {"a": 2})
    with pytest.raises(ExecutionError, match=r"the checkpoint is damaged: .*/sources/0/files.*; put back a copy"):
        place.run(plan, Mode.AVAILABLE_NOW)
    assert place.rows() == [{"a": 1}]


@pytest.mark.parametrize("damage", [Path.unlink, lambda file: file.write_text("")], ids=["gone", "emptied"])
@pytest.mark.parametrize("format_", ["parquet", "orc"])
def test_columnar_files_are_not_read_again_when_their_list_is_lost(
    place: Place, format_: str, damage: Callable[[Path], Any]
) -> None:
    plan = compile_script(
        f"CREATE TABLE t (a INT) WITH ('connector' = 'filesystem', 'path' = '{place.root}/in', 'format' = '{format_}');"
        f"CREATE TABLE sink (a INT) WITH ('connector' = 'filesystem', 'path' = '{place.root}/out', 'format' = 'json');"
        "INSERT INTO sink SELECT a FROM t;"
    )
    rows = place.spark.createDataFrame([(1,)], "a INT")
    for _ in range(2):
        rows.write.mode("append").format(format_).save(str(place.root / "in"))
        place.run(plan, Mode.AVAILABLE_NOW)
    lost = checkpoint_file(place, "sources/0/1")
    damage(lost)
    with pytest.raises(DamagedCheckpointError) as failed:
        place.run(plan, Mode.AVAILABLE_NOW)
    assert failed.value.where == str(lost)
    assert place.rows() == [{"a": 1}, {"a": 1}]


def test_a_job_whose_first_batch_failed_goes_on(place: Place) -> None:
    plan = passthrough(place.files("in"), place.files("out"))
    place.put("1", {"a": 1}, {"a": "x"})
    checkpoint = str(place.root / "checkpoint")
    with pytest.raises(ExecutionError):
        place.run(plan, Mode.AVAILABLE_NOW)
    mended = [{"a": 1}, {"a": 2}, {"a": 3}]
    place.put("1", *mended)
    assert check_restart(checkpoint, plan, Exceptions()) is not None
    place.run(plan, Mode.AVAILABLE_NOW)
    assert place.rows() == mended


def test_a_file_that_is_gone_before_it_was_read_is_missed(place: Place) -> None:
    plan = passthrough(place.files("in"), place.files("out"))
    place.put("1", {"a": "x"})
    place.put("2", {"a": 2})
    with pytest.raises(ExecutionError):
        place.run(plan, Mode.AVAILABLE_NOW)
    (place.root / "in" / "1").unlink()
    with pytest.raises(ExecutionError, match="the file was deleted or renamed after it had been listed") as failed:
        place.run(plan, Mode.AVAILABLE_NOW)
    assert failed.value.where == str(place.root / "in" / "1")
    assert "--conf spark.sql.files.ignoreMissingFiles=true" in (failed.value.hint or "")
    place.spark.conf.set("spark.sql.files.ignoreMissingFiles", "true")
    try:
        place.run(plan, Mode.AVAILABLE_NOW)
    finally:
        place.spark.conf.unset("spark.sql.files.ignoreMissingFiles")
    (place.root / "in" / "2").rename(place.root / "in" / "3")
    place.run(plan, Mode.AVAILABLE_NOW)
    assert place.rows() == [{"a": 2}, {"a": 2}]  # a new name is a new file, as in Flink


def test_a_name_with_a_colon_is_read_by_lines_and_named_otherwise(place: Place) -> None:
    place.put("a:1", {"a": 1})
    place.run(passthrough(place.files("in"), place.files("out")))
    assert place.rows() == [{"a": 1}]
    columnar = passthrough(place.files("in", "parquet"), place.files("out"))
    with pytest.raises(FlinkplanError, match="Hadoop reads no files whose names have a colon") as failed:
        execute(columnar, JobOptions(spark=place.spark)).wait()
    assert "a:1" in str(failed.value.where)


@pytest.fixture
def full(tmp_path: Path) -> Iterator[Path]:
    """A folder on a disk of its own, on which there is no room."""
    folder = tmp_path / "full"
    folder.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(folder)], capture_output=True)
    if mounted.returncode:
        pytest.skip("a disk cannot be mounted here")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=False)


@pytest.mark.parametrize("what", ["checkpoint", "out"])
def test_a_full_disk_damages_nothing(place: Place, full: Path, what: str) -> None:
    (place.root / what).symlink_to(full)
    plan = counts_by_minute(place)
    place.put("1", *(event(f"00:00:{n % 60:02}", f"{n}" * 20) for n in range(2000)))
    with pytest.raises(ExecutionError, match="no space left on device") as failed:
        place.run(plan, streams=True)
    assert f"/{what}/" in str(failed.value.where)
    assert "goes on from its checkpoint, which is not damaged" in (failed.value.hint or "")
    subprocess.run(["mount", "-o", "remount,size=64m", str(full)], check=True)
    place.run(plan, streams=True)
    assert sum(row["n"] for row in place.rows()) == 2000


def test_a_job_that_began_no_batch_leaves_no_record(place: Place) -> None:
    checkpoint = str(place.root / "checkpoint")
    log = place.root / "checkpoint" / "sink" / "sources" / "0" / "files" / "000000000000"
    log.parent.mkdir(parents=True)
    log.write_text("no list of files")
    with pytest.raises(ExecutionError, match="the checkpoint is damaged"):
        place.run(passthrough(place.files("in"), place.files("out")), Mode.AVAILABLE_NOW)
    log.unlink()
    place.put("1", {"b": 1})
    plan = passthrough(place.files("in"), place.files("out"), (("b", "INT"),))
    assert check_restart(checkpoint, plan, Exceptions()) is None
    place.run(plan)
    assert place.rows() == [{"b": 1}]


def test_a_job_that_cannot_be_translated_leaves_no_record(place: Place) -> None:
    def refuse(*_: object) -> Stream:
        raise PlanError("no")

    plan = passthrough(place.files("in"), place.files("out"))
    known = builders()
    with pytest.MonkeyPatch.context() as patch:
        for kind in list(known):
            patch.setitem(known, kind, refuse)
        with pytest.raises(PlanError):
            place.run(plan)
    assert not CheckpointRecord(place.root / "checkpoint").exists
    place.put("1", {"a": 1})
    place.run(plan)


@pytest.mark.parametrize("name", ["../../x", "/abs/path", "a/b", ".", "x" * 300, "flinkplan", "job-2", "é\n*"])
def test_state_stays_in_the_checkpoint_whatever_the_sink_is_called(place: Place, name: str) -> None:
    place.put("1", {"a": 1})
    text = dumps(passthrough(place.files("in"), place.files("out")))
    plan = loads(text.replace("`c`.`d`.`sink`", json.dumps(f"`c`.`d`.`{name}`")[1:-1]))
    assert queries_of(plan).keys() == {name}
    place.run(plan, Mode.AVAILABLE_NOW)
    place.put("2", {"a": 2})
    place.run(plan, Mode.AVAILABLE_NOW)
    assert place.rows() == [{"a": 1}, {"a": 2}]
    assert {p.name for p in place.root.iterdir()} == {"in", "out", "checkpoint"}
    assert len(list((place.root / "checkpoint").glob("*/metadata"))) == 1


class Mounted(LocalFileSystem):  # type: ignore[misc]
    """Local folders under names that do not say so, as Hadoop's ``viewfs`` has them."""

    @classmethod
    def _strip_protocol(cls, path: str) -> str:
        return str(super()._strip_protocol(path.removeprefix("viewfs://mounts")))


def test_state_is_kept_wherever_spark_and_fsspec_reach(place: Place) -> None:
    fsspec.register_implementation("viewfs", Mounted)
    jvm: Any = place.spark._jvm
    context: Any = place.spark.sparkContext
    for configuration in (jvm.org.apache.spark.deploy.SparkHadoopUtil.get().conf(), context._jsc.hadoopConfiguration()):
        configuration.set(f"fs.viewfs.mounttable.mounts.link.{place.root}", place.root.as_uri())
    plan = counts_by_minute(place)
    options = JobOptions(f"viewfs://mounts{place.root}/remote", spark=place.spark, mode=Mode.AVAILABLE_NOW)
    place.put("1", event("10:00:01"), event("10:00:03"))
    execute(plan, options).wait()
    place.put("2", event("10:00:02"), event("10:01:30"))
    execute(plan, options).wait()
    assert place.rows() == [count(3, "10:00:00")]
    assert {p.name for p in (place.root / "remote").iterdir()} == {"flinkplan", "sink"}
    assert {s.sink for s in find_states(options.checkpoint or "")} == {"sink"}


def test_a_place_that_spark_does_not_reach(place: Place) -> None:
    plan = passthrough(place.files("in"), place.files("out"))
    with pytest.raises(TableError, match='Spark does not reach this place: No FileSystem for scheme "memory"'):
        execute(plan, JobOptions("memory://checkpoint", spark=place.spark))
    assert not CheckpointRecord("memory://checkpoint").exists


def test_the_state_of_a_sink_is_missed(place: Place) -> None:
    plan = passthrough(place.files("in"), place.files("out"))
    place.put("1", {"a": 1})
    place.run(plan, Mode.AVAILABLE_NOW)
    shutil.rmtree(place.root / "checkpoint" / "sink")
    with pytest.raises(DamagedCheckpointError, match="the state of the sink sink is gone"):
        place.run(plan, Mode.AVAILABLE_NOW)
    assert place.rows() == [{"a": 1}]


@pytest.mark.parametrize(
    ("file", "damage"),
    [
        pytest.param("state/0/0/2.changelog", Path.unlink, id="changes gone"),
        pytest.param("state/0/0/2.changelog", lambda file: file.write_text(""), id="changes emptied"),
        pytest.param("state/0/_metadata/v2/1", lambda file: file.write_text(""), id="metadata emptied"),
    ],
)
def test_state_that_is_damaged_is_said_to_be(place: Place, file: str, damage: Callable[[Path], Any]) -> None:
    out = f"'connector' = 'filesystem', 'path' = '{place.root}/out', 'format' = 'debezium-json'"
    plan = compile_script(
        f"CREATE TABLE t (a INT) WITH ('connector' = 'filesystem', 'path' = '{place.root}/in', 'format' = 'json');"
        f"CREATE TABLE sink (a INT, n BIGINT) WITH ({out}); INSERT INTO sink SELECT a, COUNT(*) FROM t GROUP BY a;"
    )
    for name in ("1", "2"):
        place.put(name, {"a": 1})
        place.run(plan, Mode.AVAILABLE_NOW)
    damaged = place.root / "checkpoint" / "sink" / file
    damage(damaged)
    (damaged.parent / f".{damaged.name}.crc").unlink(missing_ok=True)
    place.put("3", {"a": 1})
    with pytest.raises(ExecutionError, match="the checkpoint is damaged: ") as failed:
        place.run(plan, Mode.AVAILABLE_NOW)
    assert failed.value.where == str(place.root / "checkpoint" / "sink" / "state")
    assert "put back a copy" in str(failed.value.hint)
