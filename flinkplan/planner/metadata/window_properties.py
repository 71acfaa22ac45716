"""Which columns of a relation hold its window, and which joins compare windows.

Sources: ``FlinkRelMdWindowProperties``, ``WindowJoinUtil``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ...plan import specs
from ...plan.durations import format_iso_duration
from ...plan.record import Record, cached_on_record, replace
from ...plan.rex import InputRef, RexNode
from ...plan.specs import CumulativeWindow, HoppingWindow, JoinType, SessionWindow, TumblingWindow, WindowSpec
from ...plan.types import LogicalType
from ..algebra import logical as a
from ..algebra import physical as p
from ..algebra.calls import python_calls
from ..algebra.dispatch import Dispatch
from ..algebra.logical import Aggregate, Correlate, Filter, Join, Project, SetOp, Watermark, WindowFunction
from ..algebra.physical import Calc, Expand, Rank
from ..algebra.rel import Rel, Unary
from ..rex.expressions import refs
from .join_kinds import JoinKeys, join_keys


class WindowColumns(Record):
    """The columns with window_start, window_end and window_time, and their window."""

    starts: frozenset[int]
    ends: frozenset[int]
    times: frozenset[int]
    spec: WindowSpec
    time_type: LogicalType

    def moved(self, places: Mapping[int, Sequence[int]]) -> WindowColumns | None:
        """The columns after a projection; ``None`` where a session loses a column that it is partitioned by."""
        spec = self.spec
        if isinstance(spec, SessionWindow):
            keys = spec.partition_key_indices or ()
            if not all(key in places for key in keys):
                return None
            spec = replace(spec, partition_key_indices=tuple(places[key][0] for key in keys))
        return replace(self.at(places), spec=spec)

    def at(self, places: Mapping[int, Sequence[int]]) -> WindowColumns:
        """The columns at new positions; columns without a new position are dropped."""

        def moved(columns: frozenset[int]) -> frozenset[int]:
            return frozenset(new for old in columns for new in places.get(old, ()))

        return replace(self, starts=moved(self.starts), ends=moved(self.ends), times=moved(self.times))

    def joined(self, other: WindowColumns) -> WindowColumns:
        """These columns and those of another relation."""
        return replace(
            self, starts=self.starts | other.starts, ends=self.ends | other.ends, times=self.times | other.times
        )

    def common(self, other: WindowColumns) -> WindowColumns:
        """The columns that both relations have."""
        return replace(
            self, starts=self.starts & other.starts, ends=self.ends & other.ends, times=self.times & other.times
        )

    def bounded_by(self, columns: Iterable[int]) -> bool:
        """Whether the columns include both a window start and a window end."""
        return not self.starts.isdisjoint(columns) and not self.ends.isdisjoint(columns)

    @property
    def all(self) -> frozenset[int]:
        return self.starts | self.ends | self.times


def window_spec(rel: WindowFunction) -> WindowSpec:
    """The window of a table function, as the plan writes it."""
    size = format_iso_duration(rel.size)
    offset = None if rel.offset is None else format_iso_duration(rel.offset)
    match rel.kind:
        case "TUMBLE":
            return TumblingWindow(size, offset)
        case "HOP":
            return HoppingWindow(size, format_iso_duration(rel.slide or 0), offset)
        case "CUMULATE":
            return CumulativeWindow(size, format_iso_duration(rel.slide or 0), offset)
    return SessionWindow(size, rel.partition_keys)


@cached_on_record
def window_columns(rel: Rel) -> WindowColumns | None:
    """The window columns of a relation, if it has any."""
    rule = _RULES.get(rel)
    return rule(rel) if rule else None


def _table_function(rel: WindowFunction) -> WindowColumns:
    width = rel.input.width
    time_type = rel.input.types[rel.time_index]
    return _appended(width, window_spec(rel), time_type)


def _appended(width: int, spec: WindowSpec, time_type: LogicalType) -> WindowColumns:
    return WindowColumns(frozenset({width}), frozenset({width + 1}), frozenset({width + 2}), spec, time_type)


def _calc(rel: Calc) -> WindowColumns | None:
    return _projected(rel.input, rel.projection)


def _project(rel: Project) -> WindowColumns | None:
    return _projected(rel.input, rel.exprs)


def _projected(source: Rel, exprs: tuple[RexNode, ...]) -> WindowColumns | None:
    below = window_columns(source)
    if below is None:
        return None
    places: dict[int, list[int]] = {}
    for i, e in enumerate(exprs):
        if isinstance(e, InputRef):
            places.setdefault(e.index, []).append(i)
    return below.moved(places) if places else None


def _same(rel: Unary) -> WindowColumns | None:
    return window_columns(rel.input)


def _rank(rel: Rank) -> WindowColumns | None:
    below = window_columns(rel.input)
    return below if below and below.bounded_by(rel.partition) else None


def _aggregate(rel: Aggregate) -> WindowColumns | None:
    below = window_columns(rel.input)
    if below is None or not below.bounded_by(rel.grouping):
        return None
    return below.at({g: (i,) for i, g in enumerate(rel.grouping)})


def _expand(rel: Expand) -> WindowColumns | None:
    below = window_columns(rel.input)
    if below is None:
        return None
    return below.at({i: (i,) for i in below.all if all(isinstance(p[i], InputRef) for p in rel.projects)})


def _union(rel: SetOp) -> WindowColumns | None:
    first, *others = map(window_columns, rel.operands)
    for other in others:
        if first is None or other is None or first.spec != other.spec:
            return None
        first = first.common(other)
    return first


def _join(rel: Join) -> WindowColumns | None:
    compared = window_keys(rel)
    if compared is None:
        return None
    if rel.type in (JoinType.SEMI, JoinType.ANTI):
        return compared.left
    width = rel.left.width
    return compared.left.joined(compared.right.at({i: (i + width,) for i in compared.right.all}))


_RULES: Dispatch[WindowColumns | None] = Dispatch(
    "columns of windows",
    {
        WindowFunction: _table_function,
        Calc: _calc,
        Project: _project,
        Filter: _same,
        Watermark: _same,
        Correlate: _same,
        Expand: _expand,
        Rank: _rank,
        Aggregate: _aggregate,
        SetOp: _union,
        Join: _join,
    },
    unknown=(
        *(a.LateRows, a.Lateral, a.Match, a.MultiJoin, a.Scan, a.Snapshot, a.Sort, a.TableModify, a.TemporalJoin),
        a.TableAggregate,
        *(a.ProcessTable, a.Values, a.WindowOperator, p.LegacyWindowAggregate, p.OverAggregate, p.SourceScan),
    ),
    logical=True,
)


# ---------------------------------------------------------------- equal windows


class WindowKeys(Record):
    """The window columns that a join compares, by side, and its other keys."""

    left: WindowColumns
    right: WindowColumns
    starts: tuple[int, int]
    ends: tuple[int, int]
    keys: JoinKeys


def window_keys(rel: Join) -> WindowKeys | None:
    """The window columns that a join compares; ``None`` where it does not compare both starts and ends."""
    left, right = window_columns(rel.left), window_columns(rel.right)
    if left is None or right is None or (left.spec, left.time_type) != (right.spec, right.time_type):
        return None
    keys = join_keys(rel.condition, rel.left.width)
    pairs = list(zip(keys.left, keys.right, strict=True))
    starts = [p for p in pairs if p[0] in left.starts and p[1] in right.starts]
    ends = [p for p in pairs if p[0] in left.ends and p[1] in right.ends]
    if not starts or not ends:
        return None
    dropped = {*starts, *ends}
    kept = [i for i, p in enumerate(pairs) if p not in dropped]
    others = JoinKeys(
        tuple(keys.left[i] for i in kept),
        tuple(keys.right[i] for i in kept),
        tuple(keys.filter_nulls[i] for i in kept),
        keys.rest,
    )
    return WindowKeys(left, right, starts[0], ends[0], others)


def groups_by_window(rel: Aggregate) -> bool:
    """Whether an aggregation is one per window: it groups by the start and the end of its input's window.

    Over sessions it must group by what the sessions are partitioned by, and by nothing else.  By processing
    time the window must be assigned right below, and nothing be computed of its columns.
    """
    window = window_columns(rel.input)
    if window is None or rel.grouping_sets is not None or not window.bounded_by(rel.grouping):
        return False
    if python_calls(rel.calls):  # Flink aggregates by columns, which happen to be the bounds of a window
        return False
    keys = set(rel.grouping) - window.all
    if isinstance(window.spec, specs.SessionWindow) and keys != set(window.spec.partition_key_indices or ()):
        return False
    return window.time_type.is_rowtime or _assigned_right_below(rel, window)


def _assigned_right_below(rel: Aggregate, window: WindowColumns) -> bool:
    below = rel.input
    while isinstance(below, (Calc, Project, Filter)):
        columns = window_columns(below.input)
        if columns is None or columns.all & _computed_of(below):
            return False
        below = below.input
    return isinstance(below, WindowFunction) and not any(window.all & set(c.arg_list) for c in rel.calls)


def _computed_of(rel: Calc | Project | Filter) -> frozenset[int]:
    """The input's columns that a condition or a call reads."""
    exprs = () if isinstance(rel, Filter) else rel.projection if isinstance(rel, Calc) else rel.exprs
    condition = None if isinstance(rel, Project) else rel.condition
    return refs(condition).union(*(refs(e) for e in exprs if not isinstance(e, InputRef)))
