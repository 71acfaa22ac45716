"""Pages and counts of a run."""

from __future__ import annotations

import json
import re
import socket
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest

from flinkplan.cli.metrics import Metrics
from flinkplan.cli.metrics import served as serve_metrics
from flinkplan.cli.pages import report
from flinkplan.cli.pages.report import Report, served
from flinkplan.cli.watching import Watched
from flinkplan.executor.jobs.progress import Lag, OperatorProgress, QueryProgress
from flinkplan.plan.errors import FlinkplanError
from flinkplan.plan.record import replace
from tests.cli.support import ROOT, flinkplan


def batch(number: int, watermark: str | None = "2020-01-01 00:00:01.500", sink: str = "o") -> QueryProgress:
    join = OperatorProgress("join#2", 5, "stream-exec-join_1", None, 6, 1, 4096)
    time = f"2020-01-01T00:00:{number % 60:02}.000Z"
    return QueryProgress(sink, number, time, 10, 4, 1, 100.0, 250, watermark, (join,))


def read(address: str) -> str:
    with urlopen(address) as answer:
        text: str = answer.read().decode()
        return text


def test_counts_in_the_format_of_prometheus() -> None:
    metrics = Metrics()
    with serve_metrics(metrics, 0) as address:
        for number in range(3):
            metrics.batch_done(batch(number))
        lines = read(address).splitlines()
        assert 'flinkplan_rows_read_total{sink="o"} 30.0' in lines
        assert 'flinkplan_rows_written_total{sink="o"} 12.0' in lines
        assert 'flinkplan_rows_late_total{operator="join#2",sink="o"} 3.0' in lines
        assert 'flinkplan_batch_seconds_sum{sink="o"} 0.75' in lines
        assert 'flinkplan_watermark_timestamp_seconds{sink="o"} 1.5778368015e+09' in lines
        assert 'flinkplan_state_bytes{operator="join#2",sink="o"} 4096.0' in lines
        assert not any(line.startswith("flinkplan_state_rows{") for line in lines)
        metrics.batch_done(batch(3, "end of input"))
        assert 'flinkplan_watermark_timestamp_seconds{sink="o"} +Inf' in read(address)
        assert "_created" not in read(address)


def test_lags_in_the_format_of_prometheus() -> None:
    metrics = Metrics()
    with serve_metrics(metrics, 0) as address:
        metrics.batch_done(batch(1, None))
        assert "flinkplan_watermark_lag_seconds{" not in read(address)
        lag = (Lag("a/b/0", "messages", 12), Lag("/in", "files", 3), Lag("/logs", "bytes", 4096))
        watermark = datetime.now(UTC) - timedelta(hours=1)
        metrics.batch_done(replace(batch(2, f"{watermark:%Y-%m-%d %H:%M:%S}.000"), lag=lag))
        lines = read(address).splitlines()
        assert 'flinkplan_source_lag_messages{partition="0",sink="o",topic="a/b"} 12.0' in lines
        assert 'flinkplan_source_lag_files{path="/in",sink="o"} 3.0' in lines
        assert 'flinkplan_source_lag_bytes{path="/logs",sink="o"} 4096.0' in lines
        (behind,) = (line for line in lines if line.startswith("flinkplan_watermark_lag_seconds{"))
        assert 3600 <= float(behind.split()[1]) < 3700
        metrics.batch_done(batch(3, "end of input"))
        assert "flinkplan_watermark_lag_seconds{" not in read(address)


def test_the_page_is_served_while_the_job_runs() -> None:
    kept = Report("a run")
    with served(kept, 0) as address:
        assert '"live": true' in read(address)
        kept.batch_done(batch(1))
        assert json.loads(read(f"{address}data"))["batches"][0]["rows_written"] == 4
        kept.ended("finished")
        assert json.loads(read(f"{address}data"))["state"] == "finished"
        with pytest.raises(HTTPError, match="404"):
            read(f"{address}etc/passwd")


def test_a_long_run_keeps_its_sums(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report, "MAX_BATCHES", 20)
    kept = Report("a run")
    for number in range(200):
        kept.batch_done(batch(number, sink="ab"[number % 2]))
    batches = kept.data()["batches"]
    assert len(batches) <= 20
    assert sum(b["rows_read"] for b in batches) == 2000
    assert batches[-1]["batch"] == 199


@pytest.mark.parametrize("option", ["ui", "metrics_port"])
def test_a_port_that_is_taken(option: str) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with (
            pytest.raises(FlinkplanError, match=f"the port {port} cannot be used"),
            Watched(**{option: port}).watching(),
        ):
            raise AssertionError("watched")


def test_the_page_is_written_however_the_job_ends(tmp_path: Path) -> None:
    file = tmp_path / "run.html"
    with pytest.raises(KeyboardInterrupt), Watched(str(file)).watching() as (page,):
        page.batch_done(batch(1))
        page.ended("stopped")
        raise KeyboardInterrupt
    assert '"state": "stopped"' in file.read_text()


@pytest.mark.spark
def test_a_run_with_all_of_it(tmp_path: Path) -> None:
    plan, data, file = ROOT / "sample_plans/order-shipping/plan.json", ROOT / "sample_plans/data", tmp_path / "run.html"
    paths = ("--var", f"DATA={data}", "--var", f"OUT={tmp_path}/out")
    outcome = flinkplan("execute", str(plan), *paths, "--report", str(file), "--ui", "0", "--metrics-port", "0")
    assert outcome.code == 0, outcome.err
    assert re.search(r"watch it at http://127\.0\.0\.1:\d+/\nmetrics at http://127\.0\.0\.1:\d+/metrics\n", outcome.err)
    assert '"sink": "OrdersShipInfo"' in file.read_text()
