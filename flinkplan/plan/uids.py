"""The UIDs by which Flink finds the state of a compiled plan's operators.

Source: ``ExecNodeContext.generateUid``, ``ExecNodeConfig.shouldSetUid``, ``table.exec.uid.generation`` and ``.format``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from .document import Plan
from .nodes import ExecNode
from .record import Record, field

GENERATION, FORMAT = "table.exec.uid.generation", "table.exec.uid.format"


class Uids(Record):
    """The UIDs of plans that run in a session with these options; the options that a node fixes come first."""

    options: Mapping[str, str] = field(default_factory=dict)

    def are_given(self, plan: Plan) -> bool:
        """Whether operators have UIDs; without them, Flink generates ids from the shape of the whole job."""
        return all(self._option(node, GENERATION, "PLAN_ONLY").upper() != "DISABLED" for node in plan.nodes)

    def of(self, node: ExecNode, transformation: str) -> str:
        """The UID of a node's operator, ``5_join`` in the default format."""
        if node.own_uid is not None:
            return node.own_uid
        name = node.metadata.name
        parts = {"id": node.id, "type": name, "version": node.version, "transformation": transformation}
        uid = self._option(node, FORMAT, "<id>_<transformation>")
        for part, value in parts.items():
            uid = uid.replace(f"<{part}>", str(value))
        return uid

    def kept(self, node: ExecNode) -> dict[str, str]:
        """The operators of a node with state in savepoints: their UIDs by transformation."""
        return {transformation: self.of(node, transformation) for transformation in node.stateful_transformations}

    def holders(self, plan: Plan) -> Iterator[tuple[str, tuple[ExecNode, str]]]:
        """All UIDs of a plan with state in savepoints, each with its node and transformation."""
        for node in plan.nodes:
            for transformation, uid in self.kept(node).items():
                yield uid, (node, transformation)

    def _option(self, node: ExecNode, key: str, default: str) -> str:
        return node.option(key, self.options.get(key, default))
