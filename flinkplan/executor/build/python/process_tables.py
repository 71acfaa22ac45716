"""Process table functions in Python: what Spark's workers and the processes of kernels have to know of a call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ....plan.functions.process import DEFAULT
from ....plan.functions.user import PythonFunction
from ....plan.nodes import ProcessTableFunction
from ....plan.rex import Call, TableArgument
from ....plan.types import STRING, LogicalType, array
from ....udf.process_interfaces import TableSemantics
from ....udf.process_states import StateCode
from ....udf.process_tables import ProcessCode, ProcessTable, RowCalls
from ...jvm.spark import F, T
from ...jvm.types import spark_type
from ...prepare.choose.process_tables import CalledTable, ProcessCall
from ...prepare.choose.python_aggregates import KEY_GROUPS
from ..context import TranslationContext
from ..kernels import java_record, kernel_class, object_array
from .functions import arrow_column, function_code, surroundings

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

KEY_GROUP = "__key_group"


def python_rows(
    context: TranslationContext,
    node: ProcessTableFunction,
    call: ProcessCall,
    arguments: Sequence[Column],
    row: T.DataType,
) -> Column:
    """The column of the rows that a function emits for each row by itself: arrays of ``row``."""
    work = RowCalls(process_code(context, node, call, (), keeps_timers=False), surroundings(context))
    return arrow_column(work, T.ArrayType(row), arguments)


def by_key_group(frame: DataFrame, keys: int) -> DataFrame:
    """The rows, with the number of a key group before their first ``keys`` columns, which are the key."""
    number = F.pmod(F.hash(*frame.columns[:keys]), F.lit(KEY_GROUPS)).alias(KEY_GROUP)
    return frame.select(number, "*")


def python_states(context: TranslationContext, code: ProcessCode) -> Any:
    """The states of a call, as the kernel keeps them."""
    states = [
        java_record(context, "python.FunctionCalls$State", name=state.name, content=_content(state), ttl=state.ttl)
        for state in code.states
    ]
    return object_array(context, kernel_class(context, "python.FunctionCalls$State"), states)


def _content(state: StateCode) -> T.StructType:
    """What is kept of a state for a key."""
    fields = state.stored.fields
    return T.StructType([T.StructField(f.name, spark_type(f.type), f.type.nullable) for f in fields])


def process_code(
    context: TranslationContext,
    node: ProcessTableFunction,
    call: ProcessCall,
    ttls: Sequence[int],
    *,
    keeps_timers: bool,
) -> ProcessCode:
    """What a worker has to know of a call, whose states have these TTLs in milliseconds."""
    assert isinstance(call.function, PythonFunction) and node.call is not None
    arguments: list[int | None] = []
    scalars: list[LogicalType] = []
    for declared, operand in zip(call.declaration.arguments, node.call.operands, strict=False):
        if type(operand) is TableArgument:
            arguments.append(operand.input_index)
            continue
        is_left_out = type(operand) is Call and operand.name == DEFAULT
        arguments.append(None if is_left_out else ~len(scalars))
        assert declared.type is not None
        scalars.append(array(STRING) if declared.type.root == "DESCRIPTOR" else declared.type)
    states = zip(call.declaration.states, ttls, strict=False)
    return ProcessCode(
        function=function_code(call.function, context),
        tables=tuple(_table(node, table) for table in call.tables),
        arguments=tuple(arguments),
        scalars=tuple(scalars),
        states=tuple(StateCode(state.name, state.kind, state.value, state.key, ttl) for state, ttl in states),
        result=call.declaration.result,
        emits=tuple(kind.value for kind in node.output_changelog_mode or ()) or ("INSERT",),
        keeps_timers=keeps_timers,
        sets_timers=call.sets_timers,
        zone=context.time_zone,
    )


def _table(node: ProcessTableFunction, table: CalledTable) -> ProcessTable:
    argument = table.argument
    t = argument.type if table.declared.type is None else table.declared.type
    modes = node.input_changelog_modes
    kinds = modes[argument.input_index] if argument.input_index < len(modes) else ()
    semantics = TableSemantics(
        column_names=argument.type.field_names,
        partition_keys=argument.partition_keys,
        order_keys=argument.order_keys or (),
        directions=argument.order_directions or (),
        time=table.time,
        kinds=tuple(kind.value for kind in kinds),
    )
    return ProcessTable(table.declared.name, t.field_names, t.field_types, semantics)
