"""What is said about SQL that parses but means nothing: what, where, and how to mend it."""

from __future__ import annotations

import pytest

from flinkplan.plan.errors import FlinkplanError, Location
from flinkplan.planner.session import Session
from flinkplan.planner.sql import parse_script


@pytest.mark.parametrize(
    ("sql", "place", "message", "hint"),
    [
        ("SELECT amuont FROM t", "amuont", "no column 'amuont' in 't'", None),
        ("SELECT iid FROM w", "iid", "no column 'iid' in 'w'", "did you mean 'id'"),
        ("SELECT w.aa FROM w", "aa", "no column 'aa' in 'w'", "did you mean 'a'"),
        ("SELECT x.a FROM w", "x", "no table, alias or row column 'x'", None),
        ("SELECT a FROM w, u", "a", "the column 'a' is ambiguous", "qualify it: w.a"),
        ("SELECT x FROM t, UNNEST(ar) AS q(x)", "x", "the column 'x' is ambiguous", "qualify it: t.x"),
        ("SELECT id FROM w NATURAL JOIN u", "id", "the column 'id' is ambiguous", "qualify it: w.id"),
        ("SELECT a FROM w WHERE a > 1 OR NULL", "NULL", "NULL alone has no type beside OR", "CAST(NULL AS BOOLEAN)"),
        ("SELECT a AS x, k AS x FROM w QUALIFY x > 1", "x", "several columns 'x'", None),
        (
            "SELECT k, SUM(a) FROM w GROUP BY k QUALIFY RANK() OVER (ORDER BY k) < 3",
            "RANK() OVER (ORDER BY k) < 3",
            "Flink cannot plan QUALIFY",
            "aggregate in a subquery",
        ),
        (
            "SELECT COUNT(*) FROM t GROUP BY SESSION(ts, a * INTERVAL '1' MINUTE)",
            "a * INTERVAL '1' MINUTE",
            "the intervals of SESSION must be constants",
            None,
        ),
        (
            "SELECT COUNT(*) FROM t GROUP BY TUMBLE(ts, INTERVAL '1' MONTH)",
            "INTERVAL '1' MONTH",
            "TUMBLE takes intervals of days or less",
            "no fixed length",
        ),
        (
            "SELECT SUM(a) OVER (PARTITION BY (SELECT MAX(a) FROM w) ORDER BY ts) FROM t",
            "(SELECT MAX(a) FROM w)",
            "OVER takes no subquery",
            "join its rows",
        ),
        *(
            (f"SELECT SUM(a) OVER (ORDER BY {order} {frame}) FROM t", place or frame, message, hint)
            for order, frame, place, message, hint in (
                ("ts", "ROWS a PRECEDING", "a", "a bound of ROWS or RANGE is a constant", None),
                ("ts", "ROWS -1 PRECEDING", "-1", "whole numbers that are not negative", None),
                ("ts", "ROWS 1.5 PRECEDING", "1.5", "whole numbers that are not negative", None),
                ("ts", "ROWS TRUE PRECEDING", "TRUE", "a number or an interval of days or less", None),
                ("ts", "RANGE INTERVAL '1' MONTH PRECEDING", "INTERVAL '1' MONTH", "an interval of days or less", None),
                ("ts", "RANGE 5 PRECEDING", "5", "does not fit an ORDER BY of type TIMESTAMP(3)", "use an interval"),
                ("a", "RANGE INTERVAL '1' DAY PRECEDING", "INTERVAL '1' DAY", "does not fit", "use a number"),
                ("ts, a", "RANGE UNBOUNDED PRECEDING", None, "RANGE takes an ORDER BY of one column", "use ROWS"),
                ("ts", "ROWS BETWEEN CURRENT ROW AND 1 PRECEDING", None, "begins after it ends", "swap its bounds"),
                ("ts", "ROWS BETWEEN 1 FOLLOWING AND CURRENT ROW", None, "begins after it ends", "swap its bounds"),
                ("ts", "ROWS UNBOUNDED FOLLOWING", None, "a frame begins behind all rows", None),
            )
        ),
        ("SELECT r.z FROM t", "z", "no field 'z'", None),
        (
            "SELECT TO_TIMESTAMP_LTZ(a, 10) FROM t",
            "10",
            "with 0 to 9 digits of the second, not 10",
            "6 for microseconds",
        ),
        ("SELECT TO_TIMESTAMP_LTZ(s, 'yyyy', 'Bad/Zone') FROM t", "'Bad/Zone'", "is no time zone", "'Europe/Berlin'"),
        (
            "SELECT 92233720368547758.08 FROM t",
            "92233720368547758.08",
            "beyond the range of BIGINT",
            "CAST('92233720368547758.08' AS DECIMAL(19, 2))",
        ),
        ("SELECT a FROM tt", "tt", "no table or view 'tt'", "did you mean"),
        ("SELECT TO_UPER(s) FROM t", "TO_UPER", "no function TO_UPER", "did you mean"),
        ("SELECT UPPER(a) FROM t", "UPPER(a)", "UPPER does not take (INT)", "it takes UPPER(CHARACTER)"),
        ("SELECT s + 1 FROM t", "s + 1", "there is no STRING + INT", "CAST the text to a number"),
        ("SELECT a = bo FROM t", "a = bo", "cannot be compared with =", "CAST one side"),
        ("SELECT a FROM t WHERE a", "a", "WHERE needs a condition, but this is of type INT", None),
        ("SELECT NULL FROM t", "NULL", "NULL alone has no type here", "CAST(NULL AS STRING)"),
        ("SELECT CASE WHEN bo THEN 1 ELSE 'x' END FROM t", "CASE", "no common type: INT, CHAR(1)", "CAST the branches"),
        ("SELECT a, COUNT(*) FROM t GROUP BY b", "a", "neither grouped nor aggregated", "MAX(a)"),
        (
            "SELECT COUNT(*) FROM t GROUP BY GROUPING SETS ((a), (), ())",
            "GROUP BY",
            "a grouping set that comes twice and lacks a grouping column is not supported",
            "write each set once",
        ),
        ("SELECT 1 FROM t AS x, w AS x", "t AS x, w AS x", "'x' names two items of FROM", "another alias"),
        (
            "SELECT a, (SELECT MAX(id) FROM w WHERE w.k = t.s AND w.a > t.b) FROM t GROUP BY a, s",
            "t.b",
            "the column 't.b' of the outer query is not grouped, so no subquery can read it",
            "add it to GROUP BY",
        ),
        ("SELECT a FROM t WHERE COUNT(*) > 1", "COUNT(*)", "COUNT cannot be used in WHERE", None),
        ("SELECT SUM(MAX(a)) FROM t", "MAX(a)", "cannot stand inside another", None),
        ("SELECT SUM(*) OVER (ORDER BY a) FROM t", "*", "this kind of expression (Star) is not supported", None),
        ("SELECT COUNT(a, b) FROM t", "COUNT(a, b)", "COUNT takes one argument", None),
        (
            "SELECT MAX(a) IGNORE NULLS FROM t",
            "MAX(a) IGNORE NULLS",
            "MAX takes no IGNORE NULLS",
            "leave IGNORE NULLS out",
        ),
        (
            "SELECT a FROM t WHERE ROW_NUMBER() OVER (ORDER BY a) = 1",
            "ROW_NUMBER",
            "cannot be used in WHERE",
            "subquery",
        ),
        ("SELECT ROW_NUMBER() FROM t", "ROW_NUMBER()", "ROW_NUMBER needs an OVER clause", None),
        ("SELECT ts2 - ts2 FROM t", "ts2 - ts2", "a difference of two times needs a unit", "TIMESTAMPDIFF"),
        ("SELECT CAST(ar AS INT) FROM t", "CAST", "cannot be cast to INT", None),
        ("SELECT TIMESTAMPDIFF(ts2) FROM t", "TIMESTAMPDIFF", "takes a unit and two arguments", "TIMESTAMPDIFF(DAY"),
        ("SELECT FLOOR(ts2, 1) FROM t", "FLOOR", "takes a number, or a time and a unit", "FLOOR(ts TO HOUR)"),
        ("SELECT OBJECT_OF('a', 'b') FROM t", "OBJECT_OF", "does not take", None),
        ("SELECT +s FROM t", "+s", "there is no + STRING", None),
        ("SELECT a + NULL FROM t", "a + NULL", "NULL alone has no type here", "CAST(NULL AS INT)"),
        ("SELECT YEAR(INTERVAL '1' DAY) FROM t", "YEAR", "an INTERVAL DAY(2) has no YEAR", None),
        ("SELECT MOD(d, a) FROM t", "MOD", "MOD does not take (DOUBLE, INT)", "MOD(EXACT, EXACT)"),
        ("SELECT a FROM t /*+ OPTINS('a'='b') */", "OPTINS", "there is no hint OPTINS", "OPTIONS"),
        ("SELECT /*+ BRODCAST(t) */ a FROM t", "BRODCAST", "there is no hint BRODCAST", "BROADCAST"),
        ("SELECT DATE '2024-02-30' FROM t", "DATE", "is not a DATE", None),
        ("SELECT INTERVAL 'x' DAY FROM t", "INTERVAL", "not an interval of DAY", "INTERVAL '5' DAY"),
        ("SELECT a FROM w UNION SELECT k FROM w", "SELECT a", "do not go together: INT and STRING", "CAST one side"),
        ("SELECT a FROM w UNION SELECT a, k FROM w", "SELECT a", "have 1 and 2 columns", None),
        ("SELECT a FROM w ORDER BY 3", "3", "there are 1 columns", None),
        (
            "SELECT 1 FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts2), INTERVAL '1' HOUR))",
            "ts2",
            "TUMBLE needs a time attribute, but 'ts2' is a plain TIMESTAMP(3)",
            "WATERMARK FOR ts2",
        ),
        (
            "SELECT 1 FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '10' MINUTE, INTERVAL '-16' MINUTE))",
            "INTERVAL '-16' MINUTE",
            "the OFFSET of TUMBLE must be less than its SIZE",
            "-360000 ms",
        ),
        ("SELECT 1 FROM TABLE(HOP(TABLE t, DESCRIPTOR(ts), INTERVAL '1' HOUR))", "HOP", "HOP lacks SIZE", None),
        (
            "SELECT /*+ STATE_TTL('w' = '1d') */ x.a FROM w AS x JOIN u ON x.id = u.id",
            "'w' = '1d'",
            "names 'w', which is no input",
            None,
        ),
        ("SELECT /*+ STATE_TTL('w' = '1 eon') */ COUNT(*) FROM w", "'w' = '1 eon'", "STATE_TTL of 'w'", None),
    ],
)
def test_queries(session: Session, sql: str, place: str, message: str, hint: str | None) -> None:
    text = f"INSERT INTO o {sql};"
    check(session, text, place, message, hint)


@pytest.mark.parametrize(
    ("sql", "place", "message", "hint"),
    [
        ("INSERT INTO oo SELECT 1;", "oo", "there is no table 'oo'", None),
        ("INSERT INTO v SELECT 1;", "v", "'v' is a view", None),
        (
            "INSERT INTO o SELECT a, k FROM w;",
            "a, k",
            "it has 3 columns, the query gives 2",
            "the sink takes (x BIGINT",
        ),
        ("INSERT INTO o SELECT k, k, a FROM w;", "k, k", "column 1 'x' is BIGINT, the query gives STRING", None),
        ("INSERT INTO o (x, q) SELECT a, k FROM w;", "q", "'o' has no column 'q'", None),
        ("INSERT INTO o (x) SELECT a FROM w;", "x", "the column 'z' is NOT NULL but gets no value", None),
        ("INSERT INTO o VALUES (1, NULL, 2);", "NULL", "NULL alone has no type here", None),
        ("CREATE TABLE q (a INT, a INT) WITH ('c'='d');", "a INT)", "the column 'a' is declared twice", None),
        ("CREATE TABLE q (a INT, PRIMARY KEY (b) NOT ENFORCED) WITH ('c'='d');", "b", "no column 'b'", None),
        ("CREATE TABLE q (a INT PRIMARY KEY) WITH ('c'='d');", "PRIMARY", "does not enforce", "NOT ENFORCED"),
        (
            "CREATE TABLE q (a INT, WATERMARK FOR a AS a) WITH ('c'='d');",
            "a AS a",
            "event time must be of type",
            "ts AS",
        ),
        ("CREATE TABLE q (a INT, b AS c + 1) WITH ('c'='d');", "c + 1", "there is no column 'c'", None),
        ("CREATE TABLE q (a DECIMAL(50, 2)) WITH ('c'='d');", "DECIMAL", "between 1 and 38", None),
        ("CREATE TABLE t (a INT) WITH ('c'='d');", "CREATE", "exists already", "IF NOT EXISTS"),
        ("CREATE VIEW z AS SELECT nope FROM w;", "nope", "there is no column 'nope'", None),
        ("DROP TABLE nope;", "DROP", "there is no table 'nope'", None),
    ],
)
def test_statements(session: Session, sql: str, place: str, message: str, hint: str | None) -> None:
    check(session, sql, place, message, hint)


def check(session: Session, sql: str, place: str, message: str, hint: str | None) -> None:
    (statement,) = parse_script(sql, "x.sql").statements
    with pytest.raises(FlinkplanError) as caught:
        if sql.startswith("INSERT"):
            session.bind(statement)  # type: ignore[arg-type]
        else:
            session.apply(statement)
    error = caught.value
    assert message in error.message
    assert hint is None or hint in (error.hint or "")
    assert isinstance(error.where, Location)
    assert error.where.file == "x.sql" and error.where.line == 1 and error.where.column is not None
    assert sql[error.where.column - 1 :].startswith(place)
    assert error.snippet is not None and "^" in error.snippet
