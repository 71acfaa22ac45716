"""Where Flink is looked for."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from flinkplan.flink.home import flink_jars
from flinkplan.flink.savepoint import is_savepoint
from flinkplan.state.form import StateError
from tests.cli.support import flinkplan


@pytest.fixture(autouse=True)
def no_flink(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("FLINK_PYTHON", "FLINK_HOME"):
        monkeypatch.delenv(name, raising=False)


def distribution(folder: Path) -> Path:
    (folder / "lib").mkdir(parents=True)
    for name in ("flink-dist-2.3.0.jar", "flink-table-planner-loader-2.3.0.jar", "flink-cep-2.3.0.jar"):
        (folder / "lib" / name).touch()
    return folder


def test_a_distribution_is_taken_without_the_planner(tmp_path: Path) -> None:
    jars = flink_jars(str(distribution(tmp_path / "flink")))
    assert [jar.name for jar in jars] == ["flink-cep-2.3.0.jar", "flink-dist-2.3.0.jar"]


def test_the_environment_names_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLINK_HOME", str(distribution(tmp_path / "flink")))
    assert len(flink_jars()) == 2


def test_none_is_named() -> None:
    with pytest.raises(StateError, match="none is named") as e:
        flink_jars()
    assert "--flink" in str(e.value)


def test_a_python_without_flink() -> None:
    with pytest.raises(StateError, match="has no package apache-flink"):
        flink_jars(sys.executable)


def test_a_place_that_is_none(tmp_path: Path) -> None:
    with pytest.raises(StateError, match="there is no Flink"):
        flink_jars(str(tmp_path))
    with pytest.raises(StateError, match="cannot be run"):
        flink_jars(str(tmp_path / "python"))


def test_a_savepoint_is_known_by_the_uri_that_flink_prints(tmp_path: Path) -> None:
    (tmp_path / "_metadata").touch()
    places = (tmp_path, tmp_path / "_metadata", f"file:{tmp_path}", f"file://{tmp_path}", f"s3://bucket{tmp_path}")
    assert [is_savepoint(place) for place in places] == [True, True, True, True, False]


def test_a_savepoint_has_no_sinks_to_choose(tmp_path: Path) -> None:
    (tmp_path / "_metadata").touch()
    assert flinkplan("state", str(tmp_path), "--sink", "s").code == 2
