"""The three trees of Flink's EXPLAIN.

Source: ``StreamPlanner.explain``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from ...plan.changelog import row_kinds, without_old_rows
from ...plan.document import Plan
from ...plan.nodes import ExecNode
from ...plan.record import Record, field, replace
from ...plan.rex import RexNode
from ...plan.row_kinds import Kinds, kinds_text
from ..algebra.rel import Rel
from ..program import operators_of
from .abstract import abstract_lines, lists_as_written, of_table_api
from .advice import advice_text, advised_nodes, update_warnings, with_part
from .costs import cost_text
from .hints import resolved_hints
from .job_graph import job_graph
from .trees import tree_lines


class Explanation(Record):
    """What was bound, and what became of it; ``physical`` is a plan whose descriptions are those of the physical tree.

    ``has_sinks``: the sinks are of the statement, not made for a query, and are shown.  ``has_changelog_modes``: the
    physical tree says which kinds of rows each operator emits.  ``has_advice``: it is shown with Flink's advice,
    ``has_job_graph``: the operators of the job are shown as JSON; both depend on the settings ``config``.  ``sinks``
    are the operators that the advice is about.  ``has_costs``: the physical tree has the estimated costs.
    ``of_table_api``: the query is of the Table API, not in SQL.  ``lists``: by SEARCH calls, the IN lists of the
    statement that they stand for.
    """

    bound: Sequence[Rel]
    physical: Plan
    plan: Plan
    has_sinks: bool = True
    has_changelog_modes: bool = False
    has_advice: bool = False
    has_job_graph: bool = False
    has_costs: bool = False
    of_table_api: bool = False
    config: Mapping[str, str] = field(default_factory=dict)
    sinks: Sequence[Rel] = ()
    lists: Mapping[RexNode, RexNode] = field(default_factory=dict)

    def __str__(self) -> str:
        roots = self.bound if self.has_sinks else [rel.inputs[0] for rel in self.bound]
        physical = _joined(_trees(self._physical, self.has_sinks, shares=False))
        title = "Optimized Physical Plan"
        if self.has_advice:
            operators = self.sinks if self.has_sinks else [sink.inputs[0] for sink in self.sinks]
            warnings = tuple(update_warnings(operators, self.config))
            advice = advice_text(self.plan, self.config, warnings)
            title, physical = f"{title} With Advice", f"{physical}\n{advice}\n"
        with of_table_api() if self.of_table_api else lists_as_written(self.lists):
            abstract = _joined(map(abstract_lines, roots))
        sections = {
            "Abstract Syntax Tree": abstract,
            title: physical,
            "Optimized Execution Plan": _joined(_trees(self.plan, self.has_sinks, shares=True)),
        }
        if self.has_job_graph:
            sections["Physical Execution Plan"] = job_graph(self.plan, self.config, has_sinks=self.has_sinks)
        return "\n".join(f"== {name} ==\n{text}" for name, text in sections.items())

    @property
    def _physical(self) -> Plan:
        kinds: Mapping[int, Kinds | None] = {}
        if self.has_changelog_modes:  # who only looks at a query needs no old rows
            kinds = row_kinds(self.physical if self.has_sinks else without_old_rows(self.physical))
        advised = advised_nodes(self.physical) if self.has_advice else ()
        operators = operators_of(self.sinks, self.config)

        def described(node: ExecNode) -> ExecNode:
            text = node.description or ""
            if node.id in advised:
                text = text.replace("(", "(advice=[1], ", 1)
            if node.id in kinds:
                text = with_part(text, f"changelogMode=[{_mode(kinds[node.id])}]")
            for part in resolved_hints(operators[node.id - 1].rel):
                text = with_part(text, part)
            if self.has_costs:  # rows of constants have their types without costs alone
                text = _TYPE_OF_VALUES.sub("Values(", text) + cost_text(operators[node.id - 1].rel)
            return replace(node, description=text)

        return replace(self.physical, nodes=tuple(map(described, self.physical.nodes)))


_TYPE_OF_VALUES = re.compile(r"^Values\(type=\[.*?\], (?=tuples=)")


def _mode(kinds: Kinds | None) -> str:
    return "UNKNOWN" if kinds is None else kinds_text(kinds) or "NONE"


def _joined(trees: Iterable[Iterable[str]]) -> str:
    return "\n".join("".join(f"{line}\n" for line in tree) for tree in trees)


def _trees(plan: Plan, has_sinks: bool, *, shares: bool) -> Iterator[Iterable[str]]:
    """The trees of a plan's sinks.

    With ``shares`` a node with several readers is expanded once: where it is read first or, if there are several sinks,
    as a tree of its own before the sink.  Source: ``ExecNodePlanDumper``.
    """
    nodes = {node.id: node for node in plan.nodes}
    inputs: dict[int, list[int]] = {node.id: [] for node in plan.nodes}
    for edge in plan.edges:
        inputs[edge.target].append(edge.source)
    sinks = nodes.keys() - {edge.source for edge in plan.edges}
    roots = [root for node in plan.nodes if node.id in sinks for root in ([node.id] if has_sinks else inputs[node.id])]
    reused = _reused(roots, inputs) if shares else {}
    expanded: set[int] = set()

    def label(id_: int) -> tuple[str, Sequence[int]]:
        text, below = nodes[id_].description or "", inputs[id_]
        if id_ not in reused:
            return text, below
        if id_ in expanded:
            return f"Reused(reference_id=[{reused[id_]}])", ()
        expanded.add(id_)
        return f"{text}(reuse_id=[{reused[id_]}])", below

    def shared_below(id_: int) -> Iterator[int]:
        for below in inputs[id_]:
            if below not in expanded:
                yield from shared_below(below)
                if below in reused and below not in expanded:
                    yield below

    for root in roots:
        for shared in shared_below(root) if len(roots) > 1 else ():
            yield list(tree_lines(shared, label))
        yield list(tree_lines(root, label))


def _reused(roots: Sequence[int], inputs: Mapping[int, Sequence[int]]) -> dict[int, int]:
    """The numbers of nodes with several readers, in the order in which a walk comes to each of them again."""
    seen: set[int] = set()
    numbers: dict[int, int] = {}

    def visit(id_: int) -> None:
        if id_ in seen:
            numbers.setdefault(id_, len(numbers) + 1)
            return
        seen.add(id_)
        for below in inputs[id_]:
            visit(below)

    for root in roots:
        visit(root)
    return numbers
