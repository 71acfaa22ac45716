"""``flinkplan migrate``, as far as it needs neither Flink nor Spark."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from flinkplan.state.checkpoint import CheckpointRecord
from tests.cli.support import flinkplan
from tests.compat.pipelines import JOIN, JOIN_COLUMNS, SUMS, SUMS_COLUMNS, script


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def compiled(name: str, query: str, columns: str) -> None:
    """Write a plan into the working directory."""
    Path(f"{name}.sql").write_text(script(query, columns))
    assert flinkplan("compile", f"{name}.sql", "-o", f"{name}.json").code == 0


def test_recipes_are_shown() -> None:
    compiled("old", JOIN, JOIN_COLUMNS)
    compiled("new", JOIN.replace("JOIN", "LEFT JOIN"), JOIN_COLUMNS)
    arguments = ("migrate", "savepoint", "new.json", "--old", "old.json", "--dry-run")
    done = flinkplan(*arguments)
    assert done.code == 0
    lines = [line.split() for line in done.out.splitlines()]
    assert ["join", "derived", "from", "join"] in [line[:4] for line in lines]
    assert "the sinks are not told of new rows with NULL for left rows without a match" in done.out
    assert "not told" not in flinkplan(*arguments, "--silent").out


def test_recipes_as_json() -> None:
    compiled("old", JOIN, JOIN_COLUMNS)
    compiled("new", JOIN.replace("JOIN", "LEFT JOIN"), JOIN_COLUMNS)
    done = flinkplan("migrate", "savepoint", "new.json", "--old", "old.json", "--dry-run", "--format", "json")
    content = json.loads(done.out)
    (join,) = [each for each in content["operators"] if each["operator"] == "join"]
    assert (join["recipe"], join["from"], join["needs"]) == ("derived", "join", [])
    assert content["refused"] == []


def test_recipes_as_a_page() -> None:
    compiled("old", SUMS, SUMS_COLUMNS)
    compiled("new", SUMS.replace("MAX(price)", "MIN(price)"), SUMS_COLUMNS)
    done = flinkplan(
        "migrate", "savepoint", "new.json", "--old", "old.json", "--dry-run", "--format", "html", "--no-history"
    )
    assert done.code == 1
    assert "<h2>Refused</h2>" in done.out
    assert "min_price is kept nowhere" in done.out


def test_what_cannot_be_made_is_refused() -> None:
    compiled("old", SUMS, SUMS_COLUMNS)
    compiled("new", SUMS.replace("MAX(price)", "MIN(price)"), SUMS_COLUMNS)
    arguments = ("migrate", "savepoint", "new.json", "--old", "old.json")
    refused = flinkplan(*arguments, "--no-history", "-o", "target")
    assert refused.code == 1
    assert "error: group-aggregate (node" in refused.err
    assert "accept this with --allow-empty group-aggregate.min_price" in refused.err
    assert not Path("target").exists()
    accepted = flinkplan(*arguments, "--dry-run", "--allow-empty", "group-aggregate.min_price")
    assert accepted.code == 0
    assert "error" not in accepted.err
    assert "extended" in accepted.out
    anew = flinkplan(*arguments, "--dry-run")
    assert anew.code == 0
    assert "computed anew from the files of orders that have been read" in anew.out


def test_an_order_needs_no_migration() -> None:
    turned = "SELECT product, total, top FROM (SELECT product, MAX(price) AS top, SUM(amount) AS total FROM orders "
    compiled("old", SUMS, SUMS_COLUMNS)
    compiled("new", f"{turned}GROUP BY product)", SUMS_COLUMNS)
    done = flinkplan("migrate", "savepoint", "new.json", "--old", "old.json", "--dry-run")
    assert done.code == 0
    assert "with 'compile --like' nothing need be migrated" in done.err


def test_the_old_plan_must_be_known() -> None:
    compiled("new", SUMS, SUMS_COLUMNS)
    Path("savepoint").mkdir()
    done = flinkplan("migrate", "savepoint", "new.json", "--dry-run")
    assert done.code == 3
    assert "name it with --old" in done.err
    assert "or add --dry-run" in flinkplan("migrate", "savepoint", "new.json", "--old", "new.json").err


def test_a_checkpoint_has_its_plan() -> None:
    compiled("old", SUMS, SUMS_COLUMNS)
    Path("checkpoint/flinkplan").mkdir(parents=True)
    Path("checkpoint/flinkplan/plan.json").write_text(Path("old.json").read_text())
    assert flinkplan("migrate", "checkpoint", "old.json", "--dry-run").code == 0
    compiled("new", SUMS.replace("MAX(price)", "MIN(price)"), SUMS_COLUMNS)
    assert flinkplan("migrate", "checkpoint", "new.json", "--dry-run", "--silent").code == 0
    CheckpointRecord("checkpoint").begin_with_history()
    warmed = flinkplan("migrate", "checkpoint", "new.json", "--dry-run", "--silent")
    assert warmed.code == 1
    assert "the job began with history; name it with --warm-up" in warmed.err
    Path("target").mkdir()
    refused = flinkplan("migrate", "checkpoint", "old.json", "-o", "target")
    assert refused.code == 3
    assert "there is something already" in refused.err
