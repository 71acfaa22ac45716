"""SQL expressions become the row expressions that Calcite makes of them under Flink's validator."""

from __future__ import annotations

import pytest

from flinkplan.planner.algebra.logical import Project
from flinkplan.planner.binder import Context, bind_query
from flinkplan.planner.session import Session
from tests.planner.parsing import parse_query
from tests.planner.relation_text import rex_text


def bound(session: Session, sql: str) -> tuple[str, str]:
    """The text and the type of an expression over the table t."""
    rel = bind_query(Context(session.catalog), parse_query(f"SELECT {sql} AS x FROM t"))
    assert isinstance(rel, Project)
    text, t = rex_text(rel.exprs[0]), str(rel.exprs[0].type)
    return text, t.replace("VARCHAR(2147483647)", "STRING").replace(" WITH LOCAL TIME ZONE", " LTZ")


@pytest.mark.parametrize(
    ("sql", "text", "type_"),
    [
        # columns and literals
        ("a", "$1", "INT"),
        ("t.a", "$1", "INT"),
        ("default_database.t.a", "$1", "INT"),
        ("r.y", "$18.y", "STRING"),
        ("r.x", "CAST($18.x):INT", "INT"),
        ("1", "1", "INT NOT NULL"),
        ("-1", "-1", "INT NOT NULL"),
        ("3000000000", "3000000000:BIGINT", "BIGINT NOT NULL"),
        ("0.125", "0.125:DECIMAL(4, 3)", "DECIMAL(4, 3) NOT NULL"),
        ("1.5E3", "1.5E+3:DOUBLE", "DOUBLE NOT NULL"),
        ("'it''s'", "'it's'", "CHAR(4) NOT NULL"),
        ("DATE '2024-02-29'", "2024-02-29", "DATE NOT NULL"),
        ("TIMESTAMP '2024-01-01 00:00:00.120'", "2024-01-01 00:00:00.12:TIMESTAMP(3)", "TIMESTAMP(3) NOT NULL"),
        (
            "INTERVAL '1 02:03' DAY TO MINUTE",
            "93780000:INTERVAL DAY(2) TO MINUTE",
            "INTERVAL DAY(2) TO MINUTE NOT NULL",
        ),
        ("INTERVAL '1-6' YEAR TO MONTH", "18:INTERVAL YEAR(2) TO MONTH", "INTERVAL YEAR(2) TO MONTH NOT NULL"),
        # arithmetic
        ("a + bi", "+($1, $3)", "BIGINT"),
        ("a + dc", "+($1, $6)", "DECIMAL(13, 2)"),
        ("dc * dc", "*($6, $6)", "DECIMAL(21, 4)"),
        ("a / 2", "/($1, 2)", "INT"),
        ("f + d", "+($4, $5)", "FLOAT"),
        ("a % 3", "MOD($1, 3)", "INT"),
        ("a % CAST(bi AS DECIMAL(5, 0))", "MOD($1, CAST($3):DECIMAL(5, 0))", "DECIMAL(5, 0)"),
        ("CAST(bi AS DECIMAL(5, 0)) % a", "MOD(CAST($3):DECIMAL(5, 0), $1)", "INT"),
        ("- a", "-($1)", "INT"),
        ("ts2 - INTERVAL '1' DAY", "-($14, 86400000:INTERVAL DAY(2))", "TIMESTAMP(3)"),
        ("INTERVAL '1' DAY + ts2", "+($14, 86400000:INTERVAL DAY(2))", "TIMESTAMP(3)"),
        ("ts - INTERVAL '1' HOUR", "-($13, 3600000:INTERVAL HOUR)", "TIMESTAMP(3) *ROWTIME*"),
        ("INTERVAL '1' DAY * a", "*(86400000:INTERVAL DAY(2), $1)", "INTERVAL DAY(2)"),
        ("(ts2 - ts2) DAY", "-($14, $14)", "INTERVAL DAY(2)"),
        # comparison and logic
        ("a >= b", ">=($1, $2)", "BOOLEAN"),
        ("(a, 1) < (b, 2)", "<(ROW($1, 1), ROW($2, 2))", "BOOLEAN"),
        ("a <> 1", "<>($1, 1)", "BOOLEAN"),
        # a text and a number: equated as they are, but compared as numbers and listed as what is looked up
        ("a = s", "=($1, $7)", "BOOLEAN"),
        ("s <> 1", "<>($7, 1)", "BOOLEAN"),
        ("NULLIF(s, 1)", "CASE(=($7, 1), null:VARCHAR(2147483647), $7)", "STRING"),
        ("a < s", "<(CAST($1):BIGINT, CAST($7):BIGINT)", "BOOLEAN"),
        ("a IN (s)", "=($1, CAST($7):INT)", "BOOLEAN"),
        ("s IN (a)", "=($7, CAST($1):VARCHAR(2147483647))", "BOOLEAN"),
        ("CAST(a AS TIMESTAMP(3))", "CAST($1):TIMESTAMP(3)", "TIMESTAMP(3)"),
        ("TRY_CAST(ts2 AS BIGINT)", "TRY_CAST($14):BIGINT", "BIGINT"),
        ("CAST(s AS ARRAY<INT>)", "CAST($7):ARRAY<INT>", "ARRAY<INT>"),
        ("dt >= '2024-01-01'", ">=($11, CAST('2024-01-01'):DATE NOT NULL)", "BOOLEAN"),
        ("a = bi", "=(CAST($1):BIGINT, $3)", "BOOLEAN"),
        ("a < bi", "<($1, $3)", "BOOLEAN"),
        ("dc = 5", "=(CAST($6):DECIMAL(12, 2), 5:DECIMAL(12, 2))", "BOOLEAN"),
        ("a BETWEEN 1 AND b", "AND(>=($1, 1), <=($1, $2))", "BOOLEAN"),
        ("a NOT BETWEEN 1 AND 5", "NOT(AND(>=($1, 1), <=($1, 5)))", "BOOLEAN"),
        ("a IN (1, 2)", "SEARCH($1, Sarg[1, 2])", "BOOLEAN"),
        ("a NOT IN (1, 2)", "SEARCH($1, Sarg[(-∞..1), (1..2), (2..+∞)])", "BOOLEAN"),
        ("a IN ('1', bi)", None, "the values of this list have no common type"),
        ("a IN (1, bi)", "OR(=($1, 1), =($1, CAST($3):INT))", "BOOLEAN"),
        ("(a, b) IN ((1, 2), (3, 4))", "OR(AND(=($1, 1), =($2, 2)), AND(=($1, 3), =($2, 4)))", "BOOLEAN"),
        (
            "(d, bi) IN ((1, 2), (dc, a))",
            "OR(AND(=($5, 1:DOUBLE), =($3, 2:BIGINT)), AND(=($5, CAST($6):DOUBLE), =($3, CAST($1):BIGINT)))",
            "BOOLEAN",
        ),
        ("a > ANY (1, 2)", "OR(>($1, 1), >($1, 2))", "BOOLEAN"),
        ("a <> ALL (1, 2)", "AND(<>($1, 1), <>($1, 2))", "BOOLEAN"),
        ("bo AND a > 1 AND s = 'x'", "AND($10, >($1, 1), =($7, 'x':VARCHAR(2147483647)))", "BOOLEAN"),
        ("NOT bo", "NOT($10)", "BOOLEAN"),
        ("bo IS UNKNOWN", "IS NULL($10)", "BOOLEAN NOT NULL"),
        ("a IS NOT DISTINCT FROM b", "OR(AND(IS NULL($1), IS NULL($2)), IS TRUE(=($1, $2)))", "BOOLEAN NOT NULL"),
        ("s NOT LIKE 'a!%' ESCAPE '!'", "NOT(LIKE($7, 'a!%', '!'))", "BOOLEAN"),
        # choices
        (
            "CASE WHEN a > 1 THEN 'x' ELSE 'long' END",
            "CASE(>($1, 1), 'x':VARCHAR(4), 'long':VARCHAR(4))",
            "VARCHAR(4) NOT NULL",
        ),
        ("CASE a WHEN 1 THEN bi ELSE a END", "CASE(=($1, 1), $3, CAST($1):BIGINT)", "BIGINT"),
        ("CASE WHEN bo THEN 1 END", "CASE($10, 1, null:INT)", "INT"),
        ("CASE WHEN bo THEN nn END", "CASE($10, $19, null:INT)", "INT"),
        ("NULLIF(a, b)", "CASE(=($1, $2), null:INT, $1)", "INT"),
        ("COALESCE(a, bi, 0)", "COALESCE(CAST($1):BIGINT, $3, 0:BIGINT)", "BIGINT NOT NULL"),
        ("COALESCE(f, d)", "COALESCE(CAST($4):DOUBLE, $5)", "DOUBLE"),
        ("IF(a > 1, 'x', 'yy')", "IF(>($1, 1), 'x', 'yy')", "VARCHAR(2)"),
        # casts
        ("CAST(a AS STRING)", "CAST($1):VARCHAR(2147483647)", "STRING"),
        ("CAST(nn AS BIGINT)", "CAST($19):BIGINT NOT NULL", "BIGINT NOT NULL"),
        ("CAST(5 AS BIGINT)", "5:BIGINT", "BIGINT NOT NULL"),
        ("CAST(a AS BOOLEAN)", "<>($1, 0)", "BOOLEAN"),
        ("CAST(bo AS INT)", "CASE(IS NOT NULL($10), CASE($10, 1, 0), null:INT)", "INT"),
        ("CAST(NULL AS INT)", "null:INT", "INT"),
        ("CAST(ts AS TIMESTAMP(3))", "CAST($13):TIMESTAMP(3)", "TIMESTAMP(3)"),
        ("TRY_CAST(nn AS STRING)", "TRY_CAST($19):VARCHAR(2147483647)", "STRING"),
        # functions with a syntax or a meaning of their own
        ("EXTRACT(DAY FROM ts2)", "EXTRACT(FLAG(DAY), $14)", "BIGINT"),
        ("DAYOFWEEK(dt)", "EXTRACT(FLAG(DOW), $11)", "BIGINT"),
        ("FLOOR(ts2 TO HOUR)", "FLOOR($14, FLAG(HOUR))", "TIMESTAMP(3)"),
        ("CEIL(dc)", "CEIL($6)", "DECIMAL(10, 0)"),
        ("TRIM(s)", "TRIM(FLAG(BOTH), ' ', $7)", "STRING"),
        ("SQRT(d)", "POWER($5, 0.5:DECIMAL(2, 1))", "DOUBLE"),
        ("TIMESTAMPADD(WEEK, 2, ts2)", "+($14, *(604800000:INTERVAL DAY(2), 2))", "TIMESTAMP(3)"),
        ("TIMESTAMPDIFF(SECOND, ts2, ts2)", "CAST(/INT(REINTERPRET(-($14, $14)), 1000)):INT", "INT"),
        ("TIMESTAMPDIFF(QUARTER, ts2, ts2)", "/INT(CAST(REINTERPRET(-($14, $14))):INT, 3)", "INT"),
        ("JSON_VALUE(s, '$.a' RETURNING INT)", "JSON_VALUE($7, '$.a')", "INT"),
        ("JSON_OBJECT('k' VALUE a ABSENT ON NULL)", "JSON_OBJECT(FLAG(ABSENT), 'k', $1)", "STRING NOT NULL"),
        ("s IS NOT JSON ARRAY", "IS NOT JSON ARRAY($7)", "BOOLEAN NOT NULL"),
        ("CURRENT_TIMESTAMP", "CURRENT_TIMESTAMP()", "TIMESTAMP(3) LTZ NOT NULL"),
        ("pt", "$20", "TIMESTAMP(3) LTZ *PROCTIME* NOT NULL"),
        # collections
        ("ar[1]", "ITEM($16, 1)", "INT"),
        ("mp['k'] + 1", "+(ITEM($17, 'k'), 1)", "INT"),
        ("ARRAY[ARRAY[1], ARRAY[a]]", "ARRAY(ARRAY(1), ARRAY($1))", "ARRAY<ARRAY<INT> NOT NULL> NOT NULL"),
        ("ARRAY[1, 2.5]", "ARRAY(1:DECIMAL(11, 1), 2.5:DECIMAL(11, 1))", "ARRAY<DECIMAL(11, 1) NOT NULL> NOT NULL"),
        (
            "MAP['a', 1, 'bcd', bi]",
            "MAP('a':VARCHAR(3), 1:BIGINT, 'bcd':VARCHAR(3), $3)",
            "MAP<VARCHAR(3) NOT NULL, BIGINT> NOT NULL",
        ),
        ("ROW(a, 'x')", "ROW($1, 'x')", "ROW<`EXPR$0` INT, `EXPR$1` CHAR(1) NOT NULL> NOT NULL"),
        # over
        (
            "MAX(b) OVER (PARTITION BY a ORDER BY ts)",
            "$MAX$1($2) OVER (PARTITION BY $1 ORDER BY $13 ASC)",
            "INT",
        ),
        (
            "ROW_NUMBER() OVER (ORDER BY b DESC)",
            "$ROW_NUMBER$1() OVER (PARTITION BY  ORDER BY $2 DESC)",
            "BIGINT NOT NULL",
        ),
    ],
)
def test_expressions(session: Session, sql: str, text: str | None, type_: str) -> None:
    if text is None:
        with pytest.raises(Exception, match=type_):
            bound(session, sql)
        return
    assert bound(session, sql) == (text, type_)


def test_sum_over_counts_first(session: Session) -> None:
    text, t = bound(session, "SUM(b) OVER (PARTITION BY a ORDER BY ts)")
    over = "OVER (PARTITION BY $1 ORDER BY $13 ASC)"
    assert text == f"CASE(>($COUNT$1($2) {over}, 0:BIGINT), $$SUM0$1($2) {over}, null:INT)"
    assert t == "INT"
