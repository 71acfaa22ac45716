"""How Flink's operators of a plan keep their states, by the plan alone: operators and tables without entries.

They are those that an empty savepoint of the plan has, as far as they are known.  Sources: the state descriptors of the
operators in Flink's ``flink-table-runtime``; the tests compare them with savepoints.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from ..plan.accumulator_columns import parts
from ..plan.document import Plan
from ..plan.errors import PlanError, UnsupportedError
from ..plan.functions import aggregate
from ..plan.nodes import (
    ChangelogNormalize,
    Deduplicate,
    ExecNode,
    GlobalGroupAggregate,
    GlobalWindowAggregate,
    GroupAggregate,
    GroupWindowAggregate,
    IntervalJoin,
    Limit,
    MultiJoin,
    OverAggregate,
    Rank,
    SortLimit,
    TemporalJoin,
    TemporalSort,
    Values,
    WindowAggregate,
    WindowDeduplicate,
    WindowJoin,
    WindowRank,
    WindowTableFunction,
)
from ..plan.nodes.joins import ONE_ROW, ROWS_AND_WHETHER_JOINED
from ..plan.record import replace
from ..plan.savepoint import flink_states
from ..plan.savepoint.layout import KeptState, Layout, Part, Value, columns, written
from ..plan.savepoint.views import Holding, View, view_of, view_state
from ..plan.specs import AggregateCall
from ..plan.types import WITH_LENGTH, LogicalType
from ..plan.types import row as row_type
from ..plan.types.parser import parse_type
from ..plan.uids import Uids
from .form import ROW_KIND, VALUE, Column, Kind, OperatorState, StateTable

_BYTES = "VARBINARY(2147483647)"
_TEXT = "VARCHAR(2147483647)"
_LONG = (Column(VALUE, "BIGINT"),)
_ROW_KIND = Column(ROW_KIND, "TINYINT")
_WINDOW = (Column("start", "BIGINT"), Column("end", "BIGINT"))
_NAMESPACES: Mapping[str, tuple[str, tuple[Column, ...]]] = {
    "": ("", ()),
    "a window": ("window", _WINDOW),
    "the end of a window": ("window end", _WINDOW[1:]),
    "the end of a window or slice": ("window end", _WINDOW[1:]),
}
"""The namespaces of tables by those of layouts."""
_WITH_USER_TIMERS = (
    *(GroupAggregate, ChangelogNormalize, Deduplicate, IntervalJoin, Rank, SortLimit, Limit, OverAggregate),
    TemporalSort,
)
_WITH_WINDOW_TIMERS = (
    *(GlobalWindowAggregate, WindowAggregate, GroupWindowAggregate, WindowDeduplicate, WindowJoin, WindowRank),
)
_WITH_WATERMARK = (GlobalWindowAggregate, WindowAggregate, WindowDeduplicate, WindowRank)
_FIRST_OR_LAST: Mapping[str | None, str] = {
    aggregate.FIRST_VALUE.internal_name: "first",
    aggregate.LAST_VALUE.internal_name: "last",
}
"""What the fields of the accumulators of these functions begin with."""
_COUNTS_IN_INT = aggregate.COLLECT.internal_name
"""The function whose view counts values in an INT."""


class _UnknownError(Exception):
    """How Flink keeps a state is not known."""


def operators_of(plan: Plan, uids: Uids) -> tuple[OperatorState, ...]:
    """The operators with state of a plan's nodes, with the tables of their states.

    Operators are left out of which it is not known how they keep their states.  VALUES have ended.
    """
    operators: list[OperatorState] = []
    number = 0
    for node in plan.nodes:
        if isinstance(node, Values):
            operators += [OperatorState((), uid=uid, is_finished=True) for uid in uids.kept(node).values()]
            continue
        layout = node.layout([source.fields for source in plan.inputs(node)]) if node.is_stateful else None
        if layout is None:
            continue
        try:
            tables = list(_Tables(plan, node, layout).all())
        except _UnknownError:
            continue
        numbered = []
        for table in tables:
            number += 1
            numbered.append(_numbered(table, number))
        is_single = not layout.key and not isinstance(node, TemporalSort | MultiJoin)
        operators.append(
            OperatorState(
                tuple(numbered),
                uid=uids.of(node, layout.transformation),
                parallelism=1,
                max_parallelism=1 if is_single else 128,
            )
        )
    return tuple(operators)


def _numbered(table: StateTable, number: int) -> StateTable:
    return replace(table, table=number)


class _Tables:
    """The tables of a node's operator."""

    def __init__(self, plan: Plan, node: ExecNode, layout: Layout) -> None:
        self._inputs = [source.fields for source in plan.inputs(node)]
        self._node = node
        self._layout = layout
        if layout.namespace not in _NAMESPACES:
            raise _UnknownError
        width = len(layout.key) // (2 if len(node.key_columns()) == 2 else 1)
        key = columns(self._inputs, 0, node.key_columns()[0]) if isinstance(node, MultiJoin) else layout.key[:width]
        self._key = _columns(key)
        self._time = "accessed" if any(_lasts(state.ttl) for state in node.states) else ""

    def all(self) -> Iterator[StateTable]:
        """All tables."""
        for state in self._layout.states:
            yield from self._state(state)
        yield from self._views()
        yield from self._further()

    def _table(
        self,
        name: str,
        kind: Kind,
        value: Sequence[Column],
        map_key: Sequence[Column] = (),
        *,
        in_namespace: bool = True,
        clock: str = "",
    ) -> StateTable:
        what, namespace = _NAMESPACES[self._layout.namespace if in_namespace else ""]
        return StateTable(
            0,
            name,
            kind,
            self._key,
            namespace,
            what,
            tuple(map_key),
            tuple(value),
            clock=clock,
            time="" if namespace or clock else self._time,
        )

    def _state(self, state: KeptState) -> Iterator[StateTable]:
        """The tables of a state of the layout, by its form."""
        name, form, values = state.name, state.form, state.values
        if form == "a row":
            yield from self._row(name, values)
        elif form == "a boolean":
            yield self._table(name, Kind.VALUE, (Column(VALUE, "BOOLEAN"),))
        elif form == "a number":
            yield self._table(name, Kind.VALUE, _LONG)
        elif form in ("a number for each value", "numbers for each value"):
            yield from self._distinct(state)
        elif name in flink_states.JOINED and not isinstance(self._node, WindowJoin):
            yield self._joined(state)
        elif isinstance(self._node, MultiJoin):
            yield self._joined_input(self._node, state)
        elif form == "rows by the order":
            width = len(values) - len(self._inputs[0])
            yield self._table(name, Kind.MAP, _rows(values[width:]), _row(values[:width]))
        elif form.startswith("numbers in the order"):
            sort_key = ", ".join(f"`{column.name}` {column.type}" for column in _row(values))
            yield self._table(name, Kind.VALUE, (Column(VALUE, f"MAP<ROW<{sort_key}>, BIGINT>"),))
        elif form == "rows and ranks by their key":
            width = len(values) - len(self._inputs[0])
            ranked = (Column("f0", _row_type(values[width:])), Column("f1", "INT"))
            yield self._table(name, Kind.MAP, ranked, _row(values[:width]))
        elif form == ROWS_AND_WHETHER_JOINED:
            joined = f"ARRAY<ROW<`f0` {_row_type(values)}, `f1` BOOLEAN>>"
            yield self._table(name, Kind.MAP, (Column(VALUE, joined),), _LONG)
        elif form == "rows by time" and not isinstance(self._node, TemporalJoin):
            yield self._table(name, Kind.MAP, _rows(values), _LONG)
        elif form in ("rows in order", "rows by time") or (form == "rows" and name == flink_states.SESSION_ROWS):
            yield self._table(name, Kind.MAP, _row(values), _LONG)
        elif form == "rows" and isinstance(self._node, WindowJoin):
            yield self._table(name, Kind.LIST, _row(values))
        elif form == "rows of one key (LEGACY, DEDUPLICATE)":
            yield self._table(name, Kind.VALUE, _rows(values[len(values) - len(self._inputs[0]) :]))
        elif form == "windows":
            yield self._table(name, Kind.MAP, _WINDOW, _WINDOW, in_namespace=False)
        elif form.startswith("rows in the order of"):
            entry = f"ARRAY<ROW<`f0` {_row_type(values)}, `f1` ARRAY<BIGINT>>>"
            yield self._table(name, Kind.VALUE, (Column(VALUE, entry),))
        else:
            raise _UnknownError

    def _row(self, name: str, values: Sequence[Value]) -> Iterator[StateTable]:
        is_by_order = any(s.name == flink_states.OVER_ORDER for s in self._layout.states)
        row = self._accumulators(values)
        if is_by_order and name == flink_states.OVER_ROWS_BY_ID:
            yield self._table(name, Kind.MAP, row, _LONG)
        elif is_by_order and name == flink_states.ACCUMULATORS:
            sort_key = next(s.values for s in self._layout.states if s.name == flink_states.OVER_ORDER)
            yield self._table(flink_states.OVER_ACCUMULATORS_BY_ROW, Kind.MAP, row, _row(sort_key))
        else:
            yield self._table(name, Kind.VALUE, row)

    def _joined(self, state: KeptState) -> StateTable:
        """The rows of a side of a join, by how often a row may be there."""
        form, values = state.form, state.values
        counts = "met" in form
        side = flink_states.JOINED.index(state.name)
        if form.startswith("rows with a number"):
            number = (Column("f0", "INT"), Column("f1", "INT")) if counts else (Column(VALUE, "INT"),)
            return self._table(state.name, Kind.MAP, number, _row(values))
        width = len(values) - len(self._inputs[side])
        held = _row(values[width:])
        if counts:
            held = (Column("f0", _row_type(values[width:])), Column("f1", "INT"))
        if form.startswith("one row"):
            return self._table(state.name, Kind.VALUE, held)
        if form.startswith("rows by their key"):
            return self._table(state.name, Kind.MAP, held, _row(values[:width]))
        raise _UnknownError

    def _joined_input(self, node: MultiJoin, state: KeptState) -> StateTable:
        """The rows of an input of a join of several: behind the first one they stand under their join keys."""
        index = self._layout.states.index(state)
        fields = self._inputs[index]
        unique = node.unique_key(index)
        row = state.values[len(state.values) - len(fields) :]
        value = _row(row) if unique else (Column(VALUE, "INT"),)
        join_key = node.join_key(index)
        if state.form.startswith(ONE_ROW):
            return self._table(state.name, Kind.MAP, value, _row([row[i] for i in join_key]))
        if not join_key:
            return self._table(state.name, Kind.MAP, value, _row(state.values[: len(unique)] or row))
        key_fields = [(f"{fields[i].name}_key", row[i]) for i in join_key]
        own_fields = [(f"f{n}", row[i]) for n, i in enumerate(unique)]
        own_fields = own_fields or [(field.name, each) for field, each in zip(fields, row, strict=True)]
        parts = (_plain_row_type(key_fields), _plain_row_type(own_fields))
        return self._table(state.name, Kind.MAP, value, (*(Column(f"f{i}", t) for i, t in enumerate(parts)), _ROW_KIND))

    def _distinct(self, state: KeptState) -> Iterator[StateTable]:
        count = _LONG if state.form == "a number for each value" else (Column(VALUE, "ARRAY<BIGINT>"),)
        is_single = len(state.values) == 1
        if is_single:
            yield self._table(f"{state.name}_null_state", Kind.VALUE, count)
        key = (Column(VALUE, _type(state.values[0].type)),) if is_single else _row(state.values)
        yield self._table(state.name, Kind.MAP, count, key)

    @property
    def _types(self) -> Sequence[LogicalType]:
        """The types of the columns that aggregate calls read: those of the first phase, where there are two."""
        local: LogicalType | None = getattr(self._node, "local_agg_input_row_type", None)
        own = [field.type for field in self._inputs[0]] if local is None else list(local.field_types)
        over = getattr(self._node, "over_spec", None)
        return [*own, *(constant.type for constant in over.constants)] if over is not None else own

    def _accumulators(self, values: Sequence[Value]) -> tuple[Column, ...]:
        """A row with accumulators: those that are objects are rows of their fields."""
        columns = []
        for i, value in enumerate(values):
            part = value.origin
            t = self._part(part, value.type) if isinstance(part, Part) else None
            columns.append(Column(f"f{i}", _type(value.type) if t is None else t))
        return (*columns, _ROW_KIND)

    def _part(self, part: Part, kept: str) -> str | None:
        """The type of an accumulator that is an object; ``None`` for others."""
        call = part.call
        retracts = self._retracts(call, [kept])
        if retracts is None:
            return None
        name = call.internal_name
        held = str(self._types[call.arg_list[0]].regular().nullable_()) if call.arg_list else ""
        if name in _FIRST_OR_LAST:
            end = _FIRST_OR_LAST[name]
            views = f", `valueToOrderMap` {_BYTES}, `orderToValueMap` {_BYTES}" if retracts else ""
            return f"ROW<`{end}Value` {_type(held)}, `{end}Order` BIGINT{views}>"
        if name == aggregate.ARRAY_AGG.internal_name:
            return f"ROW<`list` ARRAY<{_type(held)}>, `retractList` ARRAY<{_type(held)}>>"
        known = parts(call, retracts, self._types)
        t = known[part.number][1]
        return _object(t, view_of(call, retracts)) if t.root == "STRUCTURED" else None

    def _retracts(self, call: AggregateCall, kept: Collection[str]) -> bool | None:
        """Whether a call with values of these types takes values back; ``None`` where its accumulator is not known."""
        if call.internal_name in _FIRST_OR_LAST:
            return any(each.endswith("with retractions") for each in kept)
        for retracts in (True, False):
            try:
                known = {written(t) for _, t in parts(call, retracts, self._types)}
            except (UnsupportedError, IndexError):
                continue
            if known.issuperset(kept):
                return retracts
        return None

    def _calls(self) -> Iterator[tuple[int, AggregateCall, View]]:
        """The calls with views, by their numbers."""
        main = next((s for s in self._layout.states if any(isinstance(v.origin, Part) for v in s.values)), None)
        calls = getattr(self._node, "agg_calls", None)
        if calls is None and (over := getattr(self._node, "over_spec", None)) is not None:
            calls = over.groups[0].agg_calls
        for number, call in enumerate(calls or ()):
            kept = {v.type for v in main.values if isinstance(v.origin, Part) and v.origin.call == call} if main else ()
            retracts = self._retracts(call, kept)
            view = None if retracts is None else view_of(call, retracts)
            if view is not None:
                yield number, call, view

    def _views(self) -> Iterator[StateTable]:
        """The states of values that are taken back, or are collected."""
        for number, call, view in self._calls():
            if not call.arg_list or call.arg_list[0] >= len(self._types):
                raise _UnknownError
            held = str(self._types[call.arg_list[0]].regular().nullable_())
            value = (Column(VALUE, _type(held)),)
            name = view_state(number, view.name)
            match view.holding:
                case Holding.COUNTS:
                    is_collected = call.internal_name == _COUNTS_IN_INT
                    count = (Column(VALUE, "INT"),) if is_collected else _LONG
                    yield self._table(name, Kind.MAP, count, value)
                case Holding.BY_ORDER:
                    yield self._table(name, Kind.MAP, (Column(VALUE, f"ARRAY<{_type(held)}>"),), _LONG)
                    for other in view.others:
                        numbers = (Column(VALUE, "ARRAY<BIGINT>"),)
                        yield self._table(view_state(number, other), Kind.MAP, numbers, value)
                case Holding.LIST if view.pending:
                    yield self._table(name, Kind.LIST, value)
                    yield self._table(view_state(number, view.pending), Kind.LIST, value)
                case _:
                    raise _UnknownError

    def _further(self) -> Iterator[StateTable]:
        """States that say nothing of rows: timers, and when something is due."""
        node = self._node
        for name in self._times():
            yield self._table(name, Kind.VALUE, _LONG, in_namespace=False)
        if isinstance(node, WindowTableFunction):
            yield self._table(flink_states.SESSIONS, Kind.MAP, _WINDOW, _WINDOW, in_namespace=False)
            yield self._table(flink_states.SESSION_COUNTS, Kind.VALUE, _LONG, in_namespace=False)
        timers = self._timers()
        for clock in ("processing", "event") if timers else ():
            yield self._table(
                f"_timer_state/{clock}_{timers}", Kind.TIMERS, (Column("timestamp", "BIGINT"),), clock=clock
            )
        if isinstance(node, _WITH_WATERMARK):
            yield StateTable(0, "watermark", Kind.OPERATOR_UNION, value=_LONG)

    def _times(self) -> Iterator[str]:
        """Values of the type BIGINT for each key."""
        match self._node:
            case IntervalJoin():
                yield from flink_states.INTERVAL_TIMERS
            case TemporalJoin():
                yield from (flink_states.TEMPORAL_TIMER, flink_states.TEMPORAL_NEXT)
                if self._time:
                    yield flink_states.TEMPORAL_CLEANUP
            case TemporalSort():
                yield flink_states.OVER_LAST
            case OverAggregate() as over:
                yield from self._over_times(over)

    def _over_times(self, over: OverAggregate) -> Iterator[str]:
        group = over.over_spec.groups[0]
        names = {state.name for state in self._layout.states}
        if flink_states.OVER_ORDER in names:
            yield flink_states.OVER_NEXT_ID
        elif flink_states.OVER_ROWS in names and group.lower_bound.kind == "BOUNDED_WINDOW":
            yield flink_states.OVER_LAST
            if not group.is_rows:
                yield flink_states.OVER_EXPIRY

    def _timers(self) -> str:
        """What Flink calls the timers of the operator; empty where it has none."""
        match self._node:
            case Deduplicate() | GlobalGroupAggregate() if _is_mini_batch(self._node):
                return ""
            case TemporalJoin():
                return "timers"
            case WindowTableFunction():
                return "session-window-tvf-timers"
            case node if isinstance(node, _WITH_USER_TIMERS):
                return "user-timers"
            case node if isinstance(node, _WITH_WINDOW_TIMERS):
                return "window-timers"
        return ""


def _is_mini_batch(node: ExecNode) -> bool:
    return (node.configuration or {}).get("table.exec.mini-batch.enabled") == "true"


def _lasts(ttl: str) -> bool:
    """Whether entries expire."""
    return not ttl.startswith("0 ")


def _columns(values: Sequence[Value]) -> tuple[Column, ...]:
    return tuple(Column(f"f{i}", _type(value.type)) for i, value in enumerate(values))


def _row(values: Sequence[Value]) -> tuple[Column, ...]:
    """The columns of a row."""
    return (*_columns(values), _ROW_KIND)


def _row_type(values: Sequence[Value]) -> str:
    return f"ROW<{', '.join(f'`{column.name}` {column.type}' for column in _row(values))}>"


def _plain_row_type(fields: Sequence[tuple[str, Value]]) -> str:
    """A row within another one, which has no row kind."""
    return str(row_type([(name, parse_type(_type(value.type))) for name, value in fields]))


def _rows(values: Sequence[Value]) -> tuple[Column, ...]:
    """A list of rows."""
    return (Column(VALUE, f"ARRAY<{_row_type(values)}>"),)


def _type(kept: str) -> str:
    """The type of a column, of a type as serializers compare it."""
    if kept == "distinct values":
        return _BYTES
    if kept in WITH_LENGTH:
        return _BYTES if "BINARY" in kept else _TEXT
    try:
        return str(parse_type(kept).nullable_throughout())
    except PlanError:
        raise _UnknownError from None


def _object(t: LogicalType, view: View | None) -> str:
    """The fields of an accumulator that is an object: a view is in a state of its own."""
    in_views = (view.name, *view.others, view.pending) if view is not None else ()
    fields = []
    for attribute in dict(t.raw or {}).get("attributes", ()):
        name, own = attribute["name"], attribute["attributeType"]
        if name in in_views:
            fields.append(f"`{name}` {_BYTES}")
        elif isinstance(own, str):
            fields.append(f"`{name}` {_type(own)}")
        else:
            raise _UnknownError
    if not fields:
        raise _UnknownError
    return f"ROW<{', '.join(fields)}>"
