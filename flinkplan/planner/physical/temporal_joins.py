"""Temporal joins: FOR SYSTEM_TIME AS OF.

Sources: ``StreamPhysicalTemporalJoinRule``, ``TemporalJoinRewriteWithUniqueKeyRule``, ``TemporalJoinUtil``.
"""

from __future__ import annotations

from ...plan.record import replace
from ...plan.rex import Call, InputRef, RexNode, internal_name
from ...plan.types import BOOLEAN, LogicalType
from ..algebra.logical import TemporalJoin
from ..algebra.physical import VersionedJoin
from ..algebra.rel import Rel
from ..errors import Part, PlanningError
from ..metadata.join_kinds import join_keys
from ..metadata.keys import unique_keys
from ..rex.expressions import TRUE, and_, conjunctions

CONDITION = internal_name("__TEMPORAL_JOIN_CONDITION")


def temporal_join(rel: TemporalJoin, left: Rel, right: Rel) -> VersionedJoin:
    """The physical join.  Raises :class:`PlanningError` where the right side has no key or no time.

    Flink also plans processing-time temporal joins, but refuses to run them.
    """
    width = left.width
    time = rel.time
    if not isinstance(time, InputRef) or not left.types[time.index].is_time_attribute:
        raise PlanningError("FOR SYSTEM_TIME AS OF takes a time attribute of the left table", part=Part.TEMPORAL_JOIN)
    time_type = left.types[time.index]
    right_time = None if time_type.is_proctime else _event_time(time_type, right)
    keys = join_keys(rel.condition, width)
    primary = [k for k in unique_keys(right) if k <= frozenset(keys.right)]
    if not primary:
        raise PlanningError(
            "the versioned table is not joined by its primary key",
            hint="declare a PRIMARY KEY in the table on the right, and compare all of it with =",
            part=Part.TEMPORAL_JOIN,
        )
    types = (*left.types, *right.types)

    def column(i: int) -> RexNode:
        return InputRef(i, types[i])

    def marker(name: str, columns: list[RexNode]) -> Call:
        return Call(internal_name(f"__TEMPORAL_JOIN_{name}"), tuple(columns), BOOLEAN)

    key = sorted(primary[0])
    condition = Call(
        CONDITION,
        (
            column(time.index),
            *(() if right_time is None else (column(right_time + width),)),
            marker("CONDITION_PRIMARY_KEY", [column(k + width) for k in key]),
            marker("LEFT_KEY", [column(k) for k in keys.left]),
            marker("RIGHT_KEY", [column(k + width) for k in keys.right]),
        ),
        BOOLEAN,
    )
    return VersionedJoin(
        left=left,
        right=right,
        condition=and_([*conjunctions(rel.condition), condition]),
        spec=replace(keys, rest=(*keys.rest, TRUE) if keys.rest else ()).spec(rel.type),
        left_time=time.index,
        right_time=-1 if right_time is None else right_time,
    )


def _event_time(left: LogicalType, right: Rel) -> int:
    index = next((i for i, t in enumerate(right.types) if t.is_rowtime), None)
    if index is None:
        raise PlanningError(
            "the versioned table has no event time",
            hint="declare a WATERMARK in the table on the right",
            part=Part.TEMPORAL_JOIN,
        )
    other = right.types[index]
    if left.root != other.root:
        raise PlanningError(
            f"the event time of the left side is {left.regular()}, that of the versioned table is {other.regular()}",
            hint="give both the same type",
            part=Part.TEMPORAL_JOIN,
        )
    return index
