"""The regular join of several inputs in one operator."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

from ...plan.nodes import MultiJoin
from ..context import TranslationContext
from ..execution import Execution, QueryPlan, kernel, with_ttl
from ..join_sides import KeptRows, kept_rows, side_spec
from ..kernels import boolean_array, condition, key_columns, object_array, run_kernel, schema_of
from ..registry import translator, united
from ..stream import INPUT, KIND, ORDER, SEQUENCE, Stream

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_LEFT = "LEFT"


def _runs(node: MultiJoin, query: QueryPlan) -> Execution:
    states = []
    for index, keys in enumerate(_keys(node)):
        source = query.input(node, index)
        kept = _kept(node, index, keys, query.is_changelog(source))
        holds = kept.holds(query.columns(source, kept.unique or ()))
        states.append(with_ttl(kept.kind, _state(index), holds, node.ttl_ms(index)))
    return kernel(node, query, "join.MultiJoin", "no rows between two joins are kept", *states)


@translator(MultiJoin, runs=_runs, real_time=united)
def multi_join(node: MultiJoin, inputs: tuple[Stream, ...], context: TranslationContext) -> Stream:
    """Bring all inputs' rows together by their common key and let the kernel join them."""
    keys = _keys(node)
    frame = _union(inputs, keys)
    preserves = [kind == _LEFT for kind in node.join_types]
    changelog = any(preserves) or any(s.changelog for s in inputs)
    conditions = []
    types = inputs[0].type.field_types[:0]
    for stream, rex in zip(inputs, node.join_conditions, strict=True):
        types += stream.type.field_types
        conditions.append(condition(context, rex, types))
    sides = [
        side_spec(context, _state(i), s, node.ttl_ms(i), _kept(node, i, keys[i], s.changelog))
        for i, s in enumerate(inputs)
    ]
    joined = run_kernel(
        context,
        frame,
        max(1, len(keys[0])),
        "join.MultiJoin",
        columns=schema_of(node.output_type.field_types),
        changelog=changelog,
        sides=object_array(context, getattr(context.runtime.join, "JoinSide$Spec"), sides),
        preserves=boolean_array(context, preserves),
        conditions=object_array(context, context.runtime.catalyst.Condition, conditions),
        folds=context.folds_changes,
    )
    return Stream(joined, node.output_type, changelog)


def _union(inputs: tuple[Stream, ...], keys: list[tuple[int, ...]]) -> DataFrame:
    """Key, number of the input, one struct an input, and the hidden columns, in one frame."""
    from pyspark.sql import functions as F

    changelog = any(s.changelog for s in inputs)
    schemas = [schema_of(s.type.field_types) for s in inputs]

    def shaped(index: int, stream: Stream) -> DataFrame:
        rows = [
            (F.struct(*stream.columns) if i == index else F.lit(None).cast(schema)).alias(f"row{i}")
            for i, schema in enumerate(schemas)
        ]
        kind = stream.frame[KIND] if stream.changelog else F.lit(0).cast("tinyint")
        place = stream.frame[ORDER] if ORDER in stream.hidden else F.lit(0).cast("bigint")
        hidden = [*([kind.alias(KIND), place.alias(ORDER)] if changelog else []), stream.frame[SEQUENCE]]
        return stream.frame.select(*key_columns(stream, keys[index]), F.lit(index).alias(INPUT), *rows, *hidden)

    return reduce(lambda a, b: a.union(b), (shaped(i, s) for i, s in enumerate(inputs)))


def _kept(node: MultiJoin, index: int, join_key: tuple[int, ...], changelog: bool) -> KeptRows:
    unique_keys = [key for key in (node.input_unique_keys or ((),) * (index + 1))[index] if key]
    return kept_rows(join_key, unique_keys, changelog)


def _keys(node: MultiJoin) -> list[tuple[int, ...]]:
    """The common key in the columns of each input."""
    return [tuple(p.required_distribution.keys or ()) for p in node.input_properties or ()]


def _state(index: int) -> str:
    return f"input-state-{index}"
