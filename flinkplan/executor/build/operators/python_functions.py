"""Nodes that call Python functions of a user for each row."""

from __future__ import annotations

from ....plan.nodes.python import PythonAsyncCalc, PythonCalc, PythonCorrelate
from ....plan.record import replace
from ....plan.rex import Call
from ....udf.scalar import ScalarCalls
from ....udf.tables import TableCall
from ...jvm.spark import F, T, fields
from ...jvm.types import spark_type
from ...prepare.choose.python_functions import PythonCalls, PythonTableCall, with_plain_times
from ..context import PYTHON, TranslationContext
from ..python.functions import CallsOfNode, arrow_column, by_watermark_of_bundles, surroundings
from ..registry import builder
from ..stream import Stream, column_name
from .table_functions import uncorrelated

RESULT = "__result"
"""What the functions of a node have computed, until its columns are selected."""


@builder(PythonCalls, PythonCalc, PythonAsyncCalc)
def python_calc(
    node: PythonCalc | PythonAsyncCalc, step: PythonCalls, inputs: tuple[Stream, ...], context: TranslationContext
) -> Stream:
    """Calls of functions, columns and literals."""
    stream = by_watermark_of_bundles(inputs[0], context)
    context.record_kernel(PYTHON)
    projection = tuple(map(with_plain_times, node.projection))
    outermost = {i: rex for i, rex in enumerate(projection) if type(rex) is Call}
    calls = CallsOfNode(stream, context)
    results = tuple(calls.called(rex) for rex in outermost.values())
    types = tuple(rex.type for rex in outermost.values())
    if not results:
        return stream.select([context.expression(rex, stream) for rex in projection], node.output_type)
    work = ScalarCalls(tuple(calls.codes), calls.types, calls.names, results, types, surroundings(context))
    struct = T.StructType([T.StructField(f"f{i}", spark_type(t)) for i, t in enumerate(types)])
    one = len(types) == 1  # Spark copies structs value by value
    column = arrow_column(work, struct[0].dataType if one else struct, calls.columns).alias(RESULT)
    called = replace(stream, frame=stream.frame.select("*", column))
    result = called.frame[RESULT]
    fields_of = {place: result if one else result[f"f{number}"] for number, place in enumerate(outermost)}
    columns = [fields_of.get(i) for i in range(len(projection))]
    return called.select(
        [
            context.expression(rex, called) if column is None else column
            for rex, column in zip(projection, columns, strict=True)
        ],
        node.output_type,
    )


@builder(PythonTableCall, PythonCorrelate)
def python_correlate(
    node: PythonCorrelate, step: PythonTableCall, inputs: tuple[Stream, ...], context: TranslationContext
) -> Stream:
    """Each row with the rows that a table function yields for it; LEFT: or with NULLs, if there are none."""
    stream = by_watermark_of_bundles(inputs[0], context)
    context.record_kernel(PYTHON)
    width = len(stream.type.fields)
    types = node.output_type.field_types[width:]
    calls = CallsOfNode(stream, context)
    call = calls.called(with_plain_times(uncorrelated(node.function_call, stream.type)))
    work = TableCall(tuple(calls.codes), calls.types, calls.names, (call,), tuple(types), surroundings(context))
    row = T.StructType([T.StructField(column_name(i), spark_type(t)) for i, t in enumerate(types)])
    column = arrow_column(work, T.ArrayType(row), calls.columns).alias(RESULT)
    called = stream.frame.select("*", column)
    names = [f"r{i}" for i in range(len(types))]
    explode = F.inline_outer if node.join_type == "LEFT" else F.inline
    frame = called.select(*stream.frame.columns, explode(called[RESULT]).alias(*names))
    columns = [*(frame[column_name(i)] for i in range(width)), *(frame[name] for name in names)]
    named = [c.alias(column_name(i)) for i, c in enumerate(columns)]
    return replace(stream, frame=fields.select(frame, [*named, *stream.hidden]), type=node.output_type)
