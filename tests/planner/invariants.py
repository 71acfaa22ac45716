"""What must be true of every tree, whatever rule made it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest

from flinkplan.plan.rex import InputRef, RexNode, walk
from flinkplan.plan.types import LogicalType
from flinkplan.planner.algebra import logical as a
from flinkplan.planner.algebra import physical as p
from flinkplan.planner.algebra.physical_bases import PhysicalBinary
from flinkplan.planner.algebra.rel import Rel
from flinkplan.planner.program import Implement
from flinkplan.planner.rex.unplanned import Over, SubQuery
from flinkplan.planner.rules.rule import Config, Rule, Walk


class OutOfOrder(AssertionError):
    """A rule made a relation that breaks an invariant."""


@contextmanager
def checking() -> Iterator[None]:
    """Within it every rule fails with :class:`OutOfOrder` that makes a relation out of order or changes a row type."""

    def checked(run: Callable[..., Rel]) -> Callable[..., Rel]:
        def check(self: Any, rel: Rel, config: Config = {}) -> Rel:  # noqa: B006
            new = run(self, rel, config)
            if new is not rel:
                problems = [*violations(new), *changed_columns(rel, new)]
                if problems:
                    raise OutOfOrder(f"{self.name}: {'; '.join(problems)}")
            return new

        return check

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Rule, "applied", checked(Rule.applied))
        patch.setattr(Walk, "run", checked(Walk.run))
        patch.setattr(Implement, "run", checked(Implement.run))
        yield


def changed_columns(before: Rel, after: Rel) -> Iterator[str]:
    """The columns that a rule must not have changed: those of the relation that it puts in another one's place.

    A column may stop being a time attribute, and it may turn out never to be NULL.
    """
    if before.width != after.width:
        yield f"{before.width} columns became {after.width}"
    for i, (old, new) in enumerate(zip(before.types, after.types, strict=False)):
        if new.regular() not in (old.regular(), old.regular().not_null()):
            yield f"the type of column {i} was {old}, is {new}"


def violations(rel: Rel) -> Iterator[str]:
    """References beyond the input or of another type than its column, and columns without a name.

    A relation that was in order once is passed over with all below it.
    """
    if "in order" in rel.__dict__:
        return
    problems = [*_violations(rel)]
    yield from problems
    if not problems:
        rel.__dict__["in order"] = True


def _violations(rel: Rel) -> Iterator[str]:
    for each in rel.inputs:
        yield from violations(each)
    if len(rel.names) != rel.width:
        yield f"{type(rel).__name__}: {len(rel.names)} names for {rel.width} columns"
    fields = [t for each in rel.inputs for t in each.types]
    for rex in _expressions(rel):
        for message in _wrong_references(rex, fields):
            yield f"{type(rel).__name__}: {message}"


def _expressions(rel: Rel) -> Iterator[RexNode]:
    """The expressions of a relation over the columns of its inputs; columns that it names by number count as such."""
    match rel:
        case a.Project():
            yield from rel.exprs
        case p.Calc():
            yield from (*rel.projection, *([] if rel.condition is None else [rel.condition]))
        case a.Filter() | a.Join() | a.TemporalJoin() | PhysicalBinary():
            yield rel.condition
        case a.MultiJoin() | p.MultiJoin():
            yield from rel.conditions
        case a.Watermark() | p.WatermarkAssigner():
            yield rel.expr
        case p.Expand():
            yield from (rex for row in rel.projects for rex in row)
        case a.Aggregate() | p.GroupAggregate() | p.LegacyWindowAggregate() | p.LocalGroupAggregate():
            yield from _columns(rel.input, (*rel.grouping, *_arguments(rel.calls)))
        case p.WindowAggregate() | p.LocalWindowAggregate():
            yield from _columns(rel.input, (*rel.grouping, *_arguments(rel.calls)))
        case p.Rank() | p.WindowRank():
            yield from _columns(rel.input, (*rel.partition, *(f.index for f in rel.order)))
        case a.Sort() | p.SortLimit() | p.TemporalSort() | p.FullSort():
            yield from _columns(rel.input, (f.index for f in rel.order))
        case p.Exchange():
            yield from _columns(rel.input, rel.keys)
        case p.ChangelogNormalize():
            yield from _columns(rel.input, rel.unique_keys)
        case p.Deduplicate():
            yield from _columns(rel.input, rel.keys)


def _arguments(calls: Iterable[Any]) -> Iterator[int]:
    return (i for call in calls for i in (*call.arg_list, call.filter_arg) if i >= 0)


def _columns(rel: Rel, indexes: Iterable[int]) -> Iterator[RexNode]:
    types = rel.types
    return (InputRef(i, types[i] if i < len(types) else LogicalType("NULL")) for i in indexes)


def _wrong_references(rex: RexNode, fields: Sequence[LogicalType]) -> Iterator[str]:
    for node in _walk(rex):
        if not isinstance(node, InputRef):
            continue
        if node.index >= len(fields):
            yield f"column {node.index} of {len(fields)}"
        elif fields[node.index].root != node.type.root:
            yield f"column {node.index} is {fields[node.index]}, not {node.type}"


def _walk(rex: RexNode) -> Iterator[RexNode]:
    """All sub-expressions but those of a subquery's relation, which has columns of its own."""
    for node in walk(rex):
        yield node
        if isinstance(node, Over):
            for part in (*node.operands, *node.partition, *(key for key, *_ in node.order)):
                yield from _walk(part)
        elif isinstance(node, SubQuery):
            for part in node.operands:
                yield from _walk(part)
