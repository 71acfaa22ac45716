"""``flinkplan doctor`` over counts that are on record, and over those of a job that serves its page."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from flinkplan.cli.pages.report import Report, served
from flinkplan.cli.progress import shown
from flinkplan.plan.document import dumps
from flinkplan.plan.record import replace
from flinkplan.planner import compile_script
from flinkplan.state.checkpoint import CheckpointRecord
from flinkplan.state.counts import Flow, JobCounts, QueryCounts, SourceCounts, digest, write_counts
from tests.cli.support import flinkplan
from tests.cli.test_progress import batch_of

PLAN = compile_script(
    "CREATE TABLE a (id STRING, v INT) WITH ('connector' = 'datagen');"
    "CREATE TABLE o (id STRING) WITH ('connector' = 'blackhole');"
    "INSERT INTO o SELECT id FROM a WHERE v < 0"
)
SCAN, CALC, SINK = (node.id for node in PLAN.nodes)
FOUND = {"diagnosis": "filter", "sink": "o", "node": "calc", "message": "none\nof it", "hint": "look"}


def checkpoint(folder: Path, counts: QueryCounts) -> str:
    """A checkpoint with the counts of a job that has ended."""
    record = CheckpointRecord(folder)
    record.prepare()
    record.begin(PLAN, "available-now", {})
    write_counts(record, JobCounts(digest(dumps(PLAN)), "available-now", 0, 90_000, {"o": counts}))
    return str(folder)


READ = QueryCounts({SCAN: SourceCounts(7)}, (Flow(SCAN, SINK, 0),), batches=1)


def test_what_keeps_rows_back(tmp_path: Path) -> None:
    outcome = flinkplan("doctor", checkpoint(tmp_path, READ))
    assert (outcome.code, outcome.err) == (1, "")
    assert outcome.out.startswith("o\n  filter: none of 7 rows of `a` passes the filter (v < 0)\n    hint: ")


def test_as_json(tmp_path: Path) -> None:
    outcome = flinkplan("doctor", checkpoint(tmp_path, READ), "--format", "json")
    (one,) = json.loads(outcome.out)
    assert outcome.code == 1
    assert (one["diagnosis"], one["sink"], one["node"], one["node_id"]) == ("filter", "o", "calc", CALC)
    assert (one["rows"], one["conditions"]) == (7, ["(v < 0)"])


def test_nothing_is_wrong(tmp_path: Path) -> None:
    counts = replace(READ, flows=(Flow(SCAN, SINK, 7),), written=7, last_written=80_000)
    outcome = flinkplan("doctor", checkpoint(tmp_path, counts))
    assert (outcome.code, outcome.out, outcome.err) == (0, "", "nothing was found that keeps rows back\n")


def test_there_are_no_counts(tmp_path: Path) -> None:
    folder = checkpoint(tmp_path / "c", READ)
    (tmp_path / "c" / "flinkplan" / "counts.json").write_text("{")
    for place, message in ((str(tmp_path), "there is no checkpoint here"), (folder, "holds no counts of the job")):
        outcome = flinkplan("doctor", place)
        assert outcome.code == 3
        assert message in outcome.err


@pytest.mark.parametrize("arguments", [(), ("checkpoint", "--ui", "1"), ("--ui", "file:///etc/passwd")])
def test_wrong_usage(arguments: tuple[str, ...]) -> None:
    assert flinkplan("doctor", *arguments).code == 2


def test_a_job_that_serves_its_page() -> None:
    with served(Report("job", lambda: [FOUND]), 0) as address:
        port = address.rpartition(":")[2].strip("/")
        outcome = flinkplan("doctor", "--ui", port)
        assert (outcome.code, outcome.out) == (1, "o\n  filter: none\n  | of it\n    hint: look\n")
        assert json.loads(flinkplan("doctor", "--ui", address, "--format", "json").out) == [FOUND]
    outcome = flinkplan("doctor", "--ui", port)
    assert outcome.code == 3
    assert "no job answers" in outcome.err


def test_a_job_without_rows_says_why(capsys: pytest.CaptureFixture[str]) -> None:
    with shown("text", quiet=False) as progress:
        progress.batch_done(batch_of("o", 0))
        progress.job_ended(lambda: [FOUND, {**FOUND, "sink": "another"}])
    printed = capsys.readouterr().err
    assert printed.endswith("nothing was written:\no\n  filter: none\n  | of it\n    hint: look\n")
    with shown("json", quiet=False) as progress:
        progress.batch_done(batch_of("o", 0))
        progress.job_ended(lambda: [FOUND])
    *_, said, _ = map(json.loads, capsys.readouterr().out.splitlines())
    assert said == {"event": "diagnosis", **FOUND}


def test_a_job_with_rows_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with shown("text", quiet=False) as progress:
        progress.batch_done(batch_of("o", 1))
        progress.job_ended(lambda: [FOUND])
    assert "filter" not in capsys.readouterr().err
