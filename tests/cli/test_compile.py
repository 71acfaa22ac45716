"""compile and init."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from flinkplan.plan.document import load, loads
from tests.cli.support import ROOT, flinkplan
from tests.parity.corpus import HERE

CASE = HERE / "cases/join-two-cdc-tables-with-primary-keys"


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A script in the current folder."""
    monkeypatch.chdir(tmp_path)
    file = Path("pipeline.sql")
    file.write_text((CASE / "pipeline.sql").read_text("utf-8"), "utf-8")
    return file


def test_the_plan_is_flinks(script: Path) -> None:
    assert flinkplan("compile", "pipeline.sql", "-o", "plans/orders.json", "--set", "parallelism.default=1").code == 0
    assert Path("plans/orders.json").read_text("utf-8") == (CASE / "plan.json").read_text("utf-8")
    assert [file.name for file in Path("plans").iterdir()] == ["orders.json"]


def test_standard_input_and_output(script: Path) -> None:
    outcome = flinkplan("compile", "-", stdin=script.read_text("utf-8"))
    assert outcome.out == (CASE / "plan.json").read_text("utf-8") + "\n"


def test_options_reach_the_plan(script: Path) -> None:
    assert flinkplan("compile", "pipeline.sql", "-o", "plan.json", "--set", "table.exec.state.ttl=1 d").code == 0
    assert {state.ttl for node in load("plan.json").nodes for state in node.states} == {"1 d"}


def test_an_existing_plan_is_left_alone(script: Path) -> None:
    plan = Path("plan.json")
    plan.write_text("mine")
    assert flinkplan("compile", "pipeline.sql", "-o", "plan.json").code == 3
    assert flinkplan("compile", "pipeline.sql", "-o", "plan.json", "--if-not-exists").code == 0
    assert plan.read_text() == "mine"
    assert flinkplan("compile", "pipeline.sql", "-o", "plan.json", "--force").code == 0
    assert plan.read_text() != "mine"


def test_a_faulty_script_leaves_no_plan(script: Path) -> None:
    script.write_text(script.read_text("utf-8").replace("SELECT", "SELEC"), "utf-8")
    outcome = flinkplan("compile", "pipeline.sql", "-o", "plan.json")
    assert outcome.code == 3
    assert " --> pipeline.sql:" in outcome.err
    assert "^^^^^" in outcome.err
    assert list(Path().iterdir()) == [script]


@pytest.mark.parametrize("kind", ["sql", "yaml"])
def test_init_writes_a_pipeline_that_compiles(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert flinkplan("init", "demo", "--as", kind).code == 0
    assert flinkplan("compile", f"demo/pipeline.{kind}", "-o", "demo/plan.json").code == 0
    assert flinkplan("validate", "demo/plan.json", "--strict").code == 0
    assert "deduplicate.deduplicateState  1 d" in flinkplan("ttl", "demo/plan.json").out
    assert flinkplan("ttl", "demo/plan.json", "--set", "deduplicate.*=2 d", "-i").code == 0
    assert flinkplan("init", "demo", "--as", kind).code == 3


def test_both_pipelines_that_init_writes_say_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for kind in ("sql", "yaml"):
        assert flinkplan("init", kind, "--as", kind).code == 0
    assert flinkplan("compile", "sql/pipeline.sql").out == flinkplan("compile", "yaml/pipeline.yaml").out
    explained = flinkplan("explain", "yaml/pipeline.yaml")
    assert (explained.code, explained.out) == (0, flinkplan("explain", "sql/pipeline.sql").out)


def test_a_faulty_spec_is_shown_with_its_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("pipeline.yaml").write_text("version: 1\ninserts:\n  - into: t\n    querry: SELECT 1\n")
    outcome = flinkplan("compile", "pipeline.yaml")
    assert outcome.code == 3
    assert " --> pipeline.yaml:4:5" in outcome.err
    assert "did you mean 'query'?" in outcome.err


def test_a_chain_of_hundreds_of_operators(tmp_path: Path) -> None:
    table = "CREATE TABLE {} (a INT) WITH ('connector' = '{}'); "
    union = " UNION ALL ".join(["SELECT a FROM t"] * 400)
    script = f"{table.format('t', 'datagen')} {table.format('o', 'blackhole')} INSERT INTO o {union};"
    command = [sys.executable, "-c", "from flinkplan.cli.main import main; main()", "compile", "-"]
    process = subprocess.run(command, input=script, capture_output=True, text=True, cwd=ROOT, check=False)
    assert process.returncode == 0, process.stderr
    assert len(loads(process.stdout).nodes) == 401
