"""Windows that count the rows of a key."""

from __future__ import annotations

from ....plan.record import replace
from ...jvm.spark import fields
from ...prepare.choose.group_windows import KernelCountWindows
from ...prepare.known.key_types import key_type
from ..context import TranslationContext
from ..kernels import key_values, keyed, run_kernel, schema_of
from ..stream import SEQUENCE, Stream, column_name
from .kernels import aggregation


def aggregate_count_windows(context: TranslationContext, step: KernelCountWindows, stream: Stream) -> Stream:
    """One row a window when it is full."""
    used = sorted({i for call in step.calls for i in (*call.arg_list, call.filter_arg) if i >= 0})
    frame = keyed(stream, step.grouping, [stream.column(i).alias(f"a{i}") for i in used])
    keys = max(1, len(step.grouping))
    position = {index: keys + at for at, index in enumerate(used)}
    types = step.output_type.field_types
    own = [key_type(t) for t in types[: len(step.grouping)]]
    result = run_kernel(
        context,
        step,
        frame,
        keys,
        columns=schema_of([*own, *(call.type for call in step.calls)]),
        aggregation=aggregation(context, stream, step.calls, position, context.java_schema(frame.schema)),
        keyed=bool(step.grouping),
        size=step.size,
        slide=step.slide,
    )
    columns = [fields.field(result, column_name(i)) for i in range(len(types))]
    columns[: len(own)] = key_values(columns[: len(own)], types[: len(own)])
    named = [column.alias(column_name(i)) for i, column in enumerate(columns)]
    frame = fields.select(result, [*named, SEQUENCE])
    return replace(stream, frame=frame, type=step.output_type, changelog=False, event_time=False)
