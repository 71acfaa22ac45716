"""Expressions, and the precedence of their operators."""

from decimal import Decimal

import pytest

from flinkplan.planner.sql import ast
from tests.planner.parsing import parse_expression

from .outline import outline


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a || b + c", "((a || b) + c)"),
        ("a + b || c", "(a + (b || c))"),
        ("a * b || c * d", "(((a * b) || c) * d)"),
        ("a - b - c", "((a - b) - c)"),
        ("a > b + c * d % e", "(a > (b + ((c * d) % e)))"),
        ("-a * b", "((- a) * b)"),
        ("a - - b", "(a - (- b))"),
        ("- a.b[1]", "(- ElementAccess(operand=a.b, index=1))"),
        ("NOT a = b OR c", "((NOT (a = b)) OR c)"),
        ("NOT NOT a AND b", "((NOT (NOT a)) AND b)"),
        ("a = b OR c = d AND e", "((a = b) OR ((c = d) AND e))"),
        ("a = b = c", "((a = b) = c)"),
        ("a = NOT b", "(a = (NOT b))"),
        ("NOT a IS NULL", "(NOT IsPredicate(operand=a, test=NULL))"),
        ("a = b IS NULL", "IsPredicate(operand=(a = b), test=NULL)"),
        ("a IS NULL = b", "(IsPredicate(operand=a, test=NULL) = b)"),
        ("a AND b IS NOT TRUE", "(a AND IsPredicate(operand=b, test=TRUE, negated=True))"),
        ("a = b IS DISTINCT FROM c", "IsDistinctFrom(left=(a = b), right=c)"),
        ("a IS NOT DISTINCT FROM b + 1", "IsDistinctFrom(left=a, right=(b + 1), negated=True)"),
        ("a BETWEEN b AND c AND d", "(Between(operand=a, low=b, high=c) AND d)"),
        ("a = b BETWEEN c AND d", "(a = Between(operand=b, low=c, high=d))"),
        ("a BETWEEN c AND d = e", "(Between(operand=a, low=c, high=d) = e)"),
        (
            "a + b NOT BETWEEN SYMMETRIC c + d AND e",
            "Between(operand=(a + b), low=(c + d), high=e, negated=True, symmetric=True)",
        ),
        ("a LIKE b || c", "Like(operand=a, pattern=(b || c))"),
        ("a = b LIKE c", "(a = Like(operand=b, pattern=c))"),
        ("a LIKE b LIKE c", "Like(operand=a, pattern=Like(operand=b, pattern=c))"),
        ("a NOT LIKE b ESCAPE '!' AND d", "(Like(operand=a, pattern=b, escape='!', negated=True) AND d)"),
        ("a SIMILAR TO b", "Like(operand=a, pattern=b, similar=True)"),
        ("a + b IN (1, 2)", "InList(operand=(a + b), items=[1, 2])"),
        ("a NOT IN (1) IS TRUE", "IsPredicate(operand=InList(operand=a, items=[1], negated=True), test=TRUE)"),
        ("a IS NOT JSON ARRAY", "IsPredicate(operand=a, test=JSON ARRAY, negated=True)"),
        ("a IS JSON AND b", "(IsPredicate(operand=a, test=JSON VALUE) AND b)"),
        ("a OVERLAPS b = c", "((a OVERLAPS b) = c)"),
        ("a <> ALL (1, 2)", "Quantified(operator=<>, quantifier=ALL, left=a, items=[1, 2])"),
        ("a = SOME (1) OR b", "(Quantified(operator==, quantifier=ANY, left=a, items=[1]) OR b)"),
        ("a x", None),
    ],
)
def test_precedence(text: str, expected: str | None) -> None:
    if expected is None:
        with pytest.raises(Exception, match="expected the end of the expression"):
            parse_expression(text)
    else:
        assert outline(parse_expression(text)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("-1", "-1"),
        ("- - 1", "1"),
        ("+1.50", "1.50"),
        ("-(1)", "-1"),
        ("2 - -1", "(2 - -1)"),
        ("'a' 'b'\n'c'", "'abc'"),
        ("U&'!00e9' UESCAPE '!'", "'é'"),
        ("X'0F' 'AB'", "BinaryLiteral(value=b'\\x0f\\xab')"),
        ("TRUE", "BooleanLiteral(value=True)"),
        ("UNKNOWN", "BooleanLiteral(value=-)"),
        ("NULL", "NULL"),
        ("DATE '2020-01-01'", "DateTimeLiteral(kind=DATE, value=2020-01-01)"),
        ("time '10:00'", "DateTimeLiteral(kind=TIME, value=10:00)"),
        ("TIMESTAMP WITH LOCAL TIME ZONE 'x'", "DateTimeLiteral(kind=TIMESTAMP_LTZ, value=x)"),
        ("INTERVAL '10' MINUTES", "IntervalLiteral(value=10, qualifier=IntervalQualifier(unit=MINUTE))"),
        (
            "INTERVAL - '1 2' DAY(3) TO SECOND(4)",
            "IntervalLiteral(value=1 2, qualifier=IntervalQualifier"
            "(unit=DAY, end_unit=SECOND, precision=3, fraction=4), negative=True)",
        ),
        (
            "INTERVAL '1' SECOND(2, 3)",
            "IntervalLiteral(value=1, qualifier=IntervalQualifier(unit=SECOND, precision=2, fraction=3))",
        ),
        ("INTERVAL -a DAY", "IntervalExpression(operand=(- a), qualifier=IntervalQualifier(unit=DAY))"),
        ("(a - b) DAY", "IntervalDifference(left=a, right=b, qualifier=IntervalQualifier(unit=DAY))"),
        ("ARRAY[1, 2]", "ArrayConstructor(items=[1, 2])"),
        ("ARRAY[]", "ArrayConstructor(items=[])"),
        ("MAP['k', v]", "MapConstructor(entries=[KeyValue(key='k', value=v)])"),
        ("MULTISET[1]", "MultisetConstructor(items=[1])"),
        ("ROW(a, t.*)", "RowConstructor(items=[a, t.*])"),
        ("(a, 1)", "RowConstructor(items=[a, 1], explicit=False)"),
        ("((a))", "a"),
        ("map", "map"),
        ("`a b`.`c``d`.e", "a b.c`d.e"),
        ("a[1].b", "FieldAccess(operand=ElementAccess(operand=a, index=1), field=b)"),
        ("m['k']", "ElementAccess(operand=m, index='k')"),
        ("f(x).y.z", "FieldAccess(operand=FieldAccess(operand=f(x), field=y), field=z)"),
        ("(r).f", "FieldAccess(operand=r, field=f)"),
        ("ROW(1).f0", "FieldAccess(operand=RowConstructor(items=[1]), field=f0)"),
    ],
)
def test_operands(text: str, expected: str) -> None:
    assert outline(parse_expression(text)) == expected


def test_numbers() -> None:
    number = parse_expression("1.50")
    assert isinstance(number, ast.NumericLiteral)
    assert (number.value, number.approximate) == (Decimal("1.50"), False)
    double = parse_expression("-1.5e3")
    assert isinstance(double, ast.NumericLiteral)
    assert (double.value, double.approximate) == (Decimal(-1500), True)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("CASE WHEN a THEN 1 END", "Case(operand=-, branches=[When(condition=a, result=1)])"),
        (
            "CASE a WHEN 1, 2 THEN x ELSE NULL END",
            "Case(operand=a, branches=[When(condition=1, result=x), When(condition=2, result=x)], otherwise=NULL)",
        ),
        ("CAST(a AS INT)", "Cast(operand=a, type=INT)"),
        ("try_cast(a AS DECIMAL(10, 2))", "Cast(operand=a, type=DECIMAL(10, 2), safe=True)"),
        ("EXTRACT(DAY FROM a)", "EXTRACT(<DAY>, a)"),
        ("FLOOR(a TO MONTH)", "FLOOR(a, <MONTH>)"),
        ("CEIL(a)", "CEIL(a)"),
        ("TRIM(a)", "TRIM(<BOTH>, ' ', a)"),
        ("TRIM(LEADING 'x' FROM a)", "TRIM(<LEADING>, 'x', a)"),
        ("TRIM(TRAILING FROM a)", "TRIM(<TRAILING>, ' ', a)"),
        ("TRIM('x' FROM a)", "TRIM(<BOTH>, 'x', a)"),
        ("SUBSTRING(a FROM 1 FOR 2)", "SUBSTRING(a, 1, 2)"),
        ("SUBSTRING(a, 1)", "SUBSTRING(a, 1)"),
        ("OVERLAY(a PLACING b FROM 1)", "OVERLAY(a, b, 1)"),
        ("POSITION(a || b IN c)", "POSITION((a || b), c)"),
        ("TIMESTAMPADD(DAY, 1, a)", "TIMESTAMPADD(<DAY>, 1, a)"),
        ("TIMESTAMPDIFF(sql_tsi_day, a, b)", "TIMESTAMPDIFF(<SQL_TSI_DAY>, a, b)"),
        ("CURRENT_DATE", "CURRENT_DATE"),
        ("CURRENT_TIMESTAMP(3)", "CURRENT_TIMESTAMP(3)"),
        ("CURRENT_ROW_TIMESTAMP()", "CURRENT_ROW_TIMESTAMP()"),
        ("LEFT(a, 1)", "LEFT(a, 1)"),
        ("YEAR(a)", "YEAR(a)"),
        ("IF(a, b, c)", "IF(a, b, c)"),
        ("c.d.f(1)", "c.d.f(1)"),
        ("COUNT(*)", "COUNT(*)"),
        ("COUNT(t.*)", "COUNT(t.*)"),
        ("COUNT(DISTINCT a, b)", "COUNT(a, b, distinct=True)"),
        ("SUM(ALL a) FILTER (WHERE b > 1)", "SUM(a, filter=(b > 1))"),
        ("ARRAY_AGG(a ORDER BY b DESC)", "ARRAY_AGG(a, order_by=[SortItem(expression=b, descending=True)])"),
        (
            "LISTAGG(a) WITHIN GROUP (ORDER BY b NULLS LAST)",
            "LISTAGG(a, within_group=[SortItem(expression=b, nulls_first=False)])",
        ),
        ("LAST_VALUE(a) IGNORE NULLS OVER w", "LAST_VALUE(a, ignore_nulls=True, over=w)"),
        ("ARRAY_AGG(a IGNORE NULLS)", "ARRAY_AGG(a, ignore_nulls=True)"),
        ("LAG(a, 1) RESPECT NULLS OVER w", "LAG(a, 1, ignore_nulls=False, over=w)"),
        (
            "SUM(a) OVER (PARTITION BY b ORDER BY c ROWS 3 PRECEDING)",
            "SUM(a, over=WindowSpec(partition_by=[b], order_by=[SortItem(expression=c)], "
            "frame=WindowFrame(unit=ROWS, start=FrameBound(kind=PRECEDING, offset=3))))",
        ),
        (
            "SUM(a) OVER (w RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)",
            "SUM(a, over=WindowSpec(base=w, frame=WindowFrame(unit=RANGE, "
            "start=FrameBound(kind=UNBOUNDED PRECEDING), end=FrameBound(kind=CURRENT ROW))))",
        ),
        (
            "f(x => 1, y => DEFAULT)",
            "f(NamedArgument(name=x, value=1), NamedArgument(name=y, value=DefaultArgument()))",
        ),
    ],
)
def test_calls(text: str, expected: str) -> None:
    assert outline(parse_expression(text)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("JSON_VALUE(a, '$.x')", "JsonValue(operand=a, path='$.x')"),
        (
            "JSON_VALUE(a, '$' RETURNING INT NULL ON EMPTY DEFAULT -1 ON ERROR)",
            "JsonValue(operand=a, path='$', returning=INT, on_empty=JsonBehavior(kind=NULL), "
            "on_error=JsonBehavior(kind=DEFAULT, value=-1))",
        ),
        (
            "JSON_QUERY(a, '$' RETURNING ARRAY<STRING> WITH CONDITIONAL ARRAY WRAPPER "
            "EMPTY ARRAY ON EMPTY EMPTY OBJECT ON ERROR)",
            "JsonQuery(operand=a, path='$', returning=ARRAY(STRING), wrapper=CONDITIONAL, "
            "on_empty=JsonBehavior(kind=EMPTY ARRAY), on_error=JsonBehavior(kind=EMPTY OBJECT))",
        ),
        ("JSON_QUERY(a, '$' WITH WRAPPER)", "JsonQuery(operand=a, path='$', wrapper=UNCONDITIONAL)"),
        ("JSON_QUERY(a, '$' WITHOUT ARRAY WRAPPER)", "JsonQuery(operand=a, path='$', wrapper=WITHOUT)"),
        ("JSON_EXISTS(a, '$' UNKNOWN ON ERROR)", "JsonExists(operand=a, path='$', on_error=UNKNOWN)"),
        ("JSON_OBJECT()", "JsonObject(entries=[])"),
        (
            "JSON_OBJECT(KEY 'a' VALUE 1, 'b' : key ABSENT ON NULL)",
            "JsonObject(entries=[KeyValue(key='a', value=1), KeyValue(key='b', value=key)], on_null=ABSENT)",
        ),
        ("JSON_ARRAY(a, 1 NULL ON NULL)", "JsonArray(items=[a, 1], on_null=NULL)"),
        ("JSON_OBJECTAGG(KEY a VALUE b)", "JSON_OBJECTAGG(a, b, <NULL>)"),
        ("JSON_ARRAYAGG(a ORDER BY b)", "JSON_ARRAYAGG(a, <ABSENT>, order_by=[SortItem(expression=b)])"),
    ],
)
def test_json(text: str, expected: str) -> None:
    assert outline(parse_expression(text)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("INTEGER", "INT"),
        ("NUMERIC(4)", "DECIMAL(4)"),
        ("DOUBLE PRECISION", "DOUBLE"),
        ("CHARACTER VARYING(3)", "VARCHAR(3)"),
        ("BINARY VARYING", "VARBINARY"),
        ("TIMESTAMP(3) WITHOUT TIME ZONE", "TIMESTAMP(3)"),
        ("TIMESTAMP(3) WITH LOCAL TIME ZONE", "TIMESTAMP_LTZ(3)"),
        ("TIMESTAMP_LTZ", "TIMESTAMP_LTZ"),
        ("TIME(0)", "TIME(0)"),
        ("ARRAY<INT NOT NULL>", "ARRAY(INT!)"),
        ("VARCHAR(10) ARRAY MULTISET", "MULTISET(ARRAY(VARCHAR(10)))"),
        ("MAP<STRING, ARRAY<INT>>", "MAP(STRING, ARRAY(INT))"),
        ("ROW<a INT NOT NULL, `b c` STRING 'note'>", "ROW(a INT!, b c STRING 'note')"),
        ("ROW(a ROW<b INT>)", "ROW(a ROW(b INT))"),
        ("ROW<>", "ROW"),
        ("RAW('c', 's')", "RAW(c, s)"),
        ("STRUCTURED<'c', x INT>", "STRUCTURED(c, x INT)"),
        ("INTERVAL DAY(2) TO SECOND", "INTERVAL(IntervalQualifier(unit=DAY, end_unit=SECOND, precision=2))"),
        ("my.Type", "my.Type"),
    ],
)
def test_data_types(text: str, expected: str) -> None:
    cast = parse_expression(f"CAST(a AS {text})")
    assert isinstance(cast, ast.Cast)
    assert outline(cast.type) == expected
    assert cast.type.span.text == text


def test_subqueries() -> None:
    assert isinstance(parse_expression("(SELECT 1)"), ast.SubQuery)
    assert isinstance(parse_expression("((SELECT 1) UNION (SELECT 2))"), ast.SubQuery)
    assert outline(parse_expression("((SELECT 1) + 1)")).startswith("(SubQuery")
    assert isinstance(parse_expression("EXISTS (SELECT 1)"), ast.Exists)
    assert isinstance(parse_expression("a IN (SELECT 1)"), ast.InQuery)
    assert isinstance(parse_expression("a NOT IN ((SELECT 1))"), ast.InQuery)
    assert isinstance(parse_expression("a > ANY (SELECT 1)"), ast.Quantified)
    assert isinstance(parse_expression("ARRAY(SELECT 1)"), ast.CollectionQuery)


def test_equality_ignores_place_and_quotes() -> None:
    left, right = parse_expression("a + `b`"), parse_expression("  a  +\n b")
    assert left == right
    assert hash(left) == hash(right)
    assert left != parse_expression("a + B")
    assert left != parse_expression("a - b")


def test_spans_give_the_text_of_every_node() -> None:
    tree = parse_expression("x + f(a.b, 'c') * (d)")
    texts = [node.span.text for node in tree.walk()]
    assert texts[:3] == ["x + f(a.b, 'c') * (d)", "x", "x"]
    assert {"f(a.b, 'c') * (d)", "f(a.b, 'c')", "a.b", "'c'", "d"} <= set(texts)


@pytest.mark.parametrize(
    "word",
    [
        "k",
        "ts",
        "type",
        "name",
        "status",
        "id",
        "price",
        "cnt",
        "data",
        "key",
        "state",
        "path",
        "level",
        "format",
        "map",
    ],
)
def test_these_words_are_identifiers(word: str) -> None:
    assert outline(parse_expression(f"{word} + t.{word}")) == f"({word} + t.{word})"
