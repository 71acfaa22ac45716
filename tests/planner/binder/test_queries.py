"""Queries become the relations that Calcite makes of them."""

from __future__ import annotations

import pytest

from flinkplan.planner.binder import Context, bind_query
from flinkplan.planner.session import Session
from flinkplan.planner.sql import parse_script
from tests.planner.parsing import parse_query
from tests.planner.relation_text import explain

SOURCES = ("Watermark(ts", "Scan(t)", "Project(id=[$0], a=[$1], b=[$2], bi=")


def tree(session: Session, sql: str) -> str:
    """The relation, without what makes the table t of its columns."""
    lines = explain(bind_query(Context(session.catalog), parse_query(sql))).split("\n")
    return "\n".join(line for line in lines if not line.strip().startswith(SOURCES))


CASES = {
    "SELECT a AS x, UPPER(s), a FROM t WHERE b > 1": """
        Project(x=[$1], EXPR$1=[UPPER($7)], a=[$1])
          Filter(>($2, 1))""",
    "SELECT a, a, a AS b FROM t": "Project(a=[$1], a0=[$1], b=[$1])",
    "SELECT 1, 'x'": """
        Project(EXPR$0=[1], EXPR$1=['x'])
          Values({0})""",
    "SELECT b, SUM(a) + 1, COUNT(*) FILTER (WHERE bo) FROM t GROUP BY b HAVING SUM(a) > 10": """
        Project(b=[$0], EXPR$1=[+($1, 1)], EXPR$2=[$2])
          Filter(>($1, 10))
            Aggregate(group=[{0}], #=[SUM($1)], EXPR$2=[COUNT() FILTER $2])
              Project(b=[$2], a=[$1], $f2=[IS TRUE($10)])""",
    "SELECT a + 1 AS x, COUNT(DISTINCT b) FROM t GROUP BY a + 1": """
        Aggregate(group=[{0}], EXPR$1=[COUNT(DISTINCT $1)])
          Project(x=[+($1, 1)], b=[$2])""",
    "SELECT COUNT(*) FROM t": "Aggregate(group=[{}], EXPR$0=[COUNT()])",
    "SELECT DISTINCT a FROM t": """
        Aggregate(group=[{0}])
          Project(a=[$1])""",
    "SELECT a, b, GROUPING(a) FROM t GROUP BY GROUPING SETS (b, (a, b), ())": """
        Project(a=[$1], b=[$0], EXPR$2=[$2])
          Aggregate(group=[{0, 1}], groups=[(0, 1), (0,), ()], EXPR$2=[GROUPING($1)])
            Project(b=[$2], a=[$1])""",
    "SELECT a, b, COUNT(*) FROM t GROUP BY a, ROLLUP (b)": """
        Aggregate(group=[{0, 1}], groups=[(0, 1), (0,)], EXPR$2=[COUNT()])
          Project(a=[$1], b=[$2])""",
    "SELECT TUMBLE_END(ts, INTERVAL '1' HOUR), COUNT(*) FROM t GROUP BY TUMBLE(ts, INTERVAL '1' HOUR)": """
        Project(EXPR$0=[TUMBLE_END($0)], EXPR$1=[$1])
          Aggregate(group=[{0}], EXPR$1=[COUNT()])
            Project($f0=[$TUMBLE($13, 3600000:INTERVAL HOUR)])""",
    "SELECT a + 1, b FROM t ORDER BY a + 1, s DESC LIMIT 3": """
        Project(EXPR$0=[$0], b=[$1])
          Sort($0 ASC, $2 DESC, fetch=3)
            Project(EXPR$0=[+($1, 1)], b=[$2], s=[$7])""",
    "SELECT w.id, u.* FROM w LEFT JOIN u ON w.id = u.id AND w.a > u.a WHERE u.k = 'x'": """
        Project(id=[$0], id0=[$3], a=[$4], k=[$5])
          Filter(=($5, 'x':VARCHAR(2147483647)))
            Join(condition=[AND(=($0, $3), >($1, $4))], type=[left])
              Scan(w)
              Scan(u)""",
    "SELECT u.id, w.id, w.* FROM u JOIN w ON u.k IS NOT DISTINCT FROM w.k": """
        Project(id=[$0], id0=[$3], id00=[$3], a=[$4], k=[$5])
          Join(condition=[IS NOT DISTINCT FROM($2, $5)], type=[inner])
            Scan(u)
            Scan(w)""",
    "SELECT * FROM u FULL JOIN w USING (id)": """
        Project(id=[COALESCE($0, $3)], a=[$1], k=[$2], a0=[$4], k0=[$5])
          Join(condition=[=($0, $3)], type=[full])
            Scan(u)
            Scan(w)""",
    "SELECT * FROM w NATURAL JOIN (SELECT id, k AS kk FROM u) AS q": """
        Project(id=[COALESCE($0, $3)], a=[$1], k=[$2], kk=[$4])
          Join(condition=[=($0, $3)], type=[inner])
            Scan(w)
            Project(id=[$0], kk=[$2])
              Scan(u)""",
    "SELECT a FROM w WHERE id IN (SELECT id FROM u WHERE u.a = w.a)": """
        Project(a=[$1])
          Filter(IN($0, {
        Project(id=[$0])
          Filter(=($1, CAST($cor0.a):BIGINT))
            Scan(u)
        }))
            Scan(w)""",
    "SELECT id, u FROM t CROSS JOIN UNNEST(ar) AS q(u)": """
        Project(id=[$0], u=[$21])
          Correlate($cor0, inner, UNNEST_ROWS($cor0.ar))""",
    "SELECT a FROM w UNION ALL SELECT a FROM u": """
        SetOp(UNION ALL)
          Project(a=[CAST($1):BIGINT])
            Scan(w)
          Project(a=[$1])
            Scan(u)""",
    "VALUES (1, 'a'), (2, 'bcd')": "Values({1, 'a'}, {2, 'bcd'})",
    "SELECT * FROM (VALUES (1, CAST(NULL AS STRING)), (2, 'x')) AS v(x, y)": """
        Project(x=[$0], y=[$1])
          SetOp(UNION ALL)
            Project(EXPR$0=[1], EXPR$1=[null:VARCHAR(2147483647)])
              Values({0})
            Project(EXPR$0=[2], EXPR$1=[CAST('x':VARCHAR(2147483647)):VARCHAR(2147483647)])
              Values({0})""",
    "WITH q (x) AS (SELECT a FROM w), r AS (SELECT x + 1 AS z FROM q) SELECT * FROM r": """
        Project(z=[$0])
          Project(z=[+($0, 1)])
            Project(a=[$1])
              Scan(w)""",
    "SELECT n FROM v2 WHERE q > 1": """
        Project(n=[$1])
          Filter(>($0, 1))
            Project(q=[$0], n=[$1])
              Aggregate(group=[{0}], EXPR$1=[COUNT()])
                Project(vid=[$0])
                  Project(vid=[$0], a=[$1])
                    Filter(>($2, 0))""",
    "SELECT window_start FROM TABLE(HOP(TABLE t, DESCRIPTOR(ts), INTERVAL '5' MINUTES, INTERVAL '10' MINUTES))": """
        Project(window_start=[$21])
          WindowFunction(HOP, time=$13, size=600000, slide=300000, offset=None, keys=())""",
    "SELECT b FROM TABLE(SESSION(TABLE t PARTITION BY a, DESCRIPTOR(ts), GAP => INTERVAL '5' DAY))": """
        Project(b=[$2])
          WindowFunction(SESSION, time=$13, size=432000000, slide=None, offset=None, keys=(1,))""",
    "SELECT /*+ STATE_TTL('x' = '1 d', 'u' = '2h') */ x.a FROM w AS x JOIN u ON x.id = u.id": """
        Project(a=[$1])
          Join(condition=[=($0, $3)], type=[inner], ttl=((0, 86400000), (1, 7200000)))
            Scan(w)
            Scan(u)""",
    "SELECT a FROM w QUALIFY ROW_NUMBER() OVER (PARTITION BY k ORDER BY a) = 1": """
        Project(a=[$0])
          Filter($1)
            Project(a=[$1], QualifyExpression=[=($ROW_NUMBER$1() OVER (PARTITION BY $2 ORDER BY $1 ASC), 1:BIGINT)])
              Scan(w)""",
}


@pytest.mark.parametrize("sql", CASES)
def test_relations(session: Session, sql: str) -> None:
    expected = [line.removeprefix(" " * 8) for line in CASES[sql].strip("\n").split("\n")]
    assert tree(session, sql) == "\n".join(expected)


def insert(session: Session, sql: str) -> str:
    (statement,) = parse_script(sql).statements
    (modify,) = session.bind(statement)  # type: ignore[arg-type]
    return explain(modify)


def test_a_sink_casts_to_its_nullable_types_under_its_names(session: Session) -> None:
    assert insert(session, "INSERT INTO o SELECT a, k, id FROM w;") == (
        "TableModify(o)\n  Project(x=[CAST($1):BIGINT], y=[CAST($2):VARCHAR(4)], z=[$0])\n    Scan(w)"
    )


def test_a_fitting_query_stays_as_it_is(session: Session) -> None:
    assert insert(session, "INSERT INTO o SELECT a, CAST(k AS VARCHAR(4)), id FROM u;").split("\n")[1] == (
        "  Project(a=[$1], EXPR$1=[CAST($2):VARCHAR(4)], id=[$0])"
    )


def test_a_column_list_orders_and_fills_up(session: Session) -> None:
    assert insert(session, "INSERT INTO o (z, x) SELECT id, a FROM u;").split("\n")[1] == (
        "  Project(a=[$1], EXPR$1=[null:VARCHAR(4)], id=[$0])"
    )


def test_a_static_partition_is_a_constant_column(session: Session) -> None:
    project_line = insert(session, "INSERT INTO p PARTITION (p = 'x') SELECT id FROM w;").split("\n")[1]
    assert project_line == "  Project(id=[$0], EXPR$1=['x':VARCHAR(2147483647)])"


def test_a_subquery_in_an_aggregate_is_one(session: Session) -> None:
    text = tree(session, "SELECT k, MAX((SELECT a)) FROM w GROUP BY k")
    assert text.startswith("Aggregate(group=[{0}], EXPR$1=[MAX($1)])")
