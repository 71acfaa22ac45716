"""``flinkplan diff --base``: the pipelines of a project since a revision of git."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from flinkplan.compat.project import matching
from flinkplan.compat.reports import FORMATS
from flinkplan.plan.document import dumps
from flinkplan.planner import compile_script
from flinkplan.schemas.loader import DIFF, PROJECT_DIFF, validator
from tests.cli.support import flinkplan
from tests.cli.test_pipelines_as_input import OTHER_KEY, OTHER_TTL, PROGRAM, QUERIES, SQL, commit, git

SETTINGS = """[tool.flinkplan]
pipelines = ["pipelines/**/*.sql", "pipelines/seen.py", "plans/*.json"]
py-files = ["project_functions.py"]
[tool.flinkplan.environments.prod]
DIR = "/srv"
"""
FUNCTION = "from pyflink.table.udf import udf\n@udf(result_type='STRING')\ndef f(s): return s\n"
CALL = """CREATE FUNCTION f AS 'project_functions.f' LANGUAGE PYTHON;
CREATE TABLE t (k STRING) WITH ('connector' = 'datagen');
CREATE TABLE s (k STRING) WITH ('connector' = 'blackhole');
INSERT INTO s SELECT f(k) FROM t;
"""


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project of five pipelines and a plan, on a branch of its own."""
    monkeypatch.chdir(tmp_path)
    write("pyproject.toml", SETTINGS)
    write("project_functions.py", FUNCTION)
    write("pipelines/a.sql", SQL)
    write("pipelines/b.sql", SQL)
    write("pipelines/deep/down/c.sql", SQL)
    write("pipelines/call.sql", CALL)
    write("pipelines/seen.py", PROGRAM)
    write("pipelines/queries.py", QUERIES)
    write("plans/sums.json", dumps(compile_script(SQL)))
    git("init", "-q", "-b", "main")
    commit()
    git("checkout", "-q", "-b", "change")
    return tmp_path


def write(path: str, text: str) -> None:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text(text)


def report(*arguments: str) -> dict[str, Any]:
    outcome = flinkplan("diff", "--base", "main", "--format", "json", *arguments)
    document: dict[str, Any] = json.loads(outcome.out or outcome.err)
    assert list(validator(PROJECT_DIFF).iter_errors(document)) == []
    for pipeline in document["pipelines"]:
        assert pipeline["diff"] is None or list(validator(DIFF).iter_errors(pipeline["diff"])) == []
    return document


def changes(*arguments: str) -> dict[str, str]:
    """What happened to each pipeline that has not stayed as it was."""
    return {p["path"]: p["status"] for p in report(*arguments)["pipelines"] if p["status"] != "unchanged"}


def test_nothing_has_changed() -> None:
    outcome = flinkplan("diff", "--base", "main")
    assert (outcome.code, outcome.out) == (0, "untouched: 6 pipelines, 6 unchanged\n")


def test_what_can_happen_to_a_pipeline() -> None:
    write("pipelines/a.sql", OTHER_KEY)
    write("pipelines/new.sql", SQL)
    write("pipelines/call.sql", "SELEC")
    git("rm", "-q", "pipelines/b.sql")
    git("mv", "pipelines/deep/down/c.sql", "pipelines/c.sql")
    outcome = flinkplan("diff", "--base", "main")
    assert outcome.code == 2
    table = [line.split() for line in outcome.out.split("\n") if line.startswith("pipelines/")]
    assert table == [
        ["pipelines/a.sql", "changed", "incompatible", "incompatible", "change"],
        ["pipelines/b.sql", "removed", "-", "-", "-"],
        ["pipelines/deep/down/c.sql", "→", "pipelines/c.sql", "unchanged", "-", "-", "stay"],
        ["pipelines/call.sql", "failed", "unknown", "unknown", "unknown"],
        ["pipelines/new.sql", "added", "-", "-", "-"],
    ]
    assert outcome.out.endswith("\nincompatible: 7 pipelines, 1 added, 1 removed, 1 changed, 3 unchanged, 1 failed\n")


@pytest.mark.parametrize(
    ("text", "code"), [(OTHER_TTL, 0), (OTHER_KEY, 1), ("SELECT 1", 2)], ids=["ttl", "key", "not a pipeline"]
)
def test_exit_codes(text: str, code: int) -> None:
    write("pipelines/a.sql", text)
    write("pipelines/b.sql", OTHER_TTL)
    assert flinkplan("diff", "--base", "main").code == code
    assert flinkplan("diff", "--base", "main", "--exit-zero").code == 0
    assert flinkplan("diff", "--base", "main", "pipelines/b.sql").code == 0


def test_what_is_allowed_does_not_count() -> None:
    write("pipelines/a.sql", OTHER_KEY)
    rules = ("keys-changed", "nodes-renumbered")
    assert flinkplan("diff", "--base", "main", *(f"--allow={rule}" for rule in rules)).code == 0


@pytest.mark.parametrize("format_", [*FORMATS, "html"])
def test_each_format_names_the_pipelines(format_: str) -> None:
    write("pipelines/a.sql", OTHER_KEY)
    write("pipelines/call.sql", "SELEC")
    write("pipelines/new.sql", SQL)
    outcome = flinkplan("diff", "--base", "main", "--format", format_)
    assert outcome.code == 2
    assert [name for name in ("a", "call", "new") if f"pipelines/{name}.sql" not in outcome.out] == []
    assert "keys-changed" in outcome.out


def test_the_pipelines_are_test_suites() -> None:
    write("pipelines/a.sql", OTHER_KEY)
    write("pipelines/b.sql", OTHER_TTL)
    suites = ElementTree.fromstring(flinkplan("diff", "--base", "main", "--format", "junit").out)
    failures = {suite.get("name"): int(suite.get("failures", "")) for suite in suites}
    assert failures["flinkplan diff pipelines/a.sql"] > 0
    assert failures["flinkplan diff pipelines/b.sql"] == 0


def test_what_others_have_changed_meanwhile_does_not_count() -> None:
    write("pipelines/b.sql", OTHER_TTL)
    commit()
    git("checkout", "-q", "main")
    write("pipelines/a.sql", OTHER_KEY)
    commit()
    git("checkout", "-q", "change")
    assert changes() == {"pipelines/b.sql": "changed"}


def test_plans_in_git_are_compared_as_they_are() -> None:
    text = Path("plans/sums.json").read_text()
    write("plans/sums.json", text.replace('"0 ms"', '"3 s"'))
    [pipeline] = [p for p in report()["pipelines"] if p["status"] == "changed"]
    assert [f["rule"] for f in pipeline["diff"]["findings"]] == ["ttl-enabled"]


def test_a_program_that_imports_what_has_changed() -> None:
    write("pipelines/queries.py", QUERIES.replace("GROUP BY", "WHERE name <> 'x' GROUP BY"))
    assert changes() == {"pipelines/seen.py": "changed"}


def test_python_functions_that_have_changed() -> None:
    write("project_functions.py", FUNCTION.replace("return s", "return s + s"))
    document = report("pipelines/call.sql")
    [pipeline] = document["pipelines"]
    assert (pipeline["verdict"], pipeline["results"]) == ("cosmetic", "unknown")
    assert [f["rule"] for f in pipeline["findings"]] == ["python-code-changed"]


def test_tables_of_a_catalog_that_have_changed() -> None:
    lake = "CREATE CATALOG lake WITH ('type' = 'iceberg');\n"
    tables = "CREATE TABLE lake.db.t (k {}, v INT);"
    query = "CREATE TEMPORARY TABLE s (k STRING, n BIGINT, PRIMARY KEY (k) NOT ENFORCED) WITH ('connector' = 'print');"
    query += "INSERT INTO s SELECT CAST(k AS STRING), COUNT(*) FROM lake.db.t GROUP BY CAST(k AS STRING);"
    write("lake.sql", lake + tables.format("INT"))
    write("pyproject.toml", '[tool.flinkplan]\npipelines = ["lake/*.sql"]\ncatalog-tables = ["lake.sql"]\n')
    write("lake/counts.sql", query)
    commit()
    git("branch", "-f", "main")
    assert changes() == {}
    write("lake.sql", lake + tables.format("BIGINT"))
    assert changes() == {"lake/counts.sql": "changed"}
    assert flinkplan("compile", "lake/counts.sql", "--catalog-tables", "lake.sql", "-o", "plan.json").code == 0


def test_the_variables_of_an_environment() -> None:
    write("pyproject.toml", SETTINGS.replace('"/srv"', '"/data"'))
    assert changes() == {}
    document = report("--env", "prod")
    rules = {p["path"]: [f["rule"] for f in p["diff"]["findings"]] for p in document["pipelines"] if p["diff"]}
    locations = {"source-location-changed", "sink-options-changed"}
    assert {path for path, found in rules.items() if locations & set(found)} == {
        *("pipelines/a.sql", "pipelines/b.sql", "pipelines/deep/down/c.sql", "plans/sums.json"),
    }


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--base", "nowhere"), "there is no revision 'nowhere'"),
        (("--base", "main", "--env", "porduction"), "there is no environment 'porduction'"),
        (("--base", "main", "other.sql"), "this is not one of the project's pipelines"),
        (("pipelines/a.sql",), "OLD and NEW"),
    ],
)
def test_wrong_arguments(arguments: tuple[str, ...], words: str) -> None:
    outcome = flinkplan("diff", *arguments)
    assert (outcome.code, outcome.out) == (2, "")
    assert words in outcome.err


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ("", "the project names no pipelines"),
        ("pipelines = ['nowhere/*.sql']", "no file matches 'nowhere/*.sql'"),
        ("pipelines = 'a.sql'", "'pipelines' is a list of texts"),
        ("environments = 1", "each environment is a table of texts"),
        ("environments.prod.PORT = 9092", "each environment is a table of texts"),
        ("environments.prod.'a b' = '1'", "'a b' of the environment 'prod' is not the name of a variable"),
    ],
)
def test_wrong_settings(settings: str, words: str) -> None:
    write("pyproject.toml", f"[tool.flinkplan]\n{settings}\n")
    outcome = flinkplan("diff", "--base", "main")
    assert (outcome.code, outcome.out) == (2, "")
    assert words in outcome.err


def test_a_folder_that_is_no_repository(tmp_path: Path) -> None:
    shutil.rmtree(".git")
    outcome = flinkplan("diff", "--base", "main")
    assert outcome.code == 2
    assert "not in a git repository" in outcome.err
    assert flinkplan("validate").out.endswith("in 6 plans\n")


def test_a_project_in_a_folder_of_the_repository(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    git("checkout", "-q", "main")
    Path("jobs").mkdir()
    for name in ("pyproject.toml", "project_functions.py", "pipelines", "plans"):
        git("mv", name, f"jobs/{name}")
    commit()
    monkeypatch.chdir(tmp_path / "jobs")
    write("project_functions.py", FUNCTION.replace("STRING", "INT"))
    write("pipelines/call.sql", CALL.replace("s (k STRING)", "s (k INT)"))
    write("pipelines/seen.py", PROGRAM.replace("clicks (name STRING)", "clicks (name STRING, n INT)"))
    assert changes() == {"pipelines/call.sql": "changed", "pipelines/seen.py": "changed"}
    monkeypatch.chdir(tmp_path / "jobs" / "pipelines")
    assert {Path(path).name for path in changes()} == {"call.sql", "seen.py"}


def test_validate_checks_the_project() -> None:
    write("pipelines/a.sql", SQL.replace("orders GROUP", "order GROUP"))
    outcome = flinkplan("validate")
    assert outcome.code == 1
    assert outcome.out.startswith("error[pipeline]: expected a table, found the keyword order\n --> pipelines/a.sql:")


def test_variables_of_an_environment_are_those_of_validate() -> None:
    assert "DIR" in flinkplan("validate", "--for", "spark", "pipelines/a.sql").out
    assert "DIR" not in flinkplan("validate", "--for", "spark", "pipelines/a.sql", "--env", "prod").out


@pytest.mark.parametrize(
    ("pattern", "matches"),
    [
        ("*.sql", ["x.sql"]),
        ("a/*.sql", ["a/x.sql"]),
        ("./a/*.sql", ["a/x.sql"]),
        ("**/*.sql", ["a/b/x.sql", "a/x.sql", "x.sql"]),
        ("a/**/*.sql", ["a/b/x.sql", "a/x.sql"]),
        ("a/**", ["a/b/x.sql", "a/x.sql", "a/x.yaml"]),
        ("a/x.[sy]*", ["a/x.sql", "a/x.yaml"]),
        ("b/*.sql", []),
    ],
)
def test_patterns(pattern: str, matches: list[str]) -> None:
    assert matching([pattern], ["x.sql", "a/x.sql", "a/x.yaml", "a/b/x.sql"]) == matches
