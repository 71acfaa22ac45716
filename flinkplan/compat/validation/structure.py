"""Checks top-level keys, node types, ids and edges."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ...plan.codec import field_codecs
from ...plan.errors import FlinkplanError
from ...plan.findings import Finding, nearest
from ...plan.nodes import BatchLookupJoin, LookupJoin, OpaqueNode, Sink, TemporalJoin
from ...plan.nodes.base import UnknownVersionError, class_and_version
from ...plan.settings import FORMER_KEYS
from ...plan.structure import Fault, key_faults, structure_faults
from .raw import RawPlan
from .rules import RULES

RELEASES = ("1.15", "1.16", "1.17", "1.18", "1.19", "1.20", "2.0", "2.1", "2.2", "2.3")
_OWN_FIELD = "flinkplan"


def check_keys(plan: RawPlan) -> Iterator[Finding]:
    """The document has exactly Flink's three keys."""
    return map(_finding, key_faults(plan.json))


def check_version(plan: RawPlan) -> Iterator[Finding]:
    """The plan is of a known release."""
    version = plan.json.get("flinkVersion") if isinstance(plan.json, Mapping) else None
    if isinstance(version, str) and version not in RELEASES:
        message = f"the plan is of Flink {version!r}, which is unknown"
        hint = f"write a release without a patch level: {RELEASES[0]} to {RELEASES[-1]}"
        yield _finding(Fault("plan-version", message, "/flinkVersion", hint))


def check_types(plan: RawPlan) -> Iterator[Finding]:
    """Every node has a known type and version."""
    for node in plan.nodes:
        if node.type_name is None:
            continue
        try:
            cls, _ = class_and_version(node.type_name)
        except FlinkplanError as e:
            rule = "node-version" if isinstance(e, UnknownVersionError) else "node-type"
            yield node.finding(rule, e.message, "type", hint=e.hint)
            continue
        if cls.metadata.is_own:
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
            if FORMER_KEYS.get(key, key) not in node.cls.metadata.consumed_options:
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
        if node.cls in (LookupJoin, BatchLookupJoin) and node.values.get("lookup_keys") == {}:
            message = "a table that is looked up by no column can be compiled, but not executed, also in Flink"
            hint = "compare one of its columns, without a cast, by = with a column of the left side"
            yield node.finding("never-runs", message, "lookupKeys", hint=hint)


def check_structure(plan: RawPlan) -> Iterator[Finding]:
    """Ids, edges, inputs and the order of nodes are right."""
    has_list = isinstance(plan.json, Mapping) and isinstance(plan.json.get("nodes"), list)
    faults = (fault for fault in structure_faults(plan.outline) if fault.pointer != "/nodes" or has_list)
    return map(_finding, faults)


def check_ends(plan: RawPlan) -> Iterator[Finding]:
    """Every node feeds another one unless it is a sink."""
    feeding = {edge.source for edge in plan.edges}
    for node in plan.nodes:
        if node.id is None or node.cls is None or plan.by_id[node.id] is not node:
            continue
        if issubclass(node.cls, Sink):
            if node.id in feeding:
                yield node.finding("dead-end", "a sink cannot feed another node", hint="remove the edge from it")
        elif node.id not in feeding:
            message = "its output is not used: no edge starts here"
            yield node.finding("dead-end", message, hint=f'an edge with "source" : {node.id} is missing')


def _finding(fault: Fault) -> Finding:
    node, node_type = (None, None) if fault.node is None else (fault.node.id, fault.node.type_name)
    return Finding(
        fault.rule, RULES[fault.rule].severity, fault.message, fault.pointer, None, node, node_type, fault.hint
    )
