"""Durations, times and numbers of rows in messages."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

_EPOCH = datetime(1970, 1, 1)
_UNITS = ((86_400_000, "d"), (3_600_000, "h"), (60_000, "min"), (1_000, "s"))

END_OF_INPUT = "end of input"
"""The watermark behind all rows, as progress reports have it."""


def duration(ms: int) -> str:
    """``2 min 5 s``: the two largest units; less than a second in milliseconds."""
    if ms < 1000:
        return f"{ms} ms"
    parts = []
    for size, unit in _UNITS:
        if ms >= size:
            parts.append(f"{ms // size} {unit}")
            ms %= size
        elif parts:
            break
        if len(parts) == 2:
            break
    return " ".join(parts)


def moment(ms: int) -> str:
    """A time of a row or a watermark, without a time zone: ``2024-01-01 10:00:00``."""
    try:
        text = (_EPOCH + timedelta(milliseconds=ms)).isoformat(sep=" ", timespec="milliseconds")
    except OverflowError:
        return f"{ms} ms since 1970"
    return text.removesuffix(".000")


def milliseconds(watermark: str | None) -> int | None:
    """The time of a watermark as progress reports have it; ``None`` without one, and at the end of input."""
    if watermark is None or watermark == END_OF_INPUT:
        return None
    try:
        return round(datetime.fromisoformat(watermark).replace(tzinfo=UTC).timestamp() * 1000)
    except ValueError:
        return None


def rows(count: int, what: str = "row") -> str:
    """``1 row``, ``1,200 rows``."""
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def quoted(name: str) -> str:
    """A name as SQL has it."""
    return f"`{name}`"
