"""Whether columns are unique in a relation, as far as Flink's logical rules know.

Less is known here than by :mod:`.keys`: nothing about a table whose key is not read, nor above a watermark.
Source: ``FlinkRelMdColumnUniqueness``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from ...plan.record import cached_on_record
from ...plan.rex import InputRef
from ...plan.specs import JoinType
from ..algebra import logical as a
from ..algebra import physical as p
from ..algebra.dispatch import Dispatch
from ..algebra.logical import Aggregate, Correlate, Filter, Join, Project, Scan, SetOp, Sort, Values
from ..algebra.physical import LegacyWindowAggregate, OverAggregate, SourceScan
from ..algebra.rel import Rel
from .join_kinds import join_keys
from .keys import unique_keys

Known = bool | None
"""Whether columns are unique; ``None`` where unknown."""


def are_columns_unique(rel: Rel, columns: Collection[int]) -> Known:
    """Whether no two rows of a logical relation have the same values in all of the columns."""
    return _are_unique(rel, frozenset(columns))


def is_unique(rel: Rel, columns: Iterable[int]) -> bool:
    """Whether rows are known to differ in the columns, so that none of them is grouped with another.

    Source: ``RelBuilder.alreadyUnique``.
    """
    return are_columns_unique(rel, frozenset(columns)) is True or has_one_row(rel)


def has_one_row(rel: Rel) -> bool:
    """Whether a relation has one row at most.  Source: ``RelMdMaxRowCount``."""
    match rel:
        case Aggregate():
            return not rel.grouping and rel.grouping_sets is None
        case Project() | Filter():
            return has_one_row(rel.input)
        case Sort():
            return rel.fetch in (0, 1) or has_one_row(rel.input)
        case Values():
            return len(rel.tuples) < 2
    return False


@cached_on_record
def _are_unique(rel: Rel, columns: frozenset[int]) -> Known:
    rule = _RULES.get(rel)
    return rule(rel, columns) if rule else None


def _passed_on(rel: Filter | Sort, columns: frozenset[int]) -> Known:
    return are_columns_unique(rel.input, columns)


def _stored(rel: Scan | SourceScan, columns: frozenset[int]) -> Known:
    if not columns:
        return False
    keys = unique_keys(rel)
    return any(key <= columns for key in keys) if keys else None


def _values(rel: Values, columns: frozenset[int]) -> Known:
    rows = rel.tuples
    return len(rows) < 2 or any(len({row[i] for row in rows}) == len(rows) for i in columns)


def _project(rel: Project, columns: frozenset[int]) -> Known:
    read = [e.index for e in (rel.exprs[i] for i in columns) if isinstance(e, InputRef)]
    return are_columns_unique(rel.input, read) if read else None


def _aggregate(rel: Aggregate, columns: frozenset[int]) -> Known:
    return columns >= set(range(len(rel.grouping)))


def _window(rel: LegacyWindowAggregate, columns: frozenset[int]) -> Known:
    return any(key <= columns for key in unique_keys(rel))


def _over(rel: OverAggregate, columns: frozenset[int]) -> Known:
    known = frozenset(i for i in columns if i < rel.input.width)
    unique = are_columns_unique(rel.input, known)
    return unique if unique or known == columns else None


def _join(rel: Join, columns: frozenset[int]) -> Known:
    if rel.type in (JoinType.SEMI, JoinType.ANTI):
        return are_columns_unique(rel.left, columns)
    if not columns:
        return False
    width = rel.left.width
    left = frozenset(i for i in columns if i < width)
    right = frozenset(i - width for i in columns if i >= width)
    keys = join_keys(rel.condition, width)
    if left and right:
        return _both(are_columns_unique(rel.left, left), are_columns_unique(rel.right, right))
    if left:
        if rel.type in (JoinType.RIGHT, JoinType.FULL):
            return False
        return _both(are_columns_unique(rel.right, keys.right), are_columns_unique(rel.left, left))
    if rel.type in (JoinType.LEFT, JoinType.FULL):
        return False
    return _both(are_columns_unique(rel.left, keys.left), are_columns_unique(rel.right, right))


def _both(a: Known, b: Known) -> Known:
    return None if a is None or b is None else a and b


def _correlate(rel: Correlate, columns: frozenset[int]) -> Known:
    if rel.type in (JoinType.SEMI, JoinType.ANTI):
        return are_columns_unique(rel.input, columns)
    return None


def _set_operation(rel: SetOp, columns: frozenset[int]) -> Known:
    return not rel.all and len(columns) == rel.width


_RULES: Dispatch[Known] = Dispatch(
    "whether columns tell rows apart",
    {
        Filter: _passed_on,
        Sort: _passed_on,
        Scan: _stored,
        SourceScan: _stored,
        Values: _values,
        Project: _project,
        Aggregate: _aggregate,
        LegacyWindowAggregate: _window,
        OverAggregate: _over,
        Join: _join,
        Correlate: _correlate,
        SetOp: _set_operation,
    },
    unknown=(
        *(a.LateRows, a.Lateral, a.Match, a.MultiJoin, a.Snapshot, a.TableModify, a.TemporalJoin, a.Watermark),
        *(a.ProcessTable, a.TableAggregate, a.WindowFunction, a.WindowOperator, p.Calc, p.Expand, p.Rank),
    ),
    logical=True,
)
