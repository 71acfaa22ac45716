"""OVER calls of a projection as an operator of their own.  Source: ``ProjectToWindowRule``, ``CalcRelSplitter``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ...plan.errors import UnsupportedError
from ...plan.rex import FUNCTION, InputRef, Literal, RexNode, children
from ...plan.specs import AggregateCall, OverBound, OverGroup, SortField, SortSpec
from ..algebra import Frame, Over, Project, Rel, TableModify
from ..physical import OverAggregate
from .rexes import contains_over, identity, refs, remap, rewrite
from .row_types import row_of
from .tree import with_inputs

_STARRED = frozenset({"$COUNT$1"})


def split_overs(rel: Rel) -> Rel:
    """A projection with OVER calls: those become columns ``w0$o0``… of operators below it."""
    if isinstance(rel, TableModify):
        return with_inputs(rel, (_numbered(rel.input),))
    if not isinstance(rel, Project) or not any(contains_over(e) for e in rel.exprs):
        return rel
    return _split(rel)


def _numbered(rel: Rel) -> Rel:
    """With nothing but columns above the OVER calls, and no projection above that, theirs are named ``$1``…"""
    if not isinstance(rel, Project) or not isinstance(rel.input, OverAggregate):
        return rel
    source = rel.input.row_type.field_names
    width = len(rel.input.input.row_type.fields)
    if not all(isinstance(e, InputRef) for e in rel.exprs):
        return rel
    names = (f"${i}" if e.index >= width else source[e.index] for i, e in enumerate(rel.exprs))  # type: ignore[union-attr]
    return replace(rel, row_type=row_of(names, rel.row_type.field_types))


def _split(rel: Project) -> Project:
    source, exprs = _with_plain_operands(rel)
    calls: list[Over] = []

    def collect(node: RexNode) -> RexNode:
        if isinstance(node, Over) and node not in calls:
            calls.append(node)
        return node

    for e in exprs:
        rewrite(e, collect)
    groups: dict[object, list[Over]] = {}
    for call in calls:
        groups.setdefault((call.partition, call.order), []).append(call)
    places: dict[Over, int] = {}
    for number, members in enumerate(groups.values()):
        source = _operator(source, members, number)
        for i, call in enumerate(members):
            places[call] = len(source.row_type.fields) - len(members) + i
    types = source.row_type.field_types

    def replace_over(node: RexNode) -> RexNode:
        return InputRef(places[node], types[places[node]]) if isinstance(node, Over) else node

    new = tuple(rewrite(e, replace_over) for e in exprs)
    return Project(input=source, exprs=new, row_type=row_of(rel.row_type.field_names, (e.type for e in new)))


def _with_plain_operands(rel: Project) -> tuple[Rel, tuple[RexNode, ...]]:
    """The projection over an input in which all that OVER calls read are columns.

    Where something must be computed for them, or a literal stands anywhere, the input is a projection of what
    is read and no more; else it stays as it is.
    """
    source = rel.input
    extra: list[RexNode] = []
    width = len(source.row_type.fields)

    def column(rex: RexNode) -> RexNode:
        if isinstance(rex, (InputRef, Literal)):
            return rex
        if rex not in extra:
            extra.append(rex)
        return InputRef(width + extra.index(rex), rex.type)

    def plain(node: RexNode) -> RexNode:
        if not isinstance(node, Over):
            return node
        return replace(
            node,
            operands=tuple(map(column, node.operands)),
            partition=tuple(map(column, node.partition)),
            order=tuple((column(o), up, last) for o, up, last in node.order),
        )

    exprs = tuple(rewrite(e, plain) for e in rel.exprs)
    if not extra and not any(map(_holds_literal, exprs)):
        return source, exprs
    needed = sorted(i for i in set().union(*map(refs, exprs)) if i < width)
    if not extra and len(needed) == width:
        return source, exprs
    columns_of = identity(source.row_type)
    below = (*(columns_of[i] for i in needed), *extra)
    names = (
        *(source.row_type.field_names[i] for i in needed),
        *(f"${i}" for i in range(len(needed), len(below))),
    )
    mapping = {old: new for new, old in enumerate([*needed, *range(width, width + len(extra))])}
    project = Project(input=source, exprs=below, row_type=row_of(names, (e.type for e in below)))
    return project, tuple(remap(e, mapping) for e in exprs)


def _holds_literal(rex: RexNode) -> bool:
    if isinstance(rex, Over):
        return any(map(_holds_literal, rex.operands))
    return isinstance(rex, Literal) or any(map(_holds_literal, children(rex)))


def _operator(source: Rel, calls: list[Over], number: int) -> OverAggregate:
    width = len(source.row_type.fields)
    constants: list[RexNode] = []

    def argument(rex: RexNode) -> int:
        if isinstance(rex, InputRef):
            return rex.index
        if rex not in constants:
            constants.append(rex)
        return width + constants.index(rex)

    frames: dict[Frame, list[tuple[int, Over]]] = {}
    for i, call in enumerate(calls):
        frames.setdefault(call.frame, []).append((i, call))
    if len(frames) > 1:
        raise UnsupportedError("one query can have only one frame over the same partition and order")
    first = calls[0]
    order = SortSpec(tuple(SortField(o.index, up, last) for o, up, last in first.order))  # type: ignore[union-attr]
    groups = tuple(
        OverGroup(
            order,
            frame.is_rows,
            _bound(frame.lower, True, argument),
            _bound(frame.upper, False, argument),
            tuple(_call(c, f"w{number}$o{i}", argument) for i, c in members),
        )
        for frame, members in frames.items()
    )
    names = (*source.row_type.field_names, *(f"w{number}$o{i}" for i in range(len(calls))))
    types = (*source.row_type.field_types, *(c.type for c in calls))
    partition = tuple(p.index for p in first.partition)  # type: ignore[union-attr]
    return OverAggregate(
        input=source, partition=partition, groups=groups, constants=tuple(constants), row_type=row_of(names, types)
    )


def _call(call: Over, name: str, argument: Callable[[RexNode], int]) -> AggregateCall:
    return AggregateCall(
        name=name,
        syntax="FUNCTION_STAR" if call.name in _STARRED else FUNCTION,
        internal_name=call.name,
        arg_list=tuple(argument(o) for o in call.operands),
        filter_arg=-1,
        distinct=call.distinct,
        approximate=False,
        ignore_nulls=call.ignore_nulls,
        type=call.type,
    )


def _bound(bound: RexNode | int | None, is_lower: bool, argument: Callable[[RexNode], int]) -> OverBound:
    if bound is None:
        return OverBound("UNBOUNDED_PRECEDING" if is_lower else "UNBOUNDED_FOLLOWING")
    if isinstance(bound, int):
        return OverBound("CURRENT_ROW")
    return OverBound("BOUNDED_WINDOW", is_lower, InputRef(argument(bound), bound.type))
