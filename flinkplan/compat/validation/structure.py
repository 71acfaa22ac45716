"""Checks top-level keys, node types, ids and edges."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from ...plan.codec import field_codecs
from ...plan.findings import Finding, nearest
from ...plan.nodes import LookupJoin, OpaqueNode, TemporalJoin, node_classes
from ...plan.text.positions import pointer
from .raw import RawPlan
from .rules import RULES

_KEYS = ("flinkVersion", "nodes", "edges")
RELEASES = ("1.15", "1.16", "1.17", "1.18", "1.19", "1.20", "2.0", "2.1", "2.2", "2.3")
_OWN_FIELD = "flinkplan"


def check_keys(plan: RawPlan) -> Iterator[Finding]:
    """The document has exactly Flink's three keys."""
    if not isinstance(plan.json, Mapping):
        yield _plan_finding("plan-keys", "a compiled plan is a JSON object", "", "it starts with {")
        return
    for key in _KEYS:
        if key not in plan.json:
            yield _plan_finding("plan-keys", f"the plan has no '{key}'", "", f"a plan has {', '.join(_KEYS)}")
    for key in plan.json:
        if key not in _KEYS:
            hint = nearest(key, _KEYS) or "Flink refuses it; put your own data into a node, under 'flinkplan'"
            yield _plan_finding("plan-keys", f"the plan has the unknown top-level key '{key}'", pointer(key), hint)


def check_version(plan: RawPlan) -> Iterator[Finding]:
    """The plan is of a known release."""
    version = plan.json.get("flinkVersion") if isinstance(plan.json, Mapping) else None
    if isinstance(version, str) and version not in RELEASES:
        message = f"the plan is of Flink {version!r}, which is unknown"
        hint = f"write a release without a patch level: {RELEASES[0]} to {RELEASES[-1]}"
        yield _plan_finding("plan-version", message, "/flinkVersion", hint)


def check_types(plan: RawPlan) -> Iterator[Finding]:
    """Every node has a known type and version."""
    names = [cls.metadata.name for cls in node_classes()]
    for node in plan.nodes:
        if node.type_name is None:
            continue
        if node.cls is None:
            hint = nearest(node.name or node.type_name, names) or "a type is a name and a version: stream-exec-calc_1"
            if node.type_name in names:
                hint = f"the version is missing: write '{node.type_name}_1'"
            yield node.finding("node-type", f"there is no exec node '{node.type_name}'", "type", hint=hint)
        elif node.version not in node.cls.metadata.versions:
            versions = " and ".join(f"{node.name}_{v}" for v in node.cls.metadata.versions)
            message = f"'{node.name}' has no version {node.version}"
            yield node.finding("node-version", message, "type", hint=f"there is {versions}")
        elif node.cls.metadata.is_own:
            message = f"'{node.type_name}' is a node of flinkplan: the plan runs only here, not on Flink"
            yield node.finding("own-node", message, "type")


def check_fields(plan: RawPlan) -> Iterator[Finding]:
    """Every field and option of a node is known."""
    for node in plan.nodes:
        if node.cls is None or issubclass(node.cls, OpaqueNode):
            continue
        known = {"type" if c.name == "version" else c.json for c in field_codecs(node.cls)}
        for name in node.json.keys() - known - {_OWN_FIELD, "state"}:
            hint = nearest(name, known) or "Flink ignores it"
            yield node.finding("node-field", f"'{node.name}' has no field '{name}'", name, hint=hint)
        options = node.json.get("configuration")
        for key in options if isinstance(options, Mapping) else ():
            if key not in node.cls.metadata.consumed_options:
                message = f"'{node.name}' does not read the option '{key}'"
                similar = nearest(key, node.cls.metadata.consumed_options)
                yield node.finding("node-option", message, "configuration", key, hint=similar)


def check_run(plan: RawPlan) -> Iterator[Finding]:
    """No operator is one that Flink compiles, but never runs."""
    for node in plan.nodes:
        join = node.node
        if isinstance(join, TemporalJoin) and join.snapshot_ttl_ms is not None:
            message = "a join as of processing time that waits for a snapshot runs only here, not in Flink"
            yield node.finding("not-in-flink", message, "rightTimeAttributeIndex")
        elif node.cls is TemporalJoin and node.values.get("right_time_attribute_index", 0) < 0:
            message = "a join as of processing time can be compiled, but not executed, also in Flink"
            hint = "join as of an event time of the left table, or without FOR SYSTEM_TIME"
            yield node.finding("never-runs", message, "rightTimeAttributeIndex", hint=hint)
        if node.cls is LookupJoin and node.values.get("lookup_keys") == {}:
            message = "a table that is looked up by no column can be compiled, but not executed, also in Flink"
            hint = "compare one of its columns, without a cast, by = with a column of the left side"
            yield node.finding("never-runs", message, "lookupKeys", hint=hint)


def check_ids(plan: RawPlan) -> Iterator[Finding]:
    """No two nodes share an id."""
    for node in plan.nodes:
        if node.id is not None and plan.by_id[node.id] is not node:
            unused = max(plan.by_id) + 1
            message = f"the id {node.id} is used twice, first by {plan.by_id[node.id].type_name}"
            yield node.finding("node-id", message, "id", hint=f"use {unused}, and change the edges too")


def check_edges(plan: RawPlan) -> Iterator[Finding]:
    """Every edge connects two nodes."""
    for edge in plan.edges:
        for end, node_id in (("source", edge.source), ("target", edge.target)):
            if node_id is not None and node_id not in plan.by_id:
                known = ", ".join(map(str, sorted(plan.by_id)[:20])) or "none"
                message = f"the edge's {end} is node {node_id}, which does not exist"
                yield _plan_finding("edge-end", message, pointer("edges", edge.index, end), f"the ids are {known}")


def check_inputs(plan: RawPlan) -> Iterator[Finding]:
    """Every node has the right number of inputs, and feeds another one unless it is a sink."""
    feeding = {edge.source for edge in plan.edges}
    fed = Counter(edge.target for edge in plan.edges)
    for node in plan.nodes:
        if node.id is None or node.cls is None or plan.by_id[node.id] is not node:
            continue
        count = fed[node.id]
        needed = node.cls.metadata.inputs
        if needed is not None and count != needed:
            message = f"'{node.name}' has {count or 'no'} input{'s' if count > 1 else ''}, but needs {needed or 'none'}"
            hint = f'every input is an edge with "target" : {node.id}'
            yield node.finding("input-count", message, hint=hint)
        elif not count and needed is None and not issubclass(node.cls, OpaqueNode):
            yield node.finding("input-count", f"'{node.name}' has no input", hint="every input is an edge")
        if node.name == "stream-exec-sink":
            if node.id in feeding:
                yield node.finding("dead-end", "a sink cannot feed another node", hint="remove the edge from it")
        elif node.id not in feeding:
            message = "its output is not used: no edge starts here"
            yield node.finding("dead-end", message, hint=f'an edge with "source" : {node.id} is missing')
    if isinstance(plan.json, Mapping) and plan.json.get("nodes") == []:
        yield _plan_finding("dead-end", "the plan has no nodes", "/nodes", "a plan has at least a source and a sink")


def check_order(plan: RawPlan) -> Iterator[Finding]:
    """The edges form no cycle, and the nodes are in topological order."""
    cycle = _cycle(plan)
    if cycle:
        first = next(n for n in plan.nodes if n.id in cycle)
        names = ", ".join(map(str, sorted(cycle)))
        yield first.finding("cycle", f"the nodes {names} form a cycle", hint="remove one of the edges")
        return
    for node in plan.nodes:
        for source in plan.inputs(node):
            if source.index > node.index:
                message = f"is listed before its input, node {source.id}"
                yield node.finding("node-order", message, "id", hint="list the nodes from the sources to the sinks")


def _cycle(plan: RawPlan) -> set[int]:
    """The ids of nodes in cycles: neither a topological order from the sources nor one from the sinks reaches them."""
    edges = [(e.source, e.target) for e in plan.edges if e.source in plan.by_id and e.target in plan.by_id]
    forwards = [(source, target) for source, target in edges if source is not None and target is not None]
    backwards = [(target, source) for source, target in forwards]
    return _unreached(plan.by_id, forwards) & _unreached(plan.by_id, backwards)


def _unreached(ids: Iterable[int], edges: Sequence[tuple[int, int]]) -> set[int]:
    """The nodes that a topological order does not reach."""
    targets: dict[int, list[int]] = {}
    for source, target in edges:
        targets.setdefault(source, []).append(target)
    missing = Counter(target for _, target in edges)
    unreached = set(ids)
    reached = [i for i in ids if not missing[i]]
    for node in reached:
        unreached.remove(node)
        for target in targets.get(node, ()):
            missing[target] -= 1
            if not missing[target]:
                reached.append(target)
    return unreached


def _plan_finding(rule: str, message: str, pointer: str, hint: str | None = None) -> Finding:
    return Finding(rule, RULES[rule].severity, message, pointer, hint=hint)
