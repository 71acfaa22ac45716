"""Small compiled plans, made by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from flinkplan.executor.prepare.checks import refused_nodes
from flinkplan.plan.document import Edge, Plan, plan_from_json
from flinkplan.plan.nodes import ExecNode, Values
from flinkplan.plan.types import LogicalType

BLACKHOLE = {"connector": "blackhole"}

Fields = Sequence[tuple[str, str]]


def passthrough(
    source: Mapping[str, str], sink: Mapping[str, str] = BLACKHOLE, fields: Fields = (("a", "INT"),)
) -> Plan:
    """``INSERT INTO sink SELECT * FROM source`` over tables with these options and columns."""
    return pipeline([scan(source, fields), sink_node(sink, fields)])


def pipeline(nodes: Sequence[dict[str, Any]]) -> Plan:
    """A plan of nodes in a row."""
    numbered = [{"id": i, **node} for i, node in enumerate(nodes, 1)]
    edges = [
        {"source": i, "target": i + 1, "shuffle": {"type": "FORWARD"}, "shuffleMode": "PIPELINED"}
        for i in range(1, len(nodes))
    ]
    return plan_from_json({"flinkVersion": "2.3", "nodes": numbered, "edges": edges})


def row_type(fields: Fields) -> str:
    """The text of a row type."""
    return f"ROW<{', '.join(f'`{name}` {t}' for name, t in fields)}>"


def table(name: str, options: Mapping[str, str], fields: Fields, **schema: Any) -> dict[str, Any]:
    """A table as plans hold it."""
    columns = [{"name": n, "dataType": t} for n, t in fields]
    resolved = {"schema": {"columns": columns, **schema}, "options": dict(options)}
    return {"identifier": f"`c`.`d`.`{name}`", "resolvedTable": resolved}


def scan(options: Mapping[str, str], fields: Fields) -> dict[str, Any]:
    """A scan of a table."""
    return {
        "type": "stream-exec-table-source-scan_2",
        "scanTableSource": {"table": table("source", options, fields)},
        "outputType": row_type(fields),
        "description": "",
    }


def sink_node(options: Mapping[str, str], fields: Fields, **schema: Any) -> dict[str, Any]:
    """A sink into a table, which is insert-only unless the format is a changelog's."""
    changelog = "-json" in options.get("format", "")
    kinds = ["INSERT", "UPDATE_BEFORE", "UPDATE_AFTER", "DELETE"] if changelog else ["INSERT"]
    return {
        "type": "stream-exec-sink_2",
        "dynamicTableSink": {"table": table("sink", options, fields, **schema)},
        "inputChangelogMode": kinds,
        "outputType": row_type(fields),
        "description": "",
    }


def refusal(node: ExecNode, *inputs: LogicalType, options: Mapping[str, str] | None = None) -> str:
    """What is said of a node over inputs of these types before it is executed."""
    sources = tuple(Values(id=100 + i, version=1, tuples=(), output_type=of) for i, of in enumerate(inputs))
    edges = tuple(Edge(source.id, node.id) for source in sources)
    return "; ".join(str(error) for _, error in refused_nodes(Plan("2.3", (*sources, node), edges), options))
