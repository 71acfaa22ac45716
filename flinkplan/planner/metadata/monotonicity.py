"""Whether the columns of a relation grow, shrink or stay when its rows are updated.

Source: ``FlinkRelMdModifiedMonotonicity``.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...plan.functions import Direction, aggregation_of, called
from ...plan.functions.aggregate import COUNT
from ...plan.functions.cast import CAST
from ...plan.functions.comparison import (
    AND,
    EQ,
    GE,
    GT,
    IS_NOT_NULL,
    IS_NOT_TRUE,
    IS_NULL,
    IS_TRUE,
    LE,
    LT,
    NE,
    NOT,
    OR,
    SEARCH,
)
from ...plan.functions.conditional import ALIAS
from ...plan.functions.user import PythonFunction
from ...plan.record import cached_on_record
from ...plan.rex import Call, InputRef, RexNode
from ...plan.specs import AggregateCall, ConstantRankRange, JoinType
from ..algebra import physical as p
from ..algebra.calls import is_call_of
from ..algebra.dispatch import Dispatch
from ..algebra.rel import Rel
from ..algebra.traits import ConstantColumns, UnknownDirections
from ..connectors import source_kinds
from ..rex.expressions import is_call
from .column_bounds import argument_bounds
from .modify_kinds import INSERT_ONLY

CONSTANT, INCREASING, DECREASING, NOT_MONOTONIC = "CONSTANT", "INCREASING", "DECREASING", "NOT_MONOTONIC"
Directions = tuple[str, ...]


@cached_on_record
def monotonicity(rel: Rel) -> Directions | None:
    """The direction of each column; ``None`` where rows may also be deleted, or nothing is known."""
    rule = _RULES.get(rel)
    return rule(rel) if rule else None


def call_retractions(rel: Rel, calls: Sequence[AggregateCall], retracts: bool) -> tuple[bool, ...]:
    """Which calls need retraction; MAX of a growing column does not.  Source: ``deriveAggCallNeedRetractions``."""
    directions = monotonicity(rel) if retracts else None
    grown = directions[len(directions) - len(calls) :] if directions else ()

    def needed(i: int, call: AggregateCall) -> bool:
        known = aggregation_of(call.internal_name)
        if not grown or not known.selects_argument:
            return retracts
        return retracts and grown[i] != (INCREASING if known.direction is Direction.INCREASING else DECREASING)

    return tuple(needed(i, c) for i, c in enumerate(calls))


def _never_changes(directions: Directions) -> bool:
    return set(directions) <= {CONSTANT}


def _constants(rel: Rel) -> Directions:
    return (CONSTANT,) * rel.width


def _only(rel: Rel, constant: Sequence[int]) -> Directions:
    """Directions where these columns are constant and the others are unknown."""
    return tuple(CONSTANT if i in constant else NOT_MONOTONIC for i in range(rel.width))


def _scan(rel: p.SourceScan) -> Directions:
    return _constants(rel) if source_kinds(rel.table, dict(rel.options)) <= INSERT_ONLY else _only(rel, ())


def _exchange(rel: p.Exchange | p.GlobalGroupAggregate) -> Directions | None:
    return monotonicity(rel.input)


def _passed_on(rel: p.WatermarkAssigner | p.Expand | p.TableFunctionJoin) -> Directions | None:
    """The directions of an operator that makes no updates itself: those of its input."""
    below = monotonicity(rel.input)
    if below is None:
        return None
    return _constants(rel) if _never_changes(below) else _only(rel, ())


def _joined(rel: p.TableFunctionJoin) -> Directions | None:
    """Flink knows of functions in Java only."""
    return None if isinstance(called(rel.call), PythonFunction) else _passed_on(rel)


def _normalized(rel: p.ChangelogNormalize) -> Directions:
    return _only(rel, rel.unique_keys)


def _calc(rel: p.Calc) -> Directions | None:
    below = monotonicity(rel.input)
    if below is None or _never_changes(below):
        return None if below is None else _constants(rel)
    if rel.condition is not None and _takes_back(rel.condition, below):
        return _only(rel, ())
    return tuple(_direction(e, below) for e in rel.projection)


def _direction(rex: RexNode, below: Directions) -> str:
    rex = _uncast(rex)
    return below[rex.index] if isinstance(rex, InputRef) else NOT_MONOTONIC


def _uncast(rex: RexNode) -> RexNode:
    while is_call(rex, CAST, ALIAS):
        rex = rex.operands[0]
    return rex


def _takes_back(condition: RexNode, below: Directions) -> bool:
    """Whether a row for which the condition held may come to be one for which it does not."""
    if isinstance(condition, InputRef):
        return below[condition.index] != CONSTANT
    if not isinstance(condition, Call):
        return False
    operands = [_uncast(o) for o in condition.operands]
    changing = [below[o.index] for o in operands if isinstance(o, InputRef) and below[o.index] != CONSTANT]
    function = called(condition)
    if function in (AND, OR):  # Flink looks at the first two alone
        return any(_takes_back(o, below) for o in operands[:2])
    if function in (GT, GE):
        return bool(changing) and changing[0] != INCREASING
    if function in (LT, LE):
        return bool(changing) and changing[0] != DECREASING
    if function in (SEARCH, EQ, NE):
        return bool(changing)
    if function in (NOT, IS_NOT_TRUE, IS_TRUE, IS_NOT_NULL, IS_NULL):
        return _takes_back(operands[0], below)
    return False


def _rank(rel: p.Rank) -> Directions | None:
    below = monotonicity(rel.input)
    if rel.kind == "ROW_NUMBER" and rel.range == _FIRST and rel.rank is None:
        return _first_row(rel, below)
    if below is None or any(below[p] != CONSTANT for p in rel.partition):
        return None
    directions = list(_only(rel, rel.partition))
    if rel.rank is not None:
        directions[-1] = CONSTANT
    if rel.order:
        first = rel.order[0]
        is_time = rel.input.types[first.index].is_time_attribute
        direction = INCREASING if is_time else below[first.index]
        wanted = DECREASING if first.is_ascending else INCREASING
        directions[first.index] = wanted if direction in (CONSTANT, wanted) else NOT_MONOTONIC
    return tuple(directions)


_FIRST = ConstantRankRange(1, 1)


def _first_row(rel: p.Rank, below: Directions | None) -> Directions | None:
    """As of a deduplication, by whatever column: of the last row all but the key changes, the first one stays."""
    if below is None or not _never_changes(below):
        return None
    first = rel.order[0] if rel.order else None
    by_rowtime = first is not None and rel.input.types[first.index].is_rowtime
    keeps_last = first is not None and not first.is_ascending
    return _only(rel, rel.partition) if keeps_last or by_rowtime else _constants(rel)


def _deduplicate(rel: p.Deduplicate) -> Directions | None:
    below = monotonicity(rel.input)
    if below is None or not _never_changes(below):
        return None
    return _only(rel, rel.keys) if rel.keep_last or rel.is_rowtime else _constants(rel)


def _join(rel: p.RegularJoin | p.WindowJoin | p.VersionedJoin) -> Directions | None:
    left, right = monotonicity(rel.left), monotonicity(rel.right)
    spec = rel.spec
    if left is None or right is None or spec.join_type is JoinType.ANTI:
        return None
    if any(left[k] != CONSTANT for k in spec.left_keys) or any(right[k] != CONSTANT for k in spec.right_keys):
        return None
    if spec.non_equi_condition is not None and not _never_changes(left + right):
        return None
    return left if spec.join_type is JoinType.SEMI else left + right


def _union(rel: p.UnionAll) -> Directions | None:
    by_operand = [monotonicity(operand) for operand in rel.operands]
    if None in by_operand:
        return None
    return by_operand[0] if len(set(by_operand)) == 1 else _only(rel, ())


def _legacy_window(rel: p.LegacyWindowAggregate) -> Directions | None:
    below = monotonicity(rel.input)
    return _constants(rel) if below is not None and _never_changes(below) and not rel.emit else None


def _aggregate(rel: p.GroupAggregate | p.LocalGroupAggregate) -> Directions | None:
    return _aggregated(rel.input, rel.grouping, rel.calls)


def _incremental(rel: p.IncrementalGroupAggregate) -> Directions | None:
    """The directions of the final calls, which are taken as if they read what the first phase emits."""
    return _aggregated(rel.input, rel.final_grouping, rel.final_calls)


def _aggregated(source: Rel, grouping: Sequence[int], calls: Sequence[AggregateCall]) -> Directions | None:
    below = monotonicity(source)
    if below is None or any(below[g] != CONSTANT for g in grouping):
        return None
    return (*(CONSTANT for _ in grouping), *(_call(c, below, source) for c in calls))


def _call(call: AggregateCall, below: Directions, source: Rel) -> str:
    if is_call_of(call, COUNT):
        return INCREASING if _never_changes(below) or len(call.arg_list) < 2 else NOT_MONOTONIC
    direction = _function_direction(call, source)
    if _never_changes(below) or not call.arg_list:
        return direction
    return direction if len(call.arg_list) == 1 and below[call.arg_list[0]] == direction else NOT_MONOTONIC


def _function_direction(call: AggregateCall, source: Rel) -> str:
    match aggregation_of(call.internal_name).direction:
        case Direction.INCREASING:
            return INCREASING
        case Direction.DECREASING:
            return DECREASING
        case Direction.BY_SIGN:
            bounds = argument_bounds(source, call)
            if bounds.lower is not None:
                return INCREASING if bounds.lower >= 0 else NOT_MONOTONIC
            return DECREASING if bounds.upper is not None and bounds.upper <= 0 else NOT_MONOTONIC
    return NOT_MONOTONIC


_RULES: Dispatch[Directions | None] = Dispatch(
    "directions of columns",
    {
        p.SourceScan: _scan,
        p.Exchange: _exchange,
        **dict.fromkeys((p.MiniBatchAssigner, p.WatermarkAssigner, p.DropUpdateBefore), _passed_on),
        p.Expand: _passed_on,
        p.TableFunctionJoin: _joined,
        p.ChangelogNormalize: _normalized,
        p.Calc: _calc,
        p.Rank: _rank,
        p.Deduplicate: _deduplicate,
        **dict.fromkeys((p.RegularJoin, p.WindowJoin, p.VersionedJoin), _join),
        ConstantColumns: _constants,
        p.UnionAll: _union,
        p.LegacyWindowAggregate: _legacy_window,
        p.GroupAggregate: _aggregate,
        p.LocalGroupAggregate: _aggregate,
        p.IncrementalGroupAggregate: _incremental,
        p.GlobalGroupAggregate: _exchange,
    },
    unknown=(UnknownDirections,),
    physical=True,
)
