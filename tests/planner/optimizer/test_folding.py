"""Constant expressions and the literals that Flink 2.3 makes of them."""

import pytest

from flinkplan.plan.nodes import Calc
from flinkplan.plan.rex import Call, Literal
from flinkplan.planner import compile_script

# SQL, the value in the plan, its type
FOLDED: list[tuple[str, object, str]] = [
    ("CONCAT('a','b')", "ab", "VARCHAR(2147483647) NOT NULL"),
    ("CONCAT_WS('-','a','b')", "a-b", "VARCHAR(2147483647) NOT NULL"),
    ("SUBSTRING('hello',2,3)", "ell", "VARCHAR(5) NOT NULL"),
    ("TRIM('  x ')", "x", "VARCHAR(4) NOT NULL"),
    ("TRIM(BOTH 'x' FROM 'xax')", "a", "VARCHAR(3) NOT NULL"),
    ("LTRIM(' a')", "a", "VARCHAR(2) NOT NULL"),
    ("RTRIM('a ')", "a", "VARCHAR(2) NOT NULL"),
    ("BTRIM(' a ')", "a", "VARCHAR(2147483647) NOT NULL"),
    ("LPAD('a',3,'*')", "**a", "VARCHAR(2147483647) NOT NULL"),
    ("RPAD('a',3,'*')", "a**", "VARCHAR(2147483647) NOT NULL"),
    ("REPLACE('abc','b','X')", "aXc", "VARCHAR(2147483647) NOT NULL"),
    ("REPEAT('ab',2)", "abab", "VARCHAR(2147483647) NOT NULL"),
    ("POSITION('b' IN 'abc')", 2, "INT NOT NULL"),
    ("INSTR('abc','c')", 3, "INT NOT NULL"),
    ("LOCATE('b','abc')", 2, "INT NOT NULL"),
    ("LEFT('abc',2)", "ab", "VARCHAR(3) NOT NULL"),
    ("RIGHT('abc',2)", "bc", "VARCHAR(3) NOT NULL"),
    ("INITCAP('hello world')", "Hello World", "CHAR(11) NOT NULL"),
    ("ASCII('a')", 97, "INT NOT NULL"),
    ("CHR(97)", "a", "VARCHAR(2147483647) NOT NULL"),
    ("SPLIT_INDEX('a,b',',',1)", "b", "VARCHAR(2147483647) NOT NULL"),
    ("REGEXP_REPLACE('abc','b','X')", "aXc", "VARCHAR(2147483647) NOT NULL"),
    ("REGEXP_EXTRACT('abc','a(b)c',1)", "b", "VARCHAR(2147483647) NOT NULL"),
    ("OVERLAY('abcdef' PLACING 'ZZ' FROM 2 FOR 3)", "aZZef", "VARCHAR(8) NOT NULL"),
    ("STARTSWITH('abc','a')", True, "BOOLEAN NOT NULL"),
    ("'abc' LIKE 'a%'", True, "BOOLEAN NOT NULL"),
    ("'abc' SIMILAR TO 'a.*'", True, "BOOLEAN NOT NULL"),
    ("HEX(255)", "FF", "VARCHAR(2147483647) NOT NULL"),
    ("BIN(5)", "101", "VARCHAR(2147483647) NOT NULL"),
    ("MD5('a')", "0cc175b9c0f1b6a831c399e269772661", "CHAR(32) NOT NULL"),
    ("SHA1('a')", "86f7e437faa5a7fce15d1ddcb9eaeaea377667b8", "CHAR(40) NOT NULL"),
    ("SHA256('a')", "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb", "CHAR(64) NOT NULL"),
    ("SHA2('a',256)", "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb", "VARCHAR(128) NOT NULL"),
    ("TO_BASE64('a')", "YQ==", "VARCHAR(2147483647) NOT NULL"),
    ("URL_ENCODE('a b')", "a+b", "VARCHAR(2147483647) NOT NULL"),
    ("URL_DECODE('a%20b')", "a b", "VARCHAR(2147483647) NOT NULL"),
    ("PARSE_URL('http://h/p?q=1','HOST')", "h", "VARCHAR(2147483647) NOT NULL"),
    ("UPPER('a')||'b'", "Ab", "CHAR(2) NOT NULL"),
    ("CHAR_LENGTH('abc')", 3, "INT NOT NULL"),
    ("ELT(2,'a','b')", "b", "CHAR(1) NOT NULL"),
    ("REVERSE('abc')", "cba", "VARCHAR(2147483647) NOT NULL"),
    ("REGEXP('abc','b')", True, "BOOLEAN NOT NULL"),
    ("ABS(-5)", 5, "INT NOT NULL"),
    ("SIGN(-2)", -1, "INT NOT NULL"),
    ("ROUND(2.567,1)", "2.6", "DECIMAL(3, 1) NOT NULL"),
    ("TRUNCATE(2.567,1)", "2.5", "DECIMAL(3, 1) NOT NULL"),
    ("FLOOR(2.5)", "2", "DECIMAL(2, 0) NOT NULL"),
    ("CEIL(2.1)", "3", "DECIMAL(2, 0) NOT NULL"),
    ("POWER(2,3)", "8", "DOUBLE NOT NULL"),
    ("SQRT(9)", "3", "DOUBLE NOT NULL"),
    ("LN(1)", "0", "DOUBLE NOT NULL"),
    ("LOG10(1000)", "3", "DOUBLE NOT NULL"),
    ("LOG2(16)", "4", "DOUBLE NOT NULL"),
    ("LOG(2,8)", "3", "DOUBLE NOT NULL"),
    ("EXP(0)", "1", "DOUBLE NOT NULL"),
    ("SIN(0)", "0", "DOUBLE NOT NULL"),
    ("COS(0)", "1", "DOUBLE NOT NULL"),
    ("MOD(7,3)", 1, "INT NOT NULL"),
    ("GREATEST(1,2)", 2, "INT NOT NULL"),
    ("LEAST(1,2)", 1, "INT NOT NULL"),
    ("DEGREES(0)", "0", "DOUBLE NOT NULL"),
    ("RADIANS(180)", "3.141592653589793115997963468544185161590576171875", "DOUBLE NOT NULL"),
    ("CAST(1 AS DOUBLE)", "1", "DOUBLE NOT NULL"),
    ("CAST(2.5 AS DOUBLE)", "2.5", "DOUBLE NOT NULL"),
    ("CAST('12' AS INT)", 12, "INT NOT NULL"),
    ("CAST('1.50' AS DECIMAL(5,2))", "1.50", "DECIMAL(5, 2) NOT NULL"),
    ("CAST('true' AS BOOLEAN)", True, "BOOLEAN NOT NULL"),
    ("CAST(1.5 AS INT)", 1, "INT NOT NULL"),
    ("CAST(1 AS STRING)", "1", "VARCHAR(2147483647) NOT NULL"),
    ("CAST(1.50 AS STRING)", "1.50", "VARCHAR(2147483647) NOT NULL"),
    ("CAST(TRUE AS STRING)", "TRUE", "VARCHAR(2147483647) NOT NULL"),
    ("CAST(1e0 AS STRING)", "1.0", "VARCHAR(2147483647) NOT NULL"),
    ("1e0 * 2", "2", "DOUBLE NOT NULL"),
    ("1.5e0 + 1", "2.5", "DOUBLE NOT NULL"),
    ("7 / 2", 3, "INT NOT NULL"),
    ("7 % 4", 3, "INT NOT NULL"),
    ("1 + 2 * 3", 7, "INT NOT NULL"),
    ("-(5)", -5, "INT NOT NULL"),
    ("CAST(5 AS TINYINT) + CAST(1 AS TINYINT)", 6, "TINYINT NOT NULL"),
    ("CAST(1 AS FLOAT)", "1", "FLOAT NOT NULL"),
    ("PI()", "3.141592653589793115997963468544185161590576171875", "DOUBLE NOT NULL"),
    ("E()", "2.718281828459045090795598298427648842334747314453125", "DOUBLE NOT NULL"),
    ("UNHEX('41')", "QQ==", "VARBINARY(2147483647) NOT NULL"),
    ("1 = 2", False, "BOOLEAN NOT NULL"),
    ("1 < 2 AND TRUE", True, "BOOLEAN NOT NULL"),
    ("COALESCE(NULL, 5)", 5, "INT NOT NULL"),
    ("NULLIF(1,1)", None, "INT"),
    ("NULLIF(1,2)", 1, "INT NOT NULL"),
    ("IF(TRUE,'a','b')", "a", "CHAR(1) NOT NULL"),
    ("CASE WHEN 1=1 THEN 'x' ELSE 'y' END", "x", "CHAR(1) NOT NULL"),
    ("IFNULL(CAST(NULL AS INT), 3)", 3, "INT NOT NULL"),
    ("TRY_CAST('x' AS INT)", None, "INT"),
    ("TRY_CAST('7' AS INT)", 7, "INT NOT NULL"),
    ("TO_DATE('2024-05-06')", "2024-05-06", "DATE NOT NULL"),
    ("TO_DATE('06.05.2024','dd.MM.yyyy')", "2024-05-06", "DATE NOT NULL"),
    ("TO_TIMESTAMP('2024-05-06 07:08:09')", "2024-05-06 07:08:09", "TIMESTAMP(3) NOT NULL"),
    ("TO_TIMESTAMP('2024-05-06 07:08','yyyy-MM-dd HH:mm')", "2024-05-06 07:08:00", "TIMESTAMP(3) NOT NULL"),
    ("DATE_FORMAT(TIMESTAMP '2024-05-06 07:08:09','yyyy/MM/dd')", "2024/05/06", "VARCHAR(2147483647) NOT NULL"),
    ("EXTRACT(YEAR FROM DATE '2024-05-06')", 2024, "BIGINT NOT NULL"),
    ("EXTRACT(HOUR FROM TIMESTAMP '2024-05-06 07:08:09')", 7, "BIGINT NOT NULL"),
    ("FLOOR(TIMESTAMP '2024-05-06 07:08:09' TO HOUR)", "2024-05-06 07:00:00", "TIMESTAMP(0) NOT NULL"),
    ("CEIL(DATE '2024-05-06' TO MONTH)", "2024-06-01", "DATE NOT NULL"),
    ("CAST('2024-05-06' AS DATE)", "2024-05-06", "DATE NOT NULL"),
    ("CAST('2024-05-06 01:02:03' AS TIMESTAMP(3))", "2024-05-06 01:02:03", "TIMESTAMP(3) NOT NULL"),
    ("CAST(DATE '2024-05-06' AS TIMESTAMP(3))", "2024-05-06 00:00:00", "TIMESTAMP(3) NOT NULL"),
    ("CAST(TIMESTAMP '2024-05-06 07:08:09' AS DATE)", "2024-05-06", "DATE NOT NULL"),
    ("CAST(DATE '2024-05-06' AS STRING)", "2024-05-06", "VARCHAR(2147483647) NOT NULL"),
    ("CAST(TIMESTAMP '2024-05-06 07:08:09' AS STRING)", "2024-05-06 07:08:09", "VARCHAR(2147483647) NOT NULL"),
    ("DATE '2024-05-06' + INTERVAL '1' DAY", "2024-05-07", "DATE NOT NULL"),
    ("TIMESTAMP '2024-05-06 07:08:09' - INTERVAL '2' MONTH", "2024-03-06 07:08:09", "TIMESTAMP(0) NOT NULL"),
    ("TIMESTAMPADD(DAY, 3, DATE '2024-05-06')", "2024-05-09", "DATE NOT NULL"),
    ("YEAR(DATE '2024-05-06')", 2024, "BIGINT NOT NULL"),
    ("QUARTER(DATE '2024-05-06')", 2, "BIGINT NOT NULL"),
    ("DAYOFWEEK(DATE '2024-05-06')", 2, "BIGINT NOT NULL"),
    ("TO_TIMESTAMP_LTZ(1000, 3)", "1970-01-01 00:00:01", "TIMESTAMP(3) WITH LOCAL TIME ZONE NOT NULL"),
    ("CONVERT_TZ('2024-05-06 00:00:00','UTC','Asia/Tokyo')", "2024-05-06 09:00:00", "VARCHAR(2147483647) NOT NULL"),
    ("TIME '10:11:12'", "10:11:12", "TIME(0) NOT NULL"),
    ("CAST('10:11:12' AS TIME)", "10:11:12", "TIME(0) NOT NULL"),
    ("CAST(TIME '10:11:12' AS STRING)", "10:11:12", "VARCHAR(2147483647) NOT NULL"),
    ("TIMESTAMP '2024-05-06 07:08:09.120'", "2024-05-06 07:08:09.12", "TIMESTAMP(3) NOT NULL"),
    ("DATE '2024-05-06' > DATE '2024-01-01'", True, "BOOLEAN NOT NULL"),
    ("JSON_VALUE('{\"a\":1}','$.a')", "1", "VARCHAR(2147483647) NOT NULL"),
    ("JSON_QUERY('{\"a\":[1]}','$.a')", "[1]", "VARCHAR(2147483647) NOT NULL"),
    ("JSON_EXISTS('{\"a\":1}','$.a')", True, "BOOLEAN NOT NULL"),
    ("'{}' IS JSON", True, "BOOLEAN NOT NULL"),
    ("JSON_STRING('a')", '"a"', "VARCHAR(2147483647) NOT NULL"),
    ("JSON_QUOTE('a')", '"a"', "VARCHAR(2147483647) NOT NULL"),
]


def folded(sql: str, column_type: str) -> Literal:
    """The literal that an expression became, within the cast that makes it nullable."""
    plan = compile_script(
        "CREATE TABLE t (id INT) WITH ('connector' = 'datagen');"
        f"CREATE TABLE o (id INT, x {column_type.removesuffix(' NOT NULL')}) WITH ('connector' = 'blackhole');"
        f"INSERT INTO o SELECT id, {sql} FROM t;"
    )
    rex = next(n for n in plan.nodes if isinstance(n, Calc)).projection[1]
    if isinstance(rex, Call) and rex.name == "$CAST$1":
        rex = rex.operands[0]
    assert isinstance(rex, Literal)
    return rex


@pytest.mark.parametrize(("sql", "value", "type_text"), FOLDED, ids=[sql for sql, _, _ in FOLDED])
def test_folds_as_flink(sql: str, value: object, type_text: str) -> None:
    literal = folded(sql, type_text)
    assert (literal.value, str(literal.type)) == (value, type_text)
