"""validate, ttl and explain."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.support import flinkplan
from tests.conftest import Golden
from tests.parity.corpus import HERE

TEXT = (HERE / "cases/ttl-one-hour-join-aggregate-dedup-topn-pipeline/plan.json").read_text("utf-8")


@pytest.fixture
def plan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A plan in the current folder."""
    monkeypatch.chdir(tmp_path)
    Path("plan.json").write_text(TEXT, "utf-8")
    return tmp_path / "plan.json"


def test_validate_a_good_plan(plan: Path) -> None:
    outcome = flinkplan("validate", "plan.json")
    assert (outcome.code, outcome.out) == (0, "no findings in plan.json\n")


def test_validate_a_bad_plan(plan: Path, golden: Golden) -> None:
    plan.write_text(TEXT.replace('"ttl" : "1 h"', '"ttl" : "1.5 h"', 2), "utf-8")
    outcome = flinkplan("validate", "plan.json")
    assert outcome.code == 1
    golden.check("validate.txt", outcome.out)


def test_validate_reads_standard_input(plan: Path) -> None:
    outcome = flinkplan("validate", "-", "--format", "json", stdin=TEXT[:100])
    assert outcome.code == 1
    assert [f["rule"] for f in json.loads(outcome.out)["findings"]] == ["json"]


def test_warnings_fail_only_when_strict(plan: Path) -> None:
    plan.write_text(TEXT.replace('"name" : "rankState"', '"name" : "state"'), "utf-8")
    assert flinkplan("validate", "plan.json").code == 0
    assert flinkplan("validate", "plan.json", "--strict").code == 1


def test_ttl_lists_every_state(plan: Path, golden: Golden) -> None:
    golden.check("ttl.txt", flinkplan("ttl", "plan.json").out)
    listed = json.loads(flinkplan("ttl", "plan.json", "--format", "json").out)
    assert [state["address"] for state in listed][:2] == ["deduplicate.deduplicateState", "join.leftState"]


def test_ttl_writes_to_standard_output_and_says_what_it_set(plan: Path) -> None:
    outcome = flinkplan("ttl", "plan.json", "--set", "join.leftState=3s")
    assert outcome.err == (
        "join (node 9) leftState: 1 h → 3 s\n"
        "warning[ttl-downstream]: node 9: it keeps state for 3 s, while deduplicate upstream keeps it for 1 h\n"
        "hint: let it keep state as long, or longer\n"
    )
    assert outcome.out != TEXT
    assert plan.read_text("utf-8") == TEXT


def test_ttl_in_place_changes_one_line(plan: Path) -> None:
    assert flinkplan("ttl", "plan.json", "--set", "join.leftState=3s", "--in-place").code == 0
    pairs = zip(TEXT.splitlines(), plan.read_text("utf-8").splitlines(), strict=True)
    assert [(old.strip(), new.strip()) for old, new in pairs if old != new] == [('"ttl" : "1 h",', '"ttl" : "3 s",')]


def test_in_place_needs_an_edit(plan: Path) -> None:
    assert flinkplan("ttl", "plan.json", "--in-place").code == 2


def test_ttl_fixes_a_bad_one(plan: Path) -> None:
    plan.write_text(TEXT.replace('"ttl" : "1 h"', '"ttl" : "1.5 h"', 1), "utf-8")
    assert flinkplan("ttl", "plan.json", "--set", "deduplicateState=90 min", "-i").code == 0
    assert flinkplan("validate", "plan.json").code == 0


RULES = """
CREATE TABLE t (id INT, k STRING) WITH ('connector' = 'filesystem', 'path' = 'p', 'format' = 'json');
CREATE TABLE o (k STRING) WITH ('connector' = 'print');
INSERT INTO o SELECT k FROM t WHERE id > 3;
"""


def test_explain_rules(tmp_path: Path) -> None:
    """Text and JSON have the same phases; a file gets what the terminal shows."""
    script = tmp_path / "pipeline.sql"
    script.write_text(RULES, "utf-8")
    shown = flinkplan("explain", "--rules", str(script))
    assert shown.code == 0
    assert "predicate_pushdown · push_into_scans\n" in shown.out
    assert "  -       SourceScan(table=[t], fields=[id, k])\n" in shown.out
    assert "  +       SourceScan(table=[t], filter=[(id > 3)], fields=[id, k])\n" in shown.out
    document = json.loads(flinkplan("explain", "--rules", str(script), "--format", "json").out)
    phases = [f"{step['stage']} · {step['phase']}" for step in document["inserts"][0]["steps"]]
    headings = [line.partition(":")[0] for line in shown.out.splitlines() if " · " in line]
    assert headings == phases
    file = tmp_path / "rules.txt"
    assert flinkplan("explain", "--rules", str(script), "-o", str(file)).code == 0
    assert file.read_text("utf-8") == shown.out


def test_explain_rules_takes_a_pipeline_alone(plan: Path) -> None:
    outcome = flinkplan("explain", "--rules", "plan.json")
    assert outcome.code == 3
    assert "not a pipeline" in outcome.err
    for options in (["--physical"], ["--format", "html"], ["--sql", "pipeline.sql"]):
        outcome = flinkplan("explain", "--rules", "pipeline.sql", *options)
        assert outcome.code == 2
        assert "--rules can only be combined with --set, --format text or json" in outcome.err


def test_explain(plan: Path, golden: Golden) -> None:
    golden.check("explain.txt", flinkplan("explain", "plan.json").out)
    nodes = json.loads(flinkplan("explain", "plan.json", "--format", "json").out)
    assert [node["id"] for node in nodes] == list(range(1, 16))
