"""Durations as Flink reads and writes them: state TTLs (``1 h``) and window sizes (``PT1H``).

All values are whole milliseconds unless said otherwise.
"""

from __future__ import annotations

import json
import re

from .errors import FlinkplanError
from .printable import shortened

_UNITS_MS: dict[str, float] = {}
for _names, _ms in (
    (("d", "day", "days"), 86_400_000),
    (("h", "hour", "hours"), 3_600_000),
    (("m", "min", "minute", "minutes"), 60_000),
    (("s", "sec", "secs", "second", "seconds"), 1_000),
    (("", "ms", "milli", "millis", "millisecond", "milliseconds"), 1),
    (("µs", "micro", "micros", "microsecond", "microseconds"), 1e-3),
    (("ns", "nano", "nanos", "nanosecond", "nanoseconds"), 1e-6),
):
    _UNITS_MS.update(dict.fromkeys(_names, _ms))

_LABELS = ((86_400_000, "d"), (3_600_000, "h"), (60_000, "min"), (1_000, "s"))
_MAX_MS = 2**63 - 1
_SIMPLE = re.compile(r"([0-9]+)[\0- ]*([^\W\d_]*)")
_ISO = re.compile(
    r"(?P<sign>[+-]?)P(?:(?P<d>[+-]?\d+)D)?"
    r"(?:T(?:(?P<h>[+-]?\d+)H)?(?:(?P<m>[+-]?\d+)M)?(?:(?P<s>[+-]?\d+)(?:\.(?P<f>\d{1,9}))?S)?)?",
    re.IGNORECASE | re.ASCII,
)
_BLANK = "".join(map(chr, range(33)))
"""The characters that Java's ``trim`` removes."""
_MOST_DIGITS = 40
"""More digits than any duration in range has, even in nanoseconds and with a few leading zeros."""


class DurationError(FlinkplanError):
    """A duration that Flink would refuse."""

    exit_code = 3


def parse_duration(text: str | int) -> int:
    """Milliseconds of a Flink duration: ``1 h``, ``3600000ms``, ``3600000``, ``2 days``, ``P1D`` or a number.

    Follows ``TimeUtils.parseDuration``.  Raises :class:`DurationError` for what Flink refuses: a
    negative, fractional or compound value, an unknown unit, an empty text, an overflow.
    """
    if isinstance(text, bool) or not isinstance(text, (int, str)):
        raise DurationError(f"a duration is a text such as '1 h', not {json.dumps(text):.40}")
    if isinstance(text, int):
        text = str(text)
    trimmed = text.strip(_BLANK)
    if re.search(rf"\d{{{_MOST_DIGITS + 1}}}", trimmed):
        raise DurationError(f"'{shortened(trimmed)}' is a number of too many digits for a duration")
    match = _SIMPLE.fullmatch(trimmed)
    if match:
        number, unit = int(match[1]), match[2].lower()
        factor = _UNITS_MS.get(unit)
        if factor is None:
            raise DurationError(
                f"'{shortened(text)}' has the unknown time unit '{shortened(match[2])}'",
                hint="use d, h, min, s, ms, µs or ns, for example '1 h' or '3600000 ms'",
            )
        millis = number * int(factor) if factor >= 1 else number // round(1 / factor)
        return _within_range(millis, text)
    if trimmed[:1].upper() == "P":
        return _within_range(parse_iso_duration(trimmed), text)
    raise DurationError(f"'{shortened(text)}' is not a duration", hint=_fix_hint(trimmed))


def _within_range(millis: int, text: str) -> int:
    if millis < 0:
        raise DurationError(f"'{text}' is negative", hint="write 0 ms for a state that never expires")
    if millis > _MAX_MS:
        raise DurationError(f"'{text}' is longer than 2^63-1 ms", hint="write 0 ms for a state that never expires")
    return millis


def _fix_hint(text: str) -> str:
    if not text:
        return "write 0 ms for a state that never expires"
    if text.startswith("-"):
        return "a duration cannot be negative; write 0 ms for a state that never expires"
    if not text.isascii() and re.match(r"\d", text) and not re.match(r"[0-9]", text):
        return "write the digits 0 to 9, for example '1 h'"
    if re.match(r"\d+[.,]\d+", text):
        return "write a whole number in a smaller unit: '90 min' instead of '1.5 h'"
    if re.fullmatch(r"(\d+\s*[^\W\d_]+\s*){2,}", text):
        return "write one number with one unit: '90 min' instead of '1h 30min'"
    return "write a whole number and a unit, for example '1 h' or '3600000 ms'"


def format_duration(millis: int) -> str:
    """The text that Flink writes: in the largest unit that divides the value, ``0 ms`` for zero."""
    if millis == 0:
        return "0 ms"
    for factor, label in _LABELS:
        if millis % factor == 0:
            return f"{millis // factor} {label}"
    return f"{millis} ms"


def parse_iso_duration(text: str) -> int:
    """Milliseconds of an ISO-8601 duration as ``java.time.Duration`` prints it: ``PT10M``, ``PT-6M``, ``PT0.5S``."""
    match = _ISO.fullmatch(text)
    if not match or not any(match[g] for g in "dhms"):
        raise DurationError(f"'{shortened(text)}' is not an ISO-8601 duration", hint="for example PT10M or P1D")
    seconds = sum(int(match[g] or 0) * factor for g, factor in (("d", 86_400), ("h", 3_600), ("m", 60), ("s", 1)))
    fraction = int((match["f"] or "").ljust(9, "0")[:9] or 0) // 1_000_000
    millis = seconds * 1_000 + (-fraction if (match["s"] or "").startswith("-") else fraction)
    return -millis if match["sign"] == "-" else millis


def format_iso_duration(millis: int) -> str:
    """``java.time.Duration.ofMillis(millis).toString()``: hours are the highest unit, zero is ``PT0S``."""
    if millis == 0:
        return "PT0S"
    seconds, fraction = abs(millis) // 1_000, abs(millis) % 1_000
    sign = "-" if millis < 0 else ""
    hours, minutes, rest = seconds // 3_600, seconds % 3_600 // 60, seconds % 60
    text = "PT" + (f"{sign}{hours}H" if hours else "") + (f"{sign}{minutes}M" if minutes else "")
    if rest or fraction:
        text += f"{sign}{rest}" + (f".{fraction:03d}".rstrip("0") if fraction else "") + "S"
    return text
