"""State without some of its entries."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from ..plan.record import cached_property, replace
from .form import JobState, Manifest, OperatorState, StateTable
from .form_arrow import arrow
from .keys import KeyValues
from .plain import plain_value

if TYPE_CHECKING:
    from pyarrow import RecordBatch


class StateWithout(JobState):
    """State without operators, or without the entries of a key that they have.

    ``operators`` are operators of its manifest.  Without ``key`` they are left out whole, with the positions of sources
    and what coordinators keep; with it their keyed states lack the keys that begin with its values.
    """

    def __init__(self, state: JobState, operators: Collection[OperatorState], key: KeyValues | None) -> None:
        self._state = state
        self._tables = {table.table for operator in operators for table in operator.states}
        self._names = {(operator.uid, operator.hash) for operator in operators}
        self._key = key

    @cached_property
    def manifest(self) -> Manifest:
        manifest = self._state.manifest
        if self._key is not None:
            return manifest
        left = tuple(each for each in manifest.operators if (each.uid, each.hash) not in self._names)
        uids = {uid or hash_ for uid, hash_ in self._names}
        return replace(
            manifest, operators=left, positions=tuple(each for each in manifest.positions if each.uid not in uids)
        )

    @property
    def plan_text(self) -> str | None:
        return self._state.plan_text

    def batches(self, table: StateTable) -> Iterator[RecordBatch]:
        for batch in self._state.batches(table):
            yield batch if not self._loses(table) else batch.filter(arrow().array(self._kept(batch)))

    def _loses(self, table: StateTable) -> bool:
        key = self._key
        return key is not None and table.table in self._tables and table.kind.is_keyed and key.fits(len(table.key))

    def _kept(self, batch: RecordBatch) -> list[bool]:
        assert self._key is not None
        return [not has_key(key, self._key) for key in batch.column("key").to_pylist()]

    def dropped(self) -> dict[int, int]:
        """How many entries are left out, by the numbers of the tables that lose some."""
        tables = (table for _, table in self._state.manifest.tables() if table.table in self._tables)
        if self._key is None:
            return {table.table: table.entries or 0 for table in tables}
        return {
            table.table: sum(batch.num_rows - sum(self._kept(batch)) for batch in self._state.batches(table))
            for table in tables
            if self._loses(table)
        }


def has_key(row: dict[str, object], key: KeyValues) -> bool:
    """Whether a key, as Arrow has it in Python, begins with the values of ``key``."""
    return key.begins(map(plain_value, row.values()))
