"""How large the bounded input of a job is, as far as its connectors know, and what follows from that."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ....plan.nodes import ExecNode, TableSourceScan
from ....plan.specs import ContextResolvedTable
from ...connectors import find_connector
from ...connectors.tables import table_of
from ...errors import TableError

SMALL_INPUT = 16 << 20
"""Input up to this many bytes is worked on in one partition, and in seconds."""

LARGE_INPUT = 256 << 20
"""From so many bytes on it pays to look at the first rows before all are worked on."""

PARTITION_BYTES = 64 << 20
"""Of more, so many bytes come to a partition: what a task groups or sorts is to fit into its memory."""


def is_small(nodes: Iterable[ExecNode], variables: Mapping[str, str]) -> bool:
    """Whether the input of the nodes is known to be small."""
    size = _bytes(nodes, variables)
    return size is not None and size <= SMALL_INPUT


def is_read_by_several(nodes: Iterable[ExecNode], variables: Mapping[str, str]) -> bool:
    """Whether the input of the nodes is known to be so large that several tasks read it."""
    return (_bytes(nodes, variables) or 0) > SMALL_INPUT


def is_large(nodes: Iterable[ExecNode], variables: Mapping[str, str]) -> bool:
    """Whether the input of the nodes is known to be large."""
    return (_bytes(nodes, variables) or 0) >= LARGE_INPUT


def reads_little(node: ExecNode, variables: Mapping[str, str]) -> bool:
    """Whether a node reads a table that is known to be small."""
    return isinstance(node, TableSourceScan) and is_small([node], variables)


def partitions_for(nodes: Iterable[ExecNode], variables: Mapping[str, str], parallelism: int) -> int:
    """In how many partitions rows are brought together; few are quickest, and in Flink's order, in one."""
    size = _bytes(nodes, variables)
    if size is not None and size <= SMALL_INPUT:
        return 1
    return max(2, parallelism, (size or 0) // PARTITION_BYTES)


def _bytes(nodes: Iterable[ExecNode], variables: Mapping[str, str]) -> int | None:
    sizes = [_size(n.scan_table_source.table, variables) for n in nodes if isinstance(n, TableSourceScan)]
    return None if None in sizes else sum(size or 0 for size in sizes)


def _size(reference: ContextResolvedTable, variables: Mapping[str, str]) -> int | None:
    """How many bytes a table has; ``None`` where its connector does not know, or the plan does not define it whole."""
    try:
        table = table_of(reference, variables)
        return find_connector(table).size(table)
    except TableError:
        return None
