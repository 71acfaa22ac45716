"""Single operators over streams that a test has made."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from flinkplan.executor.build import registry
from flinkplan.executor.build.context import TranslationContext
from flinkplan.executor.build.stream import LATENESS, Stream
from flinkplan.executor.prepare.modes import Mode
from flinkplan.executor.prepare.query import QueryPlan
from flinkplan.plan.document import Edge, Plan
from flinkplan.plan.nodes import ExecNode, Values, WatermarkAssigner
from flinkplan.plan.nodes.base import NodeMetadata
from flinkplan.plan.record import replace
from flinkplan.plan.row_kinds import ALL, INSERTS, Flow, Kinds
from flinkplan.plan.yields import Yield


class Given(ExecNode, kw_only=True):
    """A node whose rows a test has made."""

    metadata: ClassVar[NodeMetadata] = Values.metadata

    changelog: bool

    def key_columns(self) -> tuple[tuple[int, ...], ...]:
        return ()

    def yields(self, inputs: object) -> Iterable[Yield] | None:
        return None

    def row_kinds(self, flow: Flow) -> Kinds:
        return ALL if self.changelog else INSERTS


def query_of(plan: Plan, mode: Mode = Mode.AVAILABLE_NOW, *, is_batch: bool = False, folds: bool = True) -> QueryPlan:
    """The query of a plan with one sink, or of a part of one."""
    return QueryPlan(plan, plan, mode, is_batch, folds)


def build(node: ExecNode, inputs: tuple[Stream, ...], context: TranslationContext) -> Stream:
    """What is built of a node over streams, by the step that is chosen for it."""
    nodes: list[ExecNode] = []
    edges = []
    known: dict[int, int] = {}
    for i, stream in enumerate(inputs):
        if id(stream) in known:  # a stream twice is one source
            edges.append(Edge(known[id(stream)], node.id))
            continue
        source: ExecNode = Given(id=1000 + i, version=1, output_type=stream.type, changelog=stream.changelog)
        nodes.append(source)
        if LATENESS in stream.hidden:
            source = _assigner(source, 2000 + i)
            nodes.append(source)
            edges.append(Edge(1000 + i, source.id))
        known[id(stream)] = source.id
        edges.append(Edge(source.id, node.id))
    plan = Plan("2.3", (*nodes, node), tuple(edges))
    query = replace(context.query, plan=plan, whole=plan)
    return registry.build(node, query.step(node), inputs, replace(context, query=query))


def _assigner(source: ExecNode, id_: int) -> WatermarkAssigner:
    from flinkplan.plan.rex import InputRef

    rowtime = next((i for i, t in enumerate(source.output_type.field_types) if t.is_rowtime), 0)
    reference = InputRef(rowtime, source.output_type.field_types[rowtime])
    return WatermarkAssigner(
        id=id_,
        version=1,
        output_type=source.output_type,
        watermark_expr=reference,
        rowtime_field_index=rowtime,
    )
