"""The difference between two plans as a page, with both plans in one graph."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ...compat.diff import ChangeFinding, Diff, Side
from ...compat.edits import Edit, Insert, Keep, Move, Remove, Replace, Update
from ...compat.verdicts import Effect, Verdict, worst
from ...plan.explain import Operator, explain
from ...plan.nodes import ExecNode
from ...plan.secrets import masked_json, without_secrets
from .model import Edge, Graph, Node, Section
from .plan_page import about, sections, short_name
from .script import Places, Script

_MARKS: Mapping[type[Edit], str | None] = {
    Insert: "added",
    Remove: "removed",
    Update: "changed",
    Replace: "replaced",
    Move: "moved",
    Keep: None,
}
_RESULTS = {Effect.NO: "results stay", Effect.YES: "results change", Effect.UNKNOWN: "results may change"}


def diff_page(
    diff: Diff, sql: str | None = None, places: Mapping[int, Places] | None = None, is_yaml: bool = False
) -> Graph:
    """The nodes of both plans with their findings; two nodes that match are one node of the graph.

    ``sql`` is the pipeline of the new plan in SQL or YAML; ``places`` are the places of operators in it, by node id.
    """
    script = Script.of(sql, places or {}, is_yaml)
    page = _DiffPage(diff, script.places)
    nodes = tuple(map(page.node, diff.comparison.edits))
    return Graph(
        diff.subject,
        diff.summary.partition(": ")[2],
        nodes,
        tuple(page.edges()),
        verdict=str(diff.verdict),
        sections=tuple(page.plan_sections(nodes)),
        sql=script.text,
        colours=script.colours,
    )


class _DiffPage:
    def __init__(self, diff: Diff, places: Mapping[int, Places]) -> None:
        self._diff = diff
        self._places = places
        self._old = explain(diff.old.plan)
        self._new = explain(diff.new.plan)
        self._findings: dict[str, list[ChangeFinding]] = {}
        self._keys = {
            **{("old", e.old.id): _key(e) for e in diff.comparison.edits if not isinstance(e, Insert)},
            **{("new", e.new.id): _key(e) for e in diff.comparison.edits if not isinstance(e, Remove)},
        }
        for finding in diff.findings:
            if isinstance(finding, ChangeFinding):
                self._findings.setdefault(self._key_of(finding), []).append(finding)

    def _key_of(self, finding: ChangeFinding) -> str:
        if finding.new_node is not None:
            return self._keys.get(("new", finding.new_node), "")
        return "" if finding.old_node is None else self._keys.get(("old", finding.old_node), "")

    def node(self, edit: Edit) -> Node:
        """The node of the graph for an edit."""
        side, operator = self._shown(edit)
        node, key = operator.node, _key(edit)
        findings = [f for f in self._findings.get(key, []) if not f.allowed]
        return Node(
            key,
            _ids(edit),
            short_name(node),
            about(node),
            tuple(sorted({f"TTL {s.ttl}" for s in operator.states if s.ttl not in (None, "0 ms")})),
            (*self._finding_sections(key), *_changes(edit), *sections(operator, side.names[node.id], None)),
            _MARKS[type(edit)],
            str(worst(f.verdict for f in findings)) if findings else None,
            bool(operator.states),
            () if isinstance(edit, Remove) else self._places.get(node.id, ()),
            _reason(findings),
        )

    def _shown(self, edit: Edit) -> tuple[Side, Operator]:
        if isinstance(edit, Remove):
            return self._diff.old, self._old[edit.old.id]
        return self._diff.new, self._new[edit.new.id]

    def _finding_sections(self, key: str) -> Iterator[Section]:
        for finding in self._findings.get(key, []):
            lines = [without_secrets(finding.message)]
            if finding.hint:
                lines.append(f"hint: {finding.hint}")
            verdicts = self._diff.platforms.describe(finding.flink, finding.change_rule.spark)
            lines.append(f"{verdicts}, {_RESULTS[finding.results]} ({finding.rule})")
            verdict = "allowed" if finding.allowed else str(finding.verdict)
            yield Section(verdict, "\n".join(lines), mark=verdict)

    def plan_sections(self, nodes: Sequence[Node]) -> Iterator[Section]:
        """The findings about the plans as a whole, and the verdicts on nodes, the worst first."""
        yield from self._finding_sections("")
        judged = [(node, Verdict(node.verdict)) for node in nodes if node.verdict is not None]
        judged.sort(key=lambda item: item[1], reverse=True)
        rows = tuple(
            (f"{node.name} {node.id}", node.mark or "", str(verdict), node.reason or "") for node, verdict in judged
        )
        summary = f"{len(nodes) - len(rows)} of {len(nodes)} have no findings."
        yield Section("Operators", summary, heads=("operator", "", "state", "why") if rows else (), rows=rows)

    def edges(self) -> Iterator[Edge]:
        """The edges of both plans; those in only one of them are marked."""
        old = dict(self._edges_of("old", self._diff.old, self._old))
        new = dict(self._edges_of("new", self._diff.new, self._new))
        for ends, kinds in {**old, **new}.items():
            mark = None if ends in old and ends in new else "added" if ends in new else "removed"
            source, target, _ = ends
            yield Edge(source, target, kinds, mark)

    def _edges_of(
        self, which: str, side: Side, operators: Mapping[int, Operator]
    ) -> Iterator[tuple[tuple[str, str, int], str]]:
        for node in side.plan.nodes:
            for place, source in enumerate(side.plan.inputs(node)):
                ends = self._keys[which, source.id], self._keys[which, node.id], place
                yield ends, operators[source.id].changelog


def _reason(findings: Sequence[ChangeFinding]) -> str | None:
    """The message of the worst finding."""
    return without_secrets(max(findings, key=lambda finding: finding.verdict).message) if findings else None


def _key(edit: Edit) -> str:
    old, new = _ends(edit)
    return f"{'' if old is None else old.id}-{'' if new is None else new.id}"


def _ids(edit: Edit) -> str:
    return " → ".join(dict.fromkeys(str(node.id) for node in _ends(edit) if node is not None))


def _ends(edit: Edit) -> tuple[ExecNode | None, ExecNode | None]:
    return (
        None if isinstance(edit, Insert) else edit.old,
        None if isinstance(edit, Remove) else edit.new,
    )


def _changes(edit: Edit) -> Iterator[Section]:
    if not isinstance(edit, Update):
        return
    rows = tuple((c.pointer, *(_text(masked_json(c.pointer, value)) for value in (c.old, c.new))) for c in edit.changes)
    yield Section("Changed", heads=("where", "before", "after"), rows=rows)


def _text(value: object) -> str:
    from ...compat.rules.model import short

    return "" if value is None else short(value)
