"""Constants that depend on the time zone of the session."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from ...plan.functions import called
from ...plan.functions.arithmetic import CEIL, FLOOR
from ...plan.functions.cast import CAST, TRY_CAST
from ...plan.functions.temporal import DATE_FORMAT, EXTRACT, FROM_UNIXTIME
from ...plan.record import replace
from ...plan.rex import Call, Literal, RexNode
from ...plan.settings import LOCAL_TIME_ZONE
from ...plan.types import LogicalType
from ..algebra.logical import Filter, Project
from ..algebra.rel import Rel
from ..rex.builder import null
from ..rex.evaluation import EVALUATORS
from ..rex.evaluation.registry import UnknownValue
from ..rex.evaluation.time_texts import moment_text
from ..rex.evaluation.times import format_moment, in_zone, parse_moment, zone_to_utc
from ..rex.expressions import COMPARISONS, cast, refs, rewrite
from ..rex.folding import fold
from ..rex.simplify import simplify
from ..rex.value_rules import without_null
from .rule import Config, rule

_PATTERN = "yyyy-MM-dd HH:mm:ss"
_EPOCH_DAY = "1970-01-01"
_BY_THE_CLOCK = (CAST, TRY_CAST, DATE_FORMAT, EXTRACT, FLOOR, CEIL)
"""Functions that convert between TIMESTAMP_LTZ and local time of the session."""


@rule(on=(Project, Filter), configured=True)
def fold_local_times(rel: Project | Filter, config: Config) -> Rel:
    """Fold constants that depend on ``table.local-time-zone``.

    ``FROM_UNIXTIME`` becomes the text that it yields, the cast of a text or a moment to TIMESTAMP_LTZ the instant, and
    what reads the wall clock of an instant what it reads there.
    """
    zone = config.get(LOCAL_TIME_ZONE, "UTC")

    def folded(rex: RexNode) -> RexNode:
        if not isinstance(rex, Call) or not _tells_local_time(rex) or refs(rex):
            return rex
        call = replace(rex, operands=tuple(without_null(simplify(o)) for o in rex.operands))
        try:
            if called(call) in COMPARISONS:
                return fold(_with_common_type(call, zone))
            text = _local_text(call, zone) if called(call) is FROM_UNIXTIME else _by_the_clock(call, zone)
        except (UnknownValue, ArithmeticError, ValueError):
            return rex
        t = rex.type.regular()  # a constant is no time attribute, though it is compared with one
        return null(t) if text is None else cast(Literal(text, t.not_null()), t)

    if isinstance(rel, Project):
        return replace(rel, exprs=tuple(rewrite(e, folded) for e in rel.exprs))
    return replace(rel, condition=rewrite(rel.condition, folded))


def _tells_local_time(call: Call) -> bool:
    function = called(call)
    if function is FROM_UNIXTIME:
        return True
    if function in COMPARISONS:
        return {o.type.root for o in call.operands} == {"TIMESTAMP", "TIMESTAMP_LTZ"}
    types = (call.type, *(o.type for o in call.operands))
    instants = [t.root == "TIMESTAMP_LTZ" for t in types]
    return function in _BY_THE_CLOCK and any(instants) and not (function in (CAST, TRY_CAST) and all(instants))


def _values(call: Call) -> list[Literal]:
    """Raises :class:`UnknownValue` for arguments that are no literals, or NULL."""
    literals = [o for o in call.operands if isinstance(o, Literal) and o.value is not None]
    if len(literals) < len(call.operands):
        raise UnknownValue
    return literals


def _local_text(call: Call, zone: str) -> str:
    """Raises :class:`UnknownValue` for arguments that are no literals, and for patterns and zones not told here."""
    seconds, pattern = (*(literal.value for literal in _values(call)), _PATTERN)[:2]
    moment = datetime.fromtimestamp(int(seconds), UTC).replace(tzinfo=None)
    return format_moment(in_zone(moment, zone), str(pattern))


def _by_the_clock(call: Call, zone: str) -> Any:
    """The value of a call, computed in local time; ``None`` for NULL.

    Raises :class:`UnknownValue` for arguments that are no literals, and for patterns, texts and zones not told here.
    """
    operands = tuple(_wall_clock(literal, zone) for literal in _values(call))
    function = called(call)
    assert function is not None
    value = EVALUATORS[function.name](replace(call, operands=operands, type=_without_zone(call.type)), *operands)
    if value is None or call.type.root != "TIMESTAMP_LTZ":
        return value
    local = parse_moment(value)
    if function not in (FLOOR, CEIL):
        return moment_text(zone_to_utc(local, zone), call.type)
    # back by the offset of the instant itself, also where the rounded one has another
    offset = parse_moment(operands[0].value) - parse_moment(_values(call)[0].value)
    return moment_text(local - offset, call.type)


def _with_common_type(call: Call, zone: str) -> Call:
    """A comparison of literals with the left one as instant or local time, whichever the right one is, as in Flink."""
    left, right = _values(call)
    if left.type.root == "TIMESTAMP_LTZ":
        return replace(call, operands=(_wall_clock(left, zone), right))
    instant = replace(left.type, root="TIMESTAMP_LTZ")
    text = moment_text(zone_to_utc(parse_moment(left.value), zone), instant)
    return replace(call, operands=(Literal(text, instant), right))


def _wall_clock(literal: Literal, zone: str) -> Literal:
    """The local time of a literal in the zone, as a literal without a zone."""
    if literal.type.root == "TIME":
        return Literal(f"{_EPOCH_DAY} {literal.value}", LogicalType("TIMESTAMP", nullable=False, precision=3))
    if literal.type.root != "TIMESTAMP_LTZ":
        return literal
    local = _without_zone(literal.type)
    return Literal(moment_text(in_zone(parse_moment(literal.value), zone), local), local)


def _without_zone(t: LogicalType) -> LogicalType:
    return replace(t, root="TIMESTAMP") if t.root == "TIMESTAMP_LTZ" else t
