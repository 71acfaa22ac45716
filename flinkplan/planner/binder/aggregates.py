"""GROUP BY and aggregate functions."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from decimal import Decimal
from itertools import product

from ...plan.errors import FlinkplanError
from ...plan.functions import Function, Kind
from ...plan.functions.aggregate import COUNT, GROUP_ID, GROUPING, GROUPING_ID, PERCENTILE
from ...plan.functions.comparison import IS_NOT_NULL, IS_TRUE
from ...plan.functions.model import Arguments
from ...plan.functions.table import GROUP_WINDOWS, WINDOW_AUXILIARIES
from ...plan.functions.typing import is_interval, is_year_month
from ...plan.functions.user import UserFunction
from ...plan.record import replace
from ...plan.rex import Call, InputRef, RexNode, children, input_refs, internal_name
from ...plan.settings import is_batch_mode
from ...plan.specs import AggregateCall
from ...plan.types import TIMESTAMPS, LogicalType, TimeKind, timestamp, timestamp_ltz
from ..algebra.calls import aggregate_call, remap_calls
from ..algebra.hints import ShownHints, TtlHint
from ..algebra.logical import Aggregate, Filter, Project, SetKind, SetOp, Watermark
from ..algebra.names import uniquify
from ..algebra.rel import Rel
from ..metadata.uniqueness import is_unique
from ..rex.builder import is_constant
from ..rex.expressions import cast, identity, is_call, rewrite
from ..sql import ast
from .calls import arguments_of, check_null_treatment, fit
from .context import Context
from .errors import BindError, unsupported
from .expressions import ExpressionBinder
from .over import WindowedBinder
from .scope import Scope


class AggregateBinder(WindowedBinder):
    """Binds the expressions above an aggregation, and collects the grouping expressions and calls that they need.

    Below the aggregate a projection holds the grouping expressions, then the arguments of the calls, each
    once; arguments keep the names of ``columns``, those of the relation below, whatever FROM calls them.  An
    expression that equals a grouping expression becomes a reference to it.
    """

    def __init__(
        self,
        context: Context,
        scope: Scope,
        named: Mapping[ast.Expression, str],
        windows: Mapping[str, ast.WindowSpec],
        columns: Sequence[str],
    ) -> None:
        super().__init__(context, scope, windows)
        self._columns = columns
        self.below = ExpressionBinder(context, scope, "an argument of an aggregate function or GROUP BY")
        self.named = named
        self.inputs: list[tuple[RexNode, str | None]] = []
        self.group_count = 0
        self.group_sets: tuple[tuple[int, ...], ...] | None = None
        self.repeated_sets: list[tuple[tuple[int, ...], ...]] = []
        """The grouping sets that come at least twice, those that come at least three times …"""
        self.calls: list[AggregateCall] = []
        self._places: dict[AggregateCall, int] = {}
        """Of calls without their names, which of the calls they are."""
        self._bound: dict[ast.FunctionCall, RexNode] = {}
        self._groups: dict[ast.Expression, RexNode] = {}
        """Calls, and grouping expressions, that are bound: a subquery in them would be another one each time."""

    # Grouping

    def group_by(self, node: ast.GroupBy) -> None:
        """Set the grouping expressions and grouping sets."""
        sets_of_items = [self._sets(item) for item in node.items]
        for sets in sets_of_items:
            for group in sets:
                for expression in group:
                    self._add_group(expression)
        self.group_count = len(self.inputs)
        if any(len(sets) > 1 for sets in sets_of_items) or any(isinstance(i, ast.GroupingSets) for i in node.items):
            combined = [
                tuple(sorted({self._group_index(e) for part in parts for e in part}))
                for parts in product(*sets_of_items)
            ]
            if node.distinct:
                combined = list(dict.fromkeys(combined))
            counts = Counter(combined)
            combined = list(counts)
            self._repeat_sets(counts, node)
            self.group_sets = tuple(sorted(combined, key=lambda s: (*s, math.inf)))

    def _repeat_sets(self, counts: Counter[tuple[int, ...]], node: ast.GroupBy) -> None:
        """Grouping sets that come several times are those of further aggregations.

        Flink plans one of a single set only where that has all grouping columns.
        """
        for times in range(2, max(counts.values()) + 1):
            sets = tuple(sorted(s for s, n in counts.items() if n >= times))
            if len(sets) == 1 and len(sets[0]) < self.group_count:
                raise unsupported(
                    "a grouping set that comes twice and lacks a grouping column",
                    node.span,
                    "write each set once; ROLLUP and CUBE bring the empty set () with them",
                )
            self.repeated_sets.append(tuple(sorted(sets, key=lambda s: (*s, math.inf))))

    def group_by_columns(self, columns: Sequence[InputRef]) -> None:
        """Set columns as grouping expressions."""
        for column in columns:
            if column not in [r for r, _ in self.inputs]:
                self._append(column, self._column_name(column))
        self.group_count = len(self.inputs)

    def _sets(self, item: ast.GroupingElement) -> list[tuple[ast.Expression, ...]]:
        """The grouping sets that one element of GROUP BY stands for."""
        match item:
            case ast.GroupingTuple(items=items):
                return [items]
            case ast.GroupingSets(kind="GROUPING SETS", items=items):
                return [s for nested in items for s in self._sets(nested)]
            case ast.GroupingSets(kind="ROLLUP", items=items):
                units = [self._sets(i)[0] for i in items]
                return [tuple(e for u in units[:n] for e in u) for n in range(len(units), -1, -1)]
            case ast.GroupingSets(items=items):
                units = [self._sets(i)[0] for i in items]
                masks = sorted(product((True, False), repeat=len(units)), key=lambda m: m, reverse=True)
                return [tuple(e for u, kept in zip(units, m, strict=True) if kept for e in u) for m in masks]
            case ast.RowConstructor(items=items, explicit=False):
                return [items]
        assert isinstance(item, ast.Expression)
        return [(item,)]

    def _add_group(self, node: ast.Expression) -> None:
        rex = self._group_rex(node)
        if rex not in [r for r, _ in self.inputs]:
            self._append(rex, None if self._is_merged(node) else self.named.get(node) or self._column_name(rex))

    def _group_rex(self, node: ast.Expression) -> RexNode:
        rex = self._groups.get(node)
        if rex is None:
            if isinstance(node, ast.FunctionCall) and str(node.name).upper() in GROUP_WINDOWS:
                rex = group_window(self.below, node)
            else:
                rex = self.below.bind(node)
            self._groups[node] = rex
        return rex

    def _group_index(self, node: ast.Expression) -> int:
        rex = self._group_rex(node)
        return next(i for i, (r, _) in enumerate(self.inputs) if r == rex)

    def _is_merged(self, node: ast.Expression) -> bool:
        """Whether it is a merged column of JOIN … USING, which Flink treats as an expression without a name."""
        names = node.names if isinstance(node, ast.ColumnRef) else ()
        return any(m.is_named and names == (m.name,) for m in self.scope.merged)

    def _column_name(self, rex: RexNode) -> str | None:
        return self.scope.row_fields[rex.index][0] if isinstance(rex, InputRef) else None

    def _append(self, rex: RexNode, name: str | None) -> int:
        if name in [n for _, n in self.inputs]:
            name = None
        self.inputs.append((rex, name))
        return len(self.inputs) - 1

    def _add_input(self, rex: RexNode, is_named: bool = True) -> int:
        for i, (known, _) in enumerate(self.inputs):
            if known == rex:
                return i
        name = self._columns[rex.index] if is_named and isinstance(rex, InputRef) else None
        return self._append(rex, name)

    def _group_ref(self, index: int) -> InputRef:
        t = self.inputs[index][0].type
        return InputRef(index, t.nullable_() if self._may_be_left_out(index) else t)

    def _may_be_left_out(self, index: int) -> bool:
        return self.group_sets is not None and any(index not in s for s in self.group_sets)

    # Expressions above

    @property
    def grouping(self) -> Sequence[RexNode]:
        return [rex for rex, _ in self.inputs[: self.group_count]]

    def bind(self, node: ast.Expression) -> RexNode:
        index = self._as_group(node)
        return self._group_ref(index) if index is not None else super().bind(node)

    def _as_group(self, node: ast.Expression) -> int | None:
        """The grouping expression that the node equals."""
        if not self.group_count:
            return None
        if node not in self._groups and (has_aggregate(self.context, node) or any(map(_stands_alone, node.walk()))):
            return None
        try:
            rex = self._group_rex(node)
        except FlinkplanError:
            return None
        return next((i for i, (r, _) in enumerate(self.inputs[: self.group_count]) if r == rex), None)

    def column(self, node: ast.ColumnRef) -> RexNode:
        rex = self.below.column(node)
        if not _reads_input(rex):
            return rex
        raise BindError(
            f"the column '{node.span.text}' is neither grouped nor aggregated",
            node.span,
            f"add it to GROUP BY, or aggregate it, such as MAX({node.span.text})",
        )

    def star_column(self, rex: RexNode, name: str) -> RexNode:
        for i, (known, _) in enumerate(self.inputs[: self.group_count]):
            if known == rex:
                return self._group_ref(i)
        raise BindError(f"'*' brings the column '{name}', which is neither grouped nor aggregated", self._anywhere())

    def _anywhere(self) -> ast.Span:
        return next((n.span for n in self.named), ast.NO_SPAN)

    # Calls

    def aggregate(self, node: ast.FunctionCall, function: Function) -> RexNode:
        if function in (GROUPING, GROUPING_ID, GROUP_ID):
            return self._grouping(node, function)
        rex = self._bound.get(node)
        if rex is None:
            rex = self._bound[node] = self._aggregate(node, function)
        return rex

    def _aggregate(self, node: ast.FunctionCall, function: Function) -> RexNode:
        if node.order_by or node.within_group:
            hint = (
                "leave it out: rows are collected as they come, and Flink's plans have no other order for them either"
            )
            raise unsupported(f"an ORDER BY inside {node.name}", node.span, hint)
        check_null_treatment(function, node)
        operands = self._arguments(node, function)
        arguments = Arguments(tuple(o.type for o in operands), operands, self.group_count > 0 and node.filter is None)
        if function is PERCENTILE:
            _check_fraction(arguments.literal(1), node)
        merged = bool(node.args) and self._is_merged(node.args[0])
        argument_indexes = tuple(self._add_input(o, is_named=not merged) for o in operands)
        if function is COUNT and not node.distinct:
            indexed = zip(argument_indexes, arguments.types, strict=True)
            argument_indexes = tuple(index for index, t in indexed if t.nullable)
        if function is COUNT and len(argument_indexes) > 1:
            raise BindError("COUNT takes one argument", node.span)
        filter_index = -1
        if node.filter is not None:
            condition = self.below.condition(node.filter)
            if condition.type.nullable:
                condition = IS_TRUE.call(condition)
            filter_index = self._add_input(condition)
        return self._call(
            aggregate_call(
                function,
                argument_indexes,
                function.returns(arguments),
                name=self.named.get(node),
                filter_arg=filter_index,
                distinct=node.distinct and not function.aggregation.ignores_duplicates,
                ignore_nulls=bool(node.ignore_nulls),
            )
        )

    def _arguments(self, node: ast.FunctionCall, function: Function) -> tuple[RexNode, ...]:
        if any(isinstance(a, ast.Star) for a in node.args):
            if function is not COUNT:
                raise BindError(f"only COUNT takes *, not {function.name}", node.span)
            return ()
        for a in node.args:
            if has_aggregate(self.context, a):
                raise BindError("an aggregate function cannot stand inside another", a.span, "aggregate in a subquery")
        operands = [self.below.bind(a) for a in node.args if not isinstance(a, ast.Symbol)]
        if not operands and not isinstance(function, UserFunction):
            raise BindError(f"{function.name} needs an argument", node.span)
        return fit(function, tuple(operands), node.span)

    def _call(self, call: AggregateCall) -> InputRef:
        place = self._places.setdefault(replace(call, name=None), len(self.calls))
        if place == len(self.calls):
            self.calls.append(call)
        return InputRef(self.group_count + place, call.type)

    def _grouping(self, node: ast.FunctionCall, function: Function) -> RexNode:
        indexes = []
        for a in node.args:
            index = self._as_group(a)
            if index is None:
                raise BindError(f"{function.name} takes expressions of GROUP BY", a.span)
            indexes.append(index)
        return self._call(aggregate_call(function, indexes, function.returns(Arguments(())), name=self.named.get(node)))

    def group_window(self, node: ast.FunctionCall) -> RexNode:
        """TUMBLE_START(…) and similar functions read a property of the group window."""
        name = str(node.name).upper()
        if name not in WINDOW_AUXILIARIES:
            raise BindError(
                f"{name}(…) stands in GROUP BY; read its bounds with {name}_START and {name}_END", node.span
            )
        window, suffix = WINDOW_AUXILIARIES[name]
        rex = group_window(self.below, node, window)
        for i, (known, _) in enumerate(self.inputs[: self.group_count]):
            if known == rex:
                return Call(internal_name(name), (InputRef(i, known.type),), _property_type(suffix, rex, node))
        raise BindError(
            f"{name} has no matching {window}(…) in GROUP BY",
            node.span,
            f"GROUP BY {window}(…) with the same arguments",
        )

    # The result

    def build(self, rel: Rel, ttl: TtlHint | None, shown_hints: ShownHints | None = None) -> Rel:
        """The aggregate over the projection of grouping expressions and arguments."""
        names = uniquify(name for _, name in self.inputs)
        read = sorted(set(range(self.group_count)).union(*({*c.arg_list, c.filter_arg} - {-1} for c in self.calls)))
        place = {old: new for new, old in enumerate(read)}
        exprs = tuple(self.inputs[i][0] for i in read)
        if is_batch_mode(self.context.config):
            rel, exprs = _with_event_times(rel, exprs)
        below = Project(input=rel, exprs=exprs, names=tuple(names[i] for i in read))
        source: Rel = rel if not exprs or _is_identity(below) else below
        grouping = tuple(range(self.group_count))
        is_simple = self.group_sets == (grouping,) and not self.repeated_sets
        if is_simple and not self.calls and grouping and is_unique(source, grouping):
            return source

        def aggregate(sets: tuple[tuple[int, ...], ...] | None) -> Aggregate:
            return Aggregate(
                input=source,
                grouping=grouping,
                calls=remap_calls(self.calls, place),
                grouping_sets=None if sets == (grouping,) else sets,
                ttl=ttl,
                shown_hints=shown_hints,
            )

        first = aggregate(self.group_sets)
        if not self.repeated_sets:
            return first
        repeated = (_with_types_of(aggregate(sets), first) for sets in self.repeated_sets)
        return SetOp(kind=SetKind.UNION, all=True, operands=(first, *repeated))


def _with_types_of(rel: Aggregate, first: Aggregate) -> Rel:
    """The rows with columns cast to those of another aggregation, which lacks some grouping columns."""
    if rel.types == first.types:
        return rel
    exprs = tuple(cast(column, wanted) for column, wanted in zip(identity(rel.types), first.types, strict=True))
    return Project(input=rel, exprs=exprs, names=rel.names)


def _is_identity(project: Project) -> bool:
    columns = [e.index for e in project.exprs if isinstance(e, InputRef)]
    return columns == list(range(len(project.exprs))) and project.names == project.input.names


def _check_fraction(value: object, node: ast.FunctionCall) -> None:
    """Raise :class:`BindError` if the fraction of PERCENTILE is a literal that is not between 0 and 1."""
    if isinstance(value, str) and not 0 <= Decimal(value) <= 1:
        raise BindError(f"PERCENTILE takes a fraction from 0 to 1, not {value}", node.args[1].span)


def has_aggregate(context: Context, node: ast.Node) -> bool:
    """Whether an aggregate function is called in the node itself, not in a subquery or as a window function."""
    if isinstance(node, ast.Query):
        return False
    if isinstance(node, ast.FunctionCall):
        name = str(node.name).upper()
        function = context.function(node.name)
        aggregate = function is not None and function.kind is Kind.AGGREGATE
        if (aggregate or name in ("JSON_OBJECTAGG", "JSON_ARRAYAGG")) and node.over is None:
            return True
    return any(has_aggregate(context, child) for child in node.children())


def _stands_alone(node: ast.Node) -> bool:
    """Whether a node is part of a grouping expression only as it was written there: a subquery, a window function."""
    return isinstance(node, ast.Query) or (isinstance(node, ast.FunctionCall) and node.over is not None)


def _reads_input(rex: RexNode) -> bool:
    return bool(input_refs(rex))


# ---------------------------------------------------------------- group windows


def group_window(binder: ExpressionBinder, node: ast.FunctionCall, window: str | None = None) -> RexNode:
    """``TUMBLE(ts, size)``, ``HOP(ts, slide, size)``, ``SESSION(ts, gap)`` as a call of ``$TUMBLE`` ….

    Raises :class:`BindError` unless the first argument is a time attribute, or in batch mode any timestamp, and the
    others are intervals.
    """
    name = window or str(node.name).upper()
    function = GROUP_WINDOWS[name]
    operands = binder.bind_all(arguments_of(function, node))
    _check_time(binder.context, name, operands, node)
    for operand, argument in zip(operands[1:], node.args[1:], strict=True):
        if not is_interval(operand.type):
            raise BindError(f"{name} takes intervals, not {operand.type.nullable_()}", argument.span)
        if is_year_month(operand.type):
            raise BindError(f"{name} takes intervals of days or less", argument.span, "a month has no fixed length")
        if not is_constant(operand):
            raise BindError(f"the intervals of {name} must be constants", argument.span)
    if function.accept([o.type for o in operands]) is None:
        raise BindError(f"{name} takes {' or '.join(function.usage)}", node.span)
    return function.typed(operands[0].type, *operands)


def _check_time(context: Context, name: str, operands: Sequence[RexNode], node: ast.FunctionCall) -> None:
    """Raise :class:`BindError` unless the first operand is a time attribute, or in batch mode a timestamp."""
    t = operands[0].type if operands else None
    given = "" if t is None else f", not {t.nullable_()}"
    span = node.args[0].span if node.args else node.span
    if is_batch_mode(context.config):
        if t is None or t.root not in TIMESTAMPS:
            raise BindError(f"{name} takes a timestamp{given}", span)
        if t.is_proctime:
            raise BindError(f"{name} takes no processing time in batch mode", span, "take a column of the table")
    elif t is None or not t.is_time_attribute:
        hint = "declare a WATERMARK for the column, or use a column of PROCTIME()"
        raise BindError(f"the first argument of {name} must be a time attribute{given}", span, hint)


def _with_event_times(rel: Rel, exprs: tuple[RexNode, ...]) -> tuple[Rel, tuple[RexNode, ...]]:
    """The relation and expressions over it, in which the times that windows group by are event time, and not NULL."""
    times = {children(e)[0]: None for e in exprs if is_call(e, *GROUP_WINDOWS.values())}
    for time in times:
        if time.type.nullable:
            rel = Filter(input=rel, condition=IS_NOT_NULL.call(time))
        if time.type.is_time_attribute:
            continue
        if not isinstance(time, InputRef):
            outputs = (*identity(rel.types), time)
            rel = Project(input=rel, exprs=outputs, names=uniquify((*rel.names, None)))
        at = time.index if isinstance(time, InputRef) else len(rel.types) - 1
        rel = Watermark(input=rel, rowtime_index=at, expr=InputRef(at, time.type))
        event_time = InputRef(at, rel.types[at])

        def step(node: RexNode, time: RexNode = time, event_time: InputRef = event_time) -> RexNode:
            return event_time if node == time else node

        exprs = tuple(rewrite(e, step) for e in exprs)
    return rel, exprs


def _property_type(suffix: str, window: RexNode, node: ast.FunctionCall) -> LogicalType:
    t = window.type
    if suffix in ("START", "END"):
        return timestamp(3, nullable=False)
    if suffix == "PROCTIME" and not t.is_time_attribute:
        raise BindError(f"there is no {node.name} in batch mode", node.span, "a window has a start and an end there")
    if suffix == "ROWTIME":
        if t.is_proctime:
            raise BindError(f"{node.name} needs a window over event time", node.span)
        return t if t.is_time_attribute else replace(t, kind=TimeKind.ROWTIME)
    return timestamp_ltz(3, nullable=False, kind=TimeKind.PROCTIME)
