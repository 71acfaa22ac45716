"""Plans and the record of a job in an object store."""

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
from tests.object_store import BUCKET, s3

from .support import flinkplan

pytestmark = [pytest.mark.programs, pytest.mark.nightly("an environment with the server takes a minute to make")]

SCRIPT = "CREATE TABLE t (id INT) WITH ('connector' = 'print'); INSERT INTO t VALUES (1);"


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A bucket of its own, which all clients find by the environment."""
    from s3fs import S3FileSystem

    with s3() as settings:
        for name, value in settings.items():
            monkeypatch.setenv(name, value)
        S3FileSystem.clear_instance_cache()
        yield BUCKET
        S3FileSystem.clear_instance_cache()


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
