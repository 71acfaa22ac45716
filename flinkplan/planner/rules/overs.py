"""OVER calls of a projection become operators.

Sources: ``ProjectToWindowRule``, ``CalcRelSplitter``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeGuard

from ...plan.functions.aggregate import SHIFTS
from ...plan.functions.model import Kind
from ...plan.record import Struct, cached_on_record, replace
from ...plan.rex import InputRef, Literal, RexNode, Sarg
from ...plan.specs import AggregateCall, OverBound, OverGroup, SortField, SortSpec
from ..algebra.calls import aggregate_call
from ..algebra.logical import Filter, Join, Project
from ..algebra.names import is_made_up
from ..algebra.physical import OverAggregate
from ..algebra.rel import ONE_SIDED, Rel
from ..algebra.tree import with_inputs
from ..errors import Part, PlanningError
from ..rex.expressions import contains_over, identity, ordered_refs, rewrite
from ..rex.unplanned import Over
from .merged_projections import is_identity, merge_projects
from .rule import rule


@rule(on=Project, over=Project)
def merge_projections(rel: Project, below: Project) -> Rel:
    """Merge projections, so that OVER calls and the expressions below them stand in one projection.

    One of all columns of another stays until redundant projections are removed, unless one above is merged with it.
    """
    for rex in rel.exprs:
        _check_order(rex, below.exprs)
    if is_identity(rel):
        return rel
    merged = merge_projects(rel)
    return merged if merged is rel else merge_projections(merged)


def split_overs(rel: Rel) -> Rel:
    """Projections with OVER calls, inputs first: those become columns ``w0$o0``… of operators below.

    What is left of a projection is named anew.  Only a projection that stands right on it sees that: any other
    relation has the names of its input as it was made, and ``HepPlanner`` gives it another input in place.
    """
    return _split(rel, False, False) if Project in rel.classes else rel


@cached_on_record
def _split(rel: Rel, below_join: bool, keeps_names: bool) -> Rel:
    """The relation without OVER calls; a filter on one side of a join keeps the names that it has of its input."""
    is_join = isinstance(rel, Join) and rel.type not in ONE_SIDED
    is_filter = isinstance(rel, Filter)
    keeps = is_filter and (below_join or keeps_names)
    new = with_inputs(rel, tuple([_split(i, is_join, keeps) for i in rel.inputs]))
    if not isinstance(rel, Project) or not isinstance(new, Project):
        return new
    names = new.input.names if isinstance(rel.input, Project) else rel.input.names
    return _split_project(new, names, keeps_names=keeps_names)


def _split_project(rel: Project, input_names: tuple[str, ...], *, keeps_names: bool = False) -> Rel:
    """The operators for a projection with OVER calls, over an input whose columns have these names."""
    if not any(contains_over(e) for e in rel.exprs):
        return rel
    for rex in rel.exprs:
        _check_order(rex)
    program = _Program.over(rel.input, input_names)
    outputs = [program.register(e) for e in rel.exprs]
    return program.build(outputs, rel.names, keeps_names)


def _check_order(rex: RexNode, computed: tuple[RexNode, ...] | None = None) -> None:
    """Raise :class:`PlanningError` for a rank in an order of constants, which Flink cannot plan.

    ``computed`` are the expressions of the columns, if a projection is below.
    """
    if not isinstance(rex, Over) or rex.function.kind is not Kind.RANKING or rex.function in SHIFTS:
        return
    keys = [computed[key.index] if computed and isinstance(key, InputRef) else key for key, *_ in rex.order]
    if keys and all(isinstance(key, Literal) for key in keys):
        raise PlanningError(
            f"{rex.function.name} is ordered by nothing but constants", hint="order it by a column", part=Part.OVER
        )


class _Program(Struct):
    """Every subexpression of a projection once, as a node; its operands are references to other nodes.

    The nodes are computed in levels, in turn by projections and by operators for OVER; each level passes on
    what later ones need.  A column that a lower level computes is named ``$`` and its place.
    """

    source: Rel
    names: tuple[str, ...]
    nodes: list[RexNode]

    @classmethod
    def over(cls, source: Rel, names: tuple[str, ...]) -> _Program:
        """An empty program over a relation whose columns have these names."""
        return cls(source, names, list(identity(source.types)))

    def register(self, rex: RexNode) -> int:
        """The node of an expression."""

        def place(node: RexNode) -> RexNode:
            if isinstance(node, InputRef):
                return node
            for bound in _bounds(node):
                self._index(bound)
            return InputRef(self._index(node), node.type)

        placed = rewrite(rex, place)
        assert isinstance(placed, InputRef)
        return placed.index

    def _index(self, node: RexNode) -> int:
        if node not in self.nodes:
            self.nodes.append(node)
        return self.nodes.index(node)

    def build(self, outputs: list[int], names: Iterable[str], keeps_names: bool) -> Rel:
        """The operators of all levels, with ``outputs`` on top.

        A projection that only leaves columns out has the names that its input now has: unless they are kept, those
        of the outputs are lost.
        """
        levels, kinds = self._levels()
        last_use = [-1] * len(self.nodes)
        for i, level in enumerate(levels):
            for operand in self._operands(i):
                last_use[operand] = max(last_use[operand], level)
        for i in outputs:
            last_use[i] = len(kinds)
        rel, known = self.source, dict(enumerate(self.names))
        places = {i: i for i in range(rel.width)}
        for level, is_over in enumerate(kinds):
            wanted = outputs
            level_names = tuple(names)
            if level < len(kinds) - 1:
                passed = (i for i, own in enumerate(levels) if own <= level < last_use[i])
                wanted = [i for i in passed if not isinstance(self.nodes[i], (Literal, Sarg))]
                level_names = tuple(self._name(node, i, known.get(node, "")) for i, node in enumerate(wanted))
            if is_over:
                calls = [i for i in wanted if levels[i] == level]
                input_names = self.names if rel is self.source else rel.names
                rel, call_places = _operators(rel, input_names, [self._placed(i, places) for i in calls])
                places |= dict(zip(calls, call_places, strict=True))
            exprs = tuple(self._placed(i, places) for i in wanted)
            if _picks_in_order(exprs):
                level_names = tuple(self._name(node, i, rel.names[places[node]]) for i, node in enumerate(wanted))
            if exprs != identity(rel.types):
                rel = Project(input=rel, exprs=exprs, names=level_names)
            places = {node: i for i, node in enumerate(wanted)}
        return replace(rel, names=tuple(names)) if keeps_names and isinstance(rel, Project) else rel

    def _operands(self, index: int) -> tuple[int, ...]:
        node = self.nodes[index]
        if isinstance(node, InputRef):
            return ()
        return (*ordered_refs([node]), *map(self.nodes.index, _bounds(node)))

    def _placed(self, index: int, places: dict[int, int]) -> RexNode:
        """A node whose operands are replaced by the columns that hold them."""
        node = self.nodes[index]
        if index in places:
            return InputRef(places[index], node.type)
        return rewrite(node, lambda r: self._placed(r.index, places) if isinstance(r, InputRef) else r)

    def _name(self, node: int, place: int, known: str) -> str:
        """The name of a column of a projection: that of the source column, if it is one."""
        return known if node < self.source.width and not is_made_up(known) else f"${place}"

    def _levels(self) -> tuple[list[int], list[bool]]:
        """The level of each node (-1 for columns), and for each level whether it is one of OVER calls."""
        levels = [-1] * len(self.nodes)
        kinds: list[bool] = []
        for i in self._topological():
            if isinstance(self.nodes[i], InputRef):
                continue
            is_over = _is_over(self.nodes[i])
            level = max((levels[o] for member in self._cohort(i) for o in self._operands(member)), default=0)
            level = max(level, 0)
            while level < len(kinds) and kinds[level] != is_over:
                level += 1
            if level == len(kinds):
                kinds.append(is_over)
            levels[i] = level
        return levels, kinds if not kinds[-1] else [*kinds, False]

    def _cohort(self, index: int) -> list[int]:
        """The nodes that must be on one level with a node: OVER calls with one window."""
        node = self.nodes[index]
        if not _is_over(node):
            return [index]
        window = (node.partition, node.order, node.frame)
        return [i for i, n in enumerate(self.nodes) if _is_over(n) and (n.partition, n.order, n.frame) == window]

    def _topological(self) -> list[int]:
        """The nodes in topological order: operands first."""
        users: list[dict[int, None]] = [{} for _ in self.nodes]
        for i in range(len(self.nodes)):
            for operand in self._operands(i):
                users[operand] |= dict.fromkeys(self._cohort(i))
        waiting = [sum(i in operands for operands in users) for i in range(len(self.nodes))]
        order = [i for i, count in enumerate(waiting) if not count]
        for i in order:
            for user in users[i]:
                waiting[user] -= 1
                if not waiting[user]:
                    order.append(user)
        return order


def _picks_in_order(exprs: tuple[RexNode, ...]) -> bool:
    """Whether the expressions are columns in ascending order, each once."""
    indexes = [e.index for e in exprs if isinstance(e, InputRef)]
    return len(indexes) == len(exprs) and indexes == sorted(set(indexes))


def _is_over(rex: object) -> TypeGuard[Over]:
    return isinstance(rex, Over)


def _bounds(rex: object) -> list[RexNode]:
    """The offsets of the frame of an OVER call."""
    bounds = (rex.frame.lower, rex.frame.upper) if _is_over(rex) else ()
    return [b for b in bounds if b is not None and not isinstance(b, int)]


def _operators(source: Rel, names: tuple[str, ...], calls: list[RexNode]) -> tuple[Rel, list[int]]:
    """Operators for OVER calls over columns with these names, one a window, and the positions of their results."""
    overs = [call for call in calls if _is_over(call)]
    windows: dict[tuple[object, ...], list[Over]] = {}
    for call in dict.fromkeys(overs):
        windows.setdefault((call.partition, call.order, call.frame), []).append(call)
    rel, places = source, dict[Over, int]()
    # Those without an order, which take inserts only, stand below others.
    for number, members in enumerate(sorted(windows.values(), key=lambda members: bool(members[0].order))):
        places |= {call: rel.width + i for i, call in enumerate(members)}
        rel = _operator(rel, names if rel is source else rel.names, members, number)
    return rel, [places[call] for call in overs]


def _operator(source: Rel, source_names: tuple[str, ...], calls: list[Over], number: int) -> OverAggregate:
    """The operator for calls of one window, the ``number``-th of a projection."""
    width = source.width
    constants: list[RexNode] = []

    def argument(rex: RexNode) -> int:
        if isinstance(rex, InputRef):
            return rex.index
        if rex not in constants:
            constants.append(rex)
        return width + constants.index(rex)

    first = calls[0]
    for call in calls:
        by = (*call.partition, *(rex for rex, *_ in call.order))
        for rex in (*call.operands, *by, *_bounds(call)):
            argument(rex)  # constants stand in the order in which the calls name them, frames last
    order = SortSpec(tuple(SortField(o.index, up, last) for o, up, last in first.order if isinstance(o, InputRef)))
    frame = first.frame
    group = OverGroup(
        order,
        frame.is_rows,
        _bound(frame.lower, "UNBOUNDED_PRECEDING", frame.lower_is_preceding, argument),
        _bound(frame.upper, "UNBOUNDED_FOLLOWING", frame.upper_is_preceding, argument),
        tuple(_call(c, f"w{number}$o{i}", argument) for i, c in enumerate(calls)),
    )
    partition = tuple(dict.fromkeys(p.index for p in first.partition if isinstance(p, InputRef)))
    names = (*source_names, *(str(c.name) for c in group.agg_calls))
    return OverAggregate(
        input=source,
        partition=partition,
        groups=(group,),
        constants=tuple(constants),
        names=names,
        number=number,
    )


def _call(call: Over, name: str, argument: Callable[[RexNode], int]) -> AggregateCall:
    return aggregate_call(
        call.function,
        map(argument, call.operands),
        call.type,
        name=name,
        distinct=call.distinct,
        ignore_nulls=call.ignore_nulls,
    )


def _bound(
    bound: RexNode | int | None, unbounded: str, is_preceding: bool, argument: Callable[[RexNode], int]
) -> OverBound:
    if bound is None:
        return OverBound(unbounded)
    if isinstance(bound, int):
        return OverBound("CURRENT_ROW")
    offset = InputRef(argument(bound), bound.type)
    return OverBound("BOUNDED_WINDOW", is_preceding or None, None if is_preceding else True, offset)
