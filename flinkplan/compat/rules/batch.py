"""Rules on plans of batch mode.  A batch job keeps no state and has no checkpoint, so only its results are judged."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ...plan.record import replace
from ..comparing import Comparison
from ..verdicts import Effect, Verdict
from .model import Judgement, rule

MODE = rule(
    "runtime-mode-changed",
    "the plan changed between streaming and batch mode",
    "A batch job starts without state, reads all of its input and ends; it neither restores nor writes savepoints and "
    "checkpoints. Its operators are others than those of streaming mode, so that they are not compared.",
    flink=Verdict.INCOMPATIBLE,
    spark=Verdict.UNKNOWN,
    results=Effect.YES,
    example="The pipeline was compiled again by Flink with `execution.runtime-mode` = BATCH.",
    fix="Start without state.",
)
RESULTS = rule(
    "batch-results-changed",
    "an operator of a batch plan changed",
    "A batch job keeps no state: the next run computes all results anew, as the new plan says.",
    flink=Verdict.COMPATIBLE,
    spark=Verdict.COSMETIC,
    results=Effect.YES,
    example="`LEFT JOIN` became `JOIN`.",
    fix="Nothing to do.",
)
UNKNOWN = rule(
    "batch-results-unknown",
    "the effect of a change of a batch plan on its results is not known",
    "A batch job keeps no state. Whether its results change depends on what the plan does not contain, such as the "
    "definition of a table.",
    flink=Verdict.COMPATIBLE,
    spark=Verdict.COSMETIC,
    results=Effect.UNKNOWN,
    example="One of the plans has only the name of a table.",
    fix="Nothing to do.",
)


def changes_mode(c: Comparison) -> bool:
    """Whether one of the plans is of streaming mode and the other one of batch mode."""
    return c.old.plan.is_batch is not c.new.plan.is_batch


def judge_mode(c: Comparison) -> Judgement:
    """The judgement on plans of different modes."""
    old, new = ("batch" if side.plan.is_batch else "streaming" for side in (c.old, c.new))
    return Judgement(MODE, f"{old} mode → {new} mode", pointer="/nodes")


def without_state(judgements: Iterable[Judgement]) -> Iterator[Judgement]:
    """The judgements on a batch plan: those on results.

    Rules that say more about state than that it is compatible are replaced, or left out if results stay.
    """
    for judgement in judgements:
        rule_ = judgement.rule
        if max(judgement.flink or rule_.flink, rule_.spark) <= Verdict.COMPATIBLE:
            yield judgement
        elif rule_.results is not Effect.NO:
            yield replace(
                judgement, rule=UNKNOWN if rule_.results is Effect.UNKNOWN else RESULTS, flink=None, hint=None
            )
