"""Joins that look both sides up."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from flinkplan.compat.diff import Source, diff_texts
from flinkplan.compat.verdicts import Verdict
from flinkplan.executor.jobs.job import JobOptions, execute
from flinkplan.executor.prepare.checks import check_nodes
from flinkplan.executor.prepare.modes import Mode
from flinkplan.plan.document import Plan, dumps, loads
from flinkplan.plan.errors import FlinkplanError
from flinkplan.plan.lineage.origins import origins_of
from flinkplan.plan.specs import ContextResolvedTable
from flinkplan.plan.tables import with_options, with_tables

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FOLDER = Path(__file__).parent
PLANS = {name: (FOLDER / f"{name}.json").read_text("utf-8") for name in ("projected", "conditions")}


def before_2_3(text: str) -> str:
    """The plan as Flink 2.1 compiled it: with one lookup for each side."""
    plan = json.loads(text)
    (join,) = (node for node in plan["nodes"] if "delta-join" in node["type"])
    join["type"] = "stream-exec-delta-join_1"
    for chain, spec in (("left2RightLookupChain", "lookupRight"), ("right2LeftLookupChain", "lookupLeft")):
        (lookup,) = join.pop(chain)["nodes"]
        join[f"{spec}TableJoinSpec"] = lookup["deltaJoinSpec"]
    for key in (*(f"{side}AllBinaryInputOrdinals" for side in ("left", "right")), "allBinaryInputTables"):
        del join[key]
    for key in ("condition", "deltaJoinTree", "rightUpsertKey"):
        del join[key]
    return json.dumps(plan)


def in_files(text: str, folder: Path) -> Plan:
    """The plan over files."""

    def moved(table: ContextResolvedTable) -> ContextResolvedTable:
        options = {"connector": "filesystem", "path": str(folder / table.name), "format": "json"}
        return with_options(table, options)

    return with_tables(loads(text), moved)


ORDERS = [(1, 10, 1.0), (2, 10, 5.0), (3, 20, 9.0), (4, None, 7.0), (5, 30, 8.0)]
PRODUCTS = [(10, "a", 1.5), (20, "b", 5.0), (40, "c", 2.0), (30, "d", 0.5)]
EXPECTED = {
    "projected": [(1, 10, 1.0, "a"), (2, 10, 5.0, "a"), (3, 20, 9.0, "b"), (5, 30, 8.0, "d")],
    "conditions": [(2, 10, 15.0, "a")],
}
"""What the joins of the queries come to."""


def put(folder: Path, name: str, number: int, names: tuple[str, ...], row: tuple[Any, ...]) -> None:
    (folder / name).mkdir(parents=True, exist_ok=True)
    (folder / name / f"{number}.json").write_text(json.dumps(dict(zip(names, row, strict=True))))


@pytest.mark.spark
@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("mode", [Mode.BOUNDED, Mode.AVAILABLE_NOW])
def test_they_find_what_a_join_finds(mode: Mode, version: int, spark: SparkSession, tmp_path: Path) -> None:
    for number, order in enumerate(ORDERS):
        put(tmp_path, "o", number, ("id", "k", "amount"), order)
    for number, product in enumerate(PRODUCTS):
        put(tmp_path, "p", number, ("k", "name", "price"), product)
    for name, text in PLANS.items():
        plan = in_files(before_2_3(text) if version == 1 else text, tmp_path)
        sink = tmp_path / "s"
        checkpoint = str(tmp_path / f"checkpoint-{name}")
        execute(plan, JobOptions(checkpoint=checkpoint, mode=mode, spark=spark, files_per_batch=2)).wait()
        files = [file for file in sink.rglob("part-*") if file.is_file()]
        rows = [tuple(json.loads(line).values()) for file in files for line in file.read_text().splitlines()]
        assert sorted(set(rows)) == EXPECTED[name]  # each is there once or twice, which its key makes one
        for file in files:
            file.unlink()


def test_plans_are_written_as_they_were_read() -> None:
    for text in (*PLANS.values(), *map(before_2_3, PLANS.values())):
        assert json.loads(dumps(loads(text))) == json.loads(text)


def test_columns_come_from_both_sides() -> None:
    for text in PLANS.values():
        (sink,) = origins_of(loads(text)).sinks
        columns = {name: {str(origin.column) for origin in origins} for name, origins in sink.columns}
        assert columns["name"] == {"p.name"}
        assert columns["id"] == {"o.id"}
        assert {"o.k", "p.k"} <= {str(origin.column) for origin in sink.rows}


def test_other_keys_lose_the_rows_whose_lookups_are_under_way() -> None:
    old = PLANS["projected"]
    new = old.replace('"leftJoinKeys" : [ 1 ]', '"leftJoinKeys" : [ 0 ]')
    assert new != old
    found = diff_texts(Source("old", old), Source("new", new))
    assert found.flink > Verdict.COMPATIBLE
    assert diff_texts(Source("old", old), Source("new", old)).flink <= Verdict.COMPATIBLE


def test_what_is_not_read_is_refused() -> None:
    text = PLANS["projected"]
    with pytest.raises(FlinkplanError, match="are not asked for the rows of keys"):
        check_nodes(with_tables(loads(text), lambda table: with_options(table, {"connector": "datagen"})))
    plan = json.loads(text)
    (join,) = (node for node in plan["nodes"] if "delta-join" in node["type"])
    join["left2RightLookupChain"]["nodes"] *= 2
    with pytest.raises(FlinkplanError, match="one after another"):
        check_nodes(loads(json.dumps(plan)))
