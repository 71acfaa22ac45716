"""Calls of Java functions as Spark columns and as accumulators: by the user's classes, over Flink's conversions."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...plan.errors import FlinkplanError
from ...plan.functions.cast import CAST
from ...plan.functions.java import JavaFunction
from ...plan.nodes import ProcessTableFunction
from ...plan.record import replace
from ...plan.rex import Call, Literal, RexNode
from ...plan.types import LogicalType
from ...udf.opening import Surroundings
from ..jvm.java import java_class
from ..jvm.spark import T, sql
from ..jvm.types import spark_type
from ..prepare.choose.process_tables import CalledTable, ProcessCall
from .python.functions import surroundings

if TYPE_CHECKING:
    from pyspark.sql import Column

    from .context import TranslationContext
    from .stream import Stream

_ASYNC_RESULT = "__async"
"""The column that ``AsyncCalls`` adds."""


def call_column(context: TranslationContext, call: Call, function: JavaFunction, operands: Sequence[Column]) -> Column:
    """The column of a call of a scalar function."""
    described = _description(context, function, [o.type for o in call.operands], call.operands)
    return _column(context, function, described, spark_type(call.type), operands, emits_rows=False)


def with_async_calls(
    context: TranslationContext, stream: Stream, call: Call, function: JavaFunction, name: str
) -> Stream:
    """The rows with the column ``name`` of what an asynchronous function gives for each."""
    from .kernels import java_type

    described = _description(context, function, [o.type for o in call.operands], call.operands)
    arguments = [context.expression(o, stream).alias(f"__argument{i}") for i, o in enumerate(call.operands)]
    rows = stream.frame.select("*", *arguments)
    calls = context.runtime.udf.AsyncCalls
    made = calls.run(rows._jdf, described, len(arguments), java_type(context, spark_type(call.type)))
    frame = context.frame(made)
    kept = [frame[column] for column in stream.frame.columns]
    return replace(stream, frame=frame.select(*kept, frame[_ASYNC_RESULT].alias(name)))


def rows_column(
    context: TranslationContext,
    call: Call,
    function: JavaFunction,
    operands: Sequence[Column],
    row: T.DataType,
) -> Column:
    """The column of the rows that a table function emits for each row: arrays of ``row``."""
    described = _description(context, function, [o.type for o in call.operands], call.operands)
    return _column(context, function, described, T.ArrayType(row), operands, emits_rows=True)


def process_rows(
    context: TranslationContext,
    node: ProcessTableFunction,
    call: ProcessCall,
    arguments: Sequence[Column],
    row: T.DataType,
) -> Column:
    """The column of the rows that a process table function emits for each row by itself: arrays of ``row``."""
    described = process_description(context, node, call, ())
    assert isinstance(call.function, JavaFunction)
    return _column(context, call.function, described, T.ArrayType(row), arguments, emits_rows=True)


def process_description(
    context: TranslationContext, node: ProcessTableFunction, call: ProcessCall, ttls: Sequence[int]
) -> Any:
    """The Java description of a call of a process table function, with the TTLs of its states in milliseconds."""
    assert node.call is not None and isinstance(call.function, JavaFunction)
    by_argument = {id(table.argument): table for table in call.tables}
    tables = [_table(node, by_argument[id(o)]) if id(o) in by_argument else None for o in node.call.operands]
    times = {t.argument.type.field_names[t.time]: None for t in call.tables if t.time >= 0}
    emits = [kind.value for kind in node.output_changelog_mode or ()]
    further = {
        "tables": tables,
        "on_time": list(times),
        "emits": emits or ["INSERT"],
        "ttls": list(ttls),
        "timers": call.declaration.has_timers,
    }
    types = [o.type for o in node.call.operands]
    return _description(context, call.function, types, node.call.operands, further)


def _table(node: ProcessTableFunction, table: CalledTable) -> dict[str, Any]:
    argument = table.argument
    modes = node.input_changelog_modes
    kinds = modes[argument.input_index] if argument.input_index < len(modes) else ()
    return {
        "input": argument.input_index,
        "partition": list(argument.partition_keys),
        "order": list(argument.order_keys or ()),
        "directions": list(argument.order_directions or ()),
        "time": table.time,
        "kinds": [kind.value for kind in kinds],
    }


def aggregate_accumulator(
    context: TranslationContext, function: JavaFunction, columns: Sequence[int], types: Sequence[LogicalType]
) -> Any:
    """The Java accumulator of an aggregate function over a kernel's ``columns``, which are of these types."""
    from .kernels import int_array, java_type, object_array

    described = _description(context, function, types, ())
    data_type = java_class(context.spark._jvm, "org.apache.spark.sql.types.DataType")
    java_types = object_array(context, data_type, list(map(partial(java_type, context), map(spark_type, types))))
    can_merge = "merge" in function.declaration.methods
    return context.runtime.aggregate.UserFunction(described, int_array(context, columns), java_types, can_merge)


def _column(
    context: TranslationContext,
    function: JavaFunction,
    described: Any,
    result: T.DataType,
    operands: Sequence[Column],
    *,
    emits_rows: bool,
) -> Column:
    from .kernels import java_type

    call = context.runtime.udf.FunctionCall
    arguments = [operand._jc for operand in operands]
    made = call.column(described, java_type(context, result), function.declaration.deterministic, emits_rows, arguments)
    return sql.Column(made)


def _description(
    context: TranslationContext,
    function: JavaFunction,
    types: Sequence[LogicalType],
    operands: Sequence[RexNode],
    further: Mapping[str, Any] | None = None,
) -> Any:
    """The Java description of a call, by which each task opens a function of its own."""
    around = surroundings(context)
    declaration = function.declaration
    described = {
        "class": declaration.class_name,
        "name": function.name,
        "arguments": [_plain(t).text for t in types],
        "literals": [literal_text(o) for o in operands] or [None] * len(types),
        "parameters": dict(around.job_parameters),
        "task": around.task_name,
        "async": _asynchronous(around),
        **(further or {}),
    }
    if not declaration.jars:
        raise FlinkplanError(
            f"the class {declaration.class_name} of the function {function.name} is in no jar that is named",
            hint="name its jar: --jar PATH, or jars in pyproject.toml",
        )
    jars = context.runtime.udf.Jars(_sent(context, context.java_jars()), _sent(context, declaration.jars))
    return context.runtime.udf.Description(jars, json.dumps(described))


def _plain(t: LogicalType) -> LogicalType:
    """The type without time attributes, also among the fields of a row."""
    return replace(t, fields=tuple(replace(f, type=f.type.regular()) for f in t.fields)) if t.fields else t.regular()


def _asynchronous(around: Surroundings) -> dict[str, int]:
    how = around.asynchronous
    return {
        "concurrent": how.concurrent,
        "attempts": how.attempts,
        "retryDelay": round(how.delay * 1000),
        "timeout": round(how.timeout * 1000),
    }


def literal_text(operand: RexNode) -> str | None:
    """The value of a literal, also one that was cast, as text; ``None`` if it is none, or NULL."""
    while type(operand) is Call and operand.key == CAST.key:
        (operand,) = operand.operands
    if type(operand) is not Literal or operand.value is None:
        return None
    return str(operand.value).lower() if isinstance(operand.value, bool) else str(operand.value)


def _sent(context: TranslationContext, jars: Sequence[str]) -> list[str]:
    """The jars, which on a cluster go to all its machines."""
    spark = context.spark.sparkContext
    for jar in jars:
        if not Path(jar).is_file():
            raise FlinkplanError(f"there is no jar {jar}", hint="name it with --jar, or jars in pyproject.toml")
        if not str(spark.master).startswith("local["):
            spark.addFile(jar)
    return list(jars)
