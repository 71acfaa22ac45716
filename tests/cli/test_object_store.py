"""Plans and the record of a job in an object store: S3, as the server of moto plays it."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from flinkplan.plan.document import loads
from flinkplan.plan.files import Place
from flinkplan.state.checkpoint import CheckpointRecord

from .support import flinkplan

pytest.importorskip("s3fs", reason="install flinkplan[s3]")
server = pytest.importorskip("moto.server", reason="install moto[server]")

SCRIPT = "CREATE TABLE t (id INT) WITH ('connector' = 'print'); INSERT INTO t VALUES (1);"


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A bucket of its own, which all clients find by the environment."""
    import boto3
    from s3fs import S3FileSystem

    started = server.ThreadedMotoServer(port=0)
    started.start()
    host, port = started.get_host_and_port()
    settings = {"ACCESS_KEY_ID": "key", "SECRET_ACCESS_KEY": "secret", "DEFAULT_REGION": "us-east-1"}
    for name, value in {**settings, "ENDPOINT_URL": f"http://{host}:{port}"}.items():
        monkeypatch.setenv(f"AWS_{name}", value)
    S3FileSystem.clear_instance_cache()
    boto3.client("s3").create_bucket(Bucket="lake")
    yield "s3://lake"
    S3FileSystem.clear_instance_cache()
    started.stop()


def test_plans_are_written_and_read(bucket: str, tmp_path: Path) -> None:
    (tmp_path / "p.sql").write_text(SCRIPT)
    plan = f"{bucket}/plans/p.json"
    assert flinkplan("compile", str(tmp_path / "p.sql"), "-o", plan).code == 0
    assert flinkplan("validate", plan).code == 0
    assert type(loads(Place.of(plan).read()).nodes[-1]).__name__ == "Sink"
    assert flinkplan("diff", plan, plan).code == 0


def test_a_record_is_found_again(bucket: str) -> None:
    record = CheckpointRecord(f"{bucket}/state")
    assert record.name_query("t", "first") == "first"
    assert not record.is_done("t")
    record.finish("t")
    again = CheckpointRecord(f"{bucket}/state")
    assert (again.is_done("t"), again.is_done("u"), again.name_query("t", "second")) == (True, False, "first")


WRITES = """
import sys
from flinkplan.plan.files import Place
for number in range(100_000):
    Place.of(sys.argv[1]).write(f"{number} " * 50_000)
    print(number, flush=True)
"""


def test_a_file_is_whole_when_its_writer_is_killed(bucket: str) -> None:
    path = f"{bucket}/plans/killed"
    for count in range(1, 4):
        with subprocess.Popen([sys.executable, "-c", WRITES, path], stdout=subprocess.PIPE, text=True) as writer:
            assert writer.stdout is not None
            for _ in range(count):
                assert writer.stdout.readline()
            writer.send_signal(signal.SIGKILL)
        numbers = Place.of(path).read().split()
        assert len(numbers) == 50_000
        assert len(set(numbers)) == 1
