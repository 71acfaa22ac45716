"""The kinds of rows that each node of a plan emits.

A plan says them only at its sinks and, for some operators, whether updates come with the old row; the rest
follows from what the operators do, which each node says of itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .document import Plan
from .nodes import DropUpdateBefore, Exchange, ExecNode, MiniBatchAssigner, Sink
from .nodes.alike import SameChanges
from .record import Record
from .row_kinds import Kinds, NotKnownError
from .specs import RowKind
from .types import RowField


def row_kinds(plan: Plan) -> Mapping[int, Kinds | None]:
    """Node id → the kinds of rows it emits, none for a sink; ``None`` where it is not known."""
    found: dict[int, Kinds | None] = {}
    for node in plan.nodes:
        try:
            found[node.id] = node.row_kinds(_Flow(plan, node, found))
        except NotKnownError:
            found[node.id] = None
    return found


class _Flow(Record):
    """See :class:`.row_kinds.Flow`."""

    plan: Plan
    node: ExecNode
    found: Mapping[int, Kinds | None]

    @property
    def inputs(self) -> Sequence[Kinds]:
        return [self._known(source) for source in self.plan.inputs(self.node)]

    def _known(self, source: ExecNode) -> Kinds:
        kinds = self.found[source.id]
        if kinds is None:
            raise NotKnownError
        return kinds

    @property
    def sources(self) -> Sequence[ExecNode]:
        found = list(self.plan.inputs(self.node))
        while any(isinstance(source, Exchange) for source in found):
            found = [each for s in found for each in (self.plan.inputs(s) if isinstance(s, Exchange) else (s,))]
        return found

    @property
    def fields(self) -> Sequence[RowField]:
        return self.plan.inputs(self.node)[0].fields

    @property
    def in_batches(self) -> bool:
        return any(isinstance(node, MiniBatchAssigner) for node in self.plan.nodes)

    @property
    def wants_old_rows(self) -> bool:
        """All readers do but sinks that say otherwise, and what drops them."""
        asked, pending = {self.node.id}, [self.node]
        while pending:
            for reader in self.plan.outputs(pending.pop()):
                if isinstance(reader, Sink):
                    if RowKind.UPDATE_BEFORE in reader.input_changelog_mode:
                        return True
                elif isinstance(reader, SameChanges):
                    if reader.id not in asked:
                        asked.add(reader.id)
                        pending.append(reader)
                elif not isinstance(reader, DropUpdateBefore):
                    return True
        return False
