"""Nodes without state: each row by itself."""

from __future__ import annotations

from functools import reduce

from ...plan.nodes import Calc, DropUpdateBefore, Exchange, Expand, MiniBatchAssigner, Union
from ...plan.record import replace
from ...plan.rex import InputRef
from ..context import Mode, TranslationContext
from ..event_time import by_watermark_of_all, watermark_assigners
from ..execution import native, passed_by
from ..registry import row_by_row, translator, united
from ..stream import HIDDEN, KIND, ORDER, TICK, UPDATE_BEFORE, Stream, column_name


@translator(
    Calc, runs=lambda node, query: native("Filter, Project" if node.condition else "Project"), real_time=row_by_row
)
def calc(node: Calc, inputs: tuple[Stream, ...], context: TranslationContext) -> Stream:
    """Filter, then project."""
    from pyspark.sql import functions as F

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


@translator(
    Exchange,
    runs=lambda node, query: passed_by("Spark shuffles where the operator behind wants it"),
    real_time=row_by_row,
)
def exchange(node: Exchange, inputs: tuple[Stream, ...], context: TranslationContext) -> Stream:
    """Spark spreads rows by the keys of the operator behind, as the plan wants."""
    return inputs[0]


@translator(
    MiniBatchAssigner,
    runs=lambda node, query: passed_by("every operator works in micro-batches"),
    real_time=row_by_row,
)
def mini_batch_assigner(node: MiniBatchAssigner, inputs: tuple[Stream, ...], context: TranslationContext) -> Stream:
    """Every operator works in the batches of Spark."""
    return inputs[0]


@translator(DropUpdateBefore, runs=lambda node, query: native("Filter"), real_time=row_by_row)
def drop_update_before(node: DropUpdateBefore, inputs: tuple[Stream, ...], context: TranslationContext) -> Stream:
    """All rows but -U."""
    (stream,) = inputs
    return stream.where(stream.frame[KIND] != UPDATE_BEFORE) if stream.changelog else stream


@translator(Union, runs=lambda node, query: native("Union"), real_time=united)
def union(node: Union, inputs: tuple[Stream, ...], context: TranslationContext) -> Stream:
    """All rows of all inputs; hidden columns that only some have are filled up.

    The watermark behind is the lowest of the inputs'.  Where these have sources of their own that end, Flink reads them
    one after the other if they are small: it is the last one's then, and no row of the others is late.
    """
    from pyspark.sql import functions as F

    if len({frozenset(watermark_assigners(context.plan, source)) for source in context.plan.inputs(node)}) > 1:
        last = inputs[-1:] if context.mode is Mode.BOUNDED else ()
        inputs = (*map(by_watermark_of_all, inputs[: len(inputs) - len(last)]), *last)
    changelog = any(s.changelog for s in inputs)
    hidden = [h for h in HIDDEN if any(h in s.hidden for s in inputs)]
    types = {h: s.frame.schema[h].dataType for s in inputs for h in s.hidden}
    fill = {KIND: F.lit(0).cast("tinyint"), ORDER: F.lit(0).cast("bigint")}

    def aligned(stream: Stream) -> Stream:
        filled = [
            stream.frame[h] if h in stream.hidden else fill.get(h, F.lit(None).cast(types[h])).alias(h) for h in hidden
        ]
        named = [c.alias(column_name(i)) for i, c in enumerate(stream.columns)]
        return replace(stream, frame=stream.frame.select(*named, *filled))

    frame = reduce(lambda a, b: a.union(b), (aligned(s).frame for s in inputs))
    return Stream(
        frame,
        node.output_type,
        changelog,
        event_time=any(s.event_time for s in inputs),
    )


@translator(Expand, runs=lambda node, query: native("Generate"), real_time=row_by_row)
def expand(node: Expand, inputs: tuple[Stream, ...], context: TranslationContext) -> Stream:
    """Each row once per projection."""
    from pyspark.sql import functions as F

    from ..jvm.types import spark_type

    (stream,) = inputs
    types = [spark_type(t) for t in node.output_type.field_types]
    copies = [
        F.struct(
            *(
                context.expression(rex, stream).cast(t).alias(column_name(i))
                for i, (rex, t) in enumerate(zip(project, types, strict=True))
            )
        )
        for project in node.projects
    ]
    kept = [stream.frame[h] for h in stream.hidden]
    exploded = stream.frame.select(F.inline(F.array(*copies)), *kept)
    return replace(stream, frame=exploded, type=node.output_type)
