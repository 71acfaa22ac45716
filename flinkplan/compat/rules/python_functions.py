"""Rules on Python functions, of which a plan that was compiled in the same process knows the declarations."""

from __future__ import annotations

from collections.abc import Iterator

from ...plan.functions.user import PythonDeclaration
from ...plan.nodes import PythonGroupAggregate
from ...plan.user_functions import function_of_aggregate
from ..comparing import Comparison
from ..verdicts import Effect, Verdict
from .model import Became, Judgement, pair_judge, rule

ACCUMULATOR = rule(
    "accumulator-type-changed",
    "the accumulator of a Python aggregate function has another type",
    "Flink and `flinkplan execute` keep accumulators as the function made them, whatever their declared type. What the "
    "new function makes of an old accumulator is not known. Plans in JSON do not say the type of accumulators: only "
    "pipelines are compared by it.",
    flink=Verdict.UNKNOWN,
    spark=Verdict.UNKNOWN,
    results=Effect.UNKNOWN,
    example="`accumulator_type=DataTypes.ARRAY(DataTypes.INT())` became `ARRAY(DataTypes.BIGINT())`.",
    fix="Give the new function another name, so that it starts without state, or have it read old accumulators.",
)


@pair_judge
def accumulators(c: Comparison, edit: Became) -> Iterator[Judgement]:
    """The declared accumulators of functions of the same name."""
    if not isinstance(edit.old, PythonGroupAggregate) or not isinstance(edit.new, PythonGroupAggregate):
        return
    old, new = (_declarations(node) for node in (edit.old, edit.new))
    for name in old.keys() & new.keys():
        before, after = old[name].accumulator, new[name].accumulator
        if before is not None and after is not None and before != after:
            yield Judgement(ACCUMULATOR, f"{name}: {before} → {after}", edit.old, edit.new, "/aggCalls")


def _declarations(node: PythonGroupAggregate) -> dict[str, PythonDeclaration]:
    functions = filter(None, map(function_of_aggregate, node.agg_calls))
    return {function.name: function.declaration for function in functions}
