"""Recording the phases that change the trees of a job, and the rules within them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import wraps
from typing import Any

from ...plan.record import Record, Struct, field, replace
from ..algebra.logical import TableModify
from ..algebra.physical import Sink
from ..algebra.rel import Rel
from ..program import LOGICAL_STAGES, PHYSICAL, REUSE, STAGES, Implement, Stage
from ..rules.rule import Config, Phase, Rule, RuleSet
from .relations import tree_lines

Lines = tuple[str, ...]
"""The lines of one or several trees."""


class Step(Record):
    """A phase that has changed a tree.

    ``rules`` are the rules that changed something, in the order in which each first did: those of a rule set, otherwise
    the phase itself.
    """

    stage: str
    phase: str
    rules: tuple[str, ...]
    before: Lines
    after: Lines


class InsertTrace(Record):
    """The steps of one INSERT into ``table``, from the tree that the binder made."""

    table: str
    bound: Lines
    steps: tuple[Step, ...]


class Trace(Record):
    """The steps of a job: those of each INSERT, then those that look at the trees of all INSERTs together."""

    inserts: tuple[InsertTrace, ...]
    together: tuple[Step, ...]


class Tracer(Struct):
    """Takes trees through all stages as :func:`~..program.run` does, and keeps what each phase changes."""

    inserts: list[InsertTrace] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)

    def optimize(self, modify: TableModify, config: Config) -> Sink:
        """The operators of one INSERT, as :func:`~..program.optimize` makes them."""
        self.steps.clear()
        tree = self._run(modify, config, STAGES)
        assert isinstance(tree, Sink)
        bound = tuple(tree_lines(modify))
        self.inserts.append(InsertTrace(modify.table.identifier.name, bound, tuple(self.steps)))
        return tree

    def trace(self, sinks: Sequence[Rel], config: Config) -> Trace:
        """All that was recorded, and what the sinks of the job come to share."""
        steps = []
        for phase in REUSE:
            new = phase(sinks, config)
            before, after = _lines(sinks), _lines(new)
            if before != after:
                steps.append(Step("reuse", phase.__name__, (phase.__name__,), before, after))
            sinks = new
        return Trace(tuple(self.inserts), tuple(steps))

    def _run(self, rel: Rel, config: Config, stages: Iterable[Stage]) -> Rel:
        for stage in stages:
            for phase in stage.phases:
                applied: dict[str, None] = {}
                new = self._recording(phase, applied).run(rel, config)
                if new is not rel and new != rel:
                    rules = tuple(applied) or (phase.name,)
                    self.steps.append(Step(stage.name, phase.name, rules, _lines([rel]), _lines([new])))
                rel = new
        return rel

    def _recording(self, phase: Phase, applied: dict[str, None]) -> Phase:
        """The phase; a rule set's rules put their names into ``applied`` when they have changed something."""
        if isinstance(phase, RuleSet):
            return replace(phase, rules=tuple(_recording_rule(rule, applied) for rule in phase.rules))
        return Implement(self._physical) if isinstance(phase, Implement) else phase

    def _physical(self, rows: Rel, config: Config) -> Rel:
        """The physical tree of the rows of a window operator, which are planned by themselves."""
        return self._run(rows, config, (*LOGICAL_STAGES, PHYSICAL))


def _lines(trees: Iterable[Rel]) -> Lines:
    return tuple(line for tree in trees for line in tree_lines(tree))


def _recording_rule(rule: Rule, applied: dict[str, None]) -> Rule:
    @wraps(rule.rewrite)
    def rewrite(rel: Rel, *more: Any) -> Rel:
        new = rule.rewrite(rel, *more)
        if new is not rel and new != rel:
            applied[rule.name] = None
        return new

    return replace(rule, rewrite=rewrite)
