"""Statements and scripts."""

from pathlib import Path

import pytest

from flinkplan.planner.sql import ast, parse_script

from .outline import outline

CASES = sorted((Path(__file__).parents[2] / "parity" / "cases").glob("*/pipeline.sql"))


def statement(text: str) -> ast.Statement:
    (only,) = parse_script(text).statements
    assert only.span.text == text.removesuffix(";")
    return only


INSERT = "Insert(table=t, query=Query(body=Select(items=[1])))"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("INSERT INTO t SELECT 1", INSERT),
        ("INSERT OVERWRITE t SELECT 1", INSERT.replace("])))", "])), overwrite=True)")),
        (
            "INSERT INTO t /*+ OPTIONS('a'='b') */ PARTITION (p = 'x', q) (a.b, c) TABLE s",
            "Insert(table=t, query=Query(body=ExplicitTable(name=s)), columns=[a.b, c], "
            "partition=[PartitionValue(column=p, value='x'), PartitionValue(column=q)], "
            "hints=[Hint(name=OPTIONS, options=[a=b])])",
        ),
        ("INSERT INTO t (SELECT 1)", INSERT),
        ("INSERT INTO t SELECT 1 ON CONFLICT DO DEDUPLICATE", INSERT[:-1] + ", on_conflict=DEDUPLICATE)"),
        ("EXECUTE STATEMENT SET BEGIN INSERT INTO t SELECT 1; END;", f"StatementSet(inserts=[{INSERT}], execute=True)"),
        ("STATEMENT SET BEGIN INSERT INTO t SELECT 1; END", f"StatementSet(inserts=[{INSERT}])"),
        ("BEGIN STATEMENT SET; INSERT INTO t SELECT 1; END;", f"StatementSet(inserts=[{INSERT}], execute=True)"),
        ("COMPILE PLAN '/p' FOR INSERT INTO t SELECT 1", f"CompilePlan(path=/p, statement={INSERT})"),
        (
            "COMPILE PLAN IF NOT EXISTS '/p' FOR INSERT INTO t SELECT 1",
            f"CompilePlan(path=/p, statement={INSERT}, if_not_exists=True)",
        ),
        (
            "COMPILE PLAN '/p' IF NOT EXISTS FOR STATEMENT SET BEGIN INSERT INTO t SELECT 1; END",
            f"CompilePlan(path=/p, statement=StatementSet(inserts=[{INSERT}]), if_not_exists=True)",
        ),
        (
            "COMPILE AND EXECUTE PLAN '/p' FOR INSERT INTO t SELECT 1",
            f"CompilePlan(path=/p, statement={INSERT}, execute=True)",
        ),
        ("EXECUTE PLAN '/p'", "ExecutePlan(path=/p)"),
        ("EXECUTE PLAN IF EXISTS '/p'", "ExecutePlan(path=/p, if_exists=True)"),
        ("EXPLAIN PLAN FOR INSERT INTO t SELECT 1", f"Explain(statement={INSERT})"),
        (
            "EXPLAIN CHANGELOG_MODE, PLAN_ADVICE INSERT INTO t SELECT 1",
            f"Explain(statement={INSERT}, details=[CHANGELOG_MODE, PLAN_ADVICE])",
        ),
        ("SELECT 1", "QueryStatement(query=Query(body=Select(items=[1])))"),
        ("(SELECT 1)", "QueryStatement(query=Query(body=Select(items=[1])))"),
        ("SET 'a.b' = 'c'", "SetOption(key=a.b, value=c)"),
        ("SET table.exec.state.ttl = 1 h", "SetOption(key=table.exec.state.ttl, value=1 h)"),
        ("SET;", "SetOption()"),
        ("RESET", "ResetOption()"),
        ("RESET 'a'", "ResetOption(key=a)"),
        ("USE CATALOG c", "UseCatalog(name=c)"),
        ("USE c.d", "UseDatabase(name=c.d)"),
        ("SHOW TABLES", "Show(what=TABLES)"),
        ("SHOW TABLES FROM c.d NOT LIKE 'x%'", "Show(what=TABLES, name=c.d, pattern=x%, negated=True)"),
        ("SHOW CREATE TABLE a.b", "Show(what=CREATE TABLE, name=a.b)"),
        ("SHOW USER FUNCTIONS", "Show(what=USER FUNCTIONS)"),
        ("DESC t", "Describe(name=t)"),
        ("DESCRIBE CATALOG EXTENDED c", "Describe(name=c, kind=CATALOG, extended=True)"),
        ("DESCRIBE catalog", "Describe(name=catalog)"),
        ("ADD JAR '/x.jar'", "AddJar(path=/x.jar)"),
        ("DROP TEMPORARY TABLE IF EXISTS a.t", "Drop(kind=TABLE, name=a.t, if_exists=True, temporary=True)"),
        ("DROP TEMPORARY SYSTEM FUNCTION f", "Drop(kind=FUNCTION, name=f, temporary=True, system=True)"),
        ("DROP DATABASE d CASCADE", "Drop(kind=DATABASE, name=d, cascade=True)"),
        ("ALTER TABLE t SET ('a'='b')", "AlterTable(name=t, change=SetOptions(options=[a=b]))"),
        (
            "ALTER TABLE IF EXISTS t RESET ('a')",
            "AlterTable(name=t, change=ResetOptions(keys=[a]), if_exists=True)",
        ),
        ("ALTER TABLE t RENAME TO s", "AlterTable(name=t, change=RenameTable(name=s))"),
        ("ALTER TABLE t RENAME a TO b", "AlterTable(name=t, change=RenameColumn(column=a, name=b))"),
        (
            "ALTER TABLE t ADD a INT FIRST",
            "AlterTable(name=t, change=ChangeSchema(columns=[PlacedColumn("
            "column=PhysicalColumn(name=a, type=INT), first=True)]))",
        ),
        (
            "ALTER TABLE t MODIFY (a INT AFTER b, PRIMARY KEY (a) NOT ENFORCED)",
            "AlterTable(name=t, change=ChangeSchema(modify=True, columns=[PlacedColumn("
            "column=PhysicalColumn(name=a, type=INT), after=b)], primary_keys=[PrimaryKey(columns=[a])]))",
        ),
        ("ALTER TABLE t DROP (a, b)", "AlterTable(name=t, change=DropColumns(columns=[a, b]))"),
        ("ALTER TABLE t DROP CONSTRAINT k", "AlterTable(name=t, change=DropKey(name=k))"),
        ("ALTER TABLE t DROP WATERMARK", "AlterTable(name=t, change=DropWatermark())"),
        ("ALTER VIEW v RENAME TO w", "AlterView(name=v, rename_to=w)"),
        ("ALTER VIEW v AS SELECT 1", "AlterView(name=v, query=Query(body=Select(items=[1])))"),
        (
            "REPLACE TABLE t AS SELECT 1",
            "CreateTable(name=t, query=Query(body=Select(items=[1])), or_replace=True)",
        ),
        (
            "CREATE TEMPORARY VIEW IF NOT EXISTS v (a) COMMENT 'c' AS SELECT 1",
            "CreateView(name=v, query=Query(body=Select(items=[1])), columns=[a], "
            "comment=c, temporary=True, if_not_exists=True)",
        ),
        (
            "CREATE TEMPORARY SYSTEM FUNCTION f AS 'a.B' LANGUAGE PYTHON USING JAR '/a', JAR '/b'",
            "CreateFunction(name=f, class_name=a.B, language=PYTHON, jars=[/a, /b], temporary=True, system=True)",
        ),
        ("CREATE CATALOG c COMMENT 'x' WITH ('a'='b')", "CreateCatalog(name=c, comment=x, options=[a=b])"),
        ("CREATE DATABASE IF NOT EXISTS c.d", "CreateDatabase(name=c.d, if_not_exists=True)"),
    ],
)
def test_statements(text: str, expected: str) -> None:
    assert outline(statement(text)) == expected


def table(rest: str) -> ast.CreateTable:
    result = statement(f"CREATE TABLE t {rest}")
    assert isinstance(result, ast.CreateTable)
    return result


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        ("a INT", "PhysicalColumn(name=a, type=INT)"),
        ("`a b` STRING NOT NULL COMMENT 'x'", "PhysicalColumn(name=a b, type=STRING!, comment=x)"),
        ("a INT NULL", "PhysicalColumn(name=a, type=INT)"),
        ("a AS b + 1 COMMENT 'x'", "ComputedColumn(name=a, expression=(b + 1), comment=x)"),
        ("a INT METADATA", "MetadataColumn(name=a, type=INT)"),
        (
            "a INT METADATA FROM 'k' VIRTUAL COMMENT 'x'",
            "MetadataColumn(name=a, type=INT, key=k, virtual=True, comment=x)",
        ),
        ("type INT", "PhysicalColumn(name=type, type=INT)"),
    ],
)
def test_columns(column: str, expected: str) -> None:
    assert outline(table(f"({column})").columns) == f"[{expected}]"


def test_keys_and_watermarks() -> None:
    result = table(
        "(a INT PRIMARY KEY NOT ENFORCED, CONSTRAINT k PRIMARY KEY (a, b) NOT ENFORCED, UNIQUE (b), "
        "PRIMARY KEY (c), WATERMARK FOR r.ts AS r.ts - INTERVAL '5' SECOND)"
    )
    assert outline(result.primary_keys) == (
        "[PrimaryKey(columns=[a]), PrimaryKey(columns=[a, b], name=k), PrimaryKey(columns=[c], enforced=True)]"
    )
    assert outline(result.unique_keys) == "[UniqueKey(columns=[b])]"
    (watermark,) = result.watermarks
    assert outline(watermark.column) == "[r, ts]"
    assert watermark.expression.span.text == "r.ts - INTERVAL '5' SECOND"


def test_clauses_of_a_table() -> None:
    result = table(
        "(a INT) COMMENT 'c' DISTRIBUTED BY HASH(a) INTO 4 BUCKETS PARTITIONED BY (a, b) WITH ('k'='v', 'l'='w')"
    )
    assert result.comment == "c"
    assert outline(result.distribution) == "Distribution(columns=[a], kind=HASH, buckets=4)"
    assert outline(result.partitioned_by) == "[a, b]"
    assert outline(result.options) == "[k=v, l=w]"
    assert outline(table("(a INT) DISTRIBUTED INTO 3 BUCKETS").distribution) == "Distribution(buckets=3)"
    assert table("(a INT) WITH ()").options == ()


def test_like_and_as() -> None:
    like = table("WITH ('a'='b') LIKE c.s (INCLUDING ALL OVERWRITING OPTIONS)").like
    assert outline(like) == (
        "TableLike(table=c.s, options=[LikeOption(merging=INCLUDING, feature=ALL), "
        "LikeOption(merging=OVERWRITING, feature=OPTIONS)])"
    )
    select = table("(a, b) WITH ('a'='b') AS SELECT 1, 2")
    assert outline(select.column_names) == "[a, b]"
    assert select.query is not None


def test_a_script_keeps_its_statements_and_their_places() -> None:
    script = parse_script("-- first\nSET 'a' = 'b';;\n\nSELECT\n 1;\n-- last", "x.sql")
    assert [type(s).__name__ for s in script.statements] == ["SetOption", "QueryStatement"]
    assert str(script.statements[1].span.location) == "x.sql:4:1"
    assert script.statements[1].span.text == "SELECT\n 1"
    assert parse_script("").statements == ()


@pytest.mark.skipif(not CASES, reason="the corpus is not here")
def test_every_pipeline_of_the_corpus_parses() -> None:
    for case in CASES:
        script = parse_script(case.read_text(), str(case))
        assert script.statements
        for node in script.walk():
            for child in node.children():
                assert node.span.start <= child.span.start <= child.span.end <= node.span.end, (case, child)
