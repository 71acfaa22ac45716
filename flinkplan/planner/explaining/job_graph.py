"""The graph of the job in EXPLAIN JSON_EXECUTION_PLAN.

Sources: Flink's ``JSONGenerator`` and ``ExecNodeBase.createTransformationMeta``.  Identifiers begin with 1 here, in
Flink with the number of operators that its process has made before.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from ...plan.document import Plan
from ...plan.errors import UnsupportedError
from ...plan.nodes import Exchange, ExecNode, Sink, TableSourceScan, Union

_PRINT = "print"
_PARALLELISM = "parallelism.default"


def job_graph(plan: Plan, config: Mapping[str, str], *, has_sinks: bool) -> str:
    """The operators of a plan as Flink chains them, in JSON as Flink writes it; without the sinks unless ``has_sinks``.

    Raises :class:`UnsupportedError` for a sink that is several operators: those of connectors other than ``print``, and
    sinks that check or materialize rows.
    """
    shown = [node for node in plan.nodes if not isinstance(node, Exchange | Union | Sink) or _is_sink(node, has_sinks)]
    numbers = {node.id: place for place, node in enumerate(plan.nodes, 1)}
    parallelism = config.get(_PARALLELISM, "1")
    return '{\n  "nodes" : [ ' + ", ".join(_operator(plan, node, numbers, parallelism) for node in shown) + " ]\n}"


def _is_sink(node: ExecNode, has_sinks: bool) -> bool:
    if not isinstance(node, Sink) or not has_sinks:
        return False
    resolved = node.dynamic_table_sink.table.resolved_table
    columns, options = (resolved.schema.columns, resolved.options or {}) if resolved else ((), {})
    checks = any(c.data_type is not None and not c.data_type.nullable for c in columns)
    if checks or node.require_upsert_materialize or options.get("connector") != _PRINT:
        raise UnsupportedError(
            "EXPLAIN JSON_EXECUTION_PLAN does not show the operators of this sink",
            where=f"table {node.dynamic_table_sink.table.identifier}",
            hint="it shows queries, and sinks of 'print' without NOT NULL columns",
        )
    return True


def _operator(plan: Plan, node: ExecNode, numbers: Mapping[int, int], parallelism: str) -> str:
    number, description = numbers[node.id], node.description or ""
    name, pact = description.partition("(")[0], "Operator"
    if isinstance(node, TableSourceScan):
        name, pact = f"Source: {node.scan_table_source.table.name}", "Data Source"
    elif isinstance(node, Sink):
        name, pact = f"Sink: {node.dynamic_table_sink.table.name}", "Data Sink"
    fields = {
        "id": str(number),
        "type": _quoted(f"{name}[{number}]"),
        "pact": _quoted(pact),
        "contents": _quoted(f"[{number}]:{description}"),
        "parallelism": parallelism,
    }
    edges = [edge for source in plan.inputs(node) for edge in _edges(plan, source, "FORWARD")]
    if edges:
        inputs = ({"id": str(numbers[id]), "ship_strategy": _quoted(how), "side": '"second"'} for id, how in edges)
        fields["predecessors"] = "[ " + ", ".join(_object(each, "      ") for each in inputs) + " ]"
    return _object(fields, "    ")


def _edges(plan: Plan, node: ExecNode, how: str) -> Iterator[tuple[int, str]]:
    """The operators from which rows of ``node`` come, each with the way to which it hands them on."""
    if isinstance(node, Exchange):
        yield from _edges(plan, plan.inputs(node)[0], _strategy(node))
    elif isinstance(node, Union):
        for source in plan.inputs(node):
            yield from _edges(plan, source, how)
    else:
        yield node.id, how


def _strategy(node: Exchange) -> str:
    kind = (node.description or "").partition("distribution=[")[2].partition("]")[0].partition("[")[0]
    return {"single": "GLOBAL", "broadcast": "BROADCAST", "any": "REBALANCE"}.get(kind, kind.upper())


def _object(fields: Mapping[str, str], indent: str) -> str:
    lines = ",\n".join(f'{indent}"{name}" : {value}' for name, value in fields.items())
    return f"{{\n{lines}\n{indent[:-2]}}}"


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
