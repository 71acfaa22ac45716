"""MATCH_RECOGNIZE.

Source of the rules: Flink's ``StreamExecMatch`` and ``CepOperator``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ....plan.nodes import Match
from ....plan.record import replace
from ....plan.rex import InputRef, RexNode
from ....plan.specs import MatchSpec, PatternVariable
from ....plan.types import BIGINT
from ...jvm.spark import F
from ...jvm.types import spark_type
from ...prepare.choose.patterns import KernelMatch
from ...prepare.known.match_values import (
    ANY,
    Aggregate,
    MatchValues,
    RowValues,
    aggregate_call,
    condition_values,
    measure_values,
)
from ...prepare.known.patterns import skip_of, variables_of, within_ms
from ..accumulators import accumulator
from ..context import TranslationContext
from ..kernels import condition, java_record, java_type, object_array, projection, schema_of
from ..registry import builder
from ..stream import ROW, SEQUENCE, TIME, Stream, column_name
from ..time.event_time import with_event_time
from ..windows.kernels import emitted, row_order, run_timed, timed_input

_ANY = -1
"""The same as in ``Leaves.java``."""


@builder(KernelMatch, Match)
def match_recognize(node: Match, step: KernelMatch, inputs: tuple[Stream, ...], context: TranslationContext) -> Stream:
    """One row a match: the columns of its partition and its measures."""
    (stream,) = inputs
    spec = node.match_spec
    order = spec.order_by.fields
    stream = stream if step.by_clock else with_event_time(stream)
    variables = variables_of(spec)
    rows = RowValues()
    conditions = [condition_values(spec, variable, rows) for variable in variables]
    values, outer = measure_values(node, stream.type, rows)
    further = [replace(f, index=rows.place(InputRef(f.index, stream.type.field_types[f.index]))) for f in order[1:]]

    if not rows.expressions:
        rows.place(InputRef(order[0].index, stream.type.field_types[order[0].index]))  # no state holds empty rows
    time = context.arrival() if step.by_clock else F.unix_millis(stream.column(order[0].index))
    columns = [context.expression(rex, stream) for rex in rows.expressions]
    struct = F.struct(*(c.alias(column_name(i)) for i, c in enumerate(columns))).alias(ROW)
    frame = timed_input(stream, spec.partition.fields, [time.alias(TIME), struct])
    schema = schema_of(rows.types)
    emits = schema_of([*values.types, BIGINT])
    names = [variable.name for variable in variables]
    pattern = java_record(
        context,
        "pattern.Matches$Pattern",
        variables=object_array(
            context,
            context.runtime.pattern.Variable,
            [
                context.runtime.pattern.Variable(
                    variable.least,
                    variable.most,
                    variable.is_greedy,
                    _leaves(context, leaves, rows, names, stream),
                    condition(context, rex, leaves.types),
                )
                for variable, (leaves, rex) in zip(variables, conditions, strict=True)
            ],
        ),
        skip=_skip(context, spec, variables),
        within=within_ms(spec),
        measures=_leaves(context, values, rows, names, stream),
    )
    result = run_timed(
        context,
        step,
        frame,
        max(1, len(spec.partition.fields)),
        by_clock=step.by_clock,
        row=schema,
        columns=emits,
        pattern=pattern,
        rowOrder=row_order(context, schema, further) if further else None,
    )
    columns = [result[column_name(i)] for i in range(len(values.types))]
    columns.append(F.timestamp_millis(result[column_name(len(columns))]))
    measured = [context.expression_over(rex, columns).alias(column_name(i)) for i, rex in enumerate(outer)]
    return emitted(stream, result.select(*measured, SEQUENCE), node.output_type, event_time=not step.by_clock)


def _skip(context: TranslationContext, spec: MatchSpec, variables: Sequence[PatternVariable]) -> Any:
    skip = skip_of(spec, variables)
    number = -1 if skip.variable is None else [v.name for v in variables].index(skip.variable)
    return context.runtime.pattern.Skip.of(skip.target, number, skip.variable)


def _leaves(
    context: TranslationContext, values: MatchValues, rows: RowValues, names: Sequence[str], stream: Stream
) -> Any:
    """What is read of a match, as the kernel has it; ``names`` are those of the variables."""
    package = context.runtime.pattern

    def number(variable: str) -> int:
        """That of a variable; of one that the pattern has not, whose rows there are none of, one behind all."""
        return _ANY if variable == ANY else names.index(variable) if variable in names else len(names)

    navigations = [
        java_record(
            context,
            "pattern.Leaves$Navigation",
            variable=number(leaf.variable),
            first=leaf.first,
            offset=leaf.offset,
            column=leaf.column,
            type=java_type(context, spark_type(leaf.type)),
        )
        for leaf in values.navigations
    ]
    totals = [
        _totals(context, number(variable), leaves, rows, stream) for variable, leaves in values.aggregates.items()
    ]
    return package.Leaves(
        object_array(context, package.Leaves.Navigation, navigations),
        object_array(context, package.Leaves.Totals, totals),
    )


def _totals(
    context: TranslationContext, variable: int, leaves: Sequence[Aggregate], rows: RowValues, stream: Stream
) -> Any:
    """Aggregates over the rows of one variable."""
    arguments: list[RexNode] = []
    calls = []
    for i, leaf in enumerate(leaves):
        places = range(len(arguments), len(arguments) + len(leaf.call.operands))
        arguments += leaf.call.operands
        call = aggregate_call(leaf.call, places)
        function = accumulator(context, call, places, [o.type for o in leaf.call.operands], stream)
        calls.append(context.runtime.aggregate.Call(f"a{i}", function, -1))
    package = context.runtime.aggregate
    return java_record(
        context,
        "pattern.Leaves$Totals",
        variable=variable,
        arguments=projection(context, arguments, rows.types),
        aggregation=package.Aggregation(object_array(context, package.Call, calls)),
        calls=len(calls),
    )
