"""Which kinds of changes each operator emits, from the sources down.

Source: ``SatisfyModifyKindSetTraitVisitor`` of ``FlinkChangelogModeInferenceProgram``.
"""

from __future__ import annotations

from ...plan import row_kinds
from ...plan.record import cached_on_record
from ...plan.row_kinds import ALL, CHANGES, Kinds
from ...plan.specs import RowKind
from ..algebra import physical as p
from ..algebra.dispatch import Dispatch
from ..algebra.lookups import LookupJoin
from ..algebra.rel import Rel
from ..algebra.traits import InsertsOnly, SameKinds
from ..connectors import source_kinds
from .process_tables import process_table_kinds

INSERT, UPDATE, DELETE = RowKind.INSERT, RowKind.UPDATE_AFTER, RowKind.DELETE
INSERT_ONLY = row_kinds.INSERTS


@cached_on_record
def modify_kinds(rel: Rel) -> Kinds:
    """The kinds of changes that a physical relation emits."""
    return _RULES[rel](rel, tuple([modify_kinds(i) for i in rel.inputs]))


def _passed_on(rel: Rel, inputs: tuple[Kinds, ...]) -> Kinds:
    return row_kinds.forwarded(inputs) if inputs else INSERT_ONLY


def _scan(rel: p.SourceScan, inputs: tuple[Kinds, ...]) -> Kinds:
    return source_kinds(rel.table, dict(rel.options)) & CHANGES


def _aggregate(rel: p.GroupAggregate | p.GlobalGroupAggregate, inputs: tuple[Kinds, ...]) -> Kinds:
    return row_kinds.grouped(rel.phase == "FINAL" or not inputs[0] <= INSERT_ONLY)


def _table_aggregate(rel: p.GroupTableAggregate, inputs: tuple[Kinds, ...]) -> Kinds:
    return row_kinds.grouped(True)


def _legacy_window(rel: p.LegacyWindowAggregate, inputs: tuple[Kinds, ...]) -> Kinds:
    return row_kinds.fired(bool(rel.emit))


def _join(rel: p.RegularJoin, inputs: tuple[Kinds, ...]) -> Kinds:
    return row_kinds.joined((rel.spec.join_type,), inputs)


def _multi_join(rel: p.MultiJoin, inputs: tuple[Kinds, ...]) -> Kinds:
    return row_kinds.joined(rel.kinds, inputs)


def _limit(rel: p.Limit, inputs: tuple[Kinds, ...]) -> Kinds:
    return row_kinds.limited(inputs[0])


def _deduplicate(rel: p.Deduplicate, inputs: tuple[Kinds, ...]) -> Kinds:
    return row_kinds.deduplicated(not (rel.keep_last or rel.uses_mini_batches))


def _rank(rel: p.Rank, inputs: tuple[Kinds, ...]) -> Kinds:
    stays = row_kinds.first_row_is_final(rel.kind, rel.range, rel.order, with_rank=rel.rank is not None)
    return row_kinds.ranked(stays and not rel.uses_mini_batches, inputs[0])


def _over(rel: p.OverAggregate, inputs: tuple[Kinds, ...]) -> Kinds:
    return row_kinds.framed(is_ordered_by_time(rel), inputs[0])


def is_ordered_by_time(rel: p.OverAggregate) -> bool:
    """Whether the rows of OVER are ordered by a time attribute, or not at all."""
    fields = rel.input.row_type.fields
    orders = [g.order_by.fields[0].index for g in rel.groups if g.order_by.fields]
    return all(fields[i].type.is_time_attribute for i in orders)


def _process_table(rel: p.ProcessTable, inputs: tuple[Kinds, ...]) -> Kinds:
    return process_table_kinds(rel, inputs, ALL) & CHANGES


def _insert_only(rel: Rel, inputs: tuple[Kinds, ...]) -> Kinds:
    return INSERT_ONLY


def _all(rel: Rel, inputs: tuple[Kinds, ...]) -> Kinds:
    return CHANGES


def _left(rel: Rel, inputs: tuple[Kinds, ...]) -> Kinds:
    return inputs[0]


_RULES: Dispatch[Kinds] = Dispatch(
    "kinds of changes",
    {
        InsertsOnly: _insert_only,
        SameKinds: _passed_on,
        p.SourceScan: _scan,
        p.GroupAggregate: _aggregate,
        p.GlobalGroupAggregate: _aggregate,
        p.GroupTableAggregate: _table_aggregate,
        p.LegacyWindowAggregate: _legacy_window,
        p.OverAggregate: _over,
        p.RegularJoin: _join,
        p.MultiJoin: _multi_join,
        p.ProcessTable: _process_table,
        p.VersionedJoin: _left,
        LookupJoin: _left,
        p.Rank: _rank,
        p.SortLimit: _all,
        p.Limit: _limit,
        p.Deduplicate: _deduplicate,
        p.ChangelogNormalize: _all,
    },
    unknown=(),
    physical=True,
)
