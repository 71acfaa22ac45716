"""Functions of dates and times."""

from __future__ import annotations

from ..rex import FUNCTION
from ..types import BIGINT, BOOLEAN, DATE, INT, STRING, LogicalType, TimeKind, timestamp, timestamp_ltz
from .model import FUNCTION_ID, Arguments, LocalTime, Pushing
from .registry import declare
from .rules import always, if_null, signature, which

_LTZ3 = timestamp_ltz(3, nullable=False)
_TIME0 = LogicalType("TIME", False, precision=0)
PROCTIME_TYPE = timestamp_ltz(3, nullable=False, kind=TimeKind.PROCTIME)
"""The type of PROCTIME(): a processing-time attribute."""

_TEXT = signature("CHARACTER")
_TWO = signature("CHARACTER", "CHARACTER")
_THREE = signature("CHARACTER", "CHARACTER", "CHARACTER")

EXTRACT = declare(
    "EXTRACT", (signature("SYMBOL", "DATETIME"), signature("SYMBOL", "INTERVAL")), if_null(BIGINT), strict=True
)
DATE_FORMAT = declare(
    "DATE_FORMAT", (signature("TIMESTAMP", "CHARACTER"), _TWO), always(STRING), pushing=Pushing.BY_ANOTHER
)
declare("CONVERT_TZ", _THREE, always(STRING), pushing=Pushing.BY_ANOTHER)
FROM_UNIXTIME = declare(
    "FROM_UNIXTIME",
    (signature("INTEGER"), signature("INTEGER", "CHARACTER")),
    always(STRING),
    pushing=Pushing.BY_ANOTHER,
    local_time=LocalTime.ALWAYS,
)
declare(
    "UNIX_TIMESTAMP",
    (signature(), _TEXT, _TWO),
    if_null(BIGINT),
    deterministic=False,
    pushing=Pushing.BY_ANOTHER,
    local_time=LocalTime.ALWAYS,
)
declare("TO_DATE", (_TEXT, _TWO), always(DATE), pushing=Pushing.BY_ANOTHER)
declare("TO_TIMESTAMP", (_TEXT, _TWO), always(timestamp(3)), pushing=Pushing.BY_ANOTHER)
MAX_DIGITS = 9
"""The maximum number of digits of the fraction of a second."""


def digits_of_pattern(pattern: str) -> int:
    """The number of fractional digits in a datetime pattern.  Source: Flink's ``DateTimeUtils.precisionFromFormat``."""
    return max(3, min(len(pattern) - len(pattern.rstrip("S")), MAX_DIGITS))


def _instant(args: Arguments) -> LogicalType:
    """The precision is that of a literal pattern or number, at least 3.  Source: ``ToTimestampLtzTypeStrategy``."""
    precision = args.literal(1)
    if isinstance(precision, str):
        return timestamp_ltz(digits_of_pattern(precision))
    return timestamp_ltz(max(3, precision) if isinstance(precision, int) else 3)


TO_TIMESTAMP_LTZ = declare(
    "TO_TIMESTAMP_LTZ",
    (signature("NUMERIC"), signature("NUMERIC", which("INT", lambda t: t.root == "INT")), _TEXT, _TWO, _THREE),
    _instant,
    bridged=True,
    local_time=LocalTime.NEVER,
)


def _watermark(args: Arguments) -> LogicalType:
    """The type of a watermark is that of the rowtime column, without the time attribute."""
    return args.types[0].regular().nullable_()


declare(
    "CURRENT_WATERMARK",
    signature(which("ROWTIME", lambda t: t.kind is TimeKind.ROWTIME)),
    _watermark,
    deterministic=False,
    bridged=True,
    local_time=LocalTime.NEVER,
)
PROCTIME = declare(
    "PROCTIME",
    signature(),
    always(PROCTIME_TYPE),
    deterministic=False,
    pushing=Pushing.NEVER,
    local_time=LocalTime.NEVER,
)
PROCTIME_MATERIALIZE = declare(
    "PROCTIME_MATERIALIZE",
    signature("TIMESTAMP"),
    lambda args: timestamp_ltz(3, args.types[0].nullable),
    deterministic=False,
    named=False,
    local_time=LocalTime.NEVER,
)
TIMESTAMP_DIFF = declare("TIMESTAMPDIFF", signature("SYMBOL", "DATETIME", "DATETIME"), if_null(INT), named=False)
declare("STREAMRECORD_TIMESTAMP", signature(), always(BIGINT.not_null()), named=False)
SOURCE_WATERMARK = declare(
    "SOURCE_WATERMARK", signature(), always(timestamp_ltz(3)), bridged=True, local_time=LocalTime.NEVER
)
declare("OVERLAPS", signature("ANY", "ANY", "ANY", "ANY"), if_null(BOOLEAN), named=False)

for _name, _type, _syntax, _local in (
    ("CURRENT_TIMESTAMP", _LTZ3, FUNCTION_ID, LocalTime.NEVER),
    ("NOW", _LTZ3, FUNCTION, LocalTime.NEVER),
    ("CURRENT_ROW_TIMESTAMP", _LTZ3, FUNCTION, LocalTime.NEVER),
    ("LOCALTIMESTAMP", timestamp(3, nullable=False), FUNCTION_ID, LocalTime.ALWAYS),
    ("CURRENT_DATE", DATE.not_null(), FUNCTION_ID, LocalTime.ALWAYS),
    ("CURRENT_TIME", _TIME0, FUNCTION_ID, LocalTime.ALWAYS),
    ("LOCALTIME", _TIME0, FUNCTION_ID, LocalTime.ALWAYS),
):
    declare(
        _name,
        signature(),
        always(_type),
        syntax=_syntax,
        deterministic=False,
        pushing=Pushing.BY_ANOTHER,
        local_time=_local,
    )
declare(
    "CURRENT_DATABASE",
    signature(),
    always(STRING.not_null()),
    deterministic=False,
    pushing=Pushing.BY_ANOTHER,
)

PART_FUNCTIONS = {
    "YEAR": "YEAR",
    "QUARTER": "QUARTER",
    "MONTH": "MONTH",
    "WEEK": "WEEK",
    "DAYOFYEAR": "DOY",
    "DAYOFMONTH": "DAY",
    "DAYOFWEEK": "DOW",
    "HOUR": "HOUR",
    "MINUTE": "MINUTE",
    "SECOND": "SECOND",
}
"""Functions that mean EXTRACT of a unit."""
