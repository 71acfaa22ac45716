"""Lookup joins.

Sources: ``CommonLookupJoinRule``, ``CommonPhysicalLookupJoin``, ``StreamPhysicalLookupJoin``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from ...plan.functions.cast import CAST
from ...plan.functions.comparison import EQ
from ...plan.rex import InputRef, Literal, RexNode
from ...plan.specs import ConstantLookupKey, FieldLookupKey, JoinType, LookupKey
from ...plan.types import LogicalType
from ..algebra.logical import Join, Snapshot
from ..algebra.lookups import LookupJoin
from ..algebra.physical import Calc, SourceScan
from ..algebra.rel import Rel
from ..algebra.scala_maps import listed, listed_mutable
from ..errors import Part, PlanningError
from ..metadata.join_kinds import JoinKeys, join_keys
from ..rex.expressions import and_, compare, conjunctions, is_call, refs
from ..rex.normal_forms import to_cnf


def lookup_join(rel: Join, left: Rel, right: Rel) -> LookupJoin:
    """The lookup join.  Raises :class:`PlanningError` where the right side is no plain, filtered or projected table."""
    assert isinstance(rel.right, Snapshot) and rel.right.lookup is not None
    calc, table = (right, right.input) if isinstance(right, Calc) else (None, right)
    if not isinstance(table, SourceScan):
        raise PlanningError(
            "as of processing time a table is looked up as it stands, or filtered and projected",
            hint="join FOR SYSTEM_TIME AS OF an event time, or without it",
            part=Part.TEMPORAL_JOIN,
        )
    joined = join_keys(rel.condition, left.width)
    if not all(joined.filter_nulls):
        raise PlanningError(
            "a table is not looked up by IS NOT DISTINCT FROM",
            hint="compare its columns with =, and filter NULL away",
            part=Part.TEMPORAL_JOIN,
        )
    keys = _lookup_keys(joined, calc, table.types)
    before, condition = _remaining(rel, joined, keys, left, right)
    return LookupJoin(
        input=left,
        kind=rel.type,
        table=table,
        calc=calc,
        keys=tuple(keys.items()),
        left_keys=joined.left,
        before=before,
        condition=condition,
        has_primary_key=_has_primary_key(table, calc, keys),
        hint=rel.right.lookup,
    )


def _has_primary_key(table: SourceScan, calc: Calc | None, keys: Collection[int]) -> bool:
    """Whether a lookup finds at most one row.  Flink knows a primary key only by columns that are joined unchanged."""
    primary = table.table.resolved.schema.primary_key
    joined = range(table.width) if calc is None else {_passed_on(e) for e in calc.projection}
    known = {table.names[i] for i in keys if i in joined}
    return primary is not None and known.issuperset(primary.columns)


def _lookup_keys(joined: JoinKeys, calc: Calc | None, types: tuple[LogicalType, ...]) -> dict[int, LookupKey]:
    """The lookup keys by table column: constants from the calc over the table, fields from the join."""
    constants = dict(_constants(calc))
    keys: dict[int, LookupKey] = {
        column: ConstantLookupKey(types[column], constants[column]) for column in listed_mutable(constants, int)
    }
    for ours, theirs in zip(joined.left, joined.right, strict=True):
        column_of_table = theirs if calc is None else _passed_on(calc.projection[theirs])
        if column_of_table is not None:
            keys[column_of_table] = FieldLookupKey(ours)
    return {column: keys[column] for column in listed(keys)}


def _constants(calc: Calc | None) -> Iterator[tuple[int, Literal]]:
    """The columns that a calc's condition compares with constants."""
    condition = calc.condition if calc else None
    for part in conjunctions(None if condition is None else to_cnf(condition)):
        if is_call(part, EQ):
            one, other = part.operands
            if isinstance(one, Literal):
                one, other = other, one
            if isinstance(one, InputRef) and isinstance(other, Literal):
                yield one.index, other


def _passed_on(rex: RexNode) -> int | None:
    """The column that an expression is; ``None`` if it computes something."""
    while is_call(rex, CAST) and rex.type.nullable_() == rex.operands[0].type.nullable_():
        rex = rex.operands[0]
    return rex.index if isinstance(rex, InputRef) else None


def _remaining(
    rel: Join, joined: JoinKeys, keys: dict[int, LookupKey], left: Rel, right: Rel
) -> tuple[RexNode | None, RexNode | None]:
    """The condition before the lookup, and the one on the joined rows.

    Only an outer join has the former; that of an inner join filters the left side.
    """
    width = left.width
    asked = {key.index for key in keys.values() if isinstance(key, FieldLookupKey)}
    equal = [
        compare(EQ, InputRef(ours, left.types[ours]), InputRef(width + theirs, rel.types[width + theirs]))
        for ours, theirs in zip(joined.left, joined.right, strict=True)
        if ours not in asked
    ]
    rest = [*equal, *joined.rest]
    before = [part for part in rest if rel.type is JoinType.LEFT and all(i < width for i in refs(part))]
    after = [part for part in rest if part not in before]
    return and_(before) if before else None, and_(after) if after else None
