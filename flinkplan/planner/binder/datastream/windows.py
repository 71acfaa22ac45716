"""Windows of the DataStream API: an entry of ``windows`` in a spec becomes a relation."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

from .... import advice
from ....plan import specs
from ....plan.durations import format_duration, format_iso_duration
from ....plan.functions.cast import REINTERPRET
from ....plan.functions.typing import is_interval
from ....plan.record import replace
from ....plan.rex import InputRef, RexNode, input_refs, transform
from ....plan.specs.window_parts import DeclaredArgument, ValueKind, WindowPart, declared_arguments
from ....plan.types import BIGINT, DOUBLE, NUMERIC, LogicalType, TimeKind, row, timestamp_ltz
from ...algebra.logical import LateRows, Project, WindowOperator
from ...algebra.names import uniquify
from ...algebra.rel import Rel
from ...algebra.stream_windows import StreamWindow
from ...rex.builder import convert
from ...rex.casts import can_cast_implicitly
from ...sql import ast
from ...sql.ast import stream_windows as w
from ..aggregates import AggregateBinder
from ..context import Context
from ..datatypes import resolve_type
from ..errors import BindError
from ..expressions import ExpressionBinder
from ..hints import SelectHints
from ..order import sort_field
from ..scope import Namespace, Scope
from ..tables import bind_from
from .python_classes import importable
from .rows import WindowRows

BOUNDS = ("window_start", "window_end", "window_time")
"""The window columns, which stand behind those of the window function."""

FIRINGS = ("window_firing", "key_firing")
"""How often the window, and all windows of its key, have fired: what an aggregate can read besides."""

_PROPERTIES = dict(zip((*BOUNDS, *FIRINGS), ("WindowStart", "WindowEnd", "WindowTime", "WindowFiring", "KeyFiring"),
                       strict=True))  # fmt: skip

P = TypeVar("P", bound=WindowPart)


def bind_window(context: Context, node: w.WindowQuery) -> Rel:
    """The relation of a window, or of its late rows.  Raises :class:`BindError` for what Flink refuses."""
    item = bind_from(context, node.source, None, SelectHints(context, ()))
    return _Window(context, node, item.rel, item.namespaces[0].row_type).bind()


class _Window:
    """One window being bound."""

    def __init__(self, context: Context, node: w.WindowQuery, source: Rel, row_type: LogicalType) -> None:
        self.context = context
        self.node = node
        self.source = source
        self.row_type = row_type
        self.rows = WindowRows(context, row_type)
        self.scope = self.rows.scope
        self.keys = tuple(dict.fromkeys(self.rows.column(key, "a key") for key in node.keys))
        self.time = self._time()

    def bind(self) -> Rel:
        node = self.node
        keeps_rows = not isinstance(node.function, w.AggregateWindow) or node.has_late_output
        for i in range(len(self.row_type.fields)) if keeps_rows else self.keys:
            self.rows.read(InputRef(i, self.row_type.fields[i].type))
        if self.time is not None and not keeps_rows:
            self.rows.read(InputRef(self.time, self.row_type.fields[self.time].type))
        assigner = self._assigner()
        trigger = self._trigger(assigner)
        if assigner.is_merging and not trigger.can_merge:
            raise BindError(
                f"{type(trigger).__name__} cannot be merged, as session windows must be",
                (node.trigger or node).span,
                "count, event-time, processing-time and continuous triggers can, and purging ones around them",
            )
        evictor = None if node.evictor is None else self._evictor(node.evictor)
        function, columns, output = self._function(node.function, assigner)
        has_classes = bool(specs.python_parts(assigner, trigger, evictor, function))
        if has_classes:
            self._check_python(trigger, evictor, function)
        self._warn(assigner, trigger, function)
        properties = (*BOUNDS, *(name for name in FIRINGS if name in self._used_firings))
        fields = [*columns, *((name, self._property_type(name, assigner)) for name in properties)]
        names = uniquify(name for name, _ in fields)
        rows = self.rows.relation(self.source)
        window = StreamWindow(
            keys=tuple(self.rows.place(key) for key in self.keys),
            time_index=-1 if self.time is None else self.rows.place(self.time),
            assigner=assigner,
            trigger=self.rows.settled(trigger),
            evictor=None if evictor is None else self.rows.settled(evictor),
            lateness=node.allowed_lateness,
            function=self.rows.settled_function(function),
            properties=tuple(_PROPERTIES[name] for name in properties),
            element_names=rows.names if has_classes else None,
        )
        row_type = row(zip(names, (t for _, t in fields), strict=True), nullable=False)
        operator = WindowOperator(rows=rows, window=window, fields=row_type)
        if node.is_late:
            return LateRows(operator=operator)
        bounds = {name: InputRef(len(columns) + i, fields[len(columns) + i][1]) for i, name in enumerate(properties)}
        chosen = [(name, rex) for name, rex in output(bounds) if name not in BOUNDS]
        chosen += [(name, bounds[name]) for name in BOUNDS]
        return Project(input=operator, exprs=tuple(rex for _, rex in chosen), names=tuple(name for name, _ in chosen))

    def _check_python(
        self, trigger: specs.Trigger, evictor: specs.Evictor | None, function: specs.WindowFunction
    ) -> None:
        """Refuse SQL over two rows where a Python class has the rows."""
        node = self.node
        deltas = [t for t in specs.triggers(trigger) if isinstance(t, specs.DeltaTrigger)]
        place = node.trigger if deltas else node.evictor if isinstance(evictor, specs.DeltaEvictor) else None
        if place is not None:
            message = "a delta in SQL cannot stand beside a Python class"
            raise BindError(message, place.span, "write the trigger or evictor as a Python class, too")
        if not isinstance(function, specs.ProcessWindowFunction):
            message = "a function in SQL cannot stand beside a Python assigner, trigger or evictor"
            raise BindError(message, node.function.span, "write 'process'")

    def _warn(self, assigner: specs.WindowAssigner, trigger: specs.Trigger, function: specs.WindowFunction) -> None:
        node = self.node
        if isinstance(trigger, specs.NeverTrigger):
            message = "nothing ever comes out of global windows without a trigger"
            hint = "add one, such as trigger: {purging: {count: 100}}"
            self.context.tell([advice.finding_of("window-never-fires", message, hint)], node.assigner.span)
        kept = assigner.size_ms + node.allowed_lateness
        copies = assigner.windows_per_row
        is_big = isinstance(assigner, specs.GlobalWindows) or kept * copies >= _BIG
        if node.evictor is not None and function.is_incremental and is_big:
            span = "for as long as the evictor leaves it"
            if not isinstance(assigner, specs.GlobalWindows):
                span = f"{'once' if copies == 1 else f'{copies:,} times'}, for {format_duration(kept)}"
            message = f"with an evictor nothing is aggregated as rows come: each row is kept {span}"
            hint = "without the evictor one accumulator a window would be kept"
            self.context.tell([advice.finding_of("window-keeps-rows", message, hint)], node.evictor.span)

    _used_firings: tuple[str, ...] = ()

    # The parts

    def _time(self) -> int | None:
        node = self.node.assigner
        if node.column is not None:
            index = self.rows.column(node.column, "the event time")
            if not self.row_type.fields[index].type.is_rowtime:
                raise BindError(
                    f"'{node.column.span.text}' is no event-time attribute",
                    node.column.span,
                    "declare a watermark for the column in its table",
                )
            return index
        times = [i for i, f in enumerate(self.row_type.fields) if f.type.is_rowtime]
        if len(times) > 1 and (node.is_event_time or _is_global(node)):
            names = ", ".join(self.row_type.fields[i].name for i in times)
            raise BindError(f"the rows have several event times: {names}", node.span, "choose one with 'on'")
        if not times and node.is_event_time:
            raise BindError(
                "windows of event time need a watermark, and the rows have none",
                node.span,
                "declare a watermark in the table, keep its column in the views between, or write time: processing",
            )
        return times[0] if len(times) == 1 else None

    def _assigner(self) -> specs.WindowAssigner:
        node = self.node.assigner
        if isinstance(node, w.PythonAssigner):
            return specs.PythonWindowAssigner(*importable(node.python), node.is_event_time, node.merges)
        return self._part(node, node.declaration, "a window")

    def _part(
        self,
        node: w.DeclaredAssigner | w.DeclaredTrigger | w.DeclaredEvictor,
        declaration: type[P],
        noun: str,
        **more: Any,
    ) -> P:
        """A part as it is declared.  Raises :class:`BindError` for values that Flink refuses."""
        values = {argument.name: argument.value for argument in node.arguments}
        bound = {
            declared.name: self._value(declared, values[declared.name], node, noun)
            for declared in declared_arguments(declaration)
            if declared.name in values
        }
        part = declaration(**bound, **more)
        problem = part.problem()
        if problem is not None:
            raise BindError(problem[0], node.span, problem[1])
        return part

    def _value(self, declared: DeclaredArgument, value: Any, node: ast.Node, noun: str) -> Any:
        """The value of a field, as the plan has it."""
        is_duration = declared.kind is ValueKind.DURATION
        if declared.argument.positive and value <= 0:
            name = declared.argument.noun or declared.argument.key
            text = format_duration(value) if is_duration else str(value)
            raise BindError(f"the {name} of {noun} must be positive, not {text}", node.span)
        match declared.kind:
            case ValueKind.DURATION:
                return format_iso_duration(value)
            case ValueKind.ROW_EXPRESSION:
                return self.rows.over_rows(self._gap(value))
            case ValueKind.PAIR_EXPRESSION:
                return self._delta(value)
            case ValueKind.TRIGGER:
                return self._as_trigger(value)
        return value

    def _gap(self, node: ast.Expression) -> RexNode:
        rex = ExpressionBinder(self.context, self.scope, "the gap of a session").bind(node)
        if is_interval(rex.type) and not rex.type.root.startswith("INTERVAL_YEAR"):
            return REINTERPRET.typed(BIGINT.with_nullability(rex.type.nullable), rex)
        if rex.type.root not in ("TINYINT", "SMALLINT", "INT", "BIGINT"):
            raise BindError(
                f"the gap of a session is a number of milliseconds or an interval, not {rex.type.nullable_()}",
                node.span,
                "write one such as gap_seconds * 1000",
            )
        return convert(BIGINT.with_nullability(rex.type.nullable), rex)

    def _trigger(self, assigner: specs.WindowAssigner) -> specs.Trigger:
        if self.node.trigger is not None:
            return self._as_trigger(self.node.trigger)
        if isinstance(assigner, specs.GlobalWindows):
            return specs.NeverTrigger()
        return specs.EventTimeTrigger() if assigner.is_event_time else specs.ProcessingTimeTrigger()

    def _as_trigger(self, node: w.Trigger) -> specs.Trigger:
        if isinstance(node, w.PythonTrigger):
            return specs.PythonTrigger(*importable(node.python), node.uses_clock)
        declaration = node.declaration
        if declaration.needs_event_time and not any(f.type.is_rowtime for f in self.row_type.fields):
            raise BindError(
                f"{declaration.__name__} needs a watermark, and the rows have none",
                node.span,
                "declare a watermark in the table, and keep its column in the views between",
            )
        if declaration.only_global and not _is_global(self.node.assigner):
            raise BindError(f"{declaration.__name__} is for global windows", node.span)
        return self._part(node, declaration, "a trigger")

    def _evictor(self, node: w.Evictor) -> specs.Evictor:
        if isinstance(node, w.PythonEvictor):
            return specs.PythonEvictor(False, *importable(node.python))
        return self._part(node, node.declaration, "an evictor", do_evict_after=node.after)

    def _delta(self, node: ast.Expression) -> RexNode:
        rex = ExpressionBinder(self.context, self.rows.pair, "a delta of two rows").bind(node)
        if rex.type.root not in NUMERIC:
            raise BindError(
                f"a delta is a number, not {rex.type.nullable_()}", node.span, "such as ABS(b.price - a.price)"
            )
        return self.rows.over_rows(convert(DOUBLE.with_nullability(rex.type.nullable), rex))

    # The function: its columns, and what the relation makes of them

    def _function(
        self, node: w.WindowFunction, assigner: specs.WindowAssigner
    ) -> tuple[specs.WindowFunction, Any, Any]:
        match node:
            case w.Reduce():
                return self._reduce(node)
            case w.AggregateWindow():
                return self._aggregate(node, assigner)
            case w.Elements():
                return self._elements(node)
            case w.Process():
                return self._process(node)

    def _plain_fields(self) -> list[tuple[str, LogicalType]]:
        """The columns of the rows, with time attributes as plain timestamps."""
        return [(f.name, f.type.regular()) for f in self.row_type.fields]

    def _as_rows(self, fields: Sequence[tuple[str, LogicalType]]) -> Any:
        return lambda bounds: [(name, InputRef(i, t)) for i, (name, t) in enumerate(fields)]

    def _reduce(self, node: w.Reduce) -> tuple[specs.WindowFunction, Any, Any]:
        fields = self._plain_fields()
        names = [name for name, _ in fields]
        exprs: list[RexNode] = [InputRef(i, f.type) for i, f in enumerate(self.row_type.fields)]
        for column in node.columns:
            name = column.name.name
            if name not in names:
                raise BindError(
                    f"there is no column '{name}' to reduce", column.name.span, f"the columns are {', '.join(names)}"
                )
            index = names.index(name)
            if index in self.keys:
                raise BindError(f"'{name}' is the key, which is the same in both rows", column.name.span)
            rex = ExpressionBinder(self.context, self.rows.pair, "a reduction of two rows").bind(column.expression)
            wanted = fields[index][1]
            if not can_cast_implicitly(rex.type, wanted):
                raise BindError(
                    f"'{name}' is {wanted.nullable_()}, but two of them are reduced to {rex.type.nullable_()}",
                    column.expression.span,
                    "cast the result",
                )
            exprs[index] = convert(wanted, rex)
        reduced = tuple(self.rows.over_rows(rex) for rex in exprs)
        return specs.ReduceFunction(reduced), fields, self._as_rows(fields)

    def _elements(self, node: w.Elements) -> tuple[specs.WindowFunction, Any, Any]:
        binder = ExpressionBinder(self.context, self.scope, "the order of a window's rows")
        order = []
        for item in node.order_by:
            rex = binder.bind(item.expression)
            if not isinstance(rex, InputRef):
                raise BindError("rows of a window are ordered by columns", item.span, "compute it in a view")
            order.append(sort_field(rex.index, item))
        if node.limit is not None:
            _positive(node.limit, "the number of rows", node)
        fields = self._plain_fields()
        return specs.Elements(node.limit, node.from_end, tuple(order)), fields, self._as_rows(fields)

    def _process(self, node: w.Process) -> tuple[specs.WindowFunction, Any, Any]:
        for field in self.row_type.fields:
            if field.type.root not in specs.PYTHON_TYPES:
                raise BindError(
                    f"a Python class cannot read the column '{field.name}' of the type {field.type.nullable_()}",
                    node.span,
                    "leave it out, or convert it, in a view",
                )
        fields = []
        for column in node.columns:
            kind = resolve_type(column.type)
            if kind.root not in specs.PYTHON_TYPES:
                raise BindError(f"a Python class cannot give values of the type {kind.nullable_()}", column.span)
            fields.append((column.name.name, kind))
        return specs.ProcessWindowFunction(*importable(node.python)), fields, self._as_rows(fields)

    def _aggregate(
        self, node: w.AggregateWindow, assigner: specs.WindowAssigner
    ) -> tuple[specs.WindowFunction, Any, Any]:
        width = len(self.row_type.fields)
        own = [name for name in (*BOUNDS, *FIRINGS)]
        fields = [(f.name if f.name not in own else None, f.type) for f in self.row_type.fields]
        types = [self._property_type(name, assigner) for name in own]
        named = zip(uniquify([*(n for n, _ in fields), *own]), [*(t for _, t in fields), *types], strict=True)
        scope = Scope((Namespace(row(named, nullable=False), 0, None),))
        aliases = {c.expression: c.name.name for c in node.columns}
        binder = AggregateBinder(self.context, scope, aliases, {}, [name for name, _ in scope.row_fields])
        groups = [*(InputRef(k, self.row_type.fields[k].type) for k in self.keys)]
        groups += [InputRef(width + i, t) for i, t in enumerate(types)]
        binder.group_by_columns(groups)
        values = [(c.name.name, binder.bind(c.expression)) for c in node.columns]
        key_count = binder.group_count - len(types)
        used = {i for _, rex in values for i in input_refs(rex)}
        self._used_firings = tuple(n for i, n in enumerate(own) if n in FIRINGS and key_count + i in used)
        if "window_firing" in self._used_firings and assigner.is_merging:
            place = next(c.expression.span for c in node.columns if "window_firing" in c.expression.span.text)
            raise BindError(
                "windows that merge have no state of their own to count firings in", place, "use key_firing"
            )
        calls = tuple(self._call(call, binder) for call in binder.calls)
        columns = [(self.row_type.fields[k].name, self.row_type.fields[k].type.regular()) for k in self.keys]
        columns = columns[:key_count]
        columns += [(call.name or f"$f{i}", call.type) for i, call in enumerate(calls, key_count)]

        def output(bounds: dict[str, InputRef]) -> Iterable[tuple[str, RexNode]]:
            def moved(part: RexNode) -> RexNode:
                if not isinstance(part, InputRef):
                    return part
                if part.index < key_count:
                    return InputRef(part.index, columns[part.index][1])
                if part.index < binder.group_count:
                    return bounds[own[part.index - key_count]]
                return replace(part, index=part.index - len(types))

            return [(name, transform(rex, moved)) for name, rex in values]

        return specs.AggregateFunction(calls), columns, output

    def _call(self, call: specs.AggregateCall, binder: AggregateBinder) -> specs.AggregateCall:
        def place(index: int) -> int:
            if index < 0:
                return -1
            rex = binder.inputs[index][0]
            if any(i >= len(self.row_type.fields) for i in input_refs(rex)):
                raise BindError(
                    "an aggregate function reads rows, not the window that they are in",
                    self.node.function.span,
                    f"write {', '.join(BOUNDS)} outside of it; a column of this name needs another one in a view",
                )
            return self.rows.read(rex)

        return replace(call, arg_list=tuple(map(place, call.arg_list)), filter_arg=place(call.filter_arg))

    def _property_type(self, name: str, assigner: specs.WindowAssigner) -> LogicalType:
        """The type of a column of the window; global windows have neither bounds nor time."""
        if name in FIRINGS:
            return BIGINT.not_null()
        bound = timestamp_ltz(3, nullable=False)
        if assigner.is_event_time and self.time is not None:
            bound = replace(self.row_type.fields[self.time].type.regular(), nullable=False)
        if isinstance(assigner, specs.GlobalWindows):
            return bound.nullable_()
        if name != "window_time":
            return bound
        if not assigner.is_event_time:
            return timestamp_ltz(3, nullable=False, kind=TimeKind.PROCTIME)
        return replace(bound, kind=TimeKind.ROWTIME)


_BIG = 3_600_000
"""Milliseconds of kept rows, over all windows of a row, from which on an evictor causes a warning."""


def _is_global(node: w.WindowAssigner) -> bool:
    return isinstance(node, w.DeclaredAssigner) and node.declaration is specs.GlobalWindows


def _positive(value: int, name: str, node: ast.Node) -> int:
    if value <= 0:
        raise BindError(f"{name} must be positive, not {value}", node.span)
    return value
