"""Functions that give expressions: ``col("id")``, ``lit(1)``, ``call("UPPER", col("name"))``."""

from __future__ import annotations

from typing import Any

from .data_types import DataType
from .expression import Expression, JsonOnNull, TimePointUnit
from .udf import DeclaredFunction

__all__ = [
    "CURRENT_RANGE",
    "CURRENT_ROW",
    "UNBOUNDED_RANGE",
    "UNBOUNDED_ROW",
    "and_",
    "array",
    "atan2",
    "call",
    "call_sql",
    "col",
    "concat",
    "concat_ws",
    "convert_tz",
    "current_database",
    "current_date",
    "current_time",
    "current_timestamp",
    "current_watermark",
    "date_format",
    "descriptor",
    "e",
    "from_unixtime",
    "if_then_else",
    "json",
    "json_array",
    "json_array_agg",
    "json_object",
    "json_object_agg",
    "json_string",
    "lit",
    "local_time",
    "local_timestamp",
    "log",
    "map_",
    "negative",
    "not_",
    "null_of",
    "or_",
    "pi",
    "rand",
    "rand_integer",
    "range_",
    "row",
    "row_interval",
    "source_watermark",
    "temporal_overlaps",
    "timestamp_diff",
    "to_date",
    "to_timestamp",
    "to_timestamp_ltz",
    "unix_timestamp",
    "uuid",
    "with_columns",
    "without_columns",
]

UNBOUNDED_ROW = Expression("bound", "UNBOUNDED_ROW")
UNBOUNDED_RANGE = Expression("bound", "UNBOUNDED_RANGE")
CURRENT_ROW = Expression("bound", "CURRENT_ROW")
CURRENT_RANGE = Expression("bound", "CURRENT_RANGE")


def _sql(function: str, *args: Any) -> Expression:
    return Expression("sql", function, *[a for a in args if a is not None])


def col(name: str) -> Expression:
    """The column of a name."""
    return Expression("col", name)


def lit(v: Any, data_type: DataType | None = None) -> Expression:
    """A constant."""
    return Expression("lit", v, data_type)


def range_(start: str | int, end: str | int) -> Expression:
    """Columns from one to another, by name or by position from 1."""
    return Expression("range", start, end)


def and_(predicate0: Any, predicate1: Any, *predicates: Any) -> Expression:
    """The conjunction of conditions."""
    return Expression("and", predicate0, predicate1, *predicates)


def or_(predicate0: Any, predicate1: Any, *predicates: Any) -> Expression:
    """The disjunction of conditions."""
    return Expression("or", predicate0, predicate1, *predicates)


def not_(expression: Any) -> Expression:
    """The negation of a condition."""
    return Expression("not", expression)


def current_database() -> Expression:
    """The current database."""
    return _sql("CURRENT_DATABASE")


def current_date() -> Expression:
    """The current date."""
    return _sql("CURRENT_DATE")


def current_time() -> Expression:
    """The current time."""
    return _sql("CURRENT_TIME")


def current_timestamp() -> Expression:
    """The current instant."""
    return _sql("CURRENT_TIMESTAMP")


def current_watermark(rowtimeAttribute: Any) -> Expression:
    """The watermark of a column of event time."""
    return _sql("CURRENT_WATERMARK", rowtimeAttribute)


def local_time() -> Expression:
    """The current time in the session's time zone."""
    return _sql("LOCALTIME")


def local_timestamp() -> Expression:
    """The current timestamp in the session's time zone."""
    return _sql("LOCALTIMESTAMP")


def to_date(date_str: Any, format: Any = None) -> Expression:
    """A text as a date."""
    return _sql("TO_DATE", date_str, format)


def to_timestamp(timestamp_str: Any, format: Any = None) -> Expression:
    """A text as a timestamp."""
    return _sql("TO_TIMESTAMP", timestamp_str, format)


def to_timestamp_ltz(*args: Any) -> Expression:
    """A number or a text as an instant."""
    return _sql("TO_TIMESTAMP_LTZ", *args)


def temporal_overlaps(
    left_time_point: Any, left_temporal: Any, right_time_point: Any, right_temporal: Any
) -> Expression:
    """Whether two periods overlap, each a time and either another time or an interval."""
    return Expression("overlaps", left_time_point, left_temporal, right_time_point, right_temporal)


def date_format(timestamp: Any, format: Any) -> Expression:
    """A timestamp as text."""
    return _sql("DATE_FORMAT", timestamp, format)


def timestamp_diff(time_point_unit: TimePointUnit, time_point1: Any, time_point2: Any) -> Expression:
    """The number of units from one time to another."""
    return Expression("timestamp_diff", time_point_unit, time_point1, time_point2)


def convert_tz(date_str: Any, tz_from: Any, tz_to: Any) -> Expression:
    """A time of one time zone in another one."""
    return _sql("CONVERT_TZ", date_str, tz_from, tz_to)


def from_unixtime(unixtime: Any, format: Any = None) -> Expression:
    """Seconds since 1970 as text."""
    return _sql("FROM_UNIXTIME", unixtime, format)


def unix_timestamp(date_str: Any = None, format: Any = None) -> Expression:
    """Seconds since 1970, of now or of a text."""
    return _sql("UNIX_TIMESTAMP", date_str, format)


def array(head: Any, *tail: Any) -> Expression:
    """An array."""
    return Expression("array", head, *tail)


def row(head: Any, *tail: Any) -> Expression:
    """A row."""
    return Expression("row", head, *tail)


def map_(key: Any, value: Any, *tail: Any) -> Expression:
    """A map of keys and values in turn."""
    return Expression("map", key, value, *tail)


def map_from_arrays(key: Any, value: Any) -> Expression:
    """A map of an array of keys and one of values."""
    return _sql("MAP_FROM_ARRAYS", key, value)


def descriptor(*column_names: str) -> Expression:
    """Columns as an argument of a function."""
    return Expression("descriptor", *column_names)


def object_of(class_name: str, *args: Any) -> Expression:
    """A structured value."""
    return _sql("OBJECT_OF", class_name, *args)


def row_interval(rows: int) -> Expression:
    """A number of rows, in windows."""
    return Expression("row_interval", rows)


def pi() -> Expression:
    """The number pi."""
    return _sql("PI")


def e() -> Expression:
    """The number e."""
    return _sql("E")


def rand(seed: Any = None) -> Expression:
    """A random number between 0 and 1."""
    return _sql("RAND", seed)


def rand_integer(bound: Any, seed: Any = None) -> Expression:
    """A random whole number below a bound."""
    return _sql("RAND_INTEGER", bound) if seed is None else _sql("RAND_INTEGER", seed, bound)


def atan2(y: Any, x: Any) -> Expression:
    """The arc tangent of a coordinate."""
    return _sql("ATAN2", y, x)


def negative(v: Any) -> Expression:
    """The number with the other sign."""
    return Expression("negate", v)


def concat(first: Any, *others: Any) -> Expression:
    """Texts, one after another."""
    return _sql("CONCAT", first, *others)


def concat_ws(separator: Any, first: Any, *others: Any) -> Expression:
    """Texts that are not NULL, one after another with a separator."""
    return _sql("CONCAT_WS", separator, first, *others)


def uuid() -> Expression:
    """A random UUID."""
    return _sql("UUID")


def null_of(data_type: DataType) -> Expression:
    """NULL of a type."""
    return Expression("lit", None, data_type)


def log(v: Any, base: Any = None) -> Expression:
    """The logarithm, by default the natural one."""
    return _sql("LOG", v) if base is None else _sql("LOG", base, v)


def source_watermark() -> Expression:
    """The watermark of the source, in a schema."""
    return _sql("SOURCE_WATERMARK")


def if_then_else(condition: Any, if_true: Any, if_false: Any) -> Expression:
    """``CASE WHEN condition THEN if_true ELSE if_false END``."""
    return Expression("case", condition, if_true, if_false)


def coalesce(*args: Any) -> Expression:
    """The first value that is not NULL."""
    return _sql("COALESCE", *args)


def with_all_columns() -> Expression:
    """All columns."""
    return Expression("col", "*")


def with_columns(head: Any, *tails: Any) -> Expression:
    """Some columns: names, or ranges of names or positions."""
    return Expression("with_columns", head, *tails)


def without_columns(head: Any, *tails: Any) -> Expression:
    """All columns but some."""
    return Expression("without_columns", head, *tails)


def json(value: Any) -> Expression:
    """A JSON text as part of another one."""
    return _sql("JSON", value)


def json_string(value: Any) -> Expression:
    """A value as JSON text."""
    return _sql("JSON_STRING", value)


def json_object(on_null: JsonOnNull = JsonOnNull.NULL, *args: Any) -> Expression:
    """A JSON object of keys and values in turn."""
    if args:
        raise TypeError(
            "json_object() with keys and values cannot be called in PyFlink: use call_sql('JSON_OBJECT(…)')"
        )
    return Expression("json_object", on_null)


def json_object_agg(on_null: JsonOnNull, key_expr: Any, value_expr: Any) -> Expression:
    """A JSON object of the keys and values of a group."""
    return Expression("agg", f"JSON_OBJECTAGG {on_null.value}", key_expr, value_expr)


def json_array(on_null: JsonOnNull = JsonOnNull.ABSENT, *args: Any) -> Expression:
    """A JSON array."""
    if args:
        raise TypeError("json_array() with values cannot be called in PyFlink: use call_sql('JSON_ARRAY(…)')")
    return Expression("json_array", on_null)


def json_array_agg(on_null: JsonOnNull, item_expr: Any) -> Expression:
    """A JSON array of the values of a group."""
    return Expression("agg", f"JSON_ARRAYAGG {on_null.value}", item_expr)


def lag(expr: Any, offset: Any = 1, default: Any = None) -> Expression:
    """The value of an earlier row, over a window."""
    return Expression("agg", "LAG", expr, offset, *([] if default is None else [default]))


def lead(expr: Any, offset: Any = 1, default: Any = None) -> Expression:
    """The value of a later row, over a window."""
    return Expression("agg", "LEAD", expr, offset, *([] if default is None else [default]))


def call(f: str | DeclaredFunction, *args: Any) -> Expression:
    """A call of a function: a built-in or a registered one by its name, or a declared one."""
    called = Expression("call", f, *args)
    names = f._alias_names if isinstance(f, DeclaredFunction) else ()
    return called.alias(*names) if names else called


def call_sql(sql_expression: str) -> Expression:
    """An expression of SQL."""
    return Expression("call_sql", sql_expression)
