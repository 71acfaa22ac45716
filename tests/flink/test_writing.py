"""Savepoints written from tables."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

from flinkplan.flink.savepoint import read_savepoint, read_savepoints
from flinkplan.flink.writing import write_savepoint
from flinkplan.plan.record import replace
from flinkplan.state.form import JobState, Manifest, StateError, StateTable
from flinkplan.state.form_folder import FolderState
from tests.cli.support import flinkplan
from tests.flink.state_text import actual

SAVEPOINTS = Path(__file__).parent / "savepoints"
NAMES = (
    "rank-test-retract-strategy",
    "window-join-left-tumble-event-time",
    "three-way-inner-join-with-ttl-hints-with-restore",
    "expand",
)
AGGREGATE = SAVEPOINTS / "group-aggregate-simple"

pytestmark = pytest.mark.flink


def operators(state: JobState) -> list[tuple[str | None, object, int | None, int | None]]:
    return [(o.uid, o.written_by, o.parallelism, o.max_parallelism) for o in state.manifest.operators]


def test_there_and_back_is_the_same_entry_for_entry(tmp_path: Path) -> None:
    before = {}
    for name, savepoint in zip(NAMES, read_savepoints([SAVEPOINTS / name for name in NAMES]), strict=True):
        with savepoint:
            before[name] = (actual(savepoint), operators(savepoint))
            write_savepoint(savepoint, tmp_path / name)
    for name, again in zip(NAMES, read_savepoints([tmp_path / name for name in NAMES]), strict=True):
        with again:
            assert (actual(again), operators(again)) == before[name]


class WithoutInput(JobState):
    """State in which the source has ended."""

    def __init__(self, state: JobState) -> None:
        self._state = state

    @property
    def manifest(self) -> Manifest:
        manifest = self._state.manifest
        operators = tuple(
            replace(o, states=(), is_finished=True) if o.uid == "1_source" else o for o in manifest.operators
        )
        return replace(manifest, operators=operators)

    def batches(self, table: StateTable) -> Iterator[pa.RecordBatch]:
        return self._state.batches(table)


def test_an_operator_that_has_ended_is_known(tmp_path: Path) -> None:
    with read_savepoint(AGGREGATE) as savepoint:
        write_savepoint(WithoutInput(savepoint), tmp_path / "ended")
    with read_savepoint(tmp_path / "ended") as savepoint:
        assert [o.uid for o in savepoint.manifest.operators if o.is_finished] == ["1_source"]


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that export has written of the savepoint of an aggregation; not to be changed."""
    folder = tmp_path_factory.mktemp("exported") / "state"
    outcome = flinkplan("state", "export", str(AGGREGATE), "-o", str(folder))
    assert (outcome.code, outcome.err) == (0, "")
    assert "entries of 6 states" in outcome.out
    return folder


def mended(exported: Path, folder: Path, change: str) -> Path:
    """A copy in which the accumulators are changed, as another program would, with wider texts."""
    import shutil

    shutil.copytree(exported, folder)
    state = FolderState(folder)
    (table,) = [t for _, t in state.manifest.tables() if t.name == "accState"]
    file = folder / "tables" / f"{table.table:04d}.parquet"
    rows = parquet.read_table(file).to_pylist()
    if change == "twice":
        rows.append(rows[0])
    else:
        for row in rows:
            row["value"]["f0"] += 100
    schema = parquet.read_schema(file)
    value = schema.field("value").type
    wider = pa.struct([pa.field(f.name, pa.large_string() if f.name == "f3" else f.type) for f in value])
    parquet.write_table(pa.Table.from_pylist(rows, schema.set(1, pa.field("value", wider))), file)
    return folder


def test_state_that_was_changed_goes_into_a_savepoint(exported: Path, tmp_path: Path) -> None:
    folder = mended(exported, tmp_path / "state", "more")
    outcome = flinkplan("state", "import", str(folder), "-o", str(tmp_path / "savepoint"))
    assert outcome.code == 0
    with read_savepoint(tmp_path / "savepoint") as savepoint:
        (entries,) = [v for (_, name), v in actual(savepoint).items() if name == "accState"]
    assert entries == ["key +I[1] value +I[101, 0, 0, 'Hi']", "key +I[2] value +I[102, 4, 2, 'Hello']"]


def test_an_entry_that_is_there_twice_is_refused(exported: Path, tmp_path: Path) -> None:
    folder = mended(exported, tmp_path / "state", "twice")
    outcome = flinkplan("state", "import", str(folder), "-o", str(tmp_path / "savepoint"))
    assert outcome.code == 3
    assert "the state accState has an entry twice" in outcome.err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["state"]


def test_a_savepoint_is_not_overwritten(exported: Path, tmp_path: Path) -> None:
    with pytest.raises(StateError, match="something already"):
        write_savepoint(FolderState(exported), tmp_path)


def test_exported_state_is_shown(exported: Path) -> None:
    outcome = flinkplan("state", str(exported), "--operator", "4_*", "--key", "1")
    assert '[1]: {"f0": 1, "f1": 0, "f2": 0, "f3": "Hi"}' in outcome.out
