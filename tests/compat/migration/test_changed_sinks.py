"""Which sinks a change concerns by itself, before the job goes on."""

from __future__ import annotations

import pytest

from flinkplan.compat.comparing import compare
from flinkplan.compat.migration.changed_sinks import SinkChange, changed_sinks
from flinkplan.compat.migration.null_keys import for_checkpoint, not_in_checkpoints
from flinkplan.compat.migration.planning import migration_of
from flinkplan.compat.migration.recipe import RecipeKind
from flinkplan.plan.document import Plan
from flinkplan.planner import compile_script

from .test_steps import plan

_SUMS = "SELECT k, SUM(v) FROM a GROUP BY k"
_JOIN = "SELECT a.k, x FROM a JOIN b ON a.k = b.k"
_LEFT = _JOIN.replace("JOIN", "LEFT JOIN")
_TOP = "SELECT k, v FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY v) AS r FROM a) WHERE r <= {}"
_K_S = "k INT, s INT"


def changed(old: Plan, new: Plan) -> tuple[SinkChange, ...]:
    """The sinks whose rows the change itself changes."""
    comparison = compare(old, new)
    return changed_sinks(comparison, migration_of(comparison))


@pytest.mark.parametrize(
    ("old", "new", "columns", "has_first_rows"),
    [
        (_SUMS, _SUMS, (_K_S, _K_S), False),
        (_SUMS, f"{_SUMS} HAVING SUM(v) > 3", (_K_S, _K_S), True),
        (_SUMS, "SELECT k, SUM(v) + 1 FROM a GROUP BY k", (_K_S, _K_S), True),
        (_SUMS, "SELECT k, SUM(v), COUNT(*) FROM a GROUP BY k", (_K_S, f"{_K_S}, n BIGINT"), False),
        (_JOIN, _LEFT, (_K_S, _K_S), True),
        (_LEFT, _JOIN, (_K_S, _K_S), True),
        (_TOP.format(3), _TOP.format(2), (_K_S, _K_S), True),
        ("SELECT k, v FROM a", "SELECT k, v FROM a WHERE v > 3", (_K_S, _K_S), False),
    ],
    ids=["nothing", "HAVING", "computed", "other columns", "INNER to LEFT", "LEFT to INNER", "fewer ranks", "no state"],
)
def test_sinks_whose_rows_change_are_known(old: str, new: str, columns: tuple[str, str], has_first_rows: bool) -> None:
    changes = changed(plan(old, columns[0]), plan(new, columns[1]))
    assert bool(changes) is has_first_rows
    assert not any(change.obstacle for change in changes)


def test_rows_that_the_new_plan_does_not_keep_are_an_obstacle() -> None:
    (change,) = changed(plan(_SUMS, _K_S), plan("SELECT k, v FROM a", _K_S))
    assert "do not follow from the old state" in change.obstacle


def test_a_sink_that_keeps_rows_of_its_own_is_an_obstacle() -> None:
    tables = """
    CREATE TABLE a (k INT, v INT) WITH ('connector' = 'filesystem', 'path' = '/a', 'format' = 'json');
    CREATE TABLE b (k INT, x INT) WITH ('connector' = 'filesystem', 'path' = '/b', 'format' = 'json');
    CREATE TABLE o (k INT, x INT, PRIMARY KEY (k) NOT ENFORCED) WITH (
      'connector' = 'upsert-kafka', 'topic' = 'o', 'key.format' = 'json', 'value.format' = 'json',
      'properties.bootstrap.servers' = 'x:1');
    INSERT INTO o """
    old, new = (compile_script(f"{tables}{query} ON CONFLICT DO DEDUPLICATE;") for query in (_JOIN, _LEFT))
    (change,) = changed(old, new)
    assert "keeps rows of its own" in change.obstacle


@pytest.mark.parametrize(
    ("old", "new", "sides"),
    [
        (_JOIN, _LEFT, ["left"]),
        (_LEFT, _JOIN, []),
        (_JOIN, "SELECT a.k, x FROM a JOIN b ON a.k = b.x", ["left", "right"]),
        (_JOIN, _JOIN, []),
    ],
    ids=["LEFT", "INNER", "other key", "same"],
)
def test_rows_that_a_checkpoint_lacks_are_named(old: str, new: str, sides: list[str]) -> None:
    comparison = compare(plan(old, _K_S), plan(new, _K_S))
    sentences = list(not_in_checkpoints(comparison, migration_of(comparison)))
    assert len(sentences) == len(sides)
    assert all(f"lacks {side} rows" in sentence for side, sentence in zip(sides, sentences, strict=True))


def test_rows_that_a_checkpoint_lacks_come_from_the_files() -> None:
    comparison = compare(plan(_JOIN, _K_S), plan(_LEFT, _K_S))
    migration = for_checkpoint(comparison, migration_of(comparison))
    (join,) = (recipe for recipe in migration.recipes if recipe.name == "join")
    assert join.kind is RecipeKind.HISTORY
    assert not list(not_in_checkpoints(comparison, migration))
    without = migration_of(comparison).without_history
    assert for_checkpoint(comparison, without) == without
