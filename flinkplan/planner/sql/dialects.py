"""Words of other SQL dialects, and what Flink SQL has instead.

All hints about other dialects stand here: by function, operator and clause.
"""

from __future__ import annotations

from collections.abc import Mapping

_HALF_OPEN = "FLOOR(ts TO DAY), or TO another unit"
_PARTS = "EXTRACT(YEAR FROM ts), or another unit"
_TEXT_OF_TIME = "DATE_FORMAT(ts, 'yyyy-MM-dd'), or CAST(x AS STRING)"
_LISTS = "ARRAY_AGG(x)"
_JSON = "JSON_VALUE(s, '$.a') for a value, JSON_QUERY(s, '$.a') for an object or a list"
_WINDOWS = "TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '10' MINUTES)) in FROM, grouped by window_start, window_end"
_DIFFERENCE = "TIMESTAMPDIFF(DAY, earlier, later)"
_TOP = "ROW_NUMBER() OVER (PARTITION BY … ORDER BY …) in a subquery, and WHERE rn = 1 around it"
_EVERY = "COUNT(*) FILTER (WHERE NOT c) = 0"
_ANY = "COUNT(*) FILTER (WHERE c) > 0"

FUNCTIONS: Mapping[str, str] = {
    # NULL and conditions
    "NVL": "COALESCE(a, b) or IFNULL(a, b)",
    "NVL2": "CASE WHEN a IS NOT NULL THEN b ELSE c END",
    "ISNULL": "a IS NULL, or COALESCE(a, b)",
    "ISNOTNULL": "a IS NOT NULL",
    "ZEROIFNULL": "COALESCE(a, 0)",
    "NULLIFZERO": "NULLIF(a, 0)",
    "IFF": "IF(c, a, b)",
    "IIF": "IF(c, a, b)",
    "SAFE_DIVIDE": "a / NULLIF(b, 0)",
    "DIV0": "COALESCE(a / NULLIF(b, 0), 0)",
    # Casts
    "SAFE_CAST": "TRY_CAST(a AS INT)",
    "CONVERT": "CAST(a AS INT)",
    "TO_NUMBER": "CAST(a AS DECIMAL(10, 2))",
    "TO_DECIMAL": "CAST(a AS DECIMAL(10, 2))",
    "TO_CHAR": _TEXT_OF_TIME,
    "TO_VARCHAR": _TEXT_OF_TIME,
    # Times
    "DATE_TRUNC": _HALF_OPEN,
    "TIMESTAMP_TRUNC": _HALF_OPEN,
    "DATETIME_TRUNC": _HALF_OPEN,
    "TIME_TRUNC": _HALF_OPEN,
    "TIME_SLICE": _HALF_OPEN,
    "DATE_PART": _PARTS,
    "DATEPART": _PARTS,
    "DATEDIFF": _DIFFERENCE,
    "DATE_DIFF": _DIFFERENCE,
    "TIMESTAMP_DIFF": _DIFFERENCE,
    "TIME_DIFF": _DIFFERENCE,
    "MONTHS_BETWEEN": "TIMESTAMPDIFF(MONTH, earlier, later)",
    "DATEADD": "ts + INTERVAL '1' DAY, or TIMESTAMPADD(DAY, n, ts)",
    "DATE_ADD": "d + INTERVAL '1' DAY, or TIMESTAMPADD(DAY, n, d)",
    "DATE_SUB": "d - INTERVAL '1' DAY, or TIMESTAMPADD(DAY, -n, d)",
    "TIMESTAMP_ADD": "ts + INTERVAL '1' DAY, or TIMESTAMPADD(DAY, n, ts)",
    "TIMESTAMP_SUB": "ts - INTERVAL '1' DAY, or TIMESTAMPADD(DAY, -n, ts)",
    "ADD_MONTHS": "TIMESTAMPADD(MONTH, n, d)",
    "GETDATE": "CURRENT_TIMESTAMP",
    "SYSDATE": "CURRENT_TIMESTAMP",
    "SYSTIMESTAMP": "CURRENT_TIMESTAMP",
    "CURDATE": "CURRENT_DATE",
    "CURTIME": "LOCALTIME",
    "TODAY": "CURRENT_DATE",
    "FORMAT_TIMESTAMP": _TEXT_OF_TIME,
    "FORMAT_DATE": _TEXT_OF_TIME,
    "STRFTIME": _TEXT_OF_TIME,
    "PARSE_TIMESTAMP": "TO_TIMESTAMP(s, 'yyyy-MM-dd HH:mm:ss')",
    "STR_TO_DATE": "TO_DATE(s, 'yyyy-MM-dd') or TO_TIMESTAMP(s, 'yyyy-MM-dd HH:mm:ss')",
    "PARSE_DATE": "TO_DATE(s, 'yyyy-MM-dd')",
    "TO_UNIX_TIMESTAMP": "UNIX_TIMESTAMP(s)",
    "TIMESTAMP_MILLIS": "TO_TIMESTAMP_LTZ(n, 3)",
    "TIMESTAMP_SECONDS": "TO_TIMESTAMP_LTZ(n, 0)",
    "FROM_UTC_TIMESTAMP": "CONVERT_TZ(s, 'UTC', 'Europe/Berlin')",
    "TO_UTC_TIMESTAMP": "CONVERT_TZ(s, 'Europe/Berlin', 'UTC')",
    "CONVERT_TIMEZONE": "CONVERT_TZ(s, 'UTC', 'Europe/Berlin')",
    "WINDOW": _WINDOWS,
    "TIME_BUCKET": _WINDOWS,
    "DATE_BIN": _WINDOWS,
    # Texts
    "LEN": "CHAR_LENGTH(s)",
    "LENGTH": "CHAR_LENGTH(s)",
    "LCASE": "LOWER(s)",
    "UCASE": "UPPER(s)",
    "STRPOS": "POSITION('a' IN s) or INSTR(s, 'a')",
    "CHARINDEX": "LOCATE('a', s)",
    "CONTAINS": "POSITION('a' IN s) > 0",
    "STARTS_WITH": "STARTSWITH(s, 'a')",
    "ENDS_WITH": "ENDSWITH(s, 'a')",
    "SPLIT_PART": "SPLIT_INDEX(s, ',', 0), whose first part is 0",
    "STRING_SPLIT": "SPLIT(s, ',')",
    "STRING_TO_ARRAY": "SPLIT(s, ',')",
    "ARRAY_TO_STRING": "ARRAY_JOIN(a, ',')",
    "REGEXP_LIKE": "REGEXP(s, 'a.*')",
    "REGEXP_MATCHES": "REGEXP(s, 'a.*'), or REGEXP_EXTRACT(s, '(a.*)', 1)",
    "REGEXP_CONTAINS": "REGEXP(s, 'a.*')",
    "SUBSTRING_INDEX": "SPLIT_INDEX(s, ',', 0)",
    "FORMAT": "PRINTF('%s', a)",
    # Numbers
    "POW": "POWER(a, b)",
    "TRUNC": "TRUNCATE(a, 2), of a time FLOOR(ts TO DAY)",
    "RANDOM": "RAND()",
    "GEN_RANDOM_UUID": "UUID()",
    "NEWID": "UUID()",
    "GENERATE_UUID": "UUID()",
    # Rows, lists and maps
    "STRUCT": "ROW(a, b)",
    "NAMED_STRUCT": "CAST(ROW(a, b) AS ROW<x INT, y STRING>)",
    "SIZE": "CARDINALITY(a)",
    "ARRAY_SIZE": "CARDINALITY(a)",
    "ARRAY_LENGTH": "CARDINALITY(a)",
    "ELEMENT_AT": "a[1] or m['key']",
    "EXPLODE": "FROM t CROSS JOIN UNNEST(t.a) AS u (x)",
    "FLATTEN": "FROM t CROSS JOIN UNNEST(t.a) AS u (x)",
    # JSON
    "GET_JSON_OBJECT": _JSON,
    "JSON_EXTRACT": _JSON,
    "JSON_EXTRACT_SCALAR": "JSON_VALUE(s, '$.a')",
    "JSON_EXTRACT_PATH_TEXT": "JSON_VALUE(s, '$.a')",
    "FROM_JSON": _JSON,
    "TO_JSON": "JSON_STRING(a)",
    "TO_JSON_STRING": "JSON_STRING(a)",
    # Aggregates
    "STRING_AGG": "LISTAGG(s, ',')",
    "GROUP_CONCAT": "LISTAGG(s, ',')",
    "COLLECT_LIST": _LISTS,
    "COLLECT_SET": "ARRAY_AGG(DISTINCT x)",
    "ARRAY_CONCAT_AGG": _LISTS,
    "COUNT_IF": "COUNT(*) FILTER (WHERE c)",
    "COUNTIF": "COUNT(*) FILTER (WHERE c)",
    "SUM_IF": "SUM(a) FILTER (WHERE c)",
    "BOOL_AND": _EVERY,
    "BOOL_OR": _ANY,
    "LOGICAL_AND": _EVERY,
    "LOGICAL_OR": _ANY,
    "EVERY": _EVERY,
    "ANY_VALUE": "FIRST_VALUE(a)",
    "MAX_BY": _TOP,
    "MIN_BY": _TOP,
    "ARG_MAX": _TOP,
    "ARG_MIN": _TOP,
    "MEDIAN": "PERCENTILE(a, 0.5)",
    "PERCENTILE_APPROX": "PERCENTILE(a, 0.5)",
    "APPROX_PERCENTILE": "PERCENTILE(a, 0.5)",
    "PERCENTILE_CONT": "PERCENTILE(a, 0.5)",
    "QUANTILE": "PERCENTILE(a, 0.5)",
    "APPROX_DISTINCT": "COUNT(DISTINCT a)",
}
"""Flink's alternative for functions of other dialects."""

OPERATORS: Mapping[str, str] = {
    "->>": "JSON_VALUE(s, '$.a')",
    "->": "JSON_QUERY(s, '$.a')",
    "::": "CAST(a AS type)",
    "!~~": "a NOT LIKE '%b%'",
    "~~": "a LIKE '%b%'",
    "!~": "NOT REGEXP(s, 'a.*')",
    "~": "REGEXP(s, 'a.*')",
    "<=>": "a IS NOT DISTINCT FROM b",
    "==": "a = b",
    "&&": "a AND b",
    ":=": "AS b behind the expression",
    "**": "POWER(a, b)",
    "<<": "no operators on bits",
    ">>": "no operators on bits",
    "|": "no operators on bits",
    "&": "no operators on bits",
    "^": "POWER(a, b)",
}
"""The same for operators; longer ones stand first."""

CLAUSES: Mapping[str, str] = {
    "ILIKE": "LOWER(a) LIKE LOWER(b)",
    "RLIKE": "REGEXP(a, b)",
    "MINUS": "EXCEPT",
    "DIV": "a / b, a whole number for whole numbers",
    "SEPARATOR": "LISTAGG(s, ',')",
    "TOP": "LIMIT n at the end of the query",
}
"""The same for words inside a query."""


PHRASES: Mapping[tuple[str, str], str] = {
    ("DISTINCT", "ON"): _TOP,
    ("LATERAL", "VIEW"): "FROM t CROSS JOIN UNNEST(t.a) AS u (x)",
    ("CROSS", "APPLY"): "CROSS JOIN LATERAL TABLE(f(x)) AS u (y)",
    ("OUTER", "APPLY"): "LEFT JOIN LATERAL TABLE(f(x)) AS u (y) ON TRUE",
    ("START", "WITH"): "no recursive queries",
    ("CONNECT", "BY"): "no recursive queries",
    ("CLUSTER", "BY"): "no order within tasks",
    ("SORT", "BY"): "no order within tasks",
    ("DISTRIBUTE", "BY"): "no order within tasks",
}
"""The same for two words."""


def instead(has: str) -> str:
    """The hint that Flink has this instead."""
    return f"Flink has {has}" if has.startswith("no ") else f"Flink SQL writes {has}"
