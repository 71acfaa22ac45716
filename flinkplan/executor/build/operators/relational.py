"""Nodes without state: each row by itself."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from ....plan.functions.java import java_function_of
from ....plan.nodes import AsyncCalc, Calc, DropUpdateBefore, Expand, Union
from ....plan.record import replace
from ....plan.rex import Call, InputRef
from ....plan.types import LogicalType
from ...jvm.spark import F
from ...jvm.types import spark_type
from ...prepare.choose.relational import United
from ...prepare.steps import Native
from ..context import TranslationContext
from ..java_functions import with_async_calls
from ..registry import builder
from ..stream import HIDDEN, KIND, ORDER, TICK, UPDATE_BEFORE, Stream, column_name, place_of_part
from ..time.event_time import by_watermark_of_all


@builder(Native, AsyncCalc)
def async_calc(node: AsyncCalc, step: Native, inputs: tuple[Stream, ...], context: TranslationContext) -> Stream:
    """Project; calls of asynchronous functions run side by side, except where rows must not wait for each other."""
    (stream,) = inputs
    results: dict[int, str] = {}
    if not context.is_real_time:
        for place, rex in enumerate(node.projection):
            function = java_function_of(rex)
            if isinstance(rex, Call) and function is not None and function.declaration.is_async:
                results[place] = f"__async{place}"
                stream = with_async_calls(context, stream, rex, function, results[place])
    made = [
        stream.frame[results[place]] if place in results else context.expression(rex, stream)
        for place, rex in enumerate(node.projection)
    ]
    if TICK in stream.hidden:  # a watermark passes, though its row is none: nothing is computed with it
        is_row = stream.frame[TICK].isNull()
        known = [isinstance(rex, InputRef) for rex in node.projection]
        made = [c if is_known else F.when(is_row, c) for c, is_known in zip(made, known, strict=True)]
    return stream.select(made, node.output_type)


@builder(Native, Calc)
def calc(node: Calc, step: Native, inputs: tuple[Stream, ...], context: TranslationContext) -> Stream:
    """Filter, then project."""
    (stream,) = inputs
    passes = F.lit(True)
    if node.condition is not None:
        passes = context.expression(node.condition, stream)
        stream = stream.where(passes)
    columns = [context.expression(rex, stream) for rex in node.projection]
    if TICK in stream.hidden:  # a watermark passes, though its row may not, or is none: nothing is computed with it
        is_row = stream.frame[TICK].isNull() & passes if context.tells_time else passes
        known = [isinstance(rex, InputRef) for rex in node.projection]
        columns = [c if is_known else F.when(is_row, c) for c, is_known in zip(columns, known, strict=True)]
    return stream.select(columns, node.output_type)


@builder(Native, DropUpdateBefore)
def drop_update_before(
    node: DropUpdateBefore, step: Native, inputs: tuple[Stream, ...], context: TranslationContext
) -> Stream:
    """All rows but -U."""
    (stream,) = inputs
    return stream.where(stream.frame[KIND] != UPDATE_BEFORE)


@builder(United, Union)
def union(node: Union, step: United, inputs: tuple[Stream, ...], context: TranslationContext) -> Stream:
    """All rows of all inputs."""
    streams = [
        by_watermark_of_all(stream) if lowers else stream
        for stream, lowers in zip(inputs, step.lowers_watermark, strict=True)
    ]
    return united(streams, node.output_type)


def united(streams: Sequence[Stream], type_: LogicalType) -> Stream:
    """All rows of streams with the same columns; hidden columns that only some have are filled up."""
    changelog = any(s.changelog for s in streams)
    hidden = [h for h in HIDDEN if any(h in s.hidden for s in streams)]
    types = {h: s.frame.schema[h].dataType for s in streams for h in s.hidden}
    fill = {KIND: F.lit(0).cast("tinyint"), ORDER: F.lit(0).cast("bigint")}

    def aligned(stream: Stream) -> Stream:
        filled = [
            stream.frame[h] if h in stream.hidden else fill.get(h, F.lit(None).cast(types[h])).alias(h) for h in hidden
        ]
        named = [c.alias(column_name(i)) for i, c in enumerate(stream.columns)]
        return replace(stream, frame=stream.frame.select(*named, *filled))

    frame = reduce(lambda a, b: a.union(b), (aligned(s).frame for s in streams))
    return Stream(
        frame,
        type_,
        changelog,
        event_time=any(s.event_time for s in streams),
    )


@builder(Native, Expand)
def expand(node: Expand, step: Native, inputs: tuple[Stream, ...], context: TranslationContext) -> Stream:
    """Each row once per projection, in their order."""
    (stream,) = inputs
    whole = stream.frame[ORDER] if ORDER in stream.hidden else F.lit(0).cast("bigint")
    types = [spark_type(t) for t in node.output_type.field_types]
    copies = [
        F.struct(
            *(
                context.expression(rex, stream).cast(t).alias(column_name(i))
                for i, (rex, t) in enumerate(zip(project, types, strict=True))
            ),
            place_of_part(whole, number, len(node.projects)).alias(ORDER),
        )
        for number, project in enumerate(node.projects)
    ]
    kept = [stream.frame[h] for h in stream.hidden if h != ORDER]
    exploded = stream.frame.select(F.inline(F.array(*copies)), *kept)
    return replace(stream, frame=exploded, type=node.output_type)
