"""Options: what one is, and what its values can be.  Each is declared once, with its type and what it does.

Sources: Flink's ``ConfigOption`` and, for how values are read, ``ConfigurationUtils``.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterable

from .durations import parse_duration
from .errors import FlinkplanError
from .printable import shortened
from .record import Record, replace


class OptionType(Record):
    """The type of an option's values: its name for people, and the reader that gives the value of a text.

    Readers raise :class:`FlinkplanError` that says what the value has to be.
    """

    name: str
    read: Callable[[str], object]


class Option(Record):
    """An option: ``default`` is what holds where it is not set, ``None`` that then nothing does.

    In the key of a table's option ``#`` stands for a column's name, and ``*`` at its end for all that no other option
    of the declaration names; ``listed`` are those of them that are known one by one.  ``executed`` says whether it does
    something when a plan is executed here; where not, it is still compiled into the plan, and Flink obeys it.
    ``refused`` says why a plan with it is not executed here at all; ``by_user``: it is executed only where the value is
    a variable, which the user sets.  ``passed_as`` is what Spark, or the client of a broker, calls an option that is
    handed on to it under another name.
    """

    key: str
    type: OptionType
    default: str | None
    meaning: str
    required: bool = False
    executed: bool = True
    refused: str | None = None
    by_user: bool = False
    passed_as: str | None = None
    listed: tuple[Option, ...] = ()

    @property
    def is_executed(self) -> bool:
        """Whether it does something here."""
        return self.executed and self.refused is None

    def check(self, value: str) -> None:
        """Raise :class:`FlinkplanError` for a value that the option cannot have."""
        try:
            self.type.read(value)
        except FlinkplanError as error:
            message = f"'{shortened(value)}' is no value of {self.key}: {error.message}"
            raise FlinkplanError(message, hint=error.hint) from None


def named(option: Option, key: str) -> Option:
    """The option as a table spells it: with its format's name in front, or a column's in the middle."""
    return option if option.key == key else replace(option, key=key)


def option_of(key: str, declared: Iterable[Option]) -> Option | None:
    """The option that a key is of: the one of this name, also among those listed, else what stands for all others."""
    others = None
    for option in declared:
        if option.key == key:
            return option
        if option.key.endswith("*") and key.startswith(option.key[:-1]):
            others = option_of(key, option.listed) or option
    return others


# ---------------------------------------------------------------- types


def _text(value: str) -> str:
    return value


def _boolean(value: str) -> bool:
    lowered = value.strip().lower()
    if lowered not in ("true", "false"):
        raise FlinkplanError("it is true or false")
    return lowered == "true"


def _whole(value: str) -> int:
    if not re.fullmatch(r"[+-]?[0-9]{1,19}", value.strip()):
        raise FlinkplanError("it is a whole number")
    return int(value)


def _positive(value: str) -> int:
    if _whole(value) < 1:
        raise FlinkplanError("it is 1 or more")
    return int(value)


def _number(value: str) -> float:
    try:
        return float(value)
    except ValueError:
        raise FlinkplanError("it is a number") from None


_UNITS = ("", "b", "bytes", "k", "kb", "kibibytes", "m", "mb", "mebibytes", "g", "gb", "gibibytes", "t", "tb")


def _memory(value: str) -> str:
    match = re.fullmatch(r"[0-9]{1,19}\s*([A-Za-z]*)", value.strip())
    if match is None or match[1].lower() not in (*_UNITS, "tebibytes"):
        raise FlinkplanError("it is a size such as 128 mb")
    return value


_OF_JAVA_ALONE = re.compile(r"(x-|IBM|windows-|CESU|COMPOUND_TEXT|JIS_)", re.IGNORECASE)


def _charset(value: str) -> str:
    """Those charsets that Python does not know are told by how Java begins them."""
    try:
        codecs.lookup(value)
    except LookupError:
        if not _OF_JAVA_ALONE.match(value):
            raise FlinkplanError("there is no such charset", hint="it is UTF-8, ISO-8859-1, UTF-16LE …") from None
    return value


def _character(value: str) -> str:
    if len(value) != 1:
        raise FlinkplanError("it is a single character")
    return value


def _escaped_character(value: str) -> str:
    if not re.fullmatch(r"[^\\]|\\(u+[0-9A-Fa-f]{4}|[0-7]{1,3}|[^0-7u])|\\", value, re.DOTALL):
        raise FlinkplanError(r"it is a single character, or an escape such as \t")
    return value


def is_time_zone(value: str) -> bool:
    """Whether Java's ``ZoneId.of`` takes a text: the name of a region, or an offset."""
    from zoneinfo import ZoneInfo

    if re.fullmatch(r"(UTC|GMT|UT)?[+-]\d{1,2}(:\d\d(:\d\d)?)?|(UTC|GMT|UT)?[+-]\d{4}(\d\d)?|UTC|GMT|UT|Z", value):
        return True
    try:
        ZoneInfo(value)
    except (ValueError, OSError, KeyError):
        return False
    return True


def _time_zone(value: str) -> str:
    if value != "default" and not (is_time_zone(value) and (value[0] not in "+-Z" or "/" in value)):
        raise FlinkplanError("it is a time zone such as America/Los_Angeles, GMT+03:00 or UTC")
    return value


TEXT = OptionType("text", _text)
BOOLEAN = OptionType("boolean", _boolean)
WHOLE = OptionType("whole number", _whole)
POSITIVE = OptionType("whole number from 1 on", _positive)
NUMBER = OptionType("number", _number)
DURATION = OptionType("duration", parse_duration)
MEMORY = OptionType("size", _memory)
CHARSET = OptionType("charset", _charset)
CHARACTER = OptionType("character", _character)
ESCAPED_CHARACTER = OptionType("character or escape", _escaped_character)
TIME_ZONE = OptionType("time zone", _time_zone)


def one_of(*values: str) -> OptionType:
    """One of some words, in any case; it is read as it stands here."""

    def read(value: str) -> str:
        if value.upper() not in values:
            raise FlinkplanError(f"it is {_either(values)}")
        return value.upper()

    return OptionType(", ".join(values), read)


def exactly_one_of(*values: str) -> OptionType:
    """One of some words as they are written."""

    def read(value: str) -> str:
        if value not in values:
            raise FlinkplanError(f"it is {_either(values)}")
        return value

    return OptionType(", ".join(values), read)


def _either(values: tuple[str, ...]) -> str:
    return f"{', '.join(values[:-1])} or {values[-1]}" if len(values) > 1 else values[0]


def is_true(value: str | None) -> bool:
    """Whether an option of type boolean is on; one that is not set is off."""
    return value is not None and value.strip().lower() == "true"
