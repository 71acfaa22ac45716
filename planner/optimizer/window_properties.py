"""Which columns of a relation hold its window.  Source: ``FlinkRelMdWindowProperties``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from ...plan.durations import format_iso_duration
from ...plan.rex import InputRef, RexNode
from ...plan.specs import (
    CumulativeWindow,
    HoppingWindow,
    JoinType,
    SessionWindow,
    TumblingWindow,
    WindowSpec,
)
from ...plan.types import LogicalType
from ..algebra import Aggregate, Filter, Join, Project, Rel, Unary, WindowFunction
from ..physical import (
    Calc,
    Exchange,
    Expand,
    GlobalWindowAggregate,
    OverAggregate,
    Rank,
    WindowAggregate,
    WindowDeduplicate,
    WindowJoin,
    WindowRank,
    WindowTableFunction,
)


@dataclass(frozen=True, slots=True)
class WindowColumns:
    """The columns that hold window_start, window_end and window_time, and the window they are of."""

    starts: frozenset[int]
    ends: frozenset[int]
    times: frozenset[int]
    spec: WindowSpec
    time_type: LogicalType

    def moved(self, places: dict[int, list[int]]) -> WindowColumns | None:
        """The columns after a projection; ``None`` where a start or end is lost."""

        def at(columns: frozenset[int]) -> frozenset[int]:
            return frozenset(new for old in columns for new in places.get(old, ()))

        moved = replace(self, starts=at(self.starts), ends=at(self.ends), times=at(self.times))
        return moved if moved.starts or moved.ends or moved.times else None

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


def window_columns(rel: Rel) -> WindowColumns | None:
    """The window columns of a relation, if it has any."""
    rule = _RULES.get(type(rel))
    return rule(rel) if rule else None


def _table_function(rel: WindowFunction) -> WindowColumns:
    width = len(rel.input.row_type.fields)
    time_type = rel.input.row_type.fields[rel.time_index].type
    return _appended(width, window_spec(rel), time_type)


def _appended(width: int, spec: WindowSpec, time_type: LogicalType) -> WindowColumns:
    return WindowColumns(frozenset({width}), frozenset({width + 1}), frozenset({width + 2}), spec, time_type)


def _physical_table_function(rel: WindowTableFunction) -> WindowColumns:
    windowing = rel.windowing
    width = len(rel.input.row_type.fields)
    return _appended(width, windowing.window, windowing.time_attribute_type)


def _calc(rel: Calc) -> WindowColumns | None:
    below = window_columns(rel.input)
    return None if below is None else below.moved(_places(rel.projection))


def _project(rel: Project) -> WindowColumns | None:
    below = window_columns(rel.input)
    return None if below is None else below.moved(_places(rel.exprs))


def _places(exprs: tuple[RexNode, ...]) -> dict[int, list[int]]:
    places: dict[int, list[int]] = {}
    for i, e in enumerate(exprs):
        if isinstance(e, InputRef):
            places.setdefault(e.index, []).append(i)
    return places


def _same(rel: Unary) -> WindowColumns | None:
    return window_columns(rel.input)


def _aggregate(rel: Aggregate) -> WindowColumns | None:
    below = window_columns(rel.input)
    if below is None:
        return None
    return below.moved({g: [i] for i, g in enumerate(rel.grouping)})


def _window_aggregate(rel: WindowAggregate | GlobalWindowAggregate) -> WindowColumns:
    first = len(rel.row_type.fields) - len(rel.properties)
    found: dict[str, set[int]] = {"WindowStart": set(), "WindowEnd": set(), "Rowtime": set(), "Proctime": set()}
    for i, p in enumerate(rel.properties):
        found[p.property.kind].add(first + i)
    return WindowColumns(
        frozenset(found["WindowStart"]),
        frozenset(found["WindowEnd"]),
        frozenset(found["Rowtime"] | found["Proctime"]),
        rel.windowing.window,
        rel.windowing.time_attribute_type,
    )


def _join(rel: Join | WindowJoin) -> WindowColumns | None:
    left, right = window_columns(rel.left), window_columns(rel.right)
    kind = rel.type if isinstance(rel, Join) else rel.spec.join_type
    if left is None or kind in (JoinType.SEMI, JoinType.ANTI):
        return left
    if right is None:
        return None if isinstance(rel, WindowJoin) else left
    width = len(rel.left.row_type.fields)
    moved = right.moved({i: [i + width] for i in range(len(rel.right.row_type.fields))})
    if moved is None:
        return left
    return replace(left, starts=left.starts | moved.starts, ends=left.ends | moved.ends, times=left.times | moved.times)


def _expand(rel: Expand) -> WindowColumns | None:
    return window_columns(rel.input)


_RULES: dict[type[Rel], Callable[..., WindowColumns | None]] = {
    WindowFunction: _table_function,
    WindowTableFunction: _physical_table_function,
    Calc: _calc,
    Project: _project,
    Filter: _same,
    Exchange: _same,
    Expand: _expand,
    Rank: _same,
    WindowRank: _same,
    WindowDeduplicate: _same,
    OverAggregate: _same,
    Aggregate: _aggregate,
    WindowAggregate: _window_aggregate,
    GlobalWindowAggregate: _window_aggregate,
    Join: _join,
    WindowJoin: _join,
}
