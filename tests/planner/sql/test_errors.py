"""What is said about SQL that cannot be read."""

import pytest

from flinkplan.plan.errors import ErrorGroup, FlinkplanError, Location, UnsupportedError
from flinkplan.planner.sql import SqlSyntaxError, parse_script, render


def error(text: str) -> FlinkplanError:
    with pytest.raises(FlinkplanError) as caught:
        parse_script(text, "x.sql")
    assert not isinstance(caught.value, ErrorGroup)
    return caught.value


@pytest.mark.parametrize(
    ("text", "column", "message", "hint"),
    [
        ("SELCT a FROM t", 1, "expected a statement, found SELCT", "did you mean SELECT"),
        ("SELECT a FORM t", 15, "found t", "did you mean FROM instead of FORM"),
        ("CREATE TABL t (a INT)", 8, "found TABL", "did you mean TABLE"),
        ("SELECT a, FROM t", 11, "expected a select item", "comma too many"),
        ("SELECT value FROM t", 8, "the keyword value", "backquotes: `value`"),
        ("SELECT a count FROM t", 10, "the keyword count", "backquotes: `count`"),
        ("CREATE TABLE t (value INT)", 17, "expected a column name", "backquotes: `value`"),
        ("CREATE TABLE t (a INT,)", 23, "expected a column", "comma too many"),
        ("CREATE TABLE t (a INT b INT)", 23, "expected ',' or ')', found b", "'(' was opened at 1:16"),
        ("CREATE TABLE t (a ROW<b INT)", 28, "expected ',' or '>'", "'<' was opened at 1:22"),
        ("CREATE TABLE t (a, b)", 17, "the column a has no type", "CREATE TABLE … AS SELECT"),
        ("CREATE TABLE t (a INT) WITH ('a'='b' 'c'='d')", 38, "found 'c'", "'(' was opened at 1:29"),
        ("CREATE TABLE t (a INT) WITH ('a'='b') PARTITIONED BY (a)", 39, "found PARTITIONED", "in this order"),
        ("SELECT a FROM t WHERE (a > 1 AND (b < 2)", 41, "the end of the text", "'(' was opened at 1:23"),
        ("SELECT a FROM t WHERE a > 1)", 28, "found )", "no '(' for it"),
        ("SELECT a[1 FROM t", 12, "expected ',' or ']'", "'[' was opened at 1:9"),
        ("SELECT 'abc FROM t", 8, "no closing quote", "doubled"),
        ("SELECT `abc FROM t", 8, "no closing backquote", None),
        ("SELECT `` FROM t", 8, "an identifier cannot be empty", None),
        ("SELECT /* x FROM t", 8, "never closed", "*/"),
        ('SELECT "a" FROM t', 8, 'the character "', "single quotes"),
        ("SELECT “a” FROM t", 8, "the character “", "straight quotes"),
        ("SELECT 'a' AS 'b'", 15, "expected an alias", "backquotes"),
        ("SELECT CASE WHEN a THEN 1 FROM t", 27, "expected WHEN, ELSE or END", "CASE was opened at 1:8"),
        ("SELECT MAP[1, 2, 3]", 8, "the last key has no value", None),
        ("SELECT X'0g'", 8, "hexadecimal", "X'0aff'"),
        ("SELECT U&'\\00g9'", 8, "not a unicode escape", "\\00e9"),
        ("SELECT INTERVAL '1' MONTHZ", 21, "expected a unit", "did you mean MONTH instead"),
        ("SELECT TIMESTAMP_LTZ 'x'", 8, "TIMESTAMP_LTZ", "TIMESTAMP WITH LOCAL TIME ZONE"),
        ("SELECT CAST(a AS INT NOT NULL)", 22, "expected ')'", "no NOT NULL"),
        ("SELECT CAST(a AS TIMESTAMP WITH TIME ZONE)", 28, "the end of the type", "TIMESTAMP_LTZ(p)"),
        ("SELECT a::INT", 9, "found :", "CAST(a AS type)"),
        ("SELECT a ILIKE b", 10, "ILIKE", "LOWER"),
        ("SELECT a FROM SELECT 1", 15, "expected a table", "parentheses"),
        ("SELECT a FROM (t)", 15, "takes no parentheses", "a query or a join"),
        ("SELECT a FROM t LEFT SEMI JOIN s", 22, "found SEMI", "EXISTS"),
        ("SELECT a FROM t AS x FOR SYSTEM_TIME AS OF p", 22, "the end of the table", "before the alias"),
        ("SELECT a OFFSET 1 LIMIT 2", 19, "found the keyword LIMIT", "LIMIT stands before OFFSET"),
        ("SELECT 1 MINUS SELECT 2", 10, "MINUS", "EXCEPT"),
        ("SELECT a ORDER a", 16, "expected BY", None),
        ("INSERT INTO t (a) PARTITION (b=1) SELECT 1", 19, "expected a query", "before the list of columns"),
        ("SET 'a'", 8, "expected '='", None),
        ("SELECT 1 +;", 11, "the end of the statement", None),
        ("STATEMENT SET BEGIN END", 21, "at least one INSERT", None),
        ("STATEMENT SET BEGIN INSERT INTO t SELECT 1;", 44, "expected END", "opened at 1:1"),
        ("STATEMENT SET BEGIN INSERT INTO t SELECT 1 END", 44, "expected ';'", "after every INSERT"),
        ("COMPILE PLAN p FOR INSERT INTO t SELECT 1", 14, "'single quotes'", None),
    ],
)
def test_messages(text: str, column: int, message: str, hint: str | None) -> None:
    refusal = error(text)
    assert isinstance(refusal, SqlSyntaxError)
    assert message in refusal.message
    assert isinstance(refusal.where, Location)
    assert (refusal.where.file, refusal.where.line, refusal.where.column) == ("x.sql", 1, column)
    if hint is None:
        assert refusal.hint is None
    else:
        assert refusal.hint is not None
        assert hint in refusal.hint


@pytest.mark.parametrize(
    ("text", "what", "needs"),
    [
        ("DELETE FROM t", "DELETE", "in batch mode only"),
        ("TRUNCATE TABLE t", "TRUNCATE", "in batch mode only"),
        ("ALTER TABLE t COMPACT", "ALTER TABLE … COMPACT", "tables that it manages itself"),
        ("CREATE MODEL m", "CREATE MODEL", "needs a provider"),
        ("DROP MATERIALIZED TABLE t", "DROP MATERIALIZED", "a catalog that stores it"),
        ("CREATE CONNECTION c WITH ('type' = 'basic')", "CREATE CONNECTION", "a catalog of Flink"),
        ("CALL p(1)", "CALL", "Java code of a catalog"),
        ("SELECT * FROM ML_PREDICT(TABLE t, MODEL m, DESCRIPTOR(a))", "a MODEL as an argument", "needs a provider"),
        ("SELECT * FROM t JOIN LATERAL SNAPSHOT(TABLE r) AS s ON t.a = s.a", "LATERAL SNAPSHOT", "from release 2.4 on"),
        ("WITH RECURSIVE a AS (SELECT 1) SELECT 2", "WITH RECURSIVE", "Flink itself does not support it"),
        ("SELECT * FROM t TABLESAMPLE BERNOULLI(10)", "TABLESAMPLE", ""),
    ],
)
def test_what_flink_has_and_we_have_not(text: str, what: str, needs: str) -> None:
    refusal = error(text)
    assert isinstance(refusal, UnsupportedError)
    assert refusal.message.startswith(f"{what} is not supported")
    assert needs in refusal.message
    assert refusal.snippet is not None


def test_a_missing_quote_is_suspected_where_a_string_runs_over_lines() -> None:
    refusal = error("CREATE TABLE t (a INT) WITH ('a'='b\n);\nSELECT 'x' FROM t")
    assert refusal.hint == "the string opened at 1:34 runs over several lines; is its closing quote missing?"


def test_a_missing_semicolon_is_suspected_before_a_statement() -> None:
    assert error("INSERT INTO t SELECT 1\nINSERT INTO u SELECT 2").hint == "is a ';' missing before this statement?"


def test_several_errors_are_reported_in_one_go() -> None:
    text = (
        "SELCT 1;\n"
        "SELECT 2;\n"
        "EXECUTE STATEMENT SET BEGIN\n"
        "INSERT INTO t SELECT FROM x;\n"
        "INSERT INTO u SELECT 1;\n"
        "INSERT INTO v SELECT a b c;\n"
        "END;\n"
        "SELECT 1 +;"
    )
    with pytest.raises(ErrorGroup) as caught:
        parse_script(text)
    places = [each.where for each in caught.value.errors]
    assert [place.line for place in places if isinstance(place, Location)] == [1, 4, 6, 8]


def test_the_line_is_shown_with_carets() -> None:
    assert render(error("SELECT 1,\n\tvalue FROM t"), "") == (
        "x.sql:2:2: expected an expression, found the keyword value\n"
        "  2 | \tvalue FROM t\n"
        "    | \t^^^^^\n"
        "hint: VALUE is a reserved word; as an identifier it needs backquotes: `value`"
    )


def test_render_adds_the_line_to_an_error_without_one() -> None:
    plain = FlinkplanError("wrong", where=Location("x.sql", 2, 3, 5), hint="mend it")
    assert render(plain, "a\nb cd e") == "x.sql:2:3: wrong\n  2 | b cd e\n    |   ^^\nhint: mend it"


def test_long_lines_are_cut() -> None:
    snippet = error("SELECT " + "a + " * 200 + ";").snippet
    assert snippet is not None
    assert max(len(line) for line in snippet.split("\n")) < 220


def test_deep_nesting_is_an_error_and_not_a_crash() -> None:
    assert "nested too deeply" in error("SELECT " + "(" * 4000 + "1" + ")" * 4000).message
