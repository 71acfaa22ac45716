"""Savepoints, read with a Flink's jars."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from flinkplan.flink.savepoint import Savepoint, is_savepoint, read_savepoint, read_savepoints
from flinkplan.flink.writing import write_savepoint
from flinkplan.state.form import Kind, StateError
from flinkplan.state.form_folder import FolderState, write_folder
from tests.cli.support import flinkplan
from tests.flink.state_text import actual, expected

SAVEPOINTS = Path(__file__).parent / "savepoints"
NAMES = sorted(folder.name for folder in SAVEPOINTS.iterdir() if folder.is_dir())
AGGREGATE = SAVEPOINTS / "group-aggregate-simple"

pytestmark = pytest.mark.flink


@pytest.fixture(scope="module")
def savepoints() -> Iterator[dict[str, Savepoint]]:
    """All savepoints here, read by one JVM."""
    opened = dict(zip(NAMES, read_savepoints([SAVEPOINTS / name for name in NAMES]), strict=True))
    yield opened
    for savepoint in opened.values():
        savepoint.close()


@pytest.mark.parametrize("name", NAMES)
def test_every_entry_is_decoded(savepoints: dict[str, Savepoint], name: str) -> None:
    assert actual(savepoints[name]) == expected(SAVEPOINTS / name / "state.txt")


@pytest.mark.parametrize("name", NAMES)
def test_batches_are_sound(savepoints: dict[str, Savepoint], name: str) -> None:
    for _, table in savepoints[name].manifest.tables():
        rows = 0
        for batch in savepoints[name].batches(table):
            batch.validate(full=True)
            rows += batch.num_rows
        assert rows == table.entries


def test_operators_have_their_uids_also_where_only_hashes_are_written(savepoints: dict[str, Savepoint]) -> None:
    manifest = savepoints["group-aggregate-simple"].manifest
    assert manifest.engine_version == "4"
    assert {o.uid for o in manifest.operators} >= {"4_group-aggregate", "1_source", "6_sink"}


def test_the_state_of_coordinators_is_carried(savepoints: dict[str, Savepoint]) -> None:
    tables = [t for _, t in savepoints["join-left-join"].manifest.tables() if t.kind is Kind.COORDINATOR]
    assert [table.entries for table in tables] == [1, 1]


def test_a_savepoint_is_kept_in_a_folder(savepoints: dict[str, Savepoint], tmp_path: Path) -> None:
    source = savepoints["three-way-inner-join-with-ttl-hints-with-restore"]
    write_folder(source, tmp_path / "state")
    assert actual(FolderState(tmp_path / "state")) == actual(source)


def test_temporary_files_are_removed() -> None:
    with read_savepoint(AGGREGATE) as savepoint:
        folder = savepoint._folder
        assert folder.is_dir()
    assert not folder.exists()


def test_states_are_carried_as_bytes_where_a_serializer_is_not_flinks_own(tmp_path: Path) -> None:
    old = b"org.apache.flink.table.runtime.typeutils.RowDataSerializer$RowDataSerializerSnapshot"
    new = b"org.apache.flink.api.java.typeutils.runtime.kryo.KryoSerializerSnapshot"
    content = (AGGREGATE / "_metadata").read_bytes()
    written = len(old).to_bytes(2, "big") + old
    foreign = (len(new).to_bytes(2, "big") + new).ljust(len(written), b"\0")
    assert written in content
    (tmp_path / "_metadata").write_bytes(content.replace(written, foreign))
    with read_savepoint(tmp_path) as savepoint:
        handles = [
            (operator.uid, table) for operator, table in savepoint.manifest.tables() if table.kind is Kind.HANDLE
        ]
        assert "keyed states" in {table.name for uid, table in handles if str(uid).endswith("_group-aggregate")}
        serializers = {column.serializer.strip("\0") for _, table in handles for column in table.opaque}
        assert serializers == {new.decode()}
        assert len(savepoint.manifest.remarks) == len(handles)
        carried = actual(savepoint)
        write_savepoint(savepoint, tmp_path / "written")
    with read_savepoint(tmp_path / "written") as again:
        assert actual(again) == carried


def test_accumulators_of_classes_of_the_job_are_decoded_without_its_jar(tmp_path: Path) -> None:
    package = b"org.apache.flink.table.runtime.functions.aggregate."
    flinks = package + b"FirstValueWithRetractAggFunction$FirstValueWithRetractAccumulator"
    jobs = flinks.replace(package, b"com.example.jobs.".ljust(len(package) - 1, b"x") + b".")
    content = (SAVEPOINTS / "expand" / "_metadata").read_bytes()
    assert flinks in content
    (tmp_path / "_metadata").write_bytes(content.replace(flinks, jobs))
    with read_savepoint(tmp_path) as savepoint:
        assert actual(savepoint) == expected(SAVEPOINTS / "expand" / "state.txt")


@pytest.mark.parametrize("content", [b"", b"no savepoint at all", b"\x49\x60\x67\x2d\x00\x00\x00\x04\x00"])
def test_what_is_no_savepoint_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "_metadata").write_bytes(content)
    assert is_savepoint(tmp_path)
    with pytest.raises(StateError, match="the savepoint cannot be read"):
        read_savepoint(tmp_path)


def test_the_command_counts_entries() -> None:
    outcome = flinkplan("state", str(AGGREGATE))
    assert outcome.code == 0
    assert "4_group-aggregate  accState" in outcome.out


def test_the_command_lists_entries_of_a_key() -> None:
    outcome = flinkplan("state", str(AGGREGATE), "--operator", "group-aggregate", "--key", "2", "--format", "json")
    assert outcome.out.splitlines() == [
        '{"operator": "4_group-aggregate", "hash": "23eaad2bb152dd975bbc63554c2ca61f", "state": "accState", '
        '"kind": "value", "key": [2], "value": {"f0": 2, "f1": 4, "f2": 2, "f3": "Hello"}}'
    ]


def test_the_command_names_the_operators_that_there_are() -> None:
    outcome = flinkplan("state", str(AGGREGATE), "--operator", "rank")
    assert outcome.code == 3
    assert "4_group-aggregate" in outcome.err
