"""The kinds of rows that each node of a plan emits.

A plan states them only at its sinks, and for some operators whether updates come with the old row (UPDATE_BEFORE);
the rest follows from the operators: see ``row_kinds`` of each node class.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .document import Plan
from .nodes import DropUpdateBefore, Exchange, ExecNode, MiniBatchAssigner, Sink
from .nodes.mixins import SameChanges
from .record import Record, replace
from .row_kinds import Kinds, NotKnownError
from .specs import RowKind
from .types import RowField


def row_kinds(plan: Plan) -> Mapping[int, Kinds | None]:
    """Node id → the kinds of rows that the node emits, none for a sink; ``None`` where they are not known."""
    kinds: dict[int, Kinds | None] = {}
    for node in plan.nodes:
        try:
            kinds[node.id] = node.row_kinds(_Flow(plan, node, kinds))
        except NotKnownError:
            kinds[node.id] = None
    return kinds


def without_old_rows(plan: Plan) -> Plan:
    """The plan with sinks that need no old rows of updates (UPDATE_BEFORE): operators emit them for others alone."""
    nodes = tuple(_without_old_rows(node) if isinstance(node, Sink) else node for node in plan.nodes)
    open_plan = replace(plan, nodes=nodes)

    def adapted(node: ExecNode) -> ExecNode:
        if not getattr(node, "generate_update_before", False) or _Flow(open_plan, node, {}).needs_update_before:
            return node
        return replace(node, generate_update_before=False)

    return replace(plan, nodes=tuple(map(adapted, nodes)))


def _without_old_rows(sink: Sink) -> Sink:
    kinds = tuple(kind for kind in sink.input_changelog_mode if kind.row_kind is not RowKind.UPDATE_BEFORE)
    return replace(sink, input_changelog_mode=kinds)


class _Flow(Record):
    """See :class:`.row_kinds.Flow`."""

    plan: Plan
    node: ExecNode
    kinds: Mapping[int, Kinds | None]

    @property
    def inputs(self) -> Sequence[Kinds]:
        return [self._known(source) for source in self.plan.inputs(self.node)]

    def _known(self, source: ExecNode) -> Kinds:
        kinds = self.kinds[source.id]
        if kinds is None:
            raise NotKnownError
        return kinds

    @property
    def sources(self) -> Sequence[ExecNode]:
        nodes = list(self.plan.inputs(self.node))
        while any(isinstance(node, Exchange) for node in nodes):
            nodes = [input_ for n in nodes for input_ in (self.plan.inputs(n) if isinstance(n, Exchange) else (n,))]
        return nodes

    @property
    def fields(self) -> Sequence[RowField]:
        return self.plan.inputs(self.node)[0].fields

    @property
    def uses_mini_batches(self) -> bool:
        return any(isinstance(node, MiniBatchAssigner) for node in self.plan.nodes)

    @property
    def needs_update_before(self) -> bool:
        """All readers need them except for sinks whose changelog mode lacks them and nodes that drop them."""
        visited, pending = {self.node.id}, [self.node]
        while pending:
            for reader in self.plan.outputs(pending.pop()):
                if isinstance(reader, Sink):
                    if RowKind.UPDATE_BEFORE in reader.input_kinds:
                        return True
                elif isinstance(reader, SameChanges):
                    if reader.id not in visited:
                        visited.add(reader.id)
                        pending.append(reader)
                elif not isinstance(reader, DropUpdateBefore):
                    return True
        return False
