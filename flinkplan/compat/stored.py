"""The rows and keys that operators store in state, with their types.

Source: the serializers that Flink's operators pass to their state descriptors.  Accumulators are judged by the rules on
aggregate calls.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ..plan.document import Plan
from ..plan.nodes import ExecNode
from ..plan.record import Record
from ..plan.savepoint.layout import Column
from ..plan.types.readable import readable
from .lineage import Lineage, Meaning


class StoredColumn(Record):
    """A stored column."""

    name: str
    type: str
    meaning: Meaning

    def __str__(self) -> str:
        return f"{self.name} {readable(self.type)}"


class Stored(Record):
    """The stored columns of a state's rows, or with ``is_key`` of its key."""

    name: str
    columns: Sequence[StoredColumn]
    is_key: bool = False


def stored(node: ExecNode, lineage: Lineage) -> Iterator[Stored]:
    """What ``node`` stores: the rows of its inputs, then its keys."""
    sides = [_columns(i, lineage) for i in lineage.plan.inputs(node)]
    for side, columns in enumerate(sides if node.keeps_rows else ()):
        yield Stored(row_name(node, side, len(sides)), columns)
    for side, key in enumerate(keys_of(node, lineage.plan)):
        yield Stored("the key", [sides[side][k] for k in key], is_key=True)


def paired(old: Iterable[Stored], new: Iterable[Stored]) -> Iterator[tuple[Stored, Stored]]:
    """What two nodes store, in pairs for the same input."""
    before, after = list(old), list(new)
    for is_key in (False, True):
        yield from zip(*([s for s in kept if s.is_key is is_key] for kept in (before, after)), strict=False)


def _columns(node: ExecNode, lineage: Lineage) -> list[StoredColumn]:
    row = lineage.rows[node.id]
    return [StoredColumn(f.name, str(f.type.regular()), m) for f, m in zip(node.fields, row, strict=True)]


def keys_of(node: ExecNode, plan: Plan) -> Sequence[Sequence[int]]:
    """The columns of each input that a node keeps its state by; empty where it has no keys."""
    layout = node.layout([i.fields for i in plan.inputs(node)])
    if layout is None:
        return ()
    columns = [value.origin for value in layout.key if isinstance(value.origin, Column)]
    return [[c.index for c in columns if c.side == side] for side in range(len(node.key_columns()))]


def row_name(node: ExecNode, side: int, sides: int) -> str:
    """What to call the state that holds the rows of one of ``sides`` inputs."""
    declared = node.declared_states(sides)
    if len(declared) > side:
        return declared[side].name
    return ("the left rows", "the right rows")[side] if sides == 2 else "the rows" if sides == 1 else f"input {side}"
