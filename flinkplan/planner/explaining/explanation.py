"""The three trees of Flink's EXPLAIN.

Source: ``StreamPlanner.explain``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ...plan import nodes
from ...plan.changelog import row_kinds
from ...plan.document import Plan
from ...plan.errors import UnsupportedError
from ...plan.record import Record, replace
from ...plan.row_kinds import Kinds, kinds_text
from ..algebra.rel import Rel
from .abstract import abstract_lines
from .trees import tree_lines


class Explanation(Record):
    """What was bound, and what became of it; ``physical`` is a plan whose descriptions are those of the physical tree.

    ``has_sinks``: the sinks are of the statement, not made for a query, and are shown.  ``has_changelog_modes``: the
    physical tree says which kinds of rows each operator emits.
    """

    bound: Sequence[Rel]
    physical: Plan
    plan: Plan
    has_sinks: bool = True
    has_changelog_modes: bool = False

    def __str__(self) -> str:
        roots = self.bound if self.has_sinks else [rel.inputs[0] for rel in self.bound]
        sections = {
            "Abstract Syntax Tree": map(abstract_lines, roots),
            "Optimized Physical Plan": _trees(self._physical, self.has_sinks, shares=False),
            "Optimized Execution Plan": _trees(self.plan, self.has_sinks, shares=True),
        }
        texts = (f"== {name} ==\n{_joined(trees)}" for name, trees in sections.items())
        return "\n".join(texts)

    @property
    def _physical(self) -> Plan:
        if not self.has_changelog_modes:
            return self.physical
        kinds = row_kinds(self.physical)
        nodes = tuple(
            replace(node, description=_with_part(node.description or "", f"changelogMode=[{_mode(kinds[node.id])}]"))
            for node in self.physical.nodes
        )
        return replace(self.physical, nodes=nodes)


def _mode(kinds: Kinds | None) -> str:
    return "UNKNOWN" if kinds is None else kinds_text(kinds) or "NONE"


def _with_part(description: str, part: str) -> str:
    """The description of an operator with one more part at its end."""
    return f"{description[:-1]}{'' if description.endswith('()') else ', '}{part})"


def check_explained(plan: Plan) -> None:
    """Raise :class:`UnsupportedError` for what Flink finds only when it builds a job, which it does for EXPLAIN."""
    for node in plan.nodes:
        if isinstance(node, (nodes.Limit, nodes.SortLimit)) and "fetch=[unlimited]" in (node.description or ""):
            raise UnsupportedError("FETCH is missing, which Flink does not support for streams", hint="add a FETCH")


def _joined(trees: Iterable[Iterable[str]]) -> str:
    return "\n".join("".join(f"{line}\n" for line in tree) for tree in trees)


def _trees(plan: Plan, has_sinks: bool, *, shares: bool) -> Iterator[Iterable[str]]:
    """The trees of a plan's sinks; with ``shares`` a node with several readers is expanded only at the first one."""
    nodes = {node.id: node for node in plan.nodes}
    inputs: dict[int, list[int]] = {node.id: [] for node in plan.nodes}
    readers = dict.fromkeys(nodes, 0)
    for edge in plan.edges:
        inputs[edge.target].append(edge.source)
        readers[edge.source] += 1
    shown: dict[int, int] = {}

    def label(id_: int) -> tuple[str, Sequence[int]]:
        text, below = nodes[id_].description or "", inputs[id_]
        if shares and readers[id_] > 1:
            if id_ in shown:
                return f"Reused(reference_id=[{shown[id_]}])", ()
            shown[id_] = len(shown) + 1
            text += f"(reuse_id=[{shown[id_]}])"
        return text, below

    for node in plan.nodes:
        if not readers[node.id]:
            for root in [node.id] if has_sinks else inputs[node.id]:
                yield list(tree_lines(root, label))
