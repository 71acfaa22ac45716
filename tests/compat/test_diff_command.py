"""``flinkplan diff`` and ``flinkplan rule``: formats, exit codes, settings, references."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from types import FrameType

import pytest

from flinkplan.compat.reports import FORMATS
from flinkplan.plan.document import dumps, loads
from flinkplan.planner import compile_script
from flinkplan.schemas.loader import DIFF, validator
from flinkplan.state.checkpoint import CheckpointRecord
from tests.cli.support import flinkplan, flinkplan_process
from tests.compat.pipelines import FILTERED, FILTERED_COLUMNS, JOIN, JOIN_COLUMNS, SUMS, SUMS_COLUMNS, script
from tests.conftest import Golden

SUMS_PLAN = dumps(compile_script(script(SUMS, SUMS_COLUMNS)))
JOIN_PLAN = dumps(compile_script(script(JOIN, JOIN_COLUMNS)))
FILTER_PLAN = dumps(compile_script(script(FILTERED, FILTERED_COLUMNS)))
ABOVE = f"SELECT id, MAX(price), MAX(cost) FROM ({JOIN} WHERE o.amount > 3) GROUP BY id"
MANY = dumps(compile_script(script(ABOVE, JOIN_COLUMNS))).replace('"0 ms"', '"3 s"', 1)


@pytest.fixture(autouse=True)
def plans(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Plans in the current folder."""
    monkeypatch.chdir(tmp_path)
    Path("join.json").write_text(JOIN_PLAN)
    Path("many.json").write_text(MANY)
    Path("sums.json").write_text(SUMS_PLAN)
    Path("ttl.json").write_text(SUMS_PLAN.replace('"0 ms"', '"3 s"'))
    Path("key.json").write_text(SUMS_PLAN.replace('"grouping" : [ 0 ]', '"grouping" : [ 1 ]'))
    Path("option.json").write_text(
        SUMS_PLAN.replace('"table.exec.mini-batch.enabled" : "false"', '"table.exec.of-tomorrow" : "true"')
    )
    return tmp_path


@pytest.mark.parametrize("format_", FORMATS)
def test_formats(format_: str, golden: Golden) -> None:
    outcome = flinkplan("diff", "join.json", "many.json", "--format", format_)
    assert outcome.code == 1
    golden.check(f"diff.{format_}", outcome.out)


def test_detail(golden: Golden) -> None:
    golden.check("detail.text", flinkplan("diff", "sums.json", "key.json", "--detail").out)


@pytest.mark.parametrize("new", ["sums.json", "ttl.json", "key.json", "many.json"])
def test_json_is_as_its_schema_says(new: str) -> None:
    outcome = flinkplan("diff", "sums.json", new, "--format", "json")
    assert list(validator(DIFF).iter_errors(json.loads(outcome.out))) == []


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("sums.json", "sums.json"), 0),
        (("sums.json", "ttl.json"), 0),
        (("sums.json", "ttl.json", "--fail-on", "compatible"), 1),
        (("sums.json", "key.json"), 1),
        (("sums.json", "key.json", "--exit-zero"), 0),
        (("sums.json", "key.json", "--allow-migrated"), 0),
        (("join.json", "many.json", "--allow-migrated"), 1),
        (("sums.json", "key.json", "--ignore", "keys-changed"), 0),
        (("sums.json", "key.json", "--allow", "keys-changed@group-aggregate"), 0),
        (("sums.json", "key.json", "--allow", "keys-changed@join"), 1),
        (("sums.json", "key.json", "--allow", "keys-chnged"), 2),
        (("sums.json", "option.json"), 2),
        (("sums.json", "missing.json"), 2),
        (("sums.json", "nowhere:sums.json"), 2),
        (("-", "-"), 2),
    ],
)
def test_exit_codes(arguments: tuple[str, ...], code: int) -> None:
    assert flinkplan("diff", *arguments).code == code


def test_several_changes_are_judged_together() -> None:
    report = json.loads(flinkplan("diff", "join.json", "many.json", "--format", "json").out)
    assert (report["flink"], report["spark"], report["results"]) == ("incompatible", "incompatible", "yes")
    assert {"ttl-enabled", "stateful-node-added"} <= {f["rule"] for f in report["findings"]}


def test_settings_of_the_project() -> None:
    Path("pyproject.toml").write_text('[tool.flinkplan]\nallow = ["keys-changed@group-*"]\nfail-on = "partial"\n')
    assert flinkplan("diff", "sums.json", "key.json").code == 0
    outcome = flinkplan("diff", "sums.json", "key.json")
    assert "allowed: grouping[0] product → amount" in outcome.out
    assert outcome.out.endswith("apart from what is allowed\n")
    assert flinkplan("diff", "sums.json", "many.json").code == 1


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ("[tool.flinkplan]\nalow = []", "did you mean 'allow'?"),
        ("[tool.flinkplan]\nallow = ['no-such-rule']", "there is no rule 'no-such-rule'"),
        ("[tool.flinkplan]\nfail-on = 'never'", "'fail-on' is one of compatible, partial, incompatible, corrupting"),
        ("[tool.flinkplan]\nfor = 'both'", "'for' is one of flink, spark"),
        ("[tool.flinkplan]\nruntime = 'other'", "'runtime' is one of apache, vvr"),
        ("[tool.flinkplan]\nignore = 'x'", "'ignore' is a list of texts"),
        ("[tool]\nflinkplan = 1", "[tool.flinkplan] is a table"),
        ("[", "not valid TOML"),
    ],
)
def test_settings_that_mean_nothing(settings: str, words: str) -> None:
    Path("pyproject.toml").write_text(settings)
    outcome = flinkplan("diff", "sums.json", "ttl.json")
    assert outcome.code == 2
    assert words in outcome.err


def test_a_plan_from_standard_input() -> None:
    outcome = flinkplan("diff", "-", "ttl.json", stdin=SUMS_PLAN)
    assert "groupAggregateState 0 ms → 3 s (ttl-enabled)" in outcome.out


@pytest.fixture
def repository(plans: Path) -> Path:
    """The plans in git, and one below a folder whose name has a space."""
    (plans / "my plans").mkdir()
    (plans / "my plans" / "sums.json").write_text(SUMS_PLAN)
    who = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    for arguments in (("init", "-q", "-b", "main"), ("add", "."), (*who, "commit", "-q", "-m", "plans")):
        git(plans, *arguments)
    return plans


def git(folder: Path, *arguments: str) -> None:
    subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True)


def test_a_plan_from_git(repository: Path) -> None:
    Path("sums.json").write_text(Path("ttl.json").read_text())
    outcome = flinkplan("diff", "main:sums.json", "sums.json")
    assert outcome.out.startswith("main:sums.json → sums.json\n")
    assert "(ttl-enabled)" in outcome.out


@pytest.mark.parametrize(
    ("folder", "old", "new"),
    [
        (".", "main:my plans/sums.json", "ttl.json"),
        ("my plans", "main:sums.json", "../ttl.json"),
        ("my plans", "main:./sums.json", "../ttl.json"),
        ("my plans", "main:../sums.json", "../ttl.json"),
        ("my plans", "main:my plans/sums.json", "../ttl.json"),
        ("my plans", "HEAD~0:join.json", "main:many.json"),
    ],
)
def test_a_plan_from_git_by_another_path(
    repository: Path, monkeypatch: pytest.MonkeyPatch, folder: str, old: str, new: str
) -> None:
    monkeypatch.chdir(repository / folder)
    assert "(ttl-enabled)" in flinkplan("diff", old, new).out


def test_a_plan_from_a_worktree(
    repository: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = tmp_path_factory.mktemp("trees") / "work"
    git(repository, "worktree", "add", "-q", "-b", "change", str(work))
    monkeypatch.chdir(work)
    assert "(ttl-enabled)" in flinkplan("diff", "main:sums.json", "ttl.json").out


def test_without_git(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    outcome = flinkplan("diff", "main:sums.json", "ttl.json")
    assert (outcome.code, "git cannot be run" in outcome.err) == (2, True)


def test_settings_of_the_project_from_below(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("pyproject.toml").write_text('[tool.flinkplan]\nallow = ["keys-changed"]\n')
    monkeypatch.chdir(repository / "my plans")
    assert flinkplan("diff", "../sums.json", "../key.json").code == 0
    Path("pyproject.toml").write_text("[project]\nname = 'of no concern'\n")
    assert flinkplan("diff", "../sums.json", "../key.json").code == 0


def test_a_plan_from_a_checkpoint(plans: Path) -> None:
    CheckpointRecord(plans / "checkpoint").begin(loads(SUMS_PLAN), "bounded", {})
    assert "(ttl-enabled)" in flinkplan("diff", "checkpoint", "ttl.json").out
    (plans / "empty").mkdir()
    assert "not a checkpoint of 'flinkplan execute'" in flinkplan("diff", "empty", "ttl.json").err


def test_other_ids_lose_what_flink_has_by_them() -> None:
    document = json.loads(JOIN_PLAN)
    for node in document["nodes"]:
        node["id"] += 100
    for edge in document["edges"]:
        edge["source"] += 100
        edge["target"] += 100
    document["edges"].sort(key=lambda edge: -edge["target"])
    Path("renumbered.json").write_text(json.dumps(document))
    outcome = flinkplan("diff", "join.json", "renumbered.json")
    assert outcome.code == 1
    assert outcome.out.splitlines()[-1].startswith("incompatible: Flink's state incompatible, ")
    assert "(9_join, looked for as 109_join)" in outcome.out
    assert "--like join.json -o renumbered.json" in outcome.out
    outcome = flinkplan("diff", "join.json", "renumbered.json", "--for", "spark")
    assert outcome.code == 0
    assert outcome.out.splitlines()[-1].startswith("cosmetic: checkpoint on Spark untouched, ")


def test_an_id_that_another_node_had() -> None:
    two = f"SELECT MIN(product), MAX(total), top FROM ({SUMS}) GROUP BY top"
    document = json.loads(dumps(compile_script(script(two, SUMS_COLUMNS))))
    first, second = (n for n in document["nodes"] if n["type"].startswith("stream-exec-group-aggregate"))
    exchanged = {first["id"]: second["id"], second["id"]: first["id"]}
    Path("old.json").write_text(json.dumps(document))
    for node in document["nodes"]:
        node["id"] = exchanged.get(node["id"], node["id"])
    for edge in document["edges"]:
        edge.update({end: exchanged.get(edge[end], edge[end]) for end in ("source", "target")})
    Path("new.json").write_text(json.dumps(document))
    report = json.loads(flinkplan("diff", "old.json", "new.json", "--format", "json").out)
    assert [f["flink"] for f in report["findings"] if f["rule"] == "id-of-another-node"] == ["incompatible"] * 2


@pytest.mark.parametrize(
    ("options", "verdict"),
    [
        ((), "incompatible"),
        (("--set", "table.exec.uid.format=<transformation>"), "cosmetic"),
        (("--set", "table.exec.uid.generation=DISABLED"), "unknown"),
        (("--set", "table.exec.uid.generation=ALWAYS"), "incompatible"),
    ],
)
def test_uids_are_made_as_the_session_says(options: tuple[str, ...], verdict: str) -> None:
    document = json.loads(SUMS_PLAN)
    for node in document["nodes"]:
        node["id"] += 100
    for edge in document["edges"]:
        edge.update({end: edge[end] + 100 for end in ("source", "target")})
    Path("renumbered.json").write_text(json.dumps(document))
    report = json.loads(flinkplan("diff", "sums.json", "renumbered.json", "--format", "json", *options).out)
    assert report["flink"] == verdict


@pytest.fixture
def reordered() -> None:
    """Two aggregates of one type that change places."""
    for name, order in (("old", ("id", "amount")), ("new", ("amount", "id"))):
        query = f"SELECT product, SUM({order[0]}), SUM({order[1]}) FROM ({_BIG}) GROUP BY product"
        Path(f"{name}.json").write_text(dumps(compile_script(script(query, "product STRING, a BIGINT, b BIGINT"))))


_BIG = "SELECT product, id, CAST(amount AS BIGINT) AS amount FROM orders"


@pytest.mark.usefixtures("reordered")
@pytest.mark.parametrize("format_", FORMATS)
def test_what_corrupts_state_is_named_in_every_format(format_: str) -> None:
    outcome = flinkplan("diff", "old.json", "new.json", "--format", format_)
    assert outcome.code == 1
    assert "corrupting" in outcome.out


@pytest.mark.usefixtures("reordered")
@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ((), 1),
        (("--fail-on", "corrupting"), 1),
        (("--allow", "aggregates-*"), 1),
        (("--allow", "*@group-aggregate"), 1),
        (("--ignore", "aggregates-*"), 1),
        (("--allow", "aggregates-reordered@group-*"), 0),
        (("--ignore", "aggregates-reordered"), 0),
        (("--runtime", "vvr"), 0),
        (("--for", "spark"), 0),
        (("--for", "flink"), 1),
    ],
)
def test_what_corrupts_state_is_passed_by_its_full_name_alone(arguments: tuple[str, ...], code: int) -> None:
    assert flinkplan("diff", "old.json", "new.json", *arguments).code == code


@pytest.mark.usefixtures("reordered")
def test_whose_state_counts_may_be_a_setting_of_the_project() -> None:
    Path("pyproject.toml").write_text('[tool.flinkplan]\nfor = "spark"\n')
    assert flinkplan("diff", "old.json", "new.json").code == 0
    assert flinkplan("diff", "old.json", "new.json", "--for", "flink").code == 1
    Path("pyproject.toml").write_text('[tool.flinkplan]\nruntime = "vvr"\n')
    assert flinkplan("diff", "old.json", "new.json").code == 0


def test_plans_of_older_releases() -> None:
    older = JOIN_PLAN.replace('"flinkVersion" : "2.3"', '"flinkVersion" : "1.20"')
    older = older.replace("sink_2", "sink_1").replace("table-source-scan_2", "table-source-scan_1")
    document = json.loads(older)
    for node in document["nodes"]:
        node.setdefault("inputProperties", [])
    Path("older.json").write_text(json.dumps(document))
    assert flinkplan("diff", "older.json", "join.json").out.splitlines()[-1].startswith("cosmetic: ")


def test_a_release_that_is_not_known() -> None:
    Path("patched.json").write_text(JOIN_PLAN.replace('"flinkVersion" : "2.3"', '"flinkVersion" : "2.3.1"'))
    outcome = flinkplan("diff", "join.json", "patched.json")
    assert (outcome.code, "flinkVersion 2.3 → 2.3.1 (flink-version-unknown)" in outcome.out) == (2, True)


def test_a_ttl_switched_on_before_flink_restores_it() -> None:
    for name in ("sums.json", "ttl.json"):
        Path(name).write_text(Path(name).read_text().replace('"flinkVersion" : "2.3"', '"flinkVersion" : "1.20"'))
    report = json.loads(flinkplan("diff", "sums.json", "ttl.json", "--format", "json").out)
    assert [f["rule"] for f in report["findings"]] == ["ttl-switched-before-2.2"]
    assert (report["flink"], report["spark"]) == ("incompatible", "compatible")


def test_rules_are_listed_and_explained(golden: Golden) -> None:
    golden.check("rule.text", flinkplan("rule", "ttl-enabled").out)
    assert "state-ttl" in flinkplan("rule").out
    assert "Severity: error" in flinkplan("rule", "state-ttl").out
    assert "did you mean 'keys-changed'?" in flinkplan("rule", "key-changed").err


def test_twice_the_nodes_take_about_twice_the_work() -> None:
    flinkplan("diff", "join.json", "join.json")  # what is imported and cached on first use is not counted
    assert _calls_of_a_diff(200) < 2.5 * _calls_of_a_diff(100)


def _calls_of_a_diff(length: int) -> int:
    """How many functions are called to judge two plans of so many nodes."""
    Path("old.json").write_text(_chain(length, "a"))
    Path("new.json").write_text(_chain(length, "b"))
    calls = 0

    def count(frame: FrameType, event: str, argument: object) -> None:
        nonlocal calls
        calls += event == "call"

    sys.setprofile(count)
    try:
        assert flinkplan("diff", "old.json", "new.json").code == 0
    finally:
        sys.setprofile(None)
    return calls


def _chain(length: int, mark: str) -> str:
    """A plan of a source, calcs that each add a text of their own, and a sink."""
    document = json.loads(FILTER_PLAN)
    scan, calc, sink = document["nodes"][0], document["nodes"][-2], document["nodes"][-1]
    calcs = []
    for i in range(2, length):
        text = {"kind": "LITERAL", "value": f"{mark}{i}", "type": "VARCHAR(10) NOT NULL"}
        calcs.append({**calc, "id": i, "projection": [*calc["projection"], text], "description": f"Calc {i}"})
    nodes = [{**scan, "id": 1}, *calcs, {**sink, "id": length}]
    edges = [{**document["edges"][0], "source": i, "target": i + 1} for i in range(1, length)]
    return json.dumps({**document, "nodes": nodes, "edges": edges})


def test_diff_imports_neither_spark_nor_deepdiff() -> None:
    code = "assert not {'pyspark', 'deepdiff'} & set(sys.modules)"
    done = flinkplan_process("diff", str(Path("sums.json").resolve()), str(Path("ttl.json").resolve()), code=code)
    assert done.returncode == 0, done.stderr
