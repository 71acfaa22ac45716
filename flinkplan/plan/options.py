"""Options: each is declared once, with its type, its default and its meaning.

Sources: Flink's ``ConfigOption``, and ``ConfigurationUtils`` for how values are read.
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
    """The type of an option's values: its name in messages, and the reader that parses a text.

    A reader raises :class:`FlinkplanError`, whose message says what the value must be.
    """

    name: str
    read: Callable[[str], object]


class Option(Record):
    """An option; ``default`` is ``None`` if it has no default.

    In the key of a table's option ``#`` stands for a column's name, and ``*`` at the end for all keys that no other
    option of the declaration names; ``listed`` are those of them that are known individually.  ``executed`` says
    whether the option has an effect when flinkplan executes a plan; if not, it is still compiled into the plan for
    Flink. ``refused`` says why flinkplan does not execute a plan with the option.  With ``by_user`` it is executed only
    if its value is a variable, which the user sets.  ``passed_as`` is the option's name in Spark or in the broker's
    client, if it is passed on under another name.
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
        """Whether it has an effect when flinkplan executes a plan."""
        return self.executed and self.refused is None

    def check(self, value: str) -> None:
        """Raise :class:`FlinkplanError` for an invalid value."""
        try:
            self.type.read(value)
        except FlinkplanError as error:
            message = f"'{shortened(value)}' is no value of {self.key}: {error.message}"
            raise FlinkplanError(message, hint=error.hint) from None


def named(option: Option, key: str) -> Option:
    """The option with the key that a table uses: prefixed by the format's name, or with a column's name inserted."""
    return option if option.key == key else replace(option, key=key)


def option_of(key: str, declared: Iterable[Option]) -> Option | None:
    """The option that declares a key: the one of this name, or one whose key matches by ``#``, or ends with ``*``."""
    wildcard = None
    for option in declared:
        before, is_of_column, behind = option.key.partition("#")
        if option.key == key or (is_of_column and key.startswith(before) and key.endswith(behind)):
            return option
        if option.key.endswith("*") and key.startswith(option.key[:-1]):
            wildcard = option_of(key, option.listed) or option
    return wildcard


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


_UNITS = (
    ("b", "bytes"),
    ("k", "kb", "kibibytes"),
    ("m", "mb", "mebibytes"),
    ("g", "gb", "gibibytes"),
    (*("t", "tb", "tebibytes"),),
)


def parse_size(value: str) -> int:
    """The bytes of a size as Flink's ``MemorySize`` reads it.  Raises :class:`FlinkplanError` for other texts."""
    match = re.fullmatch(r"([0-9]{1,19})\s*([A-Za-z]*)", value.strip())
    powers = {"": 0} | {name: power for power, names in enumerate(_UNITS) for name in names}
    if match is None or match[2].lower() not in powers:
        raise FlinkplanError("it is a size such as 128 mb")
    return int(match[1]) << 10 * powers[match[2].lower()]


_OF_JAVA_ALONE = re.compile(r"(x-|IBM|windows-|CESU|COMPOUND_TEXT|JIS_)", re.IGNORECASE)


def _charset(value: str) -> str:
    """Charsets that Python does not know are recognized by the prefixes that Java uses."""
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
    """Whether Java's ``ZoneId.of`` accepts a text: the name of a region, or an offset."""
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


def _zone_name(value: str) -> str:
    if not is_time_zone(value):
        raise FlinkplanError("it is a time zone such as America/Los_Angeles or UTC")
    return value


TEXT = OptionType("text", _text)
BOOLEAN = OptionType("boolean", _boolean)
WHOLE = OptionType("whole number", _whole)
POSITIVE = OptionType("whole number from 1 on", _positive)
NUMBER = OptionType("number", _number)
DURATION = OptionType("duration", parse_duration)
MEMORY = OptionType("size", parse_size)
CHARSET = OptionType("charset", _charset)
CHARACTER = OptionType("character", _character)
ESCAPED_CHARACTER = OptionType("character or escape", _escaped_character)
TIME_ZONE = OptionType("time zone", _time_zone)
TIME_ZONE_NAME = OptionType("time zone", _zone_name)


def one_of(*values: str) -> OptionType:
    """One of these words, in upper or lower case; it is read in upper case."""

    def read(value: str) -> str:
        if value.upper() not in values:
            raise FlinkplanError(f"it is {_either(values)}")
        return value.upper()

    return OptionType(", ".join(values), read)


def several_of(*values: str) -> OptionType:
    """Any of these words, separated by semicolons; they are read as a tuple."""

    def read(value: str) -> tuple[str, ...]:
        words = tuple(word.strip().upper() for word in value.split(";") if word.strip())
        if not set(words) <= set(values):
            raise FlinkplanError(f"it is a list of {_either(values)}, separated by semicolons")
        return words

    return OptionType(f"list of {', '.join(values)}", read)


def exactly_one_of(*values: str) -> OptionType:
    """One of these words, exactly as they are written."""

    def read(value: str) -> str:
        if value not in values:
            raise FlinkplanError(f"it is {_either(values)}")
        return value

    return OptionType(", ".join(values), read)


def _either(values: tuple[str, ...]) -> str:
    return f"{', '.join(values[:-1])} or {values[-1]}" if len(values) > 1 else values[0]


def is_true(value: str | None) -> bool:
    """Whether a boolean option is true; it is false if it is not set."""
    return value is not None and value.strip().lower() == "true"
