"""``flinkplan upgrade``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from flinkplan.plan.document import dumps, loads
from flinkplan.planner import compile_script
from tests.cli.support import flinkplan
from tests.compat.pipelines import JOIN, JOIN_COLUMNS, SUMS, SUMS_COLUMNS, script

JOINED = script(JOIN, JOIN_COLUMNS)
AGGREGATED = script(f"SELECT id, MAX(price), MAX(cost) FROM ({JOIN}) GROUP BY id", JOIN_COLUMNS)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty current folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def older(plan: str) -> str:
    """A plan as Flink 1.20 writes it."""
    document = json.loads(plan.replace("sink_2", "sink_1").replace("table-source-scan_2", "table-source-scan_1"))
    document["flinkVersion"] = "1.20"
    for node in document["nodes"]:
        node.setdefault("inputProperties", [])
        if "scanTableSource" in node:
            node["scanTableSource"]["table"]["resolvedTable"]["partitionKeys"] = []
    return json.dumps(document)


def test_a_plan_is_written_as_the_newer_release_writes_it() -> None:
    plan = dumps(compile_script(JOINED)).replace('"0 ms"', '"3 s"', 1)
    Path("old.json").write_text(older(plan))
    outcome = flinkplan("upgrade", "old.json", "--to", "2.3")
    assert json.loads(outcome.out) == json.loads(plan)
    assert outcome.err.splitlines()[0] == "5: tables and sources have no empty lists"


def test_only_the_migrations_of_the_releases_between() -> None:
    Path("old.json").write_text(older(dumps(compile_script(JOINED))))
    plan = loads(flinkplan("upgrade", "old.json", "--to", "2.1").out)
    assert plan.flink_version == "2.1"
    assert {n.version for n in plan.nodes} == {1}


def test_a_sink_that_keeps_rows_keeps_its_version() -> None:
    plan = older(dumps(compile_script(JOINED))).replace(
        '"inputChangelogMode"', '"requireUpsertMaterialize": true, "inputChangelogMode"'
    )
    Path("old.json").write_text(plan)
    assert loads(flinkplan("upgrade", "old.json").out).sinks[0].type == "stream-exec-sink_1"


@pytest.mark.parametrize(
    ("to", "words"),
    [
        ("1.18", "cannot be written for the older release 1.18"),
        ("2.9", "Flink 2.9 is not supported yet\nhint: the newest supported release is 2.3"),
        ("newest", "'newest' is not a release of Flink"),
    ],
)
def test_releases_that_cannot_be_reached(to: str, words: str) -> None:
    Path("old.json").write_text(dumps(compile_script(JOINED)))
    outcome = flinkplan("upgrade", "old.json", "--to", to)
    assert (outcome.code, words in outcome.err) == (3, True)


def test_ttls_and_ids_are_carried_over_to_what_the_pipeline_compiles_to_now() -> None:
    plan = dumps(compile_script(JOINED)).replace('"0 ms"', '"3 s"', 1)
    Path("old.json").write_text(plan)
    Path("pipeline.sql").write_text(AGGREGATED)
    outcome = flinkplan("upgrade", "old.json", "--spec", "pipeline.sql", "-o", "new.json")
    assert outcome.err.splitlines() == [
        "11 operators keep their ids",
        "new: exchange#3 (node 12), group-aggregate (node 13)",
        "kept join.leftState 3 s; the pipeline says 0 ms",
    ]
    old, new = loads(plan), loads(Path("new.json").read_text())
    assert {n.id: n.type for n in old.nodes}.items() <= {n.id: n.type for n in new.nodes}.items()
    assert [s.ttl for n in new.nodes for s in n.states] == ["3 s", "0 ms", "0 ms"]
    assert len({n.id for n in new.nodes}) == len(new.nodes)


def test_a_ttl_that_cannot_be_placed_is_named() -> None:
    Path("old.json").write_text(dumps(compile_script(JOINED)).replace('"0 ms"', '"3 s"', 1))
    Path("pipeline.sql").write_text(script(SUMS, SUMS_COLUMNS))
    outcome = flinkplan("upgrade", "old.json", "--spec", "pipeline.sql", "--in-place")
    assert "join.leftState 3 s was not kept: the new plan has no such state" in outcome.err
    assert loads(Path("old.json").read_text()).sinks
