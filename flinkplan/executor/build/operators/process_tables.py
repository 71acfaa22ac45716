"""Process table functions."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ....plan.functions.process import DEFAULT, DESCRIPTOR, ProcessState
from ....plan.nodes import ProcessTableFunction
from ....plan.record import Record, replace
from ....plan.rex import Call, Literal, RexNode, TableArgument
from ....plan.specs import SortField
from ....plan.types import LogicalType
from ....udf.process_results import emitted_columns
from ...jvm.spark import F, T
from ...jvm.types import cast_type, spark_type
from ...prepare.choose.process_tables import (
    CalledTable,
    KernelFunction,
    ProcessCall,
    PythonFunction,
    PythonRowFunction,
    RowFunction,
)
from ...prepare.choose.python_aggregates import ROWS_AT_ONCE
from ...prepare.known.key_types import key_type
from ..context import PYTHON, TranslationContext
from ..java_functions import process_description, process_rows
from ..kernels import (
    boolean_array,
    java_record,
    java_type,
    key_columns,
    key_values,
    object_array,
    run_kernel,
    schema_of,
)
from ..python.functions import surroundings
from ..python.process_tables import by_key_group, process_code, python_rows, python_states
from ..registry import builder
from ..stream import INPUT, INSERT, KIND, LATENESS, ORDER, PASSED, ROW, SEQUENCE, TICK, TIME, Stream, column_name
from ..time.event_time import with_event_time
from ..windows.kernels import emitted, row_order, run_timed

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_SCALARS, _SORTED_BY = "__scalars", "__sorted_by"


@builder(RowFunction, ProcessTableFunction)
def row_function(
    node: ProcessTableFunction, step: RowFunction, inputs: tuple[Stream, ...], context: TranslationContext
) -> Stream:
    """Each row with the rows that the function emits for it."""
    return _each_row(node, step.call, inputs, context, process_rows, F.struct())


@builder(PythonRowFunction, ProcessTableFunction)
def python_row_function(
    node: ProcessTableFunction, step: PythonRowFunction, inputs: tuple[Stream, ...], context: TranslationContext
) -> Stream:
    """The same by Spark's Python workers."""
    context.record_kernel(PYTHON)
    return _each_row(node, step.call, inputs, context, python_rows, F.lit(0))  # Arrow has no empty rows


def _each_row(
    node: ProcessTableFunction,
    call: ProcessCall,
    inputs: tuple[Stream, ...],
    context: TranslationContext,
    rows_of: Callable[..., Column],
    no_row: Column,
) -> Stream:
    """``no_row``: what the function is handed where it takes no table."""
    (stream,) = inputs
    table = call.tables[0] if call.tables else None
    own = no_row if table is None else _typed_row(stream, table)
    kind = stream.frame[KIND] if stream.changelog else F.lit(INSERT).cast("tinyint")
    time = _time(stream, -1 if table is None else table.time)
    watermark = stream.frame[LATENESS] if LATENESS in stream.hidden else F.lit(None).cast("bigint")
    arguments = [own, kind, time, watermark, *(c for c in _scalars(node, call, context))]
    types = [t for _, t in call.declaration.result_fields]
    emitted_row = schema_of(types)
    rows = rows_of(context, node, call, arguments, emitted_row)
    if TICK in stream.hidden:  # a watermark passes once, whatever its row has
        nothing = F.array(F.lit(None).cast(emitted_row)).cast(T.ArrayType(emitted_row))
        rows = F.when(stream.frame[TICK].isNull(), rows).otherwise(nothing)
    names = [f"r{i}" for i in range(len(types))]
    frame = stream.frame.select("*", time.alias(TIME), F.inline(rows).alias(*names))
    columns = [frame[n] for n in names]
    if call.passes_columns:
        columns = [*(frame[column_name(i)] for i in range(len(stream.type.fields))), *columns]
    if call.emits_time:
        columns.append(F.timestamp_millis(frame[TIME]))
    hidden = [h for h in stream.hidden if h != KIND]
    selected = frame.select(*_named(node, columns), *(frame[h] for h in hidden))
    return replace(stream, frame=selected, type=node.output_type, changelog=False)


@builder(KernelFunction, ProcessTableFunction)
def keyed_function(
    node: ProcessTableFunction, step: KernelFunction, inputs: tuple[Stream, ...], context: TranslationContext
) -> Stream:
    """The rows of a key through the function, with its states."""
    call = step.call
    rows = _keyed_rows(node, step, inputs, context)
    function = java_record(
        context,
        "process.FunctionHost$Spec",
        keyed=rows.emits_key,
        passes=call.passes_columns,
        emitsTime=call.emits_time,
        function=process_description(context, node, call, step.ttls),
        states=_states(context, call.declaration.states, step.ttls),
        sorts=_sorts(context, call),
        orders=_orders(context, call.tables),
    )
    columns, changelog = rows.emitted, _emits_changes(node)
    if step.is_timed:
        result = run_timed(
            context, step, rows.frame, rows.width, columns=columns, changelog=changelog, function=function
        )
    else:
        result = run_kernel(
            context, step, rows.frame, rows.width, columns=columns, changelog=changelog, function=function
        )
    return _emitted(node, step, rows, result)


@builder(PythonFunction, ProcessTableFunction)
def python_function(
    node: ProcessTableFunction, step: PythonFunction, inputs: tuple[Stream, ...], context: TranslationContext
) -> Stream:
    """The rows of the keys of a key group through a function in Python, with their states."""
    call = step.call
    rows = _keyed_rows(node, step, inputs, context)
    code = process_code(context, node, call, step.ttls, keeps_timers=step.is_timed and call.sets_timers)
    function = java_record(
        context,
        "python.FunctionCalls$Spec",
        keys=rows.width,
        keyed=rows.emits_key,
        passes=call.passes_columns,
        emitsTime=call.emits_time,
        setsTimers=code.sets_timers,
        scalars=bool(code.scalars),
        results=schema_of(emitted_columns(code.result)),
        states=python_states(context, code),
        sorts=_sorts(context, call),
        orders=_orders(context, call.tables),
        python=str(context.spark.sparkContext.pythonExec),
        path=str(Path(__file__).parents[4]),
        program=bytearray(pickle.dumps((code, surroundings(context)))),
        batch=ROWS_AT_ONCE,
    )
    frame = by_key_group(rows.frame, rows.width)
    columns, changelog = rows.emitted, _emits_changes(node)
    if step.is_timed:
        result = run_timed(context, step, frame, 1, columns=columns, changelog=changelog, function=function)
    else:
        result = run_kernel(context, step, frame, 1, columns=columns, changelog=changelog, function=function)
    return _emitted(node, step, rows, result)


class _KeyedRows(Record):
    """The rows of all tables in one frame, whose first ``width`` columns are the key.

    ``emits_key``: the key comes before what the function emits.  ``emitted`` is the schema of what the kernel emits,
    but for the hidden columns; ``types`` are those of its columns but for the time.
    """

    inputs: tuple[Stream, ...]
    frame: DataFrame
    width: int
    emits_key: bool
    key_types: tuple[LogicalType, ...]
    types: tuple[LogicalType, ...]
    emitted: Any


def _keyed_rows(
    node: ProcessTableFunction, step: KernelFunction, inputs: tuple[Stream, ...], context: TranslationContext
) -> _KeyedRows:
    call = step.call
    if step.is_timed:
        inputs = tuple(with_event_time(stream) for stream in inputs)
    frame = _united(node, step, inputs, context)
    keys = call.tables[0].argument.partition_keys
    key_types = [inputs[0].type.field_types[k] for k in keys]
    before = list(inputs[0].type.field_types) if call.passes_columns else [key_type(t) for t in key_types]
    types = [*before, *(t for _, t in call.declaration.result_fields)]
    columns = schema_of(types)
    if call.emits_time:
        columns = columns.add(TIME, T.TimestampType()).add(PASSED, T.LongType())
    emits_key = bool(keys) and not call.passes_columns
    return _KeyedRows(inputs, frame, max(1, len(keys)), emits_key, tuple(key_types), tuple(types), columns)


def _emitted(node: ProcessTableFunction, step: KernelFunction, rows: _KeyedRows, result: DataFrame) -> Stream:
    """What a kernel emits, as the node's columns."""
    call = step.call
    values = [result[column_name(i)] for i in range(len(rows.types))]
    if not call.passes_columns:
        width = len(rows.key_types)
        keyed = key_values(values[:width], rows.key_types)
        values = [*keyed * len(call.tables), *values[width:]]
    hidden = [name for name in (KIND, ORDER, SEQUENCE) if name in result.columns]
    if call.emits_time:
        values.append(result[TIME])
        hidden.append(PASSED)
    selected = result.select(*_named(node, values), *hidden)
    if step.is_timed:
        return emitted(rows.inputs[0], selected, node.output_type, _emits_changes(node))
    return Stream(selected, node.output_type, changelog=_emits_changes(node), pulse=rows.inputs[0].pulse)


def _sorts(context: TranslationContext, call: ProcessCall) -> Any:
    """For each table whether its rows are sorted by time."""
    return boolean_array(context, [bool(table.argument.order_keys) for table in call.tables])


def _emits_changes(node: ProcessTableFunction) -> bool:
    return any(kind.value != "INSERT" for kind in node.output_changelog_mode or ())


def _named(node: ProcessTableFunction, columns: Sequence[Column]) -> list[Column]:
    types = node.output_type.field_types
    return [c.cast(cast_type(t)).alias(column_name(i)) for i, (c, t) in enumerate(zip(columns, types, strict=True))]


def _time(stream: Stream, index: int) -> Column:
    """A time of each row in milliseconds; NULL where ``index`` is -1."""
    return F.lit(None).cast("bigint") if index < 0 else F.unix_millis(stream.column(index))


def _typed_row(stream: Stream, table: CalledTable) -> Column:
    """A row as the function takes it: with the types that its class declares."""
    declared = table.declared.type
    if declared is None:
        return F.struct(*stream.columns)
    cast = [c.cast(cast_type(t)) for c, t in zip(stream.columns, declared.field_types, strict=True)]
    return F.struct(*(c.alias(column_name(i)) for i, c in enumerate(cast)))


def _row_type(stream: Stream, table: CalledTable) -> Sequence[LogicalType]:
    return stream.type.field_types if table.declared.type is None else table.declared.type.field_types


def _scalars(node: ProcessTableFunction, call: ProcessCall, context: TranslationContext) -> list[Column]:
    """The arguments of the class that are no tables; those that are left out are NULL."""
    columns = []
    assert node.call is not None
    for declared, operand in zip(call.declaration.arguments, node.call.operands, strict=False):
        if declared.is_table or type(operand) is TableArgument:
            continue
        assert declared.type is not None
        if declared.type.root == "DESCRIPTOR":
            columns.append(_column_names(operand))
        elif is_left_out(operand):
            columns.append(F.lit(None).cast(spark_type(declared.type)))
        else:
            columns.append(context.expression_over(operand, []).cast(cast_type(declared.type)))
    return columns


def _column_names(operand: RexNode) -> Column:
    """The names in a DESCRIPTOR; NULL where it is left out."""
    array = T.ArrayType(T.StringType())
    if type(operand) is not Call or operand.name != DESCRIPTOR:
        return F.lit(None).cast(array)
    return F.array(*(F.lit(str(o.value)) for o in operand.operands if type(o) is Literal)).cast(array)


def is_left_out(operand: RexNode) -> bool:
    """Whether an argument is left out."""
    return type(operand) is Call and operand.name == DEFAULT


def _united(
    node: ProcessTableFunction, step: KernelFunction, inputs: Sequence[Stream], context: TranslationContext
) -> DataFrame:
    """What ``FunctionSpec.java`` says of the input, of all tables in one frame.

    Which of several tables is ahead is left to chance in Flink; here no row is late for another table's sake.
    """
    call = step.call
    changelog = any(stream.changelog for stream in inputs)
    schemas = [schema_of(_row_type(s, t)) for s, t in zip(inputs, call.tables, strict=True)]

    def shaped(index: int, stream: Stream, table: CalledTable) -> DataFrame:
        rows = [
            (_typed_row(stream, table) if i == index else F.lit(None).cast(schema)).alias(f"row{i}")
            for i, schema in enumerate(schemas)
        ]
        scalars = _scalars(node, call, context) or [F.lit(0)]
        passed = F.struct(*stream.columns) if call.passes_columns else F.lit(None).cast("struct<none:boolean>")
        hidden = []
        if changelog:
            hidden.append((stream.frame[KIND] if stream.changelog else F.lit(INSERT).cast("tinyint")).alias(KIND))
            if not step.is_timed:
                place = stream.frame[ORDER] if ORDER in stream.hidden else F.lit(0).cast("bigint")
                hidden.append(place.alias(ORDER))
        carried = (LATENESS, PASSED) if step.is_timed and len(inputs) == 1 else ()
        hidden += [stream.frame[name] for name in carried if name in stream.hidden]
        hidden.append(stream.frame[SEQUENCE])
        return stream.frame.select(
            *key_columns(stream, table.argument.partition_keys),
            _time(stream, table.time).alias(TIME),
            _time(stream, (table.argument.order_keys or (-1,))[0]).alias(_SORTED_BY),
            F.lit(index).alias(INPUT),
            F.struct(*(c.alias(f"a{i}") for i, c in enumerate(scalars))).alias(_SCALARS),
            passed.alias(ROW),
            *rows,
            *hidden,
        )

    shapes = [shaped(i, s, t) for i, (s, t) in enumerate(zip(inputs, call.tables, strict=True))]
    return reduce(lambda a, b: a.union(b), shapes)


def _states(context: TranslationContext, states: Sequence[ProcessState], ttls: Sequence[int]) -> Any:
    made = [
        java_record(
            context,
            "process.FunctionStates$Spec",
            name=state.name,
            kind=state.kind,
            key=None if state.key is None else java_type(context, spark_type(state.key)),
            value=java_type(context, spark_type(state.value)),
            ttl=ttl,
        )
        for state, ttl in zip(states, ttls, strict=True)
    ]
    return object_array(context, getattr(context.runtime.process, "FunctionStates$Spec"), made)


def _orders(context: TranslationContext, tables: Sequence[CalledTable]) -> Any:
    """How rows of one time are sorted: by what stands behind the time in ORDER BY."""
    orders = [_order(context, table) for table in tables]
    return object_array(context, context.runtime.row.RowOrder, orders)


def _order(context: TranslationContext, table: CalledTable) -> Any:
    argument = table.argument
    further = list(zip(argument.order_keys or (), argument.order_directions or (), strict=True))[1:]
    if not further:
        return None
    fields = [SortField(key, d.startswith("ASC"), d.endswith("LAST")) for key, d in further]
    types = argument.type.field_types if table.declared.type is None else table.declared.type.field_types
    return row_order(context, schema_of(types), fields)
