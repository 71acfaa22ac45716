"""Output types: they have as many columns as the nodes yield."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ...plan.findings import Finding
from ...plan.nodes import (
    Calc,
    ExecNode,
    Expand,
    GlobalGroupAggregate,
    GlobalWindowAggregate,
    GroupAggregate,
    GroupWindowAggregate,
    IntervalJoin,
    Join,
    OverAggregate,
    Rank,
    TemporalJoin,
    WindowAggregate,
    WindowJoin,
    WindowRank,
)
from ...plan.specs import JoinSpec, JoinType
from .raw import RawPlan

Width = Callable[[Mapping[str, Any], Sequence[int]], int]
"""How many columns a node yields, by its fields and the widths of its inputs."""


def check_widths(plan: RawPlan) -> Iterator[Finding]:
    """Each output type has one column for each that the node's fields name."""
    for node in plan.nodes:
        rule = _WIDTHS.get(node.cls or ExecNode)
        sources = plan.inputs(node)
        inputs = [source.columns for source in sources if source.columns is not None]
        if rule is None or node.columns is None or not inputs or len(inputs) < len(sources):
            continue
        try:
            width = rule(node.values, inputs)
        except (KeyError, IndexError):
            continue
        if width != node.columns:
            message = f"the output type has {node.columns} columns, but the node yields {width}"
            yield node.finding("output-columns", message, "outputType")


def _calc(values: Mapping[str, Any], inputs: Sequence[int]) -> int:
    return len(values["projection"])


def _expand(values: Mapping[str, Any], inputs: Sequence[int]) -> int:
    return len(values["projects"][0])


def _aggregate(values: Mapping[str, Any], inputs: Sequence[int]) -> int:
    return len(values["grouping"]) + len(values["agg_calls"])


def _window_aggregate(values: Mapping[str, Any], inputs: Sequence[int]) -> int:
    return _aggregate(values, inputs) + len(values["named_window_properties"])


def _over(values: Mapping[str, Any], inputs: Sequence[int]) -> int:
    return inputs[0] + sum(len(group.agg_calls) for group in values["over_spec"].groups)


def _rank(values: Mapping[str, Any], inputs: Sequence[int]) -> int:
    return inputs[0] + int(values["output_row_number"])


def _join(values: Mapping[str, Any], inputs: Sequence[int]) -> int:
    return _joined(values["join_spec"], inputs)


def _interval_join(values: Mapping[str, Any], inputs: Sequence[int]) -> int:
    return _joined(values["interval_join_spec"].join_spec, inputs)


def _joined(spec: JoinSpec, inputs: Sequence[int]) -> int:
    left, right = inputs[0], inputs[1]
    return left if spec.join_type in (JoinType.SEMI, JoinType.ANTI) else left + right


_WIDTHS: Mapping[type[ExecNode], Width] = {
    Calc: _calc,
    Expand: _expand,
    GlobalGroupAggregate: _aggregate,
    GlobalWindowAggregate: _window_aggregate,
    GroupAggregate: _aggregate,
    GroupWindowAggregate: _window_aggregate,
    IntervalJoin: _interval_join,
    Join: _join,
    OverAggregate: _over,
    Rank: _rank,
    TemporalJoin: _join,
    WindowAggregate: _window_aggregate,
    WindowJoin: _join,
    WindowRank: _rank,
}
