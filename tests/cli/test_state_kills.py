"""Commands that write state, killed at random moments: what they replace or write is whole, the old or the new.

``make soak-state`` kills each of them 50 times; ``FLINKPLAN_KILLS`` sets how often.  By default that is done to the one
command that starts no JVM.
"""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from flinkplan.executor.checkpoints.copies import relocate
from flinkplan.executor.checkpoints.query_log import QueryProgress, write_progress
from flinkplan.executor.jobs.job import JobOptions, execute
from flinkplan.executor.jobs.states import count, find_states
from flinkplan.executor.jvm.session import PARTITIONS, session
from flinkplan.executor.prepare.modes import Mode
from flinkplan.flink.home import PYTHON
from flinkplan.flink.savepoint import read_savepoint
from flinkplan.plan.document import Plan, dumps
from flinkplan.plan.nodes import GroupAggregate, TableSourceScan
from flinkplan.planner import compile_script
from flinkplan.state.checkpoint import CheckpointRecord
from flinkplan.state.form import Column, JobState, Kind, Manifest, OperatorState, SourcePosition, StateTable
from flinkplan.state.form_arrow import table_schema
from flinkplan.state.form_folder import FolderState, write_folder
from tests.cli.support import ROOT
from tests.killing import SEED, Worker

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX"),
    pytest.mark.xdist_group("processes"),
]

KILLS = int(os.environ.get("FLINKPLAN_KILLS", "3"))
SAVEPOINT = ROOT / "tests" / "flink" / "savepoints" / "three-way-inner-join-with-ttl-hints-with-restore"
LEFT_BY_KILLS = (".unfinished-state-", "input.backup-")
SCRIPT = """
CREATE TABLE events (k STRING, v INT) WITH ('connector' = 'filesystem', 'path' = '{root}/in', 'format' = 'csv');
CREATE TABLE sums (k STRING, n BIGINT) WITH ('connector' = 'blackhole');
INSERT INTO sums SELECT k, COUNT(DISTINCT v) FROM events GROUP BY k;
"""

Content = Any
"""What a directory holds, in a form that tells the old from the new."""


class Command:
    """A command that reads ``input`` in ``root`` and replaces it, or writes ``output`` beside it.

    ``content`` is what such a directory holds; it fails for one that is not whole.
    """

    def __init__(self, root: Path, arguments: tuple[str, ...], content: Callable[[Path], Content]) -> None:
        self.root = root
        self.input, self.output = root / "work" / "input", root / "work" / "output"
        places = {"root": root, "input": self.input, "output": self.output}
        self.arguments = [part.format(**places) for part in arguments]
        self.content = content
        self.replaces = str(self.output) not in self.arguments

    def prepare(self) -> None:
        """Put the input there as it was at first, and remove the output."""
        shutil.rmtree(self.output, ignore_errors=True)
        shutil.rmtree(self.input, ignore_errors=True)
        shutil.copytree(self.root / "original", self.input)

    def check(self, old: Content, new: Content) -> bool:
        """Hold what a kill has left against what there may be; whether the command was done before."""
        names = {path.name for path in self.input.parent.iterdir()} - {"input", "output"}
        assert all(name.startswith(LEFT_BY_KILLS) for name in names)
        content = self.content(self.input)
        if not self.replaces:
            assert content == old
            assert not self.output.exists() or self.content(self.output) == new
            return self.output.exists()
        assert content in (old, new)
        for name in names:
            backup = self.input.parent / name
            if name.startswith("input.") and not (backup / ".replacement").exists():
                relocate(backup, self.input)
                assert self.content(backup) == old
                shutil.rmtree(backup)
        return bool(content == new)


def _soak(command: Command, kills: int, start: Callable[[list[str]], Any]) -> None:
    """Kill processes of a command, which ``start`` starts and whose ``begin`` lets them work."""
    moments = random.Random(SEED)
    command.prepare()
    old = command.content(command.input)
    worker = start(command.arguments)
    began = time.monotonic()
    worker.finish()
    seconds = time.monotonic() - began
    new = command.content(command.input if command.replaces else command.output)
    assert new != old or not command.replaces
    done = 0
    worker = start(command.arguments)
    for _ in range(kills):
        command.prepare()
        following = start(command.arguments)
        worker.begin()
        try:
            worker.process.wait(moments.uniform(0, seconds))
        except subprocess.TimeoutExpired:
            if moments.random() < 0.5:  # the command alone, whose JVM then ends by itself
                os.kill(worker.process.pid, signal.SIGKILL)
        with contextlib.suppress(ProcessLookupError):  # it has ended before
            worker.kill()
        done += command.check(old, new)
        worker = following
    command.prepare()
    worker.finish()
    assert command.content(command.input if command.replaces else command.output) == new
    assert done < kills or kills < 5


class Process:
    """A process of its own that runs a command, or ``code``, once it is told to begin."""

    def __init__(
        self, arguments: list[str], code: str = "from flinkplan.cli.main import main; main(sys.argv[1:])"
    ) -> None:
        command = [sys.executable, "-c", f"import sys; input(); {code}", *arguments]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True
        )

    def begin(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(b"\n")
        self.process.stdin.flush()

    def kill(self) -> None:
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.communicate()

    def finish(self) -> None:
        self.begin()
        self.process.communicate()
        assert self.process.returncode == 0


def _tree(folder: Path) -> Mapping[str, bytes]:
    """The files of a directory, but the lock."""
    files = (path for path in folder.rglob("*") if path.is_file() and path.name != "lock")
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def test_a_savepoint_is_written_whole(tmp_path: Path) -> None:
    original = tmp_path / "original"
    record = CheckpointRecord(original)
    record.prepare()
    record.begin(compile_script(SCRIPT.format(root=tmp_path)), "streaming", {})
    (original / "sums").mkdir()
    write_progress(original / "sums", QueryProgress(0, (None,), 0, {"conf": {PARTITIONS: "1"}}), "id-1")
    for partition in range(20):
        state = original / "sums" / "state" / "0" / str(partition)
        state.mkdir(parents=True)
        for version in range(1, 20):
            (state / f"{version}.changelog").write_bytes(os.urandom(1000))
    command = Command(tmp_path, ("savepoint", "{input}", "-o", "{output}"), _tree)
    _soak(command, KILLS, Process)


REPLACE = """
from pathlib import Path
from flinkplan.state.replacing import free_backup, replacing
folder = Path(sys.argv[1])
with replacing(folder, free_backup(folder)) as work:
    for number in range(300):
        (work / str(number)).write_text("new")
"""


def test_a_directory_is_replaced_whole(tmp_path: Path) -> None:
    (tmp_path / "original").mkdir()
    for number in range(200):
        (tmp_path / "original" / str(number)).write_text("old")

    def content(folder: Path) -> Content:
        return {name: text for name, text in _tree(folder).items() if name != ".replacement"}

    _soak(Command(tmp_path, ("{input}",), content), KILLS, lambda arguments: Process(arguments, REPLACE))


@pytest.fixture(scope="module")
def spark() -> SparkSession:
    return session("local[2]", {PARTITIONS: "1"})


@pytest.fixture(scope="module")
def checkpoint(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory of the checkpoint of a job that has stopped, as ``original``."""
    root = tmp_path_factory.mktemp("checkpoint")
    (root / "in").mkdir()
    (root / "in" / "1").write_text("".join(f"k{i % 100},{i}\n" for i in range(5000)))
    options = JobOptions(checkpoint=str(root / "original"), mode=Mode.AVAILABLE_NOW, spark=spark)
    plan = compile_script(SCRIPT.format(root=root))
    (root / "plan.json").write_text(dumps(plan))
    fewer = compile_script(SCRIPT.format(root=root).replace("BY k;", "BY k HAVING COUNT(DISTINCT v) > 10;"))
    (root / "new.json").write_text(dumps(fewer))
    execute(plan, options).wait()
    relocate(root / "original", root / "work" / "input")
    return root


SOAK = pytest.mark.nightly("each kill starts a JVM")


@pytest.mark.spark
@SOAK
@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(("state", "drop", "{input}", "--operator", "*", "--key", "k7", "--yes"), id="drop"),
        pytest.param(("rescale", "{input}", "--partitions", "3"), id="rescale"),
        pytest.param(("rescale", "{input}", "--partitions", "2", "-o", "{output}"), id="rescale-output"),
        pytest.param(("migrate", "{input}", "{root}/new.json", "-o", "{output}"), id="migrate"),
    ],
)
def test_a_checkpoint_is_changed_whole(spark: SparkSession, checkpoint: Path, arguments: tuple[str, ...]) -> None:
    command = Command(checkpoint, arguments, lambda folder: _checkpoint(spark, folder))
    _soak(command, KILLS, lambda arguments: Worker(arguments, 1))


def _checkpoint(spark: SparkSession, folder: Path) -> Content:
    """What a checkpoint holds: the entries of each state, and in how many partitions they are."""
    record = CheckpointRecord(folder)
    record.check(["sums"])
    states = {(state.operator, state.name): count(spark, state) for state in find_states(folder)}
    return states, record.settings("sums").get(PARTITIONS)


def _savepoint(folder: Path) -> Content:
    """What a savepoint holds: the entries of each state."""
    with read_savepoint(folder) as state:
        return [(operator.uid, table.name, table.entries) for operator, table in state.manifest.tables()]


def _tables(folder: Path) -> Content:
    """What the tables of a state hold: the entries of each of them."""
    state = FolderState(folder)
    return [(t.name, sum(batch.num_rows for batch in state.batches(t))) for _, t in state.manifest.tables()]


class Groups(JobState):
    """The state of a job of Flink that counts rows by key, with so many keys."""

    def __init__(self, plan: Plan, keys: int) -> None:
        (scan,) = (node for node in plan.nodes if isinstance(node, TableSourceScan))
        (group,) = (node for node in plan.nodes if isinstance(node, GroupAggregate))
        value = (Column("f0", "BIGINT"), Column("$kind", "TINYINT"))
        table = StateTable(1, "accState", Kind.VALUE, (Column("f0", "STRING"),), value=value, entries=keys)
        operators = (
            OperatorState((), uid=f"{scan.id}_source", hash="1"),
            OperatorState((table,), uid=f"{group.id}_group-aggregate", hash="2"),
        )
        positions = (SourcePosition(f"{scan.id}_source", None, "filesystem", ()),)
        self._manifest = Manifest("flink", operators, positions=positions)
        self._keys = keys

    @property
    def manifest(self) -> Manifest:
        return self._manifest

    def batches(self, table: StateTable) -> Iterator[pa.RecordBatch]:
        rows = [{"key": {"f0": f"k{i}"}, "value": {"f0": i, "$kind": 0}} for i in range(self._keys)]
        yield pa.RecordBatch.from_pylist(rows, table_schema(table))


@pytest.mark.spark
@SOAK
def test_a_job_is_moved_to_spark_whole(spark: SparkSession, tmp_path: Path) -> None:
    plan = compile_script(SCRIPT.format(root=tmp_path).replace("DISTINCT v", "*"))
    (tmp_path / "plan.json").write_text(dumps(plan))
    (tmp_path / "in").mkdir()
    (tmp_path / "work").mkdir()
    write_folder(Groups(plan, 5000), tmp_path / "original")

    def content(folder: Path) -> Content:
        return _tables(folder) if (folder / "manifest.json").exists() else _checkpoint(spark, folder)

    places = ("{input}", str(tmp_path / "plan.json"), "--to", "spark", "-o", "{output}")
    _soak(Command(tmp_path, ("move", *places), content), KILLS, lambda arguments: Worker(arguments, 1))


@pytest.mark.spark
@pytest.mark.skipif(PYTHON not in os.environ, reason=f"needs Flink: {PYTHON}")
@SOAK
def test_a_job_is_moved_to_flink_whole(spark: SparkSession, checkpoint: Path) -> None:
    def content(folder: Path) -> Content:
        return _savepoint(folder) if (folder / "_metadata").exists() else _checkpoint(spark, folder)

    places = ("{input}", str(checkpoint / "plan.json"), "--to", "flink", "-o", "{output}")
    _soak(Command(checkpoint, ("move", *places), content), KILLS, lambda arguments: Worker(arguments, 1))


@pytest.mark.skipif(PYTHON not in os.environ, reason=f"needs Flink: {PYTHON}")
@SOAK
@pytest.mark.parametrize("name", ["export", "import", "drop"])
def test_a_savepoint_of_flink_is_written_whole(tmp_path: Path, name: str) -> None:
    def content(folder: Path) -> Content:
        return _tables(folder) if (folder / "manifest.json").exists() else _savepoint(folder)

    if name == "import":
        Process(["state", "export", str(SAVEPOINT), "-o", str(tmp_path / "original")]).finish()
    else:
        shutil.copytree(SAVEPOINT, tmp_path / "original")
    arguments = {
        "export": ("state", "export", "{input}", "-o", "{output}"),
        "import": ("state", "import", "{input}", "-o", "{output}"),
        "drop": ("state", "drop", "{input}", "--operator", "*join*", "--yes"),
    }
    _soak(Command(tmp_path, arguments[name], content), KILLS, Process)
