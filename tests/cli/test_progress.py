"""What is told of a running job."""

from __future__ import annotations

import json
import re

import pytest

from flinkplan.cli.progress import as_json, shown
from flinkplan.executor.jobs.progress import OperatorProgress, QueryProgress, Waiting
from flinkplan.plan.record import replace


def batch_of(sink: str, written: int, *operators: OperatorProgress) -> QueryProgress:
    return QueryProgress(
        sink, 3, "2020-01-01T00:00:00.000Z", 10, written, 1, 2.468, 90, "2020-01-01 00:00:00.000", operators
    )


def test_what_waits_is_told_though_there_is_no_batch() -> None:
    idle = replace(batch_of("o", 0), waiting=(Waiting("messages", "`rates`", 17),), is_idle=True)
    line = json.loads(json.dumps(as_json(idle)))
    assert line["event"] == "waiting"
    assert line["waiting"] == [{"source": "messages", "waits_for": "`rates`", "waiting": 17}]


def test_a_batch_is_a_line_of_json() -> None:
    operator = OperatorProgress("join#2", 5, "stream-exec-join_1", 7, 5, 1, 4096)
    batch = batch_of("o", 4, operator)
    assert json.loads(json.dumps(as_json(batch))) == {
        "event": "batch",
        "sink": "o",
        "batch": 3,
        "time": "2020-01-01T00:00:00.000Z",
        "rows_read": 10,
        "rows_written": 4,
        "rows_dropped": 1,
        "rows_per_second": 2.5,
        "duration_ms": 90,
        "watermark": "2020-01-01 00:00:00.000",
        "operators": [
            {
                "name": "join#2",
                "node": 5,
                "type": "stream-exec-join_1",
                "state_rows": 7,
                "updated_rows": 5,
                "dropped_rows": 1,
                "memory_bytes": 4096,
            },
        ],
    }


def test_the_last_line_of_json_adds_up(capsys: pytest.CaptureFixture[str]) -> None:
    with shown("json", quiet=False) as progress:
        for written in (4, 5):
            progress.batch_done(batch_of("o", written))
    *batches, last = map(json.loads, capsys.readouterr().out.splitlines())
    assert [batch["rows_written"] for batch in batches] == [4, 5]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", last.pop("time"))
    assert last.pop("duration_ms") >= 0
    sums = {"batches": 2, "rows_read": 20, "rows_written": 9, "rows_dropped": 2}
    assert last == {"event": "finished", "sinks": {"o": sums}}


def test_the_summary_adds_up_what_several_jobs_write_into_a_sink(capsys: pytest.CaptureFixture[str]) -> None:
    with shown("text", quiet=False) as progress:
        for written in (4, 5):
            progress.batch_done(batch_of("o", written))
    assert capsys.readouterr().err.startswith("o: 20 rows read, 9 written, 2 too late in 2 batches\nfinished after ")
