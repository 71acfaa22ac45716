"""Queries and what stands in FROM."""

import pytest

from flinkplan.planner.sql import ast
from tests.planner.parsing import parse_query

from .outline import outline


def clause(text: str, name: str) -> str:
    body = parse_query(text).body
    assert isinstance(body, ast.Select)
    return outline(getattr(body, name))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SELECT 1", "Query(body=Select(items=[1]))"),
        ("SELECT a AS x, b y, *, t.*", None),
        ("VALUES (1, 2), ROW(3, 4)", None),
        ("TABLE c.d.t", "Query(body=ExplicitTable(name=c.d.t))"),
        ("SELECT 1 LIMIT ALL", "Query(body=Select(items=[1]))"),
        ("SELECT 1 LIMIT 3 OFFSET 2", "Query(body=Select(items=[1]), offset=2, limit=3)"),
        ("SELECT 1 OFFSET 2 ROWS FETCH NEXT 3 ROWS ONLY", "Query(body=Select(items=[1]), offset=2, limit=3)"),
        ("SELECT 1 FETCH FIRST 1 ROW ONLY", "Query(body=Select(items=[1]), limit=1)"),
        (
            "SELECT 1 ORDER BY a, b DESC NULLS FIRST",
            "Query(body=Select(items=[1]), order_by=[SortItem(expression=a), "
            "SortItem(expression=b, descending=True, nulls_first=True)])",
        ),
        (
            "WITH a AS (SELECT 1), b (c) AS (TABLE a) TABLE b",
            "Query(body=ExplicitTable(name=b), ctes=["
            "CommonTableExpression(name=a, query=Query(body=Select(items=[1]))), "
            "CommonTableExpression(name=b, query=Query(body=ExplicitTable(name=a)), columns=[c])])",
        ),
        ("((SELECT 1))", "Query(body=Select(items=[1]))"),
        ("(SELECT 1 LIMIT 1)", "Query(body=Select(items=[1]), limit=1)"),
    ],
)
def test_queries(text: str, expected: str | None) -> None:
    query = parse_query(text)
    assert query.span.text in text
    if expected is not None:
        assert outline(query) == expected


def test_values() -> None:
    values = parse_query("VALUES (1, 2), ROW(3, 4)").body
    assert isinstance(values, ast.Values)
    assert [outline(row.items) for row in values.rows] == ["[1, 2]", "[3, 4]"]
    single = parse_query("VALUES 1, 2").body
    assert isinstance(single, ast.Values)
    assert [outline(row.items) for row in single.rows] == ["[1]", "[2]"]


def set_outline(body: ast.QueryBody) -> str:
    if isinstance(body, ast.SetOperation):
        every = " ALL" if body.all else ""
        return f"({set_outline(body.left)} {body.operator}{every} {set_outline(body.right)})"
    if isinstance(body, ast.Query):
        return f"<{set_outline(body.body)}>"
    assert isinstance(body, ast.Select)
    return outline(body.items[0])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SELECT 1 UNION SELECT 2 INTERSECT SELECT 3 EXCEPT SELECT 4", "((1 UNION (2 INTERSECT 3)) EXCEPT 4)"),
        ("SELECT 1 UNION ALL SELECT 2 UNION DISTINCT SELECT 3", "((1 UNION ALL 2) UNION 3)"),
        ("SELECT 1 UNION ALL (SELECT 2 UNION SELECT 3)", "(1 UNION ALL (2 UNION 3))"),
        ("(SELECT 1) UNION ALL (SELECT 2 LIMIT 1) LIMIT 3", "(1 UNION ALL <2>)"),
    ],
)
def test_set_operations(text: str, expected: str) -> None:
    assert set_outline(parse_query(text).body) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("c.d.t", "TableRef(name=c.d.t)"),
        ("t AS x (a, b)", "TableRef(name=t, alias=TableAlias(name=x, columns=[a, b]))"),
        (
            "t /*+ OPTIONS('k'='v', 'l'='w') */ x",
            "TableRef(name=t, alias=x, hints=[Hint(name=OPTIONS, options=[k=v, l=w])])",
        ),
        ("t FOR SYSTEM_TIME AS OF o.p AS x", "TableRef(name=t, alias=x, system_time=o.p)"),
        ("a, b JOIN c ON d", "Join(kind=INNER, left=Join(kind=COMMA, left=A, right=B), right=C, condition=d)"),
        ("a LEFT OUTER JOIN b USING (x, y)", "Join(kind=LEFT, left=A, right=B, using=[x, y])"),
        ("a NATURAL FULL JOIN b", "Join(kind=FULL, left=A, right=B, natural=True)"),
        (
            "a CROSS JOIN b RIGHT JOIN c ON d",
            "Join(kind=RIGHT, left=Join(kind=CROSS, left=A, right=B), right=C, condition=d)",
        ),
        (
            "a JOIN (b JOIN c ON d) ON e",
            "Join(kind=INNER, left=A, right=Join(kind=INNER, left=B, right=C, condition=d), condition=e)",
        ),
        (
            "(VALUES 1) AS x",
            "DerivedTable(query=Query(body=Values(rows=[RowConstructor(items=[1], explicit=False)])), alias=x)",
        ),
        (
            "a, LATERAL TABLE(f(x)) AS t(y)",
            "Join(kind=COMMA, left=A, "
            "right=TableFunction(call=f(x), alias=TableAlias(name=t, columns=[y]), lateral=True))",
        ),
        (
            "a, LATERAL (TABLE b)",
            "Join(kind=COMMA, left=A, right=DerivedTable(query=Query(body=ExplicitTable(name=b)), lateral=True))",
        ),
        (
            "a CROSS JOIN UNNEST(x.y) WITH ORDINALITY AS u (e, o)",
            "Join(kind=CROSS, left=A, "
            "right=Unnest(args=[x.y], alias=TableAlias(name=u, columns=[e, o]), with_ordinality=True))",
        ),
        (
            "TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' DAY))",
            "TableFunction(call=TUMBLE(TableArgument(query=Query(body=ExplicitTable(name=t))), "
            "Descriptor(columns=[ts]), "
            "IntervalLiteral(value=1, qualifier=IntervalQualifier(unit=DAY))))",
        ),
        (
            "SESSION(DATA => TABLE t PARTITION BY (a, b) ORDER BY c, GAP => 1) AS s",
            "TableFunction(call=SESSION(NamedArgument(name=DATA, "
            "value=TableArgument(query=Query(body=ExplicitTable(name=t)), "
            "partition_by=[a, b], order_by=[SortItem(expression=c)])), NamedArgument(name=GAP, value=1)), alias=s)",
        ),
        (
            "f((SELECT 1) PARTITION BY a)",
            "TableFunction(call=f(TableArgument(query=Query(body=Select(items=[1])), partition_by=[a])))",
        ),
    ],
)
def test_tables(text: str, expected: str) -> None:
    text_of_tables = clause(f"SELECT * FROM {text}", "from_")
    for name in "abc":
        text_of_tables = text_of_tables.replace(f"TableRef(name={name})", name.upper())
    assert text_of_tables == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a, b + 1", "GroupBy(items=[a, (b + 1)])"),
        ("DISTINCT a", "GroupBy(items=[a], distinct=True)"),
        ("()", "GroupBy(items=[GroupingTuple(items=[])])"),
        ("(a, b)", "GroupBy(items=[GroupingTuple(items=[a, b])])"),
        ("(a)", "GroupBy(items=[a])"),
        (
            "GROUPING SETS ((a, b), a, ()), CUBE (a), ROLLUP (a, (b, c))",
            "GroupBy(items=[GroupingSets(kind=GROUPING SETS, "
            "items=[GroupingTuple(items=[a, b]), a, GroupingTuple(items=[])]), "
            "GroupingSets(kind=CUBE, items=[a]), GroupingSets(kind=ROLLUP, items=[a, GroupingTuple(items=[b, c])])])",
        ),
    ],
)
def test_group_by(text: str, expected: str) -> None:
    assert clause(f"SELECT 1 FROM t GROUP BY {text}", "group_by") == expected


def test_every_clause_of_select() -> None:
    select = parse_query(
        "SELECT /*+ STATE_TTL('a'='1d'), BROADCAST(t, s), FOO */ STREAM DISTINCT a AS x, b y, *, t.* FROM t WHERE a "
        "GROUP BY b HAVING c WINDOW w AS (PARTITION BY d), v AS (w) QUALIFY e"
    ).body
    assert isinstance(select, ast.Select)
    assert select.distinct
    assert select.stream
    assert [(hint.name, outline(hint.options), hint.arguments) for hint in select.hints] == [
        ("STATE_TTL", "[a=1d]", ()),
        ("BROADCAST", "[]", ("t", "s")),
        ("FOO", "[]", ()),
    ]
    assert outline(select.items) == "[SelectItem(expression=a, alias=x), SelectItem(expression=b, alias=y), *, t.*]"
    assert outline((select.where, select.having, select.qualify)) == "[a, c, e]"
    assert outline(select.windows) == (
        "[NamedWindow(name=w, window=WindowSpec(partition_by=[d])), NamedWindow(name=v, window=WindowSpec(base=w))]"
    )


def test_quotes_of_identifiers_are_kept() -> None:
    body = parse_query("SELECT `a`, b").body
    assert isinstance(body, ast.Select)
    columns = [item.expression for item in body.items]
    assert [part.quoted for column in columns if isinstance(column, ast.ColumnRef) for part in column.parts] == [
        True,
        False,
    ]
