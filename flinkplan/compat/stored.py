"""What operators keep in state: the rows and keys that are written down, with their types.

Source: the serializers that Flink's operators hand to their state descriptors.  Accumulators are left to the
rules on aggregate calls.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ..plan.nodes import (
    ChangelogNormalize,
    Deduplicate,
    ExecNode,
    GlobalGroupAggregate,
    GlobalWindowAggregate,
    GroupAggregate,
    GroupWindowAggregate,
    IncrementalGroupAggregate,
    IntervalJoin,
    Join,
    Limit,
    MultiJoin,
    OverAggregate,
    Rank,
    Sink,
    Sort,
    SortLimit,
    TemporalJoin,
    TemporalSort,
    WindowAggregate,
    WindowDeduplicate,
    WindowJoin,
    WindowRank,
)
from ..plan.record import Record
from .lineage import Lineage, Meaning


def sql_type(text: str) -> str:
    """A type as people write it."""
    return text.replace("VARCHAR(2147483647)", "STRING").replace("VARBINARY(2147483647)", "BYTES")


class StoredColumn(Record):
    """A column that is written down."""

    name: str
    type: str
    meaning: Meaning

    def __str__(self) -> str:
        return f"{self.name} {sql_type(self.type)}"


class Stored(Record):
    """The rows (or, where ``is_key``, the keys) of one state."""

    name: str
    columns: Sequence[StoredColumn]
    is_key: bool = False


def stored(node: ExecNode, lineage: Lineage) -> Iterator[Stored]:
    """What ``node`` keeps: whole input rows, then keys."""
    inputs = lineage.plan.inputs(node)
    sides = [_columns(i, lineage) for i in inputs]
    if _KEEPS_ROWS.get(type(node), _no)(node):
        for i, columns in enumerate(sides):
            yield Stored(row_name(node, i, len(sides)), columns)
    for side, keys in enumerate(keys_of(node)):
        if side < len(sides):
            columns = sides[side]
            yield Stored("the key", [columns[k] for k in keys if 0 <= k < len(columns)], is_key=True)


def _columns(node: ExecNode, lineage: Lineage) -> list[StoredColumn]:
    row = lineage.rows[node.id]
    return [StoredColumn(f.name, str(f.type.regular()), m) for f, m in zip(node.fields, row, strict=True)]


def keys_of(node: ExecNode) -> Sequence[Sequence[int]]:
    """The columns of each input that a node keeps its state by; empty where it has no keys."""
    return _KEYS.get(type(node), _no_keys)(node)


def row_name(node: ExecNode, side: int, sides: int) -> str:
    """What to call the state that holds the rows of one of ``sides`` inputs."""
    names = node.metadata.states
    if len(names) > side:
        return names[side]
    return ("the left rows", "the right rows")[side] if sides == 2 else "the rows" if sides == 1 else f"input {side}"


def _no(node: Any) -> bool:
    return False


def _yes(node: Any) -> bool:
    return True


def _keeps_more_than_keys(node: Deduplicate) -> bool:
    return node.is_rowtime or node.keep_last_row


def _materializes(node: Sink) -> bool:
    return node.require_upsert_materialize


_KEEPS_ROWS: Mapping[type[ExecNode], Callable[[Any], bool]] = {
    Deduplicate: _keeps_more_than_keys,
    Sink: _materializes,
    **dict.fromkeys(
        (
            ChangelogNormalize,
            IntervalJoin,
            Join,
            Limit,
            MultiJoin,
            OverAggregate,
            Rank,
            Sort,
            SortLimit,
            TemporalJoin,
            TemporalSort,
            WindowDeduplicate,
            WindowJoin,
            WindowRank,
        ),
        _yes,
    ),
}

Keys = Sequence[Sequence[int]]
"""The key columns of each input."""


def _no_keys(node: Any) -> Keys:
    return ()


def _join_keys(node: Any) -> Keys:
    spec = node.interval_join_spec.join_spec if isinstance(node, IntervalJoin) else node.join_spec
    return (spec.left_keys, spec.right_keys)


_KEYS: Mapping[type[ExecNode], Callable[[Any], Keys]] = {
    ChangelogNormalize: lambda node: (node.unique_keys,),
    Deduplicate: lambda node: (node.unique_keys,),
    GlobalGroupAggregate: lambda node: (node.grouping,),
    GlobalWindowAggregate: lambda node: (node.grouping,),
    GroupAggregate: lambda node: (node.grouping,),
    GroupWindowAggregate: lambda node: (node.grouping,),
    IncrementalGroupAggregate: lambda node: (node.partial_agg_grouping,),
    IntervalJoin: _join_keys,
    Join: _join_keys,
    OverAggregate: lambda node: (node.over_spec.partition.fields,),
    Rank: lambda node: (node.partition.fields,),
    TemporalJoin: _join_keys,
    WindowAggregate: lambda node: (node.grouping,),
    WindowDeduplicate: lambda node: (node.partition_keys,),
    WindowJoin: _join_keys,
    WindowRank: lambda node: (node.partition_spec.fields,),
}
