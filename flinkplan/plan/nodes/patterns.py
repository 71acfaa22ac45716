"""Patterns of rows."""

from __future__ import annotations

from ..row_kinds import INSERTS, Flow, Kinds
from ..specs import MatchSpec
from .base import ColumnOrder, exec_node
from .opaque import OpaqueNode


@exec_node(
    "match", order=ColumnOrder.FIXED, versions={1: "1.15"}, inputs=1, transformations=("timestamp-inserter", "match")
)
class Match(OpaqueNode, kw_only=True):
    """MATCH_RECOGNIZE.  What a change of its pattern does to its state is not known."""

    match_spec: MatchSpec

    def key_columns(self) -> tuple[tuple[int, ...], ...]:
        return (self.match_spec.partition.fields,)

    def row_kinds(self, flow: Flow) -> Kinds:
        return INSERTS
