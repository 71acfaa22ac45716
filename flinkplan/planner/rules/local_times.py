"""Constants that depend on the time zone of the session."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

from ...plan.functions import Function, called
from ...plan.functions.cast import CAST, TRY_CAST
from ...plan.functions.temporal import FROM_UNIXTIME
from ...plan.record import replace
from ...plan.rex import Call, Literal, RexNode
from ...plan.settings import LOCAL_TIME_ZONE
from ...plan.types import CHARACTER
from ..algebra.logical import Filter, Project, Rel
from ..rex.builder import null
from ..rex.evaluation.registry import UnknownValue
from ..rex.evaluation.time_texts import moment_text, read_timestamp
from ..rex.evaluation.times import format_moment, in_zone, of_zone, parse_moment
from ..rex.expressions import cast, rewrite
from .rule import Config, rule

_PATTERN = "yyyy-MM-dd HH:mm:ss"
_LOCAL = (*CHARACTER, "DATE", "TIMESTAMP")
"""The types whose values are read by the local clock."""


@rule(on=(Project, Filter), configured=True)
def fold_local_times(rel: Project | Filter, config: Config) -> Rel:
    """What literals say by the clock of ``table.local-time-zone``.

    ``FROM_UNIXTIME`` becomes the text that it yields, the cast of a text or a moment to TIMESTAMP_LTZ the instant.
    """
    zone = config.get(LOCAL_TIME_ZONE, "UTC")

    def folded(rex: RexNode) -> RexNode:
        rule = _RULES.get(called(rex))
        if rule is None or not isinstance(rex, Call):
            return rex
        try:
            text = rule(rex, zone)
        except (UnknownValue, OverflowError, ValueError):
            return rex
        return null(rex.type) if text is None else cast(Literal(text, rex.type.not_null()), rex.type)

    if isinstance(rel, Project):
        return replace(rel, exprs=tuple(rewrite(e, folded) for e in rel.exprs))
    return replace(rel, condition=rewrite(rel.condition, folded))


def _local_text(call: Call, zone: str) -> str:
    """Raises :class:`UnknownValue` for arguments that are no literals, and for patterns and zones not told here."""
    values = [o.value for o in call.operands if isinstance(o, Literal)]
    if len(values) < len(call.operands) or None in values:
        raise UnknownValue
    seconds, pattern = (*values, _PATTERN)[:2]
    moment = datetime.fromtimestamp(int(seconds), UTC).replace(tzinfo=None)
    return format_moment(in_zone(moment, zone), str(pattern))


def _instant(call: Call, zone: str) -> str:
    """Raises :class:`UnknownValue` for other casts, for texts that fail, and for zones not told here."""
    instant = _instant_or_null(call, zone)
    if instant is None:
        raise UnknownValue
    return instant


def _instant_or_null(call: Call, zone: str) -> str | None:
    """Raises :class:`UnknownValue` for other casts, and for texts and zones not told here."""
    (operand,) = call.operands
    if call.type.root != "TIMESTAMP_LTZ" or not isinstance(operand, Literal) or operand.type.root not in _LOCAL:
        raise UnknownValue
    read = read_timestamp if operand.type.root in CHARACTER else parse_moment
    local = read(str(operand.value))
    return None if local is None else moment_text(of_zone(local, zone), call.type)


_RULES: dict[Function | None, Callable[[Call, str], str | None]] = {
    FROM_UNIXTIME: _local_text,
    CAST: _instant,
    TRY_CAST: _instant_or_null,
}
