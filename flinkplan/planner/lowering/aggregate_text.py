"""The ``select=[…]`` of aggregations in descriptions.  Source: ``RelExplainUtil``."""

from __future__ import annotations

from collections.abc import Sequence

from ...plan.accumulator_columns import Accumulators
from ...plan.specs import AggregateCall, NamedWindowProperty
from ..rex.printer import named

_WINDOW_PROPERTIES = {"WindowStart": "start", "WindowEnd": "end", "Rowtime": "rowtime", "Proctime": "proctime"}


def function_name(call: AggregateCall, retract: bool = False) -> str:
    """``MAX_RETRACT`` of ``$MAX$1``."""
    return f"{call.function_name}_RETRACT" if retract else call.function_name


def _filter(call: AggregateCall, fields: Sequence[str]) -> str:
    return f" FILTER {fields[call.filter_arg]}" if call.filter_arg >= 0 else ""


def call_text(call: AggregateCall, fields: Sequence[str], retract: bool = False) -> str:
    """``COUNT_RETRACT(DISTINCT price) FILTER $f2``."""
    args = ", ".join(fields[i] for i in call.arg_list) or "*"
    distinct = "DISTINCT " if call.is_distinct else ""
    return f"{function_name(call, retract)}({distinct}{args}){_filter(call, fields)}"


def one_phase(
    fields: Sequence[str],
    grouping: Sequence[int],
    calls: Sequence[AggregateCall],
    retract: Sequence[bool],
    output: Sequence[str],
    properties: Sequence[str] = (),
) -> str:
    """The select of an aggregation in one phase."""
    keys = [named(fields[g], output[i]) for i, g in enumerate(grouping)]
    values = [
        f"{call_text(c, fields, r)} AS {output[len(grouping) + i]}"
        for i, (c, r) in enumerate(zip(calls, retract, strict=True))
    ]
    return ", ".join([*keys, *values, *properties])


def local_phase(
    fields: Sequence[str],
    grouping: Sequence[int],
    calls: Sequence[AggregateCall],
    retract: Sequence[bool],
    accumulators: Accumulators,
    properties: Sequence[str] = (),
    *,
    retracts: bool,
) -> str:
    """The select of the first phase: accumulators, then the sets of distinct values."""
    parts = [fields[g] for g in grouping]
    for i, (call, r) in enumerate(zip(calls, retract, strict=True)):
        args = ", ".join(fields[a] for a in call.arg_list) or "*"
        view = _distinct_name(i, accumulators)
        args = f"{view} {args}" if view else args
        parts.append(f"{function_name(call, r)}({args}){_filter(call, fields)} AS {_columns(i, accumulators)}")
    if accumulators.count_star is not None:
        parts.append(f"{_count_rows(retracts)}(*) AS {accumulators.count_star.name}")
    for view_field, distinct in zip(accumulators.distinct_fields, accumulators.distincts, strict=True):
        parts.append(f"DISTINCT({', '.join(fields[a] for a in distinct.args)}) AS {view_field.name}")
    return ", ".join([*parts, *properties])


def global_phase(
    keys: Sequence[str],
    calls: Sequence[AggregateCall],
    retract: Sequence[bool],
    accumulators: Accumulators,
    output: Sequence[str],
    properties: Sequence[str] = (),
    *,
    retracts: bool,
) -> str:
    """The select of the second phase: functions of accumulators.

    As in Flink, an added COUNT(*) takes the name of the column behind it, and so on.
    """
    values = []
    for i, (call, r) in enumerate(zip(calls, retract, strict=True)):
        view = _distinct_name(i, accumulators)
        columns = _columns(i, accumulators)
        args = f"{view} {columns}" if view else columns
        values.append(f"{function_name(call, r)}({args})")
    if accumulators.count_star is not None:
        values.append(f"{_count_rows(retracts)}({accumulators.count_star.name})")
    values += properties
    return ", ".join([*keys, *(f"{value} AS {name}" for value, name in zip(values, output, strict=False))])


def _count_rows(retracts: bool) -> str:
    return "COUNT_RETRACT" if retracts else "COUNT"


def _distinct_name(call: int, accumulators: Accumulators) -> str | None:
    for view, distinct in zip(accumulators.distinct_fields, accumulators.distincts, strict=True):
        if call in distinct.calls:
            return view.name
    return None


def _columns(call: int, accumulators: Accumulators) -> str:
    return together([f.name for f in accumulators.by_call[call]])


def together(names: Sequence[str]) -> str:
    """The accumulators of one call: ``sum$0``, or ``(sum$0, count$1)``."""
    return names[0] if len(names) == 1 else f"({', '.join(names)})"


def property_texts(properties: Sequence[NamedWindowProperty]) -> list[str]:
    """``start('w$) AS window_start``."""
    return [f"{bare} AS {p.name}" for bare, p in zip(bare_properties(properties), properties, strict=True)]


def bare_properties(properties: Sequence[NamedWindowProperty]) -> list[str]:
    """``start('w$)``."""
    return [f"{_WINDOW_PROPERTIES[p.property.kind]}('{p.property.reference.name})" for p in properties]
