"""Which deletions have all columns, and where upserts therefore need no normalization.

Sources: the ``SatisfyDeleteKindTraitVisitor`` of ``FlinkChangelogModeInferenceProgram``, and
``ChangelogNormalizeRequirementResolver``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum

from ...plan import row_kinds
from ...plan.functions.process import Trait
from ...plan.record import replace
from ...plan.settings import is_on
from ...plan.specs import ReadingMetadata, ReceivedKind, RowKind
from ..algebra import physical as p
from ..algebra.changes import Updates
from ..algebra.dispatch import Dispatch
from ..algebra.rel import Rel
from ..algebra.traits import CompleteDeletes, SameDeletes
from ..algebra.tree import with_inputs
from ..connectors import deletes_by_key
from ..errors import Part, PlanningError
from ..metadata.keys import keys_in_group_range, upsert_keys
from ..metadata.modify_kinds import DELETE
from ..metadata.process_tables import process_table_mode
from ..metadata.upserts import takes_upserts
from ..rex.expressions import refs
from .changelog import primary_key


class Deletes(Enum):
    """Which columns the rows of deletions have.  Source: ``DeleteKind``."""

    NONE = 0
    """There are no deletions."""
    BY_KEY = 1
    """The key; the other columns may be NULL."""
    FULL = 2
    """All columns."""

    def satisfy(self, wanted: Deletes) -> bool:
        return self is wanted or (self is Deletes.FULL and wanted is Deletes.BY_KEY)


Answer = tuple[Rel, Deletes]
"""A relation, and which columns its deletions have."""


def infer_deletes(sink: Rel, config: Mapping[str, str]) -> Rel:
    """The sink without normalizations of upserts that nothing needs, and with the modes of process table functions.

    A changelog is normalized to get -U rows, all columns in deletions, a filter, or metadata.  Where none of these is
    required, upserts are passed on as they are.  Raises :class:`PlanningError` where a function deletes rows by key,
    and whole rows are needed.
    """
    assert isinstance(sink, p.Sink)
    keeps_all = is_on(config, "table.exec.source.cdc-events-duplicate") or p.ChangelogNormalize not in sink.classes
    if keeps_all and p.ProcessTable not in sink.classes:
        return sink
    for wanted in _wanted(sink):
        satisfied = _satisfying(sink.input, wanted)
        if satisfied is not None:
            return replace(sink, input=satisfied[0])
    if p.ProcessTable in sink.classes:
        raise PlanningError(
            f"the table '{sink.table.identifier.name}' needs deletions with all columns, and a process table function "
            "emits them with the key alone",
            hint="let its changelog mode have full deletions: ChangelogMode.upsert(false)",
            part=Part.SINK,
        )
    return sink


def _wanted(sink: p.Sink) -> tuple[Deletes, ...]:
    """The deletions that the sink accepts, the preferred first."""
    full = _full(sink.input)
    if full is Deletes.NONE or not deletes_by_key(sink.table, dict(sink.options), as_sink=True):
        return (full,)
    key = primary_key(sink)
    return (full,) if key is not None and key not in upsert_keys(sink.input) else (Deletes.BY_KEY, full)


def _full(rel: Rel) -> Deletes:
    """All columns, if a relation emits deletions."""
    return Deletes.FULL if _deletes(rel) else Deletes.NONE


def _by_key(rel: Rel) -> Deletes:
    return Deletes.BY_KEY if _deletes(rel) else Deletes.NONE


def _deletes(rel: Rel) -> bool:
    return DELETE in rel.changes.kinds


def _satisfying(rel: Rel, wanted: Deletes) -> Answer | None:
    """The relation if its deletions are as wanted, else ``None``."""
    answer = _visit(rel, wanted)
    return answer if answer is not None and answer[1].satisfy(wanted) else None


def _visit(rel: Rel, wanted: Deletes) -> Answer | None:
    """The relation when such deletions are required; ``None`` where an input cannot emit what is needed for that."""
    return _RULES[rel](rel, wanted)


def _scan(rel: p.SourceScan, wanted: Deletes) -> Answer | None:
    by_key = deletes_by_key(rel.table, dict(rel.options), as_sink=False)
    return rel, _by_key(rel) if by_key else _full(rel)


def _calc(rel: p.Calc, wanted: Deletes) -> Answer | None:
    return None if wanted is Deletes.BY_KEY and _filters_beyond_key(rel) else _forwarded(rel, wanted)


def _regular_join(rel: p.RegularJoin, wanted: Deletes) -> Answer | None:
    return _join(rel, (rel.spec.left_keys, rel.spec.right_keys), wanted)


def _multi_join(rel: p.MultiJoin, wanted: Deletes) -> Answer | None:
    return _join(rel, rel.keys, wanted)


def _over_whole_rows(rel: Rel, wanted: Deletes) -> Answer | None:
    """An operator that needs whole rows in the deletions of its inputs, and emits whole rows itself."""
    inputs = [_visit(i, _full(i)) for i in rel.inputs]
    if any(answer is None for answer in inputs):
        return None
    return with_inputs(rel, tuple(answer[0] for answer in inputs if answer is not None)), _full(rel)


def _forwarded(rel: Rel, wanted: Deletes) -> Answer | None:
    answer = _satisfying(rel.inputs[0], wanted)
    return None if answer is None else (with_inputs(rel, (answer[0],)), answer[1])


def _union(rel: p.UnionAll, wanted: Deletes) -> Answer | None:
    """Deletions by key if those of an input are."""
    inputs = [_visit(i, wanted if _deletes(i) else Deletes.NONE) for i in rel.inputs]
    answers = [answer for answer in inputs if answer is not None]
    if len(answers) < len(inputs):
        return None
    kinds = {kind for _, kind in answers} - {Deletes.NONE}
    merged = kinds.pop() if len(kinds) == 1 else Deletes.BY_KEY if kinds else Deletes.NONE
    return with_inputs(rel, tuple(rel for rel, _ in answers)), merged


def _join(rel: Rel, keys: tuple[tuple[int, ...], ...], wanted: Deletes) -> Answer | None:
    """Deletions by key are possible for inputs whose unique key contains the join key."""
    answers = []
    for child, join_key in zip(rel.inputs, keys, strict=True):
        holds = any(frozenset(join_key) <= key for key in keys_in_group_range(child, join_key))
        answer = _visit(child, _by_key(child)) if holds and wanted is Deletes.BY_KEY else None
        answer = answer or _visit(child, _full(child))
        if answer is None:
            return None
        answers.append(answer)
    by_key = any(kind is Deletes.BY_KEY for _, kind in answers)
    return with_inputs(rel, tuple(r for r, _ in answers)), _by_key(rel) if by_key else _full(rel)


def _process_table(rel: p.ProcessTable, wanted: Deletes) -> Answer | None:
    """Deletions by key suffice for tables that are updated by key, unless their arguments say otherwise."""
    answers = []
    for index, child in enumerate(rel.inputs):
        full = index >= len(rel.tables) or Trait.REQUIRE_FULL_DELETE in rel.declared_tables[index].traits
        answer = None if full or not takes_upserts(rel, index) else _visit(child, _by_key(child))
        answer = answer or _visit(child, _full(child))
        if answer is None:
            return None
        answers.append(answer)
    received = tuple(_received(child, kind) for child, kind in answers)
    required = row_kinds.rows(row_kinds.CHANGES, rel.changes.updates is not Updates.ONLY_AFTER)
    mode = process_table_mode(rel, received, _named(required, wanted))
    new = replace(rel, mode=mode, input_modes=received, operands=tuple(r for r, _ in answers))
    return new, _by_key(rel) if ReceivedKind.DELETE_BY_KEY in mode else _full(rel)


def _received(rel: Rel, deletes: Deletes) -> tuple[ReceivedKind, ...]:
    return _named(rel.changes.row_kinds, deletes)


def _named(kinds: Iterable[RowKind], deletes: Deletes) -> tuple[ReceivedKind, ...]:
    """Kinds of rows as plans list them, where deletions have such columns."""
    by_key = {ReceivedKind.DELETE: ReceivedKind.DELETE_BY_KEY} if deletes is Deletes.BY_KEY else {}
    return tuple(by_key.get(kind, kind) for kind in ReceivedKind.of(kinds))


def _normalize(rel: p.ChangelogNormalize, wanted: Deletes) -> Answer | None:
    """Removed where nothing that it adds is wanted; else its deletions have all columns."""
    only_after = rel.changes.updates is Updates.ONLY_AFTER
    if rel.condition is None and only_after and not _reads_metadata(rel):
        answer = _satisfying(rel.input, wanted)
        if answer is not None:
            shuffled, kind = answer
            return (shuffled.input if isinstance(shuffled, p.Exchange) else shuffled), kind
    answer = _satisfying(rel.input, _by_key(rel.input))
    return None if answer is None else (with_inputs(rel, (answer[0],)), _full(rel))


def _filters_beyond_key(rel: p.Calc) -> bool:
    if rel.condition is None:
        return False
    return not any(refs(rel.condition) <= key for key in upsert_keys(rel.input))


def _reads_metadata(rel: Rel) -> bool:
    """Whether a source below reads metadata, which need not be the same for all rows of a key."""
    if isinstance(rel, p.SourceScan):
        return any(isinstance(a, ReadingMetadata) and a.metadata_keys for a in rel.abilities)
    return any(map(_reads_metadata, rel.inputs))


_RULES: Dispatch[Answer | None] = Dispatch(
    "what deletions hold",
    {
        p.SourceScan: _scan,
        SameDeletes: _forwarded,
        CompleteDeletes: _over_whole_rows,
        p.Calc: _calc,
        p.UnionAll: _union,
        p.RegularJoin: _regular_join,
        p.MultiJoin: _multi_join,
        p.ProcessTable: _process_table,
        p.ChangelogNormalize: _normalize,
    },
    unknown=(p.Sink,),
    physical=True,
)
"""No sink stands below another one."""
