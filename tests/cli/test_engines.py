"""Before a JVM starts it is said of a plan what its engine will refuse; no PySpark is needed to know."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.support import ROOT, flinkplan

TABLES = """
CREATE TABLE a (s STRING, n INT, ts TIMESTAMP(3), t2 AS ts, WATERMARK FOR ts AS ts)
  WITH ('connector' = 'filesystem', 'path' = '${IN}', 'format' = 'json');
CREATE TABLE k (s STRING, n INT) WITH ('connector' = 'pulsar', 'format' = 'json', 'topic' = 't');
CREATE TABLE v (s STRING, n INT) WITH ('connector' = 'filesystem', 'path' = '/out', 'format' = 'avro');
CREATE TABLE w (s STRING, n INT) WITH ('connector' = 'filesystem', 'path' = '/out', 'format' = 'json');
CREATE TABLE p (s STRING, n INT) WITH ('connector' = 'print');
CREATE TABLE two (x TIMESTAMP(3), y TIMESTAMP(3)) WITH ('connector' = 'print');
"""
SESSIONS = "TABLE(SESSION(TABLE a PARTITION BY s, DESCRIPTOR(ts), INTERVAL '5' SECOND))"

REFUSED = [
    ("INSERT INTO p SELECT s, n FROM k;", "spark-table", "the connector 'pulsar' is not executed here"),
    ("INSERT INTO v SELECT s, n FROM a;", "spark-table", "the format 'avro' is not executed here"),
    (
        f"INSERT INTO p SELECT s, FIRST_VALUE(n) FROM {SESSIONS} GROUP BY s, window_start, window_end;",
        "spark-node",
        "FIRST_VALUE in a window that is made of parts",
    ),
    (
        "INSERT INTO two SELECT x.ts, y.ts FROM a x, a y WHERE x.s = y.s "
        "AND x.ts BETWEEN y.ts - INTERVAL '1' SECOND AND y.ts;",
        "spark-node",
        "more than one rowtime attribute column",
    ),
    ("INSERT INTO p SELECT s, n FROM a ORDER BY n;", "spark-node", "ORDER BY columns that are no time attribute"),
    ("INSERT INTO p SELECT s, n FROM a WHERE s = 5;", "spark-node", "are not converted implicitly"),
]


def compiled(folder: Path, statement: str, tables: str = TABLES) -> str:
    (folder / "p.sql").write_text(tables + statement)
    plan = folder / "plan.json"
    outcome = flinkplan("compile", str(folder / "p.sql"), "-o", str(plan), "--force")
    assert outcome.code == 0, outcome.err
    return str(plan)


def found(*arguments: str) -> dict[str, tuple[str, str, int]]:
    """What validate finds: severity, message and line by rule."""
    report = json.loads(flinkplan("validate", *arguments, "--format", "json").out)
    return {f["rule"]: (f["severity"], f["message"], f["line"]) for f in report["findings"]}


def test_what_flink_refuses(tmp_path: Path) -> None:
    plan = compiled(tmp_path, "INSERT INTO p SELECT s, CAST(STDDEV_POP(n) AS INT) FROM a GROUP BY s;")
    own = tmp_path / "own.json"
    own.write_text(Path(plan).read_text().replace("stream-exec-group-aggregate_1", "stream-exec-late-rows_1"))
    for path, rule in ((plan, "lost-function"), (str(own), "own-node")):
        severities = [found(path, *engine)[rule][0] for engine in ((), ("--for", "spark"), ("--for", "flink"))]
        assert severities == ["note", "note", "error"]


@pytest.mark.parametrize(("statement", "rule", "words"), REFUSED, ids=[words for _, _, words in REFUSED])
def test_what_execute_refuses(tmp_path: Path, statement: str, rule: str, words: str) -> None:
    plan = compiled(tmp_path, statement)
    severity, message, line = found(plan, "--for", "spark", "--var", f"IN={tmp_path}")[rule]
    assert severity == "error"
    assert words in message
    assert line > 1
    assert found(plan)[rule][0] == "note"
    for_flink = found(plan, "--for", "flink")
    assert rule not in for_flink
    codes = [flinkplan("validate", plan, *how).code for how in (("--for", "spark"), (), ("--for", "flink"))]
    assert codes == [1, 0, int("flink-start" in for_flink)]
    for command in (("explain", "--physical", plan), ("execute", plan, "--var", f"IN={tmp_path}")):
        refused = flinkplan(*command)
        assert refused.code in (3, 4), command
        assert words in refused.err, command


def test_variables_and_files(tmp_path: Path) -> None:
    plan = compiled(tmp_path, "INSERT INTO p SELECT s, n FROM a;")
    assert found(plan) == {}
    assert found(plan, "--for", "spark")["spark-variable"][:2] == ("note", "the tables' options use ${IN}, not set")
    missing = found(plan, "--for", "spark", "--var", f"IN={tmp_path}/nowhere")
    assert missing["spark-files"][:2] == ("error", f"there is nothing to read at {tmp_path}/nowhere")
    assert found(plan, "--for", "spark", "--var", f"IN=file://{tmp_path}") == {}
    assert flinkplan("explain", "--physical", plan).code == 0


@pytest.mark.parametrize("engine", ["spark", "flink"])
def test_options_that_no_engine_takes(tmp_path: Path, engine: str) -> None:
    plan = compiled(tmp_path, "INSERT INTO p SELECT s, n FROM a;")
    text = Path(plan).read_text()
    Path(plan).write_text(text.replace('"format" : "json"', '"format" : "json", "json.fail-on-missing-fild" : "true"'))
    assert found(plan) == {}
    severity, message, _ = found(plan, "--for", engine)["table-option"]
    assert (severity, message) == ("error", "the format 'json' has no option 'json.fail-on-missing-fild'")


def test_no_pyspark_is_imported(tmp_path: Path) -> None:
    plan = compiled(tmp_path, REFUSED[2][0])
    script = (
        "import sys; from flinkplan.cli.main import run; "
        f"codes = [run(['validate', {plan!r}, '--for', 'spark']), run(['explain', '--physical', {plan!r}])]; "
        "sys.exit(f'{codes}' if any(m.split('.')[0] in ('pyspark', 'py4j') for m in sys.modules) else codes[0])"
    )
    process = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=ROOT, check=False)
    assert process.returncode == 1, process.stderr
    assert "error[spark-node]" in process.stdout


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("table.exec.sink.not-null-enforcr=DROP", "Did you mean 'table.exec.sink.not-null-enforcer'?"),
        ("table.exec.mini-batch.size=5", "set it when the plan is compiled"),
        ("state.backend=rocksdb", "has no effect here: Spark keeps the state"),
        ("table.exec.sink.not-null-enforcer=maybe", "it is ERROR or DROP"),
    ],
)
def test_options_of_the_session_that_executes(tmp_path: Path, setting: str, words: str) -> None:
    plan = compiled(tmp_path, "INSERT INTO p SELECT s, n FROM a;")
    outcome = flinkplan("execute", plan, "--set", setting)
    assert outcome.code in (2, 3)
    assert words in outcome.err


def test_tables_that_the_plan_only_names(tmp_path: Path) -> None:
    script = TABLES.replace("CREATE TABLE k", "CREATE TEMPORARY TABLE k")
    plan = compiled(tmp_path, "INSERT INTO p SELECT s, n FROM k;", script)
    assert found(plan) == {}
    assert found(plan, "--for", "spark")["spark-definition"][0] == "note"
    (tmp_path / "tables.sql").write_text(script)
    told = found(plan, "--for", "spark", "--tables", str(tmp_path / "tables.sql"))
    assert told["spark-table"][1] == "the connector 'pulsar' is not executed here"
