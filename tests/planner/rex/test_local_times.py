"""Constant expressions over local times and instants, and the literals that Flink 2.3 makes of them by time zone."""

import pytest

from flinkplan.plan.nodes import Calc
from flinkplan.plan.rex import Call, Literal
from flinkplan.planner import compile_script

# time zone → SQL, the value in the plan, its type
FOLDED: dict[str, list[tuple[str, object, str]]] = {
    "America/Sao_Paulo": [
        ("CAST(TO_TIMESTAMP_LTZ(0,3) AS STRING)", "1969-12-31 21:00:00.000", "VARCHAR(2147483647) NOT NULL"),
        ("CAST(TO_TIMESTAMP_LTZ(1710000000123,3) AS VARCHAR(10))", "2024-03-09", "VARCHAR(10) NOT NULL"),
        ("CAST(TO_TIMESTAMP_LTZ(1710000000123,3) AS TIMESTAMP(3))", "2024-03-09 13:00:00.123", "TIMESTAMP(3) NOT NULL"),
        ("CAST(TO_TIMESTAMP_LTZ(1710000000123,3) AS TIMESTAMP(0))", "2024-03-09 13:00:00", "TIMESTAMP(0) NOT NULL"),
        ("CAST(TO_TIMESTAMP_LTZ(1710000000123,3) AS DATE)", "2024-03-09", "DATE NOT NULL"),
        ("CAST(TO_TIMESTAMP_LTZ(1710000000123,3) AS TIME)", "13:00:00", "TIME(0) NOT NULL"),
        (
            "CAST(CAST(TO_TIMESTAMP_LTZ(1710000000123,3) AS DATE) AS STRING)",
            "2024-03-09",
            "VARCHAR(2147483647) NOT NULL",
        ),
        (
            "DATE_FORMAT(TO_TIMESTAMP_LTZ(1710000000123,3),'yyyy-MM-dd HH:mm')",
            "2024-03-09 13:00",
            "VARCHAR(2147483647) NOT NULL",
        ),
        ("EXTRACT(HOUR FROM TO_TIMESTAMP_LTZ(1710000000123,3))", 13, "BIGINT NOT NULL"),
        ("EXTRACT(EPOCH FROM TO_TIMESTAMP_LTZ(1710000000123,3))", 1709989200, "BIGINT NOT NULL"),
        ("EXTRACT(MILLISECOND FROM TO_TIMESTAMP_LTZ(1710000000123,3))", 123, "BIGINT NOT NULL"),
        (
            "FLOOR(TO_TIMESTAMP_LTZ(1710000000123,3) TO DAY)",
            "2024-03-09 03:00:00",
            "TIMESTAMP(3) WITH LOCAL TIME ZONE NOT NULL",
        ),
        (
            "CEIL(TO_TIMESTAMP_LTZ(1710000000123,3) TO HOUR)",
            "2024-03-09 17:00:00",
            "TIMESTAMP(3) WITH LOCAL TIME ZONE NOT NULL",
        ),
        (
            "FLOOR(TO_TIMESTAMP_LTZ(1710000000123,3) TO MONTH)",
            "2024-03-01 03:00:00",
            "TIMESTAMP(3) WITH LOCAL TIME ZONE NOT NULL",
        ),
        (
            "TO_TIMESTAMP_LTZ(1710000000123,3) + INTERVAL '1' DAY",
            "2024-03-10 16:00:00.123",
            "TIMESTAMP(3) WITH LOCAL TIME ZONE NOT NULL",
        ),
        (
            "TO_TIMESTAMP_LTZ(1710000000123,3) - INTERVAL '1' HOUR",
            "2024-03-09 15:00:00.123",
            "TIMESTAMP(3) WITH LOCAL TIME ZONE NOT NULL",
        ),
        (
            "TO_TIMESTAMP_LTZ(1710000000123,3) + INTERVAL '1' MONTH",
            "2024-04-09 16:00:00.123",
            "TIMESTAMP(3) WITH LOCAL TIME ZONE NOT NULL",
        ),
        ("TO_TIMESTAMP_LTZ(1710000000123,3) > TO_TIMESTAMP_LTZ(0,3)", True, "BOOLEAN NOT NULL"),
        ("TO_TIMESTAMP_LTZ(1710000000123,3) = TIMESTAMP '2024-03-09 13:00:00.123'", True, "BOOLEAN NOT NULL"),
        ("TO_TIMESTAMP_LTZ(1710000000123,3) < TIMESTAMP '2024-03-09 13:00:00'", False, "BOOLEAN NOT NULL"),
        ("TIMESTAMPDIFF(HOUR, TO_TIMESTAMP_LTZ(0,3), TO_TIMESTAMP_LTZ(1710000000123,3))", 475000, "INT NOT NULL"),
        ("TIMESTAMPDIFF(MONTH, TO_TIMESTAMP_LTZ(0,3), TO_TIMESTAMP_LTZ(1710000000123,3))", 650, "INT NOT NULL"),
        (
            "TIMESTAMPADD(DAY, 3, TO_TIMESTAMP_LTZ(1710000000123,3))",
            "2024-03-12 16:00:00.123",
            "TIMESTAMP(3) WITH LOCAL TIME ZONE NOT NULL",
        ),
        (
            "CAST(TO_TIMESTAMP_LTZ(1710000000123,3) AS TIMESTAMP_LTZ(0))",
            "2024-03-09 16:00:00",
            "TIMESTAMP(0) WITH LOCAL TIME ZONE NOT NULL",
        ),
        (
            "CAST(TIMESTAMP '2024-03-09 13:00:00.123' AS TIMESTAMP_LTZ(3))",
            "2024-03-09 16:00:00.123",
            "TIMESTAMP(3) WITH LOCAL TIME ZONE NOT NULL",
        ),
        (
            "CAST('2024-03-09 13:00:00.123' AS TIMESTAMP_LTZ(3))",
            "2024-03-09 16:00:00.123",
            "TIMESTAMP(3) WITH LOCAL TIME ZONE NOT NULL",
        ),
        (
            "CAST(DATE '2024-03-09' AS TIMESTAMP_LTZ(3))",
            "2024-03-09 03:00:00",
            "TIMESTAMP(3) WITH LOCAL TIME ZONE NOT NULL",
        ),
        (
            "CAST(CAST('2024-03-09 13:00:00.123' AS TIMESTAMP_LTZ(3)) AS STRING)",
            "2024-03-09 13:00:00.123",
            "VARCHAR(2147483647) NOT NULL",
        ),
        (
            "CAST(TIME '10:11:12' AS TIMESTAMP_LTZ(3))",
            "1970-01-01 13:11:12",
            "TIMESTAMP(3) WITH LOCAL TIME ZONE NOT NULL",
        ),
        (
            "TO_TIMESTAMP_LTZ('2024-03-09 13:00:00.5')",
            "2024-03-09 13:00:00.5",
            "TIMESTAMP(3) WITH LOCAL TIME ZONE NOT NULL",
        ),
        (
            "TO_TIMESTAMP_LTZ('2024-03-09 13:00','yyyy-MM-dd HH:mm')",
            "2024-03-09 13:00:00",
            "TIMESTAMP(3) WITH LOCAL TIME ZONE NOT NULL",
        ),
        (
            "TO_TIMESTAMP_LTZ('2024-03-09 13:00','yyyy-MM-dd HH:mm','Asia/Tokyo')",
            "2024-03-09 04:00:00",
            "TIMESTAMP(3) WITH LOCAL TIME ZONE NOT NULL",
        ),
        (
            "COALESCE(TO_TIMESTAMP_LTZ(0,3), TO_TIMESTAMP_LTZ(1,3))",
            "1970-01-01 00:00:00",
            "TIMESTAMP(3) WITH LOCAL TIME ZONE NOT NULL",
        ),
        ("CASE WHEN TO_TIMESTAMP_LTZ(0,3) IS NULL THEN 1 ELSE 2 END", 2, "INT NOT NULL"),
    ],
    "Europe/Berlin": [
        ("TO_TIMESTAMP_LTZ(0,3) <> TO_TIMESTAMP_LTZ(1,3)", True, "BOOLEAN NOT NULL"),
        ("TO_TIMESTAMP_LTZ(1711843200000,3)", "2024-03-31 00:00:00", "TIMESTAMP(3) WITH LOCAL TIME ZONE NOT NULL"),
        (
            "FLOOR(TO_TIMESTAMP_LTZ(1711846800000,3) TO DAY)",
            "2024-03-30 22:00:00",
            "TIMESTAMP(3) WITH LOCAL TIME ZONE NOT NULL",
        ),
        (
            "CEIL(TO_TIMESTAMP_LTZ(1711846800000,3) TO MONTH)",
            "2024-03-31 22:00:00",
            "TIMESTAMP(3) WITH LOCAL TIME ZONE NOT NULL",
        ),
        (
            "CAST(TO_TIMESTAMP_LTZ(1729990800000,3) AS STRING)",
            "2024-10-27 02:00:00.000",
            "VARCHAR(2147483647) NOT NULL",
        ),
        (
            "CAST(TO_TIMESTAMP_LTZ(1729994400000,3) AS STRING)",
            "2024-10-27 03:00:00.000",
            "VARCHAR(2147483647) NOT NULL",
        ),
        (
            "CAST(TIMESTAMP '2024-03-31 02:30:00' AS TIMESTAMP_LTZ(3))",
            "2024-03-31 01:30:00",
            "TIMESTAMP(3) WITH LOCAL TIME ZONE NOT NULL",
        ),
        (
            "CAST(TIMESTAMP '2024-10-27 02:30:00' AS TIMESTAMP_LTZ(3))",
            "2024-10-27 00:30:00",
            "TIMESTAMP(3) WITH LOCAL TIME ZONE NOT NULL",
        ),
        (
            "CAST('2024-03-31 02:30:00' AS TIMESTAMP_LTZ(3))",
            "2024-03-31 01:30:00",
            "TIMESTAMP(3) WITH LOCAL TIME ZONE NOT NULL",
        ),
        ("TRY_CAST('2024-03-31T02:30:00Z' AS TIMESTAMP_LTZ(3))", None, "TIMESTAMP(3) WITH LOCAL TIME ZONE"),
        (
            "CAST('2024-03-31 02:30:00.123456' AS TIMESTAMP_LTZ(6))",
            "2024-03-31 01:30:00.123456",
            "TIMESTAMP(6) WITH LOCAL TIME ZONE NOT NULL",
        ),
        (
            "CAST(CAST('2024-03-31 02:30:00.123456' AS TIMESTAMP_LTZ(6)) AS TIMESTAMP_LTZ(3))",
            "2024-03-31 01:30:00.123",
            "TIMESTAMP(3) WITH LOCAL TIME ZONE NOT NULL",
        ),
        ("TO_TIMESTAMP_LTZ(1711900000000,3) > TIMESTAMP '2024-03-31 00:00:00'", True, "BOOLEAN NOT NULL"),
        ("TO_TIMESTAMP_LTZ(1711900000000,3) <= TIMESTAMP '2024-03-31 17:46:40.000'", True, "BOOLEAN NOT NULL"),
        ("DATE_FORMAT(TO_TIMESTAMP_LTZ(1711900000000,3), 'yyyy-MM-dd')", "2024-03-31", "VARCHAR(2147483647) NOT NULL"),
        ("DATE_FORMAT(TO_TIMESTAMP_LTZ(1711900000000,3), 'D')", "91", "VARCHAR(2147483647) NOT NULL"),
        ("HOUR(TO_TIMESTAMP_LTZ(1711900000000,3))", 17, "BIGINT NOT NULL"),
        ("DAYOFYEAR(TO_TIMESTAMP_LTZ(1711900000000,3))", 91, "BIGINT NOT NULL"),
        ("WEEK(TO_TIMESTAMP_LTZ(1711900000000,3))", 13, "BIGINT NOT NULL"),
        ("QUARTER(TO_TIMESTAMP_LTZ(1711900000000,3))", 1, "BIGINT NOT NULL"),
        (
            "CONCAT('at ', CAST(TO_TIMESTAMP_LTZ(1711900000000,3) AS STRING))",
            "at 2024-03-31 17:46:40.000",
            "VARCHAR(2147483647) NOT NULL",
        ),
        (
            "CASE WHEN CAST(TO_TIMESTAMP_LTZ(1711900000000,3) AS DATE) > DATE '2024-01-01' THEN 'a' ELSE 'b' END",
            "a",
            "CHAR(1) NOT NULL",
        ),
        ("CAST(NULL AS TIMESTAMP_LTZ(3))", None, "TIMESTAMP(3) WITH LOCAL TIME ZONE"),
        ("CAST(CAST(NULL AS TIMESTAMP_LTZ(3)) AS STRING)", None, "VARCHAR(2147483647)"),
        (
            "COALESCE(CAST(NULL AS TIMESTAMP_LTZ(3)), TO_TIMESTAMP_LTZ(0,3))",
            "1970-01-01 00:00:00",
            "TIMESTAMP(3) WITH LOCAL TIME ZONE NOT NULL",
        ),
        ("TO_DATE(CAST(TO_TIMESTAMP_LTZ(1711900000000,3) AS STRING))", "2024-03-31", "DATE NOT NULL"),
        (
            "CAST(DATE '2024-03-31' AS TIMESTAMP_LTZ(3))",
            "2024-03-30 23:00:00",
            "TIMESTAMP(3) WITH LOCAL TIME ZONE NOT NULL",
        ),
        (
            "CAST(TIME '02:30:00' AS TIMESTAMP_LTZ(3))",
            "1970-01-01 01:30:00",
            "TIMESTAMP(3) WITH LOCAL TIME ZONE NOT NULL",
        ),
        (
            "CAST(TIME '02:30:00' AS TIMESTAMP_LTZ(0))",
            "1970-01-01 01:30:00",
            "TIMESTAMP(0) WITH LOCAL TIME ZONE NOT NULL",
        ),
    ],
}


@pytest.mark.parametrize(
    ("zone", "sql", "value", "type_text"),
    [pytest.param(zone, *case, id=f"{zone} {case[0]}") for zone, cases in FOLDED.items() for case in cases],
)
def test_folds_by_the_clock_of_the_session(zone: str, sql: str, value: object, type_text: str) -> None:
    plan = compile_script(
        "CREATE TABLE t (id INT) WITH ('connector' = 'datagen');"
        f"CREATE TABLE o (x {type_text.removesuffix(' NOT NULL')}) WITH ('connector' = 'blackhole');"
        f"INSERT INTO o SELECT {sql} FROM t;",
        options={"table.local-time-zone": zone},
    )
    literal = next(n for n in plan.nodes if isinstance(n, Calc)).projection[0]
    if isinstance(literal, Call) and literal.name == "$CAST$1":
        literal = literal.operands[0]
    assert isinstance(literal, Literal)
    assert (literal.value, str(literal.type)) == (value, type_text)
