"""Pipelines in place of plans, in the work tree and in git: ``diff``, ``validate``, ``explain`` and ``ttl``."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from flinkplan.plan.document import dumps
from flinkplan.planner import compile_script
from tests.cli.support import flinkplan
from tests.compat.pipelines import SUMS, SUMS_COLUMNS, script

SQL = script(SUMS, SUMS_COLUMNS)
OTHER_KEY = script(SUMS.replace("product", "shop"), SUMS_COLUMNS)
OTHER_TTL = SQL.replace("SELECT ", "SELECT /*+ STATE_TTL('orders' = '3 s') */ ", 1)
SPEC = """version: 1
tables:
  clicks: {columns: {user: STRING}, with: {connector: datagen}}
  seen: {columns: {user: STRING, n: BIGINT}, with: {connector: blackhole}}
inserts:
  - {into: seen, query: "SELECT `user`, COUNT(*) FROM clicks GROUP BY `user`"}
"""
PROGRAM = """
from pyflink.table import EnvironmentSettings, TableEnvironment
from queries import QUERY
env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
env.execute_sql("CREATE TABLE clicks (name STRING) WITH ('connector' = 'datagen')")
env.execute_sql("CREATE TABLE seen (name STRING, n BIGINT) WITH ('connector' = 'blackhole')")
env.execute_sql(QUERY)
"""
QUERIES = 'QUERY = "INSERT INTO seen SELECT name, COUNT(*) FROM clicks GROUP BY name"\n'


@pytest.fixture(autouse=True)
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with pipelines, in which the test runs."""
    monkeypatch.chdir(tmp_path)
    folder = Path("pipelines")
    folder.mkdir()
    (folder / "sums.sql").write_text(SQL)
    (folder / "clicks.yaml").write_text(SPEC)
    (folder / "seen.py").write_text(PROGRAM)
    (folder / "queries.py").write_text(QUERIES)
    git("init", "-q", "-b", "main")
    commit()
    return tmp_path


def git(*arguments: str) -> str:
    done = subprocess.run(["git", *arguments], check=True, capture_output=True, text=True)
    return done.stdout


def commit() -> None:
    git("add", ".")
    git("-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-q", "-m", "pipelines")


def rules(*arguments: str) -> set[str]:
    """The rules of the findings of a diff."""
    outcome = flinkplan("diff", *arguments, "--format", "json")
    assert outcome.out, outcome.err
    return {f["rule"] for f in json.loads(outcome.out)["findings"]}


def test_both_sides_are_compiled() -> None:
    Path("pipelines/sums.sql").write_text(OTHER_KEY)
    outcome = flinkplan("diff", "main:pipelines/sums.sql", "pipelines/sums.sql")
    assert outcome.code == 1, outcome.err
    assert "keys-changed" in outcome.out
    assert outcome.out.startswith("main:pipelines/sums.sql → pipelines/sums.sql\n")


def test_the_work_tree_stays_as_it_is() -> None:
    Path("pipelines/sums.sql").write_text(OTHER_KEY)
    git("rm", "-q", "--cached", "pipelines/clicks.yaml")
    Path(".gitignore").write_text("__pycache__/\n")
    before = git("status", "--porcelain")
    for name in ("sums.sql", "seen.py"):
        assert flinkplan("diff", f"main:pipelines/{name}", f"pipelines/{name}").code in (0, 1)
    assert git("status", "--porcelain") == before


def test_operators_get_the_ids_that_like_gives() -> None:
    inserted = SQL.replace("FROM orders", "FROM (SELECT * FROM orders UNION ALL SELECT * FROM orders)")
    Path("pipelines/sums.sql").write_text(inserted)
    flinkplan("compile", "pipelines/sums.sql", "-o", "fresh.json")
    Path("old.json").write_text(dumps(compile_script(SQL)))
    assert "nodes-renumbered" in rules("old.json", "fresh.json")
    assert not {"id-of-another-node", "nodes-renumbered"} & rules("old.json", "pipelines/sums.sql")
    assert not {"id-of-another-node", "nodes-renumbered"} & rules("main:pipelines/sums.sql", "pipelines/sums.sql")


@pytest.mark.parametrize(("old", "new", "finding"), [(SQL, OTHER_TTL, "ttl-enabled"), (OTHER_TTL, SQL, "ttl-disabled")])
def test_ttls_are_those_of_the_pipelines(old: str, new: str, finding: str) -> None:
    Path("old.sql").write_text(old)
    Path("new.sql").write_text(new)
    assert finding in rules("old.sql", "new.sql")


def test_ttls_set_by_hand_in_a_plan_are_kept() -> None:
    Path("old.json").write_text(dumps(compile_script(SQL)).replace('"0 ms"', '"3 s"'))
    assert rules("old.json", "pipelines/sums.sql") == set()


def test_a_temporary_table_is_compared_as_far_as_both_sides_define_it() -> None:
    temporary = SQL.replace("CREATE TABLE orders", "CREATE TEMPORARY TABLE orders")
    Path("old.sql").write_text(temporary)
    Path("new.sql").write_text(temporary.replace("/in/orders", "/in/others"))
    Path("plan.json").write_text(dumps(compile_script(temporary)))
    assert rules("plan.json", "new.sql") == set()
    assert rules("old.sql", "new.sql") == {"source-location-changed"}


def test_the_places_are_those_of_the_pipeline() -> None:
    Path("pipelines/sums.sql").write_text(OTHER_KEY)
    report = json.loads(flinkplan("diff", "main:pipelines/sums.sql", "pipelines/sums.sql", "--format", "json").out)
    found = next(f for f in report["findings"] if f["rule"] == "keys-changed")
    line = OTHER_KEY.split("\n")[found["line"] - 1]
    assert (found["file"], line[found["column"] - 1 :]) == ("pipelines/sums.sql", "GROUP BY shop;")


def test_a_spec_and_a_page_with_its_text(tmp_path: Path) -> None:
    Path("pipelines/clicks.yaml").write_text(SPEC.replace("COUNT(*)", "COUNT(*) + 1"))
    arguments = ("diff", "main:pipelines/clicks.yaml", "pipelines/clicks.yaml")
    assert "stateless-node-added" in flinkplan(*arguments).out
    flinkplan(*arguments, "--format", "html", "-o", "page.html")
    assert "COUNT(*) + 1 FROM clicks" in Path("page.html").read_text()


def test_a_program_runs_with_the_modules_of_its_revision() -> None:
    Path("pipelines/queries.py").write_text(QUERIES.replace("GROUP BY name", "GROUP BY name HAVING COUNT(*) > 3"))
    assert "stateless-node-added" in flinkplan("diff", "main:pipelines/seen.py", "pipelines/seen.py").out
    assert rules("main:pipelines/seen.py", "main:pipelines/seen.py") == set()


def test_an_error_of_a_program_names_its_revision() -> None:
    Path("pipelines/queries.py").write_text("QUERY = 1 / 0\n")
    commit()
    outcome = flinkplan("diff", "main:pipelines/seen.py", "pipelines/sums.sql")
    assert outcome.code == 2
    assert "ZeroDivisionError" in outcome.err
    assert " --> main:pipelines/seen.py:3" in outcome.err


def test_functions_are_those_of_the_revision() -> None:
    Path("pyproject.toml").write_text('[tool.flinkplan]\npy-files = ["revised_functions.py"]\n')
    function = "from pyflink.table.udf import udf\n@udf(result_type='STRING')\ndef f(s): return s\n"
    Path("revised_functions.py").write_text(function)
    text = (
        "CREATE FUNCTION f AS 'revised_functions.f' LANGUAGE PYTHON;\n"
        "CREATE TABLE t (k STRING) WITH ('connector' = 'datagen');\n"
        "CREATE TABLE s (k STRING) WITH ('connector' = 'print');\n"
        "INSERT INTO s SELECT f(k) FROM t;\n"
    )
    Path("pipelines/f.sql").write_text(text)
    commit()
    Path("revised_functions.py").write_text(function.replace("STRING", "INT"))
    Path("pipelines/f.sql").write_text(text.replace("s (k STRING)", "s (k INT)"))
    assert "sink-schema-changed" in rules("main:pipelines/f.sql", "pipelines/f.sql")


@pytest.mark.parametrize(
    ("reference", "words"),
    [
        ("main:pipelines/nothing.sql", "nothing.sql"),
        ("nowhere:pipelines/sums.sql", "nowhere"),
        ("main:pipelines/broken.sql", "main:pipelines/broken.sql:1:"),
    ],
)
def test_what_cannot_be_read_is_unjudged(reference: str, words: str) -> None:
    Path("pipelines/broken.sql").write_text("INSERT INTO s SELEC 1;")
    commit()
    outcome = flinkplan("diff", reference, "pipelines/sums.sql")
    assert (outcome.code, outcome.out) == (2, "")
    assert words in outcome.err


@pytest.mark.parametrize("reference", ["pipelines/sums.sql", "main:pipelines/sums.sql", "-"])
def test_ttls_of_a_pipeline(reference: str) -> None:
    outcome = flinkplan("ttl", reference, stdin=SQL)
    assert "group-aggregate.groupAggregateState  0 ms" in outcome.out, outcome.err
    edited = flinkplan("ttl", reference, "--all", "3 s", stdin=SQL)
    assert '"ttl" : "3 s"' in edited.out


def test_ttls_are_not_written_into_a_pipeline() -> None:
    outcome = flinkplan("ttl", "pipelines/sums.sql", "--all", "3 s", "--in-place")
    assert outcome.code == 3
    assert "compile it first" in outcome.err
    assert Path("pipelines/sums.sql").read_text() == SQL


@pytest.mark.parametrize("path", ["pipelines/sums.sql", "pipelines/seen.py", "pipelines/clicks.yaml"])
@pytest.mark.parametrize("revision", ["", "main:"])
def test_a_pipeline_is_explained(path: str, revision: str) -> None:
    assert "GroupAggregate" in flinkplan("explain", f"{revision}{path}").out


@pytest.mark.parametrize("revision", ["", "main:"])
def test_a_pipeline_is_valid(revision: str) -> None:
    paths = [f"{revision}pipelines/{name}" for name in ("sums.sql", "seen.py", "clicks.yaml")]
    outcome = flinkplan("validate", *paths)
    assert (outcome.code, outcome.out) == (0, f"no findings in {', '.join(paths)}\n")


def test_the_errors_of_a_pipeline_are_findings() -> None:
    Path("a.sql").write_text(SQL.replace("orders GROUP", "order GROUP"))
    outcome = flinkplan("validate", "a.sql", "pipelines/sums.sql", "--format", "json")
    report = json.loads(outcome.out)
    assert outcome.code == 1
    assert [(f["rule"], f["file"], f["line"]) for f in report["findings"]] == [("pipeline", "a.sql", SQL.count("\n"))]
    assert flinkplan("validate", "a.sql", "--format", "github").out.startswith("::error title=flinkplan pipeline,file=")


def test_what_an_engine_refuses_is_at_the_clause() -> None:
    text = SQL.replace("'connector' = 'filesystem', 'path' = '${DIR}/in/orders'", "'connector' = 'oracle-cdc'")
    Path("a.sql").write_text(text)
    report = json.loads(flinkplan("validate", "a.sql", "--for", "spark", "--format", "json").out)
    assert ("spark-table", text.count("\n")) in [(f["rule"], f["line"]) for f in report["findings"]]
