"""Windows of the DataStream API: Flink's window operator as a kernel, and its late rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ....plan.durations import parse_iso_duration
from ....plan.nodes import LateRows, WindowOperator
from ....plan.record import replace
from ....plan.rex import RexNode
from ....plan.specs import (
    AggregateFunction,
    DeltaTrigger,
    DynamicEventTimeSessionWindows,
    Elements,
    EventTimeSessionWindows,
    Evictor,
    ReduceFunction,
    Trigger,
    WindowAssigner,
    triggers,
)
from ....plan.specs.window_parts import constructor_arguments
from ....plan.types import BIGINT, TIMESTAMPS, LogicalType
from ....windowing.operator import Timing, Ttls
from ...errors import ExecutionError
from ...jvm.spark import F, sql
from ...jvm.types import spark_type
from ...prepare.choose.stream_windows import KernelWindowOperator, NativeWindowOperator, PythonWindowOperator
from ...prepare.known.key_types import key_type
from ...prepare.steps import Native
from ..accumulators import java_calls
from ..context import PYTHON, TranslationContext
from ..kernels import key_values, made_kernel, run, schema_of
from ..python.windows import (
    PythonOperator,
    decoded,
    encoded,
    python_function,
    python_part,
)
from ..python.workers import run_python
from ..registry import builder
from ..stream import (
    BEHIND,
    CAUSE,
    CAUSE_ROW,
    CAUSE_TIME,
    END,
    FIRING,
    GAP,
    KEY_FIRING,
    LATE,
    LATENESS,
    PASSED,
    ROW,
    SEQUENCE,
    START,
    TIME,
    Stream,
    column_name,
)
from ..time.event_time import in_emission_order, with_event_time
from ..windows.kernels import row_order, timed_input
from ..windows.native_aggregates import group_windows

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_PROPERTIES = {"WindowFiring": FIRING, "KeyFiring": KEY_FIRING}


@builder(NativeWindowOperator, WindowOperator)
def native_window_operator(
    node: WindowOperator, step: NativeWindowOperator, inputs: tuple[Stream, ...], context: TranslationContext
) -> Stream:
    """Windows that fire once, by Spark's own grouping."""
    stream = _in_order(node, step, inputs, context)
    columns, frame = group_windows(stream, step.aggregation, context)
    last = frame[END] - 1
    hidden = {
        SEQUENCE: F.unix_millis(frame[TIME]) + F.lit(BEHIND),
        LATENESS: last - 1,
        CAUSE_TIME: last,
        CAUSE_ROW: F.lit(-1).cast("bigint"),
    }
    result = frame.select("*", *(column.alias(name) for name, column in hidden.items()))
    return _emitted(node, step, stream, columns, result)


@builder(KernelWindowOperator, WindowOperator)
def kernel_window_operator(
    node: WindowOperator, step: KernelWindowOperator, inputs: tuple[Stream, ...], context: TranslationContext
) -> Stream:
    """Rows of a key into windows, which triggers hand to the function."""
    stream = _in_order(node, step, inputs, context)
    columns, result = _kernel(node, step, stream, _frame(node, stream, step.has_late, context), context)
    return _emitted(node, step, stream, columns, result, _late(node, result, stream.type) if step.has_late else None)


@builder(PythonWindowOperator, WindowOperator)
def python_window_operator(
    node: WindowOperator, step: PythonWindowOperator, inputs: tuple[Stream, ...], context: TranslationContext
) -> Stream:
    """The same by Python classes."""
    stream = _in_order(node, step, inputs, context)
    columns, result = _python(node, step, stream, _frame(node, stream, step.has_late, context), context)
    return _emitted(node, step, stream, columns, result, _late(node, result, stream.type) if step.has_late else None)


_WindowStep = NativeWindowOperator | KernelWindowOperator | PythonWindowOperator


def _in_order(
    node: WindowOperator, step: _WindowStep, inputs: tuple[Stream, ...], context: TranslationContext
) -> Stream:
    """The rows as windows take them: in Flink's order, and with event time where that brings something about."""
    (stream,) = inputs
    for order in step.runs_before:
        stream = in_emission_order(order, stream, context)
    if step.by_events:
        stream = with_event_time(stream)
    return _refuse_null_keys(stream, node.keys[0]) if len(node.keys) == 1 else stream


def _frame(node: WindowOperator, stream: Stream, has_late: bool, context: TranslationContext) -> DataFrame:
    times = [_time(node, stream).alias(TIME), _gap(node, stream, context).alias(GAP)]
    return timed_input(stream, node.keys, [*times, _row(node, stream, has_late).alias(ROW)])


def _emitted(
    node: WindowOperator,
    step: _WindowStep,
    stream: Stream,
    columns: Sequence[Column],
    result: DataFrame,
    late: DataFrame | None = None,
) -> Stream:
    """What the operator emits: the ``columns`` of its function, and the properties of windows, of ``result``."""
    values = [*columns, *(_property(p, result) for p in node.properties)]
    types = [spark_type(t) for t in node.output_type.field_types]
    named = [v.cast(t).alias(column_name(i)) for i, (v, t) in enumerate(zip(values, types, strict=True))]
    cause = F.struct(result[CAUSE_TIME].alias("time"), result[CAUSE_ROW].alias("row")).alias(CAUSE)
    main = result if late is None else result.where(result[LATE].isNull())
    emitted = main.select(*named, SEQUENCE, main[LATENESS].alias(PASSED), cause)
    event_time = step.by_events and not step.by_clock
    return replace(stream, frame=emitted, type=node.output_type, event_time=event_time, late=late)


def _function_types(node: WindowOperator) -> list[LogicalType]:
    return list(node.output_type.field_types[: len(node.output_type.fields) - len(node.properties)])


def _counts(node: WindowOperator) -> bool:
    return any(p in _PROPERTIES for p in node.properties)


def _ttls(node: WindowOperator) -> list[int]:
    return [node.ttl_ms(i) for i in range(len(node.metadata.states))]


def _kernel(
    node: WindowOperator, step: KernelWindowOperator, stream: Stream, frame: DataFrame, context: TranslationContext
) -> tuple[list[Column], DataFrame]:
    """The operator's output, and the columns of its function there."""
    columns = _function_types(node)
    key_types = [stream.type.field_types[k] for k in node.keys]
    if isinstance(node.function, AggregateFunction):
        columns[: len(key_types)] = map(key_type, key_types)
    package, parts = context.runtime.window, _JavaParts(context, stream.type)
    kernel = made_kernel(
        context,
        step,
        frame,
        columns=schema_of(columns),
        assigner=parts.part(node.assigner),
        trigger=parts.part(node.trigger),
        evictor=None if node.evictor is None else parts.part(node.evictor),
        function=_function(node, stream, context),
        lateness=node.lateness_ms,
        late=step.has_late,
        ttls=package.Ttls(*_ttls(node)),
        timing=getattr(package, "WindowOperator$Timing")(step.by_clock, step.by_events, bool(step.runs_before)),
        counts=_counts(node),
    )
    result = run(context, frame, max(1, len(node.keys)), kernel.counting(context.late_rows))
    values = [result[column_name(i)] for i in range(len(columns))]
    if isinstance(node.function, AggregateFunction):
        values[: len(key_types)] = key_values(values[: len(key_types)], key_types)
    return values, result


def _python(
    node: WindowOperator, step: PythonWindowOperator, stream: Stream, frame: DataFrame, context: TranslationContext
) -> tuple[list[Column], DataFrame]:
    """The same by Python classes."""
    types, folders = _function_types(node), context.python.folders
    stored = [BIGINT if t.root in TIMESTAMPS else t for t in types]
    operator = PythonOperator(
        python_part(node.assigner, folders),
        python_part(node.trigger, folders),
        None if node.evictor is None else python_part(node.evictor, folders),
        python_function(node.function, folders),
        node.keys,
        node.element_names or (),
        tuple(stream.type.field_types),
        tuple(f.name for f in node.output_type.fields[: len(types)]),
        tuple(types),
        node.lateness_ms,
        True,
        _counts(node),
        Ttls(*_ttls(node)),
        Timing(step.by_clock, step.by_events, bool(step.runs_before), LATENESS in frame.columns),
        context.python.allowed,
    )
    operator.made()
    context.record_kernel(PYTHON)
    result = run_python(frame, frame.columns[: max(1, len(node.keys))], operator, schema_of(stored))
    if not step.has_late:  # they are counted here: Spark's Python workers have no counters of Java's
        on_time = context.late_rows.filter(result[LATE].isNull()._jc, F.lit(True)._jc)
        result = result.where(sql.Column(on_time))
    return [decoded(result[column_name(i)], t) for i, t in enumerate(types)], result


def _row(node: WindowOperator, stream: Stream, has_late: bool) -> Column:
    """A row as one struct, as the operator keeps it; columns that it does not look at are NULL, which is short."""
    columns = stream.columns
    if node.python_parts:
        pairs = zip(columns, stream.type.field_types, strict=True)
        columns = tuple(encoded(c, t).alias(column_name(i)) for i, (c, t) in enumerate(pairs))
    elif (aggregated := _aggregated_columns(node, has_late)) is not None:
        nothing = F.lit(False)
        columns = tuple(
            c if i in aggregated else F.when(nothing, c).alias(column_name(i)) for i, c in enumerate(columns)
        )
    return F.struct(*columns)


def _aggregated_columns(node: WindowOperator, has_late: bool) -> frozenset[int] | None:
    """The columns of its input that an operator aggregates; ``None``: something may see whole rows."""
    function = node.function
    if has_late or node.evictor is not None or not isinstance(function, AggregateFunction):
        return None
    if any(isinstance(trigger, DeltaTrigger) for trigger in triggers(node.trigger)):
        return None
    return frozenset(i for call in function.agg_calls for i in (*call.arg_list, call.filter_arg))


def _late(node: WindowOperator, result: DataFrame, input_type: LogicalType) -> DataFrame:
    late = result.where(result[LATE].isNotNull())
    columns = [late[LATE][column_name(i)] for i in range(len(input_type.fields))]
    if node.python_parts:
        columns = [decoded(c, t) for c, t in zip(columns, input_type.field_types, strict=True)]
    return late.select(*(c.alias(column_name(i)) for i, c in enumerate(columns)), SEQUENCE, LATENESS)


@builder(Native, LateRows)
def late_rows(node: LateRows, step: Native, inputs: tuple[Stream, ...], context: TranslationContext) -> Stream:
    """The rows that came too late for a window operator, with the watermark that they came behind."""
    (stream,) = inputs
    assert stream.late is not None
    return replace(stream, frame=stream.late, type=node.output_type, late=None)


def _refuse_null_keys(stream: Stream, key: int) -> Stream:
    """Fail where the one column of a key is NULL, as Flink's key selectors do."""
    if not stream.type.field_types[key].nullable:
        return stream
    column = stream.column(key)
    message = F.lit(f"the key '{stream.type.field_names[key]}' of a window is NULL")
    checked = F.when(column.isNull(), F.raise_error(message)).otherwise(column).cast(stream.frame.schema[key].dataType)
    return replace(stream, frame=stream.frame.withColumn(column_name(key), checked))


def _time(node: WindowOperator, stream: Stream) -> Column:
    if node.time_attribute_index < 0:
        return F.lit(None).cast("bigint")
    return F.unix_millis(stream.column(node.time_attribute_index))


def _gap(node: WindowOperator, stream: Stream, context: TranslationContext) -> Column:
    match node.assigner:
        case DynamicEventTimeSessionWindows(session_window_time_gap_extractor=gap):
            return context.expression(gap, stream).cast("bigint")
        case EventTimeSessionWindows(session_timeout=timeout):
            return F.lit(parse_iso_duration(timeout)).cast("bigint")
    return F.lit(None).cast("bigint")


def _property(name: str, result: DataFrame) -> Column:
    match name:
        case "WindowStart":
            return F.timestamp_millis(result[START])
        case "WindowEnd":
            return F.timestamp_millis(result[END])
        case "WindowTime":
            return F.timestamp_millis(result[END] - 1)
    return result[_PROPERTIES[name]]


# ---------------------------------------------------------------- the parts in Java


def _pair(context: TranslationContext, rexes: Sequence[RexNode], row: LogicalType) -> Any:
    """Expressions over two rows of a type, compiled where they run."""
    schema = schema_of([*row.field_types, *row.field_types])
    frame = context.spark.createDataFrame(context.spark.sparkContext.emptyRDD(), schema)
    columns = [frame[name] for name in schema.names]
    values = [context.expression_over(rex, columns).alias(f"v{i}") for i, rex in enumerate(rexes)]
    return context.runtime.window.PairFunction.of(frame.select(*values)._jdf)


class _JavaParts:
    """Assigners, triggers and evictors in Java; triggers that keep a number have a slot of their own for it."""

    def __init__(self, context: TranslationContext, row: LogicalType) -> None:
        self.context = context
        self.row = row
        self.slots = 0

    def part(self, part: WindowAssigner | Trigger | Evictor) -> Any:
        """The part in Java."""
        arguments = [*constructor_arguments(part, self.part, lambda delta: _pair(self.context, [delta], self.row))]
        if isinstance(part, WindowAssigner):
            arguments.append(part.is_event_time)
        elif isinstance(part, Evictor):
            arguments.append(part.do_evict_after)
        elif part.keeps_number:
            arguments.append(self.slots)
            self.slots += 1
        return getattr(self.context.runtime.window, _java_class(part))(*arguments)


def _java_class(part: WindowAssigner | Trigger | Evictor) -> str:
    """Such as ``Trigger$Count`` of a ``CountTrigger``."""
    if isinstance(part, WindowAssigner):
        return f"Assigner${part.kind.capitalize()}"
    base = "Trigger" if isinstance(part, Trigger) else "Evictor"
    return f"{base}${type(part).__name__.removesuffix(base)}"


def _function(node: WindowOperator, stream: Stream, context: TranslationContext) -> Any:
    package, function = context.runtime.window, node.function
    row = context.java_schema(schema_of(stream.type.field_types))
    match function:
        case ReduceFunction(columns=columns):
            return getattr(package, "Function$Reduce")(_pair(context, columns, stream.type), row)
        case AggregateFunction(agg_calls=calls):
            position = {i: i for i in range(len(stream.type.fields))}
            made = context.runtime.aggregate.Aggregation(java_calls(context, row, stream, calls, position))
            return getattr(package, "Function$Aggregate")(made, node.assigner.is_merging, bool(node.keys))
        case Elements(limit=limit, from_end=from_end, order_by=order):
            schema = schema_of(stream.type.field_types)
            by = row_order(context, schema, order) if order else None
            return getattr(package, "Function$Elements")(-1 if limit is None else limit, from_end, by)
    raise ExecutionError(f"the function {type(function).__name__} cannot be executed")
