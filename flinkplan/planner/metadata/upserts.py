"""Whether a table that is updated can be so by a key alone."""

from __future__ import annotations

from ...plan.functions.process import Trait
from ..algebra.rel import CallsProcessTable
from .keys import upsert_keys
from .process_tables import takes_updates


def takes_upserts(rel: CallsProcessTable, index: int) -> bool:
    """Whether the table at an input is updated by the key that it is partitioned by.  Source: ``isPtfUpsert``."""
    if not takes_updates(rel, index) or Trait.REQUIRE_UPDATE_BEFORE in rel.declared_tables[index].traits:
        return False
    keys = frozenset(rel.tables[index].partition_keys)
    return bool(keys) and keys in upsert_keys(rel.inputs[index])
