"""Functions of character and binary strings."""

from __future__ import annotations

from ..types import BIGINT, BOOLEAN, BYTES, CHARACTER, INT, STRING, STRING_LENGTH, LogicalType, array, char, map_
from .model import BINARY, Arguments, Pushing
from .registry import declare
from .rules import always, argument, common_of, if_null, null_in_null_out, nullable, signature, varying
from .typing import least_restrictive

_TEXT = signature("CHARACTER")
_TWO = signature("CHARACTER", "CHARACTER")
_THREE = signature("CHARACTER", "CHARACTER", "CHARACTER")
_NULLABLE_TEXT = always(STRING)
_TEXT_IF_NULL = if_null(STRING)


def _joined(args: Arguments) -> LogicalType:
    """The type with the sum of the lengths, which is fixed if both are; for arrays the least restrictive type."""
    a, b = args.types[:2]
    if a.root == "ARRAY":
        return (least_restrictive((a, b)) or a).with_nullability(args.any_nullable)
    fixed = a.root in ("CHAR", "BINARY") and b.root == a.root
    text = a.root in CHARACTER
    root = a.root if fixed else "VARCHAR" if text else "VARBINARY"
    length = min((a.length or 0) + (b.length or 0), STRING_LENGTH)
    return LogicalType(root, args.any_nullable, length=length)


def _joined_varying(args: Arguments) -> LogicalType:
    joined = _joined(args)
    return LogicalType("VARCHAR" if joined.root in CHARACTER else "VARBINARY", joined.nullable, length=joined.length)


CONCAT_OPERATOR = declare(
    "||",
    (_TWO, signature("BINARY", "BINARY"), signature("ARRAY", "ARRAY")),
    _joined,
    syntax=BINARY,
    named=False,
    pushing=Pushing.NEVER,
)
declare("CONCAT", signature("CHARACTER", rest="CHARACTER"), _TEXT_IF_NULL)
declare("CONCAT_WS", signature("CHARACTER", rest="CHARACTER"), _TEXT_IF_NULL)
declare(
    "OVERLAY",
    (signature("STRING", "STRING", "INTEGER"), signature("STRING", "STRING", "INTEGER", "INTEGER")),
    _joined_varying,
)

for _name in ("UPPER", "LOWER", "INITCAP"):
    declare(_name, _TEXT, argument(0))
CHAR_LENGTH = declare("CHAR_LENGTH", _TEXT, if_null(INT), aliases=("CHARACTER_LENGTH",), pushing=Pushing.BY_ANOTHER)
TRIM = declare(
    "TRIM",
    signature("SYMBOL", "CHARACTER", "CHARACTER"),
    null_in_null_out(varying(2)),
    strict=True,
    safe=True,
    pushing=Pushing.NEVER,
)
for _name in ("LTRIM", "RTRIM"):
    declare(_name, (_TEXT, _TWO), null_in_null_out(varying(0)))
declare("BTRIM", (_TEXT, _TWO), _TEXT_IF_NULL, bridged=True)

_CUT = (signature("CHARACTER", "INTEGER"), signature("CHARACTER", "INTEGER", "INTEGER"))
declare("SUBSTRING", _CUT, nullable(varying(0)))
declare("SUBSTR", _CUT, nullable(varying(0)))
for _name in ("LEFT", "RIGHT"):
    declare(_name, signature("CHARACTER", "INTEGER"), nullable(varying(0)))
for _name in ("LPAD", "RPAD"):
    declare(_name, signature("CHARACTER", "INTEGER", "CHARACTER"), _TEXT_IF_NULL)
declare("REPEAT", signature("CHARACTER", "INTEGER"), _TEXT_IF_NULL)
declare("REVERSE", _TEXT, _NULLABLE_TEXT)
declare("REPLACE", _THREE, _TEXT_IF_NULL)
declare(
    "TRANSLATE3",
    _THREE,
    lambda args: STRING.with_nullability(args.types[0].nullable),
    aliases=("TRANSLATE",),
    bridged=True,
)
declare("CHR", signature("INTEGER"), _NULLABLE_TEXT)
declare("ASCII", _TEXT, if_null(INT))
declare("POSITION", _TWO, if_null(INT))
declare("LOCATE", (_TWO, signature("CHARACTER", "CHARACTER", "INTEGER")), if_null(INT))
declare(
    "INSTR",
    (
        _TWO,
        signature("CHARACTER", "CHARACTER", "INTEGER"),
        signature("CHARACTER", "CHARACTER", "INTEGER", "INTEGER"),
    ),
    if_null(INT),
)
for _name in ("STARTSWITH", "ENDSWITH"):
    declare(_name, (_TWO, signature("BINARY", "BINARY")), if_null(BOOLEAN), bridged=True)
declare("SPLIT", _TWO, if_null(array(STRING)), bridged=True)
declare(
    "SPLIT_INDEX",
    (signature("CHARACTER", "INTEGER", "INTEGER"), signature("CHARACTER", "CHARACTER", "INTEGER")),
    _NULLABLE_TEXT,
    pushing=Pushing.BY_ANOTHER,
)
declare("STR_TO_MAP", (_TEXT, _THREE), always(map_(STRING, STRING)), pushing=Pushing.BY_ANOTHER)
declare(
    "ELT",
    (signature("INTEGER", "CHARACTER", rest="CHARACTER"), signature("INTEGER", "BINARY", rest="BINARY")),
    nullable(common_of(1)),
    bridged=True,
)
declare("PRINTF", signature("CHARACTER", rest="ANY"), _NULLABLE_TEXT, bridged=True)

declare("REGEXP", _TWO, if_null(BOOLEAN))
declare("REGEXP_REPLACE", _THREE, _TEXT_IF_NULL, pushing=Pushing.BY_ANOTHER)
declare(
    "REGEXP_EXTRACT",
    (signature("CHARACTER", "CHARACTER", "INTEGER"), _TWO),
    _NULLABLE_TEXT,
    pushing=Pushing.BY_ANOTHER,
)
declare(
    "REGEXP_EXTRACT_ALL", (_TWO, signature("CHARACTER", "CHARACTER", "INTEGER")), always(array(STRING)), bridged=True
)
declare("REGEXP_COUNT", _TWO, always(INT), bridged=True)
declare("REGEXP_INSTR", _TWO, always(INT), bridged=True)
declare("REGEXP_SUBSTR", _TWO, _NULLABLE_TEXT, bridged=True)

for _name in ("TO_BASE64", "FROM_BASE64"):
    declare(_name, signature("STRING"), _TEXT_IF_NULL, pushing=Pushing.BY_ANOTHER)
declare("ENCODE", _TWO, if_null(BYTES))
declare("DECODE", signature("BINARY", "CHARACTER"), _TEXT_IF_NULL)
declare("UNHEX", _TEXT, always(BYTES), bridged=True)
for _name in ("URL_DECODE", "URL_ENCODE"):
    declare(_name, _TEXT, _NULLABLE_TEXT, bridged=True)
declare("PARSE_URL", (_TWO, _THREE), _NULLABLE_TEXT, pushing=Pushing.BY_ANOTHER)
declare("INET_ATON", _TEXT, always(BIGINT), bridged=True)
declare("INET_NTOA", signature("INTEGER"), _NULLABLE_TEXT, bridged=True)
declare("UUID", signature(), always(char(36, nullable=False)), deterministic=False)
