"""Which states can be computed anew from the files that the sources have read."""

from __future__ import annotations

import pytest

from flinkplan.compat.comparing import compare
from flinkplan.compat.migration.advice import MigrationAdvice
from flinkplan.compat.migration.planning import plan_migration
from flinkplan.compat.migration.recipe import Allowed, Migration, Recipe, RecipeKind
from flinkplan.plan.document import Plan
from flinkplan.planner import compile_script

_TABLES = """
CREATE TABLE a (k INT, v INT, w INT, ts TIMESTAMP(3), pt AS PROCTIME(), WATERMARK FOR ts AS ts) WITH (
  'connector' = 'filesystem', 'path' = '{path}', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE b (k INT, x INT) WITH ('connector' = '{other}', {options});
CREATE TABLE c (k INT, v INT) WITH ('connector' = 'filesystem', 'path' = '/in/c', 'format' = 'debezium-json');
CREATE TABLE o ({columns}) WITH ('connector' = 'print');
"""
_FILES = "'path' = '/in/b', 'format' = 'csv'"
_TOPIC = "'topic' = 'b', 'properties.bootstrap.servers' = 'k:9092', 'format' = 'json'"


def plan(
    query: str, columns: str, *, path: str = "/in/a", other: str = "filesystem", options: str = _FILES, ttl: str = ""
) -> Plan:
    """The plan of a query over tables of files."""
    settings = f"SET 'table.exec.state.ttl' = '{ttl}';" if ttl else ""
    tables = _TABLES.format(path=path, other=other, options=options, columns=columns)
    return compile_script(f"{settings}{tables}INSERT INTO o {query};")


_SUM, _SUMS = "SELECT k, SUM(v) FROM a GROUP BY k", "SELECT k, SUM(v), MAX(w) FROM a GROUP BY k"
_COLUMNS = ("k INT, s INT", "k INT, s INT, m INT")


def stateful(migration: Migration) -> Recipe:
    """The recipe of the last operator with keyed state."""
    return next(r for r in reversed(migration.recipes) if r.kind is not RecipeKind.SAME and r.name != "sink")


def _last(order: str, rows: str = "= 1") -> str:
    return (
        f"SELECT k, v FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY {order}) AS r FROM a) WHERE r {rows}"
    )


def _window(function: str) -> str:
    return f"SELECT k, COUNT(*) FROM TABLE({function}) GROUP BY k, window_start, window_end"


_TUMBLE = "TUMBLE(TABLE a, DESCRIPTOR({}), INTERVAL '{}' MINUTE)"
_JOIN = "SELECT a.k, SUM(x) FROM a JOIN b ON a.k = b.k GROUP BY a.k"
_KV = ("k INT, v INT", "k INT, v INT")
_KN = ("k INT, n BIGINT", "k INT, n BIGINT")


@pytest.mark.parametrize(
    ("old", "new", "columns", "in_order"),
    [
        (_SUM, _SUMS, _COLUMNS, False),
        (_SUM, "SELECT k, SUM(v) FROM a WHERE w > 0 GROUP BY k", _KV, False),
        (_SUM, "SELECT w, SUM(v) FROM a GROUP BY w", _KV, False),
        (_SUM, "SELECT k, LAST_VALUE(v) FROM a GROUP BY k", _KV, True),
        (_last("ts"), _last("ts DESC"), _KV, False),
        (_last("pt"), _last("pt DESC"), _KV, True),
        (_last("ts DESC"), _last("ts DESC", "<= 3"), _KV, False),
        (_window(_TUMBLE.format("ts", 3)), _window(_TUMBLE.format("ts", 2)), _KN, False),
        ("SELECT k, SUM(v) FROM c GROUP BY k", "SELECT k, MAX(v) FROM c GROUP BY k", _KV, True),
        (_JOIN, _JOIN.replace("SUM(x)", "SUM(x + w)"), _KV, False),
    ],
)
def test_states_of_files_come_from_history(old: str, new: str, columns: tuple[str, str], in_order: bool) -> None:
    migration = plan_migration(plan(old, columns[0]), plan(new, columns[1]))
    assert any(migration.refusals(Allowed()))
    settled = migration.settled(Allowed())
    assert not list(settled.refusals(Allowed()))
    recipe = stateful(settled)
    assert (recipe.kind, recipe.in_order) == (RecipeKind.HISTORY, in_order)


@pytest.mark.parametrize(
    ("plans", "why"),
    [
        ((plan(_SUM, _COLUMNS[0], ttl="1 d"), plan(_SUMS, _COLUMNS[1], ttl="1 d")), "TTL"),
        ((plan(_SUM, _COLUMNS[0]), plan(_SUMS, _COLUMNS[1], path="/in/z")), "another path"),
        (
            tuple(
                plan(f"SELECT k, {f}(x) FROM b GROUP BY k", "k INT, x INT", other="kafka", options=_TOPIC)
                for f in ("SUM", "MIN")
            ),
            "no files",
        ),
        (
            tuple(plan(_window(_TUMBLE.format("pt", n)), _KN[0]) for n in (1, 2)),
            "processing time",
        ),
        (
            (plan(_SUM, _COLUMNS[0]), plan("SELECT k, SUM(v) FROM a WHERE RAND() > 0.5 GROUP BY k", _COLUMNS[0])),
            "not deterministic",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_files_do_not_say_is_refused(plans: tuple[Plan, Plan], why: str) -> None:
    migration = plan_migration(*plans)
    assert any(migration.settled(Allowed()).refusals(Allowed())), why


def test_what_the_user_accepts_does_not_come_from_history() -> None:
    migration = plan_migration(plan(_SUM, _COLUMNS[0]), plan(_SUMS, _COLUMNS[1]))
    allowed = Allowed(empty=["*.max_w"])
    assert stateful(migration.settled(allowed)).kind is RecipeKind.EXTENDED
    assert any(migration.without_history.settled(Allowed()).refusals(Allowed()))


def test_what_the_entries_may_not_suffice_for_can_come_from_history() -> None:
    migration = plan_migration(plan(_last("v DESC", "<= 3"), _KV[0]), plan(_last("v DESC", "<= 5"), _KV[1]))
    recipe = stateful(migration.settled(Allowed()))
    assert recipe.kind is RecipeKind.DERIVED
    assert recipe.is_uncertain
    assert stateful(migration.without({recipe.node})).kind is RecipeKind.HISTORY
    anyway = migration.without_history
    assert not stateful(anyway).is_replaceable(Allowed())
    assert stateful(anyway).is_replaceable(Allowed(empty=["rank"]))
    assert stateful(anyway.without({recipe.node})).kind is RecipeKind.EMPTY


def test_diff_tells_of_history() -> None:
    comparison = compare(plan(_SUM, _COLUMNS[0]), plan(_SUMS, _COLUMNS[1]))
    (node,) = (n.id for n in comparison.new.plan.nodes if n.metadata.name == "stream-exec-group-aggregate")
    carried = MigrationAdvice(comparison).about(node)
    assert carried.is_possible
    assert "history (is computed anew from the files of a that have been read" in carried.sentence
