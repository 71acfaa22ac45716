"""Joins with a table as of a time.

Sources: ``StreamPhysicalTemporalJoinRule``, ``TemporalJoinRewriteWithUniqueKeyRule``, ``TemporalJoinUtil``.
"""

from __future__ import annotations

from ...plan.record import replace
from ...plan.rex import Call, InputRef, RexNode
from ...plan.types import BOOLEAN
from ..algebra.logical import Rel, TemporalJoin
from ..algebra.physical import VersionedJoin
from ..errors import PlanningError
from ..metadata.join_kinds import join_keys
from ..metadata.keys import unique_keys
from ..rex.expressions import TRUE, and_, conjunctions

CONDITION = "$__TEMPORAL_JOIN_CONDITION$1"


def temporal_join(rel: TemporalJoin, left: Rel, right: Rel) -> VersionedJoin:
    """The physical join.  Raises :class:`PlanningError` where the right side has no key or no time."""
    width = len(left.row_type.fields)
    time = rel.time
    if not isinstance(time, InputRef) or not left.row_type.fields[time.index].type.is_time_attribute:
        raise PlanningError("FOR SYSTEM_TIME AS OF takes a time attribute of the left table")
    time_type = left.row_type.fields[time.index].type
    if time_type.is_proctime:
        raise PlanningError(
            "a join with a table as of processing time cannot be planned",
            hint="Flink does not support it either; use an event-time column of the left table",
        )
    right_time = next((i for i, f in enumerate(right.row_type.fields) if f.type.is_rowtime), None)
    if right_time is None:
        raise PlanningError(
            "the versioned table has no event time", hint="declare a WATERMARK in the table on the right"
        )
    keys = join_keys(rel.condition, width)
    primary = [k for k in unique_keys(right) if k <= frozenset(keys.right)]
    if not primary:
        raise PlanningError(
            "the versioned table is not joined by its primary key",
            hint="declare a PRIMARY KEY in the table on the right, and compare all of it with =",
        )
    types = (*left.row_type.field_types, *right.row_type.field_types)

    def column(i: int) -> RexNode:
        return InputRef(i, types[i])

    def marker(name: str, columns: list[RexNode]) -> Call:
        return Call(f"$__TEMPORAL_JOIN_{name}$1", tuple(columns), BOOLEAN)

    key = sorted(primary[0])
    condition = Call(
        CONDITION,
        (
            column(time.index),
            column(right_time + width),
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
        right_time=right_time,
        row_type=rel.row_type,
    )
