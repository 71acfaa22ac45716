"""Plans that succeed others: ``compile --like``, ``flinkplan.like`` and ``CompiledPlan.like``."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

from flinkplan import EnvironmentSettings, PlanReference, TableEnvironment
from flinkplan.compat.alignment import align
from flinkplan.compat.comparing import compare
from flinkplan.compat.inheritance import heirs
from flinkplan.plan.document import Plan, load, loads
from flinkplan.plan.history import OWN, highest_id
from flinkplan.planner import compile_script
from flinkplan.state.checkpoint import CheckpointRecord
from tests.cli.support import Outcome, flinkplan
from tests.compat.pipelines import JOIN, JOIN_COLUMNS, SUMS, SUMS_COLUMNS, script

FILTERED = f"{SUMS} HAVING SUM(amount) > 10"
TTL = "SET 'table.exec.state.ttl' = '%s';"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A current folder with the plan of a pipeline."""
    monkeypatch.chdir(tmp_path)
    compiled("old", SUMS)
    return tmp_path


def compiled(name: str, query: str, *options: str, columns: str = SUMS_COLUMNS, settings: str = "") -> Outcome:
    Path(f"{name}.sql").write_text(script(query, columns, settings))
    return flinkplan("compile", f"{name}.sql", "-o", f"{name}.json", "--force", *options)


def plan(name: str) -> Plan:
    return load(f"{name}.json")


def ids(name: str) -> dict[int, str]:
    return {node.id: node.metadata.name.removeprefix("stream-exec-") for node in plan(name).nodes}


def ttls(name: str) -> list[str]:
    return [state.ttl for node in plan(name).nodes for state in node.states]


def test_operators_that_stay_keep_their_ids() -> None:
    outcome = compiled("new", FILTERED, "--like", "old.json")
    assert outcome.err.splitlines()[:2] == ["6 operators keep their ids", "new: calc#2 (node 7)"]
    assert ids("new") == {**ids("old"), 7: "calc"}
    assert flinkplan("validate", "new.json", "--strict").code == 0


def test_what_has_not_changed_gives_the_same_plan() -> None:
    before = Path("old.json").read_text()
    compiled("old", SUMS, "--like", "old.json")
    assert Path("old.json").read_text() == before


def test_ids_of_operators_that_are_gone_are_given_to_no_other() -> None:
    compiled("second", FILTERED, "--like", "old.json")
    outcome = compiled("third", SUMS, "--like", "second.json")
    assert outcome.err.splitlines() == ["6 operators keep their ids", "gone: calc#2 (node 7)"]
    assert plan("third").nodes[-1].unknown[OWN] == {"highestId": 7}
    assert flinkplan("validate", "third.json", "--strict").code == 0
    compiled("fourth", FILTERED, "--like", "third.json")
    assert ids("fourth") == {**ids("old"), 8: "calc"}
    assert not any(node.unknown for node in plan("fourth").nodes)
    assert highest_id(plan("fourth")) == 8


def test_ids_are_those_of_a_plan_that_flink_numbered() -> None:
    text = re.sub(r'("(?:id|source|target)" : )', r"\g<1>4", Path("old.json").read_text())
    Path("flink.json").write_text(text)
    compiled("new", FILTERED, "--like", "flink.json")
    assert sorted(ids("new")) == [41, 42, 43, 44, 45, 46, 47]


@pytest.mark.parametrize("noted", ["'x'", -1, 2**31, True, 1.5])
def test_a_note_that_is_no_id_is_refused(noted: object) -> None:
    document = json.loads(Path("old.json").read_text())
    document["nodes"][2][OWN] = {"highestId": noted}
    Path("old.json").write_text(json.dumps(document))
    outcome = compiled("new", FILTERED, "--like", "old.json")
    assert (outcome.code, "which is no id" in outcome.err) == (3, True)
    assert not Path("new.json").exists()


def test_there_is_an_end_to_ids() -> None:
    document = json.loads(Path("old.json").read_text())
    document["nodes"][0][OWN] = {"highestId": 2**31 - 1}
    Path("old.json").write_text(json.dumps(document))
    assert "there are no ids beyond 2147483647" in compiled("new", FILTERED, "--like", "old.json").err
    assert compiled("new", SUMS, "--like", "old.json").code == 0


def test_notes_of_ones_own_stay() -> None:
    document = json.loads(Path("old.json").read_text())
    document["nodes"][1][OWN] = {"owner": "shop"}
    Path("old.json").write_text(json.dumps(document))
    compiled("new", FILTERED, "--like", "old.json")
    assert [node.unknown for node in plan("new").nodes if node.unknown] == [{OWN: {"owner": "shop"}}]


def test_a_ttl_set_by_hand_stays_where_the_pipeline_says_none() -> None:
    flinkplan("ttl", "old.json", "--all", "3 s", "-i")
    outcome = compiled("new", FILTERED, "--like", "old.json")
    assert "kept group-aggregate.groupAggregateState 3 s; the pipeline says 0 ms" in outcome.err
    assert ttls("new") == ["3 s"]


def test_a_ttl_that_the_pipeline_changes_is_changed() -> None:
    compiled("old", SUMS, settings=TTL % "1 h")
    outcome = compiled("new", SUMS, "--like", "old.json", settings=TTL % "2 h")
    assert "groupAggregateState 1 h was not kept: the pipeline says 2 h" in outcome.err
    assert ttls("new") == ["2 h"]


def test_ttls_that_differ_were_set_by_hand() -> None:
    compiled("old", JOIN, columns=JOIN_COLUMNS, settings=TTL % "1 h")
    flinkplan("ttl", "old.json", "--set", "join.leftState=3 s", "-i")
    outcome = compiled("new", JOIN, "--like", "old.json", columns=JOIN_COLUMNS, settings=TTL % "1 h")
    assert outcome.err.splitlines()[1:] == ["kept join.leftState 3 s; the pipeline says 1 h"]
    assert ttls("new") == ["3 s", "1 h"]


def test_a_table_of_another_connector_is_another_operator() -> None:
    Path("new.sql").write_text(
        script(SUMS, SUMS_COLUMNS).replace(
            "WITH ('connector' = 'filesystem', 'path' = '${DIR}/out/report', 'format' = 'debezium-json')",
            "WITH ('connector' = 'print')",
        )
    )
    outcome = flinkplan("compile", "new.sql", "--like", "old.json", "-o", "new.json")
    assert outcome.err.splitlines()[1:] == ["new: sink (node 7)", "gone: sink (node 6)"]


def test_the_old_plan_is_named_as_diff_names_it(folder: Path) -> None:
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b"]
    for command in (["init", "-q"], ["add", "old.json"], ["commit", "-q", "-m", "plan"]):
        subprocess.run([*git, *command], check=True)
    text = Path("old.json").read_text()
    Path("old.json").unlink()
    record = CheckpointRecord(folder / "checkpoint")
    record.plan_file.write(text)
    Path("new.sql").write_text(script(FILTERED, SUMS_COLUMNS))
    outcomes = [
        flinkplan("compile", "new.sql", "--like", like, stdin=text) for like in ("HEAD:old.json", "checkpoint", "-")
    ]
    assert len({outcome.out for outcome in outcomes}) == 1
    assert sorted(node.id for node in loads(outcomes[0].out).nodes) == [1, 2, 3, 4, 5, 6, 7]


def test_only_one_comes_from_standard_input() -> None:
    assert flinkplan("compile", "-", "--like", "-", stdin="").code == 2


@pytest.mark.parametrize(("text", "words"), [("{", "not valid JSON"), (None, "no such file")])
def test_what_is_no_plan_cannot_be_succeeded(text: str | None, words: str) -> None:
    if text is not None:
        Path("broken.json").write_text(text)
    outcome = compiled("new", FILTERED, "--like", "broken.json")
    assert (outcome.code, words in outcome.err) == (3, True)


def test_a_plan_of_an_older_release_is_succeeded() -> None:
    text = Path("old.json").read_text()
    Path("old.json").write_text(text.replace('"flinkVersion" : "2.3"', '"flinkVersion" : "1.20"'))
    compiled("new", FILTERED, "--like", "old.json")
    assert ids("new") == {**ids("old"), 7: "calc"}


def environment() -> TableEnvironment:
    """An environment with the tables of the pipelines."""
    made = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    for statement in script(SUMS, SUMS_COLUMNS).split(";\n")[:-2]:
        made.execute_sql(statement)
    return made


def test_a_compiled_plan_succeeds_another() -> None:
    new = environment().compile_plan_sql(f"INSERT INTO report {FILTERED}").like(PlanReference.from_file("old.json"))
    assert {node.id for node in new.plan.nodes} == {1, 2, 3, 4, 5, 6, 7}
    assert new.plan.by_id[7].metadata.name == "stream-exec-calc"


def test_an_option_names_the_plan_to_succeed() -> None:
    made = environment()
    made.execute_sql("SET 'flinkplan.like' = 'old.json'")
    made.execute_sql(f"COMPILE PLAN 'new.json' FOR INSERT INTO report {FILTERED}")
    assert ids("new") == {**ids("old"), 7: "calc"}


TABLES = """
CREATE TABLE s (k INT, g INT, v INT, w INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
  WITH ('connector' = 'filesystem', 'path' = '/s', 'format' = 'json');
CREATE TABLE b (k INT, x INT) WITH ('connector' = 'filesystem', 'path' = '/b', 'format' = 'json');
CREATE TABLE o (k INT, n BIGINT) WITH ('connector' = 'print');
CREATE TABLE p (k INT, n BIGINT) WITH ('connector' = 'print');
CREATE TABLE q (k INT, n BIGINT) WITH ('connector' = 'print');
"""


def _groups(by: str, where: str = "", table: str = "s", select: str = "COUNT(*)") -> str:
    return f"SELECT {by}, {select} FROM {table} {where} GROUP BY {by}"


def _inserts(**queries: str) -> str:
    inserts = "".join(f"INSERT INTO {table} {query};\n" for table, query in queries.items())
    return f"{TABLES}EXECUTE STATEMENT SET BEGIN\n{inserts}END;\n"


_ONE, _TWO, _THREE = (_groups("k", f"WHERE g = {number}") for number in (1, 2, 3))
_UNITED = " UNION ALL "
_MANY = f"{_groups('k')} HAVING COUNT(*) > 2"
_LEFT, _RIGHT = "(SELECT k, COUNT(*) AS n FROM s GROUP BY k) l", "(SELECT g, COUNT(*) AS n FROM s GROUP BY g) r"
_CHAIN = "SELECT k, SUM(n) FROM (SELECT k, {0}, COUNT(*) AS n FROM s GROUP BY k, {0}) GROUP BY k"
_SELF = "SELECT l.k, CAST(r.v AS BIGINT) FROM s l JOIN s r ON l.k = r.g"


@pytest.mark.parametrize(
    ("old", "new", "inherited"),
    [
        pytest.param({"o": _ONE + _UNITED + _TWO}, {"o": _TWO + _UNITED + _ONE}, {5: 8, 8: 5}, id="union-swapped"),
        pytest.param(
            {"o": _ONE + _UNITED + _TWO},
            {"o": _THREE + _UNITED + _ONE + _UNITED + _TWO},
            {5: 8, 8: 12},
            id="union-longer",
        ),
        pytest.param(
            {"o": _ONE + _UNITED + _TWO},
            {"o": _TWO + _UNITED + _ONE.replace("g = 1", "g = 1 AND v > 3")},
            {5: 10, 8: 6},
            id="union-swapped-and-filtered",
        ),
        pytest.param(
            {"o": _groups("k"), "p": _groups("g")},
            {"q": _groups("v"), "p": _groups("g"), "o": _groups("k")},
            {6: 18, 12: 12},
            id="sinks-swapped",
        ),
        pytest.param(
            {"o": _groups("k"), "p": _groups("g")},
            {"o": _groups("g"), "p": _groups("k")},
            {6: 12, 12: 6},
            id="sinks-exchanged",
        ),
        pytest.param(
            {"o": _groups("k"), "p": _MANY},
            {"o": _groups("k"), "p": _MANY.replace("FROM s", "FROM s WHERE v > 2")},
            {5: 6},
            id="shared-then-apart",
        ),
        pytest.param({"o": _groups("k"), "p": _MANY}, {"p": _MANY}, {5: 5}, id="shared-sink-removed"),
        pytest.param(
            {"o": _groups("k")},
            {"o": f"SELECT CAST(n AS INT), COUNT(*) FROM ({_groups('k', select='COUNT(*) AS n')}) GROUP BY n"},
            {5: 5},
            id="aggregate-above",
        ),
        pytest.param(
            {"o": _CHAIN.format("g")}, {"o": _CHAIN.format("v")}, {8: 8}, id="other-key-of-the-same-type-below"
        ),
        pytest.param(
            {"o": _groups("k")},
            {"o": _groups("k", table="(SELECT k, g, COUNT(*) FROM s GROUP BY k, g)")},
            {},
            id="rows-are-taken-back-now",
        ),
        pytest.param(
            {"o": _groups("k", select="SUM(CAST(v AS BIGINT))")},
            {"o": _groups("k", select="SUM(CAST(w AS BIGINT))")},
            {},
            id="other-aggregate-of-the-same-type",
        ),
        pytest.param(
            {"o": _groups("s.k")}, {"o": _groups("s.k", table="s JOIN b ON s.k = b.k")}, {5: 10}, id="join-below"
        ),
        pytest.param(
            {"o": f"SELECT l.k, l.n FROM {_LEFT} JOIN {_RIGHT} ON l.k = r.g"},
            {"o": f"SELECT l.k, l.n FROM {_RIGHT} JOIN {_LEFT} ON l.k = r.g"},
            {6: 12, 12: 6, 14: 14},
            id="self-join-swapped",
        ),
        pytest.param({"o": _SELF}, {"o": f"{_SELF} WHERE l.v > 3"}, {10: 10}, id="self-join-filtered"),
    ],
)
def test_state_goes_to_what_keeps_the_same(old: dict[str, str], new: dict[str, str], inherited: dict[int, int]) -> None:
    """``inherited``: the id of each operator with state that goes on, and the one that a plain compilation gives it."""
    before, after = (compile_script(_inserts(**queries)) for queries in (old, new))
    old_nodes = heirs(compare(before, align(before, after).plan))
    assert {node.id: new for new, node in old_nodes.items() if node.is_stateful} == inherited


def test_diff_names_the_command() -> None:
    compiled("new", SUMS, columns=SUMS_COLUMNS)
    Path("new.json").write_text(re.sub(r'("(?:id|source|target)" : )', r"\g<1>4", Path("new.json").read_text()))
    out = flinkplan("diff", "old.json", "new.json", "--format", "json").out
    hints = [finding["hint"] for finding in json.loads(out)["findings"] if finding["rule"] == "nodes-renumbered"]
    assert hints == [
        "For Flink, keep the old ids: `flinkplan compile PIPELINE --like old.json -o new.json --force`. "
        "`flinkplan migrate` carries the state over: same."
    ]


def test_diff_says_that_the_old_order_can_be_kept() -> None:
    turned = "SELECT product, total, top FROM (SELECT product, MAX(price) AS top, SUM(amount) AS total FROM orders "
    compiled("new", f"{turned}GROUP BY product)")
    out = flinkplan("diff", "old.json", "new.json", "--format", "json").out
    hints = [finding["hint"] for finding in json.loads(out)["findings"] if finding["rule"] == "aggregates-reordered"]
    assert hints == [
        "Keep the order of its state with `flinkplan compile PIPELINE --like old.json -o new.json --force`: "
        "it computes SUM(amount), MAX(price), and results do not change. "
        "`flinkplan migrate` carries the state over: projected."
    ]


@pytest.mark.parametrize(
    ("replaced", "words", "hint"),
    [
        (
            ("price DECIMAL(10, 2)", "price DECIMAL(12, 2)"),
            "price DECIMAL(10, 2) → price DECIMAL(12, 2)",
            "CAST(price AS DECIMAL(10, 2))",
        ),
        (("cost DECIMAL(10, 2)", "cost DOUBLE"), "cost DECIMAL(10, 2) → cost DOUBLE", "CAST(cost AS DECIMAL(10, 2))"),
    ],
)
def test_diff_says_which_cast_keeps_a_row(replaced: tuple[str, str], words: str, hint: str) -> None:
    compiled("old", JOIN, columns=JOIN_COLUMNS)
    text = script(JOIN, JOIN_COLUMNS)
    tables, sink, rest = text.partition("CREATE TABLE report")
    old, new = replaced
    Path("new.sql").write_text(f"{tables.replace(old, new)}{sink}{rest.replace(old, new)}")
    assert flinkplan("compile", "new.sql", "--like", "old.json", "-o", "new.json").code == 0
    out = flinkplan("diff", "old.json", "new.json", "--format", "json").out
    (finding,) = (each for each in json.loads(out)["findings"] if each["rule"] == "row-schema-changed")
    assert words in finding["message"]
    assert finding["hint"].startswith(f"Below the operator write {hint}, or start without state.")


def test_a_script_names_the_plan_to_succeed() -> None:
    Path("run.sql").write_text(script(FILTERED, SUMS_COLUMNS).replace("INSERT", "COMPILE PLAN 'new.json' FOR INSERT"))
    assert flinkplan("run", "run.sql", "--set", "flinkplan.like=old.json").code == 0
    assert ids("new") == {**ids("old"), 7: "calc"}
