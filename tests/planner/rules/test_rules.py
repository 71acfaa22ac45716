"""Each phase of the optimizer: a query's tree before and after it.

The trees stand in ``golden`` beside this file; ``pytest --update-golden`` writes them anew.
"""

from __future__ import annotations

from functools import cache

import pytest

from flinkplan.plan.record import replace
from flinkplan.plan.rex import InputRef
from flinkplan.plan.types import BOOLEAN, INT
from flinkplan.planner.algebra.logical import Filter, Project
from flinkplan.planner.algebra.rel import Rel
from flinkplan.planner.rex.expressions import TRUE
from flinkplan.planner.rules.rule import rule
from tests.conftest import Golden
from tests.planner.invariants import OutOfOrder, violations
from tests.planner.outlines import LOGICAL, before_and_after, bind, outline

OPTIONS = {
    "split_distinct": {"table.optimizer.distinct-agg.split.enabled": "true", "table.exec.mini-batch.enabled": "true"},
    "merge_joins": {"table.optimizer.multi-join.enabled": "true"},
    "reorder_joins": {"table.optimizer.join-reorder-enabled": "true"},
}

CASES: list[tuple[str, str]] = [
    ("rewrite_subqueries", "SELECT id FROM a WHERE id IN (SELECT cid FROM c) AND v > 1"),
    ("rewrite_subqueries", "SELECT id FROM a WHERE NOT EXISTS (SELECT 1 FROM c WHERE c.cid = a.id AND c.grp = 'g')"),
    ("rewrite_subqueries", "SELECT id FROM a WHERE id NOT IN (SELECT cid FROM c)"),
    ("rewrite_subqueries", "SELECT id FROM a WHERE v > (SELECT MAX(cid) FROM c WHERE c.grp = a.k)"),
    ("rewrite_subqueries", "SELECT CASE WHEN id IN (SELECT cid FROM c) THEN 1 ELSE 0 END FROM a"),
    ("rewrite_subqueries", "SELECT id FROM a WHERE v > 1 OR EXISTS (SELECT 1 FROM c WHERE c.cid = a.id)"),
    ("rewrite_subqueries", "SELECT id FROM a WHERE v < SOME (SELECT cid FROM c)"),
    ("rewrite_subqueries", "SELECT id FROM a WHERE v > ALL (SELECT cid FROM c)"),
    ("rewrite_subqueries", "SELECT id FROM a WHERE v > ALL (SELECT id FROM cdc)"),
    ("rewrite_subqueries", "SELECT id IN (SELECT cid FROM c) FROM a"),
    ("rewrite_subqueries", "SELECT id NOT IN (SELECT cid FROM c) OR v > 1 FROM a"),
    ("rewrite_subqueries", "SELECT id FROM a WHERE id NOT IN (SELECT cid FROM c) OR v > 1"),
    ("rewrite_subqueries", "SELECT id FROM a WHERE (id IN (SELECT cid FROM c)) IS NOT TRUE"),
    (
        "rewrite_subqueries",
        "SELECT id FROM a WHERE NOT (id IN (SELECT cid FROM c) OR v IN (SELECT cid FROM c))",
    ),
    ("rewrite_subqueries", "SELECT id FROM a WHERE EXISTS (SELECT 1 FROM c WHERE cid > 3)"),
    ("rewrite_subqueries", "SELECT id FROM a WHERE EXISTS (SELECT COUNT(*) FROM c WHERE cid = id)"),
    ("rewrite_subqueries", "SELECT id FROM a WHERE EXISTS (SELECT 1 FROM c WHERE cid = id OR cid = v)"),
    ("rewrite_subqueries", "SELECT id, (SELECT COUNT(*) FROM c WHERE cid = v) FROM a"),
    ("rewrite_subqueries", "SELECT id, (SELECT MAX(cid) + 1 FROM c WHERE cid > a.v) FROM a"),
    ("rewrite_subqueries", "SELECT id, (SELECT k FROM cdc WHERE cdc.id = a.v) FROM a"),
    ("rewrite_subqueries", "SELECT id, (SELECT name FROM c WHERE c.cid = a.v) FROM a"),
    ("rewrite_subqueries", "SELECT a.id FROM a JOIN c ON a.id = c.cid AND a.v > (SELECT MAX(id) FROM cdc)"),
    (
        "rewrite_subqueries",
        "SELECT k, t.id FROM (SELECT DISTINCT k FROM a) s, "
        "LATERAL (SELECT id, v FROM a WHERE a.k = s.k ORDER BY v DESC LIMIT 3) t",
    ),
    ("rewrite_subqueries", "SELECT id, cid FROM a, LATERAL (SELECT cid FROM c WHERE c.cid = a.v)"),
    (
        "rewrite_subqueries",
        "SELECT n FROM a LEFT JOIN LATERAL (SELECT COUNT(*) AS n FROM c WHERE c.cid = a.v) ON TRUE",
    ),
    ("rewrite_subqueries", "SELECT id FROM a WHERE v > (SELECT AVG(cid) * 2 FROM c)"),
    (
        "rewrite_subqueries",
        "SELECT x FROM nested, UNNEST(xs) AS t (x) WHERE x > (SELECT AVG(cid) * 2 FROM c)",
    ),
    ("rewrite_subqueries", "SELECT id, (SELECT ABS(COUNT(*)) * 2 FROM c WHERE cid = v AND grp = 'g') FROM a"),
    ("rewrite_subqueries", "SELECT id FROM a WHERE (SELECT COUNT(*) FROM c WHERE cid = id) > 0"),
    ("rewrite_subqueries", "SELECT id FROM a WHERE 0.5 <= (SELECT COUNT(*) FROM c WHERE cid = id)"),
    ("rewrite_subqueries", "SELECT id FROM a WHERE (SELECT COUNT(*) FROM c WHERE cid = id) >= 0"),
    ("rewrite_subqueries", "SELECT id, (SELECT UPPER(k) FROM cdc WHERE cdc.id = a.v AND k > 'm') FROM a"),
    ("rewrite_subqueries", "SELECT id FROM a WHERE v = ALL (SELECT cid FROM c)"),
    ("rewrite_subqueries", "SELECT v > SOME (SELECT cid FROM c), v > ALL (SELECT cid FROM c) FROM a"),
    ("to_sources", "SELECT id FROM a"),
    ("to_sources", "SELECT * FROM files"),
    ("with_constant", "SELECT COUNT(*) FROM a"),
    ("rewrite_union", "SELECT id FROM a UNION SELECT cid FROM c"),
    ("rewrite_set_operation", "SELECT id FROM a INTERSECT SELECT cid FROM c"),
    ("rewrite_set_operation", "SELECT id FROM a EXCEPT ALL SELECT cid FROM c"),
    ("fold_local_times", "SELECT FROM_UNIXTIME(0), FROM_UNIXTIME(id), FROM_UNIXTIME(1709210096, 'E dd') || k FROM a"),
    ("fold_local_times", "SELECT id FROM a WHERE k > FROM_UNIXTIME(0)"),
    ("fold_local_times", "SELECT CAST('2024-03-31 02:30:00' AS TIMESTAMP_LTZ(3)), CAST(k AS TIMESTAMP_LTZ(3)) FROM a"),
    ("rewrite_subqueries", "SELECT id, x FROM nested, UNNEST(xs) AS t (x) WHERE x = 1 AND id > 2 AND x > id"),
    (
        "rewrite_subqueries",
        "SELECT y FROM (SELECT id, x, y FROM nested, UNNEST(xs) AS t (x), UNNEST(xs) AS u (y)) WHERE x = 1 AND y <> 2",
    ),
    ("rewrite_subqueries", "SELECT x FROM nested, UNNEST(xs) AS t (x) JOIN c ON x = cid WHERE cid > 2 AND id = 1"),
    (
        "narrow_joins",
        "SELECT cid FROM (SELECT k, cid FROM (SELECT a.k, v, cid FROM a LEFT JOIN c ON TRUE) WHERE v > 1)",
    ),
    ("merge_aliases", "SELECT id, x FROM nested LEFT JOIN UNNEST(xs) AS t (x) ON TRUE"),
    ("reduce_expressions", "SELECT k, v + 1 FROM a WHERE k = 'x' AND (v = 1 OR v = 2 OR FALSE)"),
    ("reduce_expressions", "SELECT id, v, COALESCE(v, 0) FROM a WHERE v IS NULL"),
    ("reduce_expressions", "SELECT b = TRUE, b = FALSE, b <> FALSE, b <> TRUE FROM a WHERE b = FALSE AND v > 1"),
    ("reduce_expressions", "SELECT v FROM a WHERE (id = 1 AND k = 'x') OR (id = 1 AND v = 3)"),
    ("reduce_expressions", "SELECT id FROM a WHERE CASE WHEN v > 1 THEN 'x' ELSE k END = 'x'"),
    ("reduce_expressions", "SELECT CASE WHEN v > 1 THEN b WHEN v > 0 THEN TRUE ELSE FALSE END FROM a"),
    ("reduce_expressions", "SELECT v + 0, 1 * v, v - 0 FROM a WHERE v IS NOT NULL AND k = 'x' AND v + 0 > 3"),
    ("reduce_expressions", "SELECT NULLIF(k, 'x') IS NULL FROM a"),
    ("reduce_expressions", "SELECT id FROM a WHERE CASE WHEN b THEN v ELSE 0 END > 1"),
    ("reduce_expressions", "SELECT id FROM a WHERE CASE WHEN v > 1 THEN 'hi' ELSE 'lo' END = 'hi'"),
    (
        "reduce_expressions",
        "SELECT CASE WHEN v > 1 THEN id > 2 ELSE b END, CASE WHEN b THEN 6 / v > 1 ELSE b END FROM a",
    ),
    ("prune_in_turn", "SELECT v, COUNT(*) FROM (SELECT v, k, v + 1 AS w FROM a WHERE FALSE) WHERE w > 3 GROUP BY v"),
    ("prune_in_turn", "SELECT COUNT(*), MAX(v) FROM a WHERE FALSE"),
    ("prune_in_turn", "SELECT id FROM a WHERE FALSE UNION ALL SELECT cid FROM c"),
    ("prune_empty", "SELECT v, COUNT(*) FROM (SELECT v, k, v + 1 AS w FROM a WHERE FALSE) WHERE w > 3 GROUP BY v"),
    ("prune_empty", "SELECT id FROM a WHERE FALSE UNION ALL SELECT cid FROM c"),
    ("prune_empty", "SELECT id, cid FROM a LEFT JOIN (SELECT * FROM c WHERE FALSE) ON id = cid"),
    ("prune_empty", "SELECT id, cid FROM (SELECT * FROM a WHERE FALSE) FULL JOIN c ON id = cid"),
    ("prune_empty", "SELECT id FROM a WHERE NOT EXISTS (SELECT 1 FROM c WHERE FALSE AND cid = id)"),
    (
        "push_filters_again",
        "SELECT id, v, rn FROM (SELECT id, v, ROW_NUMBER() OVER (PARTITION BY k ORDER BY v) AS rn FROM a) WHERE rn = 1",
    ),
    ("pull_up_constants", "SELECT x, k, COUNT(*) FROM (SELECT 1 AS x, k FROM a) GROUP BY x, k"),
    (
        "legacy_windows",
        "SELECT TUMBLE_START(ts, INTERVAL '1' HOUR), COUNT(*) FROM ev GROUP BY TUMBLE(ts, INTERVAL '1' HOUR)",
    ),
    ("merge_projections", "SELECT s, SUM(s) OVER (ORDER BY ts) FROM (SELECT v + 1 AS s, ts FROM ev)"),
    ("split_overs", "SELECT id, SUM(v) OVER (PARTITION BY k ORDER BY ts) FROM ev"),
    ("split_overs", "SELECT v, id, LAG(v) OVER (ORDER BY ts) FROM ev"),
    ("split_overs", "SELECT UPPER(k), SUM(v) OVER (PARTITION BY UPPER(k) ORDER BY ts) + 1 FROM ev"),
    ("split_overs", "SELECT COUNT(*) OVER (PARTITION BY k ORDER BY ts), v - id FROM ev"),
    ("split_overs", "SELECT id, RANK() OVER (PARTITION BY k ORDER BY ts) FROM ev"),
    ("split_overs", "SELECT STDDEV_SAMP(v) OVER (ORDER BY ts), VAR_POP(v) OVER (ORDER BY ts) FROM ev"),
    ("gather_lists", "SELECT id FROM a WHERE id > 2 OR UPPER(k) IN ('d', 'c', 'b', 'a')"),
    (
        "push_join_expressions",
        "SELECT ev.id, r.v FROM ev JOIN versions FOR SYSTEM_TIME AS OF ev.ts AS r ON r.k = UPPER(ev.k)",
    ),
    ("push_join_expressions", "SELECT id FROM a JOIN c ON a.id + 1 = c.cid"),
    ("name_alike", "SELECT x, y FROM (SELECT v + 1 AS x FROM a) JOIN (SELECT v + 1 AS y FROM a) ON x = y"),
    ("name_alike", "SELECT x, y FROM (SELECT v + 1 AS x FROM a) JOIN (SELECT v + 1 AS y FROM a) ON x = y - 1"),
    ("push_filters", "SELECT id FROM a JOIN c ON a.id = c.cid WHERE a.v > 3 AND c.name = 'n'"),
    ("push_filters", "SELECT id FROM a LEFT JOIN c ON a.id = c.cid WHERE c.name = 'n'"),
    ("push_filters", "SELECT id FROM a LEFT JOIN c ON a.id = c.cid WHERE c.name IS NULL"),
    ("push_filters", "SELECT k, n FROM (SELECT k, COUNT(*) AS n FROM a GROUP BY k) WHERE k <> 'x' AND n > 1"),
    ("push_filters", "SELECT * FROM (SELECT k FROM a UNION ALL SELECT name FROM c) WHERE k <> 'x'"),
    (
        "derive_join_predicates",
        "SELECT id FROM a JOIN c ON a.id = c.cid AND (a.v = 1 AND c.grp = 'g' OR a.v = 2 AND c.grp = 'h')",
    ),
    ("push_filters", "SELECT id FROM a JOIN c ON a.id = c.cid WHERE a.id > 5"),
    ("push_filters", "SELECT a.id FROM a JOIN c ON a.id = c.cid JOIN a b ON c.cid = b.id WHERE b.id > 5"),
    ("push_filters", "SELECT id FROM a LEFT JOIN c ON a.id = c.cid WHERE a.id > 5 AND (c.cid IS NULL OR c.cid < 9)"),
    (
        "compare_null_safely",
        "SELECT id FROM a, c WHERE (v IS NULL AND cid IS NULL OR v = cid) AND (k = name OR name IS NULL AND k IS NULL)",
    ),
    (
        "reduce_join_conditions",
        "SELECT name FROM (SELECT v, 5 AS n FROM a) AS a LEFT JOIN c ON a.v = c.cid AND a.n < c.cid",
    ),
    ("reduce_join_conditions", "SELECT id FROM a WHERE v IN (SELECT 5 FROM c)"),
    ("push_partitions", "SELECT id FROM days WHERE d = '2024-05-01' AND id > 1"),
    ("push_into_scans", "SELECT id FROM a WHERE v > 3 AND k IN ('x', 'y')"),
    ("rewrite_projections", "SELECT k, v FROM a"),
    ("rewrite_projections", "SELECT k FROM a WHERE v > 3"),
    ("rewrite_projections", "SELECT a.k FROM a JOIN c ON a.id = c.cid"),
    ("rewrite_projections", "SELECT k FROM ev WHERE v > 3"),
    ("push_projections", "SELECT n FROM (SELECT k, COUNT(*) AS n, SUM(v) AS s FROM a GROUP BY k)"),
    ("rewrite_projections", "SELECT k, window_start FROM TABLE(TUMBLE(TABLE ev, DESCRIPTOR(ts), INTERVAL '1' HOUR))"),
    ("remove_joins", "SELECT a.id, a.k FROM a LEFT JOIN cdc ON a.v = cdc.id"),
    ("remove_joins", "SELECT a.id, a.k FROM cdc RIGHT JOIN a ON a.v = cdc.id AND cdc.v > a.v"),
    ("remove_joins_below_aggregates", "SELECT DISTINCT k FROM a LEFT JOIN c ON a.id = c.cid"),
    ("remove_joins_below_aggregates", "SELECT k, COUNT(DISTINCT v) FROM a LEFT JOIN c ON a.id = c.cid GROUP BY k"),
    ("trim_one_sided", "SELECT * FROM a WHERE (id, 'g') IN (SELECT cid, grp FROM c)"),
    ("expand_grouping_sets", "SELECT k, v, COUNT(*), GROUPING(v) FROM a GROUP BY ROLLUP (k, v)"),
    ("expand_grouping_sets", "SELECT k, GROUP_ID(), GROUPING_ID(k, v) FROM a GROUP BY GROUPING SETS ((k, v), (k))"),
    (
        "forget_groups",
        "SELECT k, m FROM (SELECT k, MAX(n) AS m FROM (SELECT k, COUNT(*) AS n FROM a GROUP BY k) GROUP BY k) "
        "WHERE m > 5",
    ),
    ("remove_distinct", "SELECT k, SUM(n) + 1, MAX(n) FROM (SELECT k, COUNT(*) AS n FROM a GROUP BY k) GROUP BY k"),
    ("remove_distinct", "SELECT k, AVG(n) FROM (SELECT k, COUNT(*) AS n FROM a GROUP BY k) GROUP BY k"),
    ("remove_distinct", "SELECT id, SUM(v) FILTER (WHERE k = 'x') FROM cdc GROUP BY id"),
    (
        "name_below_filters",
        "SELECT rn FROM (SELECT k, COUNT(*) OVER (ORDER BY ts) AS rn FROM ev) "
        "WHERE k LIKE 'x%' AND rn IN (SELECT cid FROM c)",
    ),
    (
        "name_filtered",
        "WITH o AS (SELECT k, COUNT(*) OVER (ORDER BY ts) AS n FROM ev) "
        "SELECT a.k, b.n FROM o AS a JOIN o AS b ON a.n = b.n AND b.k LIKE 'x%'",
    ),
    ("merge_before_pruning", "SELECT s, k FROM (SELECT k, v, MIN(id), SUM(v) AS s FROM ev WHERE v > 2 GROUP BY k, v)"),
    ("filter_by_keys", "SELECT v, k, AVG(v), SUM(id) FROM a GROUP BY v, k HAVING AVG(v) > 5"),
    ("reduce_functions", "SELECT k, SUM(v), AVG(v), COUNT(v) FROM a GROUP BY k"),
    ("reduce_functions", "SELECT k, SUM(v), COUNT(v), MAX(k) FROM a GROUP BY k"),
    ("reduce_functions", "SELECT k, VAR_POP(v) FROM a GROUP BY k"),
    (
        "drop_snapshots",
        "SELECT clocked.id FROM clocked JOIN cdc FOR SYSTEM_TIME AS OF pt ON clocked.id = cdc.id AND v > 3",
    ),
    (
        "sink_filters",
        "SELECT clocked.id FROM clocked JOIN looked FOR SYSTEM_TIME AS OF pt ON clocked.id = looked.id AND v > 3",
    ),
    ("push_sorts", "SELECT id + 1 FROM a LIMIT 3"),
    ("push_limit", "SELECT id FROM a LIMIT 3 OFFSET 2"),
    ("merge_aggregated", "SELECT v, COUNT(k) FROM (SELECT DISTINCT k, v FROM a) GROUP BY v"),
    ("merge_aggregated", "SELECT v, k, COUNT(*) FROM (SELECT DISTINCT k, v FROM a) GROUP BY v, k"),
    ("merge_aggregated", "SELECT v, k, COUNT(*) FROM (SELECT DISTINCT k, v FROM a) GROUP BY ROLLUP (v, k)"),
    ("merge_aggregated", "SELECT COUNT(*) FROM a"),
    ("merge_aggregated", "SELECT COUNT(*) FROM ev"),
    ("merge_aggregated", "SELECT COUNT(*) FROM (SELECT k FROM a GROUP BY k)"),
    ("merge_aggregated", "SELECT COUNT(*) FROM a WHERE k = 'x'"),
    ("merge_aggregated", "SELECT COUNT(*) FROM (SELECT v FROM a WHERE k = 'x')"),
    ("merge_aggregated", "SELECT COUNT(*) FROM (SELECT UPPER(k) FROM a WHERE v > 1)"),
    (
        "merge_aggregated",
        "SELECT v, k, COUNT(*) FROM ev WHERE v > 0 GROUP BY v, k, TUMBLE(ts, INTERVAL '1' DAY)",
    ),
    (
        "merge_aggregated",
        "SELECT k, SUM(v), MIN(id) FROM ev WHERE v > 0 GROUP BY TUMBLE(ts, INTERVAL '1' DAY), k",
    ),
    (
        "merge_aggregated",
        "SELECT k, SUM(v) FROM a JOIN c ON id = cid GROUP BY k, TUMBLE(PROCTIME(), INTERVAL '1' HOUR)",
    ),
    ("merge_aggregated", "SELECT SUM(v + id) FROM a GROUP BY SESSION(PROCTIME(), INTERVAL '1' HOUR)"),
    (
        "drop_equal_projects",
        "SELECT cid, rn FROM c LEFT JOIN "
        "(SELECT id, rn FROM (SELECT id, ROW_NUMBER() OVER (ORDER BY v) AS rn FROM a) WHERE rn = 1) ON id = cid",
    ),
    ("push_below_joins", "SELECT DISTINCT cdc.id, cdc.k FROM a JOIN cdc ON a.id = cdc.id"),
    ("push_below_joins", "SELECT name, SUM(cdc.id), COUNT(v) FROM cdc JOIN c ON cdc.v = c.cid GROUP BY name"),
    ("push_below_joins", "SELECT y.k, SUM(x.id), MAX(x.v) FROM cdc x JOIN cdc y ON x.v = y.id GROUP BY y.k"),
    ("push_below_joins", "SELECT a.k, COUNT(*), SUM(a.v) FROM a, c GROUP BY a.k"),
    ("push_below_joins", "SELECT y.id, COUNT(y.k), SUM(x.id) FROM cdc x JOIN cdc y ON x.v = y.id GROUP BY y.id"),
    ("push_below_joins", "SELECT k, SUM(v) FROM a JOIN c ON a.id = c.cid GROUP BY k"),
    ("push_semi_joins", "SELECT v, name FROM cdc JOIN c ON v = cid WHERE id IN (SELECT id FROM a WHERE k = 'x')"),
    ("push_semi_joins", "SELECT v, name FROM c JOIN cdc ON v = cid WHERE id NOT IN (SELECT id FROM cdc)"),
    ("push_semi_joins", "SELECT v, name FROM cdc JOIN c ON v = cid WHERE EXISTS (SELECT 1 FROM a WHERE a.id = cdc.v)"),
    (
        "lift_filters",
        "SELECT id, k FROM a WHERE UPPER(k) IN ('a', 'b', 'c', 'd', 'e', 'f', 'g') AND NOT EXISTS "
        "(SELECT 1 FROM c WHERE c.cid = a.id)",
    ),
    (
        "push_projections_again",
        "SELECT v, name FROM cdc JOIN c ON v = cid WHERE id IN (SELECT id FROM a WHERE k = 'x')",
    ),
    (
        "push_projections_again",
        "SELECT name FROM c JOIN cdc ON v = cid WHERE k IN (SELECT k FROM a WHERE v = 1)",
    ),
    (
        "wrap_json_arguments",
        "SELECT k, JSON_ARRAYAGG(v), COUNT(v), JSON_OBJECTAGG(KEY k VALUE v), JSON_ARRAYAGG(id) FROM a GROUP BY k",
    ),
    (
        "reorder_joins",
        "SELECT a.id, name, cdc.k FROM a JOIN c ON a.id = c.cid JOIN cdc ON cdc.id = a.v WHERE cdc.k = 'x'",
    ),
    ("reorder_joins", "SELECT a.id, name, cdc.k FROM a RIGHT JOIN c ON a.id = c.cid JOIN cdc ON cdc.id = c.cid"),
    (
        "merge_joins",
        "SELECT a.id, name, cdc.k FROM a JOIN c ON a.id = c.cid LEFT JOIN cdc ON cdc.id = c.cid AND cdc.v > a.v",
    ),
    ("merge_joins", "SELECT a.id, name, cdc.k FROM a JOIN c ON a.id = c.cid JOIN cdc ON cdc.id = a.v"),
    ("merge_joins", "SELECT a.id, name, cdc.k FROM a RIGHT JOIN c ON a.id = c.cid JOIN cdc ON cdc.id = c.cid"),
    ("name_columns", "SELECT key, n FROM (SELECT k AS key, COUNT(*) AS n, SUM(v) AS s FROM a GROUP BY k) WHERE n > 1"),
    (
        "name_columns",
        "SELECT k, n FROM (SELECT a.k, c.name AS n FROM a JOIN c ON a.k = c.name) WHERE n > (SELECT MIN(k) FROM a)",
    ),
    (
        "without_distinct_operands",
        "SELECT DISTINCT k FROM a UNION SELECT name FROM (SELECT name, COUNT(*) FROM c GROUP BY name)",
    ),
    ("drop_aliases", "SELECT cid, x FROM nested CROSS JOIN UNNEST(xs) AS t (x) JOIN c ON nested.id = cid"),
    (
        "split_distinct",
        "SELECT k, COUNT(DISTINCT id), COUNT(DISTINCT v) FROM a GROUP BY ROLLUP (k)",
    ),
    ("split_distinct", "SELECT k, COUNT(DISTINCT k), COUNT(DISTINCT id) FROM a GROUP BY k"),
    ("split_distinct", "SELECT k, COUNT(*), COUNT(DISTINCT k), COUNT(DISTINCT id) FROM a GROUP BY k"),
    ("split_distinct", "SELECT k, COUNT(DISTINCT v), COUNT(*) FROM a GROUP BY k"),
    ("split_distinct", "SELECT k, SUM(DISTINCT v), COUNT(DISTINCT id), COUNT(DISTINCT k) FROM a GROUP BY k"),
    ("split_distinct", "SELECT k, COUNT(DISTINCT v), AVG(id), AVG(v) FILTER (WHERE b) FROM a GROUP BY k"),
    ("to_calc", "SELECT k FROM a WHERE v > 3"),
    ("shorten_coalesce", "SELECT COALESCE(a.k, c.name), COALESCE(c.name, 'x', a.k) FROM a JOIN c ON a.k = c.name"),
    (
        "shorten_coalesce",
        "SELECT COALESCE(name, k, 'x'), COALESCE(name, 'x', k) FROM a LEFT JOIN c ON k = name",
    ),
    ("shorten_coalesce", "SELECT UPPER(COALESCE(a.k, c.name)) FROM a RIGHT JOIN c ON a.k = c.name"),
    ("shorten_coalesce", "SELECT COALESCE(a.k, c.name) FROM a FULL JOIN c ON a.k = c.name"),
    (
        "to_rank",
        "SELECT id, rn FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY v) AS rn FROM a) WHERE rn <= 3",
    ),
    (
        "to_rank",
        "SELECT id FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY v) AS rn FROM a) WHERE rn = 1 AND v > 2",
    ),
    ("trim_ranks", "SELECT id FROM (SELECT *, ROW_NUMBER() OVER (ORDER BY v) AS rn FROM a) WHERE rn <= 3"),
    (
        "trim_ranks",
        "SELECT id FROM (SELECT *, ROW_NUMBER() OVER (ORDER BY v) AS rn FROM ("
        "SELECT id, v, k, COUNT(*) AS n FROM a GROUP BY id, v, k)) WHERE rn <= 3",
    ),
    ("drop_constant_ranks", "SELECT id, rn FROM (SELECT *, ROW_NUMBER() OVER (ORDER BY v) AS rn FROM a) WHERE rn < 2"),
    (
        "drop_unused_ranks",
        "SELECT id FROM (SELECT *, RANK() OVER (ORDER BY v) AS rk FROM (SELECT *, RANK() OVER (ORDER BY k) AS rn "
        "FROM a) WHERE rn <= 3) WHERE rk <= 2",
    ),
    ("share_calls", "SELECT id < v, v > id AND b, v * id FROM a WHERE id * v > 3 OR b"),
    ("split_python_joins", "SELECT a.id FROM a JOIN c ON a.id = c.cid AND is_odd(a.v + c.cid)"),
    ("split_python_correlates", "SELECT w FROM c, LATERAL TABLE(words(UPPER(name))) AS t (w) WHERE w <> 'x'"),
    ("split_python_correlates", "SELECT id, x FROM a, UNNEST(ARRAY[plus_one(v), id]) AS t (x)"),
    ("split_python_calcs", "SELECT id, plus_one(v + 1) * 2, 'x' FROM a WHERE is_odd(id) AND v > 0"),
    ("split_python_calcs", "SELECT plus_one(id), doubled(plus_one(v)), plus_one(v) + 1 FROM a"),
    ("materialize_time", "SELECT k, MAX(ts) FROM ev GROUP BY k"),
    ("materialize_time", "SELECT EXTRACT(HOUR FROM ts), ts FROM ev"),
    ("materialize_time", "SELECT EXTRACT(HOUR FROM MAX(ts) OVER (PARTITION BY k ORDER BY ts)) FROM ev"),
]


@cache
def _trees(phase: str, query: str) -> tuple[str, str]:
    before, after = before_and_after(query, phase, OPTIONS.get(phase))
    return outline(before), outline(after)


@pytest.mark.parametrize("phase", dict.fromkeys(phase for phase, _ in CASES))
def test_phase(phase: str, golden: Golden) -> None:
    blocks = []
    for query in (query for name, query in CASES if name == phase):
        before, after = _trees(phase, query)
        blocks.append(f"{query}\n-- before\n{before}\n-- after\n{after}\n")
    golden.check(f"{phase}.txt", "\n".join(blocks))


def test_every_phase_has_a_case_that_it_changes() -> None:
    changing = {phase for phase, query in CASES if len(set(_trees(phase, query))) == 2}
    of_the_table_api = {"without_processing_time"}  # tests/table/test_table_api.py
    assert {phase.name for phase in LOGICAL} - changing == {"merge_calcs"} | of_the_table_api


def test_a_tree_out_of_order_is_found() -> None:
    scan = bind("SELECT * FROM a").inputs[0]
    beyond = InputRef(scan.width, INT)
    assert list(violations(Project(input=scan, exprs=(beyond,), names=("x", "y")))) == [
        "Project: 2 names for 1 columns",
        "Project: column 4 of 4",
    ]
    assert list(violations(Filter(input=scan, condition=InputRef(0, BOOLEAN)))) == [
        "Filter: column 0 is INT, not BOOLEAN"
    ]


def test_a_rule_that_leaves_a_tree_out_of_order_is_named() -> None:
    @rule(on=Project)
    def widen(rel: Project) -> Rel:
        return replace(rel, exprs=(*rel.exprs, InputRef(9, INT)), names=(*rel.names, "more"))

    @rule(on=Filter)
    def rename(rel: Filter) -> Rel:
        return Project(input=rel, exprs=(TRUE,) * rel.width, names=rel.names)

    with pytest.raises(OutOfOrder, match="widen: Project: column 9 of 4; 1 columns became 2"):
        widen.run(bind("SELECT id FROM a"))
    with pytest.raises(OutOfOrder, match="rename: the type of column 0 was INT, is BOOLEAN"):
        rename.run(bind("SELECT id FROM a WHERE v > 3"))
