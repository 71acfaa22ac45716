"""Casts; the target is the type of the call."""

from __future__ import annotations

from ..types import BINARY_STRING, CHARACTER, DATETIME, NUMERIC, TIMESTAMPS, LogicalType
from .model import SPECIAL, LocalTime, Pushing, Style
from .registry import declare
from .rules import argument, signature

CAST = declare(
    "CAST",
    signature("ANY"),
    argument(0),
    syntax=SPECIAL,
    named=False,
    strict=True,
    states_target_type=True,
    style=Style.CAST,
)
TRY_CAST = declare(
    "TRY_CAST",
    signature("ANY"),
    argument(0),
    syntax=SPECIAL,
    named=False,
    states_target_type=True,
    pushing=Pushing.BY_ANOTHER,
    style=Style.CAST,
)
REINTERPRET = declare(
    "REINTERPRET",
    (signature("ANY"), signature("ANY", "ANY")),
    argument(0),
    syntax=SPECIAL,
    named=False,
    strict=True,
    states_target_type=True,
    pushing=Pushing.NEVER,
    local_time=LocalTime.NEVER,
    printed="Reinterpret",
)

_WITHOUT_A_RULE: tuple[tuple[tuple[str, ...], tuple[str, ...], str | None], ...] = (
    (
        NUMERIC,
        TIMESTAMPS,
        "use TO_TIMESTAMP_LTZ(n, 0) for seconds or TO_TIMESTAMP_LTZ(n, 3) for milliseconds of the epoch",
    ),
    (TIMESTAMPS, NUMERIC, "use UNIX_TIMESTAMP(CAST(ts AS STRING)), or EXTRACT for a part of it"),
    (CHARACTER, ("ARRAY",), "use SPLIT(text, delimiter) for an array of texts"),
    (BINARY_STRING, DATETIME, "CAST the bytes to STRING first"),
)
"""The sources and targets of casts that Flink compiles but whose jobs fail for lack of a cast rule, and an
alternative.
"""


def cast_without_rule(source: LogicalType, target: LogicalType) -> tuple[LogicalType, LogicalType] | None:
    """The types, or parts of them, whose cast compiles but never runs; ``None`` if the cast runs."""
    if any(source.root in sources and target.root in targets for sources, targets, _ in _WITHOUT_A_RULE):
        return source, target
    inner = zip(source.children or source.field_types, target.children or target.field_types, strict=False)
    return next((types for s, t in inner if (types := cast_without_rule(s, t))), None)


def cast_alternative(source: LogicalType, target: LogicalType) -> str | None:
    """What to write instead of a cast that never runs; ``None`` if there is no alternative."""
    hints = (hint for sources, targets, hint in _WITHOUT_A_RULE if source.root in sources and target.root in targets)
    return next(hints, None)
