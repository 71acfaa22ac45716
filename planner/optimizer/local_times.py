"""Constants that depend on the time zone of the session."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime

from ...plan.rex import Call, Literal, RexNode
from ..algebra import Filter, Project, Rel
from .evaluation import UnknownValue, format_moment, in_zone
from .rexes import cast, rewrite
from .tree import bottom_up

_FROM_UNIXTIME = "$FROM_UNIXTIME$1"
_PATTERN = "yyyy-MM-dd HH:mm:ss"


def fold_local_times(rel: Rel, config: Mapping[str, str]) -> Rel:
    """``FROM_UNIXTIME`` of literals becomes the text that it yields in ``table.local-time-zone``."""
    zone = config.get("table.local-time-zone", "UTC")

    def folded(rex: RexNode) -> RexNode:
        if not isinstance(rex, Call) or rex.name != _FROM_UNIXTIME:
            return rex
        try:
            text = _text(rex, zone)
        except (UnknownValue, OverflowError, ValueError):
            return rex
        return cast(Literal(text, rex.type.not_null()), rex.type)

    def change(rel: Rel) -> Rel:
        match rel:
            case Project():
                return replace(rel, exprs=tuple(rewrite(e, folded) for e in rel.exprs))
            case Filter():
                return replace(rel, condition=rewrite(rel.condition, folded))
        return rel

    return bottom_up(rel, change)


def _text(call: Call, zone: str) -> str:
    """Raises :class:`UnknownValue` for arguments that are no literals, and for patterns and zones not told here."""
    values = [o.value for o in call.operands if isinstance(o, Literal)]
    if len(values) < len(call.operands) or None in values:
        raise UnknownValue
    seconds, pattern = (*values, _PATTERN)[:2]
    moment = datetime.fromtimestamp(int(seconds), UTC).replace(tzinfo=None)
    return format_moment(in_zone(moment, zone), str(pattern))
