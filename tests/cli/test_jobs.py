"""execute and run, on Spark."""

from __future__ import annotations

import json
import logging
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from flinkplan.cli.jobs import JobRunner
from tests.cli.support import environment, flinkplan, flinkplan_process
from tests.parity.corpus import HERE

CASE = HERE / "cases/expr-arithmetic-integers"
ROWS = 7

STREAMING = """\
CREATE TABLE numbers (n INT) WITH ('connector' = 'datagen', 'rows-per-second' = '5');
CREATE TABLE nowhere (n INT) WITH ('connector' = 'blackhole');
COMPILE PLAN 'plan.json' FOR INSERT INTO nowhere SELECT n FROM numbers;
EXECUTE PLAN 'plan.json';
"""

LOCAL_TIME = """\
CREATE TABLE events (ts TIMESTAMP_LTZ(3)) WITH (
  'connector' = 'filesystem', 'path' = '${DIR}/events.json', 'format' = 'json');
CREATE TABLE o (`local` TIMESTAMP(3)) WITH ('connector' = 'filesystem', 'path' = '${DIR}/out', 'format' = 'json');
INSERT INTO o SELECT CAST(ts AS TIMESTAMP(3)) FROM events;
"""


@pytest.fixture
def case(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A case of the corpus, copied into the current folder."""
    shutil.copytree(CASE / "data", tmp_path / "data")
    shutil.copy(CASE / "plan.json", tmp_path / "plan.json")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_an_unset_variable_is_told_before_spark_starts(case: Path) -> None:
    outcome = flinkplan("execute", "plan.json")
    assert outcome.code == 3
    assert "${CASE}" in outcome.err
    assert "--var CASE=" in outcome.err
    assert "failed" not in outcome.err


def test_what_validate_finds_is_told_before_spark_starts(case: Path) -> None:
    plan = Path("plan.json")
    plan.write_text(plan.read_text().replace('"inputIndex" : 1', '"inputIndex" : 77', 1))
    outcome = flinkplan("execute", "plan.json", "--var", f"CASE={case}")
    assert outcome.code == 3
    assert re.match(
        r"error: node \d: column 77 is read, but the input has \d columns\n --> plan.json:\d+:", outcome.err
    )


def test_if_exists(case: Path) -> None:
    outcome = flinkplan("execute", "other.json", "--if-exists")
    assert (outcome.code, outcome.err) == (0, "other.json does not exist; nothing to do\n")


def test_an_option_that_plans_do_not_leave_open(case: Path) -> None:
    outcome = flinkplan("execute", "plan.json", "--set", "table.exec.mini-batch.size=5")
    assert outcome.code == 2
    assert "'table.exec.mini-batch.size' has no effect when a plan is executed" in outcome.err
    outcome = flinkplan("execute", "plan.json", "--set", "table.dml-sync=true")
    assert outcome.code == 2
    assert "only in 'flinkplan run' and 'flinkplan sql'" in outcome.err
    outcome = flinkplan("execute", "plan.json", "--set", "table.exec.mini-batch.size=5")
    assert "table.local-time-zone" in outcome.err


@pytest.mark.parametrize(("inserts", "single"), [(1, [True]), (2, [False, False])])
def test_run_tells_whether_a_job_is_the_only_one(
    inserts: int, single: list[bool], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = []
    monkeypatch.setattr(JobRunner, "start", lambda *_, single: told.append(single))
    tables = "".join(STREAMING.splitlines(keepends=True)[:2])
    script = tmp_path / "pipeline.sql"
    script.write_text(tables + "INSERT INTO nowhere SELECT n FROM numbers;\n" * inserts)
    assert flinkplan("run", str(script)).code == 0
    assert told == single


@pytest.mark.spark
def test_the_time_zone_is_that_of_the_session_that_executes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("events.json").write_text('{"ts": "2024-03-10 07:30:00Z"}\n')
    Path("script.sql").write_text(LOCAL_TIME)
    assert flinkplan("compile", "script.sql", "-o", "plan.json").code == 0
    settings = ("--var", f"DIR={tmp_path}", "--set", "table.local-time-zone=America/New_York")
    assert flinkplan("execute", "plan.json", *settings).code == 0
    assert flinkplan("run", "script.sql", *settings).code == 0
    files = [file for file in Path("out").rglob("*") if file.is_file() and not file.name.startswith(("_", "."))]
    assert [file.read_text() for file in files] == ['{"local":"2024-03-10 03:30:00"}\n'] * 2


TEMPORARY = """\
CREATE TEMPORARY TABLE numbers (n INT) WITH ('connector' = 'filesystem', 'path' = '${DIR}/in', 'format' = 'json');
CREATE TEMPORARY TABLE o (n INT) WITH ('connector' = 'filesystem', 'path' = '${DIR}/out', 'format' = 'json');
"""


@pytest.mark.spark
def test_tables_take_the_place_of_the_plan_s(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    topic = "'connector' = 'kafka', 'topic' = 't', 'properties.bootstrap.servers' = 'localhost:1', 'format' = 'json'"
    numbers = "CREATE TABLE numbers (n INT) WITH ({});"
    files = "'connector' = 'filesystem', 'path' = '${DIR}/{}', 'format' = 'json'"
    sink = f"CREATE TABLE o (n INT) WITH ({files.replace('{}', 'out')});"
    Path("script.sql").write_text(f"{numbers.format(topic)}{sink} INSERT INTO o SELECT n + 1 FROM numbers;")
    Path("in").write_text('{"n": 1}\n')
    Path("fixtures.sql").write_text(numbers.format(files.replace("{}", "in")))
    Path("wrong.sql").write_text(Path("fixtures.sql").read_text().replace("numbers", "number"))
    assert flinkplan("compile", "script.sql", "-o", "plan.json").code == 0
    for command in (("execute", "plan.json"), ("validate", "plan.json", "--for", "spark")):
        outcome = flinkplan(*command, "--tables", "wrong.sql")
        assert outcome.code == 3
        assert "the plan has no table `default_catalog`.`default_database`.`number`" in outcome.err
    assert flinkplan("execute", "plan.json", "--tables", "fixtures.sql", "--var", f"DIR={tmp_path}").code == 0
    assert [file.read_text() for file in Path("out").glob("part-*")] == ['{"n":2}\n']


@pytest.mark.spark
def test_temporary_tables_come_from_the_script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("in").write_text('{"n": 1}\n')
    Path("script.sql").write_text(TEMPORARY + "INSERT INTO o SELECT n + 1 FROM numbers;")
    Path("restored.sql").write_text(TEMPORARY + "EXECUTE PLAN 'plan.json';")
    variable = ("--var", f"DIR={tmp_path}")
    assert flinkplan("compile", "script.sql", "-o", "plan.json").code == 0
    outcome = flinkplan("execute", "plan.json", *variable)
    assert outcome.code == 3
    assert "does not hold the definition of `default_catalog`.`default_database`.`numbers`" in outcome.err
    assert "--tables" in outcome.err
    assert flinkplan("execute", "plan.json", "--tables", "script.sql", *variable).code == 0
    assert flinkplan("run", "script.sql", *variable).code == 0
    assert flinkplan("run", "restored.sql", *variable).code == 0
    files = [file for file in Path("out").rglob("*") if file.is_file() and not file.name.startswith(("_", "."))]
    assert [file.read_text() for file in files] == ['{"n":2}\n'] * 3


@pytest.mark.spark
def test_a_bounded_job_ends_with_a_summary(case: Path) -> None:
    outcome = flinkplan("execute", "plan.json", "--var", f"CASE={case}")
    assert outcome.code == 0, outcome.err
    assert re.fullmatch(rf"o: {ROWS} rows read, {ROWS} written in 1 batch\nfinished after [\d.]+ s\n", outcome.err)


@pytest.mark.spark
def test_one_line_of_json_a_batch_and_one_at_the_end(case: Path) -> None:
    outcome = flinkplan("execute", "plan.json", "--var", f"CASE={case}", "--log-format", "json")
    batch, last = map(json.loads, outcome.out.splitlines())
    assert (batch["event"], batch["sink"], batch["rows_read"], batch["rows_written"]) == ("batch", "o", ROWS, ROWS)
    assert (last["event"], last["sinks"]["o"]["rows_written"]) == ("finished", ROWS)
    assert outcome.err == ""


@pytest.mark.spark
def test_quiet(case: Path) -> None:
    outcome = flinkplan("execute", "plan.json", "--var", f"CASE={case}", "-q")
    assert (outcome.code, outcome.out, outcome.err) == (0, "", "")


@pytest.mark.spark
def test_a_select_without_end_is_shown_for_as_long_as_asked(tmp_path: Path) -> None:
    script = tmp_path / "script.sql"
    script.write_text(
        "CREATE TABLE numbers (n INT) WITH ('connector' = 'datagen', 'rows-per-second' = '50', "
        "'fields.n.kind' = 'sequence', 'fields.n.start' = '1', 'fields.n.end' = '1000000');"
        "SELECT n FROM numbers; SELECT 'the next' AS w;"
    )
    outcome = flinkplan("run", str(script), "--timeout", "5 s")
    assert outcome.code == 0, outcome.err
    shown = [int(n) for n in re.findall(r"\| \+I \| +(\d+) \|", outcome.out)]
    assert shown == [*range(1, len(shown) + 1)]
    assert re.search(rf"^({len(shown)} rows? in set|Empty set)$", outcome.out, re.MULTILINE)
    assert "the next" in outcome.out


@pytest.mark.spark
def test_a_select_shows_what_its_changes_leave(tmp_path: Path) -> None:
    query = "SELECT k, COUNT(*) AS c FROM (VALUES ('a'), ('b'), ('a')) AS t (k) GROUP BY k"
    outcome = flinkplan("run", "-", "--set", "sql-client.execution.result-mode=table", stdin=query)
    assert re.findall(r"\| +(\w) \| +(\d) \|", outcome.out) == [("b", "1"), ("a", "2")]
    assert "op" not in outcome.out


def test_a_log_level_needs_a_file(case: Path) -> None:
    outcome = flinkplan("execute", "plan.json", "--var", f"CASE={case}", "--log-level", "info")
    assert outcome.code == 2
    assert "--log-file" in outcome.err


@pytest.mark.spark
def test_spark_logs_into_a_file(case: Path) -> None:
    log = case / "spark.log"
    logged = ("--log-file", str(log), "--log-level", "info")
    process = flinkplan_process(
        "execute", str(case / "plan.json"), "--var", f"CASE={case}", *logged, code="sys.exit(status)"
    )
    assert process.returncode == 0, process.stderr
    assert "INFO" in log.read_text()
    assert "INFO" not in process.stderr
    missing = flinkplan("execute", "plan.json", "--var", f"CASE={case}", "--log-file", "missing/spark.log")
    assert missing.code == 3
    assert "missing/spark.log" in missing.err


@contextmanager
def streaming(folder: Path) -> Iterator[subprocess.Popen[str]]:
    """A process, in a group of its own, that runs a streaming job and has done a batch."""
    (folder / "script.sql").write_text(STREAMING)
    (folder / "temporary").mkdir()
    command = [str(Path(sys.executable).parent / "flinkplan"), "run", "script.sql", "--log-format", "json"]
    with subprocess.Popen(
        [*command, "--checkpoint", "state", "--trigger-interval", "1s"],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env=environment(TMPDIR=str(folder / "temporary")),
    ) as process:
        assert process.stdout
        assert json.loads(process.stdout.readline())["sink"] == "nowhere"
        yield process


def jvm_of(process: subprocess.Popen[str]) -> int:
    """The process of its JVM."""
    found = subprocess.run(["pgrep", "-P", str(process.pid), "java"], capture_output=True, text=True, check=True)
    return int(found.stdout)


def ended(process: subprocess.Popen[str]) -> tuple[int, str]:
    """The exit code and what was written to standard error."""
    errors = process.communicate()[1]
    return process.returncode, errors


@pytest.mark.spark
@pytest.mark.xdist_group("processes")
@pytest.mark.parametrize(
    ("number", "send", "code"),
    [(signal.SIGINT, os.kill, 130), (signal.SIGTERM, os.killpg, 143)],
    ids=["Ctrl-C", "group"],
)
def test_a_streaming_job_is_stopped_cleanly(
    tmp_path: Path, number: signal.Signals, send: Callable[[int, int], None], code: int
) -> None:
    """Also where the signal goes to the whole group of processes, and so ends the JVM.  No JVM and no file stays."""
    with streaming(tmp_path) as process:
        jvm = jvm_of(process)
        assert list((tmp_path / "temporary").glob("flinkplan-*/blockmgr-*"))
        send(process.pid, number)
        found, errors = ended(process)
    assert found == code, errors
    assert "error" not in errors and "Traceback" not in errors
    assert (tmp_path / "plan.json").exists()
    with pytest.raises(ProcessLookupError):
        os.kill(jvm, 0)
    assert list((tmp_path / "temporary").iterdir()) == []


def test_calls_to_a_jvm_that_has_gone_are_not_told_of(
    case: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nor after the command has ended, when Python lets go of objects of the JVM."""
    monkeypatch.setattr(logging.root, "handlers", [])
    flinkplan("execute", "plan.json")
    logging.exception("Exception while sending command.")  # as py4j does
    assert capsys.readouterr().err == ""


@pytest.mark.spark
@pytest.mark.xdist_group("processes")
def test_a_jvm_that_is_killed(tmp_path: Path) -> None:
    with streaming(tmp_path) as process:
        os.kill(jvm_of(process), signal.SIGKILL)
        code, errors = ended(process)
    assert code == 5, errors
    assert errors.splitlines()[-2:] == [
        "error: the JVM that ran the job has ended",
        "hint: it was killed, perhaps for want of memory: --conf spark.driver.memory=4g gives it more than 2g",
    ]
