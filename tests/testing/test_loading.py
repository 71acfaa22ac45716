"""Reading files of tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from flinkplan.cli.init import _STARTERS
from flinkplan.plan.errors import FlinkplanError
from flinkplan.testing.loading import find_test_files, load_tests
from flinkplan.testing.model import Suite
from tests.cli.support import flinkplan

HEAD = "version: 1\npipeline: p.sql\n"


def loaded(folder: Path, text: str) -> Suite:
    file = folder / "p.test.yaml"
    file.write_text(text)
    return load_tests(file)


def test_watermarks_and_numbers(tmp_path: Path) -> None:
    suite = loaded(
        tmp_path,
        HEAD
        + """tests:
  - name: a
    steps:
      - advance-watermark: 2024-01-01 00:00:01
        expect: {s: {state: empty, dropped: {join: 2}}}
      - advance-watermark: {t: 2024-01-01 00:00:02+01:00}
""",
    )
    (case,) = suite.cases
    first, second = case.steps
    assert not case.ends
    assert {name: time for name, (time, _) in first.watermarks.items()} == {"*": 1_704_067_201_000}
    assert {name: time for name, (time, _) in second.watermarks.items()} == {"t": 1_704_063_602_000}
    (expected,) = first.expected
    assert (expected.rows, expected.state, expected.dropped) == (None, {"*": 0}, {"join": 2})


def test_a_suite(tmp_path: Path) -> None:
    suite = loaded(
        tmp_path,
        HEAD
        + """variables: {PORT: 9092}
options: {table.exec.state.ttl: 1 h}
tests:
  - name: a
    given:
      t: [{x: 1}, {-D: {x: 1}}]
      u: {file: u.csv}
      v: {columns: [x, y], rows: [[1, 2]]}
    expect:
      s: [{x: 1}]
      w: {changelog: [{x: 1}], columns: [x], tolerance: 0.5, late: 2}
  - name: b
    steps:
      - given: {t: []}
      - pipeline: q.sql
        expect: {s: {rows: [], ordered: true}}
    expect: {s: []}
    end-of-input: false
""",
    )
    assert (suite.variables, suite.options) == ({"PORT": "9092"}, {"table.exec.state.ttl": "1 h"})
    assert suite.pipeline == tmp_path / "p.sql"
    a, b = suite.cases
    assert a.steps[0].given["u"][0].file == tmp_path / "u.csv"
    assert a.steps[0].given["v"][0].columns == ("x", "y")
    assert [(e.name, e.is_changelog, e.is_ordered, e.tolerance, e.late) for e in a.steps[0].expected] == [
        ("s", False, False, 0.0, None),
        ("w", True, True, 0.5, 2),
    ]
    assert (a.is_stepwise, b.is_stepwise, b.ends) == (False, True, False)
    assert [step.pipeline for step in b.steps] == [None, tmp_path / "q.sql", None]


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        ("- a", "1:1", "must be a mapping"),
        ("version: 2\npipeline: p\ntests: [{name: a, expect: {s: []}}]", "1:10", "must be 1"),
        (HEAD, "1:1", "no 'tests'"),
        (HEAD + "tests: [{nam: a}]", "3:10", "did you mean 'name'?"),
        (HEAD + "tests: [{name: a}]", "3:16", "expects nothing"),
        (HEAD + "tests:\n  - {name: a, expect: {s: []}}\n  - {name: a, expect: {s: []}}", "5:12", "two tests 'a'"),
        (HEAD + "tests: [{name: a, expect: {s: {row: []}}}]", "3:32", "did you mean 'rows'?"),
        (HEAD + "tests: [{name: a, expect: {s: {rows: [], changelog: []}}}]", "3:28", "cannot stand together"),
        (HEAD + "tests: [{name: a, given: {t: {fil: x}}, expect: {s: []}}]", "3:31", "did you mean 'file'?"),
        (HEAD + "tests: [{name: a, given: {t: 1}, expect: {s: []}}]", "3:30", "must be a list or a mapping"),
        (
            HEAD + "tests: [{name: a, given: {t: []}, steps: [{}], expect: {s: []}}]",
            "3:19",
            "cannot stand beside 'steps'",
        ),
        (HEAD + "tests: [{name: a, expect: {s: {rows: [], tolerance: x}}}]", "3:53", "must be a number"),
        (HEAD + "tests: [{name: a, expect: {s: [}]", "3:32", "this is not YAML"),
        (HEAD + "tests: [{name: a, advance-watermark: soon, expect: {s: []}}]", "3:38", "is not a time"),
        (HEAD + "tests: [{name: a, expect: {s: {state: some}}}]", "3:39", "is not a number"),
    ],
)
def test_an_error_names_its_place(tmp_path: Path, text: str, place: str, words: str) -> None:
    with pytest.raises(FlinkplanError) as raised:
        loaded(tmp_path, text)
    error = raised.value.errors[0]
    assert f"p.test.yaml:{place}" in str(error)
    assert words in str(error)


def test_files_are_found_below_folders(tmp_path: Path) -> None:
    for name in ("a.test.yaml", "b/c.test.yml", "b/c.yaml", ".venv/d.test.yaml"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    assert find_test_files([tmp_path]) == [tmp_path / "a.test.yaml", tmp_path / "b/c.test.yml"]


def test_no_tests(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    outcome = flinkplan("test")
    assert (outcome.code, outcome.out) == (3, "")
    assert "there are no tests" in outcome.err
    assert "no such file" in flinkplan("test", "missing.test.yaml").err


def test_tests_are_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    flinkplan("init", "demo")
    out = flinkplan("test", "demo", "--list", "-k", "twice").out
    assert out == "demo/pipeline.test.yaml: an order that is delivered twice counts once\n"


@pytest.mark.parametrize("kind", ["sql", "yaml"])
def test_init_writes_tests_of_its_pipeline(tmp_path: Path, kind: str) -> None:
    flinkplan("init", str(tmp_path), "--as", kind)
    suite = load_tests(tmp_path / "pipeline.test.yaml")
    assert suite.pipeline == tmp_path / f"pipeline.{kind}"
    assert len(suite.cases) == len(load_tests(_STARTERS / "pipeline.test.yaml").cases)
