"""Expressions of the Table API: ``col("id") + 1``, ``col("name").upper_case``.

An expression is a name with arguments; it gets a type when a table resolves it.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .data_types import DataType

__all__ = [
    "Expression",
    "JsonExistsOnError",
    "JsonOnNull",
    "JsonQueryOnEmptyOrError",
    "JsonQueryWrapper",
    "JsonType",
    "JsonValueOnEmptyOrError",
    "TimeIntervalUnit",
    "TimePointUnit",
]


class TimeIntervalUnit(Enum):
    """Units of intervals."""

    YEAR = "YEAR"
    YEAR_TO_MONTH = "YEAR_TO_MONTH"
    QUARTER = "QUARTER"
    MONTH = "MONTH"
    WEEK = "WEEK"
    DAY = "DAY"
    DAY_TO_HOUR = "DAY_TO_HOUR"
    DAY_TO_MINUTE = "DAY_TO_MINUTE"
    DAY_TO_SECOND = "DAY_TO_SECOND"
    HOUR = "HOUR"
    SECOND = "SECOND"
    HOUR_TO_MINUTE = "HOUR_TO_MINUTE"
    HOUR_TO_SECOND = "HOUR_TO_SECOND"
    MINUTE = "MINUTE"
    MINUTE_TO_SECOND = "MINUTE_TO_SECOND"


class TimePointUnit(Enum):
    """Units of points in time."""

    YEAR = "YEAR"
    MONTH = "MONTH"
    DAY = "DAY"
    HOUR = "HOUR"
    MINUTE = "MINUTE"
    SECOND = "SECOND"
    QUARTER = "QUARTER"
    WEEK = "WEEK"
    MILLISECOND = "MILLISECOND"
    MICROSECOND = "MICROSECOND"


class JsonType(Enum):
    """What a JSON text may hold."""

    VALUE = "VALUE"
    SCALAR = "SCALAR"
    ARRAY = "ARRAY"
    OBJECT = "OBJECT"


class JsonExistsOnError(Enum):
    """The result of JSON_EXISTS for invalid JSON."""

    TRUE = "TRUE"
    FALSE = "FALSE"
    UNKNOWN = "UNKNOWN"
    ERROR = "ERROR"


class JsonValueOnEmptyOrError(Enum):
    """The result of JSON_VALUE where there is none."""

    NULL = "NULL"
    ERROR = "ERROR"
    DEFAULT = "DEFAULT"


class JsonQueryWrapper(Enum):
    """Whether JSON_QUERY wraps its result in an array."""

    WITHOUT_ARRAY = "WITHOUT"
    CONDITIONAL_ARRAY = "CONDITIONAL"
    UNCONDITIONAL_ARRAY = "UNCONDITIONAL"


class JsonQueryOnEmptyOrError(Enum):
    """The result of JSON_QUERY where there is none."""

    NULL = "NULL"
    EMPTY_ARRAY = "EMPTY ARRAY"
    EMPTY_OBJECT = "EMPTY OBJECT"
    ERROR = "ERROR"


class JsonOnNull(Enum):
    """What JSON_OBJECT and JSON_ARRAY do with NULL."""

    NULL = "NULL"
    ABSENT = "ABSENT"


class Expression:
    """A value of each row of a table.

    Arithmetic and comparison operators give expressions, ``&``, ``|`` and ``~`` conjunction, disjunction and negation
    of conditions.
    """

    def __init__(self, name: str, *args: Any) -> None:
        self._name = name
        self._args = args

    # Operators

    def __eq__(self, other: Any) -> Expression:  # type: ignore[override]
        return Expression("=", self, other)

    def __ne__(self, other: Any) -> Expression:  # type: ignore[override]
        return Expression("<>", self, other)

    def __lt__(self, other: Any) -> Expression:
        return Expression("<", self, other)

    def __gt__(self, other: Any) -> Expression:
        return Expression(">", self, other)

    def __le__(self, other: Any) -> Expression:
        return Expression("<=", self, other)

    def __ge__(self, other: Any) -> Expression:
        return Expression(">=", self, other)

    def __and__(self, other: Any) -> Expression:
        return Expression("and", self, other)

    def __or__(self, other: Any) -> Expression:
        return Expression("or", self, other)

    def __invert__(self) -> Expression:
        return Expression("test", "IS NOT TRUE", self)

    def __rand__(self, other: Any) -> Expression:
        return Expression("and", self, other)

    def __ror__(self, other: Any) -> Expression:
        return Expression("or", self, other)

    def __add__(self, other: Any) -> Expression:
        return Expression("+", self, other)

    def __sub__(self, other: Any) -> Expression:
        return Expression("-", self, other)

    def __mul__(self, other: Any) -> Expression:
        return Expression("*", self, other)

    def __truediv__(self, other: Any) -> Expression:
        return Expression("/", self, other)

    def __mod__(self, other: Any) -> Expression:
        return Expression("%", self, other)

    def __pow__(self, other: Any) -> Expression:
        return Expression("sql", "POWER", self, other)

    def __neg__(self) -> Expression:
        return Expression("negate", self)

    def __radd__(self, other: Any) -> Expression:
        return Expression("+", other, self)

    def __rsub__(self, other: Any) -> Expression:
        return Expression("-", other, self)

    def __rmul__(self, other: Any) -> Expression:
        return Expression("*", self, other)

    def __rtruediv__(self, other: Any) -> Expression:
        return Expression("/", other, self)

    def __rmod__(self, other: Any) -> Expression:
        return Expression("%", other, self)

    def __rpow__(self, other: Any) -> Expression:
        return Expression("sql", "POWER", other, self)

    __hash__ = object.__hash__

    def __str__(self) -> str:
        return f"{self._name}({', '.join(map(str, self._args))})" if self._name != "col" else str(self._args[0])

    __repr__ = __str__

    def __getitem__(self, index: Any) -> Expression:
        return self.at(index)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name in ("_name", "_args"):
            raise AttributeError(name)
        return self.get(name)

    # Names, types, order

    def alias(self, name: str, *extra_names: str) -> Expression:
        """Name the column, or the columns of a table function."""
        return Expression("as", self, name, *extra_names)

    def cast(self, data_type: DataType) -> Expression:
        """``CAST(… AS data_type)``."""
        return Expression("cast", self, data_type, False)

    def try_cast(self, data_type: DataType) -> Expression:
        """``TRY_CAST(… AS data_type)``."""
        return Expression("cast", self, data_type, True)

    @property
    def asc(self) -> Expression:
        """Ascending order, in ``order_by``."""
        return Expression("order", self, True)

    @property
    def desc(self) -> Expression:
        """Descending order, in ``order_by``."""
        return Expression("order", self, False)

    def over(self, alias: Any) -> Expression:
        """The aggregate over a window of ``over_window``."""
        return Expression("over", self, alias)

    def as_argument(self, name: str) -> Expression:
        """A named argument of a function."""
        return Expression("argument", self, name)

    # Conditions

    def between(self, lower_bound: Any, upper_bound: Any) -> Expression:
        """``BETWEEN lower_bound AND upper_bound``."""
        return Expression("and", Expression(">=", self, lower_bound), Expression("<=", self, upper_bound))

    def not_between(self, lower_bound: Any, upper_bound: Any) -> Expression:
        """``NOT BETWEEN lower_bound AND upper_bound``."""
        return Expression("or", Expression("<", self, lower_bound), Expression(">", self, upper_bound))

    def then(self, if_true: Any, if_false: Any) -> Expression:
        """``CASE WHEN … THEN if_true ELSE if_false END``."""
        return Expression("case", self, if_true, if_false)

    def in_(self, first_element_or_table: Any, *remaining_elements: Any) -> Expression:
        """``IN (…)`` of values, or of the rows of a table with one column."""
        return Expression("in", self, first_element_or_table, *remaining_elements)

    # Fields and collections

    def get(self, name_or_index: Any) -> Expression:
        """The field of a row, by its name or its position from 0."""
        return Expression("get", self, name_or_index)

    def at(self, index: Any) -> Expression:
        """The element of an array at a position from 1, or the value of a map's key."""
        return Expression("at", self, index)

    @property
    def flatten(self) -> Expression:
        """All fields of a row as columns."""
        return Expression("flatten", self)

    # Numbers and times

    def log(self, base: Any = None) -> Expression:
        """The logarithm, by default the natural one."""
        return Expression("sql", "LOG", self) if base is None else Expression("sql", "LOG", base, self)

    @property
    def sqrt(self) -> Expression:
        """The square root."""
        return Expression("sql", "POWER", self, 0.5)

    def floor(self, time_interval_unit: TimeIntervalUnit | None = None) -> Expression:
        """The number, or the time, rounded down."""
        return Expression("round", "FLOOR", self, time_interval_unit)

    def ceil(self, time_interval_unit: TimeIntervalUnit | None = None) -> Expression:
        """The number, or the time, rounded up."""
        return Expression("round", "CEIL", self, time_interval_unit)

    def extract(self, time_interval_unit: TimeIntervalUnit) -> Expression:
        """A part of a time."""
        return Expression("extract", time_interval_unit, self)

    # Text

    def trim(self, character: Any = None) -> Expression:
        """The text without a character, by default blanks, at both ends."""
        return Expression("trim", "BOTH", self, character)

    def trim_leading(self, character: Any = None) -> Expression:
        """The text without a character, by default blanks, at its beginning."""
        return Expression("trim", "LEADING", self, character)

    def trim_trailing(self, character: Any = None) -> Expression:
        """The text without a character, by default blanks, at its end."""
        return Expression("trim", "TRAILING", self, character)

    def like(self, pattern: Any = None, escape: Any = None) -> Expression:
        """``LIKE pattern``."""
        return Expression("like", self, pattern, escape)

    def similar(self, pattern: Any = None) -> Expression:
        """``SIMILAR TO pattern``."""
        return Expression("similar", self, pattern)

    def truncate(self, n: Any = 0) -> Expression:
        """The number cut to ``n`` digits behind the point."""
        return Expression("sql", "TRUNCATE", self, n)

    def list_agg(self, separator: Any = None) -> Expression:
        """The texts of a group, with a separator, by default a comma."""
        return Expression("agg", "LISTAGG", self, "," if separator is None else separator)

    def percentile(self, percentage: Any, frequency: Any = None) -> Expression:
        """The percentile of the values of a group."""
        rest = [percentage] if frequency is None else [percentage, frequency]
        return Expression("agg", "PERCENTILE", self, *rest)

    @property
    def distinct(self) -> Expression:
        """The aggregate over different values only."""
        return Expression("distinct", self)

    # JSON

    def is_json(self, json_type: JsonType | None = None) -> Expression:
        """Whether a text is JSON."""
        return Expression("is_json", self, json_type or JsonType.VALUE)

    def json_exists(self, path: str, on_error: JsonExistsOnError | None = None) -> Expression:
        """Whether a JSON text has something at a path."""
        return Expression("json_exists", self, path, on_error)

    def json_value(
        self,
        path: str,
        returning_type: DataType | None = None,
        on_empty: JsonValueOnEmptyOrError = JsonValueOnEmptyOrError.NULL,
        default_on_empty: Any = None,
        on_error: JsonValueOnEmptyOrError = JsonValueOnEmptyOrError.NULL,
        default_on_error: Any = None,
    ) -> Expression:
        """The scalar value at a path of a JSON text."""
        rest = (on_empty, default_on_empty, on_error, default_on_error)
        return Expression("json_value", self, path, returning_type, *rest)

    def json_query(
        self,
        path: str,
        wrapping_behavior: JsonQueryWrapper = JsonQueryWrapper.WITHOUT_ARRAY,
        on_empty: JsonQueryOnEmptyOrError = JsonQueryOnEmptyOrError.NULL,
        on_error: JsonQueryOnEmptyOrError = JsonQueryOnEmptyOrError.NULL,
    ) -> Expression:
        """The JSON text at a path of a JSON text."""
        return Expression("json_query", self, path, wrapping_behavior, on_empty, on_error)

    # As in PyFlink 2.3, these cannot be called


def _unary(name: str, *before: Any) -> property:
    def get(self: Expression) -> Expression:
        return Expression(name, *before, self)

    get.__doc__ = f"``{before[0] if before else name}``."
    return property(get)


def _method(function: str, minimum: int, maximum: int) -> Callable[..., Expression]:
    """A method that calls a function of SQL with the expression and further arguments."""

    def call(self: Expression, *args: Any) -> Expression:
        given = [a for a in args if a is not None]
        if not minimum <= len(given) <= maximum:
            raise TypeError(f"{function} takes {minimum} to {maximum} more arguments, {len(given)} are given")
        return Expression("sql", function, self, *given)

    call.__doc__ = f"``{function}`` of SQL."
    return call


def _refused(name: str) -> Callable[..., Expression]:
    """A method that fails in PyFlink, whatever its arguments."""

    def call(self: Expression, *args: Any) -> Expression:
        raise TypeError(f"{name}() cannot be called in PyFlink: use call('{name.upper()}', …)")

    call.__doc__ = f"Raises :class:`TypeError`, as in PyFlink; ``call('{name.upper()}', …)`` works."
    return call


_PROPERTIES = {
    name: function or name.upper()
    for name, function in {
        **dict.fromkeys(("exp", "log10", "log2", "ln", "cosh", "sinh", "sin", "cos", "tan", "cot", "asin", "acos")),
        **dict.fromkeys(("atan", "tanh", "degrees", "radians", "abs", "sign", "bin", "hex", "unhex", "char_length")),
        **dict.fromkeys(("from_base64", "to_base64", "ascii", "chr", "reverse", "cardinality", "element")),
        **dict.fromkeys(("map_keys", "map_values", "map_entries", "md5", "sha1", "sha224", "sha256", "sha384")),
        **{"sha512": None, "upper_case": "UPPER", "lower_case": "LOWER", "init_cap": "INITCAP"},
    }.items()
}
"""Properties, with the function of SQL that each one calls."""

_AGGREGATES = {
    **{"sum": "SUM", "sum0": "$SUM0", "min": "MIN", "max": "MAX", "count": "COUNT", "avg": "AVG", "collect": "COLLECT"},
    **{"first_value": "FIRST_VALUE", "last_value": "LAST_VALUE", "array_agg": "ARRAY_AGG", "var_pop": "VAR_POP"},
    **{"stddev_pop": "STDDEV_POP", "stddev_samp": "STDDEV_SAMP", "var_samp": "VAR_SAMP"},
}

_TESTS = {
    **{"is_null": "IS NULL", "is_not_null": "IS NOT NULL", "is_true": "IS TRUE", "is_false": "IS FALSE"},
    **{"is_not_true": "IS NOT TRUE", "is_not_false": "IS NOT FALSE"},
}

_METHODS: dict[str, tuple[str, int, int]] = {
    **{"round": ("ROUND", 1, 1), "concat": ("CONCAT", 1, 1), "if_null": ("IFNULL", 1, 1)},
    **{"starts_with": ("STARTSWITH", 1, 1), "ends_with": ("ENDSWITH", 1, 1), "substring": ("SUBSTRING", 1, 2)},
    **{"substr": ("SUBSTR", 1, 2), "replace": ("REPLACE", 2, 2), "translate": ("TRANSLATE", 2, 2)},
    **{"position": ("POSITION", 1, 1), "lpad": ("LPAD", 2, 2), "rpad": ("RPAD", 2, 2), "overlay": ("OVERLAY", 2, 3)},
    **{"regexp": ("REGEXP", 1, 1), "regexp_count": ("REGEXP_COUNT", 1, 1), "regexp_replace": ("REGEXP_REPLACE", 2, 2)},
    **{"regexp_extract": ("REGEXP_EXTRACT", 1, 2), "regexp_extract_all": ("REGEXP_EXTRACT_ALL", 1, 2)},
    **{"regexp_instr": ("REGEXP_INSTR", 1, 1), "regexp_substr": ("REGEXP_SUBSTR", 1, 1), "decode": ("DECODE", 1, 1)},
    **{"encode": ("ENCODE", 1, 1), "left": ("LEFT", 1, 1), "right": ("RIGHT", 1, 1), "instr": ("INSTR", 1, 1)},
    **{"locate": ("LOCATE", 1, 2), "url_decode": ("URL_DECODE", 0, 0), "url_encode": ("URL_ENCODE", 0, 0)},
    **{"inet_aton": ("INET_ATON", 0, 0), "inet_ntoa": ("INET_NTOA", 0, 0), "parse_url": ("PARSE_URL", 1, 2)},
    **{"printf": ("PRINTF", 0, 99), "ltrim": ("LTRIM", 0, 1), "rtrim": ("RTRIM", 0, 1), "btrim": ("BTRIM", 0, 1)},
    **{"repeat": ("REPEAT", 1, 1), "split_index": ("SPLIT_INDEX", 2, 2), "str_to_map": ("STR_TO_MAP", 0, 2)},
    **{"elt": ("ELT", 1, 99), "array_append": ("ARRAY_APPEND", 1, 1), "array_contains": ("ARRAY_CONTAINS", 1, 1)},
    **{"array_position": ("ARRAY_POSITION", 1, 1), "array_prepend": ("ARRAY_PREPEND", 1, 1), "split": ("SPLIT", 1, 1)},
    **{
        "array_remove": ("ARRAY_REMOVE", 1, 1),
    },
    **{"array_union": ("ARRAY_UNION", 1, 1), "array_max": ("ARRAY_MAX", 0, 0), "array_min": ("ARRAY_MIN", 0, 0)},
    **{"array_except": ("ARRAY_EXCEPT", 1, 1), "array_intersect": ("ARRAY_INTERSECT", 1, 1)},
    **{"map_union": ("MAP_UNION", 1, 99), "sha2": ("SHA2", 1, 1), "json_quote": ("JSON_QUOTE", 0, 0)},
    **{"json_unquote": ("JSON_UNQUOTE", 0, 0), "object_update": ("OBJECT_UPDATE", 2, 99)},
    **{f"bitmap_{n}": (f"BITMAP_{n.upper()}", 1, 1) for n in ("and", "andnot", "or", "xor")},
    **{f"bitmap_{n}": (f"BITMAP_{n.upper()}", 0, 0) for n in ("build", "cardinality", "from_bytes", "to_array")},
    **{f"bitmap_{n}": (f"BITMAP_{n.upper()}", 0, 0) for n in ("to_bytes", "to_string")},
}

_BITMAP_AGGREGATES = [
    f"bitmap_{operation}{cardinality}_agg"
    for operation in ("and", "or", "xor", "build")
    for cardinality in ("", "_cardinality")
]

_INTERVALS = ("year", "quarter", "month", "week", "day", "hour", "minute", "second", "milli")


_REFUSED = ("array_distinct", "array_reverse", "array_concat", "array_join", "array_slice", "array_sort")


def _aggregate_method(function: str) -> Callable[[Expression], Expression]:
    def call(self: Expression) -> Expression:
        return Expression("agg", function, self)

    call.__doc__ = f"``{function}`` of a group's values."
    return call


for _name, _function in _PROPERTIES.items():
    setattr(Expression, _name, _unary("sql", _function))
for _name, _function in _AGGREGATES.items():
    setattr(Expression, _name, _unary("agg", _function))
for _name, _function in _TESTS.items():
    setattr(Expression, _name, _unary("test", _function))
for _name, _call in _METHODS.items():
    setattr(Expression, _name, _method(*_call))
for _name in _REFUSED:
    setattr(Expression, _name, _refused(_name))
for _name in _BITMAP_AGGREGATES:
    setattr(Expression, _name, _aggregate_method(_name.upper()))
for _name in _INTERVALS:
    setattr(Expression, _name, _unary("interval", _name.upper()))
    setattr(Expression, f"{_name}s", _unary("interval", _name.upper()))
for _name in ("start", "end", "rowtime", "proctime"):
    setattr(Expression, _name, _unary("property", _name))
for _name in ("date", "time", "timestamp"):
    setattr(Expression, f"to_{_name}", _unary("to", _name.upper()))
