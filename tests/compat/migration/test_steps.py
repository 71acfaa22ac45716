"""What becomes of the entries of states when a query changes."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from flinkplan.compat.migration.entries import NotDerivableError, Source, Target
from flinkplan.compat.migration.flat import batch_of, flat, shape
from flinkplan.compat.migration.planning import plan_migration
from flinkplan.compat.migration.recipe_steps import Order, SortedKeys
from flinkplan.compat.migration.steps import applied
from flinkplan.plan.document import Plan
from flinkplan.plan.nodes import Calc, Rank
from flinkplan.plan.savepoint.layout import KeptState, Value
from flinkplan.planner import compile_script
from flinkplan.state.form import ROW_KIND, Column, Kind, StateTable
from flinkplan.state.form_arrow import table_schema

from .states import key, migrated, row

_TABLES = """
CREATE TABLE a (k INT, g INT, v INT, w BIGINT, s STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH (
  'connector' = 'filesystem', 'path' = '/in/a', 'format' = 'json');
CREATE TABLE b (k INT, x INT, y INT) WITH ('connector' = 'filesystem', 'path' = '/in/b', 'format' = 'json');
"""


def plan(query: str, columns: str) -> Plan:
    """The plan of a query over two tables."""
    sink = f"CREATE TABLE o ({columns}) WITH ('connector' = 'print');"
    return compile_script(f"{_TABLES}{sink}INSERT INTO o {query};")


def changed(old: str, new: str, columns: tuple[str, str], rows: Any, further: Any = ()) -> dict[str, list[Any]]:
    """The states of the new query, made from rows of those of the old one."""
    return migrated(plan(old, columns[0]), plan(new, columns[1]), rows, further)


def test_accumulators_are_reordered_widened_and_computed() -> None:
    found = changed(
        "SELECT k, SUM(v), COUNT(v) FROM a GROUP BY k",
        "SELECT k, AVG(v), COUNT(v), SUM(CAST(v AS BIGINT)) FROM a GROUP BY k",
        ("k INT, x INT, n BIGINT", "k INT, a INT, n BIGINT, x BIGINT"),
        {
            "accState": [
                {"key": key(1), "value": row(7, 2)},
                {"key": key(None), "value": row(None, 0)},
            ]
        },
    )
    assert found == {"accState": [((1,), (7, 2, 2, 7)), ((None,), (0, 0, 0, None))]}


def test_a_sum_of_nothing_is_null_again() -> None:
    found = changed(
        "SELECT k, AVG(v) FROM a GROUP BY k",
        "SELECT k, SUM(v) FROM a GROUP BY k",
        ("k INT, x INT", "k INT, x INT"),
        {"accState": [{"key": key(1), "value": row(0, 0)}, {"key": key(2), "value": row(5, 3)}]},
    )
    assert found == {"accState": [((1,), (None,)), ((2,), (5,))]}


def test_columns_of_the_key_change_places() -> None:
    found = changed(
        "SELECT k, g, COUNT(*) FROM a GROUP BY k, g",
        "SELECT k, g, n FROM (SELECT g, k, COUNT(*) AS n FROM a GROUP BY g, k)",
        ("k INT, g INT, n BIGINT",) * 2,
        {"accState": [{"key": key(1, 2), "value": row(5)}]},
    )
    assert found == {"accState": [((2, 1), (5,))]}


def test_groups_are_merged() -> None:
    found = changed(
        "SELECT k, g, COUNT(*), SUM(v), MIN(v), MAX(w) FROM a GROUP BY k, g",
        "SELECT k, COUNT(*), SUM(v), MIN(v), MAX(w) FROM a GROUP BY k",
        (
            "k INT, g INT, n BIGINT, s INT, mi INT, ma BIGINT",
            "k INT, n BIGINT, s INT, mi INT, ma BIGINT",
        ),
        {
            "accState": [
                {"key": key(1, 1), "value": row(2, 2**31 - 1, 4, 7)},
                {"key": key(1, None), "value": row(3, 1, 3, None)},
                {"key": key(None, 1), "value": row(1, None, None, None)},
            ]
        },
    )
    # sums of INT wrap as those of Flink do
    assert found == {"accState": [((1,), (5, -(2**31), 3, 7)), ((None,), (1, None, None, None))]}


def test_a_join_gets_numbers_of_matches() -> None:
    left = [
        {"key": key(1), "map_key": row(1, 10), "value": {"value": 2}},
        {"key": key(2), "map_key": row(2, 20), "value": {"value": 1}},
        {"key": key(None), "map_key": row(None, 30), "value": {"value": 1}},
    ]
    right = [
        {"key": key(1), "map_key": row(1, 7), "value": {"value": 3}},
        {"key": key(1), "map_key": row(1, 8), "value": {"value": 1}},
        {"key": key(None), "map_key": row(None, 9), "value": {"value": 1}},
    ]
    query = "SELECT a.v, b.x FROM a {}JOIN b ON a.k = b.k"
    found = changed(
        query.format(""),
        query.format("FULL "),
        ("v INT, x INT",) * 2,
        {"left-records": left, "right-records": right},
    )
    assert found["left-records"] == [((1,), (1, 10), (2, 4)), ((2,), (2, 20), (1, 0)), ((None,), (None, 30), (1, 0))]
    assert found["right-records"] == [((1,), (1, 7), (3, 2)), ((1,), (1, 8), (1, 2)), ((None,), (None, 9), (1, 0))]


def test_matches_must_meet_the_condition_of_a_join() -> None:
    query = "SELECT a.v, b.x FROM a {}JOIN b ON a.k = b.k AND a.v < b.x AND b.x <> 40"
    found = changed(
        query.format(""),
        query.format("FULL "),
        ("v INT, x INT",) * 2,
        {
            "left-records": [
                {"key": key(1), "map_key": row(1, 10), "value": {"value": 2}},
                {"key": key(1), "map_key": row(1, 30), "value": {"value": 1}},
                {"key": key(2), "map_key": row(2, None), "value": {"value": 1}},
                {"key": key(None), "map_key": row(None, 1), "value": {"value": 1}},
            ],
            "right-records": [
                {"key": key(1), "map_key": row(1, 20), "value": {"value": 3}},
                {"key": key(1), "map_key": row(1, 40), "value": {"value": 1}},
                {"key": key(2), "map_key": row(2, 9), "value": {"value": 1}},
                {"key": key(None), "map_key": row(None, 9), "value": {"value": 1}},
            ],
        },
    )
    assert [value for _, _, value in found["left-records"]] == [(2, 3), (1, 0), (1, 0), (1, 0)]
    assert [value for _, _, value in found["right-records"]] == [(3, 2), (1, 0), (1, 0), (1, 0)]


def test_rows_of_a_join_that_become_equal_are_counted() -> None:
    found = changed(
        "SELECT a.v, a.g, b.x FROM a JOIN b ON a.k = b.k",
        "SELECT a.v, b.x FROM a JOIN b ON a.k = b.k",
        ("v INT, g INT, x INT", "v INT, x INT"),
        {
            "left-records": [
                {"key": key(1), "map_key": row(1, 5, 10), "value": {"value": 2}},
                {"key": key(1), "map_key": row(1, 6, 10), "value": {"value": 1}},
            ],
            "right-records": [{"key": key(1), "map_key": row(1, 7), "value": {"value": 1}}],
        },
    )
    assert found["left-records"] == [((1,), (1, 10), (3,))]
    assert found["right-records"] == [((1,), (1, 7), (1,))]


def test_rows_of_a_join_that_a_new_filter_drops_are_left_out() -> None:
    query = "SELECT a.v, b.x FROM a LEFT JOIN b ON a.k = b.k"
    found = changed(
        query,
        f"{query} AND b.x > 7 WHERE a.v <> 10",
        ("v INT, x INT",) * 2,
        {
            "left-records": [
                {"key": key(1), "map_key": row(1, 10), "value": {"f0": 2, "f1": 2}},
                {"key": key(1), "map_key": row(1, 11), "value": {"f0": 1, "f1": 2}},
                {"key": key(1), "map_key": row(1, None), "value": {"f0": 1, "f1": 2}},
            ],
            "right-records": [
                {"key": key(1), "map_key": row(1, 7), "value": {"value": 1}},
                {"key": key(1), "map_key": row(1, 8), "value": {"value": 1}},
            ],
        },
    )
    assert found["left-records"] == [((1,), (1, 11), (1, 1))]
    assert found["right-records"] == [((1,), (1, 8), (1,))]


def test_rows_of_a_join_get_another_key() -> None:
    found = changed(
        "SELECT a.v, b.x FROM a JOIN b ON a.k = b.k",
        "SELECT a.v, b.x FROM a JOIN b ON a.v = b.k",
        ("v INT, x INT",) * 2,
        {"left-records": [{"key": key(1), "map_key": row(1, 10), "value": {"value": 2}}]},
    )
    assert found["left-records"] == [((10,), (10,), (2,))]


_TOP = "SELECT k, v FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY v {}) AS r FROM a) WHERE r <= {}"
_RANKED = [
    {"key": key(1), "map_key": row(9), "value": {"value": [row(1, 9)]}},
    {"key": key(1), "map_key": row(5), "value": {"value": [row(1, 5), row(1, 5)]}},
    {"key": key(2), "map_key": row(4), "value": {"value": [row(2, 4)]}},
]


def test_the_first_rows_are_kept() -> None:
    found = changed(
        _TOP.format("DESC", 3), _TOP.format("DESC", 2), ("k INT, v INT",) * 2, {"data-state-with-append": _RANKED}
    )
    assert found["data-state-with-append"] == [
        ((1,), (9,), ([(1, 9)],)),
        ((1,), (5,), ([(1, 5)],)),
        ((2,), (4,), ([(2, 4)],)),
    ]


def test_rows_are_ranked_anew_if_all_are_kept() -> None:
    found = changed(
        _TOP.format("DESC", 4), _TOP.format("ASC", 5), ("k INT, v INT",) * 2, {"data-state-with-append": _RANKED}
    )
    assert found["data-state-with-append"] == [
        ((1,), (5,), ([(1, 5), (1, 5)],)),
        ((1,), (9,), ([(1, 9)],)),
        ((2,), (4,), ([(2, 4)],)),
    ]


@pytest.mark.parametrize("new", [_TOP.format("ASC", 3), _TOP.format("DESC", 4)])
def test_rows_behind_the_last_rank_are_missed(new: str) -> None:
    with pytest.raises(NotDerivableError, match="1 partitions have 3 rows"):
        changed(_TOP.format("DESC", 3), new, ("k INT, v INT",) * 2, {"data-state-with-append": _RANKED})


def test_the_first_rows_of_updated_groups_are_kept() -> None:
    query = (
        "SELECT k, n FROM (SELECT k, n, ROW_NUMBER() OVER (ORDER BY n DESC) AS r FROM "
        "(SELECT k, COUNT(*) AS n FROM a GROUP BY k)) WHERE r <= {}"
    )
    old, new = (plan(query.format(n), "k INT, n BIGINT") for n in (3, 2))
    rank = next(node for node in new.nodes if isinstance(node, Rank))
    (recipe,) = [r for r in plan_migration(old, new).recipes if r.node == rank.id]
    assert recipe.kind.value == "derived"
    (state,) = recipe.states
    assert state.name == "data-state-with-update"
    values = (Value("INT"), Value("INT"), Value("BIGINT"))
    table = StateTable(
        0,
        state.name,
        Kind.MAP,
        map_key=(Column("f0", "INT"),),
        value=(Column("f0", f"ROW<`f0` INT, `f1` BIGINT, `{ROW_KIND}` TINYINT>"), Column("f1", "INT")),
    )
    rows = [
        {"key": {}, "map_key": {"f0": k}, "value": {"f0": row(k, n), "f1": place}}
        for k, n, place in ((1, 5, 1), (2, 7, 0), (3, 5, 0))
    ]
    kept = KeptState(state.name, values, "rows and ranks by their key")
    source = Source(
        {state.name: table},
        {state.name: kept},
        lambda _: iter([pa.RecordBatch.from_pylist(rows, schema=table_schema(table))]),
    )
    found = [each for batch in applied(state.step, source, Target(table, kept)) for each in batch.to_pylist()]
    assert [(r["map_key"]["f0"], r["value"]["f0"]["f1"], r["value"]["f1"]) for r in found] == [(2, 7, 0), (3, 5, 0)]


def test_a_sorted_map_gets_another_order() -> None:
    sort_key = f"ROW<`f0` BIGINT, `f1` INT, `{ROW_KIND}` TINYINT>"
    value = (Column("value", f"MAP<{sort_key}, BIGINT>"),)
    table = StateTable(0, "sorted-map", Kind.VALUE, key=(Column("f0", "INT"),), value=value)
    kept = KeptState(table.name, (Value("BIGINT"), Value("INT")), "numbers in the order of something")
    entries = [(row(5, 1), 2), (row(7, None), 1), (row(7, 3), 4)]
    rows = [
        {"key": key(1), "value": {"value": [{"key": k, "value": n} for k, n in entries]}},
        {"key": key(2), "value": {"value": [{"key": row(1, 1), "value": 9}]}},
    ]
    source = Source(
        {table.name: table},
        {table.name: kept},
        lambda _: iter([pa.RecordBatch.from_pylist(rows, schema=table_schema(table))]),
    )
    step = SortedKeys(table.name, (0,), (Order(0, False, False), Order(1, True, True)))
    found = [each for batch in applied(step, source, Target(table, kept)) for each in batch.to_pylist()]
    first, second = ([(*list(e["key"].values())[:2], e["value"]) for e in r["value"]["value"]] for r in found)
    assert first == [(7, 3, 4), (7, None, 1), (5, 1, 2)]
    assert second == [(1, 1, 9)]


_LAST = "SELECT k, v FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts DESC) AS r FROM a) WHERE r {}"


def _last_rows(*times: int) -> dict[str, list[Any]]:
    rows = [
        {"key": key(1), "map_key": row(time), "value": {"value": [row(1, 10 * place, time)]}}
        for place, time in enumerate(times)
    ]
    return changed(_LAST.format("<= 3"), _LAST.format("= 1"), ("k INT, v INT",) * 2, {"data-state-with-append": rows})


def test_the_last_row_of_a_ranking_is_that_of_a_deduplication() -> None:
    (((key_, (k, v, _)),),) = _last_rows(1, 3, 2).values()
    assert (key_, k, v) == ((1,), 1, 10)


def test_rows_of_the_same_time_are_not_told_apart() -> None:
    same = {"key": key(1), "map_key": row(3), "value": {"value": [row(1, 10, 3), row(1, 20, 3)]}}
    with pytest.raises(NotDerivableError, match="share the first place"):
        changed(_LAST.format("<= 3"), _LAST.format("= 1"), ("k INT, v INT",) * 2, {"data-state-with-append": [same]})


_OVER = (
    "SELECT k, SUM(v) OVER (PARTITION BY k ORDER BY ts ROWS BETWEEN {} PRECEDING AND CURRENT ROW) AS s, "
    "COUNT(*) OVER (PARTITION BY k ORDER BY ts ROWS BETWEEN {} PRECEDING AND CURRENT ROW) AS n FROM a"
)


def _framed(before: int, after: int) -> dict[str, list[Any]]:
    columns = ("k INT, s INT, n BIGINT",) * 2
    at = {"key": key(1)}
    states = {
        "inputState": [
            {**at, "map_key": {"value": 10}, "value": {"value": [row(1, 1, _TIME), row(1, 2, _TIME)]}},
            {**at, "map_key": {"value": 20}, "value": {"value": [row(1, None, _TIME)]}},
            {**at, "map_key": {"value": 30}, "value": {"value": [row(1, 9, _TIME)]}},
        ],
        "accState": [{**at, "value": row(2, 3, 3)}],
        "processedCountState": [{**at, "value": {"value": 3}}],
        "lastTriggeringTsState": [{**at, "value": {"value": 20}}],
    }
    old, new = (_OVER.format(length, length) for length in (before, after))
    return changed(old, new, columns, states, ("lastTriggeringTsState",))


_TIME = 0


def test_a_shorter_frame_is_computed_from_its_rows() -> None:
    found = _framed(3, 1)
    assert [(m, len(v)) for _, m, (v,) in found["inputState"]] == [((10,), 1), ((20,), 1), ((30,), 1)]
    assert found["accState"] == [((1,), (1, 2, 2))]
    assert found["processedCountState"] == [((1,), (2,))]
    assert found["lastTriggeringTsState"] == [((1,), (20,))]


def test_a_longer_frame_needs_all_rows() -> None:
    assert _framed(3, 9)["processedCountState"] == [((1,), (3,))]
    with pytest.raises(NotDerivableError, match="keys have 3 rows in their frame"):
        _framed(2, 9)


def test_numbers_of_several_types_are_compared() -> None:
    from flinkplan.compat.migration.conditions import computed, is_computed

    found = plan("SELECT k, v FROM a WHERE v > CAST(1.50 AS DECIMAL(5, 2)) OR w IS NULL", "k INT, v INT")
    condition = next(node.condition for node in found.nodes if isinstance(node, Calc) and node.condition is not None)
    assert is_computed(condition)
    names = [f.name for f in found.nodes[0].fields]
    values = {"k": [1, 1, 1], "v": [1, 2, None], "w": [1, 1, None]}
    rows = [pa.array(values.get(name, [None] * 3), pa.int64() if name == "w" else pa.int32()) for name in names]
    assert computed(condition, rows, 3).to_pylist() == [False, True, True]


def test_a_key_within_a_map_is_an_insertion_though_its_row_is_an_update() -> None:
    kind = Column(ROW_KIND, "TINYINT")
    ranked = (Column("f0", "ROW<`f0` INT, `f1` BIGINT, `$kind` TINYINT>"), Column("f1", "INT"))
    table = StateTable(0, "data-state-with-update", Kind.MAP, (), map_key=(Column("f0", "INT"), kind), value=ranked)
    values = (Value("INT"), Value("INT"), Value("BIGINT"))
    places = shape(table, KeptState(table.name, values, "rows and ranks by their key"))
    entry = {"key": {}, "map_key": row(1), "value": {"f0": {**row(1, 5), ROW_KIND: 2}, "f1": 0}}
    batch = pa.RecordBatch.from_pylist([entry], schema=table_schema(table))
    assert batch_of(places, flat(places, batch)).to_pylist() == [entry]


def test_rows_with_equal_places_in_a_new_order_are_refused() -> None:
    top = "SELECT k, v, w FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY {}) AS r FROM a) WHERE r <= 9"
    rows = [
        {"key": key(1), "map_key": {**row(v, w)}, "value": {"value": [row(1, v, w)]}}
        for v, w in ((3, 2), (3, 1), (4, 1))
    ]
    columns = ("k INT, v INT, w BIGINT", "k INT, v INT, w BIGINT")
    with pytest.raises(NotDerivableError, match="equal places"):
        changed(top.format("v, w DESC"), top.format("v"), columns, {"data-state-with-append": rows})
    found = changed(top.format("v, w DESC"), top.format("v"), columns, {"data-state-with-append": rows[1:]})
    assert len(found["data-state-with-append"]) == 2
