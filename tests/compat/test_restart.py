"""Whether a plan may go on from a checkpoint: decided before Spark is started."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from contextlib import nullcontext
from itertools import pairwise
from pathlib import Path

import pytest

from flinkplan.compat.diff import Exceptions
from flinkplan.compat.references import read_plan
from flinkplan.compat.restart import RestartError, check_restart, ignored_settings
from flinkplan.executor.jobs.job import JobOptions, execute
from flinkplan.executor.jobs.states import find_states
from flinkplan.executor.prepare.modes import Mode
from flinkplan.plan.document import Plan, dumps, loads, plan_from_json, plan_to_json
from flinkplan.plan.errors import FlinkplanError
from flinkplan.planner import compile_script
from flinkplan.state.checkpoint import CheckpointInUseError, CheckpointRecord, DamagedCheckpointError
from flinkplan.table.jobs import start
from tests.cli.support import flinkplan, flinkplan_process
from tests.compat.pipelines import SUMS, SUMS_COLUMNS, script

PLAN = compile_script(script(SUMS, SUMS_COLUMNS))
TTL = loads(dumps(PLAN).replace('"0 ms"', '"3 s"'))
KEY = compile_script(script(SUMS.replace("product", "shop"), SUMS_COLUMNS))
LESS = compile_script(script(SUMS.replace("MAX(", "MIN("), SUMS_COLUMNS))
NOTHING = Exceptions()
ZONE = "table.local-time-zone"
EARLY = "table.exec.emit.early-fire"
INSTANTS = "(SELECT amount, CAST(ts AS TIMESTAMP_LTZ(3)) AS t FROM orders)"
BY_DAY = compile_script(
    script(f"SELECT CAST(t AS DATE), SUM(amount) FROM {INSTANTS} GROUP BY CAST(t AS DATE)", "d DATE, s INT")
)
DAYS = compile_script(script(f"SELECT CAST(t AS DATE), amount FROM {INSTANTS}", "d DATE, amount INT"))
WINDOWS = compile_script(
    script(
        "SELECT COUNT(*), TUMBLE_END(ts, INTERVAL '1' HOUR) FROM orders GROUP BY TUMBLE(ts, INTERVAL '1' HOUR)",
        "n BIGINT, e TIMESTAMP(3)",
    )
)


LOOKUP = compile_script(
    "CREATE TABLE o (id INT, p AS PROCTIME()) WITH ('connector' = 'datagen');"
    "CREATE TABLE c (id INT PRIMARY KEY NOT ENFORCED, name STRING)"
    "  WITH ('connector' = 'jdbc', 'url' = 'jdbc:derby:shop', 'table-name' = 'c');"
    "CREATE TABLE found (id INT, name STRING) WITH ('connector' = 'blackhole');"
    "INSERT INTO found SELECT o.id, c.name FROM o JOIN c FOR SYSTEM_TIME AS OF o.p ON o.id = c.id;"
)


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    """A checkpoint made by :data:`PLAN`."""
    CheckpointRecord(tmp_path / "checkpoint").begin(PLAN, "available-now", {})
    return tmp_path / "checkpoint"


def test_a_new_checkpoint(tmp_path: Path) -> None:
    assert check_restart(str(tmp_path / "new"), PLAN, NOTHING) is None


def test_a_plan_that_looks_rows_up_goes_on(tmp_path: Path) -> None:
    CheckpointRecord(tmp_path / "checkpoint").begin(LOOKUP, "streaming", {})
    check_restart(str(tmp_path / "checkpoint"), LOOKUP, NOTHING)


@pytest.mark.parametrize("plan", [PLAN, TTL], ids=["same", "compatible"])
def test_a_plan_that_goes_on(checkpoint: Path, plan: Plan) -> None:
    assert check_restart(str(checkpoint), plan, NOTHING) is not None


@pytest.mark.parametrize(
    ("plan", "verdict", "rule"), [(LESS, "partial", "aggregate-changed"), (KEY, "incompatible", "keys-changed")]
)
def test_a_plan_that_is_refused(checkpoint: Path, plan: Plan, verdict: str, rule: str) -> None:
    with pytest.raises(RestartError) as refused:
        check_restart(str(checkpoint), plan, NOTHING)
    assert f"{verdict}: group-aggregate: " in refused.value.message
    assert refused.value.hint is not None
    ways_out = (f"--allow {rule}@group-aggregate", "--checkpoint NEW-DIR", "flinkplan compile PIPELINE --like")
    assert [way for way in ways_out if way not in refused.value.hint] == []


@pytest.mark.parametrize(
    ("plan", "before", "now", "rule"),
    [
        pytest.param(PLAN, {}, {ZONE: "Asia/Tokyo"}, None, id="no local time"),
        pytest.param(DAYS, {}, {ZONE: "Asia/Tokyo"}, None, id="local time without state"),
        pytest.param(BY_DAY, {ZONE: "Asia/Tokyo"}, {ZONE: "Asia/Tokyo"}, None, id="the same zone"),
        pytest.param(BY_DAY, {}, {ZONE: "UTC"}, None, id="the zone that is taken unless set"),
        pytest.param(BY_DAY, {}, {ZONE: "Asia/Tokyo"}, "time-zone-changed", id="another zone"),
        pytest.param(BY_DAY, {ZONE: "Asia/Tokyo"}, {}, "time-zone-changed", id="no zone any more"),
        pytest.param(
            WINDOWS, {}, {f"{EARLY}.enabled": "true", f"{EARLY}.delay": "1 s"}, "identity-changed", id="emission"
        ),
        pytest.param(BY_DAY, {}, {"table.exec.sink.not-null-enforcer": "DROP"}, None, id="rows written"),
        pytest.param(BY_DAY, {}, {"parallelism.default": "2"}, None, id="an option that does nothing here"),
    ],
)
def test_what_the_session_decides_counts_as_part_of_the_plan(
    tmp_path: Path, plan: Plan, before: dict[str, str], now: dict[str, str], rule: str | None
) -> None:
    CheckpointRecord(tmp_path).begin(plan, "available-now", before)
    if rule is None:
        assert check_restart(str(tmp_path), plan, NOTHING, now) is not None
        return
    with pytest.raises(RestartError, match=f"in a session with other options(?s:.*){rule}") as refused:
        check_restart(str(tmp_path), plan, NOTHING, now)
    assert "or set the same options: --set table." in str(refused.value.hint)


def test_a_checkpoint_that_does_not_say_what_the_session_was(tmp_path: Path) -> None:
    record = CheckpointRecord(tmp_path)
    record.begin(BY_DAY, "available-now", {})
    (tmp_path / "flinkplan" / "options.json").unlink()
    assert record.session_options is None
    assert check_restart(str(tmp_path), BY_DAY, NOTHING, {ZONE: "Asia/Tokyo"}) is not None


def test_the_table_api_refuses_the_same(checkpoint: Path) -> None:
    with pytest.raises(RestartError, match="keys-changed"):
        start(KEY, {"execution.checkpointing.dir": str(checkpoint)})


def test_what_is_refused_can_be_allowed(checkpoint: Path) -> None:
    allowed = Exceptions(allowed=["keys-changed@group-aggregate"])
    assert check_restart(str(checkpoint), KEY, allowed) is not None


def test_a_job_that_has_ended(checkpoint: Path) -> None:
    CheckpointRecord(checkpoint).end()
    with pytest.raises(RestartError, match="has ended"):
        check_restart(str(checkpoint), PLAN, NOTHING)


def test_a_job_that_was_ending_its_input_keeps_to_that(checkpoint: Path) -> None:
    CheckpointRecord(checkpoint).begin(PLAN, "bounded", {})
    (checkpoint / "in" / "orders").mkdir(parents=True)
    with pytest.raises(FlinkplanError, match="was ending its input; it cannot go on in the mode available-now"):
        execute(PLAN, JobOptions(str(checkpoint), variables={"DIR": str(checkpoint)}, mode=Mode.AVAILABLE_NOW))


def test_a_checkpoint_is_one_jobs_alone(checkpoint: Path) -> None:
    record = CheckpointRecord(checkpoint)
    record.prepare()
    (checkpoint / "in" / "orders").mkdir(parents=True)
    assert not record.is_in_use
    code = "import fcntl, sys; file = open(sys.argv[1], 'r+b'); fcntl.lockf(file, fcntl.LOCK_EX); print(); input()"
    command = [sys.executable, "-c", code, str(record.lock_file)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        other.stdout.readline()
        with pytest.raises(CheckpointInUseError, match="another job is running on this checkpoint"):
            execute(PLAN, JobOptions(str(checkpoint), variables={"DIR": str(checkpoint)}))
        other.kill()
    assert not record.is_in_use


def test_a_checkpoint_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(FlinkplanError, match="the checkpoint cannot be written: Not a directory"):
        CheckpointRecord(tmp_path / "file" / "checkpoint").prepare()


def test_a_job_that_did_nothing_leaves_no_trace(checkpoint: Path, tmp_path: Path) -> None:
    for record, before in ((CheckpointRecord(checkpoint), PLAN), (CheckpointRecord(tmp_path / "new"), None)):
        contents = record.contents()
        record.begin(KEY, "streaming", {ZONE: "Asia/Tokyo"})
        assert (record.plan_text(), record.modes[1]) == (dumps(KEY), "streaming")
        assert record.session_options == {ZONE: "Asia/Tokyo"}
        record.put_back(contents)
        assert record.modes == (("available-now", "available-now") if before else ())
        assert not before or record.plan_text() == dumps(before)
        assert record.session_options == ({} if before else None)


def test_a_checkpoint_of_something_else(tmp_path: Path) -> None:
    query(tmp_path, "report", 0, -1)
    with pytest.raises(RestartError, match="has no record of the plan"):
        check_restart(str(tmp_path), PLAN, NOTHING)


def test_execute_refuses_before_spark_is_started(checkpoint: Path, tmp_path: Path) -> None:
    plan = tmp_path / "plan.json"
    plan.write_text(dumps(KEY))
    code = "assert 'pyspark' not in sys.modules; sys.exit(status)"
    done = flinkplan_process("execute", str(plan), "--checkpoint", str(checkpoint), code=code)
    assert done.returncode == 1
    assert "incompatible: group-aggregate: grouping[0] product → shop (keys-changed)" in done.stderr
    assert CheckpointRecord(checkpoint).plan_text() == dumps(PLAN)


def test_states_that_make_no_sense_are_refused(tmp_path: Path) -> None:
    text = dumps(PLAN).replace('"0 ms"', '"1.5 h"')
    (tmp_path / "plan.json").write_text(text)
    outcome = flinkplan("execute", str(tmp_path / "plan.json"))
    assert (outcome.code, "write a whole number in a smaller unit" in outcome.err) == (3, True)


def test_state_of_no_checkpoint(tmp_path: Path) -> None:
    outcome = flinkplan("state", str(tmp_path))
    assert (outcome.code, "there is no checkpoint here" in outcome.err) == (3, True)


def query(checkpoint: Path, name: str, begun: int, done: int) -> Path:
    """The folder of a query as Spark leaves it."""
    folder = checkpoint / name
    for log, last in (("offsets", begun), ("commits", done)):
        (folder / log).mkdir(parents=True)
        for number in range(last + 1):
            (folder / log / str(number)).write_text("v1\n{}\n")
    (folder / "metadata").write_text(json.dumps({"id": name}))
    return folder


def test_a_setting_that_the_checkpoint_has_fixed_is_told(tmp_path: Path) -> None:
    record = CheckpointRecord(tmp_path)
    folder = query(tmp_path, "a", 3, 2)
    record.started({"a": "a"})
    (folder / "offsets" / "3").write_text('v1\n{"conf":{"spark.sql.shuffle.partitions":"2","x":"y"}}\n{}\n')
    assert not list(ignored_settings(record, {"spark.sql.shuffle.partitions": "2", "spark.master": "local"}))
    (told,) = ignored_settings(record, {"spark.sql.shuffle.partitions": "8"})
    assert (
        told.message
        == "spark.sql.shuffle.partitions stays 2 for the sink a, as fixed by the checkpoint; 8 has no effect"
    )
    assert "--checkpoint DIR" in (told.hint or "")


@pytest.mark.parametrize(
    ("damage", "place"),
    [
        pytest.param(lambda folder: shutil.rmtree(folder), "a", id="folder gone"),
        pytest.param(lambda folder: (folder / "metadata").write_text(""), "a/metadata", id="metadata emptied"),
        pytest.param(lambda folder: (folder / "metadata").write_text('{"id": "b"}'), "a", id="another query"),
        pytest.param(lambda folder: shutil.rmtree(folder / "offsets"), "a/offsets", id="offsets gone"),
        pytest.param(lambda folder: shutil.rmtree(folder / "commits"), "a/commits", id="commits gone"),
        pytest.param(lambda folder: (folder / "offsets" / "2").unlink(), "a/offsets/2", id="offset before gone"),
        pytest.param(lambda folder: (folder / "offsets" / "3").write_text(""), "a/offsets/3", id="offset emptied"),
        pytest.param(lambda folder: (folder / "offsets" / "3").write_text("v1\n{"), "a/offsets/3", id="offset cut"),
        pytest.param(lambda folder: (folder / "commits" / "2").write_bytes(b"\xff"), "a/commits/2", id="commit broken"),
    ],
)
def test_a_damaged_checkpoint_is_refused_by_the_file(
    checkpoint: Path, damage: Callable[[Path], object], place: str
) -> None:
    record = CheckpointRecord(checkpoint)
    folder = query(checkpoint, "a", begun=3, done=2)
    record.started({"a": "a"})
    record.check(["a", "not started yet"])
    damage(folder)
    with pytest.raises(DamagedCheckpointError) as refused:
        record.check(["a"])
    assert refused.value.where == str(checkpoint / place)
    assert "start with a new one" in str(refused.value.hint)


@pytest.mark.parametrize("name", ["plan.json", "options.json"])
def test_a_damaged_record_is_refused_by_the_file(checkpoint: Path, name: str) -> None:
    for content in ("", "{", "[]"):
        (checkpoint / "flinkplan" / name).write_text(content)
        with pytest.raises(DamagedCheckpointError) as refused:
            check_restart(str(checkpoint), PLAN, NOTHING)
        assert refused.value.where == str(checkpoint / "flinkplan" / name)


@pytest.mark.parametrize("key", ["providerClass", "compression.codec"])
def test_a_checkpoint_names_no_classes_but_sparks(checkpoint: Path, key: str) -> None:
    query(checkpoint, "o", 0, 0)
    file, setting = checkpoint / "o" / "offsets" / "0", f"spark.sql.streaming.stateStore.{key}"
    for value, is_refused in (("java.util.Timer", True), ("org.apache.spark.A", False), ("lz4", False)):
        file.write_text(f'v1\n{{"batchWatermarkMs":0,"conf":{{"{setting}":"{value}"}}}}\n-\n')
        with pytest.raises(DamagedCheckpointError, match="class java") if is_refused else nullcontext():
            CheckpointRecord(checkpoint).check(["o"])
        with pytest.raises(DamagedCheckpointError, match="class java") if is_refused else nullcontext():
            find_states(checkpoint)


def test_the_state_of_a_strangely_named_sink_is_found_where_it_was(checkpoint: Path) -> None:
    record = CheckpointRecord(checkpoint)
    assert str(record.query("a/b")).startswith(f"{checkpoint}/a_b-")
    query(checkpoint, "a/b", 0, 0)
    assert str(record.query("a/b")) == f"{checkpoint}/a/b"
    query(checkpoint, "../outside", 0, 0)
    with pytest.raises(DamagedCheckpointError, match="stands at a wrong place") as refused:
        record.check(["../outside"])
    assert refused.value.hint == f"move it to {record.query('../outside')}"


def test_a_record_wherever_fsspec_reaches(tmp_path: Path) -> None:
    for folder in (f"memory://{tmp_path}", f"local://{tmp_path}/local", (tmp_path / "a b").as_uri()):
        record = CheckpointRecord(folder)
        assert (record.exists, record.modes, record.batches(["o"])) == (False, (), {"o": ()})
        assert check_restart(folder, PLAN, NOTHING) is None
        record.begin(PLAN, "available-now", {})
        record.started({"o": "1"})
        assert check_restart(folder, PLAN, NOTHING) is not None
        assert read_plan(folder).text == dumps(PLAN)
        with pytest.raises(DamagedCheckpointError, match="the state of the sink o is gone"):
            record.check(["o"])
        record.put_back({})
        assert (record.exists, record.queries) == (False, {"o": "1"})
    assert (tmp_path / "a b" / "flinkplan" / "queries.json").exists()


def lengthened(plan: Plan, count: int) -> Plan:
    """The plan with so many operators that do nothing behind its first node."""
    document = plan_to_json(plan)
    first, *rest = document["nodes"]
    columns = [
        {"kind": "INPUT_REF", "inputIndex": i, "type": str(t)}
        for i, t in enumerate(plan.nodes[0].output_type.field_types)
    ]
    ids = range(10_000, 10_000 + count)
    calc = {"type": "stream-exec-calc_1", "projection": columns, "condition": None, "description": ""}
    calcs = [{"id": i, **calc, "outputType": first["outputType"]} for i in ids]
    how = {"shuffle": {"type": "FORWARD"}, "shuffleMode": "PIPELINED"}
    edges = [{"source": s, "target": t, **how} for s, t in pairwise([first["id"], *ids])]
    for edge in document["edges"]:
        edge["source"] = ids[-1] if edge["source"] == first["id"] else edge["source"]
    return plan_from_json(
        {**document, "nodes": [first, *calcs, *rest], "edges": [*edges, *document["edges"]]},
    )


def test_a_plan_of_more_nodes_than_can_be_aligned_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("flinkplan.compat.matching._LIMIT", 100 * 100)
    plan = lengthened(PLAN, 100)
    CheckpointRecord(tmp_path).begin(plan, "available-now", {})
    assert check_restart(str(tmp_path), plan, NOTHING) is not None
    text = dumps(plan)
    assert check_restart(str(tmp_path), loads(text.replace('"0 ms"', '"3 s"')), NOTHING) is not None
    with pytest.raises(RestartError, match="aggregate-changed"):
        check_restart(str(tmp_path), loads(text.replace("$MAX$1", "$MIN$1")), NOTHING)
    with pytest.raises(FlinkplanError, match="too large to compare"):
        check_restart(str(tmp_path), lengthened(PLAN, 101), NOTHING)
