"""Which types of MySQL and MariaDB the columns of a table can have, and the texts of their values.

Source: the data type mapping of Flink CDC's documentation for ``mysql-cdc``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

from ...plan.record import Record
from ...plan.types import LogicalType

_INTEGERS = ("TINYINT", "SMALLINT", "INT", "BIGINT")
_SMALLEST: Mapping[str, tuple[int, int]] = {
    "tinyint": (0, 1),
    "smallint": (1, 2),
    "mediumint": (2, 2),
    "int": (2, 3),
}
"""The first of the integer types that holds all values of a type, with a sign and without."""

_UNSIGNED_DIGITS = 20
_TEXTS = ("char", "varchar", "tinytext", "text", "mediumtext", "longtext", "enum", "json")
_BINARIES = ("binary", "varbinary", "tinyblob", "blob", "mediumblob", "longblob")
_PLAIN = ("tinyint", "smallint", "mediumint", "int", "bigint", "float", "double", "year")
_WORD = re.compile(r"'((?:[^']|'')*)'")


class MysqlType(Record):
    """The type of a column; ``full`` is ``column_type`` of the information schema, ``digits`` precision and scale."""

    name: str
    full: str
    digits: tuple[int, int] | None = None

    def __str__(self) -> str:
        return self.full

    @property
    def is_unsigned(self) -> bool:
        """Whether it has no sign."""
        return "unsigned" in self.full

    @property
    def words(self) -> list[str]:
        """The values of an ENUM, or the members of a SET."""
        return [word.replace("''", "'") for word in _WORD.findall(self.full)]


def holds(declared: LogicalType, type_: MysqlType, zone: str | None) -> bool:
    """Whether a declared type holds the values of a column."""
    name, root = type_.name, declared.root
    if name in _SMALLEST:
        signed, unsigned = _SMALLEST[name]
        is_flag = type_.full.startswith("tinyint(1)") and root == "BOOLEAN"
        return is_flag or root in _INTEGERS[unsigned if type_.is_unsigned else signed :]
    if name == "bigint":
        if not type_.is_unsigned:
            return root == "BIGINT"
        return root == "DECIMAL" and (declared.precision or 0) - (declared.scale or 0) >= _UNSIGNED_DIGITS
    if name == "decimal" and type_.digits is not None:
        precision, scale = type_.digits
        own_precision, own_scale = declared.precision or 0, declared.scale or 0
        fits = own_scale >= scale and own_precision - own_scale >= precision - scale
        return root in ("CHAR", "VARCHAR") or (root == "DECIMAL" and fits)
    if name == "bit":
        return root == "BOOLEAN" if type_.full == "bit(1)" else root in ("BINARY", "VARBINARY")
    if name == "set":
        return root == "ARRAY" and declared.element.root in ("CHAR", "VARCHAR")
    if name == "timestamp":
        return root == "TIMESTAMP_LTZ" or (root == "TIMESTAMP" and zone is not None)
    held: Mapping[str, tuple[str, ...]] = {
        "float": ("FLOAT", "DOUBLE"),
        "double": ("DOUBLE",),
        "date": ("DATE",),
        "time": ("TIME",),
        "datetime": ("TIMESTAMP",),
        "year": ("INT", "BIGINT"),
        **dict.fromkeys(_TEXTS, ("CHAR", "VARCHAR")),
        **dict.fromkeys(_BINARIES, ("BINARY", "VARBINARY")),
    }
    return root in held.get(name, ())


def text_of(value: Any, type_: MysqlType, declared: LogicalType, zone: str | None) -> bytes | None:
    """The text of a value, as ``TextValues.java`` reads it; dates that MySQL alone has, as 0000-00-00, are NULL.

    Values are those of PyMySQL or of mysql-replication, which differ for BIT and SET; both have TIMESTAMPs in UTC.
    """
    if value is None:
        return None
    if type_.name in _PLAIN and declared.root != "BOOLEAN":
        return str(value).encode()
    match type_.name:
        case "bit":
            number = int(value, 2) if isinstance(value, str) else int.from_bytes(value, "big")
            if declared.root == "BOOLEAN":
                return b"1" if number else b"0"
            width = int(type_.full[4:-1])
            return b"\\x" + number.to_bytes((width + 7) // 8, "little").hex().encode()
        case "set":
            members = set(value.split(",")) if isinstance(value, str) else value
            return _array([word for word in type_.words if word in members])
        case "timestamp":
            return _timestamp(value, declared, zone)
        case "datetime" | "date":
            return None if isinstance(value, str) else _iso(value)
        case "time":
            return time_text(value).encode()
        case "tinyint" if declared.root == "BOOLEAN":
            return b"1" if value else b"0"
        case "json" if not isinstance(value, str | bytes):
            return json.dumps(value, ensure_ascii=False, default=_json_text).encode()
    if type_.name in _BINARIES:
        raw = value.encode("latin-1") if isinstance(value, str) else bytes(value)
        if type_.name == "binary":  # the log leaves zeros at the end out
            raw = raw.ljust(int(type_.full[7:-1]), b"\0")
        return b"\\x" + raw.hex().encode()
    if isinstance(value, bytes):
        return value
    return format(value, "f").encode() if isinstance(value, Decimal) else str(value).encode()


def _iso(value: date | datetime) -> bytes:
    return (value.isoformat(sep=" ") if isinstance(value, datetime) else value.isoformat()).encode()


def _timestamp(value: Any, declared: LogicalType, zone: str | None) -> bytes | None:
    if not isinstance(value, datetime):
        return None
    if declared.root == "TIMESTAMP_LTZ" or zone is None:
        return _iso(value) + b"+00"
    from zoneinfo import ZoneInfo

    return _iso(value.replace(tzinfo=UTC).astimezone(ZoneInfo(zone)).replace(tzinfo=None))


def time_text(value: timedelta) -> str:
    """The text of a TIME."""
    sign, micros = ("-", -value) if value < timedelta() else ("", value)
    seconds = micros.days * 86_400 + micros.seconds
    text = f"{sign}{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"
    return f"{text}.{micros.microseconds:06d}" if micros.microseconds else text


def _array(words: list[str]) -> bytes:
    quoted = ['"' + word.replace("\\", "\\\\").replace('"', '\\"') + '"' for word in words]
    return ("{" + ",".join(quoted) + "}").encode()


def _json_text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)
