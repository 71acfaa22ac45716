"""A query as diagnoses look at it: its plan, what it has counted, and where its rows come from and go to."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from ..executor.connectors.tables import defined_options
from ..executor.prepare.known.sources import scan_below, scans_of
from ..executor.prepare.query import QueryPlan
from ..plan.document import Plan
from ..plan.nodes import Calc, ExecNode, Join, TableSourceScan, WatermarkAssigner
from ..plan.record import Record, cached_property, field
from ..plan.rex import Call, InputRef, Literal
from ..state.counts import OperatorCounts, QueryCounts, SourceCounts
from .keys import KeyComparison
from .texts import END_OF_INPUT, milliseconds

MINUS_INTERVAL = "$-$1"

QUIET_MS = 60_000
"""A source or sink without rows for so long is said to be quiet."""

_WHERE = re.compile(r"where=\[(.*)\]\)?$", re.DOTALL)

CompareKeys = Callable[["QueryCase", Join], KeyComparison | None]
"""Compares the keys that the sides of a join keep in state; ``None``: they cannot be read."""


def no_keys(query: QueryCase, join: Join) -> None:
    """What compares no keys."""


class QueryCase(Record, dict=True):
    """A query of a job.

    ``names`` are those of the nodes of the whole job.  ``started`` and ``now`` are epoch milliseconds; ``now`` is when
    the job was last seen if it has ended.  ``is_running``: it may still get rows.  ``has_begun``: a batch has begun and
    not ended.  ``watermarks`` are those of sources by the ids of their assigners, as far as each is known by itself.
    """

    sink: str
    query: QueryPlan
    names: Mapping[int, str]
    counts: QueryCounts
    started: int
    now: int
    is_running: bool
    has_begun: bool = False
    watermarks: Mapping[int, int] = field(default_factory=dict)
    compare_keys: CompareKeys = no_keys

    @property
    def plan(self) -> Plan:
        """The part of the plan that the sink needs."""
        return self.query.plan

    @property
    def has_first_batch(self) -> bool:
        """Whether nothing was counted yet because the first batch has not ended."""
        return self.has_begun and not self.counts.batches

    @property
    def is_silent(self) -> bool:
        """Whether nothing was written, or nothing for a while."""
        last = self.counts.last_written
        return last is None or (self.is_running and self.now - last >= QUIET_MS)

    @property
    def has_input_ended(self) -> bool:
        """Whether the watermark is that of the end of input."""
        return self.counts.watermark == END_OF_INPUT

    @cached_property
    def scans(self) -> tuple[TableSourceScan, ...]:
        """The sources."""
        return tuple(node for node in self.plan.nodes if isinstance(node, TableSourceScan))

    def source(self, scan: ExecNode) -> SourceCounts:
        """What a source has read."""
        return self.counts.sources.get(scan.id, SourceCounts())

    def operator(self, node: ExecNode) -> OperatorCounts:
        """What an operator has counted."""
        return self.counts.operators.get(node.id, OperatorCounts())

    def options(self, scan: TableSourceScan) -> Mapping[str, str]:
        """The options of the table of a source."""
        return defined_options(scan.scan_table_source.table, self.query.variables)

    def quiet_ms(self, scan: ExecNode) -> int:
        """For how long a source has had no rows."""
        periods = self.source(scan).periods
        return max(self.now - (periods[-1].last if periods else self.started), 0)

    def between(self, source: ExecNode, reader: ExecNode | None) -> Sequence[ExecNode]:
        """The nodes that the rows of a source pass on their way to a reader, in the order of the plan.

        ``None``: up to the first node that brings rows together.
        """
        if reader is None:
            return tuple(self._rows_alone(source))
        before = {node.id for node in self.plan.upstream([reader])}
        behind = self._downstream(source)
        ends = {source.id, reader.id}
        return tuple(node for node in self.plan.nodes if node.id in before & behind and node.id not in ends)

    def _downstream(self, node: ExecNode) -> set[int]:
        pending, reached = [node], set()
        while pending:
            each = pending.pop()
            if each.id not in reached:
                reached.add(each.id)
                pending.extend(self.plan.outputs(each))
        return reached

    def _rows_alone(self, source: ExecNode) -> Iterator[ExecNode]:
        outputs = self.plan.outputs(source)
        while len(outputs) == 1 and len(self.plan.inputs(outputs[0])) == 1 and not any(outputs[0].key_columns()):
            yield outputs[0]
            outputs = self.plan.outputs(outputs[0])

    def assigners(self, node: ExecNode) -> list[WatermarkAssigner]:
        """The watermark assigners before a node."""
        return [each for each in self.plan.upstream([node]) if isinstance(each, WatermarkAssigner)]

    def watermark_of(self, assigner: WatermarkAssigner) -> int | None:
        """The watermark that a source has reached; ``None``: it has none yet.  That of a single one is the query's."""
        known = self.watermarks.get(assigner.id)
        if known is None and len([n for n in self.plan.nodes if isinstance(n, WatermarkAssigner)]) == 1:
            return milliseconds(self.counts.watermark)
        return known

    def table(self, node: ExecNode) -> str:
        """The table that a node stands on, else the name of the node."""
        scan = node if isinstance(node, TableSourceScan) else scan_below(node, self.plan)
        return self.names[node.id] if scan is None else scan.scan_table_source.table.name

    def arrived(self, side: ExecNode, reader: ExecNode) -> int | None:
        """The rows that have come to ``reader`` by its input ``side``, at least one if it is not 0."""
        total = 0
        pending = [side]
        while pending:
            node = pending.pop()
            if isinstance(node, TableSourceScan):
                passed = self.counts.passed(node.id, reader.id)
                if passed is None:
                    passed = self.counts.passed(node.id, None) if self.query.is_batch else 0
                if passed is None and self.source(node).rows:
                    return None
                total += passed or 0
            elif node.id in self.counts.operators:
                rows_out = self.operator(node).rows_out
                if rows_out is None:
                    return None
                total += rows_out
            else:
                pending.extend(self.plan.inputs(node))
        return total

    def sources_of(self, node: ExecNode) -> list[TableSourceScan]:
        """The sources that a node's rows come from."""
        return scans_of(node, self.plan)


def filters(nodes: Iterable[ExecNode]) -> list[Calc]:
    """Those of some nodes that leave rows out."""
    return [node for node in nodes if isinstance(node, Calc) and node.condition is not None]


def condition_text(calc: Calc) -> str:
    """The condition of a calc, as its description has it."""
    match = _WHERE.search(calc.description)
    return match[1] if match else calc.description


def delay_ms(assigner: WatermarkAssigner) -> int | None:
    """By how much a watermark is behind the latest row: that of ``ts - INTERVAL …``; ``None`` for other expressions."""
    match assigner.watermark_expr:
        case InputRef():
            return 0
        case Call(name=name, operands=(InputRef(), Literal(value=str(ms)))) if name == MINUS_INTERVAL and ms.isdigit():
            return int(ms)
    return None
