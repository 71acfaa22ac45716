"""Nodes that flinkplan reads, compares and writes, and whose fields and state it does not know."""

from __future__ import annotations

import types

from ..savepoint.layout import Inputs
from .base import ColumnOrder, ExecNode, exec_node, spread_by
from .mixins import SameChanges


class OpaqueNode(SameChanges, ExecNode, kw_only=True):
    """A node whose state is not known; its fields are kept unchanged in ``unknown``."""

    def key_columns(self) -> tuple[tuple[int, ...], ...]:
        return spread_by(self.input_properties)

    def yields(self, inputs: Inputs) -> None:
        """Not known."""

    @property
    def stateful_transformations(self) -> tuple[str, ...]:
        """All transformations, since it is not known which of them have state."""
        return self.metadata.transformations


def _declare(name: str, versions: dict[int, str]) -> None:
    """Register a node class, of nodes that hand on what they read with further columns."""
    title = "".join(p.capitalize() for p in name.split("-"))
    attributes = {"__module__": __name__, "__doc__": OpaqueNode.__doc__}
    cls: type[OpaqueNode] = types.new_class(title, (OpaqueNode,), exec_body=lambda body: body.update(attributes))
    exec_node(name, order=ColumnOrder.FIXED, versions=versions, inputs=None)(cls)


_declare("async-correlate", {1: "2.2"})
_declare("ml-predict-table-function", {1: "2.1"})
_declare("vector-search-table-function", {1: "2.2"})
